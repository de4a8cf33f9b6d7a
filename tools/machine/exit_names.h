/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the reasons for which virtual CPUs leave their guests, and of states (bpf/machine/kvmstat.h). */
#ifndef TALLY_KVM_EXIT_NAMES_H
#define TALLY_KVM_EXIT_NAMES_H

#include "cli/task_key.h"

#include "bpf/machine/kvmstat.h"

#define KVM_EXIT_NAME_SPACE 64

/*
 * "ept_violation", "npf", "excp_pf"; a number in hex where there is no name. isa: enum kvm_isa, or
 * another one, of which only numbers are known.
 */
const char *kvm_exit_name(char text[KVM_EXIT_NAME_SPACE], u32 isa, u32 reason);

/* "guest", "halted", "host" */
const char *vcpu_state_name(u32 state);

/* --by: state, reason. */
extern const struct own_parts kvm_parts;

#endif /* TALLY_KVM_EXIT_NAMES_H */
