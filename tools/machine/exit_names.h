/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of exit reasons and states of virtual CPUs (bpf/machine/kvmstat.h). */
#ifndef TALLY_KVM_EXIT_NAMES_H
#define TALLY_KVM_EXIT_NAMES_H

#include "cli/task_key.h"

#include "bpf/machine/kvmstat.h"

#define KVM_EXIT_NAME_SPACE 64

/*
 * Returns "ept_violation", "npf", "excp_pf", or a hex number for unknown reasons. isa: enum kvm_isa; for other values,
 * reasons are shown as numbers.
 */
const char *kvm_exit_name(char text[KVM_EXIT_NAME_SPACE], u32 isa, u32 reason);

/* Returns "guest", "halted" or "host". */
const char *vcpu_state_name(u32 state);

/* --by: state, reason. */
extern const struct own_parts kvm_parts;

#endif /* TALLY_KVM_EXIT_NAMES_H */
