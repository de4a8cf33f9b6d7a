/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules whose functions are probed. A kprobe does not pin its module: when the module is removed, the probe is
 * removed with it, and a module loaded later under the same name is not probed. (fentry and kprobe.multi do pin it:
 * rmmod reports it in use.)
 */
#ifndef TALLY_EVENT_ATTACH_MODULE_H
#define TALLY_EVENT_ATTACH_MODULE_H

#include "base/types.h"

struct attach_module {
	char *name;
	u64 inode;              /* of its directory in /sys/module; differs after a reload */
};

struct attach_modules {
	struct attach_module *module;
	size_t n;
};

/* Remembers a loaded module, once. Returns 0, -ENOMEM, or another negative errno if it is not loaded. */
int attach_modules__add(struct attach_modules *m, const char *name);

/* Writes "; module NAME was removed, ..." for each module removed since it was added, "" if none was. */
void attach_modules__describe_removed(const struct attach_modules *m, char *text, size_t size);

void attach_modules__free(struct attach_modules *m);

#endif /* TALLY_EVENT_ATTACH_MODULE_H */
