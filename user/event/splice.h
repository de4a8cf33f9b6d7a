/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Putting what is known only now into a program that was compiled long ago: copies of its
 * instructions in which marks (bpf/lib/event.h) are replaced by numbers, and whole functions by others.
 *
 * The instructions are those libbpf gave the kernel: relocated, with the descriptors of maps, and
 * functions one behind the other. No jump crosses functions, so calls alone have to be corrected.
 */
#ifndef TALLY_EVENT_SPLICE_H
#define TALLY_EVENT_SPLICE_H

#include <bpf/bpf.h>

#include "base/types.h"

struct splice {
	struct bpf_insn *insn;
	size_t n;
};

/* A copy, to be freed by splice__free() in any case. 0 or -ENOMEM, as all that follow. */
int splice__begin(struct splice *s, const struct bpf_insn *insn, size_t n);
void splice__free(struct splice *s);

/* Puts a body in the place of the function that has this mark. A program without the mark stays as
 * it is. */
int splice__put_body(struct splice *s, int mark, const struct bpf_insn *insn, size_t n);

/* Writes number into the instructions that have this mark. */
void splice__put_number(struct splice *s, int mark, u32 number);

/* Is the mark in [from, to)? */
bool splice__has(const struct splice *s, size_t from, size_t to, int mark);

/* Where the function ends that holds instruction at: the beginning of the next one, or s->n. */
size_t splice__function_end(const struct splice *s, size_t at);

/* Has the kernel say, with -v, why it did not load it. */
void splice__explain(const struct splice *s, enum bpf_prog_type type,
		     const struct bpf_prog_load_opts *opts);

#endif /* TALLY_EVENT_SPLICE_H */
