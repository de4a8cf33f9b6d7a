/* SPDX-License-Identifier: BSD-2-Clause */
/* The user-space half of bpf/lib/interrupt.bpf.h. */
#ifndef TALLY_HOST_INTERRUPT_H
#define TALLY_HOST_INTERRUPT_H

#include <bpf/libbpf.h>

#include "base/types.h"

/*
 * Sets the constants of the opened object, and *knows to whether programs can detect interrupts on this kernel. Returns
 * 0 or a negative errno.
 */
int interrupt__prepare(struct bpf_object *obj, bool *knows);

#endif /* TALLY_HOST_INTERRUPT_H */
