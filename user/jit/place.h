/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an expression can name at one site of an event, and where it is there. Made from what is
 * known of the site (tracepoint format, kernel BTF, USDT note, DWARF), used by the compiler; it
 * borrows everything it points to but its own variables.
 */
#ifndef TALLY_JIT_PLACE_H
#define TALLY_JIT_PLACE_H

#include "expr/expr.h"
#include "types/c_type.h"
#include "types/tracefs.h"

/* What the context of the program is. */
enum place_context {
	PLACE_RECORD,           /* the record of a tracepoint */
	PLACE_REGISTERS,        /* struct pt_regs: kprobes, uprobes and their returns */
	PLACE_ARGUMENTS,        /* an array of u64: fentry, fexit, raw tracepoints */
};

enum place_where {
	AT_ARGUMENT,            /* number: of the argument */
	AT_REGISTER,            /* number: DWARF's of the register, whose value it is */
	AT_MEMORY,              /* in memory at register number + offset */
	AT_INDEXED,             /* in memory at register number + register index * scale + offset */
	AT_SUM,                 /* it is register number + offset */
	AT_STATIC,              /* in memory, offset bytes behind the site's instruction */
	AT_CONSTANT,            /* it is offset */
	AT_POINTED,             /* in memory at the address that argument number is */
	AT_FRAME,               /* 8 bytes of the frame, offset behind where its key begins */
	AT_NOWHERE,             /* not at this point: why says so */
};

struct place_variable {
	char *name;
	enum place_where where;
	u32 number, index, scale;
	s64 offset;
	struct c_type type;
	char *why;              /* AT_NOWHERE: a sentence; else NULL */
};

/* A name given to an expression: ALIAS=EXPR, or the last member in it. */
struct place_alias {
	const char *name;
	const struct expr *expr;
};

struct place {
	enum place_context context;
	const char *event;              /* for messages */
	bool is_user;                   /* a program's code: its pointers lead to its memory */
	bool is_return;                 /* only the result is known, not the arguments */
	bool is_exit;                   /* is_return: the instruction has not returned yet */
	bool is_tail_call;              /* is_exit: another function makes the result */
	bool is_shared;                 /* is_exit: calls of other functions end there, too */
	u32 return_bytes;               /* is_return, not is_exit: what a return took off the stack */
	bool is_32_bit;                 /* a program's: arguments are on the stack, 4 bytes each */
	bool is_inside;                 /* of a function, not where it begins */
	bool is_end;                    /* $elapsed is known */
	bool about_other;               /* the event is not about the current task */
	bool own_arguments; /* $arg1 is the variable arg1, or not known: no function begins here */
	bool has_arguments;             /* PLACE_RECORD: it has arguments, which are known without the record */
	bool by_site;                   /* LAYOUT_EVENT: the number of the site; else number */
	u32 number;
	const struct tracepoint_format *format;         /* PLACE_RECORD */
	struct place_variable *variable;
	size_t nvariables;
	u32 nslots;                     /* PLACE_ARGUMENTS: where the result is */
	bool has_result;
	bool guessed_result;            /* its type is not known: s64 is assumed */
	struct c_type result;           /* of $retval */
	const char *no_result;          /* why there is none, a sentence; NULL: nothing has returned */
	const struct place_alias *alias;
	size_t naliases;
	/* For casts and enumerators, opened when asked for; NULL, or what it returns: there are none. */
	struct kernel_types *(*types)(void *arg);
	void *types_arg;
	/* struct task_struct, of the kernel everywhere; NULL, or what it returns: not known. */
	const struct c_type *(*task_type)(void *types_arg);
	const char *binary;             /* is_user: where @symbols are looked for */
	u64 address;                    /* is_user: of the site, as the binary counts */
};

/* The types there are, NULL: none. */
struct kernel_types *place__types(const struct place *p);

/*
 * A type by name (c_type__parse()). The kernel's take some milliseconds to read: they are, only for
 * what is no integer.
 */
int place__parse_type(const struct place *p, struct c_type *t, const char *text);

/* Adds a variable; name and why are copied. Returns 0 or -ENOMEM. */
int place__add(struct place *p, const struct place_variable *v);

/* Frees the variables. */
void place__free(struct place *p);

const struct place_variable *place__find(const struct place *p, const char *name);

/* The expression that a name is an alias of; NULL: e is no such name. */
const struct expr *place__stands_for_other(const struct place *p, const struct expr *e);

/* The names that there are, "fd, buf, count": for messages. In text[size]. */
void place__names(const struct place *p, char *text, size_t size);

/*
 * The arguments of a USDT note, "-4@%edi 8@-16(%rbp)", as arg1 to argN (stap's sys/sdt.h; the
 * SystemTap wiki, "UserSpaceProbeImplementation"). What cannot be had is added with its reason.
 * Returns 0 or -ENOMEM.
 */
int place__add_usdt(struct place *p, const char *arguments);

/* The arguments and the result of a function of the kernel from BTF. 0 or a negative errno. */
int place__add_prototype(struct place *p, const struct btf *btf, u32 id);

/* The arguments of a tracepoint (kernel_types__tracepoint()). 0 or a negative errno. */
int place__add_tracepoint(struct place *p, const struct kernel_type *found);

#endif /* TALLY_JIT_PLACE_H */
