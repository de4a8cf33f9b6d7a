/* SPDX-License-Identifier: BSD-2-Clause */
/* Global variables of a BPF object, by name, for code that knows no skeleton. */
#ifndef TALLY_AGG_VARIABLE_H
#define TALLY_AGG_VARIABLE_H

#include <bpf/libbpf.h>

/*
 * The memory of a variable of ".rodata" (until the object is loaded), ".data" or ".bss". The
 * object's; NULL: there is no such variable.
 */
void *object_variable(const struct bpf_object *obj, const char *section, const char *name);

#endif /* TALLY_AGG_VARIABLE_H */
