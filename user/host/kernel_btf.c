// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces libbpf's btf__load_vmlinux_btf() and btf__free(). libbpf reads and indexes the kernel's
 * BTF anew for each object (bpf_object__load(), libbpf 1.1 to 1.6), and has no way to be given one; that
 * was most of what a tool's start cost.
 *
 * A shared libbpf calls both through its PLT, where the program's own definition comes first; for a
 * static one the Makefile passes --wrap.
 */
#include "host/kernel_btf.h"

#include <bpf/btf.h>
#include <dlfcn.h>
#include <errno.h>

#ifdef TALLY_STATIC
#define btf__load_vmlinux_btf __wrap_btf__load_vmlinux_btf
#define btf__free	      __wrap_btf__free
struct btf *__wrap_btf__load_vmlinux_btf(void);
void __wrap_btf__free(struct btf *btf);
struct btf *__real_btf__load_vmlinux_btf(void);
void __real_btf__free(struct btf *btf);

static struct btf *real_load(void)
{
	return __real_btf__load_vmlinux_btf();
}

static void real_free(struct btf *btf)
{
	__real_btf__free(btf);
}
#else
static struct btf *real_load(void)
{
	struct btf *(*load)(void) = dlsym(RTLD_NEXT, "btf__load_vmlinux_btf");

	if (load)
		return load();
	errno = ENOSYS;
	return NULL;
}

static void real_free(struct btf *btf)
{
	void (*release)(struct btf *btf) = dlsym(RTLD_NEXT, "btf__free");

	if (release)
		release(btf);
}
#endif

static struct {
	struct btf *btf;
	unsigned int users;
} shared;

struct btf *btf__load_vmlinux_btf(void)
{
	if (!shared.btf)
		shared.btf = real_load();
	if (shared.btf)
		shared.users++;
	return shared.btf;
}

void btf__free(struct btf *btf)
{
	if (!btf || btf != shared.btf)
		real_free(btf);
	else
		shared.users--;
}

void kernel_btf__drop(void)
{
	if (shared.users)
		return;
	real_free(shared.btf);
	shared.btf = NULL;
}
