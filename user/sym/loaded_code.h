/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that comes into the kernel while it runs: modules and BPF programs. /proc/kallsyms has their names, but takes
 * 50 to 100 ms to read, and does not say how long a BPF program is.
 */
#ifndef TALLY_SYM_LOADED_CODE_H
#define TALLY_SYM_LOADED_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/types.h"

/* Zeroes before the first call. */
struct loaded_code {
	u32 last_program, last_link;    /* ids, which only rise */
	u64 modules;                    /* a hash of their names and addresses */
};

/*
 * Has a module, a BPF program or an attachment of one (which may have code of its own) come since the last call, or has
 * a module gone? Takes a few system calls. Ids that the caller may not see are not news.
 */
bool loaded_code__has_news(struct loaded_code *c);

struct bpf_function {
	u64 start;
	u64 size;
};

/* All functions of all BPF programs, by start: none without the right to see them. */
struct bpf_functions {
	struct bpf_function *function;
	size_t n, room;
};

/* Returns 0 or -ENOMEM. */
int bpf_functions__read(struct bpf_functions *f);
void bpf_functions__free(struct bpf_functions *f);

/* The size of the one that starts there; 0: none does. */
u64 bpf_functions__size(const struct bpf_functions *f, u64 start);

#endif /* TALLY_SYM_LOADED_CODE_H */
