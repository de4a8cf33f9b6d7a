// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces libbpf's bpf_btf_get_next_id(), which is what it walks the BTFs of kernel modules with.
 *
 * All our programs name kfuncs that older kernels lack (bpf/lib/preempt.bpf.h). libbpf looks for those
 * in the modules too, and the kernel lists modules only for CAP_SYS_ADMIN. Before 1.3 (commit
 * 3f33f9a6b8f7) libbpf then fails to load the object, although the kfunc is optional; Debian 12 has 1.1.2.
 * Here, as in later versions, who may not list modules sees none.
 *
 * A shared libbpf calls it through its PLT, where the program's own definition comes first; for a
 * static one the Makefile passes --wrap.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#ifdef TALLY_STATIC
#define bpf_btf_get_next_id __wrap_bpf_btf_get_next_id
int __wrap_bpf_btf_get_next_id(__u32 start_id, __u32 *next_id);
#endif

int bpf_btf_get_next_id(__u32 start_id, __u32 *next_id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = start_id;
	if (syscall(SYS_bpf, BPF_BTF_GET_NEXT_ID, &attr, sizeof(attr))) {
		errno = errno == EPERM ? ENOENT : errno;
		return -errno;
	}
	*next_id = attr.next_id;
	return 0;
}
