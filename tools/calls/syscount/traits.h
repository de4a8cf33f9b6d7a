/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties of system calls that syscount's programs need. */
#ifndef TALLY_SYSCOUNT_TRAITS_H
#define TALLY_SYSCOUNT_TRAITS_H

#include "base/types.h"
#include "host/syscall_set.h"

#include "bpf/calls/syscount.h"

/*
 * Fills in the constants of the same names: enum call_traits by call, and the numbers of
 * rt_sigreturn().
 */
void calls__describe(const struct syscall_set *wanted, u8 traits[CALLS], u32 sigreturn[SYSCALL_ABIS]);

#endif /* TALLY_SYSCOUNT_TRAITS_H */
