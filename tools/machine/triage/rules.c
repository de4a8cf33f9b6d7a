// SPDX-License-Identifier: BSD-2-Clause
/*
 * The limits suit servers of any size: rates that keep one CPU busy, or that nobody causes on
 * purpose, are worth a word; a rate is a problem where it takes much of the machine, so those limits
 * are for each CPU. docs/triage.md lists them; tests/incidents creates each problem and some healthy
 * loads; tests/unit/test_triage_rules.c has their figures on other machines.
 */
#include "machine/triage/rules.h"

const char *const triage_lines[] = {
	"schedlat --by pid",
	"syscount --by syscall,errno,comm",
	"exitsnoop",
	"connsnoop --failed",
	"faults --by pid",
	"reclaim --by comm",
	"biolatency --by disk",
	"fileslower --min 5",
	"futexstat --by pid",
	"netdrop --by reason,location",
	"tcpretrans --count",
	"offcputime --state disk -K --by comm",
	/* What waits for a lock of postgres sleeps like an idle client: only the stack tells. */
	"offcputime --state sleep --min 100ms -U --call-graph dwarf --frames '^ProcSleep$' --comm 'postgres*' --by comm",
	"softirqs --by cpu,softirq",
	"hardirqs --by cpu,irq,name",
	"cputhrottle",
};
const size_t triage_line_count = ARRAY_SIZE(triage_lines);
const size_t triage_lines_needed = ARRAY_SIZE(triage_lines) - 1;

/* Calls that look up files. Starting programs miss some; higher rates are an endless search. */
#define FILE_CALLS "open|openat|openat2|stat|lstat|newfstatat|statx|access|faccessat|faccessat2|readlink|readlinkat|execve"

/*
 * Reasons of normal ends, and of packets to closed ports, which connsnoop reports with the task.
 * SOCKET_CLOSE and QUEUE_PURGE: somebody has closed a socket without reading what had arrived.
 */
#define EXPECTED_DROPS "NO_SOCKET|NOT_SPECIFIED|SOCKET_FILTER|SOCKET_CLOSE|QUEUE_PURGE|" \
		       "TCP_RESET|TCP_CLOSE|TCP_OLD_ACK|UNIX_DISCONNECT|CONSUMED"

const struct triage_rule triage_rules[] = {
	/* Failures and kills. */
	{
		.name = "oom-kill", .tool = "reclaim", .where = { { "kind", "oom" } }, .by = "comm", .figure = "count",
		.per = TRIAGE_COUNT, .problem = 1, .weight = 100,
		.why = "each victim of the OOM killer is a process that somebody wanted",
		.sentence = "the OOM killer kills {comm}, {times}: memory, or what its cgroup may have of it, is used up",
		.next = "reclaim --min 0",
	},
	{
		.name = "crash", .tool = "exitsnoop",
		.where = { { "signal", "SIGSEGV|SIGABRT|SIGBUS|SIGILL|SIGFPE|SIGSYS|SIGTRAP" } },
		.by = "comm|signal", .per = TRIAGE_COUNT, .problem = 1, .weight = 95,
		.why = "a process that dies of such a signal has met a fault of its own",
		.sentence = "{comm} dies of {signal}, {times}",
		.next = "signals --comm {comm}",
	},
	{
		.name = "no-space", .tool = "syscount", .where = { { "errno", "ENOSPC|EDQUOT" } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_COUNT, .problem = 1, .weight = 95,
		.why = "what is not written is lost",
		.sentence = "{comm} cannot write: {syscall} fails with {errno}, {times}",
		.next = "trace --failed --comm {comm} -e {syscall}",
	},
	{
		.name = "io-error", .tool = "syscount", .where = { { "errno", "EIO|EUCLEAN|ENODATA|EROFS" },
			{ "syscall", "pread64|preadv|preadv2|write|pwrite64|writev|pwritev|pwritev2|fsync|fdatasync|openat" } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_COUNT, .problem = 1, .weight = 94,
		.why = "a read or a write that fails so has met a broken disk or file system",
		.sentence = "{comm}'s files fail: {syscall} with {errno}, {times}",
		.next = "trace --failed --comm {comm} -e {syscall}",
	},
	{
		/* Whoever reads a pseudo-terminal whose other end has closed gets EIO: sshd, tmux. */
		.name = "read-error", .tool = "syscount", .where = { { "errno", "EIO|EUCLEAN|ENODATA" }, { "syscall", "read|readv" } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_COUNT, .notice = 1, .weight = 93,
		.why = "a broken disk, or a terminal that has ended: only the file tells",
		.sentence = "{comm} cannot read: {syscall} fails with {errno}, {times}",
		.next = "trace --failed --comm {comm} -e {syscall}",
	},
	{
		.name = "no-descriptors", .tool = "syscount", .where = { { "errno", "EMFILE|ENFILE" } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_COUNT, .problem = 1, .weight = 94,
		.why = "a process at its limit of open files turns clients away",
		.sentence = "{comm} has no file descriptors left: {syscall} fails with {errno}, {times}",
		.next = "trace --failed --comm {comm} -e {syscall}",
	},
	{
		.name = "failed-connects", .tool = "connsnoop", .where = { { "event", "connect" },
			{ "error", .is_not = "EINPROGRESS|EALREADY|EISCONN|EINTR|ENOENT" } },
		.by = "comm|error|remote", .per = TRIAGE_COUNT, .notice = 1, .problem = 10, .weight = 90,
		.why = "what a program connects to is meant to answer; one failure may be a retry",
		.sentence = "{comm} cannot connect to {remote}: {error}, {times}",
		.next = "connsnoop --failed --comm {comm}",
	},

	/* Excessive rates: causes. */
	{
		.name = "processes", .tool = "exitsnoop", .by = "comm", .per = TRIAGE_PER_SECOND, .whole = true,
		.notice = 100, .problem = 100, .each_cpu = true, .weight = 80,
		.why = "a process started and ended costs about a millisecond: 100 a second are a tenth of a CPU",
		.sentence = "processes start and end all the time, {all}; the most are {comm} (parent of one: pid {ppid})",
		.next = "execsnoop",
	},
	{
		.name = "not-found", .tool = "syscount",
		.where = { { "errno", "ENOENT|ENOTDIR" }, { "syscall", FILE_CALLS } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_PER_SECOND,
		.notice = 10000, .problem = 15000, .each_cpu = true, .weight = 80, .cpu_use = true,
		.why = "a compiler looks for some thousands a second in vain; more are a search without end",
		.sentence = "{comm} looks for files that are not there: {syscall} fails with {errno}, {value}",
		.next = "opensnoop --failed --comm {comm}",
	},
	{
		.name = "calls", .tool = "syscount", .by = "comm|syscall", .figure = "calls", .per = TRIAGE_PER_SECOND,
		.notice = 100000, .problem = 100000, .each_cpu = true, .weight = 71, .cpu_use = true,
		.why = "100,000 calls are a tenth of a CPU to a half; so many of one kind do too little each",
		.sentence = "{comm} calls {syscall} {value}",
		.next = "trace -s --comm {comm}",
	},
	{
		.name = "page-faults", .tool = "faults", .by = "pid", .figure = "minor", .per = TRIAGE_PER_SECOND,
		.notice = 50000, .problem = 75000, .each_cpu = true, .weight = 70, .cpu_use = true,
		.why = "a page fault takes about a microsecond, with the page cleared more",
		.sentence = "{comm} (pid {pid}) has page faults, {value}: memory is mapped or given back again and again",
		.next = "faults -g -p {pid}",
	},
	{
		.name = "major-faults", .tool = "faults", .by = "pid", .figure = "major", .per = TRIAGE_PER_SECOND,
		.notice = 50, .problem = 500, .weight = 78,
		.why = "each waits for a disk",
		.sentence = "{comm} (pid {pid}) waits for pages from disk, {value}: its memory does not stay in memory",
		.next = "faults --major -p {pid}",
	},
	{
		.name = "growth", .tool = "faults", .by = "pid", .figure = "anon_growth",
		.per = TRIAGE_BYTES_PER_SECOND, .notice = 8 << 20, .problem = 256 << 20, .weight = 72,
		.why = "8 MiB a second are 28 GiB an hour, if it goes on; 256 MiB a second fill 16 GiB in a minute",
		.sentence = "{comm} (pid {pid}) grows by {value}: {anon_growth} up to now",
		.next = "faults -g -p {pid}",
	},
	{
		.name = "futexes", .tool = "futexstat", .where = { { "result", "woken" } },
		.by = "pid", .figure = "count", .per = TRIAGE_PER_SECOND,
		.notice = 500, .problem = 10000, .each_cpu = true, .weight = 76, .cpu_use = true,
		.why = "each is a sleep, a wakeup and a switch: for a lock that is held for microseconds that is ten times its price",
		.sentence = "threads of {comm} (pid {pid}) wait for each other at futexes, {value}",
		.next = "futexstat -g -p {pid}",
	},
	{
		.name = "switches", .tool = "schedlat", .by = "comm", .figure = "switches", .per = TRIAGE_PER_SECOND,
		.notice = 10000, .problem = 25000, .each_cpu = true, .weight = 75, .cpu_use = true,
		.why = "a switch costs some microseconds with the caches it empties, more than the system call that led to it",
		.sentence = "{comm} gives its CPU away and gets it back, {value}",
		.next = "offcputime --comm {comm} -d 5",
	},
	{
		.name = "retransmissions", .tool = "tcpretrans", .by = "remote|rport", .figure = "retransmits",
		.per = TRIAGE_PER_SECOND, .whole = true, .notice = 1, .problem = 10, .each_cpu = true, .weight = 74,
		.why = "each is a segment that was lost or late: a wait for who needs it, of 200 ms and more if nothing follows it",
		.sentence = "TCP sends segments again, {all}; the most go to {remote} port {rport}",
		.next = "tcpretrans",
	},
	{
		.name = "drops", .tool = "netdrop", .where = { { "reason", .is_not = EXPECTED_DROPS } },
		.by = "reason|location", .figure = "drops", .per = TRIAGE_PER_SECOND,
		.notice = 10, .problem = 50, .each_cpu = true, .weight = 73,
		.why = "the kernel dropped packets that were not merely unexpected",
		.sentence = "the kernel drops packets, {value}: {reason} at {location}",
		.next = "netdrop -g",
	},
	{
		.name = "interrupts", .tool = "hardirqs", .by = "cpu|irq|name", .figure = "cpu_percent",
		.per = TRIAGE_PERCENT, .notice = 10, .problem = 30, .weight = 70,
		.why = "handlers run with interrupts off: a tenth of a CPU is rare even under heavy traffic",
		.sentence = "interrupt {irq} ({name}) takes {value} of CPU {cpu}'s time",
		.next = "hardirqs",
	},
	{
		.name = "softirqs", .tool = "softirqs", .by = "cpu|softirq", .figure = "cpu_percent",
		.per = TRIAGE_PERCENT, .notice = 20, .problem = 50, .weight = 66,
		.why = "tasks of that CPU wait meanwhile, and what does not get done in time, as packets, is dropped",
		.sentence = "softirq {softirq} takes {value} of CPU {cpu}'s time",
		.next = "softirqs",
	},

	/* Usage of resources. */
	{
		.name = "cpu-hog", .tool = "schedlat", .by = "pid", .figure = "runtime", .per = TRIAGE_OF_MACHINE,
		.problem = 0.8, .weight = 60, .cpu_use = true,
		.why = "one process that takes nearly all CPUs leaves none to others",
		.sentence = "{comm} (pid {pid}) takes {value} of all CPUs",
		.next = "profile -p {pid} -d 5",
	},
	{
		.name = "busy", .tool = "schedlat", .by = "pid", .figure = "runtime", .per = TRIAGE_OF_CPU,
		.notice = 0.7, .weight = 50,
		.why = "a thread can have one CPU at most: whoever waits for this one waits for its CPU time",
		.sentence = "{comm} (pid {pid}) keeps {value} busy",
		.next = "profile -p {pid} -d 5",
	},

	/* Effects on others. */
	{
		.name = "throttled", .tool = "cputhrottle", .by = "cgroup", .figure = "throttled_time",
		.per = TRIAGE_OF_CPU, .notice = 0.1, .problem = 0.5, .weight = 81,
		.why = "its tasks stand still while CPUs may be idle: a tenth of a CPU is felt as pauses of up to 100 ms",
		.sentence = "the CPU quota of cgroup {cgroup} holds it back by {value}: {throttled} of {periods} periods were throttled",
		.next = "runqlat -G {cgroup} -d 5",
	},
	{
		/* A thread that a lock woke waits microseconds until the scheduler has found it a CPU: no quota. */
		.name = "held-back", .tool = "schedlat", .where = { { "avg", .least = 1e6 } },
		.by = "pid", .figure = "wait", .per = TRIAGE_TASKS,
		.beside = "cpu-hog", .at_most = 0.7, .notice = 0.3, .problem = 2, .weight = 63, .cpu_use = true,
		.why = "who waits for milliseconds while CPUs are idle may not use them (a quota, a list of CPUs), or its work comes in "
		       "bursts: these make one or two wait",
		.sentence = "{comm} (pid {pid}): {value} on average wait for a CPU, {avg} each time, while all that runs takes {beside} "
			    "of the CPUs",
		.next = "runqlat --by cgroup,cpu -p {pid} -d 5",
	},
	{
		.name = "database-locks", .tool = "offcputime", .option = "ProcSleep", .by = "comm", .figure = "value",
		.per = TRIAGE_TASKS, .notice = 0.5, .problem = 2, .weight = 77,
		.why = "locks of a database are held for milliseconds; where clients stand in line, somebody keeps a transaction open",
		.sentence = "{comm}: {value} on average wait for a lock that another transaction holds",
		.next = "offcputime --state sleep --min 100ms -U --call-graph dwarf --frames ProcSleep --comm {comm} -d 5",
	},
	{
		.name = "reclaim", .tool = "reclaim", .where = { { "kind", .is_not = "oom|kswapd" } },
		.by = "comm", .figure = "total", .per = TRIAGE_TASKS, .whole = true,
		.notice = 0.02, .problem = 0.1, .weight = 65,
		.why = "tasks that free memory themselves stand still meanwhile",
		.sentence = "for want of memory {all} on average stand still; the longest: {comm} ({kind})",
		.next = "reclaim --by pid",
	},
	{
		/* Behind a slow disk the time is spent there, but the cause is still the limit. */
		.name = "memory-limit", .tool = "reclaim", .where = { { "kind", "memcg" } },
		.by = "comm", .figure = "count", .per = TRIAGE_PER_SECOND, .notice = 50, .weight = 64,
		.why = "each time takes some 32 pages from the cgroup, which has them read again if they were its files",
		.sentence = "{comm} is at the memory limit of its cgroup, {value}: pages are taken from it to give it others",
		.next = "reclaim --comm {comm} 1",
	},
	{
		.name = "slow-files", .tool = "fileslower", .by = "comm|event|path", .figure = "took",
		.per = TRIAGE_TASKS, .notice = 0.1, .weight = 62,
		.why = "calls that take 5 ms and more each, a tenth of the time in all; a backup may be meant so",
		.sentence = "{comm}: {value} on average wait in {event} of {path}",
		.next = "fileslower --comm {comm}",
	},
	{
		.name = "stuck", .tool = "offcputime", .option = "--state disk", .by = "comm", .figure = "value",
		.per = TRIAGE_TASKS, .notice = 2, .weight = 58,
		.why = "in state D nothing wakes a task but what it waits for: a disk, a server of files, another task",
		.sentence = "{comm}: {value} on average stand in state D, which no signal ends",
		.next = "offcputime --state disk --comm {comm} -d 5",
	},
	{
		.name = "slow-disk", .tool = "biolatency", .where = { { "count", .least = 100 } },
		.by = "disk", .figure = "p99", .per = TRIAGE_LONGEST,
		.notice = 50e6, .problem = 250e6, .weight = 61,
		.why = "a disk that turns takes 10 ms, one without moving parts less than 1",
		.sentence = "disk {disk} takes {value} for one request in a hundred",
		.next = "biotop",
	},
	{
		/* Of less than a hundred, one request in a hundred would be the longest one. */
		.name = "slow-requests", .tool = "biolatency", .where = { { "count", .least = 10 } },
		.by = "disk", .figure = "avg", .per = TRIAGE_LONGEST,
		.notice = 20e6, .problem = 200e6, .weight = 61,
		.why = "twice what a disk that turns takes: a queue in front of it, a limit (io.max), or a fault",
		.sentence = "disk {disk} takes {value} on average for {count} requests",
		.next = "biotop",
	},
	{
		.name = "cpu-waits", .tool = "schedlat", .by = "pid", .figure = "wait", .per = TRIAGE_OF_MACHINE,
		.whole = true, .notice = 1, .problem = 3, .weight = 40, .cpu_use = true,
		.why = "from 100 % on, a task waits for each CPU all the time",
		.sentence = "tasks wait for CPUs: {all} of the CPUs' time; the longest: {comm} (pid {pid})",
		.next = "runqlat --by cgroup -d 5",
	},
};
const size_t triage_rule_count = ARRAY_SIZE(triage_rules);
