// SPDX-License-Identifier: BSD-2-Clause
#include "machine/exit_names.h"

#include <stdio.h>

_Static_assert(BY_VCPU_STATE == BY_OWN(0) && BY_EXIT_REASON == BY_OWN(1), "own parts of keys");

/*
 * The names of perf kvm stat and trace-cmd, in lower case. Intel SDM volume 3, appendix C: basic
 * exit reasons.
 */
static const char *const vmx[] = {
	[0] = "exception_nmi", [1] = "external_interrupt", [2] = "triple_fault",
	[3] = "init_signal", [4] = "sipi_signal", [5] = "io_smi", [6] = "other_smi",
	[7] = "interrupt_window", [8] = "nmi_window", [9] = "task_switch", [10] = "cpuid",
	[11] = "getsec", [12] = "hlt", [13] = "invd", [14] = "invlpg", [15] = "rdpmc",
	[16] = "rdtsc", [17] = "rsm", [18] = "vmcall", [19] = "vmclear", [20] = "vmlaunch",
	[21] = "vmptrld", [22] = "vmptrst", [23] = "vmread", [24] = "vmresume", [25] = "vmwrite",
	[26] = "vmoff", [27] = "vmon", [28] = "cr_access", [29] = "dr_access",
	[30] = "io_instruction", [31] = "msr_read", [32] = "msr_write", [33] = "invalid_state",
	[34] = "msr_load_fail", [36] = "mwait_instruction", [37] = "monitor_trap_flag",
	[39] = "monitor_instruction", [40] = "pause_instruction", [41] = "mce_during_vmentry",
	[43] = "tpr_below_threshold",
	[44] = "apic_access", [45] = "eoi_induced", [46] = "gdtr_idtr", [47] = "ldtr_tr",
	[48] = "ept_violation", [49] = "ept_misconfig", [50] = "invept", [51] = "rdtscp",
	[52] = "preemption_timer", [53] = "invvpid", [54] = "wbinvd", [55] = "xsetbv",
	[56] = "apic_write", [57] = "rdrand", [58] = "invpcid", [59] = "vmfunc", [60] = "encls",
	[61] = "rdseed", [62] = "pml_full", [63] = "xsaves", [64] = "xrstors", [66] = "spp",
	[67] = "umwait", [68] = "tpause", [69] = "loadiwkey", [72] = "enqcmd_pasid",
	[73] = "enqcmds_pasid", [74] = "bus_lock", [75] = "notify", [76] = "seamcall",
	[77] = "tdcall", [84] = "msr_read_imm", [85] = "msr_write_imm",
};

/* AMD APM volume 2, appendix C: intercept codes, from 0x60 on. */
#define SVM_FIRST 0x60
static const char *const svm[] = {
	[0x60 - SVM_FIRST] = "interrupt", "nmi", "smi", "init", "vintr", "cr0_sel_write",
	"read_idtr", "read_gdtr", "read_ldtr", "read_tr", "write_idtr", "write_gdtr",
	"write_ldtr", "write_tr", "rdtsc", "rdpmc", "pushf", "popf", "cpuid", "rsm", "iret",
	"swint", "invd", "pause", "hlt", "invlpg", "invlpga", "io", "msr", "task_switch",
	"ferr_freeze", "shutdown", "vmrun", "hypercall", "vmload", "vmsave", "stgi", "clgi",
	"skinit", "rdtscp", "icebp", "wbinvd", "monitor", "mwait", "mwait_armed", "xsetbv",
	"rdpru", "write_efer_trap",
	[0xa0 - SVM_FIRST] = "invlpgb", "invlpgb_illegal", "invpcid", "mcommit", "tlbsync",
	"bus_lock", "idle_hlt",
};

/* From 0x400 on; from 0x80000001 on, requests of an encrypted guest (GHCB specification). */
#define SVM_PAGING 0x400
static const char *const svm_paging[] = {
	"npf", "avic_incomplete_ipi", "avic_unaccelerated_access", "vmgexit",
};

#define SVM_ASKED 0x80000000
static const char *const svm_asked[] = {
	[0x1] = "vmgexit_mmio_read", "vmgexit_mmio_write", "vmgexit_nmi_complete",
	"vmgexit_ap_hlt_loop", "vmgexit_ap_jump_table",
	[0x10] = "vmgexit_page_state_change", "vmgexit_guest_request",
	"vmgexit_ext_guest_request", "vmgexit_ap_creation",
};
#define SVM_ASKED_FEATURES 0x8000fffd

static const char *const exceptions[32] = {
	"de", "db", "nmi", "bp", "of", "br", "ud", "nm", "df", "9", "ts", "np", "ss", "gp", "pf",
	"15", "mf", "ac", "mc", "xf", "ve", "cp",
	[28] = "hv", "vc", "sx",
};

#define SVM_INVALID 0xffffffff

static const char *from(const char *const *names, u32 n, u32 first, u32 reason)
{
	return reason >= first && reason - first < n ? names[reason - first] : NULL;
}

/* Below 0x60: 16 each of reads and writes of control and debug registers, then exceptions. */
static const char *svm_register(char text[KVM_EXIT_NAME_SPACE], u32 reason)
{
	if (reason >= 0x40)
		snprintf(text, KVM_EXIT_NAME_SPACE, "excp_%s", exceptions[reason - 0x40]);
	else
		snprintf(text, KVM_EXIT_NAME_SPACE, "%s_%s%u", reason & 0x10 ? "write" : "read",
			 reason & 0x20 ? "dr" : "cr", reason & 0xf);
	return text;
}

static const char *svm_name(char text[KVM_EXIT_NAME_SPACE], u32 reason)
{
	if (reason == SVM_INVALID)
		return "invalid_guest_state";
	if (reason == SVM_ASKED_FEATURES)
		return "vmgexit_hypervisor_feature";
	if (reason < 0x40 || (reason < SVM_FIRST && exceptions[reason - 0x40]))
		return svm_register(text, reason);
	if (reason >= 0x90 && reason <= 0x9f) {
		snprintf(text, KVM_EXIT_NAME_SPACE, "write_cr%u_trap", reason & 0xf);
		return text;
	}
	return from(svm, ARRAY_SIZE(svm), SVM_FIRST, reason) ?:
	       from(svm_paging, ARRAY_SIZE(svm_paging), SVM_PAGING, reason) ?:
	       from(svm_asked, ARRAY_SIZE(svm_asked), SVM_ASKED, reason);
}

static const char *vmx_name(char text[KVM_EXIT_NAME_SPACE], u32 reason)
{
	const char *name = from(vmx, ARRAY_SIZE(vmx), 0, reason & VMX_EXIT_NUMBER);

	if (!name || !(reason & VMX_EXIT_ENTRY_FAILED))
		return name;
	snprintf(text, KVM_EXIT_NAME_SPACE, "%s (entry failed)", name);
	return text;
}

const char *kvm_exit_name(char text[KVM_EXIT_NAME_SPACE], u32 isa, u32 reason)
{
	const char *name = isa == KVM_ISA_VMX ? vmx_name(text, reason) :
			   isa == KVM_ISA_SVM ? svm_name(text, reason) : NULL;

	if (name)
		return name;
	snprintf(text, KVM_EXIT_NAME_SPACE, "0x%x", reason);
	return text;
}

const char *vcpu_state_name(u32 state)
{
	static const char *const names[VCPU_STATES] = {
		[VCPU_GUEST] = "guest", [VCPU_HALTED] = "halted", [VCPU_HOST] = "host",
	};

	return state < VCPU_STATES && names[state] ? names[state] : "unknown";
}

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct kvm_parts *p = own;
	char text[KVM_EXIT_NAME_SPACE];
	int err = 0;

	(void)context;
	if (by & BY_VCPU_STATE)
		err = report_row__add_text(row, "state", vcpu_state_name(p->state));
	if (!err && by & BY_EXIT_REASON)
		err = report_row__add_text(row, "reason", p->state == VCPU_GUEST ? "-" :
					   kvm_exit_name(text, p->isa, p->reason));
	return err;
}

const struct own_parts kvm_parts = {
	.name = (const char *const[]){ "state", "reason" }, .n = 2, .text = "state, reason",
	.add = add_parts,
};
