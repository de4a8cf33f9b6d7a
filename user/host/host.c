// SPDX-License-Identifier: BSD-2-Clause
#include "host/host.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report/diag.h"

/* Inode numbers of the initial namespaces: include/linux/proc_ns.h, the same since 3.8. */
#define INITIAL_PIDNS_INODE 0xEFFFFFFCU
#define INITIAL_CGROUPNS_INODE 0xEFFFFFFBU

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

static const struct {
	const char *name;
	int cap;
	bool admin_too;
} rights[RIGHTS] = {
	[RIGHT_BPF] = { "CAP_BPF", CAP_BPF, true },
	[RIGHT_PERFMON] = { "CAP_PERFMON", CAP_PERFMON, true },
	[RIGHT_SYS_RESOURCE] = { "CAP_SYS_RESOURCE", CAP_SYS_RESOURCE, false },
	[RIGHT_SYS_PTRACE] = { "CAP_SYS_PTRACE", CAP_SYS_PTRACE, false },
	[RIGHT_DAC_READ_SEARCH] = { "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, false },
	[RIGHT_SYSLOG] = { "CAP_SYSLOG", CAP_SYSLOG, true },
	[RIGHT_SYS_ADMIN] = { "CAP_SYS_ADMIN", CAP_SYS_ADMIN, false },
};

static u32 version_of(const char *release)
{
	unsigned long part[3] = {};
	char *end;
	int i;

	for (i = 0; i < 3; i++) {
		part[i] = strtoul(release, &end, 10);
		if (*end != '.')
			break;
		release = end + 1;
	}
	/* KERNEL_VERSION saturates the last byte: 4.9.256 and later exist. */
	return part[0] << 16 | (part[1] & 0xff) << 8 | (part[2] > 255 ? 255 : part[2]);
}

static bool is_namespace(const char *path, ino_t inode)
{
	struct stat st;

	return stat(path, &st) || st.st_ino == inode;   /* missing: the kernel lacks such namespaces */
}

int host__read(struct host *host)
{
	struct host h = {};

	if (uname(&h.uts))
		return -errno;
	h.version = version_of(h.uts.release);
	h.cpus_online = sysconf(_SC_NPROCESSORS_ONLN);
	h.cpus_possible = libbpf_num_possible_cpus();
	if (h.cpus_possible < 0) {
		diag_error("/sys/devices/system/cpu/possible: %s", strerror(-h.cpus_possible));
		diag_hint("it needs sysfs: mount -t sysfs sysfs /sys");
		return h.cpus_possible;
	}
	h.initial_pidns = is_namespace("/proc/self/ns/pid", INITIAL_PIDNS_INODE);
	h.initial_cgroupns = is_namespace("/proc/self/ns/cgroup", INITIAL_CGROUPNS_INODE);
	*host = h;
	return 0;
}

static bool capable(int cap)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[cap / 32].effective & (1U << cap % 32);
}

bool right_held(enum right r)
{
	return capable(rights[r].cap) || (rights[r].admin_too && capable(CAP_SYS_ADMIN));
}

const char *right_name(enum right r)
{
	return rights[r].name;
}

int host__check_rights(const struct host *host)
{
	static const enum right needed[] = { RIGHT_BPF, RIGHT_PERFMON, RIGHT_SYS_RESOURCE };
	char names[128] = "";
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		if (right_held(needed[i]))
			continue;
		if (needed[i] == RIGHT_SYS_RESOURCE && host->version >= KERNEL_VERSION(5, 11, 0))
			continue;       /* since 5.11, maps are charged to the memory cgroup */
		n += snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
			      rights[needed[i]].name);
	}
	if (!n)
		return 0;
	diag_error("not permitted to load tracing programs: missing capability %s", names);
	diag_hint("run it as root, e.g. with sudo; `tally doctor` lists missing capabilities");
	return -EPERM;
}

void host__allow_files(size_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= n)
		return;
	/* A privileged process may also raise the hard limit. */
	if (limit.rlim_max < n) {
		struct rlimit higher = { n, n };

		if (!setrlimit(RLIMIT_NOFILE, &higher))
			return;
	}
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Opens "/" n times, because existing descriptors may have any numbers. */
static bool has_room_for_files(size_t n)
{
	int *copy = calloc(n ?: 1, sizeof(*copy));
	size_t opened = 0;

	while (copy && opened < n) {
		copy[opened] = open("/", O_PATH | O_CLOEXEC);
		if (copy[opened] < 0)
			break;
		opened++;
	}
	for (n -= opened; opened; opened--)
		close(copy[opened - 1]);
	free(copy);
	return !n;
}

int host__complain_of_files(void)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	diag_error("too many open files: the limit of this process is %llu", (u64)limit.rlim_cur);
	diag_hint("raise the limit with ulimit -n");
	return -EMFILE;
}

int host__check_files(size_t n)
{
	return has_room_for_files(n) ? 0 : host__complain_of_files();
}

int host__check_types(void)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	int err = access(path, R_OK) ? errno : 0;
	struct btf *btf = err ? btf__load_vmlinux_btf() : NULL;         /* BTF may also be in /boot */

	btf__free(btf);
	if (!err || btf)
		return 0;
	diag_error("this kernel's types (BTF) are not available: %s: %s", path, strerror(err));
	diag_hint("use a kernel with CONFIG_DEBUG_INFO_BTF; in a container, mount /sys of the host");
	return -EOPNOTSUPP;
}

int host__need_files(size_t n)
{
	struct rlimit limit;

	if (has_room_for_files(n))
		return 0;
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		host__allow_files(limit.rlim_cur + n);
	return host__check_files(n);
}

int read_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, line, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	return 0;
}

/*
 * The kernel maps memory beyond 48 bits only for a hint address in that range. The name of the executable is at the
 * upper end of the stack, which is near the end of all other memory.
 */
u32 host__address_bits(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	u64 highest = getauxval(AT_EXECFN);
	void *far = mmap((void *)(1UL << 51), page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (far != MAP_FAILED) {
		if ((u64)far > highest)
			highest = (u64)far;
		munmap(far, page);
	}
	return 64 - __builtin_clzl(highest);
}

u64 host__threads(void)
{
	char line[128], *slash;

	if (read_line("/proc/loadavg", line, sizeof(line)))
		return 0;
	slash = strchr(line, '/');
	return slash ? strtoull(slash + 1, NULL, 10) : 0;
}
