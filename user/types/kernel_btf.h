/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_TYPES_KERNEL_BTF_H
#define TALLY_TYPES_KERNEL_BTF_H

#include "base/types.h"

struct bpf_object_skeleton;

/*
 * Shares one copy of the kernel's BTF (/sys/kernel/btf/vmlinux, 5 to 10 MB) between all objects
 * that are loaded and all type lookups: btf__load_vmlinux_btf() always returns the same one, and
 * btf__free() of it keeps it. Objects that are loaded get the part of it that they need
 * (types/btf_part.h). Not thread-safe; tally has no threads that need it.
 */

/*
 * Around bpf_object__load_skeleton(): btf__load_vmlinux_btf() returns the part for this object. If
 * that is not known, or names may have to be found in modules, it returns all, as it does otherwise.
 */
void kernel_btf__begin_load(const struct bpf_object_skeleton *skeleton);
void kernel_btf__end_load(void);

/* Whether an object is being loaded with a part, which BTFs of modules cannot continue. */
bool kernel_btf__is_part(void);

/*
 * The number of arguments of a tracepoint's handler, typedef btf_trace_NAME, including the leading
 * context pointer. -ENOENT if there is no such tracepoint, another negative errno without BTF.
 */
int kernel_btf_arguments(const char *trace_typedef);

/*
 * A BTF that has the kernel's enums of these names, and may have all its other types, to be freed by btf__free(). NULL
 * with errno set: there is none.
 */
struct btf *kernel_btf__enums(const char *const *name, size_t n);

/* Can a program be attached to a function of this name? False as well without BTF. Static functions may be inlined. */
bool kernel_btf_has_function(const char *name);

/*
 * Whether a structure of the kernel has a member of this name; those of anonymous structures within do not count. False
 * as well without BTF.
 */
bool kernel_btf_has_member(const char *structure, const char *member);

/*
 * Where in its CPU's part of the per-CPU memory a variable of the kernel is: comparable to others of the kernel only,
 * not of modules. -ENOENT if BTF does not list it, another negative errno without BTF.
 */
s64 kernel_btf_per_cpu_place(const char *variable);

/*
 * Frees the copy unless it is in use. Called once everything is loaded, to save memory during a
 * run; the next btf__load_vmlinux_btf() reads it again.
 */
void kernel_btf__drop(void);

#endif /* TALLY_TYPES_KERNEL_BTF_H */
