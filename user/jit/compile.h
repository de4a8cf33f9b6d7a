/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions as BPF instructions: the bodies of the functions in bpf/lib/probe.h, for one site.
 *
 * Numbers are compared as numbers: a signed one with an unsigned one by value, not by bits.
 * Arithmetic is in 64 bits, as in C. What is in memory is read where it stands in the expression,
 * once for each pointer that is followed, and a read that fails makes the whole function fail: no
 * zero is ever taken as data. A text is read where it is compared or stored.
 *
 * Besides the names of the place, comm pid tid uid cpu cgroup are known (of the current task) and
 * nsecs.
 *
 * All take *code zeroed, to be freed by code__free() in any case. -EINVAL with *c about the text
 * that e was parsed of; -EOPNOTSUPP for what the kernel's own filter can do and this cannot (the
 * common fields of a tracepoint); -ENOENT for a device that is not there; -ENOMEM.
 */
#ifndef TALLY_JIT_COMPILE_H
#define TALLY_JIT_COMPILE_H

#include "expr/expr.h"
#include "jit/code.h"
#include "jit/place.h"
#include "jit/layout.h"

/* event_filter() */
int filter__compile(struct code *code, const struct expr *e, const struct place *place,
		    struct complaint *c);
/* One that lets everything through, and the others' equal: a function that only says result. */
int body__constant(struct code *code, int result);

/* What an expression is at a place. */
struct operand_type {
	enum layout_kind kind;          /* as it is shown */
	u32 size;                       /* bytes: 4 or 8; of a text, with its zero */
	bool is_signed;
};
int expr__type(struct operand_type *t, const struct expr *e, const struct place *place,
	       struct complaint *c);

/* event_value() takes numbers of this range as values. */
enum value_range {
	VALUE_BITS,             /* all, whatever their 64 bits mean */
	VALUE_UNSIGNED,         /* from zero on; the result is 1 for the others */
	VALUE_SIGNED,           /* below 2^63; the others are EVENT_BAD_ARITHMETIC */
};
int value__compile(struct code *code, const struct expr *e, enum value_range range,
		   const struct place *place, struct complaint *c);

/* The same; then the bucket of the value among n rising bounds: 0 below the first. */
int bucket__compile(struct code *code, const struct expr *e, const s64 *bound, size_t n,
		    const struct place *place, struct complaint *c);

/*
 * event_key(): e[i] becomes field[i] of a key; a field of LAYOUT_EVENT has none. *which is the one
 * that *c is about. fixed_size: of the record of a stream, without texts that stand behind its
 * fields, as long as they are (behind); the frame's size is set. 0: a key.
 */
int key__compile(struct code *code, const struct expr *const *e, const struct layout_field *field,
		 size_t n, bool behind, u32 fixed_size, const struct place *place,
		 struct complaint *c, size_t *which);

/* event_match(): n numbers of 8 bytes. */
int match__compile(struct code *code, const struct expr *const *e, size_t n,
		   const struct place *place, struct complaint *c, size_t *which);

/*
 * event_match() of the entry and the return of a function: the thread and where on its stack the
 * call is, so that calls inside of calls are kept apart; and the number of the event.
 */
int match__call(struct code *code, const struct place *place);
#define MATCH_CALL_SIZE 24

#endif /* TALLY_JIT_COMPILE_H */
