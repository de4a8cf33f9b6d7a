/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the compiler. Registers: r6 is the context, r7 the frame (bpf/lib/probe.h), r8 the position of
 * a record's next text, r0 the value just computed, r1 to r5 scratch. Values that must survive another computation are
 * spilled to stack slots; texts to compare go to a buffer below the slots. Total stack use is below 256 bytes, since
 * the calling program needs the rest.
 */
#ifndef TALLY_JIT_COMPILER_H
#define TALLY_JIT_COMPILER_H

#include "jit/compile.h"
#include "jit/operand.h"

#define COMPILER_SLOTS 8        /* for nested operators whose right side is not a plain value */
#define COMPILER_TEXT_MOST 127  /* characters of a text in a comparison */
#define COMPILER_READ_AT (-8 * COMPILER_SLOTS - 8)      /* destination of memory reads */
#define COMPILER_TEXT_AT (COMPILER_READ_AT - 128)
#define COMPILER_MOST_ALIASES 16        /* length of a chain of aliases */

enum { REG_CONTEXT = BPF_REG_6, REG_FRAME = BPF_REG_7, REG_TAIL = BPF_REG_8 };

struct compiler {
	struct code *code;
	const struct place *place;
	struct complaint *c;
	int slots;              /* in use */
	int aliases;            /* being resolved */
	int fault;              /* label: a read failed */
	bool no_result;         /* the fault: an expression needs a result where none exists */
	int arithmetic;         /* label: the number is undefined, such as a division by zero */
	int too_long;           /* label: a text is longer than can be compared */
};

/* Creates the labels for each way to lose an event. */
void compiler__begin_losses(struct compiler *f);

/* Complains about e. Returns -EINVAL. */
int compiler__refuse(struct compiler *f, const struct expr *e, const char *why);

/* Returns a free slot's offset from r10, or 0 after complaining that none is left. Free the slot with f->slots--. */
int compiler__slot(struct compiler *f, const struct expr *e);

int size_code(u32 size);        /* size 1 .. 8 to BPF_B ... BPF_DW, or -EINVAL */

/* Extends the lower size bytes of r0 to 64 bits. */
void compiler__convert(struct compiler *f, u32 size, bool is_signed);

/*
 * --- number.c: the value of a number into r0 ---------------------------------------------------
 */

int compiler__value(struct compiler *f, const struct expr *e, struct operand *o);

/* Sets r1 to the number of ascending bounds from..to that are at or below r0; then jumps to done. */
void compiler__bucket(struct compiler *f, const s64 *bound, size_t from, size_t to, int done);

/* Evaluates left into r0 and right into r1. A constant is an operand with one value. */
int compiler__both(struct compiler *f, const struct expr *e, struct operand *left,
		   struct operand *right);

/*
 * If the expression is constant, sets *is_constant, its value in *number, and *o. beside: the expression that it is
 * compared with; a name may be one of its symbols or enumerators. Returns 0 or a negative errno.
 */
int compiler__constant(struct compiler *f, const struct expr *e, const struct expr *beside,
		       u64 *number, struct operand *o, bool *is_constant);

/*
 * --- name.c: names, and special values that begin with $ ---------------------------------------
 */

/* Returns the expression that a name is an alias of, or e itself. */
const struct expr *compiler__follow(const struct compiler *f, const struct expr *e);

/*
 * Checks whether e is the name container or unit, which refers to the current task's cgroup. Returns 0 with *kind set,
 * -ENOENT if it is something else, or -EINVAL after complaining that the event is about another task. The value is the
 * cgroup's id.
 */
int compiler__cgroup_name(struct compiler *f, const struct expr *e, enum layout_kind *kind);

/* Loads the id of the current task's cgroup into r0. */
int compiler__cgroup(struct compiler *f, const struct expr *e);

int compiler__name(struct compiler *f, const struct expr *e, struct operand *o);
int compiler__special(struct compiler *f, const struct expr *e, struct operand *o);
int compiler__register(struct compiler *f, const struct expr *e, struct operand *o);

/*
 * True for a member reached through $task. Such memory is kernel memory, and so is the memory that its pointers refer
 * to.
 */
bool expr_is_of_task(const struct compiler *f, const struct expr *e);

int compiler__load_variable(struct compiler *f, const struct expr *e,
			    const struct place_variable *v, struct operand *o);

/* Finds the type that $arg1 is declared to point to. False: not a pointer, or unknown. */
bool compiler__argument_pointee(const struct compiler *f, const struct expr *e, struct c_type *to);

/* Loads the address of a variable in memory into r0. False: the variable is not in memory. */
bool compiler__variable_address(struct compiler *f, const struct place_variable *v);

/*
 * --- memory.c: objects in memory ---------------------------------------------------------------
 */

/* An object in memory: at r0 + offset after compiler__place(). */
struct lvalue {
	s64 offset;
	struct c_type type;
	u64 bit_offset;         /* of a bit-field, relative to offset */
	u32 bits;
	bool in_kernel;         /* reached through $task */
	bool by_reference;      /* a C++ reference: -> and . mean the same */
};

bool expr_is_lvalue(const struct compiler *f, const struct expr *e);
int compiler__lvalue(struct compiler *f, const struct expr *e, struct lvalue *l);

/* Loads the object's value; for an array, its address. */
int compiler__load(struct compiler *f, const struct expr *e, const struct lvalue *l,
		   struct operand *o);

/*
 * Reads size (1, 2, 4, 8) bytes at r0 + offset into r0, zero-extended. in_kernel: kernel memory,
 * even if the site's pointers are a program's.
 */
void compiler__read(struct compiler *f, s64 offset, u32 size, bool in_kernel);

/* True for a structure, or an array of non-characters, of known size. */
bool compiler__is_aggregate(struct compiler *f, const struct expr *e, struct c_type *type);

/*
 * Copies an aggregate to a field of a key. Unless the field is only displayed (record), the padding between members and
 * after texts becomes zero.
 */
int compiler__aggregate(struct compiler *f, const struct expr *e, const struct layout_field *field,
			bool record);

/* Determines the type of an expression, without emitting code. */
int compiler__type(struct compiler *f, const struct expr *e, struct operand *o);

/*
 * --- text.c ------------------------------------------------------------------------------------
 */

/* True for a text. *most is its maximum length in characters, COMPILER_TEXT_MOST if unknown. */
bool compiler__is_text(struct compiler *f, const struct expr *e, u32 *most);

/*
 * Copies a text and a NUL to size bytes at base + offset; sets r0 to the length including the NUL,
 * or to size if the text is longer. Jumps to fault if a read fails.
 */
int compiler__text(struct compiler *f, const struct expr *e, int base, s64 offset, u32 size,
		   int fault);

/*
 * Same, padded with zeroes to size; size and offset are multiples of 4. A failed read jumps to the
 * function's fault label.
 */
int compiler__padded_text(struct compiler *f, const struct expr *e, int base, s64 offset, u32 size);

/* Jumps to label if the text comparison e has the wanted result. */
int compiler__text_condition(struct compiler *f, const struct expr *e, bool wanted, int label);
bool expr_compares_texts(struct compiler *f, const struct expr *e);

/*
 * --- symbol.c ----------------------------------------------------------------------------------
 */

/* True if e compares an address with a function name: $caller ~ "tcp_*". */
bool expr_compares_symbols(const struct compiler *f, const struct expr *e);
int compiler__symbol_condition(struct compiler *f, const struct expr *e, bool wanted, int label);

/*
 * --- condition.c -------------------------------------------------------------------------------
 */

/* Jumps to label if e has the wanted truth value; otherwise falls through. */
int compiler__condition(struct compiler *f, const struct expr *e, bool wanted, int label);
/* Computes the truth of a condition as a number, 1 or 0. */
int compiler__truth(struct compiler *f, const struct expr *e, struct operand *o);

#endif /* TALLY_JIT_COMPILER_H */
