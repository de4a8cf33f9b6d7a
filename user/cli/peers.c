// SPDX-License-Identifier: BSD-2-Clause
#include "cli/peers.h"

#include <stdio.h>
#include <string.h>

#include "base/types.h"

#define BCC "bcc"
#define BT "bpftrace"
#define PERF "perf"
#define PERF_TOOLS "perf-tools"
#define SYSSTAT "sysstat"

#define RUNTIMES "`tally list -x FILE` lists the USDT probes of a runtime, `tally stat` counts them"
#define DATABASES "`tally probe -x FILE` measures the time between two of its USDT probes"

/* Sorted by name. tests/live/test_peers.py checks that the tool of each line can parse it. */
const struct peer peers[] = {
	{ "annotate", PERF, "profile --annotate FUNCTION", NULL },
	{ "archive", PERF, NULL, "symbols are resolved while measuring; reports need no other files" },
	{ "argdist", BCC, "probe syscalls:sys_enter_read --hist count --by comm", NULL },
	{ "asprof", "async-profiler", "profile -p PID -d 10", NULL },
	{ "atop", "atop", "vitals 1", NULL },
	{ "bashreadline", BCC, "probe -x bash 'readline%return +0($retval):string'", NULL },
	{ "bindsnoop", BCC, "trace -e bind", NULL },
	{ "biolatency-kp", BT, "biolatency", NULL },
	{ "biolatpcts", BCC, "biolatency --table 1", NULL },
	{ "biostacks", BT, "stackcount block:block_rq_insert", NULL },
	{ "blkalgn", BCC, "bitesize", NULL },
	{ "blkparse", "blktrace", "biosnoop", NULL },
	{ "blktrace", "blktrace", "biosnoop", NULL },
	{ "bmon", "bmon", "vitals --all 1", NULL },
	{ "bpflist", BCC, "bpftop -d 1", NULL },
	{ "bpftool", "bpftool", NULL,
	  "`bpftool` lists and loads programs; `tally bpftop` shows the cost of each" },
	{ "bpftool prog", "bpftool", "bpftop -d 1", NULL },
	{ "bpftrace", BT, "probe 'syscalls:sys_enter_openat filename'", NULL },
	{ "brkstack", BT, "stackcount syscalls:sys_enter_brk", NULL },
	{ "btrace", "blktrace", "biosnoop", NULL },
	{ "btrfsdist", BCC, "fsdist --fs btrfs", NULL },
	{ "btrfsslower", BCC, "fileslower --fs btrfs", NULL },
	{ "btt", "blktrace", "biolatency --by disk --table", NULL },
	{ "buildid-cache", PERF, "list -x FILE 'sdt:*'", NULL },
	{ "c2c", PERF, NULL, "data addresses are not sampled; `tally stat --detailed` counts cache misses" },
	{ "cachetop", BCC, "cachestat 1 --by pid", NULL },
	{ "callgrind", "valgrind", NULL,
	  "programs are measured, not simulated: `tally profile -- COMMAND`, `tally funcgraph`" },
	{ "capable", BCC, "probe 'cap_capable cap' --by comm,cap", NULL },
	{ "cifsiostat", SYSSTAT, "fsdist --fs cifs 1", NULL },
	{ "cobjnew", BCC, "stackcount -x libstdc++.so.6 _Znwm --sum arg1", NULL },
	{ "collectl", "collectl", "vitals 1", NULL },
	{ "compactsnoop", BCC, "reclaim --min 0", NULL },
	{ "config", PERF, NULL, "there is no configuration" },
	{ "cpufreq", BT, "probe power:cpu_frequency --hist state --by cpu", NULL },
	{ "cpuunclaimed", BCC, "runqlen -A", NULL },
	{ "cpuwalk", BT, "stat -e task-clock --by cpu", NULL },
	{ "criticalstat", BCC, NULL,
	  "no times with interrupts off; `tally softirqs --latency` shows what they delay" },
	{ "daemon", PERF, NULL, "with --listen, a tool keeps running and answers over HTTP" },
	{ "data", PERF, NULL,
	  "no conversion is needed: tools write --json, --csv and --format folded, pprof, speedscope" },
	{ "dbslower", BCC, NULL, DATABASES },
	{ "dbstat", BCC, NULL, DATABASES },
	{ "dcsnoop", BCC, "dcstat --by comm,name", NULL },
	{ "deadlock", BCC, NULL,
	  "lock order is not kept; `tally futexstat -g --by owner` shows who waits for whom" },
	{ "deadlock_detector", BCC, NULL,
	  "lock order is not kept; `tally futexstat -g --by owner` shows who waits for whom" },
	{ "dirtop", BCC, "filetop --by mount,file", NULL },
	{ "dmesg", "util-linux", "vitals 1", NULL },
	{ "dool", "dool", "vitals 1", NULL },
	{ "dropwatch", "dropwatch", "netdrop", NULL },
	{ "drsnoop", BCC, "reclaim --min 0", NULL },
	{ "dstat", "dstat", "vitals 1", NULL },
	{ "dtrace", "dtrace", "probe 'syscalls:sys_enter_openat filename'", NULL },
	{ "eu-stack", "elfutils", "snap -g --by tid -p PID", NULL },
	{ "evlist", PERF, NULL, "a report names its events; `tally list` shows those of this machine" },
	{ "ext4dist", BCC, "fsdist --fs ext4", NULL },
	{ "ext4slower", BCC, "fileslower --fs ext4", NULL },
	{ "f2fsdist", BCC, "fsdist --fs f2fs", NULL },
	{ "f2fsslower", BCC, "fileslower --fs f2fs", NULL },
	{ "fatrace", "fatrace", "opensnoop", NULL },
	{ "ffaults", BT, "faults -g", NULL },
	{ "filegone", BCC, "trace -e 'unlink*,rename*'", NULL },
	{ "flamegraph", "FlameGraph", "profile --format flame -d 10 -o cpu.svg", NULL },
	{ "free", "procps", "vitals 1", NULL },
	{ "fsslower", BCC, "fileslower", NULL },
	{ "ftrace", PERF, "funcgraph 'vfs_read,ext4_*' -d 10", NULL },
	{ "ftrace latency", PERF, "probe vfs_read --latency", NULL },
	{ "funccount", BCC, "stat -e 'vfs_*'", NULL },
	{ "funcinterval", BCC, NULL,
	  "no time between two calls; `tally probe FUNCTION --stream` shows the time of each" },
	{ "funclatency", BCC, "probe vfs_read --latency", NULL },
	{ "funcslower", BCC, "probe vfs_read --latency --stream --filter '$elapsed > 10ms'", NULL },
	{ "functrace", PERF_TOOLS, "probe vfs_read --stream", NULL },
	{ "fuser", "psmisc", NULL, "no list of who has a file open; `tally opensnoop --name FILE` shows who opens it" },
	{ "futexctn", BCC, "futexstat", NULL },
	{ "gcore", "gdb", NULL, "no core dumps; `tally snap -g --by tid -p PID` shows the stacks of all threads" },
	{ "gdb", "gdb", "snap -g --by tid -p PID", NULL },
	{ "gethostlatency", BCC, "dnssnoop", NULL },
	{ "glances", "glances", "vitals 1", NULL },
	{ "gprof", "binutils", "profile -- COMMAND", NULL },
	{ "gstack", "gdb", "snap -g --by tid -p PID", NULL },
	{ "heaptrack", "heaptrack", "memleak -- COMMAND", NULL },
	{ "htop", "htop", "stat -e task-clock --by pid,comm --live", NULL },
	{ "httptop", BCC, NULL, "HTTP is not parsed; `tally tcptop` shows the bytes of each connection" },
	{ "ifstat", "iproute2", "vitals --all 1", NULL },
	{ "iftop", "iftop", "tcptop --by local,remote 1", NULL },
	{ "inject", BCC, NULL, "programs and the kernel are only observed, never changed" },
	{ "inotifywait", "inotify-tools", "trace -a -e %file", NULL },
	{ "iolatency", PERF_TOOLS, "biolatency", NULL },
	{ "iosnoop", PERF_TOOLS, "biosnoop", NULL },
	{ "iostack", BCC, "stackcount block:block_rq_insert", NULL },
	{ "iostat", SYSSTAT, "biotop --by disk,op 1", NULL },
	{ "iostat -c", SYSSTAT, "vitals 1", NULL },
	{ "iotop", "iotop", "biotop 1", NULL },
	{ "iotop -a", "iotop", "biotop", NULL },
	{ "iowatcher", "iowatcher", "biolatency --heat -d 60 -o disk.svg", NULL },
	{ "iptop", BCC, "tcptop --by local,remote 1", NULL },
	{ "javacalls", BCC, NULL, RUNTIMES },
	{ "javaflow", BCC, NULL, RUNTIMES },
	{ "javagc", BCC, NULL, RUNTIMES },
	{ "javaobjnew", BCC, NULL, RUNTIMES },
	{ "javastat", BCC, NULL, RUNTIMES },
	{ "javathreads", BCC, NULL, RUNTIMES },
	{ "jmap", "jdk", NULL, "no Java heaps; `tally memleak -p PID` shows malloc() memory that was not freed" },
	{ "jstack", "jdk", "snap -g --by tid -p PID", NULL },
	{ "kallsyms", PERF, "list --functions 'vfs_*'", NULL },
	{ "kernelshark", "kernelshark", "timechart -d 10 -o chart.svg", NULL },
	{ "killsnoop", BCC, "signals --sender", NULL },
	{ "klockstat", BCC, "lockstat", NULL },
	{ "kmem record", PERF, "kmem", NULL },
	{ "kmem stat", PERF, "kmem", NULL },
	{ "kprobe", PERF_TOOLS, "probe vfs_read --stream", NULL },
	{ "ksnoop", BCC, "probe 'vfs_read count'", NULL },
	{ "ktrace", "ktrace", "trace -- COMMAND", NULL },
	{ "kvm", PERF, "kvmstat", NULL },
	{ "kvm stat", PERF, "kvmstat", NULL },
	{ "kvmexit", BCC, "kvmstat", NULL },
	{ "kvmexits", BT, "kvmstat", NULL },
	{ "kwork", PERF, "workqueues", NULL },
	{ "kwork latency", PERF, "workqueues --latency", NULL },
	{ "kwork report", PERF, "workqueues", NULL },
	{ "kwork top", PERF, "schedlat", NULL },
	{ "latencytop", "latencytop", "offcputime -d 10", NULL },
	{ "llcstat", BCC, "stat -e LLC-loads,LLC-load-misses --by pid,comm", NULL },
	{ "loads", BT, NULL, "/proc/loadavg shows it; `tally runqlen 1` shows how many tasks wait for a CPU" },
	{ "lock", PERF, "lockstat", NULL },
	{ "lock contention", PERF, "lockstat", NULL },
	{ "lock record", PERF, "lockstat", NULL },
	{ "lock report", PERF, "lockstat", NULL },
	{ "lslocks", "util-linux", "snap --waits", NULL },
	{ "lsof", "lsof", NULL,
	  "no list of open files; `tally opensnoop` shows files as they are opened" },
	{ "ltrace", "ltrace", "probe -x libc 'mallo*' --by func", NULL },
	{ "ltrace -S", "ltrace", "trace", NULL },
	{ "ltrace -c", "ltrace", "probe -x libc 'mallo*' --latency --by func", NULL },
	{ "massif", "valgrind", "memleak -- COMMAND", NULL },
	{ "mctop", BCC, NULL, DATABASES },
	{ "mdflush", BCC, "probe md_flush_request --by comm", NULL },
	{ "mem", PERF, NULL,
	  "no data addresses; `tally profile -e LLC-load-misses -c 1000` shows the code" },
	{ "mmapfiles", BT, "trace -a -e mmap", NULL },
	{ "mmapsnoop", BCC, "trace -a -e mmap", NULL },
	{ "mountsnoop", BCC, "trace -e mount,umount2", NULL },
	{ "mpstat", SYSSTAT, "stat -e task-clock --by cpu 1", NULL },
	{ "mpstat -I", SYSSTAT, "hardirqs --by cpu 1", NULL },
	{ "mysqld_qslower", BCC, NULL, DATABASES },
	{ "naptime", BT, "trace -e nanosleep,clock_nanosleep", NULL },
	{ "nethogs", "nethogs", "tcptop --by pid,comm 1", NULL },
	{ "netqtop", BCC, "netlat --by device,stage", NULL },
	{ "netstat", "net-tools", NULL,
	  "`ss -tanp` lists connections; `tally connsnoop` shows new ones" },
	{ "netstat -i", "net-tools", "vitals --all 1", NULL },
	{ "netstat -s", "net-tools", "vitals --all 1", NULL },
	{ "nettxlat", BT, "netlat", NULL },
	{ "nfsdist", BCC, "fsdist --fs nfs4", NULL },
	{ "nfsiostat", SYSSTAT, "fsdist --fs nfs4 1", NULL },
	{ "nfsslower", BCC, "fileslower --fs nfs4", NULL },
	{ "nicstat", "nicstat", "vitals --all 1", NULL },
	{ "nload", "nload", "vitals --all 1", NULL },
	{ "nmon", "nmon", "vitals 1", NULL },
	{ "nodegc", BCC, NULL, RUNTIMES },
	{ "nodestat", BCC, NULL, RUNTIMES },
	{ "nstat", "iproute2", "vitals --all 1", NULL },
	{ "numamove", BCC, "stat -e migrate:mm_migrate_pages --by comm", NULL },
	{ "numasched", BCC, NULL, "no moves between nodes; `tally migrations --matrix` shows moves between CPUs" },
	{ "numastat", "numactl", NULL,
	  "no levels by node; `tally stat -e migrate:mm_migrate_pages 1` counts pages that move" },
	{ "numatop", "numatop", "stat -e node-loads,node-load-misses --by pid,comm 1", NULL },
	{ "oomkill", BCC, "reclaim --min 0", NULL },
	{ "operf", "oprofile", "profile -d 10", NULL },
	{ "opreport", "oprofile", "profile --by comm,dso,sym -d 10", NULL },
	{ "oprofile", "oprofile", "profile -d 10", NULL },
	{ "pcstat", "pcstat", "cachestat --by comm,file 1", NULL },
	{ "perf bench", PERF, NULL, "no benchmarks of the kernel; `tally bench` measures the cost of tracing" },
	{ "perf diff", PERF, "diff BEFORE.json AFTER.json", NULL },
	{ "perf inject", PERF, NULL, "nothing to rewrite; JIT symbols and waits are resolved while measuring" },
	{ "perf iostat", PERF, "biotop --by disk,op 1", NULL },
	{ "perf record", PERF, "profile -d 10 -o profile.svg", NULL },
	{ "perf top", PERF, "profile --live", NULL },
	{ "perf-stat-hist", PERF_TOOLS, "probe syscalls:sys_exit_read --hist ret", NULL },
	{ "perlcalls", BCC, NULL, RUNTIMES },
	{ "perlflow", BCC, NULL, RUNTIMES },
	{ "perlstat", BCC, NULL, RUNTIMES },
	{ "phpcalls", BCC, NULL, RUNTIMES },
	{ "phpflow", BCC, NULL, RUNTIMES },
	{ "phpstat", BCC, NULL, RUNTIMES },
	{ "pidpersec", BCC, "stat -e sched:sched_process_fork 1", NULL },
	{ "pidstat", SYSSTAT, "stat -e task-clock --by pid,comm 1", NULL },
	{ "pidstat -d", SYSSTAT, "biotop --by pid,comm 1", NULL },
	{ "pidstat -r", SYSSTAT, "faults --by pid,comm 1", NULL },
	{ "pidstat -t", SYSSTAT, "stat -e task-clock --by pid,tid,comm 1", NULL },
	{ "pidstat -w", SYSSTAT, "stat -e context-switches --by pid,comm 1", NULL },
	{ "pmap", "procps", NULL, "no list of mappings; `tally faults --by pid,comm` shows who touches new memory" },
	{ "powertop", "powertop", NULL, "no power data; `tally timers 1` and `tally hardirqs 1` show what wakes CPUs "
					"up" },
	{ "ppchcalls", BCC, NULL, "no tool for PowerPC hypervisor calls; `tally probe powerpc:hcall_entry` counts "
				  "them" },
	{ "ps", "procps", "snap --each", NULL },
	{ "pstack", "gdb", "snap -g --by tid -p PID", NULL },
	{ "py-spy", "py-spy", "profile -p PID -d 10", NULL },
	{ "py-spy dump", "py-spy", "snap -g --lines --by tid -p PID", NULL },
	{ "py-spy top", "py-spy", "profile --by sym --live -p PID", NULL },
	{ "pythoncalls", BCC, NULL, RUNTIMES },
	{ "pythonflow", BCC, NULL, RUNTIMES },
	{ "pythongc", BCC, NULL, RUNTIMES },
	{ "pythonstat", BCC, NULL, RUNTIMES },
	{ "rbspy", "rbspy", "profile -p PID -d 10", NULL },
	{ "rdmaucma", BCC, NULL, "RDMA is not supported; `tally probe FUNCTION` counts calls" },
	{ "readahead", BCC, NULL,
	  "no count of unused readahead; `tally cachestat` counts the pages read ahead" },
	{ "report", PERF, "profile --by comm,dso,sym -d 10", NULL },
	{ "reset-ftrace", PERF_TOOLS, NULL, "nothing is left behind that needs a reset" },
	{ "reset-trace", BCC, NULL, "nothing is left behind that needs a reset" },
	{ "rubycalls", BCC, NULL, RUNTIMES },
	{ "rubyflow", BCC, NULL, RUNTIMES },
	{ "rubygc", BCC, NULL, RUNTIMES },
	{ "rubyobjnew", BCC, NULL, RUNTIMES },
	{ "rubystat", BCC, NULL, RUNTIMES },
	{ "sar", SYSSTAT, "vitals 1", NULL },
	{ "sar -B", SYSSTAT, "faults 1", NULL },
	{ "sar -P", SYSSTAT, "stat -e task-clock --by cpu 1", NULL },
	{ "sar -d", SYSSTAT, "biotop --by disk,op 1", NULL },
	{ "sar -n", SYSSTAT, "vitals --all 1", NULL },
	{ "sar -q", SYSSTAT, "runqlen 1", NULL },
	{ "sar -w", SYSSTAT, "stat -e context-switches,sched:sched_process_fork 1", NULL },
	{ "sched", PERF, "timehist", NULL },
	{ "sched latency", PERF, "schedlat", NULL },
	{ "sched map", PERF, "schedmap", NULL },
	{ "sched record", PERF, "timehist --record FILE", NULL },
	{ "sched replay", PERF, "replay FILE", NULL },
	{ "sched stats", PERF, "schedlat", NULL },
	{ "sched timehist", PERF, "timehist", NULL },
	{ "script", PERF, "probe 'sched:sched_switch prev_comm next_comm' --stream", NULL },
	{ "seekwatcher", "seekwatcher", "biopattern 1", NULL },
	{ "setuids", BT, "trace -e 'set*uid,set*gid'", NULL },
	{ "shmsnoop", BCC, "trace -e 'shm*'", NULL },
	{ "sigsnoop", BCC, "signals --sender", NULL },
	{ "skbdrop", BT, "netdrop", NULL },
	{ "slabratetop", BCC, "kmem --by cache 1", NULL },
	{ "slabtop", "procps", "kmem --by cache 1", NULL },
	{ "soaccept", BT, "connsnoop", NULL },
	{ "sockstat", BT, "syscount --by syscall -e 'socket*,accept*,connect,send*,recv*' 1", NULL },
	{ "soconnect", BT, "connsnoop", NULL },
	{ "sofdsnoop", BCC, "trace -y -e sendmsg,recvmsg", NULL },
	{ "softirqslower", BCC, "softirqs --latency", NULL },
	{ "solisten", BCC, "trace -e listen", NULL },
	{ "ss", "iproute2", NULL,
	  "`ss` lists sockets; `tally connsnoop` shows new connections, `tally tcptop` bytes" },
	{ "ss -i", "iproute2", "tcprtt --by local,remote", NULL },
	{ "ssllatency", BT, "probe -x libssl.so.3 SSL_do_handshake --latency --by comm", NULL },
	{ "sslsniff", BCC, "probe -x libssl.so.3 'SSL_write +0($arg2):string len=$arg3'", NULL },
	{ "sslsnoop", BT, "probe -x libssl.so.3 SSL_read SSL_write --latency --by func,comm", NULL },
	{ "stap", "systemtap", "probe 'syscalls:sys_enter_openat filename'", NULL },
	{ "stat record", PERF, "stat --json -o stat.json -- COMMAND", NULL },
	{ "stat report", PERF, "diff BEFORE.json AFTER.json", NULL },
	{ "statsnoop", BCC, "trace -e '*stat,*statat,statx'", NULL },
	{ "strace", "strace", "trace", NULL },
	{ "swapin", BCC, "faults --major --by pid,comm", NULL },
	{ "swapout", BCC, "stat -e vmscan:mm_vmscan_write_folio 1", NULL },
	{ "syncsnoop", BCC, "trace -e '*sync*'", NULL },
	{ "sysdig", "sysdig", "trace -a", NULL },
	{ "tclcalls", BCC, NULL, RUNTIMES },
	{ "tclflow", BCC, NULL, RUNTIMES },
	{ "tclobjnew", BCC, NULL, RUNTIMES },
	{ "tclstat", BCC, NULL, RUNTIMES },
	{ "tcpaccept", BCC, "connsnoop", NULL },
	{ "tcpcong", BCC, NULL, "no times by state; `tally tcprtt` and `tally tcpretrans` come closest" },
	{ "tcpconnect", BCC, "connsnoop", NULL },
	{ "tcpconnlat", BCC, "connsnoop", NULL },
	{ "tcpdrop", BCC, "netdrop -g", NULL },
	{ "tcpdump", "tcpdump", NULL,
	  "no packet capture; `tally tcptop` shows bytes per connection, `tally netdrop` losses" },
	{ "tcppktlat", BCC, "netlat --by device,stage", NULL },
	{ "tcpsubnet", BCC, NULL, "no sums by subnet; `tally tcptop --by remote` shows sums by address" },
	{ "tcpsynbl", BCC, "tcpbacklog", NULL },
	{ "tcptracer", BCC, "connsnoop", NULL },
	{ "test", PERF, NULL, "`make check` tests tally; `tally doctor` tests the machine" },
	{ "threadsnoop", BT, "trace -e clone,clone3", NULL },
	{ "time", "time", "stat -- COMMAND", NULL },
	{ "timechart record", PERF, "timechart -d 10 -o chart.svg", NULL },
	{ "top", "procps", "stat -e task-clock --by pid,comm --live", NULL },
	{ "tplist", BCC, "list -v 'block:*'", NULL },
	{ "tpoint", PERF_TOOLS, "probe 'sched:sched_switch prev_comm next_comm' --stream", NULL },
	{ "trace record", PERF, "trace --json -o FILE", NULL },
	{ "trace-cmd", "trace-cmd", "probe 'sched:sched_switch prev_comm next_comm' --stream", NULL },
	{ "trace-cmd function_graph", "trace-cmd", "funcgraph 'vfs_read,ext4_*' -d 10", NULL },
	{ "trace-cmd list", "trace-cmd", "list", NULL },
	{ "trace-cmd profile", "trace-cmd", "timehist --summary=only -d 10", NULL },
	{ "trace-cmd stat", "trace-cmd", "list --summary", NULL },
	{ "truss", "truss", "trace -- COMMAND", NULL },
	{ "tshark", "wireshark", NULL,
	  "no packet capture; `tally tcptop` shows bytes per connection, `tally netdrop` losses" },
	{ "ttysnoop", BCC, NULL, "terminals are not copied; `tally trace -e write -p PID` shows writes" },
	{ "turbostat", "turbostat", NULL,
	  "no power data; `tally probe power:cpu_idle --hist state --by cpu` shows idle states" },
	{ "ucalls", BCC, NULL, RUNTIMES },
	{ "uflow", BCC, NULL, RUNTIMES },
	{ "uftrace", "uftrace", "funcgraph -x bash 'main,execute_*'", NULL },
	{ "ugc", BCC, NULL, RUNTIMES },
	{ "undump", BT, "trace -e 'recv*,read'", NULL },
	{ "uobjnew", BCC, NULL, RUNTIMES },
	{ "uprobe", PERF_TOOLS, "probe -x bash readline", NULL },
	{ "uptime", "procps", "vitals 1", NULL },
	{ "ustat", BCC, NULL, RUNTIMES },
	{ "uthreads", BCC, NULL, RUNTIMES },
	{ "valgrind", "valgrind", NULL,
	  "programs run unmodified; `tally memleak -- COMMAND` shows memory they do not free" },
	{ "version", PERF, "--version", NULL },
	{ "vfscount", BCC, "stat -e 'vfs_*'", NULL },
	{ "vfssize", BCC, "probe syscalls:sys_exit_read --hist ret --by comm", NULL },
	{ "vfsstat", BCC, "stat -e vfs_read,vfs_write,vfs_fsync,vfs_open,vfs_create 1", NULL },
	{ "virtiostat", BCC, "probe virtqueue_add_sgs --by comm", NULL },
	{ "vmscan", BT, "reclaim --min 0", NULL },
	{ "vmstat", "procps", "vitals 1", NULL },
	{ "vmstat -d", "procps", "biotop --by disk,op 1", NULL },
	{ "vmstat -m", "procps", "kmem --by cache 1", NULL },
	{ "vmtouch", "vmtouch", "cachestat --by comm,file 1", NULL },
	{ "wireshark", "wireshark", NULL,
	  "no packet capture; `tally tcptop` shows bytes per connection, `tally netdrop` losses" },
	{ "workq", BT, "workqueues", NULL },
	{ "wqlat", BCC, "workqueues --latency", NULL },
	{ "writeback", BT, "probe 'writeback:writeback_written nr_pages reason' --stream", NULL },
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
		"capable", "dcsnoop", "ftrace", "ftrace latency", "funccount", "funclatency", "funcslower",
		"functrace", "kprobe", "ksnoop", "mdflush", "trace-cmd function_graph", "vfscount", "vfsstat",
		"virtiostat",
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

/* Finds the first letter of "-xyz" that is an option of name. */
static const struct peer *find_letter(const char *name, const char *letters)
{
	const struct peer *p = NULL;

	for (; *letters && !p; letters++)
		p = peer__find_pair(name, (const char[]){ '-', *letters, 0 });
	return p;
}

const struct peer *peer__find(const char *name, char *const *words)
{
	const struct peer *p = NULL;

	for (; words && *words && !p; words++) {
		p = peer__find_pair(name, *words);
		if (!p && words[0][0] == '-')
			p = find_letter(name, *words + 1);
	}
	return p ?: find(name);
}

/* In the table, "perf" precedes names that also belong to a tool or to a program of another suite. */
const struct peer *peer__find_perf(const char *command, char *const *words)
{
	return peer__find_pair("perf", command) ?: peer__find(command, words);
}
