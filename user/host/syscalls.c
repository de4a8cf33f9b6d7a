// SPDX-License-Identifier: BSD-2-Clause
#include "host/syscalls.h"

#include <errno.h>
#include <string.h>

#define CALL(name, number) [number] = #name,
static const char *const names[SYSCALL_ABIS][SYSCALL_NUMBERS] = {
	[SYSCALL_NATIVE] = {
#include "syscall_table.h"
	},
	[SYSCALL_COMPAT] = {
#include "syscall_table_32.h"
	},
};

/*
 * Calls newer than the headers of some build machines. All tables share numbers of 424 and above (kernel commit
 * 0d6040d46817), so these numbers are right in every table.
 */
static const char *const newer[SYSCALL_NUMBERS] = {
	CALL(process_mrelease, 448) CALL(futex_waitv, 449) CALL(set_mempolicy_home_node, 450)
	CALL(cachestat, 451) CALL(fchmodat2, 452) CALL(map_shadow_stack, 453)
	CALL(futex_wake, 454) CALL(futex_wait, 455) CALL(futex_requeue, 456)
	CALL(statmount, 457) CALL(listmount, 458) CALL(lsm_get_self_attr, 459)
	CALL(lsm_set_self_attr, 460) CALL(lsm_list_modules, 461) CALL(mseal, 462)
	CALL(setxattrat, 463) CALL(getxattrat, 464) CALL(listxattrat, 465)
	CALL(removexattrat, 466) CALL(open_tree_attr, 467) CALL(file_getattr, 468)
	CALL(file_setattr, 469) CALL(listns, 470) CALL(rseq_slice_yield, 471)
};

/* arch/x86/entry/syscalls/syscall_64.tbl: 6.11, 6.18. */
static const char *const newer_native[SYSCALL_NUMBERS] = {
#ifdef __x86_64__
	CALL(uretprobe, 335) CALL(uprobe, 336)
#endif
};
#undef CALL

static const struct {
	const char *entry, *call;
} renamed[] = {
	{ "newstat", "stat" }, { "newfstat", "fstat" }, { "newlstat", "lstat" },
	{ "newuname", "uname" }, { "umount", "umount2" }, { "sendfile64", "sendfile" },
};

const char *syscall_name(enum syscall_abi abi, u32 number)
{
	const char *name;

	if (number >= SYSCALL_NUMBERS)
		return NULL;
	name = names[abi][number] ?: newer[number];
	return name || abi != SYSCALL_NATIVE ? name : newer_native[number];
}

int syscall_number_in(enum syscall_abi abi, const char *name)
{
	const char *other;
	u32 i;

	for (i = 0; i < SYSCALL_NUMBERS; i++) {
		other = syscall_name(abi, i);
		if (other && !strcmp(other, name))
			return i;
	}
	return -ENOENT;
}

int syscall_number(const char *name)
{
	return syscall_number_in(SYSCALL_NATIVE, name);
}

void syscall_mark(u8 calls[SYSCALL_ABIS][SYSCALL_NUMBERS], const char *name, u8 mark)
{
	int abi, number;

	for (abi = 0; abi < SYSCALL_ABIS; abi++) {
		number = syscall_number_in(abi, name);
		if (number >= 0)
			calls[abi][number] = mark;
	}
}

int syscall_number_of_entry(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(renamed); i++)
		if (!strcmp(renamed[i].entry, name))
			return syscall_number(renamed[i].call);
	return syscall_number(name);
}
