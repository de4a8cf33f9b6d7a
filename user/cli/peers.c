// SPDX-License-Identifier: BSD-2-Clause
#include "cli/peers.h"

#include <stdio.h>
#include <string.h>

#include "base/types.h"

#define BCC "bcc"
#define BT "bpftrace"
#define PERF "perf"
#define PERF_TOOLS "perf-tools"

#define RUNTIMES "`tally list -x FILE` lists the USDT probes a runtime has, `tally stat` counts them"
#define DATABASES "`tally probe -x FILE` times what is between two of its USDT probes"

/* Sorted by name. tests/live/test_peers.py checks that the tool of each line can parse it. */
const struct peer peers[] = {
	{ "annotate", PERF, "profile --annotate FUNCTION", NULL },
	{ "archive", PERF, NULL, "names are found while measuring; reports need no other files" },
	{ "argdist", BCC, "probe syscalls:sys_enter_read --hist count --by comm", NULL },
	{ "bashreadline", BCC, "probe -x bash 'readline%return +0($retval):string'", NULL },
	{ "bindsnoop", BCC, "trace -e bind", NULL },
	{ "biostacks", BT, "stackcount block:block_rq_insert", NULL },
	{ "bpflist", BCC, "bpftop -d 1", NULL },
	{ "bpftrace", BT, "probe 'syscalls:sys_enter_openat filename'", NULL },
	{ "btrfsdist", BCC, "fsdist --fs btrfs", NULL },
	{ "btrfsslower", BCC, "fileslower --fs btrfs", NULL },
	{ "buildid-cache", PERF, "list -x FILE 'sdt:*'", NULL },
	{ "c2c", PERF, NULL, "it takes sampling of data addresses; `tally stat --detailed` has misses" },
	{ "cachetop", BCC, "cachestat 1 --by pid", NULL },
	{ "capable", BCC, "probe 'cap_capable cap' --by comm,cap", NULL },
	{ "cobjnew", BCC, "stackcount -x libstdc++.so.6 _Znwm --sum arg1", NULL },
	{ "compactsnoop", BCC, "reclaim --min 0", NULL },
	{ "config", PERF, NULL, "there is no configuration" },
	{ "cpufreq", BT, "probe power:cpu_frequency --hist state --by cpu", NULL },
	{ "cpuunclaimed", BCC, "runqlen -A", NULL },
	{ "cpuwalk", BT, "stat -e task-clock --by cpu", NULL },
	{ "criticalstat", BCC, NULL,
	  "no times with interrupts off; `tally softirqs --latency` shows what they delay" },
	{ "daemon", PERF, NULL, "--listen lets a tool run and answer over HTTP" },
	{ "data", PERF, NULL,
	  "nothing is converted: --json, --csv and --format folded, pprof, speedscope are written" },
	{ "dbslower", BCC, NULL, DATABASES },
	{ "dbstat", BCC, NULL, DATABASES },
	{ "dcsnoop", BCC, "dcstat --by comm,name", NULL },
	{ "deadlock", BCC, NULL,
	  "no order of locks is kept; `tally futexstat -g --by owner` shows who waits for whom" },
	{ "dirtop", BCC, "filetop --by mount,file", NULL },
	{ "dropwatch", "dropwatch", "netdrop", NULL },
	{ "drsnoop", BCC, "reclaim --min 0", NULL },
	{ "dstat", "dstat", NULL, "`tally triage` looks at CPUs, memory, disks and the network in one run" },
	{ "evlist", PERF, NULL, "a report names its events; `tally list` shows those of this machine" },
	{ "ext4dist", BCC, "fsdist --fs ext4", NULL },
	{ "ext4slower", BCC, "fileslower --fs ext4", NULL },
	{ "f2fsdist", BCC, "fsdist --fs f2fs", NULL },
	{ "f2fsslower", BCC, "fileslower --fs f2fs", NULL },
	{ "filegone", BCC, "trace -e 'unlink*,rename*'", NULL },
	{ "fsslower", BCC, "fileslower", NULL },
	{ "ftrace", PERF, "funcgraph 'vfs_read,ext4_*' -d 10", NULL },
	{ "funccount", BCC, "stat -e 'vfs_*'", NULL },
	{ "funcinterval", BCC, NULL,
	  "no time between two calls; `tally probe FUNCTION --stream` shows when each was" },
	{ "funclatency", BCC, "probe vfs_read --latency", NULL },
	{ "funcslower", BCC, "probe vfs_read --latency --stream --filter '$elapsed > 10ms'", NULL },
	{ "functrace", PERF_TOOLS, "probe vfs_read --stream", NULL },
	{ "futexctn", BCC, "futexstat", NULL },
	{ "gethostlatency", BCC, "probe -x libc getaddrinfo --latency --by comm", NULL },
	{ "httptop", BCC, NULL, "nothing here reads HTTP; `tally tcptop` has the bytes of each connection" },
	{ "inject", BCC, NULL, "nothing here changes what programs or the kernel do" },
	{ "iolatency", PERF_TOOLS, "biolatency", NULL },
	{ "iosnoop", PERF_TOOLS, "biosnoop", NULL },
	{ "iostat", PERF, "biotop 1", NULL },
	{ "iotop", "iotop", "biotop 1", NULL },
	{ "javacalls", BCC, NULL, RUNTIMES },
	{ "javaflow", BCC, NULL, RUNTIMES },
	{ "javagc", BCC, NULL, RUNTIMES },
	{ "javaobjnew", BCC, NULL, RUNTIMES },
	{ "javastat", BCC, NULL, RUNTIMES },
	{ "javathreads", BCC, NULL, RUNTIMES },
	{ "kallsyms", PERF, "list --functions 'vfs_*'", NULL },
	{ "killsnoop", BCC, "signals", NULL },
	{ "klockstat", BCC, "lockstat", NULL },
	{ "kmem record", PERF, "kmem", NULL },
	{ "kmem stat", PERF, "kmem", NULL },
	{ "kprobe", PERF_TOOLS, "probe vfs_read --stream", NULL },
	{ "ksnoop", BCC, "probe 'vfs_read count'", NULL },
	{ "kvm", PERF, "kvmstat", NULL },
	{ "kvmexit", BCC, "kvmstat", NULL },
	{ "kwork", PERF, "workqueues", NULL },
	{ "kwork latency", PERF, "workqueues --latency", NULL },
	{ "llcstat", BCC, "stat -e LLC-loads,LLC-load-misses --by pid,comm", NULL },
	{ "loads", BT, NULL, "/proc/loadavg has it; `tally runqlen 1` shows who waits for a CPU now" },
	{ "lock", PERF, "lockstat", NULL },
	{ "lsof", "lsof", NULL,
	  "no list of open files; `tally opensnoop` shows files as they are opened" },
	{ "ltrace", "ltrace", "probe -x libc 'mallo*' --by func", NULL },
	{ "mdflush", BCC, "probe md_flush_request --by comm", NULL },
	{ "mem", PERF, NULL,
	  "no data addresses; `tally profile -e LLC-load-misses -c 1000` has the code" },
	{ "mountsnoop", BCC, "trace -e mount,umount2", NULL },
	{ "mpstat", "sysstat", "stat -e task-clock --by cpu 1", NULL },
	{ "mysqld_qslower", BCC, NULL, DATABASES },
	{ "naptime", BT, "trace -e nanosleep,clock_nanosleep", NULL },
	{ "netqtop", BCC, "netlat --by device,stage", NULL },
	{ "netstat", "net-tools", NULL,
	  "`ss -tanp` lists connections; `tally connsnoop` shows them as they come" },
	{ "nfsdist", BCC, "fsdist --fs nfs4", NULL },
	{ "nfsslower", BCC, "fileslower --fs nfs4", NULL },
	{ "numamove", BCC, "stat -e migrate:mm_migrate_pages --by comm", NULL },
	{ "oomkill", BCC, "reclaim --min 0", NULL },
	{ "perf bench", PERF, NULL, "no benchmarks of the kernel; `tally bench` has what a tracer costs" },
	{ "perf diff", PERF, "diff BEFORE.json AFTER.json", NULL },
	{ "perf inject", PERF, NULL, "nothing is rewritten; JIT names and waits are found while measuring" },
	{ "perf record", PERF, "profile -d 10 -o profile.svg", NULL },
	{ "perf-stat-hist", PERF_TOOLS, "probe syscalls:sys_exit_read --hist ret", NULL },
	{ "pidpersec", BCC, "stat -e sched:sched_process_fork 1", NULL },
	{ "pidstat", "sysstat", "profile --by pid,comm 1", NULL },
	{ "pythoncalls", BCC, NULL, RUNTIMES },
	{ "rdmaucma", BCC, NULL, "nothing here knows RDMA; `tally probe FUNCTION` counts calls" },
	{ "readahead", BCC, NULL,
	  "no pages read in vain; `tally cachestat` counts those that were read ahead" },
	{ "report", PERF, "profile --by comm,dso,sym -d 10", NULL },
	{ "reset-ftrace", PERF_TOOLS, NULL, "nothing is left behind that had to be reset" },
	{ "reset-trace", BCC, NULL, "nothing is left behind that had to be reset" },
	{ "sched", PERF, "timehist", NULL },
	{ "sched latency", PERF, "schedlat", NULL },
	{ "sched map", PERF, "schedmap", NULL },
	{ "sched record", PERF, "timehist --record FILE", NULL },
	{ "sched replay", PERF, "replay FILE", NULL },
	{ "script", PERF, "probe 'sched:sched_switch prev_comm next_comm' --stream", NULL },
	{ "setuids", BT, "trace -e 'set*uid,set*gid'", NULL },
	{ "shmsnoop", BCC, "trace -e 'shm*'", NULL },
	{ "sigsnoop", BCC, "signals", NULL },
	{ "slabratetop", BCC, "kmem --by cache 1", NULL },
	{ "sofdsnoop", BCC, "trace -y -e sendmsg,recvmsg", NULL },
	{ "solisten", BCC, "trace -e listen", NULL },
	{ "ssllatency", BT, "probe -x libssl.so.3 SSL_do_handshake --latency --by comm", NULL },
	{ "sslsniff", BCC, "probe -x libssl.so.3 'SSL_write +0($arg2):string len=$arg3'", NULL },
	{ "statsnoop", BCC, "trace -e '*stat,*statat,statx'", NULL },
	{ "strace", "strace", "trace", NULL },
	{ "swapin", BCC, "faults --major --by pid,comm", NULL },
	{ "swapout", BCC, "stat -e vmscan:mm_vmscan_write_folio 1", NULL },
	{ "syncsnoop", BCC, "trace -e '*sync*'", NULL },
	{ "tcpaccept", BCC, "connsnoop", NULL },
	{ "tcpcong", BCC, NULL, "no times by state; `tally tcprtt` and `tally tcpretrans` are the nearest" },
	{ "tcpconnect", BCC, "connsnoop", NULL },
	{ "tcpconnlat", BCC, "connsnoop", NULL },
	{ "tcpdrop", BCC, "netdrop -g", NULL },
	{ "tcpdump", "tcpdump", NULL,
	  "no packets; `tally tcptop` has the bytes of each connection, `tally netdrop` lost packets" },
	{ "tcppktlat", BCC, "netlat --by device,stage", NULL },
	{ "tcpstates", BCC, "probe 'sock:inet_sock_set_state sport dport oldstate newstate'", NULL },
	{ "tcpsubnet", BCC, NULL, "no sums by subnet; `tally tcptop --by remote` has those by address" },
	{ "tcpsynbl", BCC, NULL, "`ss -ltn` shows how full the backlogs are" },
	{ "tcptracer", BCC, "connsnoop", NULL },
	{ "test", PERF, NULL, "`make check` tests tally; `tally doctor` tests the machine" },
	{ "threadsnoop", BT, "trace -e clone,clone3", NULL },
	{ "timechart record", PERF, "timechart -d 10 -o chart.svg", NULL },
	{ "top", PERF, "profile --live", NULL },
	{ "tplist", BCC, "list -v 'block:*'", NULL },
	{ "tpoint", PERF_TOOLS, "probe 'sched:sched_switch prev_comm next_comm' --stream", NULL },
	{ "trace record", PERF, "trace --json -o FILE", NULL },
	{ "ttysnoop", BCC, NULL, "nothing here copies terminals; `tally trace -e write -p PID` shows writes" },
	{ "ucalls", BCC, NULL, RUNTIMES },
	{ "uflow", BCC, NULL, RUNTIMES },
	{ "ugc", BCC, NULL, RUNTIMES },
	{ "undump", BT, "trace -e 'recv*,read'", NULL },
	{ "uobjnew", BCC, NULL, RUNTIMES },
	{ "uprobe", PERF_TOOLS, "probe -x bash readline", NULL },
	{ "ustat", BCC, NULL, RUNTIMES },
	{ "uthreads", BCC, NULL, RUNTIMES },
	{ "version", PERF, "--version", NULL },
	{ "vfscount", BCC, "stat -e 'vfs_*'", NULL },
	{ "vfssize", BCC, "probe syscalls:sys_exit_read --hist ret --by comm", NULL },
	{ "vfsstat", BCC, "stat -e vfs_read,vfs_write,vfs_fsync,vfs_open,vfs_create 1", NULL },
	{ "virtiostat", BCC, "probe virtqueue_add_sgs --by comm", NULL },
	{ "vmstat", "procps", NULL,
	  "`tally triage` looks at CPUs, memory and disks; `tally runqlen 1` at run queues" },
	{ "wqlat", BCC, "workqueues --latency", NULL },
	{ "xfsdist", BCC, "fsdist --fs xfs", NULL },
	{ "xfsslower", BCC, "fileslower --fs xfs", NULL },
	{ "zfsdist", BCC, "fsdist --fs zfs", NULL },
	{ "zfsslower", BCC, "fileslower --fs zfs", NULL },
};

const size_t peer_count = ARRAY_SIZE(peers);

static const struct peer *find(const char *name)
{
	size_t i;

	for (i = 0; i < peer_count; i++)
		if (!strcmp(peers[i].name, name))
			return &peers[i];
	return NULL;
}

bool peer__is_about_functions(const struct peer *p)
{
	static const char *const names[] = {
		"capable", "dcsnoop", "ftrace", "funccount", "funclatency", "funcslower", "functrace", "kprobe",
		"ksnoop", "mdflush", "vfscount", "vfsstat", "virtiostat",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(p->name, names[i]))
			return true;
	return false;
}

const struct peer *peer__find_pair(const char *name, const char *second)
{
	char both[64];

	if (!second || snprintf(both, sizeof(both), "%s %s", name, second) >= (int)sizeof(both))
		return NULL;
	return find(both);
}

const struct peer *peer__find(const char *name, const char *second)
{
	return peer__find_pair(name, second) ?: find(name);
}

/* Names that also belong to a tool, or to a program of another suite, are prefixed with "perf" in the table. */
const struct peer *peer__find_perf(const char *command, const char *second)
{
	return peer__find_pair("perf", command) ?: peer__find(command, second);
}
