/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies a compiled program's instructions and patches in values known only at run time: marks (bpf/lib/event.h) become
 * numbers, and whole functions are replaced.
 *
 * The input is the program as libbpf passed it to the kernel: relocated, with map descriptors, one function after
 * another. No jump crosses functions, so only calls need correction.
 */
#ifndef TALLY_EVENT_SPLICE_H
#define TALLY_EVENT_SPLICE_H

#include <bpf/bpf.h>

#include "base/types.h"

struct splice {
	struct bpf_insn *insn;
	size_t n;
};

/*
 * Makes a copy; always release it with splice__free(). Returns 0 or -ENOMEM, as do the functions
 * below.
 */
int splice__begin(struct splice *s, const struct bpf_insn *insn, size_t n);
void splice__free(struct splice *s);

/* Replaces the function that contains this mark with a body. Leaves a program without the mark unchanged. */
int splice__put_body(struct splice *s, int mark, const struct bpf_insn *insn, size_t n);

/* Writes number into the instructions with this mark. */
void splice__put_number(struct splice *s, int mark, u32 number);

/* True if an instruction in [from, to) has the mark. */
bool splice__has(const struct splice *s, size_t from, size_t to, int mark);

/* Returns the end of the function that contains instruction at: the start of the next function, or s->n. */
size_t splice__function_end(const struct splice *s, size_t at);

/* With -v, prints the verifier's reason for rejecting the program. */
void splice__explain(const struct splice *s, enum bpf_prog_type type,
		     const struct bpf_prog_load_opts *opts);

#endif /* TALLY_EVENT_SPLICE_H */
