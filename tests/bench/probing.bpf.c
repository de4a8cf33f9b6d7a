// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs that do nothing where probe and stackcount are measured: what being there costs. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

SEC("tp/syscalls/sys_enter_read")
int empty_read(void *ctx)
{
	return 0;
}

SEC("uprobe/libc.so.6:malloc")
int empty_malloc(void *ctx)
{
	return 0;
}

SEC("uretprobe/libc.so.6:malloc")
int empty_malloc_return(void *ctx)
{
	return 0;
}

SEC("uprobe/" WORK ":site_0000")
int empty_site(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
