/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_TYPES_KERNEL_BTF_H
#define TALLY_TYPES_KERNEL_BTF_H

#include "base/types.h"

struct bpf_object_skeleton;

/*
 * Shares one copy of the kernel's BTF (/sys/kernel/btf/vmlinux, 5 to 10 MB) between all loaded objects and all type
 * lookups: btf__load_vmlinux_btf() always returns the same copy, and btf__free() does not free it. An object that is
 * being loaded gets only the part that it needs (types/btf_part.h). Not thread-safe; tally has no threads that need it.
 */

/*
 * Call before and after bpf_object__load_skeleton(). In between, btf__load_vmlinux_btf() returns the part for this
 * object. It returns the whole BTF if the part cannot be determined or if names may have to be found in modules, and at
 * any other time.
 */
void kernel_btf__begin_load(const struct bpf_object_skeleton *skeleton);
void kernel_btf__end_load(void);

/* True while an object is being loaded with a part. Module BTF cannot be based on a part. */
bool kernel_btf__is_part(void);

/*
 * Returns the number of arguments of a tracepoint's handler, typedef btf_trace_NAME, including the leading context
 * pointer. -ENOENT if there is no such tracepoint, another negative errno without BTF.
 */
int kernel_btf_arguments(const char *trace_typedef);

/*
 * Returns a BTF with the kernel's enums of these names, perhaps with all its other types. The caller frees it with
 * btf__free(). NULL with errno set if there is no BTF.
 */
struct btf *kernel_btf__enums(const char *const *name, size_t n);

/*
 * True if BTF has a function of this name, to which a program can be attached. Also false without BTF. Static functions
 * may be inlined.
 */
bool kernel_btf_has_function(const char *name);

/*
 * True if a kernel structure has a member of this name; members of its anonymous structures do not count. Also false
 * without BTF.
 */
bool kernel_btf_has_member(const char *structure, const char *member);

/*
 * Returns the offset of a kernel variable in the per-CPU section. It can be compared with offsets of other variables of
 * the kernel, not of modules. -ENOENT if BTF does not list the variable, another negative errno without BTF.
 */
s64 kernel_btf_per_cpu_place(const char *variable);

/*
 * Frees the copy unless it is in use. Called once everything is loaded, to save memory during a
 * run; the next btf__load_vmlinux_btf() reads it again.
 */
void kernel_btf__drop(void);

#endif /* TALLY_TYPES_KERNEL_BTF_H */
