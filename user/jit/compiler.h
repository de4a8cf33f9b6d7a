/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the compiler share. Registers: r6 the context, r7 the frame (bpf/lib/probe.h), r8
 * where the next text of a record goes, r0 the value just computed, r1 to r5 scratch. What has to
 * outlive the computation of something else goes into slots on the stack; texts that are compared
 * into a buffer below them. The whole stays below 256 bytes: the program that calls needs its own.
 */
#ifndef TALLY_JIT_COMPILER_H
#define TALLY_JIT_COMPILER_H

#include "jit/compile.h"
#include "jit/operand.h"

#define COMPILER_SLOTS 8        /* of nested operators whose right side is not a plain value */
#define COMPILER_TEXT_MOST 127  /* characters a text may be compared with */
#define COMPILER_READ_AT (-8 * COMPILER_SLOTS - 8)      /* where memory is read to */
#define COMPILER_TEXT_AT (COMPILER_READ_AT - 128)
#define COMPILER_MOST_ALIASES 16        /* names that stand for names ... */

enum { REG_CONTEXT = BPF_REG_6, REG_FRAME = BPF_REG_7, REG_TAIL = BPF_REG_8 };

struct compiler {
	struct code *code;
	const struct place *place;
	struct complaint *c;
	int slots;              /* in use */
	int aliases;            /* that are being followed */
	int fault;              /* label: something could not be read */
	bool no_result;         /* a result was asked for where there is none: that is the fault */
	int arithmetic;         /* label: there is no such number, as of a division by zero */
	int too_long;           /* label: a text has more characters than can be looked at */
};

/* Labels for the ways in which an event can be lost. */
void compiler__begin_losses(struct compiler *f);

/* Says so about e; -EINVAL. */
int compiler__refuse(struct compiler *f, const struct expr *e, const char *why);

/* A free slot's offset from r10, 0 after saying that there is none; given back by f->slots--. */
int compiler__slot(struct compiler *f, const struct expr *e);

int size_code(u32 size);        /* BPF_B ... BPF_DW of 1 .. 8, -EINVAL */

/* r0 becomes what its lower size bytes say. */
void compiler__convert(struct compiler *f, u32 size, bool is_signed);

/*
 * --- number.c: the value of a number into r0 ---------------------------------------------------
 */

int compiler__value(struct compiler *f, const struct expr *e, struct operand *o);

/* r1 becomes how many of the rising bounds from..to are at or below r0; then jumps to done. */
void compiler__bucket(struct compiler *f, const s64 *bound, size_t from, size_t to, int done);

/* Left into r0, right into r1. A constant is an operand with one value. */
int compiler__both(struct compiler *f, const struct expr *e, struct operand *left,
		   struct operand *right);

/*
 * Is it known now? Then *number is it, and *o says the same. beside: what it is compared with; a
 * name may be one of that's symbols or enumerators.
 */
int compiler__constant(struct compiler *f, const struct expr *e, const struct expr *beside,
		       u64 *number, struct operand *o, bool *is_constant);

/*
 * --- name.c: what has a name, or a $ in front of it --------------------------------------------
 */

/* The expression that a name stands for, or e itself. */
const struct expr *compiler__follow(const struct compiler *f, const struct expr *e);

int compiler__name(struct compiler *f, const struct expr *e, struct operand *o);
int compiler__special(struct compiler *f, const struct expr *e, struct operand *o);
int compiler__register(struct compiler *f, const struct expr *e, struct operand *o);

/* Is it of the structure that $task leads to? That is the kernel's, and so is what it points to. */
bool expr_is_of_task(const struct compiler *f, const struct expr *e);

int compiler__load_variable(struct compiler *f, const struct expr *e,
			    const struct place_variable *v, struct operand *o);

/* What $arg1 is declared to point to; false: it is no pointer, or that is not known. */
bool compiler__argument_pointee(const struct compiler *f, const struct expr *e, struct c_type *to);

/* The address of a variable that is in memory into r0. False: it is not in memory. */
bool compiler__variable_address(struct compiler *f, const struct place_variable *v);

/*
 * --- memory.c: what pointers lead to -----------------------------------------------------------
 */

/* Something in memory: at r0 + offset, once compiler__place() is done. */
struct lvalue {
	s64 offset;
	struct c_type type;
	u64 bit_offset;         /* of a bit-field, from offset */
	u32 bits;
	bool in_kernel;         /* it is of $task */
	bool by_reference;      /* of C++: who writes -> for . means the same */
};

bool expr_is_lvalue(const struct compiler *f, const struct expr *e);
int compiler__lvalue(struct compiler *f, const struct expr *e, struct lvalue *l);

/* Loads it, or where it is an array, its address. */
int compiler__load(struct compiler *f, const struct expr *e, const struct lvalue *l,
		   struct operand *o);

/*
 * Reads size (1, 2, 4, 8) bytes at r0 + offset into r0, extended with zeroes. in_kernel: of a structure of the
 * kernel, also where pointers are a program's.
 */
void compiler__read(struct compiler *f, s64 offset, u32 size, bool in_kernel);

/* The type an expression has, without leaving code behind. */
int compiler__type(struct compiler *f, const struct expr *e, struct operand *o);

/*
 * --- text.c ------------------------------------------------------------------------------------
 */

/* Is it a text? Then *most is how many characters it can have, COMPILER_TEXT_MOST where that is not
 * known. */
bool compiler__is_text(struct compiler *f, const struct expr *e, u32 *most);

/*
 * Copies it to size bytes at base + offset, with a zero behind it; r0 is then its length with the
 * zero, or size if it is longer. Jumps to fault where it cannot be read.
 */
int compiler__text(struct compiler *f, const struct expr *e, int base, s64 offset, u32 size,
		   int fault);

/* The same with zeroes behind it up to size, a multiple of 4 as offset is. Faults are the
 * function's. */
int compiler__padded_text(struct compiler *f, const struct expr *e, int base, s64 offset, u32 size);

/* Jumps to label if the comparison of texts e is as wanted. */
int compiler__text_condition(struct compiler *f, const struct expr *e, bool wanted, int label);
bool expr_compares_texts(struct compiler *f, const struct expr *e);

/*
 * --- symbol.c ----------------------------------------------------------------------------------
 */

/* Is it an address that is compared with the name of a function, $caller ~ "tcp_*"? */
bool expr_compares_symbols(const struct compiler *f, const struct expr *e);
int compiler__symbol_condition(struct compiler *f, const struct expr *e, bool wanted, int label);

/*
 * --- condition.c -------------------------------------------------------------------------------
 */

/* Jumps to label if e is as wanted, else goes on behind. */
int compiler__condition(struct compiler *f, const struct expr *e, bool wanted, int label);
/* The truth of a condition as a number, 1 or 0. */
int compiler__truth(struct compiler *f, const struct expr *e, struct operand *o);

#endif /* TALLY_JIT_COMPILER_H */
