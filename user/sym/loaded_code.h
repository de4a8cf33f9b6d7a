/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that is loaded into the running kernel: modules and BPF programs. /proc/kallsyms has their names, but takes 50
 * to 100 ms to read, and lacks the sizes of BPF programs.
 */
#ifndef TALLY_SYM_LOADED_CODE_H
#define TALLY_SYM_LOADED_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/types.h"

/* Zero it before the first call. */
struct loaded_code {
	u32 last_program, last_link;    /* ids, which only increase */
	u64 modules;                    /* a hash of their names and addresses */
};

/*
 * True if, since the last call, a module has been loaded or unloaded, or a BPF program or BPF link (which may have code
 * of its own) has been created. Takes a few system calls. Ids that the caller may not see are ignored.
 */
bool loaded_code__has_news(struct loaded_code *c);

struct bpf_function {
	u64 start;
	u64 size;
};

/* All functions of all BPF programs, sorted by start. Empty without permission to see them. */
struct bpf_functions {
	struct bpf_function *function;
	size_t n, room;
};

/* Returns 0 or -ENOMEM. */
int bpf_functions__read(struct bpf_functions *f);
void bpf_functions__free(struct bpf_functions *f);

/* Returns the size of the function that begins at start, or 0 if none does. */
u64 bpf_functions__size(const struct bpf_functions *f, u64 start);

#endif /* TALLY_SYM_LOADED_CODE_H */
