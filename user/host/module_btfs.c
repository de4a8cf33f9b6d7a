// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces bpf_btf_get_next_id(), which libbpf calls to enumerate the BTFs of kernel modules.
 *
 * All our programs name kfuncs that older kernels lack (bpf/lib/preempt.bpf.h). libbpf also looks for kfuncs in
 * modules, which the kernel lists only for CAP_SYS_ADMIN. Before 1.3 (commit 3f33f9a6b8f7), libbpf then fails to load
 * the object although the kfunc is optional; Debian 12 has 1.1.2. With this function, as in later versions, a process
 * that may not list modules sees none.
 *
 * A shared libbpf calls the function through its PLT, where the executable's definition takes precedence. For a static
 * libbpf, the Makefile passes --wrap.
 *
 * The function also reports no modules while an object is loaded with only a part of the kernel's BTF, which module
 * BTFs cannot extend (types/kernel_btf.h).
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "types/kernel_btf.h"

#ifdef TALLY_STATIC
#define bpf_btf_get_next_id __wrap_bpf_btf_get_next_id
int __wrap_bpf_btf_get_next_id(__u32 start_id, __u32 *next_id);
#endif

int bpf_btf_get_next_id(__u32 start_id, __u32 *next_id)
{
	union bpf_attr attr;

	if (kernel_btf__is_part()) {
		errno = ENOENT;
		return -ENOENT;
	}
	memset(&attr, 0, sizeof(attr));
	attr.start_id = start_id;
	if (syscall(SYS_bpf, BPF_BTF_GET_NEXT_ID, &attr, sizeof(attr))) {
		errno = errno == EPERM ? ENOENT : errno;
		return -errno;
	}
	*next_id = attr.next_id;
	return 0;
}
