// SPDX-License-Identifier: BSD-2-Clause
/* All vitals: one row each. */
#include "machine/vitals/vital.h"

const struct vital_source vital_sources[VITAL_FILES] = {
	[VITAL_STAT] = { "/proc/stat", VITAL_LINES },
	[VITAL_LOADAVG] = { "/proc/loadavg", VITAL_LINES },
	[VITAL_MEMINFO] = { "/proc/meminfo", VITAL_LINES },
	[VITAL_VMSTAT] = { "/proc/vmstat", VITAL_LINES },
	[VITAL_CPU_PRESSURE] = { "/proc/pressure/cpu", VITAL_LINES },
	[VITAL_MEMORY_PRESSURE] = { "/proc/pressure/memory", VITAL_LINES },
	[VITAL_IO_PRESSURE] = { "/proc/pressure/io", VITAL_LINES },
	[VITAL_IRQ_PRESSURE] = { "/proc/pressure/irq", VITAL_LINES },
	[VITAL_FILE_NR] = { "/proc/sys/fs/file-nr", VITAL_LINES },
	[VITAL_PID_MAX] = { "/proc/sys/kernel/pid_max", VITAL_LINES },
	[VITAL_THREADS_MAX] = { "/proc/sys/kernel/threads-max", VITAL_LINES },
	[VITAL_NETSTAT] = { "/proc/net/netstat", VITAL_PAIRS },
	[VITAL_SNMP] = { "/proc/net/snmp", VITAL_PAIRS },
	[VITAL_SNMP6] = { "/proc/net/snmp6", VITAL_LINES },
	[VITAL_SOCKSTAT] = { "/proc/net/sockstat", VITAL_LINES },
	[VITAL_MAX_TW] = { "/proc/sys/net/ipv4/tcp_max_tw_buckets", VITAL_LINES },
	[VITAL_MAX_ORPHANS] = { "/proc/sys/net/ipv4/tcp_max_orphans", VITAL_LINES },
	[VITAL_TCP_MEM] = { "/proc/sys/net/ipv4/tcp_mem", VITAL_LINES },
	[VITAL_CONNTRACK_COUNT] = { "/proc/sys/net/netfilter/nf_conntrack_count", VITAL_LINES },
	[VITAL_CONNTRACK_MAX] = { "/proc/sys/net/netfilter/nf_conntrack_max", VITAL_LINES },
};

/* A share of the time of all CPUs: a column of the line "cpu". */
#define CPU_TIME(what, column, ...)                                                                                    \
	{ .area = "cpu", .name = what, .kind = VITAL_COUNTER, .unit = VITAL_NS, .scale = VITAL_TICKS,                  \
	  .value = { VITAL_STAT, "cpu", column }, .whole = VITAL_CPU_TIME, ##__VA_ARGS__ }
#define PRESSURE(where, how, source)                                                                                   \
	{ .area = where, .name = "pressure_" how, .kind = VITAL_COUNTER, .unit = VITAL_NS, .scale = VITAL_US,          \
	  .is_main = true, .value = { source, how " total", 0 }, .whole = VITAL_ELAPSED }
#define CGROUP_PRESSURE(what)                                                                                          \
	{ "cgroup", what, .kind = VITAL_COUNTER, .unit = VITAL_NS, .is_main = true, .least = 1 }
#define IO_LIMIT(what, ...) { "cgroup", what, .kind = VITAL_COUNTER, .near = 90, ##__VA_ARGS__ }
#define COUNT(where, what, source, key, ...)                                                                           \
	{ .area = where, .name = what, .kind = VITAL_COUNTER, .value = { source, key, 0 }, ##__VA_ARGS__ }
#define LEVEL(where, what, source, key, column, ...)                                                                   \
	{ .area = where, .name = what, .value = { source, key, column }, ##__VA_ARGS__ }

const struct vital vitals[] = {
	[VITAL_FS_READ_ONLY] = { "files", "read_only", .kind = VITAL_STATE, .is_error = true },
	[VITAL_FS_USED] = { "files", "used", .unit = VITAL_BYTES, .near = 95, .is_main = true },
	[VITAL_FS_INODES] = { "files", "inodes", .near = 95 },
	[VITAL_PROCESS_FILES] = { "files", "nofile", .near = 90 },
	[VITAL_CGROUP_MEMORY] = { "cgroup", "memory", .unit = VITAL_BYTES, .near = 95 },
	[VITAL_CGROUP_PIDS] = { "cgroup", "pids", .near = 90 },
	[VITAL_CGROUP_OOM_KILLS] = { "cgroup", "oom_kills", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_CGROUP_AT_LIMIT] = { "cgroup", "memory_limit_hits", .kind = VITAL_COUNTER },
	[VITAL_CGROUP_AT_HIGH] = { "cgroup", "memory_high_hits", .kind = VITAL_COUNTER },
	[VITAL_CGROUP_NO_PIDS] = { "cgroup", "forks_refused", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_CGROUP_THROTTLED] = { "cgroup", "throttled", .kind = VITAL_COUNTER, .unit = VITAL_NS },
	[VITAL_CGROUP_CPU_SOME] = CGROUP_PRESSURE("cpu_pressure_some"),
	[VITAL_CGROUP_CPU_FULL] = CGROUP_PRESSURE("cpu_pressure_full"),
	[VITAL_CGROUP_IO_SOME] = CGROUP_PRESSURE("io_pressure_some"),
	[VITAL_CGROUP_IO_FULL] = CGROUP_PRESSURE("io_pressure_full"),
	[VITAL_CGROUP_MEMORY_SOME] = CGROUP_PRESSURE("memory_pressure_some"),
	[VITAL_CGROUP_MEMORY_FULL] = CGROUP_PRESSURE("memory_pressure_full"),
	[VITAL_CGROUP_IO_RBPS] = IO_LIMIT("io_max_rbps", .unit = VITAL_BYTES),
	[VITAL_CGROUP_IO_WBPS] = IO_LIMIT("io_max_wbps", .unit = VITAL_BYTES),
	[VITAL_CGROUP_IO_RIOPS] = IO_LIMIT("io_max_riops"),
	[VITAL_CGROUP_IO_WIOPS] = IO_LIMIT("io_max_wiops"),
	[VITAL_MESSAGES] = { "kernel", "messages", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_MESSAGES_LOST] = { "kernel", "messages_lost", .kind = VITAL_COUNTER },
	[VITAL_CLOCK_SOURCE] = { "kernel", "clock_source" },
	[VITAL_DISK_BUSY] = { "disk", "busy", .kind = VITAL_COUNTER, .unit = VITAL_NS, .is_main = true },
	[VITAL_DISK_IN_FLIGHT] = { "disk", "in_flight" },
	[VITAL_DISK_READ] = { "disk", "read", .kind = VITAL_COUNTER, .unit = VITAL_BYTES },
	[VITAL_DISK_WRITTEN] = { "disk", "written", .kind = VITAL_COUNTER, .unit = VITAL_BYTES },
	[VITAL_NET_RX_ERRORS] = { "net", "rx_errors", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_NET_TX_ERRORS] = { "net", "tx_errors", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_NET_RX_DROPS] = { "net", "rx_drops", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_NET_TX_DROPS] = { "net", "tx_drops", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_NET_RX] = { "net", "received", .kind = VITAL_COUNTER, .unit = VITAL_BYTES },
	[VITAL_NET_TX] = { "net", "sent", .kind = VITAL_COUNTER, .unit = VITAL_BYTES },
	[VITAL_SOFTNET_DROPS] = { "net", "softnet_drops", .kind = VITAL_COUNTER, .is_error = true },
	[VITAL_SOFTNET_SQUEEZES] = { "net", "softnet_squeezes", .kind = VITAL_COUNTER },

	CPU_TIME("user", 0, .is_main = true),
	CPU_TIME("nice", 1),
	CPU_TIME("system", 2, .is_main = true),
	CPU_TIME("idle", 3),
	CPU_TIME("iowait", 4),
	CPU_TIME("irq", 5),
	CPU_TIME("softirq", 6),
	CPU_TIME("steal", 7, .is_main = true),
	LEVEL("cpu", "load", VITAL_LOADAVG, NULL, 0, .unit = VITAL_HUNDREDTHS, .is_main = true),
	LEVEL("cpu", "runnable", VITAL_STAT, "procs_running", 0, .is_main = true),
	LEVEL("cpu", "blocked", VITAL_STAT, "procs_blocked", 0),
	PRESSURE("cpu", "some", VITAL_CPU_PRESSURE),
	PRESSURE("irq", "full", VITAL_IRQ_PRESSURE),
	PRESSURE("io", "some", VITAL_IO_PRESSURE),
	PRESSURE("io", "full", VITAL_IO_PRESSURE),
	PRESSURE("memory", "some", VITAL_MEMORY_PRESSURE),
	PRESSURE("memory", "full", VITAL_MEMORY_PRESSURE),

	LEVEL("memory", "used", VITAL_MEMINFO, "MemAvailable", 0, .unit = VITAL_BYTES, .scale = VITAL_KIB,
	      .from_limit = true, .limit = { VITAL_MEMINFO, "MemTotal", 0 }, .near = 95, .is_main = true),
	LEVEL("memory", "swap_used", VITAL_MEMINFO, "SwapFree", 0, .unit = VITAL_BYTES, .scale = VITAL_KIB,
	      .from_limit = true, .limit = { VITAL_MEMINFO, "SwapTotal", 0 }, .near = 90, .is_main = true),
	/* The kernel enforces this limit only with vm.overcommit_memory 2, so a level near it is no finding. */
	LEVEL("memory", "committed", VITAL_MEMINFO, "Committed_AS", 0, .unit = VITAL_BYTES, .scale = VITAL_KIB,
	      .limit = { VITAL_MEMINFO, "CommitLimit", 0 }),
	LEVEL("memory", "dirty", VITAL_MEMINFO, "Dirty", 0, .unit = VITAL_BYTES, .scale = VITAL_KIB),
	LEVEL("memory", "writeback", VITAL_MEMINFO, "Writeback", 0, .unit = VITAL_BYTES, .scale = VITAL_KIB),
	COUNT("memory", "oom_kills", VITAL_VMSTAT, "oom_kill", .is_error = true),
	COUNT("memory", "swapped_in", VITAL_VMSTAT, "pswpin", .unit = VITAL_BYTES, .scale = VITAL_PAGES),
	COUNT("memory", "swapped_out", VITAL_VMSTAT, "pswpout", .unit = VITAL_BYTES, .scale = VITAL_PAGES),
	COUNT("memory", "major_faults", VITAL_VMSTAT, "pgmajfault"),

	/* The numbers are allocated descriptors, unused ones among these, and the limit. */
	LEVEL("files", "descriptors", VITAL_FILE_NR, NULL, 0, .minus = { VITAL_FILE_NR, NULL, 1 },
	      .limit = { VITAL_FILE_NR, NULL, 2 }, .near = 90, .is_main = true),
	LEVEL("tasks", "threads", VITAL_LOADAVG, NULL, 4, .limit = { VITAL_THREADS_MAX, NULL, 0 }, .near = 90),
	LEVEL("tasks", "pids", VITAL_LOADAVG, NULL, 4, .limit = { VITAL_PID_MAX, NULL, 0 }, .near = 90,
	      .is_main = true),

	COUNT("net", "listen_overflows", VITAL_NETSTAT, "TcpExt ListenOverflows", .is_error = true),
	COUNT("net", "listen_drops", VITAL_NETSTAT, "TcpExt ListenDrops", .is_error = true),
	COUNT("net", "syncookies", VITAL_NETSTAT, "TcpExt SyncookiesSent", .is_error = true),
	COUNT("net", "retransmits", VITAL_SNMP, "Tcp RetransSegs", .whole = VITAL_OF_FIGURE, .is_main = true,
	      .of = { VITAL_SNMP, "Tcp OutSegs", 0 }),
	COUNT("net", "udp_full", VITAL_SNMP, "Udp RcvbufErrors", .is_error = true),
	COUNT("net", "udp6_full", VITAL_SNMP6, "Udp6RcvbufErrors", .is_error = true),
	LEVEL("net", "time_wait", VITAL_SOCKSTAT, "TCP tw", 0, .limit = { VITAL_MAX_TW, NULL, 0 }, .near = 90),
	LEVEL("net", "orphans", VITAL_SOCKSTAT, "TCP orphan", 0, .limit = { VITAL_MAX_ORPHANS, NULL, 0 }, .near = 90),
	LEVEL("net", "tcp_memory", VITAL_SOCKSTAT, "TCP mem", 0, .unit = VITAL_BYTES, .scale = VITAL_PAGES,
	      .limit = { VITAL_TCP_MEM, NULL, 2 }, .near = 90),
	LEVEL("net", "conntrack", VITAL_CONNTRACK_COUNT, NULL, 0, .limit = { VITAL_CONNTRACK_MAX, NULL, 0 }, .near = 90,
	      .is_main = true),
};
const size_t vital_count = ARRAY_SIZE(vitals);
