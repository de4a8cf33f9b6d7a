/* SPDX-License-Identifier: BSD-2-Clause */
/* Global variables of a BPF object by name, for code without its skeleton. */
#ifndef TALLY_AGG_VARIABLE_H
#define TALLY_AGG_VARIABLE_H

#include <bpf/libbpf.h>

/*
 * Returns the memory of a variable in ".rodata" (until the object is loaded), ".data" or ".bss",
 * owned by the object, or NULL if it has no such variable.
 */
void *object_variable(const struct bpf_object *obj, const char *section, const char *name);

/*
 * Writes a constant (".rodata") before the object is loaded: object_set(obj, "by", (u32)by).
 * Returns 0, or -ENOENT if the object has no constant of that name and size.
 */
int object_set_bytes(const struct bpf_object *obj, const char *name, const void *value,
		     size_t size);

#define object_set(obj, name, value)                                                               \
	({                                                                                         \
		__auto_type value_ = (value);                                                      \
		object_set_bytes(obj, name, &value_, sizeof(value_));                              \
	})

#endif /* TALLY_AGG_VARIABLE_H */
