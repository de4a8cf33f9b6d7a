/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What kvmstat's programs and loader share: how the threads of virtual CPUs spend their time. */
#ifndef TALLY_KVMSTAT_H
#define TALLY_KVMSTAT_H

#include "hist.h"
#include "task_key.h"

/* Parts of keys, BY_OWN(0) and on. */
enum kvm_part {
	BY_VCPU_STATE = 1 << BY_PARTS,
	BY_EXIT_REASON = 2 << BY_PARTS,
};

/* What a thread is at, from one of the two tracepoints to the other. */
enum vcpu_state {
	VCPU_UNKNOWN,
	VCPU_GUEST,             /* runs the virtual machine's code */
	VCPU_HALTED,            /* has left it because it has nothing to do */
	VCPU_HOST,              /* has left it for anything else */
	VCPU_STATES,
};

/* arch/x86/kvm/trace.h: whose numbers the reasons are. */
enum kvm_isa {
	KVM_ISA_VMX = 1,
	KVM_ISA_SVM = 2,
};

/*
 * The reasons that mean idleness (uapi asm/vmx.h, asm/svm.h): HLT, and what else stands for it on
 * AMD: with a virtual interrupt pending, and of an encrypted machine's processor before it starts.
 */
#define VMX_EXIT_HLT 12
#define SVM_EXIT_HLT 0x78
#define SVM_EXIT_IDLE_HLT 0xa6
#define SVM_EXIT_AP_HLT_LOOP 0x80000004

/* Of VMX, the reason is in the lower half; of the flags above it, this one says it was no exit. */
#define VMX_EXIT_NUMBER 0xffff
#define VMX_EXIT_ENTRY_FAILED 0x80000000

/* In a key, only what is asked for is filled; the state always, isa with the reason. */
struct kvm_parts {
	__u32 state;            /* enum vcpu_state */
	__u32 isa;              /* enum kvm_isa; 0 with VCPU_GUEST, which has no reason */
	__u32 reason;
	__u32 pad;
};

struct kvmstat_key {
	struct hist_slot slot;          /* first: hist_add_key() fills it */
	struct task_key task;
	struct kvm_parts parts;
};

_Static_assert(sizeof(struct kvmstat_key) == 72, "kvmstat_key has padding");

/* What is read of kvm:kvm_exit's record. The loader makes sure that this kernel's is the same. */
struct kvm_exit_record {
	__u64 common;
	__u32 exit_reason;
	__u32 pad;
	__u64 guest_rip;
	__u32 isa;
};

#endif /* TALLY_KVMSTAT_H */
