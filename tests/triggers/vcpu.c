// SPDX-License-Identifier: BSD-2-Clause
/*
 * vcpu OUTS CPUIDS US VCPUS: a virtual machine whose virtual CPUs, each in a thread of its own, write OUTS times to a
 * port, execute CPUID CPUIDS times (1 to 65535 each), and halt. Each write exits to the thread, which then sleeps US
 * us, and so does the halt, after which the thread waits.
 *
 * Reports the descriptor of the machine (by which debugfs has its statistics); then for each thread its id, how many
 * writes and halts exited to it, and when the first and the last did (CLOCK_MONOTONIC).
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "trigger.h"

#define MAX_VCPUS 8
#define CODE_AT 0x1000
#define PAGE 0x1000
#define PORT 0x10

static long outs, cpuids, us;
static int vm;
static size_t run_size;

static struct vcpu {
	int fd;
	struct kvm_run *run;
	pid_t tid;
	uint64_t written, halted, first_ns, last_ns;
} vcpus[MAX_VCPUS];

/* Real mode; the numbers are in SI and DI, the port in DX. */
static const uint8_t code[] = {
	0xee,                   /* write: out %al, %dx */
	0x4e,                   /* dec %si */
	0x75, 0xfc,             /* jnz write */
	0x31, 0xc0,             /* identify: xor %ax, %ax */
	0x0f, 0xa2,             /* cpuid */
	0x4f,                   /* dec %di */
	0x75, 0xf9,             /* jnz identify */
	0xf4,                   /* hlt */
};

static long ask(int fd, unsigned long request, void *arg, const char *what)
{
	long ret = ioctl(fd, request, arg);

	if (ret < 0)
		error(1, errno, "%s", what);
	return ret;
}

static void make_machine(int kvm)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region memory = {
		.guest_phys_addr = CODE_AT, .memory_size = PAGE, .userspace_addr = (uintptr_t)page,
	};

	if (page == MAP_FAILED)
		error(1, errno, "mmap");
	memcpy(page, code, sizeof(code));
	vm = ask(kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	ask(vm, KVM_SET_USER_MEMORY_REGION, &memory, "KVM_SET_USER_MEMORY_REGION");
	run_size = ask(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE");
}

static void make_vcpu(struct vcpu *v, long i)
{
	struct kvm_regs regs = {
		.rip = CODE_AT, .rflags = 2, .rsi = outs, .rdi = cpuids, .rdx = PORT,
	};
	struct kvm_sregs sregs;

	v->fd = ask(vm, KVM_CREATE_VCPU, (void *)i, "KVM_CREATE_VCPU");
	v->run = mmap(NULL, run_size, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
	if (v->run == MAP_FAILED)
		error(1, errno, "mmap of a virtual CPU");
	ask(v->fd, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	ask(v->fd, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
	ask(v->fd, KVM_SET_REGS, &regs, "KVM_SET_REGS");
}

static void came_back(struct vcpu *v)
{
	switch (v->run->exit_reason) {
	case KVM_EXIT_IO:
		v->written++;
		if (us)
			usleep(us);
		return;
	case KVM_EXIT_HLT:
		v->halted++;
		return;
	default:
		error(1, 0, "KVM_RUN: exit %u", v->run->exit_reason);
	}
}

static void work(long i)
{
	struct vcpu *v = &vcpus[i];

	v->tid = gettid();
	while (!v->halted) {
		if (ioctl(v->fd, KVM_RUN, NULL)) {
			if (errno != EINTR)
				error(1, errno, "KVM_RUN");
			continue;
		}
		v->last_ns = trigger__now(CLOCK_MONOTONIC);
		if (!v->first_ns)
			v->first_ns = v->last_ns;
		came_back(v);
	}
}

int main(int argc, char **argv)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	long n = trigger__number(argc, argv, 4), i;
	struct crew crew;

	if (kvm < 0)
		error(1, errno, "/dev/kvm");
	if (n < 1 || n > MAX_VCPUS)
		error(2, 0, "1 to %d virtual CPUs", MAX_VCPUS);
	outs = trigger__number(argc, argv, 1);
	cpuids = trigger__number(argc, argv, 2);
	us = trigger__number(argc, argv, 3);
	trigger__name();
	make_machine(kvm);
	for (i = 0; i < n; i++)
		make_vcpu(&vcpus[i], i);
	crew__hire(&crew, n, work);
	trigger__say("ready %d", vm);
	trigger__wait();
	crew__start(&crew);
	crew__finish(&crew);
	printf("done");
	for (i = 0; i < n; i++)
		printf(" %d %lu %lu %lu %lu", vcpus[i].tid, vcpus[i].written, vcpus[i].halted,
		       vcpus[i].first_ns, vcpus[i].last_ns);
	putchar('\n');
	fflush(stdout);
	trigger__end();
}
