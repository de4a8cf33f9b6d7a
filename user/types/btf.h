/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of the running kernel and its modules from BTF (Documentation/bpf/btf.rst), as C and as
 * offsets. Those of a module are read when something is looked for in it. The functions that take
 * a struct btf work on any, and are pure.
 *
 * All return 0 or a negative errno, leave the result alone on failure, and hand out new memory.
 */
#ifndef TALLY_TYPES_BTF_H
#define TALLY_TYPES_BTF_H

#include <bpf/btf.h>

#include "base/types.h"

/* --- any BTF --------------------------------------------------------------------------------- */

/*
 * "const char *name", "int (*fn)(struct sock *)", "u8 addr[16]"; name "" gives the type alone:
 * "const char *". What has no name of its own is "struct {...}". NULL without memory, or for BTF
 * that is nested absurdly deep.
 */
char *btf_declaration(const struct btf *btf, u32 id, const char *name);

/* What is left when typedefs and qualifiers are taken off. NULL if there is no such type. */
const struct btf_type *btf_bare_type(const struct btf *btf, u32 id, u32 *bare_id);

struct type_member {
	char *type;             /* as C, without the name; no width: "unsigned int" */
	char *name;             /* the way to it: "sk_flags", "fault.address"; or "" */
	u64 bit_offset;         /* from the start of the whole */
	u64 size;               /* bytes of its type; 0 for a flexible array */
	u32 bits;               /* of a bit-field, else 0 */
	u32 depth;              /* inside of how many others in the list */
};

/* Of a struct or union (typedefs of one are followed). */
struct type_layout {
	u64 size;
	struct type_member *member;     /* as declared; a container stands before its members */
	size_t n;
};

/*
 * Members of nameless structs and unions are listed too; with deep those of all that lie inside,
 * typedefs followed, but not in arrays. -EINVAL: no struct or union.
 */
int type_layout__read(struct type_layout *l, const struct btf *btf, u32 id, bool deep);
void type_layout__free(struct type_layout *l);

struct enum_value {
	char *name;
	u64 value;
};

struct enum_values {
	u32 size;               /* bytes */
	bool is_signed;         /* values are to be read as s64 */
	struct enum_value *value;
	size_t n;
};

/* -EINVAL: no enum. */
int enum_values__read(struct enum_values *e, const struct btf *btf, u32 id);
void enum_values__free(struct enum_values *e);

struct function_argument {
	char *type, *name;      /* name "" where BTF has none */
	u64 size;               /* bytes, 0 if unknown */
};

struct function_prototype {
	char *text;             /* "int tcp_sendmsg(struct sock *sk, ...)" with all of them */
	char *returns;          /* "int" */
	struct function_argument *argument;
	size_t n;
	bool is_variadic;       /* and more: "..." */
};

/* Of a function (BTF_KIND_FUNC), or a prototype, typedefs and pointers to it. -EINVAL: none. */
int function_prototype__read(struct function_prototype *p, const struct btf *btf, u32 id);
void function_prototype__free(struct function_prototype *p);

/* --- the running kernel's -------------------------------------------------------------------- */

struct module_types {
	char *name;
	struct btf *btf;        /* NULL: not read yet */
};

struct kernel_types {
	struct btf *vmlinux;
	struct module_types *module;
	size_t nmodules;
};

/* Types of vmlinux, and which modules have some. -ENOENT: the kernel has no BTF; -EPERM. */
int kernel_types__open(struct kernel_types *t);
void kernel_types__close(struct kernel_types *t);

/* A type and where it was found; lives as long as the kernel_types. */
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
 * All definitions of a type: "struct sock", "union ...", "enum ...", or "sock", which may also be a
 * typedef. One name may have several: they are private to files. In vmlinux, and if it is not
 * there in all modules. n is at least 1, else -ENOENT.
 */
int kernel_types__find(struct kernel_types *t, const char *name, struct kernel_type_list *found);
void kernel_type_list__free(struct kernel_type_list *l);

/*
 * A function by name, in a module or (NULL) in vmlinux. BTF lacks what was inlined or changed by
 * the compiler, and functions whose name has two meanings: -ENOENT.
 */
int kernel_types__function(struct kernel_types *t, const char *name, const char *module,
			   struct kernel_type *found);

/*
 * The prototype of a tracepoint's handlers, of vmlinux or any module: a function, or where BTF does not have that
 * a typedef without names. In front of the arguments it has one that programs do not see. -ENOENT: BTF
 * knows no tracepoint of this name.
 */
#define TRACEPOINT_DATA 1
int kernel_types__tracepoint(struct kernel_types *t, const char *name, struct kernel_type *found);

/*
 * Arguments of a tracepoint's handler, typedef btf_trace_NAME, the context pointer in front of
 * them included. -ENOENT if there is no such tracepoint, another negative errno without BTF.
 */
int kernel_btf_arguments(const char *trace_typedef);

/* The names that a type could be meant by, for hints; they belong to the types. */
int kernel_types__names(const struct kernel_types *t, const char ***names, size_t *n);

#endif /* TALLY_TYPES_BTF_H */
