/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules whose functions are probed. A kprobe does not keep its module: it may be removed, the
 * probe goes with it, and one that is loaded under its name afterwards is not probed. (fentry and
 * kprobe.multi do keep it: rmmod says that it is in use.)
 */
#ifndef TALLY_EVENT_ATTACH_MODULE_H
#define TALLY_EVENT_ATTACH_MODULE_H

#include "base/types.h"

struct attach_module {
	char *name;
	u64 inode;              /* of its folder in /sys/module, which another one does not get */
};

struct attach_modules {
	struct attach_module *module;
	size_t n;
};

/* Remembers a loaded module, once. Returns 0, -ENOMEM, or another negative errno if it is not there. */
int attach_modules__add(struct attach_modules *m, const char *name);

/* "; module NAME was removed, ..." for each that has gone since; else "". */
void attach_modules__describe_removed(const struct attach_modules *m, char *text, size_t size);

void attach_modules__free(struct attach_modules *m);

#endif /* TALLY_EVENT_ATTACH_MODULE_H */
