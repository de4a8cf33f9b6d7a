// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/table.h"

#include <string.h>

/* Kinds of arguments. A length is the number of the argument that has it, counted from 0. */
#define INT { .kind = ARG_INT }
#define LONG { .kind = ARG_LONG }
#define UINT { .kind = ARG_UINT }
#define SIZE { .kind = ARG_SIZE }
#define HEX { .kind = ARG_HEX }
#define HEX32 { .kind = ARG_HEX32 }
#define SIZE32 { .kind = ARG_SIZE32 }
#define PTR { .kind = ARG_POINTER }
#define FD { .kind = ARG_FD }
#define DIRFD { .kind = ARG_DIRFD }
#define MODE { .kind = ARG_MODE }
#define CREATE_MODE { .kind = ARG_CREATE_MODE }
#define OPEN_FLAGS { .kind = ARG_OPEN_FLAGS }
#define FUTEX_OP { .kind = ARG_FUTEX_OP }
#define SOCKET_OPTION { .kind = ARG_SOCKET_OPTION }
#define CLONE_FLAGS { .kind = ARG_CLONE_FLAGS }
#define SIGNAL { .kind = ARG_SIGNAL }
#define DEVICE { .kind = ARG_MAKEDEV }
#define NAMED(set) { .kind = ARG_NAMES, .names = &(set) }
#define LNAMED(set) { .kind = ARG_NAMES, .wide = 1, .names = &(set) }
#define STR { .kind = ARG_STRING }
#define STR_OUT { .kind = ARG_STRING, .out = 1 }
#define ARGV { .kind = ARG_STRINGS }
#define BUF(len) { .kind = ARG_BUFFER, .length = (len) }
#define BUF_OUT { .kind = ARG_BUFFER, .out = 1, .length = TRACE_RESULT }
#define ADDR(len) { .kind = ARG_SOCKADDR, .length = (len) }
#define ADDR_OUT(len) { .kind = ARG_SOCKADDR, .out = 1, .pointed = 1, .length = (len) }
#define IN(type) { .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE }
#define INOUT(type)                                                                                \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .changed = 1 }
/* Only where the argument `by` has one of these values. */
#define IN_IF(type, by, values)                                                                    \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .if_arg = (by),        \
	  .if_values = (values) }
/* Commands of futex with a time: FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2. */
/* EPOLL_CTL_ADD and EPOLL_CTL_MOD; EPOLL_CTL_DEL ignores it. */
#define EPOLL_CTL_WITH_EVENT (1 << 1 | 1 << 3)
#define FUTEX_WITH_TIMEOUT (1 << 0 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 13)
#define FUTEX_TIMEOUT                                                                              \
	{ .kind = ARG_FUTEX_TIMEOUT, .layout = STRUCT_TIMESPEC, .length = TRACE_ONE, .if_arg = 1,  \
	  .if_values = FUTEX_WITH_TIMEOUT }
#define FUTEX_VALUE { .kind = ARG_FUTEX_VALUE }
#define SOCKET_VALUE { .kind = ARG_SOCKET_VALUE, .length = 4 }
#define SOCKET_VALUE_OUT { .kind = ARG_SOCKET_VALUE, .out = 1, .pointed = 1, .length = 4 }
#define OUT_WHEN(type, event)                                                                      \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .out = FETCH_IF_##event }
#define OUT(type)                                                                                  \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE,                        \
	  .out = FETCH_IF_SUCCEEDED }
/* Taken at the begin, and shown with the result as it is then. */
#define TAKEN_AND_LEFT(type)                                                                       \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .changed = 1,          \
	  .after = FETCH_IF_FOUND }
/* The second of its call; what it tells of is written, or read. */
#define VECTOR { .kind = ARG_VECTOR }
#define VECTOR_OUT { .kind = ARG_VECTOR, .out = 1 }
#define MESSAGE { .kind = ARG_MESSAGE }
#define MESSAGE_OUT { .kind = ARG_MESSAGE, .out = 1 }
#define MESSAGES { .kind = ARG_MESSAGES }
#define MESSAGES_OUT { .kind = ARG_MESSAGES, .out = 1 }
/* The first of its call: how many bits of it count. */
#define FD_SET { .kind = ARG_FD_SET, .length = 0, .changed = 1, .after = FETCH_IF_FOUND }
#define POLLFDS                                                                                    \
	{ .kind = ARG_STRUCT, .layout = STRUCT_POLLFD, .length = 1, .array = 1,                    \
	  .after = FETCH_IF_FOUND }
/* Of fcntl: a lock that is set is given, one that is asked for (F_GETLK) told. */
#define FCNTL                                                                                      \
	{ .kind = ARG_FCNTL, .layout = STRUCT_FLOCK, .length = TRACE_ONE, .if_arg = 1,             \
	  .if_values = 1 << 6 | 1 << 7, .if_small = 1, .after = FETCH_IF_SUCCEEDED,                \
	  .after_values = 1 << 5 }
/* Of prctl: a name that is set (PR_SET_NAME) or told (PR_GET_NAME). */
#define PRCTL                                                                                      \
	{ .kind = ARG_PRCTL, .if_arg = 0, .if_values = 1 << 15, .if_small = 1,                     \
	  .after = FETCH_IF_SUCCEEDED, .after_values = 1 << 16 }
#define CPU_SET(len) { .kind = ARG_CPU_SET, .length = (len) }
#define CPU_SET_OUT { .kind = ARG_CPU_SET, .length = TRACE_RESULT, .out = FETCH_IF_SUCCEEDED }
#define ARRAY(type, len)                                                                           \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = (len), .array = 1 }
#define ARRAY_OUT(type)                                                                            \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_RESULT, .out = 1, .array = 1 }

/* CALL: the same arguments in both tables. NATIVE: not in that of 32-bit calls. */
#define CALL(call, ...) { .name = #call, .arg = { __VA_ARGS__ } }
#define NATIVE(call, ...) { .name = #call, .native = 1, .arg = { __VA_ARGS__ } }
#define ENDS(call, ...) { .name = #call, .no_return = 1, .arg = { __VA_ARGS__ } }
#define EXEC(call, ...) { .name = #call, .exec = 1, .arg = { __VA_ARGS__ } }
/* OPENS: its result is a descriptor. */
#define OPENS(call, ...) { .name = #call, .result = RESULT_FD, .arg = { __VA_ARGS__ } }
#define GIVES(what, call, ...)                                                                     \
	{ .name = #call, .native = 1, .result = RESULT_##what, .arg = { __VA_ARGS__ } }

static const struct signature signatures[] = {
	/* Files by name. */
	CALL(access, STR, NAMED(access_modes)),
	CALL(faccessat, DIRFD, STR, NAMED(access_modes)),
	CALL(faccessat2, DIRFD, STR, NAMED(access_modes), NAMED(at_access_flags)),
	CALL(chdir, STR),
	CALL(chmod, STR, MODE),
	CALL(chown, STR, INT, INT),
	CALL(chroot, STR),
	OPENS(creat, STR, MODE),
	CALL(fchmodat, DIRFD, STR, MODE),
	CALL(fchmodat2, DIRFD, STR, MODE, NAMED(at_flags)),
	CALL(fchownat, DIRFD, STR, INT, INT, NAMED(at_flags)),
	CALL(getxattr, STR, STR, PTR, SIZE),
	CALL(lchown, STR, INT, INT),
	CALL(lgetxattr, STR, STR, PTR, SIZE),
	CALL(link, STR, STR),
	CALL(linkat, DIRFD, STR, DIRFD, STR, NAMED(at_flags)),
	CALL(listxattr, STR, PTR, SIZE),
	NATIVE(lstat, STR, OUT(STAT)),
	CALL(mkdir, STR, MODE),
	CALL(mkdirat, DIRFD, STR, MODE),
	CALL(mknod, STR, MODE, DEVICE),
	CALL(mknodat, DIRFD, STR, MODE, DEVICE),
	CALL(mount, STR, STR, STR, LNAMED(mount_flags), PTR),
	NATIVE(newfstatat, DIRFD, STR, OUT(STAT), NAMED(at_flags)),
	OPENS(open, STR, OPEN_FLAGS, CREATE_MODE),
	OPENS(openat, DIRFD, STR, OPEN_FLAGS, CREATE_MODE),
	OPENS(openat2, DIRFD, STR, IN(OPEN_HOW), SIZE),
	CALL(pivot_root, STR, STR),
	CALL(readlink, STR, BUF_OUT, INT),
	CALL(readlinkat, DIRFD, STR, BUF_OUT, INT),
	CALL(rename, STR, STR),
	CALL(renameat, DIRFD, STR, DIRFD, STR),
	CALL(renameat2, DIRFD, STR, DIRFD, STR, NAMED(rename_flags)),
	CALL(rmdir, STR),
	CALL(setxattr, STR, STR, PTR, SIZE, NAMED(xattr_flags)),
	NATIVE(stat, STR, OUT(STAT)),
	CALL(statfs, STR, OUT(STATFS)),
	CALL(statx, DIRFD, STR, NAMED(statx_flags), NAMED(statx_masks), OUT(STATX)),
	CALL(swapon, STR, HEX32),
	CALL(symlink, STR, STR),
	CALL(symlinkat, STR, DIRFD, STR),
	NATIVE(truncate, STR, LONG),
	CALL(umount2, STR, NAMED(umount_flags)),
	CALL(unlink, STR),
	CALL(unlinkat, DIRFD, STR, NAMED(at_flags)),
	CALL(utime, STR, PTR),
	NATIVE(utimensat, DIRFD, STR, IN(TIMESPEC_PAIR), NAMED(at_flags)),

	/* Descriptors. */
	CALL(close, FD),
	CALL(close_range, UINT, UINT, NAMED(close_range_flags)),
	NATIVE(copy_file_range, FD, PTR, FD, PTR, SIZE, HEX32),
	OPENS(dup, FD),
	OPENS(dup2, FD, FD),
	OPENS(dup3, FD, FD, NAMED(pipe_flags)),
	NATIVE(fadvise64, FD, LONG, SIZE, INT),
	NATIVE(fallocate, FD, NAMED(fallocate_modes), LONG, LONG),
	CALL(fchdir, FD),
	CALL(fchmod, FD, MODE),
	CALL(fchown, FD, INT, INT),
	GIVES(FD_BY_COMMAND, fcntl, FD, NAMED(fcntl_commands), FCNTL),
	CALL(fcntl64, FD, NAMED(fcntl_commands), FCNTL),
	CALL(fdatasync, FD),
	CALL(fgetxattr, FD, STR, PTR, SIZE),
	CALL(flock, FD, NAMED(flock_ops)),
	NATIVE(fstat, FD, OUT(STAT)),
	CALL(fstatfs, FD, OUT(STATFS)),
	CALL(fsync, FD),
	NATIVE(ftruncate, FD, LONG),
	CALL(getcwd, STR_OUT, SIZE),
	CALL(getdents64, FD, PTR, SIZE32),
	CALL(ioctl, FD, NAMED(ioctl_commands), HEX),
	NATIVE(lseek, FD, LONG, NAMED(whences)),
	CALL(pipe, OUT(FD_PAIR)),
	CALL(pipe2, OUT(FD_PAIR), NAMED(pipe_flags)),
	NATIVE(pread64, FD, BUF_OUT, SIZE, LONG),
	NATIVE(preadv, FD, VECTOR_OUT, SIZE, LONG, LONG),
	NATIVE(preadv2, FD, VECTOR_OUT, SIZE, LONG, LONG, NAMED(rw_flags)),
	NATIVE(pwrite64, FD, BUF(2), SIZE, LONG),
	NATIVE(pwritev, FD, VECTOR, SIZE, LONG, LONG),
	NATIVE(pwritev2, FD, VECTOR, SIZE, LONG, LONG, NAMED(rw_flags)),
	CALL(read, FD, BUF_OUT, SIZE),
	CALL(readv, FD, VECTOR_OUT, SIZE),
	NATIVE(sendfile, FD, FD, INOUT(OFFSET), SIZE),
	NATIVE(splice, FD, PTR, FD, PTR, SIZE, NAMED(splice_flags)),
	CALL(sync),
	NATIVE(sync_file_range, FD, LONG, LONG, NAMED(sync_flags)),
	CALL(syncfs, FD),
	CALL(tee, FD, FD, SIZE, NAMED(splice_flags)),
	NATIVE(vmsplice, FD, VECTOR, SIZE, NAMED(splice_flags)),
	CALL(write, FD, BUF(2), SIZE),
	CALL(writev, FD, VECTOR, SIZE),

	/* Waiting for descriptors. */
	OPENS(epoll_create, INT),
	OPENS(epoll_create1, NAMED(epoll_flags)),
	CALL(epoll_ctl, FD, NAMED(epoll_ops), FD, IN_IF(EPOLL_EVENT, 1, EPOLL_CTL_WITH_EVENT)),
	CALL(epoll_pwait, FD, ARRAY_OUT(EPOLL_EVENT), INT, INT, IN(SIGSET), SIZE),
	NATIVE(epoll_pwait2, FD, ARRAY_OUT(EPOLL_EVENT), INT, IN(TIMESPEC), IN(SIGSET), SIZE),
	CALL(epoll_wait, FD, ARRAY_OUT(EPOLL_EVENT), INT, INT),
	OPENS(eventfd, UINT),
	OPENS(eventfd2, UINT, NAMED(event_flags)),
	CALL(inotify_add_watch, FD, STR, HEX32),
	OPENS(inotify_init),
	OPENS(inotify_init1, NAMED(inotify_flags)),
	CALL(inotify_rm_watch, FD, INT),
	CALL(poll, POLLFDS, UINT, INT),
	NATIVE(ppoll, POLLFDS, UINT, TAKEN_AND_LEFT(TIMESPEC), IN(SIGSET), SIZE),
	NATIVE(pselect6, INT, FD_SET, FD_SET, FD_SET, TAKEN_AND_LEFT(TIMESPEC), PTR),
	NATIVE(select, INT, FD_SET, FD_SET, FD_SET, TAKEN_AND_LEFT(TIMEVAL)),
	OPENS(signalfd4, FD, IN(SIGSET), SIZE, NAMED(signalfd_flags)),
	OPENS(timerfd_create, NAMED(clock_ids), NAMED(timerfd_flags)),
	NATIVE(timerfd_gettime, FD, OUT(ITIMERSPEC)),
	NATIVE(timerfd_settime, FD, NAMED(timer_flags), IN(ITIMERSPEC), OUT(ITIMERSPEC)),

	/* Network. */
	OPENS(accept, FD, ADDR_OUT(2), OUT(INT)),
	OPENS(accept4, FD, ADDR_OUT(2), OUT(INT), NAMED(socket_types)),
	CALL(bind, FD, ADDR(2), UINT),
	CALL(connect, FD, ADDR(2), UINT),
	CALL(getpeername, FD, ADDR_OUT(2), OUT(INT)),
	CALL(getsockname, FD, ADDR_OUT(2), OUT(INT)),
	CALL(getsockopt, FD, NAMED(level_names), SOCKET_OPTION, SOCKET_VALUE_OUT, OUT(INT)),
	CALL(listen, FD, INT),
	CALL(recvfrom, FD, BUF_OUT, SIZE, NAMED(message_flags), ADDR_OUT(5), OUT(INT)),
	CALL(recvmmsg, FD, MESSAGES_OUT, UINT, NAMED(message_flags), TAKEN_AND_LEFT(TIMESPEC)),
	CALL(recvmsg, FD, MESSAGE_OUT, NAMED(message_flags)),
	CALL(sendmmsg, FD, MESSAGES, UINT, NAMED(message_flags)),
	CALL(sendmsg, FD, MESSAGE, NAMED(message_flags)),
	CALL(sendto, FD, BUF(2), SIZE, NAMED(message_flags), ADDR(5), UINT),
	CALL(setsockopt, FD, NAMED(level_names), SOCKET_OPTION, SOCKET_VALUE, UINT),
	CALL(shutdown, FD, NAMED(shutdown_hows)),
	OPENS(socket, NAMED(socket_families), NAMED(socket_types), INT),
	CALL(socketpair, NAMED(socket_families), NAMED(socket_types), INT, OUT(FD_PAIR)),

	/* Memory. */
	GIVES(POINTER, brk, PTR),
	CALL(madvise, PTR, SIZE, NAMED(advices)),
	CALL(membarrier, NAMED(membarrier_commands), HEX32, INT),
	OPENS(memfd_create, STR, NAMED(memfd_flags)),
	CALL(mincore, PTR, SIZE, PTR),
	CALL(mlock, PTR, SIZE),
	CALL(mlock2, PTR, SIZE, HEX32),
	CALL(mlockall, NAMED(mlock_flags)),
	GIVES(POINTER, mmap, PTR, SIZE, LNAMED(protections), LNAMED(map_flags), FD, HEX),
	CALL(mprotect, PTR, SIZE, LNAMED(protections)),
	GIVES(POINTER, mremap, PTR, SIZE, SIZE, LNAMED(mremap_flags), PTR),
	CALL(msync, PTR, SIZE, NAMED(msync_flags)),
	CALL(munlock, PTR, SIZE),
	CALL(munlockall),
	CALL(munmap, PTR, SIZE),
	GIVES(POINTER, shmat, INT, PTR, HEX32),

	/* Processes. */
	CALL(arch_prctl, NAMED(arch_codes), PTR),
	CALL(capget, IN(CAP_HEADER), OUT(CAPS)),
	CALL(capset, IN(CAP_HEADER), IN(CAPS)),
	NATIVE(clone, CLONE_FLAGS, PTR, PTR, PTR, PTR),
	CALL(clone3, IN(CLONE_ARGS), SIZE),
	EXEC(execve, STR, ARGV, PTR),
	EXEC(execveat, DIRFD, STR, ARGV, PTR, NAMED(at_flags)),
	ENDS(exit, INT),
	ENDS(exit_group, INT),
	CALL(fork),
	CALL(get_robust_list, INT, PTR, PTR),
	CALL(getcpu, OUT(INT), OUT(INT), PTR),
	CALL(getegid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getgroups, INT, ARRAY_OUT(ID)),
	CALL(getpgid, INT),
	CALL(getpgrp),
	CALL(getpid),
	CALL(getppid),
	CALL(getpriority, NAMED(priority_whichs), INT),
	CALL(getrandom, BUF_OUT, SIZE, NAMED(grnd_flags)),
	NATIVE(getrlimit, NAMED(resources), OUT(RLIMIT)),
	CALL(getresgid, OUT(INT), OUT(INT), OUT(INT)),
	CALL(getresuid, OUT(INT), OUT(INT), OUT(INT)),
	NATIVE(getrusage, NAMED(usages), OUT(RUSAGE)),
	CALL(getsid, INT),
	CALL(gettid),
	CALL(getuid),
	CALL(kill, INT, SIGNAL),
	OPENS(pidfd_getfd, FD, INT, HEX32),
	OPENS(pidfd_open, INT, HEX32),
	CALL(pidfd_send_signal, FD, SIGNAL, IN(SIGINFO), HEX32),
	CALL(prctl, NAMED(prctl_options), PRCTL, HEX, HEX, HEX),
	CALL(prlimit64, INT, NAMED(resources), IN(RLIMIT), OUT(RLIMIT)),
	CALL(rseq, PTR, HEX32, NAMED(rseq_flags), HEX32),
	CALL(sched_get_priority_max, NAMED(schedulers)),
	CALL(sched_get_priority_min, NAMED(schedulers)),
	CALL(sched_getaffinity, INT, SIZE32, CPU_SET_OUT),
	CALL(sched_getattr, INT, OUT(SCHED_ATTR), UINT, HEX32),
	CALL(sched_getparam, INT, OUT(INT)),
	{ .name = "sched_getscheduler", .result = RESULT_SCHEDULER, .arg = { INT } },
	NATIVE(sched_rr_get_interval, INT, OUT(TIMESPEC)),
	CALL(sched_setaffinity, INT, SIZE32, CPU_SET(1)),
	CALL(sched_setattr, INT, IN(SCHED_ATTR), HEX32),
	CALL(sched_setparam, INT, IN(INT)),
	CALL(sched_setscheduler, INT, NAMED(schedulers), IN(INT)),
	CALL(sched_yield),
	CALL(set_robust_list, PTR, SIZE),
	CALL(set_tid_address, PTR),
	CALL(setgid, INT),
	CALL(setgroups, INT, ARRAY(ID, 0)),
	CALL(setpgid, INT, INT),
	CALL(setpriority, NAMED(priority_whichs), INT, INT),
	CALL(setregid, INT, INT),
	CALL(setresgid, INT, INT, INT),
	CALL(setresuid, INT, INT, INT),
	CALL(setreuid, INT, INT),
	NATIVE(setrlimit, NAMED(resources), IN(RLIMIT)),
	CALL(setsid),
	CALL(setuid, INT),
	NATIVE(sysinfo, OUT(SYSINFO)),
	CALL(tgkill, INT, INT, SIGNAL),
	CALL(tkill, INT, SIGNAL),
	GIVES(OCTAL, umask, MODE),
	CALL(uname, OUT(UTSNAME)),
	CALL(vfork),
	CALL(wait4, INT, OUT_WHEN(WAIT_STATUS, FOUND), NAMED(wait_flags), OUT_WHEN(RUSAGE, FOUND)),
	CALL(waitid, NAMED(waitid_types), INT, OUT(SIGINFO), NAMED(wait_flags), OUT(RUSAGE)),

	/* Signals. */
	CALL(pause),
	NATIVE(rt_sigaction, SIGNAL, IN(SIGACTION), OUT(SIGACTION), SIZE),
	CALL(rt_sigpending, OUT(SIGSET), SIZE),
	CALL(rt_sigprocmask, NAMED(sigmask_hows), IN(SIGSET), OUT(SIGSET), SIZE),
	CALL(rt_sigqueueinfo, INT, SIGNAL, IN(SIGINFO)),
	CALL(rt_sigreturn),
	CALL(rt_sigsuspend, IN(SIGSET), SIZE),
	GIVES(SIGNAL, rt_sigtimedwait, IN(SIGSET), OUT(SIGINFO), IN(TIMESPEC), SIZE),
	CALL(rt_tgsigqueueinfo, INT, INT, SIGNAL, IN(SIGINFO)),
	CALL(sigaltstack, IN(SIGSTACK), OUT(SIGSTACK)),

	/* Time. */
	CALL(alarm, UINT),
	NATIVE(clock_getres, NAMED(clock_ids), OUT(TIMESPEC)),
	NATIVE(clock_gettime, NAMED(clock_ids), OUT(TIMESPEC)),
	NATIVE(clock_nanosleep, NAMED(clock_ids), NAMED(timer_flags), IN(TIMESPEC),
	       OUT_WHEN(TIMESPEC, INTERRUPTED)),
	NATIVE(futex, PTR, FUTEX_OP, INT, FUTEX_TIMEOUT, PTR, FUTEX_VALUE),
	NATIVE(getitimer, NAMED(itimers), OUT(ITIMERVAL)),
	NATIVE(gettimeofday, OUT(TIMEVAL), PTR),
	NATIVE(nanosleep, IN(TIMESPEC), OUT_WHEN(TIMESPEC, INTERRUPTED)),
	CALL(restart_syscall),
	NATIVE(setitimer, NAMED(itimers), IN(ITIMERVAL), OUT(ITIMERVAL)),
	NATIVE(time, OUT(OFFSET)),
	CALL(timer_create, NAMED(clock_ids), IN(SIGEVENT), OUT(INT)),
	CALL(timer_delete, INT),
	CALL(timer_getoverrun, INT),
	NATIVE(timer_gettime, INT, OUT(ITIMERSPEC)),
	NATIVE(timer_settime, INT, NAMED(timer_flags), IN(ITIMERSPEC), OUT(ITIMERSPEC)),
	NATIVE(times, OUT(TMS)),
};

const struct signature *syscall_signatures(size_t *n)
{
	*n = ARRAY_SIZE(signatures);
	return signatures;
}

const struct signature *syscall_signature(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signatures); i++)
		if (!strcmp(signatures[i].name, name))
			return &signatures[i];
	return NULL;
}

/* Kernel ABI of 64-bit programs; of what is longer, as much as is shown. */
static const u8 sizes[STRUCTS] = {
	[STRUCT_INT] = 4, [STRUCT_FD_PAIR] = 8, [STRUCT_OFFSET] = 8, [STRUCT_TIMESPEC] = 16,
	[STRUCT_TIMESPEC_PAIR] = 32, [STRUCT_TIMEVAL] = 16, [STRUCT_ITIMERSPEC] = 32,
	[STRUCT_ITIMERVAL] = 32, [STRUCT_STAT] = 144, [STRUCT_STATX] = 48, [STRUCT_RLIMIT] = 16,
	[STRUCT_SIGSET] = 8, [STRUCT_SIGACTION] = 32, [STRUCT_WAIT_STATUS] = 4,
	[STRUCT_POLLFD] = 8,
#ifdef __x86_64__
	[STRUCT_EPOLL_EVENT] = 12,      /* packed there */
#else
	[STRUCT_EPOLL_EVENT] = 16,
#endif
	[STRUCT_CLONE_ARGS] = 64, [STRUCT_OPEN_HOW] = 24, [STRUCT_ID] = 4, [STRUCT_RUSAGE] = 32,
	[STRUCT_TMS] = 32, [STRUCT_SYSINFO] = 112, [STRUCT_UTSNAME] = 130, [STRUCT_STATFS] = 120,
	[STRUCT_CAP_HEADER] = 8, [STRUCT_CAPS] = 24, [STRUCT_SCHED_ATTR] = 48, [STRUCT_FLOCK] = 32,
	[STRUCT_SIGINFO] = 32, [STRUCT_SIGEVENT] = 24, [STRUCT_SIGSTACK] = 24,
};

/* The same for 32-bit programs? */
static bool is_alike(enum struct_layout layout)
{
	return layout == STRUCT_INT || layout == STRUCT_FD_PAIR || layout == STRUCT_STATX ||
	       layout == STRUCT_WAIT_STATUS || layout == STRUCT_POLLFD || layout == STRUCT_SIGSET ||
	       layout == STRUCT_CLONE_ARGS || layout == STRUCT_OPEN_HOW ||
	       layout == STRUCT_EPOLL_EVENT || layout == STRUCT_ID || layout == STRUCT_UTSNAME ||
	       layout == STRUCT_CAP_HEADER || layout == STRUCT_CAPS || layout == STRUCT_SCHED_ATTR;
}

u32 struct_layout_size(enum struct_layout layout)
{
	return sizes[layout];
}

#define ADDRESS_MOST 128        /* struct sockaddr_storage */
#define ELEMENTS_MOST 8
#define SOCKET_VALUE_MOST 64

static bool fetch_of(struct trace_fetch *f, const struct argument *a, enum syscall_abi abi,
		     u32 buffers_most)
{
	*f = (struct trace_fetch){ .when = a->out, .changed = a->changed, .length = a->length,
				   .pointed = a->pointed, .kind = FETCH_BYTES, .size = 1,
				   .most = ADDRESS_MOST, .if_arg = a->if_arg,
				   .if_small = a->if_small, .if_values = a->if_values };
	switch (a->kind) {
	case ARG_STRING:
	case ARG_PRCTL:
		f->kind = FETCH_STRING;
		return true;
	case ARG_BUFFER:
		f->most = buffers_most;
		return true;
	case ARG_SOCKADDR:
	case ARG_CPU_SET:
		return true;
	case ARG_SOCKET_VALUE:
		f->most = SOCKET_VALUE_MOST;
		return true;
	case ARG_FD_SET:
		f->kind = FETCH_BITS;
		f->most = TRACE_SET_BITS / 8;
		return true;
	case ARG_STRUCT:
	case ARG_FUTEX_TIMEOUT:
	case ARG_FCNTL:
		f->size = struct_layout_size(a->layout);
		f->most = a->array ? ELEMENTS_MOST * f->size : f->size;
		return abi == SYSCALL_NATIVE || is_alike(a->layout);
	default:
		return false;
	}
}

static u8 vector_of(const struct argument *a)
{
	if (a->kind == ARG_VECTOR)
		return a->out ? VECTOR_READ : VECTOR_WRITTEN;
	if (a->kind == ARG_MESSAGE)
		return a->out ? VECTOR_RECEIVED : VECTOR_SENT;
	if (a->kind == ARG_MESSAGES)
		return a->out ? VECTOR_RECEIVED_MANY : VECTOR_SENT_MANY;
	return VECTOR_NONE;
}

static u8 gives_of(const struct signature *s)
{
	switch (s->result) {
	case RESULT_FD:
		return GIVES_FD;
	case RESULT_FD_BY_COMMAND:
		return GIVES_FD_BY_COMMAND;
	default:
		return GIVES_NO_FD;
	}
}

bool argument_is_narrow(const struct argument *a)
{
	switch (a->kind) {
	case ARG_INT:
	case ARG_UINT:
	case ARG_HEX32:
	case ARG_SIZE32:
	case ARG_FD:
	case ARG_DIRFD:
	case ARG_MODE:
	case ARG_CREATE_MODE:
	case ARG_OPEN_FLAGS:
	case ARG_FUTEX_OP:
	case ARG_FUTEX_VALUE:
	case ARG_SOCKET_OPTION:
	case ARG_SIGNAL:
	case ARG_MAKEDEV:
		return true;
	case ARG_NAMES:
		return !a->wide;
	default:
		return false;
	}
}

static void describe_argument(struct trace_call *c, const struct argument *a, u8 i,
			      enum syscall_abi abi)
{
	if (argument_is_narrow(a))
		c->narrow |= 1U << i;
	if (a->kind == ARG_STRINGS)
		c->argv = i;
	if ((a->kind == ARG_FD || a->kind == ARG_DIRFD) && c->fds < TRACE_FDS)
		c->fd[c->fds++] = i;
	if (i == TRACE_VECTOR_ARG && abi == SYSCALL_NATIVE)
		c->vector = vector_of(a);
	if (a->kind == ARG_FD_SET)
		c->waits = WAITS_FOR_SETS;
	if (a->kind == ARG_STRUCT && a->layout == STRUCT_POLLFD)
		c->waits = WAITS_FOR_ARRAY;
	if (a->kind == ARG_STRUCT && a->layout == STRUCT_FD_PAIR) {
		c->gives = GIVES_FD_PAIR;
		c->pair = i;
	}
}

/* What is read once, or at the begin and again at the end. */
static void add_fetches(struct trace_call *c, struct trace_fetch *f, const struct argument *a, u8 i)
{
	f->id = TRACE_ID(i, PART_TARGET);
	if (c->fetches < TRACE_FETCHES)
		c->fetch[c->fetches++] = *f;
	if (!a->after || c->fetches == TRACE_FETCHES)
		return;
	f->id = TRACE_ID(i, PART_AFTER);
	f->when = a->after;
	f->changed = 0;
	f->if_values = a->after_values;
	c->fetch[c->fetches++] = *f;
}

void syscall_fetches(struct trace_call *c, const struct signature *s, enum syscall_abi abi,
		     u32 buffers_most)
{
	struct trace_fetch fetch;
	size_t i;

	c->fetches = c->argv = c->fds = c->vector = c->waits = c->gives = c->narrow = 0;
	if (s->native && abi != SYSCALL_NATIVE)
		return;
	c->gives = gives_of(s);
	for (i = 0; i < TRACE_ARGUMENTS; i++) {
		describe_argument(c, &s->arg[i], i, abi);
		if (fetch_of(&fetch, &s->arg[i], abi, buffers_most))
			add_fetches(c, &fetch, &s->arg[i], i);
	}
}
