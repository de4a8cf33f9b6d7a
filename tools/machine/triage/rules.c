// SPDX-License-Identifier: BSD-2-Clause
/*
 * The limits are those of a server of any size: rates are what one CPU can be busy with, or what nobody
 * does on purpose. docs/triage.md lists them; tests/live/test_triage.py makes each problem and some healthy loads.
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
	"softirqs",
	"hardirqs",
};
const size_t triage_line_count = ARRAY_SIZE(triage_lines);

/* Files a program may look for in vain as it starts; anything beyond is a search without end. */
#define FILE_CALLS "open|openat|openat2|stat|lstat|newfstatat|statx|access|faccessat|faccessat2|readlink|readlinkat|execve"

/* A reason that says that somebody knocked where nobody listens, which connsnoop tells with who it was; and normal ends. */
#define EXPECTED_DROPS "NO_SOCKET|NOT_SPECIFIED|SOCKET_FILTER|TCP_RESET|TCP_CLOSE|TCP_OLD_ACK|UNIX_DISCONNECT|CONSUMED"

const struct triage_rule triage_rules[] = {
	/* What fails or is killed. */
	{
		.name = "oom-kill", .tool = "reclaim", .where = { { "kind", "oom" } }, .by = "comm", .figure = "count",
		.per = TRIAGE_COUNT, .problem = 1, .weight = 100,
		.why = "each victim of the OOM killer is a process that somebody wanted",
		.sentence = "the OOM killer kills {comm}, {value} times: memory, or what its cgroup may have of it, is used up",
		.next = "reclaim --min 0",
	},
	{
		.name = "crash", .tool = "exitsnoop",
		.where = { { "signal", "SIGSEGV|SIGABRT|SIGBUS|SIGILL|SIGFPE|SIGSYS|SIGTRAP" } },
		.by = "comm|signal", .per = TRIAGE_COUNT, .problem = 1, .weight = 95,
		.why = "a process that dies of such a signal has met a fault of its own",
		.sentence = "{comm} dies of {signal}, {value} times",
		.next = "signals --comm {comm}",
	},
	{
		.name = "no-space", .tool = "syscount", .where = { { "errno", "ENOSPC|EDQUOT" } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_COUNT, .problem = 1, .weight = 95,
		.why = "what is not written is lost",
		.sentence = "{comm} cannot write: {syscall} fails with {errno}, {value} times",
		.next = "trace --failed --comm {comm} -e {syscall}",
	},
	{
		.name = "io-error", .tool = "syscount", .where = { { "errno", "EIO|EUCLEAN|ENODATA|EROFS" },
			{ "syscall", "read|pread64|readv|preadv|preadv2|write|pwrite64|writev|pwritev|pwritev2|fsync|fdatasync|openat" } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_COUNT, .problem = 1, .weight = 94,
		.why = "a read or a write that fails so has met a broken disk or file system",
		.sentence = "{comm}'s files fail: {syscall} with {errno}, {value} times",
		.next = "trace --failed --comm {comm} -e {syscall}",
	},
	{
		.name = "no-descriptors", .tool = "syscount", .where = { { "errno", "EMFILE|ENFILE" } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_COUNT, .problem = 1, .weight = 94,
		.why = "a process at its limit of open files turns clients away",
		.sentence = "{comm} has no file descriptors left: {syscall} fails with {errno}, {value} times",
		.next = "trace --failed --comm {comm} -e {syscall}",
	},
	{
		.name = "failed-connects", .tool = "connsnoop", .where = { { "event", "connect" },
			{ "error", .is_not = "EINPROGRESS|EALREADY|EISCONN|EINTR|ENOENT" } },
		.by = "comm|error|remote", .per = TRIAGE_COUNT, .notice = 1, .problem = 10, .weight = 90,
		.why = "what a program connects to is meant to answer; one failure may be a retry",
		.sentence = "{comm} cannot connect to {remote}: {error}, {value} times",
		.next = "connsnoop --failed --comm {comm}",
	},

	/* What somebody does far too often: causes. */
	{
		.name = "processes", .tool = "exitsnoop", .by = "comm", .per = TRIAGE_PER_SECOND, .whole = true,
		.notice = 100, .problem = 200, .weight = 80,
		.why = "a process started and ended costs about a millisecond: 200 a second are a fifth of a CPU",
		.sentence = "processes start and end all the time, {all}, most of them {comm} (parent of one: pid {ppid})",
		.next = "execsnoop",
	},
	{
		.name = "not-found", .tool = "syscount",
		.where = { { "errno", "ENOENT|ENOTDIR" }, { "syscall", FILE_CALLS } },
		.by = "comm|syscall|errno", .figure = "calls", .per = TRIAGE_PER_SECOND,
		.notice = 10000, .problem = 30000, .weight = 80,
		.why = "a compiler looks for some thousands a second in vain; more are a search without end",
		.sentence = "{comm} looks for files that are not there: {syscall} fails with {errno}, {value}",
		.next = "opensnoop --failed --comm {comm}",
	},
	{
		.name = "calls", .tool = "syscount", .by = "comm|syscall", .figure = "calls", .per = TRIAGE_PER_SECOND,
		.notice = 100000, .problem = 200000, .weight = 75,
		.why = "100,000 calls are a tenth of a CPU to a half; so many of one kind do too little each",
		.sentence = "{comm} calls {syscall} {value}",
		.next = "trace -s --comm {comm}",
	},
	{
		.name = "page-faults", .tool = "faults", .by = "pid", .figure = "minor", .per = TRIAGE_PER_SECOND,
		.notice = 50000, .problem = 150000, .weight = 70,
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
		.name = "growth", .tool = "faults", .by = "pid", .figure = "anon_growth", .per = TRIAGE_BYTES_PER_SECOND,
		.notice = 8 << 20, .problem = 64 << 20, .weight = 72,
		.why = "8 MiB a second are 28 GiB an hour, if it goes on",
		.sentence = "{comm} (pid {pid}) grows by {value}: {anon_growth} up to now",
		.next = "faults -g -p {pid}",
	},
	{
		.name = "futexes", .tool = "futexstat", .where = { { "result", "woken" } },
		.by = "pid", .figure = "count", .per = TRIAGE_PER_SECOND,
		.notice = 500, .problem = 20000, .weight = 76,
		.why = "each is a sleep, a wakeup and a switch: for a lock that is held for microseconds that is ten times its price",
		.sentence = "threads of {comm} (pid {pid}) wait for each other at futexes, {value}",
		.next = "futexstat -g -p {pid}",
	},
	{
		.name = "switches", .tool = "schedlat", .by = "comm", .figure = "switches", .per = TRIAGE_PER_SECOND,
		.notice = 10000, .problem = 50000, .weight = 68,
		.why = "a switch costs some microseconds with the caches it empties",
		.sentence = "{comm} gives its CPU away and gets it back, {value}",
		.next = "offcputime --comm {comm} -d 5",
	},
	{
		.name = "retransmissions", .tool = "tcpretrans", .by = "remote|rport", .figure = "retransmits",
		.per = TRIAGE_PER_SECOND, .whole = true, .notice = 1, .problem = 10, .weight = 74,
		.why = "each retransmission is a packet that was lost, and a wait of 200 ms or more for who needed it",
		.sentence = "TCP sends segments again, {all}, most of them to {remote} port {rport}",
		.next = "tcpretrans",
	},
	{
		.name = "drops", .tool = "netdrop", .where = { { "reason", .is_not = EXPECTED_DROPS } },
		.by = "reason|location", .figure = "drops", .per = TRIAGE_PER_SECOND,
		.notice = 10, .problem = 100, .weight = 73,
		.why = "the kernel dropped packets that were not merely unexpected",
		.sentence = "the kernel drops packets, {value}: {reason} at {location}",
		.next = "netdrop -g",
	},
	{
		.name = "interrupts", .tool = "hardirqs", .by = "irq|name", .figure = "cpu_percent",
		.per = TRIAGE_PERCENT, .notice = 10, .problem = 30, .weight = 70,
		.why = "handlers run with interrupts off: a tenth of the machine is rare even under heavy traffic",
		.sentence = "interrupt {irq} ({name}) takes {value} of all CPUs",
		.next = "hardirqs",
	},
	{
		.name = "softirqs", .tool = "softirqs", .by = "softirq", .figure = "cpu_percent",
		.per = TRIAGE_PERCENT, .notice = 20, .problem = 50, .weight = 66,
		.why = "what the kernel does on no task's behalf is missing to all",
		.sentence = "softirq {softirq} takes {value} of all CPUs",
		.next = "softirqs",
	},

	/* Who uses what there is. */
	{
		.name = "cpu-hog", .tool = "schedlat", .by = "pid", .figure = "runtime", .per = TRIAGE_OF_MACHINE,
		.problem = 0.8, .weight = 60,
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

	/* What others feel of it. */
	{
		.name = "held-back", .tool = "schedlat", .by = "pid", .figure = "wait", .per = TRIAGE_TASKS,
		.beside = "cpu-hog", .at_most = 0.7, .notice = 0.3, .problem = 0.8, .weight = 79,
		.why = "who waits while CPUs are idle may not use them: a quota of its cgroup (cpu.max), or a list of CPUs",
		.sentence = "{comm} (pid {pid}): {value} on average wait for a CPU while others are idle",
		.next = "runqlat --by cgroup,cpu -p {pid} -d 5",
	},
	{
		.name = "reclaim", .tool = "reclaim", .where = { { "kind", .is_not = "oom|kswapd" } },
		.by = "comm", .figure = "total", .per = TRIAGE_TASKS, .whole = true,
		.notice = 0.02, .problem = 0.1, .weight = 65,
		.why = "tasks that free memory themselves stand still meanwhile",
		.sentence = "for want of memory {all} on average stand still, most of them {comm} ({kind})",
		.next = "reclaim --by pid",
	},
	{
		.name = "slow-files", .tool = "fileslower", .by = "comm|event|path", .figure = "took", .per = TRIAGE_TASKS,
		.notice = 0.1, .weight = 62,
		.why = "calls that take 5 ms and more each, a tenth of the time in all; a backup may be meant so",
		.sentence = "{comm}: {value} on average wait in {event} of {path}",
		.next = "fileslower --comm {comm}",
	},
	{
		.name = "stuck", .tool = "offcputime", .by = "comm", .figure = "value", .per = TRIAGE_TASKS,
		.notice = 2, .weight = 58,
		.why = "in state D nothing wakes a task but what it waits for: a disk, a server of files, another task",
		.sentence = "{comm}: {value} on average stand in state D, which no signal ends",
		.next = "offcputime --state disk --comm {comm} -d 5",
	},
	{
		.name = "slow-disk", .tool = "biolatency", .where = { { "count", .least = 10 } },
		.by = "disk", .figure = "p99", .per = TRIAGE_LONGEST,
		.notice = 50e6, .problem = 250e6, .weight = 61,
		.why = "a disk that turns takes 10 ms, one without moving parts less than 1",
		.sentence = "disk {disk} takes {value} for one request in a hundred",
		.next = "biotop",
	},
	{
		.name = "cpu-waits", .tool = "schedlat", .by = "pid", .figure = "wait", .per = TRIAGE_OF_MACHINE,
		.whole = true, .notice = 1, .problem = 3, .weight = 40,
		.why = "from 100 % on, a task waits for each CPU all the time",
		.sentence = "tasks wait for CPUs: {all} of the CPUs' time, most of it {comm} (pid {pid})",
		.next = "runqlat --by cgroup -d 5",
	},
};
const size_t triage_rule_count = ARRAY_SIZE(triage_rules);
