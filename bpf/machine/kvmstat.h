/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by kvmstat's programs and loader: how vCPU threads spend their time. */
#ifndef TALLY_KVMSTAT_H
#define TALLY_KVMSTAT_H

#include "hist.h"
#include "task_key.h"

/* Key parts, BY_OWN(0) and up. */
enum kvm_part {
	BY_VCPU_STATE = 1 << BY_PARTS,
	BY_EXIT_REASON = 2 << BY_PARTS,
};

/* A thread's state between the two tracepoints. */
enum vcpu_state {
	VCPU_UNKNOWN,
	VCPU_GUEST,             /* runs guest code */
	VCPU_HALTED,            /* left the guest because it is idle */
	VCPU_HOST,              /* left the guest for any other reason */
	VCPU_STATES,
};

/* arch/x86/kvm/trace.h: the instruction set that defines the exit reason. */
enum kvm_isa {
	KVM_ISA_VMX = 1,
	KVM_ISA_SVM = 2,
};

/*
 * Exit reasons that mean idleness (uapi asm/vmx.h, asm/svm.h): HLT, and its variants on AMD: with a virtual interrupt
 * pending, and for an encrypted guest's processor before it starts.
 */
#define VMX_EXIT_HLT 12
#define SVM_EXIT_HLT 0x78
#define SVM_EXIT_IDLE_HLT 0xa6
#define SVM_EXIT_AP_HLT_LOOP 0x80000004

/* VMX has the reason in the lower half. This flag means that the entry failed, so that no exit occurred. */
#define VMX_EXIT_NUMBER 0xffff
#define VMX_EXIT_ENTRY_FAILED 0x80000000

/* Only the requested parts are filled in; the state always, and isa together with the reason. */
struct kvm_parts {
	__u32 state;            /* enum vcpu_state */
	__u32 isa;              /* enum kvm_isa; 0 for VCPU_GUEST, which has no reason */
	__u32 reason;
	__u32 pad;
};

struct kvmstat_key {
	struct hist_slot slot;          /* first; filled in by hist_add_key() */
	struct task_key task;
	struct kvm_parts parts;
};

_Static_assert(sizeof(struct kvmstat_key) == 72, "kvmstat_key has padding");

/* The part of kvm:kvm_exit's record that is read. The loader checks that this kernel has the same layout. */
struct kvm_exit_record {
	__u64 common;
	__u32 exit_reason;
	__u32 pad;
	__u64 guest_rip;
	__u32 isa;
};

#endif /* TALLY_KVMSTAT_H */
