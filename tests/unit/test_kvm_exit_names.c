// SPDX-License-Identifier: BSD-2-Clause
/* Compares the names of exits of virtual CPUs with the numbers in the kernel's own headers. */
#include "unit.h"

#include <ctype.h>

#include "machine/exit_names.h"

#if defined(__x86_64__)
/* arch/x86/include/asm/trapnr.h, for the macro of asm/svm.h */
enum {
	DE_VECTOR = 0, DB_VECTOR = 1, BP_VECTOR = 3, OF_VECTOR = 4, BR_VECTOR = 5, UD_VECTOR = 6,
	NM_VECTOR = 7, DF_VECTOR = 8, TS_VECTOR = 10, NP_VECTOR = 11, SS_VECTOR = 12,
	GP_VECTOR = 13, PF_VECTOR = 14, MF_VECTOR = 16, AC_VECTOR = 17, MC_VECTOR = 18,
	XM_VECTOR = 19,
};

#include <asm/svm.h>
#include <asm/vmx.h>

struct named {
	u32 number;
	const char *name;       /* as in trace-cmd and perf kvm */
};

static const struct named intel[] = { VMX_EXIT_REASONS };
static const struct named amd[] = { SVM_EXIT_REASONS };

/* Names for which tally has another word. */
static const struct {
	const char *theirs, *ours;
} others[] = {
	{ "read_rt", "read_tr" }, { "write_rt", "write_tr" }, { "buslock", "bus_lock" },
	{ "idle-halt", "idle_hlt" },
};

static const char *in_our_words(char text[64], const char *theirs)
{
	size_t i;

	for (i = 0; theirs[i] && i < 63; i++)
		text[i] = tolower(theirs[i]);
	text[i] = 0;
	if (i > 5 && !strcmp(text + i - 5, " excp")) {
		snprintf(text, 64, "excp_%c%c", tolower(theirs[0]), tolower(theirs[1]));
		return text;
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(text, others[i].theirs))
			return others[i].ours;
	return text;
}

static void check(u32 isa, const struct named *n)
{
	char text[KVM_EXIT_NAME_SPACE], words[64];

	assert_string_equal(kvm_exit_name(text, isa, n->number), in_our_words(words, n->name));
}

static void names_are_the_kernels(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(intel); i++)
		check(KVM_ISA_VMX, &intel[i]);
	for (i = 0; i < ARRAY_SIZE(amd); i++)
		check(KVM_ISA_SVM, &amd[i]);
}
#endif

static void check_one(u32 isa, u32 reason, const char *name)
{
	char text[KVM_EXIT_NAME_SPACE];

	assert_string_equal(kvm_exit_name(text, isa, reason), name);
}

static void what_has_no_name_is_a_number(void **state)
{
	(void)state;
	check_one(KVM_ISA_VMX, 35, "0x23");
	check_one(KVM_ISA_VMX, 1000, "0x3e8");
	check_one(KVM_ISA_VMX, 0xffff, "0xffff");
	check_one(KVM_ISA_SVM, 0x49, "excp_9");
	check_one(KVM_ISA_SVM, 0x5f, "0x5f");
	check_one(KVM_ISA_SVM, 0xa7, "0xa7");
	check_one(KVM_ISA_SVM, 0x404, "0x404");
	check_one(KVM_ISA_SVM, 0x80000000, "0x80000000");
	check_one(KVM_ISA_SVM, 0x80000014, "0x80000014");
	check_one(KVM_ISA_SVM, 0xfffffffe, "0xfffffffe");
	check_one(3, 12, "0xc");
	check_one(0, 0, "0x0");
}

static void names_of_ranges(void **state)
{
	(void)state;
	check_one(KVM_ISA_SVM, 0x0f, "read_cr15");
	check_one(KVM_ISA_SVM, 0x10, "write_cr0");
	check_one(KVM_ISA_SVM, 0x2f, "read_dr15");
	check_one(KVM_ISA_SVM, 0x37, "write_dr7");
	check_one(KVM_ISA_SVM, 0x5e, "excp_sx");
	check_one(KVM_ISA_SVM, 0x9f, "write_cr15_trap");
	check_one(KVM_ISA_SVM, 0xa6, "idle_hlt");
}

static void entries_that_failed_say_so(void **state)
{
	(void)state;
	check_one(KVM_ISA_VMX, VMX_EXIT_ENTRY_FAILED | 33, "invalid_state (entry failed)");
	check_one(KVM_ISA_VMX, VMX_EXIT_ENTRY_FAILED | 35, "0x80000023");
}

static void states_have_names(void **state)
{
	(void)state;
	assert_string_equal(vcpu_state_name(VCPU_GUEST), "guest");
	assert_string_equal(vcpu_state_name(VCPU_HALTED), "halted");
	assert_string_equal(vcpu_state_name(VCPU_HOST), "host");
	assert_string_equal(vcpu_state_name(VCPU_STATES), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(names_are_the_kernels),
#endif
		cmocka_unit_test(what_has_no_name_is_a_number),
		cmocka_unit_test(names_of_ranges),
		cmocka_unit_test(entries_that_failed_say_so),
		cmocka_unit_test(states_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
