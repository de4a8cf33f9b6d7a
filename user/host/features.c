// SPDX-License-Identifier: BSD-2-Clause
#include "host/features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/cgroup.h"
#include "host/host.h"
#include "host/probing.h"
#include "report/diag.h"
#include "types/tracefs.h"

/* The kernel provides this function for such tests: net/bpf/test_run.c, since 5.5. */
#define TEST_FUNCTION "bpf_fentry_test1"

static const struct bpf_insn do_nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static enum feature_status status_of(long result)
{
	if (result >= 0)
		return FEATURE_OK;
	return result == -EPERM || result == -EACCES ? FEATURE_NOT_PERMITTED : FEATURE_MISSING;
}

/* Loads an empty program; returns its descriptor or a negative errno. */
static int load(enum bpf_prog_type type, enum bpf_attach_type attach, const char *btf_name)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach);
	int id = 0;

	if (btf_name) {
		id = libbpf_find_vmlinux_btf_id(btf_name, attach);
		if (id < 0)
			return id;
		opts.attach_btf_id = id;
	}
	return bpf_prog_load(type, "tally_probe", "Dual BSD/GPL", do_nothing,
			     ARRAY_SIZE(do_nothing), &opts);
}

/* Loads and attaches a program through BTF. */
static enum feature_status probe_tracing(enum bpf_attach_type attach, const char *name)
{
	int prog = load(BPF_PROG_TYPE_TRACING, attach, name), link;

	if (prog < 0)
		return right_held(RIGHT_BPF) && prog == -EPERM ? FEATURE_MISSING : status_of(prog);
	link = bpf_raw_tracepoint_open(NULL, prog);
	close(prog);
	if (link >= 0)
		close(link);
	return status_of(link);
}

static enum feature_status probe_btf(char *detail)
{
	(void)detail;
	return status_of(access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0);
}

static enum feature_status probe_tp_btf(char *detail)
{
	(void)detail;
	return probe_tracing(BPF_TRACE_RAW_TP, "sched_switch");
}

static enum feature_status probe_fentry(char *detail)
{
	(void)detail;
	/* Do not attach if ftrace is off: the kernel would warn (host/probing.h). */
	return ftrace_is_off() ? FEATURE_MISSING : probe_tracing(BPF_TRACE_FENTRY, TEST_FUNCTION);
}

static enum feature_status probe_iterator(char *detail)
{
	int fd = load(BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, "task");

	(void)detail;
	if (fd >= 0)
		close(fd);
	return status_of(fd);
}

static enum feature_status probe_jit(char *detail)
{
	char line[16];
	int err = read_line("/proc/sys/net/core/bpf_jit_enable", line, sizeof(line));

	/* A missing file means no JIT. An unreadable file counts as on: the JIT may be always on. */
	if (err == -ENOENT)
		return FEATURE_MISSING;
	snprintf(detail, FEATURE_DETAIL, "bpf_jit_enable is %s", err ? "not readable" : line);
	return err || line[0] != '0' ? FEATURE_OK : FEATURE_MISSING;
}

/* Checks for a perf PMU of this name. */
static enum feature_status has_pmu(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", name);
	return access(path, F_OK) ? FEATURE_MISSING : FEATURE_OK;
}

static enum feature_status probe_kprobe(char *detail)
{
	(void)detail;
	return has_pmu("kprobe");
}

static enum feature_status probe_ftrace_on(char *detail)
{
	(void)detail;
	return ftrace_is_off() ? FEATURE_MISSING : FEATURE_OK;
}

static enum feature_status probe_kprobes_on(char *detail)
{
	(void)detail;
	return kprobes_are_off() ? FEATURE_MISSING : FEATURE_OK;
}

static enum feature_status probe_uprobe(char *detail)
{
	(void)detail;
	return has_pmu("uprobe");
}

static enum feature_status probe_usdt(char *detail)
{
	(void)detail;
	return has_pmu("uprobe/format/ref_ctr_offset");
}

static enum feature_status probe_kprobe_multi(char *detail)
{
	const char *symbols[] = { TEST_FUNCTION };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.cnt = 1,
		    .kprobe_multi.syms = symbols);
	int prog, link;

	(void)detail;
	if (ftrace_is_off())
		return FEATURE_MISSING;
	prog = load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, NULL);
	if (prog < 0)
		return status_of(prog);
	link = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts);
	close(prog);
	if (link >= 0)
		close(link);
	return status_of(link);
}

/*
 * Tries to create a link, which always fails: with EBADF if the kernel knows the type, because the file is a directory,
 * and otherwise with EINVAL. 48 is BPF_TRACE_UPROBE_MULTI.
 */
static enum feature_status probe_uprobe_multi(char *detail)
{
	u64 offset = 0;
	struct {
		u32 prog_fd, target, attach_type, flags;
		u64 path, offsets, semaphores, cookies;
		u32 cnt, multi_flags, pid;
	} attr = {
		.attach_type = 48, .path = (uintptr_t)"/", .offsets = (uintptr_t)&offset, .cnt = 1,
	};
	int prog = load(BPF_PROG_TYPE_KPROBE, attr.attach_type, NULL), link;

	(void)detail;
	if (prog < 0)
		return status_of(prog);
	attr.prog_fd = prog;
	link = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0 ? -errno : 0;
	close(prog);
	return link == -EBADF ? FEATURE_OK : status_of(link ?: -EINVAL);
}

static enum feature_status probe_map_type(enum bpf_map_type type)
{
	int has;

	if (!right_held(RIGHT_BPF))
		return FEATURE_NOT_PERMITTED;
	has = libbpf_probe_bpf_map_type(type, NULL);
	return has < 0 ? status_of(has) : has ? FEATURE_OK : FEATURE_MISSING;
}

static enum feature_status probe_ringbuf(char *detail)
{
	(void)detail;
	return probe_map_type(BPF_MAP_TYPE_RINGBUF);
}

static enum feature_status probe_task_storage(char *detail)
{
	struct host host;

	(void)detail;
	/* Tracing programs can use it only since 5.13: commit a10787e6d58c. */
	if (host__read(&host) || host.version < KERNEL_VERSION(5, 13, 0))
		return FEATURE_MISSING;
	return probe_map_type(BPF_MAP_TYPE_TASK_STORAGE);
}

static enum feature_status probe_helper(enum bpf_prog_type type, enum bpf_func_id id)
{
	int has;

	if (!right_held(RIGHT_BPF))
		return FEATURE_NOT_PERMITTED;
	has = libbpf_probe_bpf_helper(type, id, NULL);
	return has < 0 ? status_of(has) : has ? FEATURE_OK : FEATURE_MISSING;
}

static enum feature_status probe_loop(char *detail)
{
	(void)detail;
	return probe_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop);
}

static enum feature_status probe_cookie(char *detail)
{
	(void)detail;
	return probe_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie);
}

static enum feature_status probe_event(u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config, .exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return status_of(-errno);
	close(fd);
	return FEATURE_OK;
}

static enum feature_status probe_pmu(char *detail)
{
	(void)detail;
	return probe_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
}

static enum feature_status probe_software(char *detail)
{
	(void)detail;
	return probe_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

/* Triggers a breakpoint by a write, because some virtual machines accept breakpoints that never fire. */
static enum feature_status probe_breakpoint(char *detail)
{
	volatile u64 watched = 0;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched, .bp_len = sizeof(watched), .exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	u64 count = 0;
	ssize_t size;

	if (fd < 0 && errno == ENOSPC) {
		snprintf(detail, FEATURE_DETAIL, "all in use");
		return FEATURE_OK;
	}
	if (fd < 0)
		return status_of(-errno);
	watched = 1;
	size = read(fd, &count, sizeof(count));
	close(fd);
	return size == sizeof(count) && count == 1 ? FEATURE_OK : FEATURE_MISSING;
}

static enum feature_status probe_tracefs(char *detail)
{
	int fd = tracefs__open();

	if (fd < 0)
		return status_of(fd);
	close(fd);
	snprintf(detail, FEATURE_DETAIL, "%s", tracefs__is_mounted() ? "mounted" :
		 "not mounted; the tools mount it privately");
	return FEATURE_OK;
}

static enum feature_status probe_accounting(char *detail)
{
	char line[128], *count;

	(void)detail;
	if (read_line("/proc/self/schedstat", line, sizeof(line)))
		return FEATURE_MISSING;
	count = strrchr(line, ' ');
	return count && strtoull(count, NULL, 10) ? FEATURE_OK : FEATURE_MISSING;
}

static enum feature_status probe_lockdown(char *detail)
{
	char line[128];
	int err = read_line("/sys/kernel/security/lockdown", line, sizeof(line));

	if (err) {
		snprintf(detail, FEATURE_DETAIL, err == -EACCES ? "not readable" : "no lockdown here");
		return err == -EACCES ? FEATURE_NOT_PERMITTED : FEATURE_OK;
	}
	snprintf(detail, FEATURE_DETAIL, "%s", line);
	return strstr(line, "[confidentiality]") ? FEATURE_MISSING : FEATURE_OK;
}

static enum feature_status probe_memlock(char *detail)
{
	struct rlimit limit;
	struct host host;

	if (!host__read(&host) && host.version >= KERNEL_VERSION(5, 11, 0)) {
		snprintf(detail, FEATURE_DETAIL, "maps are charged to the memory cgroup since 5.11");
		return FEATURE_OK;
	}
	if (right_held(RIGHT_SYS_RESOURCE)) {
		snprintf(detail, FEATURE_DETAIL, "raised by the tools themselves");
		return FEATURE_OK;
	}
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur == RLIM_INFINITY)
		return FEATURE_OK;
	return FEATURE_MISSING;
}

static enum feature_status probe_paranoid(char *detail)
{
	char line[16];

	if (read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		return FEATURE_MISSING;
	snprintf(detail, FEATURE_DETAIL, "%s%s", line,
		 right_held(RIGHT_PERFMON) ? ", does not apply with CAP_PERFMON" : "");
	return right_held(RIGHT_PERFMON) || atoi(line) < 0 ? FEATURE_OK : FEATURE_NOT_PERMITTED;
}

static enum feature_status probe_cgroups(char *detail)
{
	snprintf(detail, FEATURE_DETAIL, "tools use the %s hierarchy unless -G names another",
		 cgroup_hierarchy_name(cgroup__default_hierarchy()));
	return access("/proc/self/cgroup", F_OK) ? FEATURE_MISSING : FEATURE_OK;
}

static enum feature_status probe_pid_namespace(char *detail)
{
	struct host host;

	(void)detail;
	return !host__read(&host) && host.initial_pidns ? FEATURE_OK : FEATURE_MISSING;
}

static enum feature_status right_status(enum right r)
{
	return right_held(r) ? FEATURE_OK : FEATURE_NOT_PERMITTED;
}

#define PROBE_RIGHT(fn, right)                                                                     \
	static enum feature_status fn(char *detail)                                                \
	{                                                                                          \
		(void)detail;                                                                      \
		return right_status(right);                                                        \
	}

PROBE_RIGHT(probe_cap_bpf, RIGHT_BPF)
PROBE_RIGHT(probe_cap_perfmon, RIGHT_PERFMON)
PROBE_RIGHT(probe_cap_ptrace, RIGHT_SYS_PTRACE)
PROBE_RIGHT(probe_cap_dac, RIGHT_DAC_READ_SEARCH)
PROBE_RIGHT(probe_cap_syslog, RIGHT_SYSLOG)

#define AS_ROOT "run as root, or give this capability"

const struct feature features[] = {
	{ "CAP_BPF", probe_cap_bpf, "no tool can load its programs", AS_ROOT },
	{ "CAP_PERFMON", probe_cap_perfmon, "no tool can trace", AS_ROOT },
	{ "CAP_SYS_PTRACE", probe_cap_ptrace, "processes of other users cannot be inspected",
	  AS_ROOT },
	{ "CAP_DAC_READ_SEARCH", probe_cap_dac, "cgroups are shown by number, not by name", AS_ROOT },
	{ "CAP_SYSLOG", probe_cap_syslog, "kernel functions are shown as numbers", AS_ROOT },
	{ FEATURE_LOCKDOWN, probe_lockdown, "BPF programs cannot read kernel memory",
	  "boot with lockdown=integrity or none" },
	{ "memlock", probe_memlock, "maps cannot be created", "ulimit -l unlimited" },
	{ "perf_event_paranoid", probe_paranoid, "counters and samples of the whole system",
	  "sysctl kernel.perf_event_paranoid=-1, or CAP_PERFMON" },
	{ "initial pid namespace", probe_pid_namespace, "-p, -t and commands cannot be followed",
	  "run on the host, or in a container with its pid namespace" },
	{ "kernel BTF", probe_btf, "no tool works: types of this kernel are unknown",
	  "use a kernel with CONFIG_DEBUG_INFO_BTF" },
	{ FEATURE_JIT, probe_jit,
	  "programs are interpreted, at several times the cost, or refused",
	  "sysctl net.core.bpf_jit_enable=1" },
	{ "tp_btf tracepoints", probe_tp_btf, "no tool works: nothing to attach to",
	  "use Linux 5.5 or later with CONFIG_BPF_EVENTS" },
	{ "task iterator", probe_iterator, "the state of tasks before the start is not known",
	  "use Linux 5.8 or later" },
	{ "task storage", probe_task_storage, "state of tasks is kept in a hash of limited size",
	  "use Linux 5.13 or later" },
	{ "ring buffer", probe_ringbuf, "no streams of events", "use Linux 5.8 or later" },
	{ "bpf_loop", probe_loop, "shorter strings and lists in generated programs",
	  "use Linux 5.17 or later" },
	{ "attach cookie", probe_cookie, "one program per probe instead of one for all",
	  "use Linux 5.15 or later" },
	{ "run-queue accounting", probe_accounting,
	  "runqlat uses wakeup timestamps, at several times the cost",
	  "use a kernel with CONFIG_SCHED_INFO (schedstats or delay accounting)" },
	{ "tracefs", probe_tracefs, "names and fields of tracepoints",
	  "mount -t tracefs tracefs /sys/kernel/tracing" },
	{ "kprobe", probe_kprobe, "kernel functions by name and offset",
	  "use a kernel with CONFIG_KPROBES" },
	{ "kprobe.multi", probe_kprobe_multi, "many kernel functions at once, quickly",
	  "use Linux 5.18 or later with CONFIG_FPROBE" },
	{ "fentry", probe_fentry, "the cheapest probes of kernel functions",
	  "use a kernel with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS" },
	{ "kernel.ftrace_enabled", probe_ftrace_on,
	  "probes at the start of kernel functions", FTRACE_ON },
	{ "kprobes/enabled", probe_kprobes_on, "kprobes", KPROBES_ON },
	{ "uprobe", probe_uprobe, "functions of programs and libraries",
	  "use a kernel with CONFIG_UPROBES" },
	{ "uprobe.multi", probe_uprobe_multi, "many functions of programs at once, quickly",
	  "use Linux 6.6 or later" },
	{ "USDT semaphores", probe_usdt, "USDT probes that have to be enabled first",
	  "use Linux 4.20 or later with CONFIG_UPROBES" },
	{ "hardware counters", probe_pmu, "cycles, instructions, cache misses; cpu-clock instead",
	  "virtual machines need a virtual PMU; see the hypervisor's settings" },
	{ "software counters", probe_software, "cpu-clock, page-faults, context-switches",
	  "use a kernel with CONFIG_PERF_EVENTS" },
	{ FEATURE_BREAKPOINTS, probe_breakpoint, "accesses to an address (mem:ADDRESS)",
	  "use a machine with working hardware breakpoints; some virtual machines have none" },
	{ "cgroups", probe_cgroups, "-G and --by cgroup", "use a kernel with CONFIG_CGROUPS" },
};
const size_t feature_count = ARRAY_SIZE(features);

bool features__lack_functions(void)
{
	static const char *const ways[] = { "kprobe", "kprobe.multi", "fentry" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (feature__probe(ways[i]) != FEATURE_MISSING)
			return false;
	return true;
}

const char *feature_status_name(enum feature_status status)
{
	static const char *const names[FEATURE_STATUSES] = {
		[FEATURE_OK] = "ok",
		[FEATURE_MISSING] = "missing",
		[FEATURE_NOT_PERMITTED] = "not permitted",
	};

	return names[status];
}

static const struct feature *find(const char *name)
{
	size_t i;

	for (i = 0; i < feature_count; i++)
		if (!strcmp(features[i].name, name))
			return &features[i];
	return NULL;
}

enum feature_status feature__probe(const char *name)
{
	const struct feature *f = find(name);
	char detail[FEATURE_DETAIL];

	return f ? f->probe(detail) : FEATURE_MISSING;
}

static const char *const settings[] = { FEATURE_LOCKDOWN, FEATURE_JIT };

static bool describe_loss(const char *name, char text[FEATURE_HINT])
{
	const struct feature *f = find(name);
	char detail[FEATURE_DETAIL];

	if (!f || f->probe(detail) != FEATURE_MISSING)
		return false;
	snprintf(text, FEATURE_HINT, "%s: %s; %s", f->name, f->lost, f->remedy);
	return true;
}

bool features__describe_setting(char text[FEATURE_HINT])
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (describe_loss(settings[i], text))
			return true;
	return false;
}

void features__hint_at_settings(void)
{
	char text[FEATURE_HINT];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (describe_loss(settings[i], text))
			diag_hint("%s", text);
}
