/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of kmem (bpf/memory/kmem.h) as fields of rows. */
#ifndef TALLY_MEMORY_KMEM_KEYS_H
#define TALLY_MEMORY_KMEM_KEYS_H

#include "cli/task_key.h"
#include "report/report.h"
#include "sym/symbols.h"

#include "bpf/memory/kmem.h"

struct kmem_keys {
	u32 by;                         /* the requested parts */
	struct symbols *symbols;
	struct task_key_names names;
};

/*
 * Changes a key to what the report shows: the caller's address becomes that of its function, and
 * cgroups with the same name become one (cli/key_view.h).
 */
void kmem_key__as_shown(struct kmem_keys *keys, struct kmem_key *key);

/*
 * Appends the fields of a key changed by kmem_key__as_shown(). name: name of the key's task.
 * Returns 0 or -ENOMEM.
 */
int kmem_key__add(struct kmem_keys *keys, const struct kmem_key *key, const char *name,
		  struct report_row *row);

/* Also frees the symbols. */
void kmem_keys__free(struct kmem_keys *keys);

#endif /* TALLY_MEMORY_KMEM_KEYS_H */
