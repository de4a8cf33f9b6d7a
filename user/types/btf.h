/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of the running kernel and its modules from BTF (Documentation/bpf/btf.rst), as C declarations and as offsets. A
 * module's BTF is read at the first lookup in it. Functions that take a struct btf work on any BTF and are pure.
 *
 * All functions return 0 or a negative errno, leave the result unchanged on failure, and allocate results.
 */
#ifndef TALLY_TYPES_BTF_H
#define TALLY_TYPES_BTF_H

#include <bpf/btf.h>

#include "base/types.h"

/* --- any BTF --------------------------------------------------------------------------------- */

/*
 * Formats a declaration: "const char *name", "int (*fn)(struct sock *)", "u8 addr[16]". With name "", only the type:
 * "const char *". Anonymous types are "struct {...}". NULL if out of memory or if the BTF is nested too deeply.
 */
char *btf_declaration(const struct btf *btf, u32 id, const char *name);

/* Strips typedefs and qualifiers from a type. NULL if no such type exists. */
const struct btf_type *btf_bare_type(const struct btf *btf, u32 id, u32 *bare_id);

struct type_member {
	char *type;             /* as C, without the name and bit-field width: "unsigned int" */
	char *name;             /* the access path: "sk_flags", "fault.address"; or "" */
	u64 bit_offset;         /* from the start of the outermost type */
	u64 size;               /* bytes of its type; 0: flexible array */
	u32 bits;               /* of a bit-field, else 0 */
	u32 depth;              /* nesting depth in the list */
};

/* The layout of a struct or union (typedefs are followed). */
struct type_layout {
	u64 size;
	struct type_member *member;     /* in declaration order; a container precedes its members */
	size_t n;
};

/*
 * Members of anonymous structs and unions are included; with deep, so are those of all nested
 * types, through typedefs but not arrays. -EINVAL: not a struct or union.
 */
int type_layout__read(struct type_layout *l, const struct btf *btf, u32 id, bool deep);
void type_layout__free(struct type_layout *l);

struct enum_value {
	char *name;
	u64 value;
};

struct enum_values {
	u32 size;               /* bytes */
	bool is_signed;         /* read values as s64 */
	struct enum_value *value;
	size_t n;
};

/* -EINVAL: not an enum. */
int enum_values__read(struct enum_values *e, const struct btf *btf, u32 id);
void enum_values__free(struct enum_values *e);

struct function_argument {
	char *type, *name;      /* name is "" if BTF has none */
	u64 size;               /* bytes; 0: unknown */
};

struct function_prototype {
	char *text;             /* the whole declaration: "int tcp_sendmsg(struct sock *sk, ...)" */
	char *returns;          /* "int" */
	struct function_argument *argument;
	size_t n;
	bool is_variadic;       /* ends with "..." */
};

/*
 * Reads the prototype of a function (BTF_KIND_FUNC), or of a prototype, typedef or pointer to a prototype. -EINVAL:
 * none.
 */
int function_prototype__read(struct function_prototype *p, const struct btf *btf, u32 id);
void function_prototype__free(struct function_prototype *p);

/* --- the running kernel's -------------------------------------------------------------------- */

struct module_types {
	char *name;
	struct btf *btf;        /* NULL: not read yet */
};

struct kernel_types {           /* initialise to all zeros for kernel_types__on_first_use() */
	struct btf *vmlinux;
	struct module_types *module;
	size_t nmodules;
	bool is_tried;
};

/*
 * Opens the types of vmlinux and lists the modules that have BTF. -ENOENT: the kernel has no BTF;
 * -EPERM.
 */
int kernel_types__open(struct kernel_types *t);
/* Does nothing if not open. */
void kernel_types__close(struct kernel_types *t);

/* Opens the types on the first call. Returns NULL if they could not be opened. The caller closes them. */
struct kernel_types *kernel_types__on_first_use(struct kernel_types *t);

/* A type and where it was found; valid as long as the kernel_types. */
struct kernel_type {
	const struct btf *btf;
	u32 id;
	const char *module;     /* NULL: vmlinux */
};

struct kernel_type_list {
	struct kernel_type *type;
	size_t n;
};

/*
 * Finds all definitions of a type: "struct sock", "union ...", "enum ...", or "sock", which may also be a typedef. A
 * name may have several definitions, private to source files. Searches vmlinux, and all modules only if vmlinux has no
 * definition. Returns -ENOENT if there is none.
 */
int kernel_types__find(struct kernel_types *t, const char *name, struct kernel_type_list *found);
void kernel_type_list__free(struct kernel_type_list *l);

/*
 * Finds a function by name, in a module or in vmlinux (NULL). -ENOENT for functions that BTF lacks: inlined functions,
 * functions changed by the compiler, and functions with an ambiguous name.
 */
int kernel_types__function(struct kernel_types *t, const char *name, const char *module,
			   struct kernel_type *found);

/*
 * Finds the prototype of a tracepoint's handlers, in vmlinux or any module: a function or, if BTF lacks it, a typedef
 * without argument names. Programs do not see its first argument. -ENOENT: BTF has no tracepoint of this name.
 */
#define TRACEPOINT_DATA 1
int kernel_types__tracepoint(struct kernel_types *t, const char *name, struct kernel_type *found);

/* Lists all type names, for hints. They are owned by the types. */
int kernel_types__names(const struct kernel_types *t, const char ***names, size_t *n);

#endif /* TALLY_TYPES_BTF_H */
