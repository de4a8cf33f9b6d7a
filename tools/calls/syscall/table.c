// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/table.h"

#include <string.h>

#include "calls/syscall/layouts.h"
#include "calls/syscall/signature.h"

/* The signal mask that the call restores: uc.uc_sigmask of a struct rt_sigframe. */
#ifdef __x86_64__
#define RT_SIGRETURN { .name = "rt_sigreturn", .native = 1, .frame = 296, .arg = { IN(SIGNAL_FRAME) } }
#else
#define RT_SIGRETURN CALL(rt_sigreturn)
#endif

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
	CALL(getxattr, STR, STR, BUF_WITHIN(3), SIZE),
	CALL(lchown, STR, INT, INT),
	CALL(lgetxattr, STR, STR, BUF_WITHIN(3), SIZE),
	CALL(link, STR, STR),
	CALL(linkat, DIRFD, STR, DIRFD, STR, NAMED(at_flags)),
	CALL(listxattr, STR, BUF_WITHIN(2), SIZE),
	CALL(llistxattr, STR, BUF_WITHIN(2), SIZE),
	CALL(flistxattr, FD, BUF_WITHIN(2), SIZE),
	NATIVE(lstat, STR, OUT(STAT)),
	CALL(mkdir, STR, MODE),
	CALL(mkdirat, DIRFD, STR, MODE),
	CALL(mknod, STR, KIND(MKNOD_MODE), DEVICE),
	CALL(mknodat, DIRFD, STR, KIND(MKNOD_MODE), DEVICE),
	CALL(mount, STR, STR, STR, KIND(MOUNT_FLAGS), STR),
	NATIVE(newfstatat, DIRFD, STR, OUT(STAT), NAMED(at_flags)),
	OPENS(open, STR, OPEN_FLAGS, CREATE_MODE),
	OPENS(openat, DIRFD, STR, OPEN_FLAGS, CREATE_MODE),
	OPENS(openat2, DIRFD, STR, SIZED(OPEN_HOW, 3), SIZE),
	CALL(pivot_root, STR, STR),
	CALL(readlink, STR, BUF_OUT, INT),
	CALL(readlinkat, DIRFD, STR, BUF_OUT, INT),
	CALL(rename, STR, STR),
	CALL(renameat, DIRFD, STR, DIRFD, STR),
	CALL(renameat2, DIRFD, STR, DIRFD, STR, NAMED(rename_flags)),
	CALL(rmdir, STR),
	CALL(setxattr, STR, STR, BUF(3), SIZE, NAMED(xattr_flags)),
	CALL(lsetxattr, STR, STR, BUF(3), SIZE, NAMED(xattr_flags)),
	CALL(fsetxattr, FD, STR, BUF(3), SIZE, NAMED(xattr_flags)),
	CALL(removexattr, STR, STR),
	CALL(lremovexattr, STR, STR),
	CALL(fremovexattr, FD, STR),
	NATIVE(stat, STR, OUT(STAT)),
	CALL(statfs, STR, OUT(STATFS)),
	CALL(statx, DIRFD, STR, NAMED(statx_flags), NAMED(statx_masks), OUT(STATX)),
	CALL(swapon, STR, NAMED(swap_flags)),
	CALL(swapoff, STR),
	CALL(acct, STR),
	CALL(symlink, STR, STR),
	CALL(symlinkat, STR, DIRFD, STR),
	NATIVE(truncate, STR, LONG),
	CALL(umount2, STR, NAMED(umount_flags)),
	CALL(unlink, STR),
	CALL(unlinkat, DIRFD, STR, NAMED(at_flags)),
	NATIVE(utime, STR, IN(UTIMES)),
	NATIVE(utimes, STR, IN(TIMEVAL_PAIR)),
	NATIVE(futimesat, DIRFD, STR, IN(TIMEVAL_PAIR)),
	NATIVE(utimensat, DIRFD, STR, IN(TIMESPEC_PAIR), NAMED(at_flags)),

	/* Descriptors. */
	CALL(close, FD),
	CALL(close_range, UINT, UINT, NAMED(close_range_flags)),
	NATIVE(copy_file_range, FD, INOUT(OFFSET), FD, INOUT(OFFSET), SIZE, HEX32),
	OPENS(dup, FD),
	OPENS(dup2, FD, FD),
	OPENS(dup3, FD, FD, NAMED(pipe_flags)),
	NATIVE(fadvise64, FD, LONG, SIZE, NAMED(file_advices)),
	NATIVE(readahead, FD, LONG, SIZE),
	NATIVE(fallocate, FD, NAMED(fallocate_modes), LONG, LONG),
	CALL(fchdir, FD),
	CALL(fchmod, FD, MODE),
	CALL(fchown, FD, INT, INT),
	{ .name = "fcntl", .native = 1, .by = 2, .result = RESULT_FD_BY_COMMAND,
	  .arg = { FD, NAMED(fcntl_commands), FCNTL } },
	CALL(fcntl64, FD, NAMED(fcntl_commands), FCNTL),
	CALL(fdatasync, FD),
	CALL(fgetxattr, FD, STR, BUF_WITHIN(3), SIZE),
	CALL(flock, FD, NAMED(flock_ops)),
	NATIVE(fstat, FD, OUT(STAT)),
	CALL(fstatfs, FD, OUT(STATFS)),
	CALL(fsync, FD),
	NATIVE(ftruncate, FD, LONG),
	CALL(getcwd, STR_OUT, SIZE),
	CALL(getdents, FD, PTR, SIZE32),
	CALL(getdents64, FD, PTR, SIZE32),
	BY(1, ioctl, FD, NAMED(ioctl_commands), HEX),
	NATIVE(lseek, FD, LONG, NAMED(whences)),
	CALL(pipe, OUT(FD_PAIR)),
	CALL(pipe2, OUT(FD_PAIR), NAMED(pipe_flags)),
	NATIVE(pread64, FD, BUF_OUT, SIZE, LONG),
	NATIVE(preadv, FD, VECTOR_OUT, SIZE, LONG, UNUSED),
	NATIVE(preadv2, FD, VECTOR_OUT, SIZE, LONG, UNUSED, NAMED(rw_flags)),
	NATIVE(pwrite64, FD, BUF(2), SIZE, LONG),
	NATIVE(pwritev, FD, VECTOR, SIZE, LONG, UNUSED),
	NATIVE(pwritev2, FD, VECTOR, SIZE, LONG, UNUSED, NAMED(rw_flags)),
	CALL(read, FD, BUF_OUT, SIZE),
	CALL(readv, FD, VECTOR_OUT, SIZE),
	NATIVE(sendfile, FD, FD, INOUT(OFFSET), SIZE),
	NATIVE(splice, FD, INOUT(OFFSET), FD, INOUT(OFFSET), SIZE, NAMED(splice_flags)),
	CALL(sync),
	NATIVE(sync_file_range, FD, LONG, LONG, NAMED(sync_flags)),
	CALL(syncfs, FD),
	NATIVE(cachestat, FD, IN(CACHE_RANGE), OUT(CACHE_PAGES), HEX32),
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
	CALL(inotify_add_watch, FD, STR, NAMED(inotify_events)),
	OPENS(fanotify_init, NAMED(fanotify_flags), OPEN_FLAGS),
	NATIVE(fanotify_mark, FD, NAMED(fanotify_marks), LNAMED(fanotify_events), DIRFD, STR),
	OPENS(inotify_init),
	OPENS(inotify_init1, NAMED(inotify_flags)),
	CALL(inotify_rm_watch, FD, INT),
	CALL(poll, POLLFDS, UINT, INT),
	NATIVE(ppoll, POLLFDS, UINT, TAKEN_AND_LEFT(TIMESPEC), IN(SIGSET), SIZE),
	NATIVE(pselect6, INT, FD_SET, FD_SET, FD_SET, TAKEN_AND_LEFT(TIMESPEC),
	       KIND(SET_AND_SIZE)),
	NATIVE(select, INT, FD_SET, FD_SET, FD_SET, TAKEN_AND_LEFT(TIMEVAL)),
	OPENS(signalfd4, FD, IN(SIGSET), SIZE, NAMED(signalfd_flags)),
	OPENS(timerfd_create, NAMED(clock_ids), NAMED(timerfd_flags)),
	NATIVE(timerfd_gettime, FD, OUT(ITIMERSPEC)),
	NATIVE(timerfd_settime, FD, NAMED(timerfd_settings), IN(ITIMERSPEC), OUT(ITIMERSPEC)),

	/* Network. */
	OPENS(accept, FD, ADDR_OUT(2), GIVEN_AND_TOLD(INT)),
	OPENS(accept4, FD, ADDR_OUT(2), GIVEN_AND_TOLD(INT), NAMED(socket_types)),
	CALL(bind, FD, ADDR(2), UINT),
	CALL(connect, FD, ADDR(2), UINT),
	CALL(getpeername, FD, ADDR_OUT(2), GIVEN_AND_TOLD(INT)),
	CALL(getsockname, FD, ADDR_OUT(2), GIVEN_AND_TOLD(INT)),
	CALL(getsockopt, FD, NAMED(level_names), SOCKET_OPTION_TOLD, SOCKET_VALUE_OUT, GIVEN_AND_TOLD(INT)),
	CALL(listen, FD, INT),
	CALL(recvfrom, FD, MESSAGE_DATA_OUT, SIZE, NAMED(message_flags), ADDR_OUT(5), GIVEN_AND_TOLD(INT)),
	CALL(recvmmsg, FD, MESSAGES_OUT, UINT, NAMED(message_flags), TAKEN_AND_LEFT(TIMESPEC)),
	CALL(recvmsg, FD, MESSAGE_OUT, NAMED(message_flags)),
	CALL(sendmmsg, FD, MESSAGES, UINT, NAMED(message_flags)),
	CALL(sendmsg, FD, MESSAGE, NAMED(message_flags)),
	CALL(sendto, FD, MESSAGE_DATA(2), SIZE, NAMED(message_flags), ADDR(5), UINT),
	CALL(setsockopt, FD, NAMED(level_names), SOCKET_OPTION, SOCKET_VALUE, UINT),
	CALL(shutdown, FD, NAMED(shutdown_hows)),
	OPENS(socket, NAMED(socket_families), NAMED(socket_types), KIND(PROTOCOL)),
	CALL(socketpair, NAMED(socket_families), NAMED(socket_types), KIND(PROTOCOL), OUT(FD_PAIR)),

	/* Memory. */
	GIVES(POINTER, brk, PTR),
	CALL(madvise, PTR, SIZE, NAMED(advices)),
	BY(0, membarrier, NAMED(membarrier_commands), NAMED(membarrier_flags), INT),
	OPENS(memfd_create, STR, HUGE_NAMED(memfd_flags)),
	OPENS(memfd_secret, NAMED(pipe_flags)),
	CALL(mincore, PTR, SIZE, PTR),
	CALL(mlock, PTR, SIZE),
	CALL(mlock2, PTR, SIZE, NAMED(mlock2_flags)),
	CALL(mbind, PTR, SIZE, LNAMED(memory_policies), NODES(4), LONG, NAMED(mbind_flags)),
	CALL(mlockall, NAMED(mlock_flags)),
	GIVES(POINTER, mmap, PTR, SIZE, LNAMED(protections), LHUGE_NAMED(map_flags), FD, HEX),
	CALL(mprotect, PTR, SIZE, LNAMED(protections)),
	GIVES(POINTER, mremap, PTR, SIZE, SIZE, LNAMED(mremap_flags), PTR),
	CALL(msync, PTR, SIZE, NAMED(msync_flags)),
	CALL(munlock, PTR, SIZE),
	CALL(munlockall),
	CALL(munmap, PTR, SIZE),
	GIVES(POINTER, shmat, INT, PTR, NAMED(attach_flags)),
	CALL(get_mempolicy, OUT(INT), NODES_OUT(2), LONG, PTR, LNAMED(policy_flags)),
	CALL(set_mempolicy, NAMED(memory_policies), NODES(2), LONG),
	CALL(move_pages, INT, SIZE, ARRAY(PAGE, 1), ARRAY(NODE, 1), ARRAY_TOLD(PAGE_STATUS, 1), NAMED(mbind_flags)),
	CALL(migrate_pages, INT, SIZE, NODES(1), NODES(1)),
	CALL(pkey_mprotect, PTR, SIZE, LNAMED(protections), INT),
	CALL(pkey_alloc, HEX, LNAMED(key_rights)),
	CALL(pkey_free, INT),
	OPENS(userfaultfd, NAMED(faults_flags)),
	CALL(remap_file_pages, PTR, SIZE, LNAMED(protections), SIZE, LNAMED(map_flags)),

	/* Processes. */
	BY(0, arch_prctl, NAMED(arch_codes), PTR),
	CALL(capget, IN(CAP_HEADER), OUT(CAPS)),
	CALL(capset, IN(CAP_HEADER), IN(CAPS)),
	NATIVE(clone, CLONE_FLAGS, PTR, PTR, PTR, PTR),
	CALL(clone3, SIZED(CLONE_ARGS, 1), SIZE),
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
	OPENS(pidfd_open, INT, NAMED(pidfd_flags)),
	CALL(pidfd_send_signal, FD, SIGNAL, IN(SIGINFO), HEX32),
	BY(0, prctl, NAMED(prctl_options), PRCTL, HEX, HEX, HEX),
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
	CALL(waitid, NAMED(waitid_types), INT, OUT(SIGINFO), NAMED(waitid_flags), OUT(RUSAGE)),

	/* Signals. */
	CALL(pause),
	NATIVE(rt_sigaction, SIGNAL, IN(SIGACTION), OUT(SIGACTION), SIZE),
	CALL(rt_sigpending, OUT(SIGSET), SIZE),
	CALL(rt_sigprocmask, NAMED(sigmask_hows), IN(SIGSET), OUT(SIGSET), SIZE),
	CALL(rt_sigqueueinfo, INT, SIGNAL, IN(SIGINFO)),
	RT_SIGRETURN,
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
	NATIVE(clock_settime, NAMED(clock_ids), IN(TIMESPEC)),
	NATIVE(settimeofday, IN(TIMEVAL), PTR),
	{ .name = "adjtimex", .native = 1, .result = RESULT_NAMES, .result_names = &clock_states,
	  .arg = { GIVEN_AND_TOLD(TIMEX) } },
	{ .name = "clock_adjtime", .native = 1, .result = RESULT_NAMES, .result_names = &clock_states,
	  .arg = { NAMED(clock_ids), GIVEN_AND_TOLD(TIMEX) } },
	NATIVE(futex_waitv, ARRAY(WAITER, 1), UINT, HEX32, IN(TIMESPEC), NAMED(clock_ids)),
	NATIVE(futex_wake, PTR, HEX, INT, NAMED(futex2_flags)),
	NATIVE(futex_wait, PTR, HEX, HEX, NAMED(futex2_flags), IN(TIMESPEC), NAMED(clock_ids)),
	NATIVE(futex_requeue, PTR, HEX32, INT, INT),

	/* Rings of requests. */
	OPENS(io_uring_setup, UINT, GIVEN_AND_TOLD(RING)),
	CALL(io_uring_enter, FD, UINT, UINT, NAMED(ring_enter_flags), PTR, SIZE),
	BY(1, io_uring_register, FD, NAMED(ring_registers), PTR, UINT),
	CALL(io_setup, UINT, OUT(U64)),
	CALL(io_destroy, HEX),
	CALL(io_submit, HEX, LONG, PTR),
	CALL(io_cancel, HEX, PTR, PTR),
	NATIVE(io_getevents, HEX, LONG, LONG, PTR, IN(TIMESPEC)),

	/* Programs, counters, filters. */
	{ .name = "bpf", .by = 1, .arg = { NAMED(bpf_commands), PTR, UINT } },
	OPENS(perf_event_open, IN(PERF_ATTR), INT, INT, FD, LNAMED(perf_flags)),
	BY(0, seccomp, NAMED(seccomp_operations), HEX32, PTR),
	OPENS(landlock_create_ruleset, SIZED(RULESET, 1), SIZE, NAMED(landlock_flags)),
	BY(1, landlock_add_rule, FD, NAMED(landlock_rules), PTR, HEX32),
	CALL(landlock_restrict_self, FD, HEX32),
	BY(0, ptrace, LNAMED(trace_requests), LONG, PTR, HEX),
	NATIVE(process_vm_readv, INT, VECTOR_OUT, SIZE, ARRAY(IOVEC, 4), SIZE, HEX),
	NATIVE(process_vm_writev, INT, VECTOR, SIZE, ARRAY(IOVEC, 4), SIZE, HEX),
	NATIVE(process_madvise, FD, VECTOR, SIZE, NAMED(advices), HEX32),
	CALL(process_mrelease, FD, HEX32),
	CALL(kcmp, INT, INT, NAMED(kcmp_types), HEX, HEX),
	TELLS(personalities, personality, NAMED(personalities)),
	CALL(setns, FD, NAMED(namespaces)),
	CALL(mseal, PTR, SIZE, HEX),
	GIVES(POINTER, map_shadow_stack, PTR, SIZE, HEX32),
	CALL(unshare, LNAMED(clone_flags)),
	CALL(ioprio_set, NAMED(priority_of), INT, KIND(IO_PRIORITY)),
	{ .name = "ioprio_get", .result = RESULT_IO_PRIORITY, .arg = { NAMED(priority_of), INT } },
	CALL(setfsuid, INT),
	CALL(setfsgid, INT),

	/* Keys. */
	CALL(add_key, STR, STR, BUF(3), SIZE, NUMBER(keyrings)),
	CALL(request_key, STR, STR, STR, NUMBER(keyrings)),
	BY(0, keyctl, NAMED(key_commands), HEX, HEX, HEX, HEX),

	/* Mounts. */
	OPENS(fsopen, STR, NAMED(fsopen_flags)),
	BY(1, fsconfig, FD, NAMED(fsconfig_commands), STR, PTR, INT),
	OPENS(fsmount, FD, NAMED(fsmount_flags), NAMED(mount_attributes)),
	OPENS(fspick, DIRFD, STR, NAMED(fspick_flags)),
	OPENS(open_tree, DIRFD, STR, NAMED(open_tree_flags)),
	CALL(move_mount, DIRFD, STR, DIRFD, STR, NAMED(move_mount_flags)),
	CALL(mount_setattr, DIRFD, STR, NAMED(at_flags), SIZED(MOUNT_ATTR, 4), SIZE),
	CALL(name_to_handle_at, DIRFD, STR, GIVEN_AND_TOLD(HANDLE), OUT(INT), NAMED(handle_flags)),
	OPENS(open_by_handle_at, DIRFD, IN(HANDLE), OPEN_FLAGS),
	CALL(quotactl, KIND(QUOTA_COMMAND), STR, INT, PTR),
	CALL(quotactl_fd, FD, KIND(QUOTA_COMMAND), INT, PTR),

	/* System V objects, and message queues. */
	CALL(shmget, NAMED(ipc_keys), SIZE, KIND(IPC_FLAGS)),
	BY(1, shmctl, INT, NAMED(shm_commands), PTR),
	CALL(shmdt, PTR),
	CALL(semget, NAMED(ipc_keys), INT, KIND(IPC_FLAGS)),
	CALL(semop, INT, ARRAY(SEMBUF, 2), UINT),
	NATIVE(semtimedop, INT, ARRAY(SEMBUF, 2), UINT, IN(TIMESPEC)),
	BY(2, semctl, INT, INT, NAMED(sem_commands), HEX),
	CALL(msgget, NAMED(ipc_keys), KIND(IPC_FLAGS)),
	CALL(msgsnd, INT, IPC_MESSAGE(2), SIZE, NAMED(ipc_flags)),
	CALL(msgrcv, INT, IPC_MESSAGE_OUT, SIZE, LONG, NAMED(ipc_flags)),
	BY(1, msgctl, INT, NAMED(msg_commands), PTR),
	OPENS(mq_open, STR, OPEN_FLAGS, CREATE_MODE, IN(MQ_ATTR)),
	CALL(mq_unlink, STR),
	NATIVE(mq_timedsend, FD, BUF(2), SIZE, UINT, IN(TIMESPEC)),
	NATIVE(mq_timedreceive, FD, BUF_OUT, SIZE, OUT(INT), IN(TIMESPEC)),
	NATIVE(mq_notify, FD, IN(SIGEVENT)),
	NATIVE(mq_getsetattr, FD, IN(MQ_ATTR), OUT(MQ_ATTR)),

	/* The machine. */
	CALL(sethostname, BUF(1), INT),
	CALL(setdomainname, BUF(1), INT),
	CALL(init_module, PTR, SIZE, STR),
	CALL(finit_module, FD, STR, NAMED(module_flags)),
	CALL(delete_module, STR, NAMED(module_deletion)),
	CALL(syslog, NAMED(log_actions), PTR, INT),
	CALL(reboot, NAMED(reboot_magic), NAMED(reboot_magic), NAMED(reboot_commands), PTR),
	CALL(vhangup),
	CALL(iopl, UINT),
	CALL(ioperm, SIZE, SIZE, INT),
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

/* The ABI of 64-bit programs; for longer structs, the size of the part that is shown. */
static const u8 sizes[STRUCT_OF_MEMBERS] = {
	[STRUCT_INT] = 4, [STRUCT_FD_PAIR] = 8, [STRUCT_OFFSET] = 8, [STRUCT_TIMESPEC] = 16,
	[STRUCT_TIMESPEC_PAIR] = 32, [STRUCT_TIMEVAL] = 16, [STRUCT_ITIMERSPEC] = 32,
	[STRUCT_ITIMERVAL] = 32, [STRUCT_STAT] = 144, [STRUCT_STATX] = 48, [STRUCT_RLIMIT] = 16,
	[STRUCT_SIGSET] = 8, [STRUCT_SIGACTION] = 32, [STRUCT_WAIT_STATUS] = 4,
	[STRUCT_POLLFD] = 8,
#ifdef __x86_64__
	[STRUCT_EPOLL_EVENT] = 12,      /* packed on x86-64 */
#else
	[STRUCT_EPOLL_EVENT] = 16,
#endif
	[STRUCT_CLONE_ARGS] = 88, [STRUCT_OPEN_HOW] = 24, [STRUCT_ID] = 4, [STRUCT_RUSAGE] = 32,
	[STRUCT_PAGE] = 8, [STRUCT_NODE] = 4, [STRUCT_PAGE_STATUS] = 4,
	[STRUCT_TMS] = 32, [STRUCT_SYSINFO] = 112, [STRUCT_UTSNAME] = 130, [STRUCT_STATFS] = 120,
	[STRUCT_CAP_HEADER] = 8, [STRUCT_CAPS] = 24, [STRUCT_SCHED_ATTR] = 48, [STRUCT_FLOCK] = 32,
	[STRUCT_SIGINFO] = 32, [STRUCT_SIGEVENT] = 24, [STRUCT_SIGSTACK] = 24,
};

/* Whether 32-bit programs have the same layout. */
static bool is_alike(enum struct_layout layout)
{
	return layout == STRUCT_INT || layout == STRUCT_FD_PAIR || layout == STRUCT_STATX ||
	       layout == STRUCT_WAIT_STATUS || layout == STRUCT_POLLFD || layout == STRUCT_SIGSET ||
	       layout == STRUCT_CLONE_ARGS || layout == STRUCT_OPEN_HOW ||
	       layout == STRUCT_EPOLL_EVENT || layout == STRUCT_ID || layout == STRUCT_NODE ||
	       layout == STRUCT_PAGE_STATUS || layout == STRUCT_UTSNAME ||
	       layout == STRUCT_CAP_HEADER || layout == STRUCT_CAPS || layout == STRUCT_SCHED_ATTR ||
	       (layout >= STRUCT_OF_MEMBERS && layouts__find(layout)->alike);
}

u32 struct_layout_size(enum struct_layout layout)
{
	if (layout >= STRUCT_OF_MEMBERS)
		return layouts__find(layout)->size;
	return sizes[layout];
}

#define ADDRESS_MOST 128        /* struct sockaddr_storage */
#define ELEMENTS_MOST 8
#define SOCKET_VALUE_MOST 104   /* size of struct tcp_info up to tcpi_total_retrans */

static bool fetch_of(struct trace_fetch *f, const struct argument *a, enum syscall_abi abi,
		     u32 buffers_most)
{
	*f = (struct trace_fetch){ .when = a->out, .changed = a->changed, .length = a->length,
				   .pointed = a->pointed, .kind = FETCH_BYTES, .size = 1,
				   .most = ADDRESS_MOST, .if_arg = a->if_arg,
				   .if_small = a->if_small, .if_values = a->if_values,
				   .within = a->within };
	switch (a->kind) {
	case ARG_STRING:
	case ARG_PRCTL:
		f->kind = FETCH_STRING;
		return true;
	case ARG_BUFFER:
	case ARG_MESSAGE_DATA:
		f->most = buffers_most;
		return true;
	case ARG_IPC_MESSAGE:
		f->head = sizeof(s64);
		f->most = f->head + buffers_most;
		return abi == SYSCALL_NATIVE;
	case ARG_SOCKADDR:
	case ARG_CPU_SET:
		return true;
	case ARG_SOCKET_VALUE:
		f->most = SOCKET_VALUE_MOST;
		return true;
	case ARG_SET_AND_SIZE:
		f->length = TRACE_ONE;
		f->size = f->most = sizeof(struct trace_iovec);
		return abi == SYSCALL_NATIVE;
	case ARG_FD_SET:
	case ARG_NODE_SET:
		f->kind = FETCH_BITS;
		f->most = TRACE_SET_BITS / 8;
		return true;
	case ARG_STRUCT:
	case ARG_FUTEX_TIMEOUT:
	case ARG_FCNTL:
		f->size = a->sized ? 1 : struct_layout_size(a->layout);
		f->most = (a->array ? ELEMENTS_MOST : 1) * struct_layout_size(a->layout);
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
	case ARG_MKNOD_MODE:
	case ARG_PROTOCOL:
	case ARG_QUOTA_COMMAND:
	case ARG_IO_PRIORITY:
	case ARG_IPC_FLAGS:
		return true;
	case ARG_NAMES:
	case ARG_HUGE_NAMES:
	case ARG_NAMED_NUMBER:
	case ARG_UNUSED:
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
	if (a->kind == ARG_MESSAGE_DATA || a->kind == ARG_MESSAGE || a->kind == ARG_MESSAGES)
		c->socket = 1;
	if (a->kind == ARG_FD_SET)
		c->waits = WAITS_FOR_SETS;
	if (a->kind == ARG_STRUCT && a->layout == STRUCT_POLLFD)
		c->waits = WAITS_FOR_ARRAY;
	if (a->kind == ARG_STRUCT && a->layout == STRUCT_FD_PAIR) {
		c->gives = GIVES_FD_PAIR;
		c->pair = i;
	}
}

static void add_fetch(struct trace_call *c, const struct trace_fetch *f)
{
	if (c->fetches < TRACE_FETCHES)
		c->fetch[c->fetches++] = *f;
}

/* Adds the reads of an argument, once or at both entry and return, and of the data that its target describes. */
static void add_fetches(struct trace_call *c, struct trace_fetch *f, const struct argument *a, u8 i)
{
	f->id = TRACE_ID(i, PART_TARGET);
	add_fetch(c, f);
	if (a->kind == ARG_SET_AND_SIZE) {
		f->id = TRACE_ID(i, PART_DESCRIBED);
		f->described = f->size = 1;
		f->most = struct_layout_size(STRUCT_SIGSET);
		add_fetch(c, f);
	}
	if (!a->after)
		return;
	f->id = TRACE_ID(i, PART_AFTER);
	f->when = a->after;
	f->changed = 0;
	f->if_values = a->after_values;
	f->within = 0;
	add_fetch(c, f);
}

void syscall_fetches(struct trace_call *c, const struct signature *s, enum syscall_abi abi,
		     u32 buffers_most)
{
	struct trace_fetch fetch;
	size_t i;

	c->fetches = c->argv = c->fds = c->vector = c->waits = c->gives = c->narrow = 0;
	c->command = c->frame = c->socket = 0;
	if (s->native && abi != SYSCALL_NATIVE)
		return;
	c->gives = gives_of(s);
	c->command = s->by;
	c->frame = s->frame;
	for (i = 0; i < TRACE_ARGUMENTS; i++) {
		describe_argument(c, &s->arg[i], i, abi);
		if (fetch_of(&fetch, &s->arg[i], abi, buffers_most))
			add_fetches(c, &fetch, &s->arg[i], i);
	}
}
