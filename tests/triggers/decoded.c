// SPDX-License-Identifier: BSD-2-Clause
/*
 * decoded: makes system calls with known arguments, and prints the expected text of each, one per line. The first call
 * is getppid, which is not printed. Most calls fail, but their arguments can be decoded all the same. Numbers stand for
 * constants that a C library may lack; ADDRESS stands for any address, and N for a number chosen by the kernel.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define P(pointer) ((uint64_t)(uintptr_t)(pointer))
#define MOST 256

/* Printed at the end, so that writing it adds no call between these. */
static const char *expected[MOST];
static int calls;

static long call(const char *text, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
		 uint64_t f)
{
	if (calls < MOST)
		expected[calls++] = text;
	return syscall(number, a, b, c, d, e, f);
}

/* Arguments that are not given are 0. */
#define CALL(text, ...) CALL_7(text, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define CALL_7(text, n, a, b, c, d, e, f, ...) call(text, n, a, b, c, d, e, f)

static char space[4096], text[3 * 4096];

/* The part of a longer text that is shown. */
#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void files(void)
{
	const uint64_t how[3] = { 02000101, 0644, 9 };
	int64_t offsets[2] = { 7, 8 };

	CALL("mknodat(-1, \"a\", S_IFCHR|0600, makedev(0x1, 0x3))", SYS_mknodat, -1, P("a"), 020600, 0x103);
	CALL("mknodat(-1, \"a\", S_IFIFO|0640)", SYS_mknodat, -1, P("a"), 010640, 0x103);
	CALL("linkat(-1, \"a\", -1, \"b\", AT_SYMLINK_FOLLOW|AT_EMPTY_PATH)", SYS_linkat, -1, P("a"), -1, P("b"),
	     0x1400);
	CALL("unlinkat(-1, \"a\", AT_REMOVEDIR)", SYS_unlinkat, -1, P("a"), 0x200);
	CALL("openat2(-1, \"a\", {flags=O_WRONLY|O_CREAT|O_CLOEXEC, mode=0644, "
	     "resolve=RESOLVE_NO_XDEV|RESOLVE_BENEATH}, 24)", SYS_openat2, -1, P("a"), P(how), 24);
	CALL("openat2(-1, \"a\", ADDRESS, 8)", SYS_openat2, -1, P("a"), P(how), 8);
	CALL("statx(-1, \"a\", AT_NO_AUTOMOUNT, STATX_MODE|STATX_NLINK|STATX_MTIME, NULL)", SYS_statx, -1, P("a"),
	     0x800, 0x46, 0);
	CALL("copy_file_range(-1, [7], -1, [8], 5, 0)", SYS_copy_file_range, -1, P(&offsets[0]), -1,
	     P(&offsets[1]), 5, 0);
	CALL("fadvise64(-1, 0, 0, POSIX_FADV_WILLNEED)", SYS_fadvise64, -1, 0, 0, 3);
	CALL("inotify_add_watch(-1, \"a\", IN_CREATE|IN_DELETE|IN_ONESHOT)", SYS_inotify_add_watch, -1, P("a"),
	     0x80000300);
	CALL("fanotify_init(FAN_CLASS_CONTENT|FAN_CLOEXEC|0x10000000, O_RDONLY|O_CLOEXEC)", SYS_fanotify_init,
	     0x10000005, O_CLOEXEC);
	CALL("fanotify_mark(-1, FAN_MARK_ADD|FAN_MARK_MOUNT, FAN_OPEN|FAN_EVENT_ON_CHILD, AT_FDCWD, \"a\")",
	     SYS_fanotify_mark, -1, 0x11, 0x8000020, AT_FDCWD, P("a"));
	CALL("mount(\"a\", \"/no/such\", \"tmpfs\", MS_NOSUID|MS_NODEV, \"size=1m\")", SYS_mount, P("a"),
	     P("/no/such"), P("tmpfs"), 6, P("size=1m"));
	CALL("mount(NULL, \"/no/such\", NULL, MS_MGC_VAL|MS_RDONLY|MS_REMOUNT, NULL)", SYS_mount, 0, P("/no/such"),
	     0, 0xc0ed0021, 0);
	CALL("quotactl(QCMD(Q_GETQUOTA, GRPQUOTA), \"/no/such\", 5, NULL)", SYS_quotactl, 0x80000701,
	     P("/no/such"), 5, 0);
	CALL("mq_open(\"a/b\", O_RDWR|O_CREAT, 0600, NULL)", SYS_mq_open, P("a/b"), O_RDWR | O_CREAT, 0600, 0);
	CALL("mq_open(\"a/b\", O_RDONLY)", SYS_mq_open, P("a/b"), O_RDONLY, 0600, 16);
#ifdef SYS_utimes
	CALL("utimes(\"/no/such\", [{tv_sec=1, tv_usec=2}, {tv_sec=3, tv_usec=4}])", SYS_utimes, P("/no/such"),
	     P(((uint64_t[]){ 1, 2, 3, 4 })));
	CALL("utime(\"/no/such\", {actime=5, modtime=6})", SYS_utime, P("/no/such"), P(((uint64_t[]){ 5, 6 })));
#endif
}

static void attributes(void)
{
	CALL("setxattr(\"/no/such\", \"user.a\", \"v\\x001\", 3, XATTR_CREATE)", SYS_setxattr, P("/no/such"),
	     P("user.a"), P("v\0" "1"), 3, 1);
	CALL("fsetxattr(-1, \"user.a\", \"value\", 5, 0)", SYS_fsetxattr, -1, P("user.a"), P("value"), 5, 0);
	CALL("lremovexattr(\"/no/such\", \"user.a\")", SYS_lremovexattr, P("/no/such"), P("user.a"));
	CALL("getxattr(\"/no/such\", \"user.a\", ADDRESS, 4096)", SYS_getxattr, P("/no/such"), P("user.a"),
	     P(space), sizeof(space));
	CALL("name_to_handle_at(-1, \"a\", {handle_bytes=0, handle_type=0, ...}, NULL, AT_EMPTY_PATH)",
	     SYS_name_to_handle_at, -1, P("a"), P(memset(space, 0, 8)), 0, 0x1000);
}

static void vectors(void)
{
	struct iovec here = { "abc", 3 }, there = { (void *)0x1000, 5 };

	CALL("pwritev(-1, [{iov_base=\"abc\", iov_len=3}], 1, 5)", SYS_pwritev, -1, P(&here), 1, 5, 77);
	CALL("pwritev2(-1, [{iov_base=\"abc\", iov_len=3}], 1, 5, RWF_HIPRI|RWF_DSYNC)", SYS_pwritev2, -1, P(&here),
	     1, 5, 77, 3);
	CALL("process_vm_writev(2147483647, [{iov_base=\"abc\", iov_len=3}], 1, [{iov_base=0x1000, iov_len=5}], "
	     "1, 0)", SYS_process_vm_writev, 2147483647, P(&here), 1, P(&there), 1, 0);
}

static void commands(void)
{
	uint32_t lock[8] = { 1, 0, 5, 0, 6, 0, 0, 0 }, owner[2] = { 1, 77 };
	uint32_t terminal[16] = { 0x500, 0, 0xbf, 0x3b };
	uint16_t window[4] = { 24, 80, 0, 0 };
	uint64_t hint = 2;
	int one = 1;

	CALL("fcntl(-1, F_OFD_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=5, l_len=6})", SYS_fcntl, -1, 37,
	     P(lock));
	CALL("fcntl(-1, F_SETOWN_EX, {type=F_OWNER_PID, pid=77})", SYS_fcntl, -1, 15, P(owner));
	CALL("fcntl(-1, F_SETLEASE, F_WRLCK)", SYS_fcntl, -1, 1024, 1);
	CALL("fcntl(-1, F_SETSIG, SIGIO)", SYS_fcntl, -1, 10, 29);
	CALL("fcntl(-1, F_NOTIFY, DN_MODIFY|DN_MULTISHOT)", SYS_fcntl, -1, 1026, 0x80000002);
	CALL("fcntl(-1, F_ADD_SEALS, F_SEAL_SHRINK|F_SEAL_WRITE)", SYS_fcntl, -1, 1033, 10);
	CALL("fcntl(-1, F_SET_RW_HINT, [RWH_WRITE_LIFE_SHORT])", SYS_fcntl, -1, 1036, P(&hint));
	CALL("ioctl(-1, TCSETSW, {c_iflag=ICRNL|IXON, c_oflag=0, c_cflag=B38400|CS8|CREAD, "
	     "c_lflag=ISIG|ICANON|ECHO|ECHOE|ECHOK, ...})", SYS_ioctl, -1, 0x5403, P(terminal));
	CALL("ioctl(-1, TIOCSWINSZ, {ws_row=24, ws_col=80, ws_xpixel=0, ws_ypixel=0})", SYS_ioctl, -1, 0x5414,
	     P(window));
	CALL("ioctl(-1, FIONBIO, [1])", SYS_ioctl, -1, 0x5421, P(&one));
	CALL("ioctl(-1, FICLONE, 7)", SYS_ioctl, -1, 0x40049409, 7);
	CALL("ioctl(-1, NS_GET_USERNS)", SYS_ioctl, -1, 0xb701, 7);
	CALL("ioctl(-1, TCGETS, ADDRESS)", SYS_ioctl, -1, 0x5401, P(space));
	CALL("ioctl(-1, 0x12345678, 0x5)", SYS_ioctl, -1, 0x12345678, 5);
#ifdef SYS_arch_prctl
	CALL("arch_prctl(ARCH_GET_FS, [ADDRESS])", SYS_arch_prctl, 0x1003, P(space));
#endif
	CALL("membarrier(MEMBARRIER_CMD_QUERY, 0)", SYS_membarrier, 0, 0, 7);
	CALL("prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, NULL, 0, \"name\")", SYS_prctl, 0x53564d41, 0, 0, 0, P("name"));
	CALL("prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_RAW, 0, 0)", SYS_prctl, 47, 1, 13, 0, 0);
	CALL("prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)", SYS_prctl, 47, 4, 0, 0, 0);
	CALL("prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {len=0, filter=0x1000})", SYS_prctl, 22, 2,
	     P(((uint64_t[]){ 0, 4096 })));
	CALL("prctl(PR_GET_SECUREBITS)", SYS_prctl, 27, 7);
}

static void threads(void)
{
	uint32_t word = 0;
	uint64_t clone[11] = { 0x100, 1, 2, 3, 4, 5, 0, 7, 8, 9, 10 }, waiter[3] = { 1, P(&word), 130 };

	CALL("futex(ADDRESS, FUTEX_WAIT_BITSET_PRIVATE, 1, NULL, FUTEX_BITSET_MATCH_ANY)", SYS_futex, P(&word), 137, 1,
	     0, 77, -1);
	CALL("futex(ADDRESS, FUTEX_WAKE_BITSET, 1, 0x3)", SYS_futex, P(&word), 10, 1, 77, 77, 3);
	CALL("futex(ADDRESS, FUTEX_WAKE_OP, 1, 2, ADDRESS, FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_NE, 9))",
	     SYS_futex, P(&word), 5, 1, 2, P(&word), 0x11005009);
	CALL("futex(ADDRESS, FUTEX_TRYLOCK_PI)", SYS_futex, P(&word) + 1, 8, 77, 77, 77, 77);
	/* A stack of size 0, and more threads than are named. */
	CALL("clone3({flags=CLONE_VM, exit_signal=SIGILL, stack=0x5, stack_size=0, set_tid=0x8, set_tid_size=9}, 88)",
	     SYS_clone3, P(clone), 88);
	CALL("futex_waitv([{val=0x1, uaddr=ADDRESS, flags=FUTEX2_SIZE_U32|FUTEX2_PRIVATE}], 1, 0x7, NULL, "
	     "CLOCK_MONOTONIC)", 449, P(waiter), 1, 7, 0, 1);
	CALL("ioprio_set(IOPRIO_WHO_PROCESS, 2147483647, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4))", SYS_ioprio_set, 1,
	     2147483647, 2 << 13 | 4);
	CALL("setns(-1, CLONE_NEWNET)", SYS_setns, -1, 0x40000000);
	CALL("unshare(CLONE_VM|0x2)", SYS_unshare, 0x102);
	CALL("kcmp(2147483647, 2147483647, KCMP_VM, 0, 0)", SYS_kcmp, 2147483647, 2147483647, 1, 0, 0);
	CALL("ptrace(PTRACE_CONT, 2147483647, 0, SIGUSR1)", SYS_ptrace, 7, 2147483647, 0, 10);
	CALL("ptrace(PTRACE_SEIZE, 2147483647, 0, PTRACE_O_TRACEFORK|PTRACE_O_TRACEEXEC)", SYS_ptrace, 0x4206,
	     2147483647, 0, 0x12);
}

static void memory(void)
{
	uint64_t nodes = 3;

	CALL("mremap(0x1, 0, 0, MREMAP_MAYMOVE)", SYS_mremap, 1, 0, 0, 1, 4096);
	CALL("mremap(0x1, 0, 0, MREMAP_MAYMOVE|MREMAP_FIXED, 0x1000)", SYS_mremap, 1, 0, 0, 3, 4096);
	CALL("mmap(NULL, 0, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT, -1, 0)", SYS_mmap, 0,
	     0, 1, 0x54040022, -1, 0);
	CALL("madvise(0x1, 0, MADV_COLLAPSE)", SYS_madvise, 1, 0, 25);
	CALL("mlock2(NULL, 0, MLOCK_ONFAULT|0x2)", SYS_mlock2, 0, 0, 3);
	CALL("mbind(0x1, 4096, MPOL_BIND, [0 1], 8, MPOL_MF_STRICT)", SYS_mbind, 1, 4096, 2, P(&nodes), 8, 1);
	CALL("set_mempolicy(0x4d, [0 1], 3)", SYS_set_mempolicy, 77, P(&nodes), 3);
	CALL("memfd_create(\"a\", MFD_HUGETLB|0x40|21<<MFD_HUGE_SHIFT)", SYS_memfd_create, P("a"), 0x54000044);
	CALL("userfaultfd(O_CLOEXEC|O_NONBLOCK|0x4)", SYS_userfaultfd, 02004004);
	CALL("pkey_mprotect(0x1, 0, PROT_READ, -1)", SYS_pkey_mprotect, 1, 0, 1, -1);
}

static void network(void)
{
	struct sockaddr_in6 in6 = { AF_INET6, htons(5), htonl(3), IN6ADDR_LOOPBACK_INIT, 7 };
	struct { uint16_t family, protocol; int index; uint16_t hardware; uint8_t type, length, address[8]; } packet = {
		AF_PACKET, htons(0x800), 1, 1, 0, 6, { 1, 2, 3, 4, 5, 6 } };
	struct { uint16_t length; void *filter; } filter = { 4, (void *)0x1000 };
	uint8_t group[8] = { 224, 0, 0, 5, 10, 0, 0, 1 };
	int one = 1;
	socklen_t size;
	int udp;

	CALL("socket(AF_INET, 0xd|0x40, IPPROTO_UDP)", SYS_socket, AF_INET, 77, 17);
	CALL("socket(AF_NETLINK, 0xd|0x40, NETLINK_ROUTE)", SYS_socket, AF_NETLINK, 77, 0);
	CALL("socket(AF_PACKET, 0xd|0x40, htons(ETH_P_ALL))", SYS_socket, AF_PACKET, 77, htons(3));
	CALL("connect(-1, {sa_family=AF_INET6, sin6_port=htons(5), sin6_addr=\"::1\", sin6_flowinfo=htonl(3), "
	     "sin6_scope_id=7}, 28)", SYS_connect, -1, P(&in6), 28);
	CALL("bind(-1, {sa_family=AF_PACKET, sll_protocol=htons(ETH_P_IP), sll_ifindex=1, sll_hatype=1, "
	     "sll_pkttype=PACKET_HOST, sll_halen=6, sll_addr=01:02:03:04:05:06}, 20)", SYS_bind, -1, P(&packet), 20);
	CALL("bind(-1, {sa_family=AF_CAN, sa_data=\"abcd\"}, 6)", SYS_bind, -1, P("\x1d\0" "abcd"), 6);
	CALL("setsockopt(-1, SOL_UDP, UDP_SEGMENT, [1], 4)", SYS_setsockopt, -1, 17, 103, P(&one), 4);
	CALL("setsockopt(-1, SOL_NETLINK, NETLINK_EXT_ACK, [1], 4)", SYS_setsockopt, -1, 270, 11, P(&one), 4);
	CALL("setsockopt(-1, SOL_PACKET, PACKET_AUXDATA, [1], 4)", SYS_setsockopt, -1, 263, 8, P(&one), 4);
	CALL("getsockopt(-1, SOL_SOCKET, SO_GET_FILTER, NULL, NULL)", SYS_getsockopt, -1, 1, 26, 0, 0);
	CALL("setsockopt(-1, SOL_SOCKET, SO_ATTACH_FILTER, NULL, 0)", SYS_setsockopt, -1, 1, 26, 0, 0);
	CALL("setsockopt(-1, SOL_SOCKET, SO_ZEROCOPY, [1], 4)", SYS_setsockopt, -1, 1, 60, P(&one), 4);
	CALL("setsockopt(-1, SOL_SOCKET, SO_ATTACH_FILTER, {len=4, filter=0x1000}, 16)", SYS_setsockopt, -1, 1, 26,
	     P(&filter), 16);
	CALL("setsockopt(-1, SOL_IP, IP_ADD_MEMBERSHIP, {imr_multiaddr=inet_addr(\"224.0.0.5\"), "
	     "imr_interface=inet_addr(\"10.0.0.1\")}, 8)", SYS_setsockopt, -1, 0, 35, P(group), 8);
	udp = CALL("socket(AF_INET, SOCK_DGRAM, IPPROTO_IP)", SYS_socket, AF_INET, SOCK_DGRAM, 0);
	size = 77;
	CALL("getsockname(N, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr(\"0.0.0.0\")}, [77 => 16])",
	     SYS_getsockname, udp, P(space), P(&size));
	CALL("getpeername(N, ADDRESS, [16])", SYS_getpeername, udp, P(space), P(&size));
}

static void filters(void)
{
	struct { uint16_t length; void *filter; } filter = { 4, (void *)0x1000 };
	uint64_t ruleset[2] = { 3, 1 }, beneath[2] = { 5, 0xffffffff };
	uint32_t action = 0x7fff0000;

	CALL("seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_LOG|0x40000000, {len=4, filter=0x1000})",
	     SYS_seccomp, 1, 0x40000002, P(&filter));
	CALL("seccomp(SECCOMP_GET_ACTION_AVAIL, 0x1, [SECCOMP_RET_ALLOW])", SYS_seccomp, 2, 1, P(&action));
	CALL("landlock_create_ruleset({handled_access_fs=LANDLOCK_ACCESS_FS_EXECUTE|LANDLOCK_ACCESS_FS_WRITE_FILE, "
	     "handled_access_net=LANDLOCK_ACCESS_NET_BIND_TCP}, 16, 0x40)", 444, P(ruleset), 16, 0x40);
	CALL("landlock_add_rule(-1, LANDLOCK_RULE_PATH_BENEATH, {allowed_access=LANDLOCK_ACCESS_FS_EXECUTE|"
	     "LANDLOCK_ACCESS_FS_READ_FILE, parent_fd=-1}, 0x7)", 445, -1, 1, P(beneath), 7);
	CALL("landlock_restrict_self(-1, 0)", 446, -1, 0);
}

static void programs(void)
{
	uint32_t map[18] = { 2, 4, 8, 1, 0x400, 0, 0, 0 }, id[3] = { 0, 0, 0 };
	uint64_t perf[16] = { 1 | 112ULL << 32, 3, 1000, 5, 4, 0x400000001, 2 }, element[4] = { 0xffffffff, 4096, 8192, 1 };
	uint64_t program[15] = { 5 | 2ULL << 32, 4096, 8192 };

	memcpy(&map[7], "name", 4);
	memcpy(&program[6], "name", 4);
	CALL("bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY, key_size=4, value_size=8, max_entries=1, "
	     "map_flags=BPF_F_MMAPABLE, map_name=\"name\"}, 44)", SYS_bpf, 0, P(map), 44);
	CALL("bpf(BPF_MAP_UPDATE_ELEM, {map_fd=-1, key=0x1000, value=0x2000, flags=BPF_NOEXIST}, 32)", SYS_bpf, 2,
	     P(element), 32);
	CALL("bpf(BPF_PROG_LOAD, {prog_type=BPF_PROG_TYPE_TRACEPOINT, insn_cnt=2, insns=0x1000, license=0x2000, "
	     "prog_name=\"name\"}, 64)", SYS_bpf, 5, P(program), 64);
	id[0] = -1;
	CALL("bpf(BPF_PROG_GET_FD_BY_ID, {id=4294967295}, 12)", SYS_bpf, 13, P(id), 12);
	CALL("bpf(0x3e7, ADDRESS, 12)", SYS_bpf, 999, P(id), 12);
	CALL("perf_event_open({type=PERF_TYPE_SOFTWARE, size=112, config=PERF_COUNT_SW_CONTEXT_SWITCHES, "
	     "sample_period=1000, sample_type=PERF_SAMPLE_IP|PERF_SAMPLE_TIME, read_format=PERF_FORMAT_ID, disabled=1, "
	     "build_id=1, wakeup_events=2, ...}, -1, -1, -1, PERF_FLAG_FD_CLOEXEC)", SYS_perf_event_open,
	     P(perf), -1, -1, -1, 8);
}

static void rings(void)
{
	uint32_t parameters[30] = { [2] = 0x80000002, [4] = 50 };
	const int files[2] = { 5, -1 };
	struct iovec buffer = { (void *)0x1000, 7 };
	const uint64_t set = 1 << 9;

	CALL("pselect6(-1, NULL, NULL, NULL, NULL, {sigmask=NULL, sigsetsize=8})", SYS_pselect6, -1, 0, 0, 0, 0,
	     P(((uint64_t[]){ 0, 8 })));
	CALL("pselect6(-1, NULL, NULL, NULL, NULL, {sigmask=[USR1], sigsetsize=8})", SYS_pselect6, -1, 0, 0, 0, 0,
	     P(((uint64_t[]){ P(&set), 8 })));
	CALL("pselect6(-1, NULL, NULL, NULL, NULL, {sigmask=ADDRESS, sigsetsize=4})", SYS_pselect6, -1, 0, 0, 0, 0,
	     P(((uint64_t[]){ P(&set), 4 })));
	CALL("pselect6(-1, NULL, NULL, NULL, NULL, {sigmask=ADDRESS, sigsetsize=16})", SYS_pselect6, -1, 0, 0, 0, 0,
	     P(((uint64_t[]){ P(&set), 16 })));
	CALL("pselect6(-1, NULL, NULL, NULL, NULL, {sigmask=0x1000(fault), sigsetsize=8})", SYS_pselect6, -1, 0, 0, 0,
	     0, P(((uint64_t[]){ 0x1000, 8 })));
	CALL("io_uring_setup(0, {sq_entries=0, cq_entries=0, flags=IORING_SETUP_SQPOLL|0x80000000, sq_thread_idle=50, "
	     "features=0, ...})", 425, 0, P(parameters));
	CALL("io_uring_enter(-1, 1, 2, IORING_ENTER_GETEVENTS|0x40000000, NULL, 0)", 426, -1, 1, 2, 0x40000001, 0, 0);
	CALL("io_uring_register(-1, IORING_REGISTER_FILES, NULL, 7)", 427, -1, 2, 0, 7);
	CALL("io_uring_register(-1, IORING_REGISTER_FILES, [5, -1], 2)", 427, -1, 2, P(files), 2);
	CALL("io_uring_register(-1, IORING_REGISTER_EVENTFD, [5], 1)", 427, -1, 4, P(files), 1);
	CALL("io_uring_register(-1, IORING_REGISTER_BUFFERS, [{iov_base=0x1000, iov_len=7}], 1)", 427, -1, 0,
	     P(&buffer), 1);
	CALL("io_uring_register(-1, IORING_UNREGISTER_FILES, NULL, 0)", 427, -1, 3, 0, 0);
}

static void mounts(void)
{
	uint64_t attributes[4] = { 3, 0, 1 << 18, 0 };

	CALL("fsopen(\"/no/such\", FSOPEN_CLOEXEC)", 430, P("/no/such"), 1);
	CALL("fsconfig(-1, FSCONFIG_SET_STRING, \"source\", \"/dev/x\", 0)", 431, -1, 1, P("source"), P("/dev/x"), 0);
	CALL("fsmount(-1, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY|MOUNT_ATTR_NOATIME)", 432, -1, 1, 0x11);
	CALL("open_tree(-1, \"a\", OPEN_TREE_CLONE|OPEN_TREE_CLOEXEC)", 428, -1, P("a"), 02000001);
	CALL("move_mount(-1, \"a\", -1, \"b\", MOVE_MOUNT_F_EMPTY_PATH)", 429, -1, P("a"), -1, P("b"), 4);
	CALL("mount_setattr(-1, \"a\", AT_RECURSIVE, {attr_set=MOUNT_ATTR_RDONLY|MOUNT_ATTR_NOSUID, attr_clr=0, "
	     "propagation=MS_PRIVATE, userns_fd=0}, 32)", 442, -1, P("a"), 0x8000, P(attributes), 32);
}

static void objects(void)
{
	struct { uint16_t number; int16_t op, flags; } operation = { 3, -1, 04000 };
	uint64_t attributes[8] = { 0, 10, 20, 0 };

	CALL("shmget(0x1234, 5, IPC_EXCL|0600)", SYS_shmget, 0x1234, 5, 02600);
	CALL("semop(-1, [{sem_num=3, sem_op=-1, sem_flg=IPC_NOWAIT}], 1)", SYS_semop, -1, P(&operation), 1);
	operation.flags = 010000;
	CALL("semop(-1, [{sem_num=3, sem_op=-1, sem_flg=SEM_UNDO}], 1)", SYS_semop, -1, P(&operation), 1);
	CALL("delete_module(\"no such module\", O_NONBLOCK)", SYS_delete_module, P("no such module"), 04000);
	CALL("delete_module(\"no such module\", 0)", SYS_delete_module, P("no such module"), 0);
	CALL("fchmodat(-1, \"\", 0755)", SYS_fchmodat, -1, P(""), 0200755);
	CALL("semctl(-1, 2, SETVAL, 5)", SYS_semctl, -1, 2, 16, 5);
	CALL("semctl(-1, 0, IPC_RMID)", SYS_semctl, -1, 0, 0, 5);
	CALL("msgrcv(-1, ADDRESS, 8, 5, IPC_NOWAIT|MSG_NOERROR)", SYS_msgrcv, -1, P(space), 8, 5, 014000);
	CALL("mq_timedsend(-1, \"abc\", 3, 9, NULL)", SYS_mq_timedsend, -1, P("abc"), 3, 9, 0);
	CALL("mq_getsetattr(-1, {mq_flags=0, mq_maxmsg=10, mq_msgsize=20, mq_curmsgs=0}, NULL)", SYS_mq_getsetattr, -1,
	     P(attributes), 0);
	CALL("keyctl(KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, \"user\", \"a\", 0)", SYS_keyctl, 10, -3, P("user"), P("a"),
	     0);
	CALL("keyctl(KEYCTL_UPDATE, 2147483647, \"abc\", 3)", SYS_keyctl, 2, 2147483647, P("abc"), 3);
	CALL("add_key(\"no-such-type\", \"a\", \"abc\", 3, KEY_SPEC_PROCESS_KEYRING)", SYS_add_key, P("no-such-type"),
	     P("a"), P("abc"), 3, -2);
	CALL("clock_settime(0x4d, {tv_sec=5, tv_nsec=6})", SYS_clock_settime, 77, P(((uint64_t[]){ 5, 6 })));
	CALL("finit_module(-1, \"a=1\", MODULE_INIT_IGNORE_VERMAGIC)", SYS_finit_module, -1, P("a=1"), 2);
	CALL("personality(0xffffffff)", SYS_personality, 0xffffffff);
}

/* Calls that succeed, with the results that they return and fill in. */
static void answers(void)
{
	int memory = syscall(SYS_memfd_create, "a", 2), pipe_fds[2], shared, message, queue, semaphores, n;
	const uint64_t pages[2] = { P(space), 0x1000 };
	const int targets[2] = { 0, -5 };
	uint64_t queue_attributes[8] = { 0, 3, 20, 0 }, nodes[16] = {};
	socklen_t size = sizeof(n);
	uint32_t owner[2] = { 1, 1 };
	int one = 1;
	int tcp;

	if (pipe(pipe_fds) || syscall(SYS_write, pipe_fds[1], "abc", 3) != 3)
		return;
	/* The calls above are not part of the list. */
	syscall(SYS_getppid);
	CALL("ioctl(N, FIONREAD, [3]) = 0", SYS_ioctl, pipe_fds[0], 0x541b, P(&n));
	CALL("ioctl(N, FIOCLEX) = 0", SYS_ioctl, pipe_fds[0], 0x5451, 7);
	CALL("fcntl(N, F_GETFD) = 0x1 (flags FD_CLOEXEC)", SYS_fcntl, pipe_fds[0], 1, 7);
	CALL("ioctl(N, SIOCGIFINDEX, ADDRESS) = -1 ENOTTY (Inappropriate ioctl for device)", SYS_ioctl, pipe_fds[0], 0x8933,
	     P(strcpy(space, "lo")));
	CALL("fcntl(N, F_GETFD) = 0", SYS_fcntl, pipe_fds[1], 1, 7);
	CALL("fcntl(N, F_SETOWN_EX, {type=F_OWNER_PID, pid=1}) = 0", SYS_fcntl, pipe_fds[0], 15, P(owner));
	memset(owner, 0, sizeof(owner));
	CALL("fcntl(N, F_GETOWN_EX, {type=F_OWNER_PID, pid=1}) = 0", SYS_fcntl, pipe_fds[0], 16, P(owner));
	CALL("fcntl(N, F_GETLEASE) = 2 (F_UNLCK)", SYS_fcntl, memory, 1025, 7);
	CALL("fcntl(N, F_ADD_SEALS, F_SEAL_SHRINK) = 0", SYS_fcntl, memory, 1033, 2);
	CALL("fcntl(N, F_GET_SEALS) = 0x2 (F_SEAL_SHRINK)", SYS_fcntl, memory, 1034, 7);
	CALL("fsetxattr(N, \"trusted.a\", \"xyz\", 3, XATTR_CREATE) = 0", SYS_fsetxattr, memory, P("trusted.a"),
	     P("xyz"), 3, 1);
	CALL("fgetxattr(N, \"trusted.a\", \"xyz\", 4096) = 3", SYS_fgetxattr, memory, P("trusted.a"), P(space),
	     sizeof(space));
	CALL("fgetxattr(N, \"trusted.a\", ADDRESS, 0) = 3", SYS_fgetxattr, memory, P("trusted.a"), P(space), 0);
	CALL("flistxattr(N, \"trusted.a\\x00\", 4096) = 10", SYS_flistxattr, memory, P(space), sizeof(space));
	CALL("prctl(PR_GET_DUMPABLE) = 1 (SUID_DUMP_USER)", SYS_prctl, 3, 7);
	CALL("ioprio_set(IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 6)) = 0", SYS_ioprio_set, 1, 0,
	     2 << 13 | 6);
	CALL("ioprio_get(IOPRIO_WHO_PROCESS, 0) = 16390 (IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 6))", SYS_ioprio_get, 1, 0);
	tcp = CALL("socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = N", SYS_socket, 2, 1, 6);
	CALL("getsockopt(N, SOL_SOCKET, SO_TYPE, [SOCK_STREAM], [4]) = 0", SYS_getsockopt, tcp, 1, 3, P(&n), P(&size));
	CALL("getsockopt(N, SOL_SOCKET, SO_DOMAIN, [AF_INET], [4]) = 0", SYS_getsockopt, tcp, 1, 39, P(&n), P(&size));
	CALL("ioctl(N, SIOCGIFINDEX, {ifr_name=\"lo\", ifr_ifindex=1}) = 0", SYS_ioctl, tcp, 0x8933,
	     P(strcpy(space, "lo")));
	CALL("ioctl(N, FIONBIO, [1]) = 0", SYS_ioctl, tcp, 0x5421, P(&one));
	size = 8;
	CALL("getsockopt(N, SOL_TCP, TCP_INFO, {tcpi_state=TCP_CLOSE, tcpi_ca_state=TCP_CA_Open, tcpi_retransmits=0, "
	     "tcpi_probes=0, tcpi_backoff=0, tcpi_options=0}, [8]) = 0", SYS_getsockopt, tcp, 6, 11, P(space), P(&size));
	shared = CALL("shmget(IPC_PRIVATE, 5000, IPC_CREAT|0600) = N", SYS_shmget, 0, 5000, 01600);
	CALL("shmctl(N, IPC_STAT, {shm_perm.key=0, shm_perm.uid=0, shm_perm.gid=0, shm_perm.cuid=0, shm_perm.cgid=0, "
	     "shm_perm.mode=0600, shm_segsz=5000, shm_atime=0, shm_dtime=0, shm_ctime=N, shm_cpid=N, shm_lpid=0, "
	     "shm_nattch=0}) = 0", SYS_shmctl, shared, 2, P(space));
	CALL("shmctl(N, IPC_RMID) = 0", SYS_shmctl, shared, 0, 7);
	message = CALL("msgget(IPC_PRIVATE, 0600) = N", SYS_msgget, 0, 0600);
	CALL("msgsnd(N, {mtype=5, mtext=\"abc\"}, 3, IPC_NOWAIT) = 0", SYS_msgsnd, message,
	     P(memcpy(space, "\5\0\0\0\0\0\0\0abc", 11)), 3, 04000);
	CALL("msgrcv(N, {mtype=5, mtext=\"abc\"}, 100, 0, 0) = 3", SYS_msgrcv, message, P(space), 100, 0, 0);
	CALL("msgsnd(N, {mtype=5, mtext=\"\"}, 0, IPC_NOWAIT) = 0", SYS_msgsnd, message, P(space), 0, 04000);
	CALL("msgrcv(N, {mtype=5, mtext=\"\"}, 100, 0, 0) = 0", SYS_msgrcv, message, P(space), 100, 0, 0);
	*text = 5;
	memset(text + 8, 'x', 300);
	CALL("msgsnd(N, {mtype=5, mtext=\"" X32 "\"}, 32, IPC_NOWAIT) = 0", SYS_msgsnd, message, P(text), 32, 04000);
	CALL("msgrcv(N, {mtype=5, mtext=\"" X32 "\"}, 32, 0, 0) = 32", SYS_msgrcv, message, P(text), 32, 0, 0);
	CALL("msgsnd(N, {mtype=5, mtext=\"" X32 "\"...}, 33, IPC_NOWAIT) = 0", SYS_msgsnd, message, P(text), 33, 04000);
	CALL("msgrcv(N, {mtype=5, mtext=\"" X32 "\"...}, 33, 0, 0) = 33", SYS_msgrcv, message, P(text), 33, 0, 0);
	CALL("msgsnd(N, {mtype=5, mtext=\"" X32 "\"...}, 18446744073709551615, IPC_NOWAIT) = "
	     "-1 EINVAL (Invalid argument)", SYS_msgsnd, message, P(text), -1, 04000);
	CALL("msgsnd(N, {mtype=5, mtext=\"" X32 "\"...}, 18446744073709551608, IPC_NOWAIT) = "
	     "-1 EINVAL (Invalid argument)", SYS_msgsnd, message, P(text), -8, 04000);
	CALL("msgsnd(N, 0x1000(fault), 3, IPC_NOWAIT) = -1 EFAULT (Bad address)", SYS_msgsnd, message, 0x1000, 3,
	     04000);
	CALL("msgrcv(N, ADDRESS, 100, 0, IPC_NOWAIT) = -1 ENOMSG (No message of desired type)", SYS_msgrcv, message,
	     P(space), 100, 0, 04000);
	CALL("msgctl(N, IPC_RMID) = 0", SYS_msgctl, message, 0, 7);
	semaphores = CALL("semget(IPC_PRIVATE, 2, 0600) = N", SYS_semget, 0, 2, 0600);
	CALL("semctl(N, 1, SETVAL, 5) = 0", SYS_semctl, semaphores, 1, 16, 5);
	CALL("semctl(N, 1, GETVAL) = 5", SYS_semctl, semaphores, 1, 12, 7);
	CALL("semctl(N, 0, IPC_RMID) = 0", SYS_semctl, semaphores, 0, 0, 7);
	CALL("mq_unlink(\"tally-decoded\") = -1 ENOENT (No such file or directory)", SYS_mq_unlink, P("tally-decoded"));
	queue = CALL("mq_open(\"tally-decoded\", O_RDWR|O_CREAT, 0600, {mq_flags=0, mq_maxmsg=3, "
		     "mq_msgsize=20, mq_curmsgs=0}) = N", SYS_mq_open, P("tally-decoded"),
		     O_RDWR | O_CREAT, 0600, P(queue_attributes));
	CALL("mq_unlink(\"tally-decoded\") = 0", SYS_mq_unlink, P("tally-decoded"));
	CALL("mq_timedsend(N, \"abc\", 3, 9, NULL) = 0", SYS_mq_timedsend, queue, P("abc"), 3, 9, 0);
	CALL("mq_getsetattr(N, NULL, {mq_flags=0, mq_maxmsg=3, mq_msgsize=20, mq_curmsgs=1}) = 0", SYS_mq_getsetattr,
	     queue, 0, P(queue_attributes));
	CALL("mq_timedreceive(N, \"abc\", 4096, [9], NULL) = 3", SYS_mq_timedreceive, queue, P(space), sizeof(space),
	     P(&n), 0);
	CALL("move_pages(0, 2, [ADDRESS, 0x1000], NULL, [0, -EFAULT], 0) = 0", SYS_move_pages, 0, 2, P(pages), 0,
	     P(nodes), 0);
	CALL("move_pages(0, 2, [ADDRESS, 0x1000], [0, -5], ADDRESS, MPOL_MF_MOVE|0x10) = -1 EINVAL (Invalid argument)",
	     SYS_move_pages, 0, 2, P(pages), P(targets), P(nodes), 0x12);
	CALL("get_mempolicy([0], [], 1024, NULL, 0) = 0", SYS_get_mempolicy, P(&n), P(nodes), 1024, 0, 0);
}

int main(void)
{
	int i;

	syscall(SYS_getppid);
	files();
	attributes();
	vectors();
	commands();
	threads();
	memory();
	network();
	filters();
	programs();
	rings();
	mounts();
	objects();
	answers();
	for (i = 0; i < calls; i++)
		puts(expected[i]);
	return 0;
}
