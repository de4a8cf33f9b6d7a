/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names that an expression can use at one site of an event, and the locations of their values. A place is made from
 * the site's tracepoint format, kernel BTF, USDT note or DWARF, and used by the compiler. It owns its variables and
 * borrows everything else.
 */
#ifndef TALLY_JIT_PLACE_H
#define TALLY_JIT_PLACE_H

#include "expr/expr.h"
#include "types/c_type.h"
#include "types/tracefs.h"

#include "bpf/lib/scope.h"

/* The type of the program's context. */
enum place_context {
	PLACE_RECORD,           /* the record of a tracepoint */
	PLACE_REGISTERS,        /* struct pt_regs: kprobes, uprobes and their return probes */
	PLACE_ARGUMENTS,        /* an array of u64: fentry, fexit, raw tracepoints */
};

enum place_where {
	AT_ARGUMENT,            /* argument number */
	AT_REGISTER,            /* value of DWARF register number */
	AT_MEMORY,              /* in memory at register number + offset */
	AT_INDEXED,             /* in memory at register number + register index * scale + offset */
	AT_SUM,                 /* register number + offset is the value */
	AT_STATIC,              /* in memory, offset bytes after the site's instruction */
	AT_CONSTANT,            /* offset is the value */
	AT_POINTED,             /* in memory at the address in argument number */
	AT_FRAME,               /* 8 bytes of the frame, offset bytes after the start of its key */
	AT_NOWHERE,             /* not available at this point; why has the reason */
};

struct place_variable {
	char *name;
	enum place_where where;
	u32 number, index, scale;
	s64 offset;
	struct c_type type;
	bool is_parameter;      /* of the function */
	char *why;              /* AT_NOWHERE: a sentence; else NULL */
};

/*
 * A name for an expression: ALIAS=EXPR, or the last member in the expression. The second kind is not used where the
 * event itself has that name.
 */
struct place_alias {
	const char *name;
	const struct expr *expr;
	bool is_given;          /* ALIAS= */
	bool is_off;            /* unused, because its expression contains the name */
};

/* The declared arguments of a function. If is_known is false, the function may have more arguments. */
struct place_declared {
	bool is_known;
	u32 arguments;
	u32 registers, stack;           /* argument registers and stack words that the arguments take */
};

struct place {
	enum place_context context;
	const char *event;              /* for messages */
	bool is_user;                   /* user-space code: pointers are in its address space */
	bool is_return;                 /* the result is available; arguments only where they were saved: $arg1 is then
					 * the variable of that name */
	bool is_exit;                   /* is_return: at the instruction that is about to return */
	bool is_tail_call;              /* is_exit: another function produces the result */
	bool is_shared;                 /* is_exit: calls of other functions also end here */
	u32 return_bytes;               /* is_return, not is_exit: bytes that the return popped from the stack */
	bool is_32_bit;                 /* 32-bit program: arguments are on the stack, 4 bytes each */
	bool is_go;                     /* arguments are in Go's registers */
	struct place_declared declared; /* PLACE_REGISTERS */
	const char *no_arguments;       /* a sentence: why arguments are not known by number; NULL: they are */
	bool has_goroutine;             /* calls are distinguished by goroutine, not by thread */
	bool is_inside;                 /* inside a function, not at its entry */
	bool is_end;                    /* $elapsed is available */
	bool about_other;               /* the subject is not the current task */
	bool own_arguments; /* $arg1 is the variable arg1, or unknown: not at a function's entry */
	bool has_arguments;             /* PLACE_RECORD: the site has arguments that are available without the record */
	bool by_site;                   /* LAYOUT_EVENT: show the site's number; else number */
	u32 number;
	const struct tracepoint_format *format;         /* PLACE_RECORD */
	struct place_variable *variable;
	size_t nvariables;
	u32 nslots;                     /* PLACE_ARGUMENTS: index of the result */
	bool has_result;
	bool guessed_result;            /* the result's type is unknown: s64 assumed */
	struct c_type result;           /* of $retval */
	const char *no_result;          /* a sentence: why there is no result; NULL: nothing has returned */
	const struct place_alias *alias;
	size_t naliases;
	enum scope_hierarchy hierarchy; /* of cgroups */
	/* Kernel types for casts and enumerators, opened on first use; NULL, or a NULL result: none. */
	struct kernel_types *(*types)(void *arg);
	void *types_arg;
	/*
	 * Finds a program's own types, for casts; arg is the place. -EEXIST: its files define
	 * different types of that name.
	 */
	c_type_find find_type;
	/* is_user: finds the address of a variable, in the binary's numbering. NULL, or false: unknown. */
	bool (*find_symbol)(const struct place *p, const char *name, u64 *address);
	/* struct task_struct, always the kernel's; NULL, or a NULL result: unknown. */
	const struct c_type *(*task_type)(void *types_arg);
	const char *binary;             /* is_user: the program */
	const struct dwarf_unread *unread;      /* variables and types may be in unread debug information; or NULL */
	u64 address;                    /* is_user: address of the site, in the binary's numbering */
};

/* Returns the kernel types; NULL: none. */
struct kernel_types *place__types(const struct place *p);

/*
 * Parses a type name (c_type__parse()): the program's types in user code, else the kernel's.
 * Reading these takes some milliseconds, so it is done only for types that are not integers.
 */
int place__parse_type(const struct place *p, struct c_type *t, const char *text);

/* Adds a variable; name and why are copied. Returns 0 or -ENOMEM. */
int place__add(struct place *p, const struct place_variable *v);

/* Frees the variables. */
void place__free(struct place *p);

const struct place_variable *place__find(const struct place *p, const char *name);

/* True for a name that has a meaning at every event: comm, pid, cpu and so on. */
bool place__is_known_everywhere(const char *name);

/* True if the event itself has this name, regardless of aliases. */
bool place__has_itself(const struct place *p, const char *name);

/* Returns the expression that e is an alias of; NULL if e is not an alias. */
const struct expr *place__stands_for_other(const struct place *p, const struct expr *e);

/* Writes the known names, "fd, buf, count", to text[size], for messages. */
void place__names(const struct place *p, char *text, size_t size);

/*
 * Adds the arguments of a USDT note, "-4@%edi 8@-16(%rbp)", as arg1 to argN (stap's sys/sdt.h; the
 * SystemTap wiki, "UserSpaceProbeImplementation"). Unavailable ones are added with the reason.
 * Returns 0 or -ENOMEM.
 */
int place__add_usdt(struct place *p, const char *arguments);

/* Adds the arguments and the result of a kernel function, from BTF. Returns 0 or a negative errno. */
int place__add_prototype(struct place *p, const struct btf *btf, u32 id);

/* Adds the arguments of a tracepoint (kernel_types__tracepoint()). Returns 0 or a negative errno. */
int place__add_tracepoint(struct place *p, const struct kernel_type *found);

#endif /* TALLY_JIT_PLACE_H */
