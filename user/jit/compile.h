/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles expressions to BPF instructions: the bodies of the functions in bpf/lib/probe.h, for one site.
 *
 * Comparisons are by value: a signed number and an unsigned one compare correctly. Arithmetic is in 64 bits, as in C.
 * Memory is read in the order of the expression, once per dereference. A failed read makes the whole function fail: its
 * zeroes are never used as data. A text is read when it is compared or stored.
 *
 * In addition to the names of the place, expressions can use comm pid tid uid cpu cgroup pidns (of the current task)
 * and nsecs; container and unit as a whole field of a key or record.
 *
 * All functions take a zeroed *code; always release it with code__free(). Errors: -EINVAL, with *c about the text that
 * e was parsed from; -EOPNOTSUPP: only the kernel's own filter supports this (the common fields of a tracepoint);
 * -ENOENT: no such device; -ENOMEM.
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
/* A body that always returns result: the pass-all filter and its counterparts. */
int body__constant(struct code *code, int result);

/* The type of an expression at a place. */
struct operand_type {
	enum layout_kind kind;          /* how it is displayed */
	u32 size;                       /* bytes: 4 or 8; of a text, including the NUL */
	bool is_signed;
	struct c_type type;             /* LAYOUT_VALUE, LAYOUT_ENUM */
	const char *symbols;            /* LAYOUT_ENUM: the tracepoint field whose names apply; NULL: those of type */
};
int expr__type(struct operand_type *t, const struct expr *e, const struct place *place,
	       struct complaint *c);

/* Range of numbers that event_value() accepts. */
enum value_range {
	VALUE_BITS,             /* all 64-bit values */
	VALUE_UNSIGNED,         /* 0 and above; the result is 1 for other numbers */
	VALUE_SIGNED,           /* below 2^63; other numbers are EVENT_BAD_ARITHMETIC */
};
int value__compile(struct code *code, const struct expr *e, enum value_range range,
		   const struct place *place, struct complaint *c);

/* event_value(), with the index of its bucket among n ascending bounds: 0 is below the first bound. */
int bucket__compile(struct code *code, const struct expr *e, const s64 *bound, size_t n,
		    const struct place *place, struct complaint *c);

/*
 * event_key(): stores e[i] in field[i] of a key; a LAYOUT_EVENT field has no expression. On failure
 * *which is the index of the expression that *c is about. behind: texts follow the fixed fields, at
 * their actual length. fixed_size: size of a stream's record without those texts; the function then
 * sets the frame's size. 0: a key. In a key, bytes of structures that are not displayed become
 * zero, so that equal displays give equal keys.
 */
int key__compile(struct code *code, const struct expr *const *e, const struct layout_field *field,
		 size_t n, bool behind, u32 fixed_size, const struct place *place,
		 struct complaint *c, size_t *which);

/* event_match(): n numbers of 8 bytes each. */
int match__compile(struct code *code, const struct expr *const *e, size_t n,
		   const struct place *place, struct complaint *c, size_t *which);

/*
 * event_match() for a function's entry and return: the thread, or goroutine, and the call's stack position, which
 * keeps nested calls apart; and the event's number.
 */
int match__call(struct code *code, const struct place *place);
#define MATCH_CALL_SIZE 24

#endif /* TALLY_JIT_COMPILE_H */
