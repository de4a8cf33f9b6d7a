// SPDX-License-Identifier: BSD-2-Clause
#include "host/syscalls.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	int number;
} calls[] = {
#define CALL(name, number) { #name, number },
#include "syscall_table.h"
#undef CALL
};

/*
 * Calls newer than the headers of some build machines. From 424 on all architectures share their
 * numbers (kernel commit 0d6040d46817), so these are right wherever they are missing.
 */
static const struct {
	const char *name;
	int number;
} newer[] = {
	{ "process_mrelease", 448 }, { "futex_waitv", 449 }, { "set_mempolicy_home_node", 450 },
	{ "cachestat", 451 }, { "fchmodat2", 452 }, { "map_shadow_stack", 453 },
	{ "futex_wake", 454 }, { "futex_wait", 455 }, { "futex_requeue", 456 },
	{ "statmount", 457 }, { "listmount", 458 }, { "lsm_get_self_attr", 459 },
	{ "lsm_set_self_attr", 460 }, { "lsm_list_modules", 461 }, { "mseal", 462 },
	{ "setxattrat", 463 }, { "getxattrat", 464 }, { "listxattrat", 465 },
	{ "removexattrat", 466 }, { "open_tree_attr", 467 }, { "file_getattr", 468 },
	{ "file_setattr", 469 }, { "listns", 470 }, { "rseq_slice_yield", 471 },
#ifdef __x86_64__
	/* arch/x86/entry/syscalls/syscall_64.tbl: 6.11, 6.18. */
	{ "uretprobe", 335 }, { "uprobe", 336 },
#endif
};

static const struct {
	const char *entry, *call;
} renamed[] = {
	{ "newstat", "stat" }, { "newfstat", "fstat" }, { "newlstat", "lstat" },
	{ "newuname", "uname" }, { "umount", "umount2" }, { "sendfile64", "sendfile" },
};

int syscall_number(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	for (i = 0; i < ARRAY_SIZE(newer); i++)
		if (!strcmp(newer[i].name, name))
			return newer[i].number;
	return -ENOENT;
}

int syscall_number_of_entry(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(renamed); i++)
		if (!strcmp(renamed[i].entry, name))
			return syscall_number(renamed[i].call);
	return syscall_number(name);
}
