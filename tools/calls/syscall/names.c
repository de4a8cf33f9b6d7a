// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/names.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/membarrier.h>
#include <linux/memfd.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "calls/syscall/constants.h"

#if __has_include(<asm/prctl.h>)
#include <asm/prctl.h>
#endif

#define N(value) { (u64)(value), #value }

/* Names of a set: the bits of `mask` form one value. */
#define NAMES(set, bits, ...)                                                                      \
	const struct value_names set = {                                                           \
		.name = (const struct value_name[]){ __VA_ARGS__, {} },                            \
		.mask = (bits),                                                                    \
	}
#define FLAGS(set, ...) NAMES(set, 0, __VA_ARGS__)
#define VALUES(set, ...) NAMES(set, VALUE_ONLY, __VA_ARGS__)

/* Parts of the kernel ABI that older headers lack, or that no user-space header has. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_CLOCK_REALTIME 256

/* --- files ----------------------------------------------------------------------------------- */

NAMES(access_modes, 7, N(F_OK), N(R_OK), N(W_OK), N(X_OK), { 6, "R_OK|W_OK" }, { 5, "R_OK|X_OK" },
      { 3, "W_OK|X_OK" }, { 7, "R_OK|W_OK|X_OK" });
FLAGS(at_flags, N(AT_SYMLINK_NOFOLLOW), N(AT_REMOVEDIR), N(AT_SYMLINK_FOLLOW), N(AT_NO_AUTOMOUNT),
      N(AT_EMPTY_PATH), { 0x2000, "AT_STATX_FORCE_SYNC" }, { 0x4000, "AT_STATX_DONT_SYNC" },
      { 0x8000, "AT_RECURSIVE" });
FLAGS(statx_flags, { 0, "AT_STATX_SYNC_AS_STAT" }, N(AT_SYMLINK_NOFOLLOW), N(AT_NO_AUTOMOUNT),
      N(AT_EMPTY_PATH), { 0x2000, "AT_STATX_FORCE_SYNC" }, { 0x4000, "AT_STATX_DONT_SYNC" });
VALUES(lock_types, N(F_RDLCK), N(F_WRLCK), N(F_UNLCK));
VALUES(file_systems, { 0xef53, "EXT2_SUPER_MAGIC" }, { 0x01021994, "TMPFS_MAGIC" },
       { 0x9fa0, "PROC_SUPER_MAGIC" }, { 0x62656572, "SYSFS_MAGIC" },
       { 0x794c7630, "OVERLAYFS_SUPER_MAGIC" }, { 0x58465342, "XFS_SUPER_MAGIC" },
       { 0x9123683e, "BTRFS_SUPER_MAGIC" }, { 0x27e0eb, "CGROUP_SUPER_MAGIC" },
       { 0x63677270, "CGROUP2_SUPER_MAGIC" }, { 0x50495045, "PIPEFS_MAGIC" },
       { 0x534f434b, "SOCKFS_MAGIC" }, { 0x1cd1, "DEVPTS_SUPER_MAGIC" },
       { 0x6969, "NFS_SUPER_MAGIC" }, { 0x01021997, "V9FS_MAGIC" }, { 0x858458f6, "RAMFS_MAGIC" },
       { 0xcafe4a11, "BPF_FS_MAGIC" }, { 0x74726163, "TRACEFS_MAGIC" },
       { 0x64626720, "DEBUGFS_MAGIC" }, { 0x65735546, "FUSE_SUPER_MAGIC" },
       { 0x73717368, "SQUASHFS_MAGIC" }, { 0x958458f6, "HUGETLBFS_MAGIC" },
       { 0x73636673, "SECURITYFS_MAGIC" }, { 0x09041934, "ANON_INODE_FS_MAGIC" },
       { 0x6e736673, "NSFS_MAGIC" }, { 0x4d44, "MSDOS_SUPER_MAGIC" },
       { 0x9660, "ISOFS_SUPER_MAGIC" });
FLAGS(statfs_flags, { 0x20, "ST_VALID" }, { 1, "ST_RDONLY" }, { 2, "ST_NOSUID" }, { 4, "ST_NODEV" },
      { 8, "ST_NOEXEC" }, { 16, "ST_SYNCHRONOUS" }, { 64, "ST_MANDLOCK" }, { 1024, "ST_NOATIME" },
      { 2048, "ST_NODIRATIME" }, { 4096, "ST_RELATIME" }, { 8192, "ST_NOSYMFOLLOW" });
FLAGS(at_access_flags, N(AT_SYMLINK_NOFOLLOW), N(AT_EACCESS), N(AT_EMPTY_PATH));
FLAGS(close_range_flags, { 2, "CLOSE_RANGE_UNSHARE" }, { 4, "CLOSE_RANGE_CLOEXEC" });
VALUES(fcntl_commands, N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK),
       N(F_SETLK), N(F_SETLKW), N(F_SETOWN), N(F_GETOWN), N(F_SETSIG), N(F_GETSIG),
       N(F_SETOWN_EX), N(F_GETOWN_EX), N(F_OFD_GETLK), N(F_OFD_SETLK), N(F_OFD_SETLKW),
       N(F_SETLEASE), N(F_GETLEASE), N(F_NOTIFY), N(F_DUPFD_CLOEXEC), N(F_SETPIPE_SZ),
       N(F_GETPIPE_SZ), N(F_ADD_SEALS), N(F_GET_SEALS), N(F_GET_RW_HINT), N(F_SET_RW_HINT));
FLAGS(fd_flags, N(FD_CLOEXEC));
FLAGS(fallocate_modes, N(FALLOC_FL_KEEP_SIZE), N(FALLOC_FL_PUNCH_HOLE), N(FALLOC_FL_COLLAPSE_RANGE),
      N(FALLOC_FL_ZERO_RANGE), N(FALLOC_FL_INSERT_RANGE), N(FALLOC_FL_UNSHARE_RANGE));
FLAGS(flock_ops, N(LOCK_SH), N(LOCK_EX), N(LOCK_NB), N(LOCK_UN));
VALUES(whences, N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE));
FLAGS(rename_flags, N(RENAME_NOREPLACE), N(RENAME_EXCHANGE), N(RENAME_WHITEOUT));
FLAGS(statx_masks, N(STATX_ALL), N(STATX_BASIC_STATS), N(STATX_TYPE), N(STATX_MODE), N(STATX_NLINK),
      N(STATX_UID), N(STATX_GID), N(STATX_ATIME), N(STATX_MTIME), N(STATX_CTIME), N(STATX_INO),
      N(STATX_SIZE), N(STATX_BLOCKS), N(STATX_BTIME), { 0x1000, "STATX_MNT_ID" }, { 0x2000, "STATX_DIOALIGN" },
      { 0x4000, "STATX_MNT_ID_UNIQUE" }, { 0x8000, "STATX_SUBVOL" }, { 0x10000, "STATX_WRITE_ATOMIC" });
FLAGS(pipe_flags, N(O_CLOEXEC), N(O_NONBLOCK), N(O_DIRECT), { 0200, "O_NOTIFICATION_PIPE" });
FLAGS(splice_flags, N(SPLICE_F_MOVE), N(SPLICE_F_NONBLOCK), N(SPLICE_F_MORE), N(SPLICE_F_GIFT));
FLAGS(sync_flags, N(SYNC_FILE_RANGE_WAIT_BEFORE), N(SYNC_FILE_RANGE_WRITE),
      N(SYNC_FILE_RANGE_WAIT_AFTER));
FLAGS(xattr_flags, N(XATTR_CREATE), N(XATTR_REPLACE));
FLAGS(inotify_flags, N(IN_CLOEXEC), N(IN_NONBLOCK));
FLAGS(mount_flags, N(MS_RDONLY), N(MS_NOSUID), N(MS_NODEV), N(MS_NOEXEC), N(MS_SYNCHRONOUS),
      N(MS_REMOUNT), N(MS_MANDLOCK), N(MS_DIRSYNC), N(MS_NOATIME), N(MS_NODIRATIME), N(MS_BIND),
      N(MS_MOVE), N(MS_REC), N(MS_SILENT), N(MS_POSIXACL), N(MS_UNBINDABLE), N(MS_PRIVATE),
      N(MS_SLAVE), N(MS_SHARED), N(MS_RELATIME), N(MS_STRICTATIME), N(MS_LAZYTIME));
FLAGS(umount_flags, N(MNT_FORCE), N(MNT_DETACH), N(MNT_EXPIRE), N(UMOUNT_NOFOLLOW));
VALUES(ioctl_commands, N(TCGETS), N(TCSETS), N(TCSETSW), N(TCSETSF), N(TIOCGWINSZ),
       N(TIOCSWINSZ), N(TIOCGPGRP), N(TIOCSPGRP), N(TIOCSCTTY), N(TIOCNOTTY), N(TIOCGPTN),
       N(TIOCSPTLCK), N(TIOCGPTPEER), N(FIONREAD), N(FIONBIO), N(FIOASYNC), N(FIOCLEX),
       N(FIONCLEX), N(FICLONE), N(FICLONERANGE), N(FIFREEZE), N(FITHAW), N(FITRIM),
       N(FS_IOC_GETFLAGS), N(FS_IOC_SETFLAGS), N(SIOCGIFCONF), N(SIOCGIFNAME), N(SIOCGIFFLAGS),
       N(SIOCGIFADDR), N(SIOCGIFINDEX), N(SIOCGIFMTU), N(SIOCGIFHWADDR), N(TIOCOUTQ),
       N(TIOCEXCL), N(TIOCGSID), N(TIOCSTI), N(TCSBRK), N(TCSBRKP), N(TCXONC), N(TCFLSH),
       N(TIOCGPTLCK), N(TIOCGDEV), { 1, "FIBMAP" }, { 2, "FIGETBSZ" },
       { 0xb701, "NS_GET_USERNS" }, { 0xb702, "NS_GET_PARENT" }, { 0xb703, "NS_GET_NSTYPE" },
       { 0xb704, "NS_GET_OWNER_UID" }, { 0xc020660b, "FS_IOC_FIEMAP" },
       { 0x8914, "SIOCSIFFLAGS" }, { 0x8922, "SIOCSIFMTU" }, { 0x8916, "SIOCSIFADDR" },
       { 0x891b, "SIOCGIFNETMASK" }, { 0x8919, "SIOCGIFBRDADDR" }, { 0x8946, "SIOCETHTOOL" },
       { 0x5603, "VT_GETSTATE" }, { 0x5460, "FIOQSIZE" }, { 0xc018aa3f, "UFFDIO_API" },
       { 0xc020aa00, "UFFDIO_REGISTER" }, { 0x8010aa01, "UFFDIO_UNREGISTER" },
       { 0x8010aa02, "UFFDIO_WAKE" }, { 0xc028aa03, "UFFDIO_COPY" },
       { 0xc020aa04, "UFFDIO_ZEROPAGE" }, { 0xc018aa06, "UFFDIO_WRITEPROTECT" },
       { 0x2400, "PERF_EVENT_IOC_ENABLE" }, { 0x2401, "PERF_EVENT_IOC_DISABLE" },
       { 0x2402, "PERF_EVENT_IOC_REFRESH" }, { 0x2403, "PERF_EVENT_IOC_RESET" },
       { 0x40082404, "PERF_EVENT_IOC_PERIOD" }, { 0x2405, "PERF_EVENT_IOC_SET_OUTPUT" },
       { 0x40082406, "PERF_EVENT_IOC_SET_FILTER" }, { 0x80082407, "PERF_EVENT_IOC_ID" },
       { 0x40042408, "PERF_EVENT_IOC_SET_BPF" }, { 0x40042409, "PERF_EVENT_IOC_PAUSE_OUTPUT" },
       { 0x80081272, "BLKGETSIZE64" }, { 0x1260, "BLKGETSIZE" }, { 0x1268, "BLKSSZGET" },
       { 0x4c00, "LOOP_SET_FD" }, { 0x4c01, "LOOP_CLR_FD" }, { 0x4c05, "LOOP_GET_STATUS64" },
       { 0x4c82, "LOOP_CTL_GET_FREE" });

/* --- events ---------------------------------------------------------------------------------- */

FLAGS(poll_events, N(POLLIN), N(POLLPRI), N(POLLOUT), N(POLLERR), N(POLLHUP), N(POLLNVAL),
      N(POLLRDNORM), N(POLLRDBAND), N(POLLWRNORM), N(POLLWRBAND), N(POLLMSG), N(POLLRDHUP));
FLAGS(epoll_flags, N(EPOLL_CLOEXEC));
VALUES(epoll_ops, N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD));
FLAGS(epoll_events, N(EPOLLIN), N(EPOLLPRI), N(EPOLLOUT), N(EPOLLERR), N(EPOLLHUP), N(EPOLLRDNORM),
      N(EPOLLRDBAND), N(EPOLLWRNORM), N(EPOLLWRBAND), N(EPOLLMSG), N(EPOLLRDHUP),
      N(EPOLLEXCLUSIVE), N(EPOLLWAKEUP), N(EPOLLONESHOT), N(EPOLLET));
FLAGS(event_flags, N(EFD_SEMAPHORE), N(EFD_CLOEXEC), N(EFD_NONBLOCK));
FLAGS(signalfd_flags, N(SFD_CLOEXEC), N(SFD_NONBLOCK));
FLAGS(timerfd_flags, N(TFD_CLOEXEC), N(TFD_NONBLOCK));
FLAGS(timer_flags, N(TIMER_ABSTIME), { 2, "TFD_TIMER_CANCEL_ON_SET" });

/* --- memory ---------------------------------------------------------------------------------- */

#ifdef MAP_32BIT
#define ONLY_X86_MAP N(MAP_32BIT),
#else
#define ONLY_X86_MAP
#endif
FLAGS(protections, N(PROT_NONE), N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_GROWSDOWN),
      N(PROT_GROWSUP));
NAMES(map_flags, 3, N(MAP_FILE), N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_SHARED_VALIDATE),
      N(MAP_FIXED), N(MAP_ANONYMOUS), ONLY_X86_MAP N(MAP_NORESERVE), N(MAP_POPULATE),
      N(MAP_NONBLOCK), N(MAP_GROWSDOWN), N(MAP_DENYWRITE), N(MAP_EXECUTABLE), N(MAP_LOCKED),
      N(MAP_STACK), N(MAP_HUGETLB), N(MAP_SYNC), N(MAP_FIXED_NOREPLACE));
FLAGS(mremap_flags, N(MREMAP_MAYMOVE), N(MREMAP_FIXED), { 4, "MREMAP_DONTUNMAP" });
FLAGS(msync_flags, N(MS_ASYNC), N(MS_INVALIDATE), N(MS_SYNC));
FLAGS(mlock_flags, N(MCL_CURRENT), N(MCL_FUTURE), N(MCL_ONFAULT));
FLAGS(memfd_flags, N(MFD_CLOEXEC), N(MFD_ALLOW_SEALING), N(MFD_HUGETLB), { 8, "MFD_NOEXEC_SEAL" },
      { 16, "MFD_EXEC" });
VALUES(advices, N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED),
       N(MADV_DONTNEED), N(MADV_FREE), N(MADV_REMOVE), N(MADV_DONTFORK), N(MADV_DOFORK),
       N(MADV_HWPOISON), N(MADV_MERGEABLE), N(MADV_UNMERGEABLE), N(MADV_HUGEPAGE),
       N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP), N(MADV_DODUMP), N(MADV_WIPEONFORK),
       N(MADV_KEEPONFORK), N(MADV_COLD), N(MADV_PAGEOUT), N(MADV_POPULATE_READ),
       N(MADV_POPULATE_WRITE), { 24, "MADV_DONTNEED_LOCKED" }, { 25, "MADV_COLLAPSE" });

/* --- processes and signals ------------------------------------------------------------------- */

FLAGS(clone_flags, N(CLONE_VM), N(CLONE_FS), N(CLONE_FILES), N(CLONE_SIGHAND), N(CLONE_PIDFD),
      N(CLONE_PTRACE), N(CLONE_VFORK), N(CLONE_PARENT), N(CLONE_THREAD), N(CLONE_NEWNS),
      N(CLONE_SYSVSEM), N(CLONE_SETTLS), N(CLONE_PARENT_SETTID), N(CLONE_CHILD_CLEARTID),
      N(CLONE_DETACHED), N(CLONE_UNTRACED), N(CLONE_CHILD_SETTID), N(CLONE_NEWCGROUP),
      N(CLONE_NEWUTS), N(CLONE_NEWIPC), N(CLONE_NEWUSER), N(CLONE_NEWPID), N(CLONE_NEWNET),
      N(CLONE_IO), { 0x100000000, "CLONE_CLEAR_SIGHAND" }, { 0x200000000, "CLONE_INTO_CGROUP" });
FLAGS(wait_flags, N(WNOHANG), N(WUNTRACED), N(WEXITED), N(WCONTINUED), N(WNOWAIT), N(__WNOTHREAD),
      N(__WALL), N(__WCLONE));
VALUES(waitid_types, N(P_ALL), N(P_PID), N(P_PGID), { 3, "P_PIDFD" });
VALUES(sigmask_hows, N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK));
FLAGS(sa_flags, { 0x04000000, "SA_RESTORER" }, N(SA_ONSTACK), N(SA_RESTART), N(SA_NODEFER),
      N(SA_RESETHAND), N(SA_SIGINFO), N(SA_NOCLDSTOP), N(SA_NOCLDWAIT));
VALUES(futex_ops, { 0, "FUTEX_WAIT" }, { 1, "FUTEX_WAKE" }, { 3, "FUTEX_REQUEUE" },
       { 4, "FUTEX_CMP_REQUEUE" }, { 5, "FUTEX_WAKE_OP" }, { 6, "FUTEX_LOCK_PI" },
       { 7, "FUTEX_UNLOCK_PI" }, { 8, "FUTEX_TRYLOCK_PI" }, { 9, "FUTEX_WAIT_BITSET" },
       { 10, "FUTEX_WAKE_BITSET" }, { 11, "FUTEX_WAIT_REQUEUE_PI" },
       { 12, "FUTEX_CMP_REQUEUE_PI" }, { 13, "FUTEX_LOCK_PI2" });
VALUES(resources, { RLIMIT_CPU, "RLIMIT_CPU" }, { RLIMIT_FSIZE, "RLIMIT_FSIZE" },
       { RLIMIT_DATA, "RLIMIT_DATA" }, { RLIMIT_STACK, "RLIMIT_STACK" },
       { RLIMIT_CORE, "RLIMIT_CORE" }, { RLIMIT_RSS, "RLIMIT_RSS" },
       { RLIMIT_NPROC, "RLIMIT_NPROC" }, { RLIMIT_NOFILE, "RLIMIT_NOFILE" },
       { RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK" }, { RLIMIT_AS, "RLIMIT_AS" },
       { RLIMIT_LOCKS, "RLIMIT_LOCKS" }, { RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING" },
       { RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE" }, { RLIMIT_NICE, "RLIMIT_NICE" },
       { RLIMIT_RTPRIO, "RLIMIT_RTPRIO" }, { RLIMIT_RTTIME, "RLIMIT_RTTIME" });
VALUES(usages, { 0, "RUSAGE_SELF" }, { (u32)-1, "RUSAGE_CHILDREN" }, { 1, "RUSAGE_THREAD" });
VALUES(priority_whichs, { 0, "PRIO_PROCESS" }, { 1, "PRIO_PGRP" }, { 2, "PRIO_USER" });
VALUES(signal_codes, { 0, "SI_USER" }, { 0x80, "SI_KERNEL" }, { (u32)-1, "SI_QUEUE" },
       { (u32)-2, "SI_TIMER" }, { (u32)-3, "SI_MESGQ" }, { (u32)-4, "SI_ASYNCIO" },
       { (u32)-5, "SI_SIGIO" }, { (u32)-6, "SI_TKILL" });
VALUES(child_codes, { 1, "CLD_EXITED" }, { 2, "CLD_KILLED" }, { 3, "CLD_DUMPED" },
       { 4, "CLD_TRAPPED" }, { 5, "CLD_STOPPED" }, { 6, "CLD_CONTINUED" });
VALUES(signal_notifications, N(SIGEV_SIGNAL), N(SIGEV_NONE), N(SIGEV_THREAD),
       { 4, "SIGEV_THREAD_ID" });
FLAGS(stack_flags, N(SS_ONSTACK), N(SS_DISABLE), { 1U << 31, "SS_AUTODISARM" });
VALUES(dumpable, { 0, "SUID_DUMP_DISABLE" }, { 1, "SUID_DUMP_USER" }, { 2, "SUID_DUMP_ROOT" });
VALUES(capability_versions, { 0x19980330, "_LINUX_CAPABILITY_VERSION_1" },
       { 0x20071026, "_LINUX_CAPABILITY_VERSION_2" },
       { 0x20080522, "_LINUX_CAPABILITY_VERSION_3" });
VALUES(capabilities, N(CAP_CHOWN), N(CAP_DAC_OVERRIDE), N(CAP_DAC_READ_SEARCH), N(CAP_FOWNER),
       N(CAP_FSETID), N(CAP_KILL), N(CAP_SETGID), N(CAP_SETUID), N(CAP_SETPCAP),
       N(CAP_LINUX_IMMUTABLE), N(CAP_NET_BIND_SERVICE), N(CAP_NET_BROADCAST), N(CAP_NET_ADMIN),
       N(CAP_NET_RAW), N(CAP_IPC_LOCK), N(CAP_IPC_OWNER), N(CAP_SYS_MODULE), N(CAP_SYS_RAWIO),
       N(CAP_SYS_CHROOT), N(CAP_SYS_PTRACE), N(CAP_SYS_PACCT), N(CAP_SYS_ADMIN), N(CAP_SYS_BOOT),
       N(CAP_SYS_NICE), N(CAP_SYS_RESOURCE), N(CAP_SYS_TIME), N(CAP_SYS_TTY_CONFIG), N(CAP_MKNOD),
       N(CAP_LEASE), N(CAP_AUDIT_WRITE), N(CAP_AUDIT_CONTROL), N(CAP_SETFCAP), N(CAP_MAC_OVERRIDE),
       N(CAP_MAC_ADMIN), N(CAP_SYSLOG), N(CAP_WAKE_ALARM), N(CAP_BLOCK_SUSPEND), N(CAP_AUDIT_READ),
       { 38, "CAP_PERFMON" }, { 39, "CAP_BPF" }, { 40, "CAP_CHECKPOINT_RESTORE" });
NAMES(schedulers, 0xff, N(SCHED_OTHER), N(SCHED_FIFO), N(SCHED_RR), N(SCHED_BATCH), N(SCHED_IDLE),
      N(SCHED_DEADLINE), { 0x40000000, "SCHED_RESET_ON_FORK" });
VALUES(prctl_options, N(PR_SET_PDEATHSIG), N(PR_GET_PDEATHSIG), N(PR_GET_DUMPABLE),
       N(PR_SET_DUMPABLE), N(PR_GET_KEEPCAPS), N(PR_SET_KEEPCAPS), N(PR_SET_NAME),
       N(PR_GET_NAME), N(PR_GET_SECCOMP), N(PR_SET_SECCOMP), N(PR_CAPBSET_READ),
       N(PR_CAPBSET_DROP), N(PR_GET_SECUREBITS), N(PR_SET_SECUREBITS), N(PR_SET_TIMERSLACK),
       N(PR_GET_TIMERSLACK), N(PR_SET_MM), N(PR_SET_CHILD_SUBREAPER),
       N(PR_GET_CHILD_SUBREAPER), N(PR_SET_NO_NEW_PRIVS), N(PR_GET_NO_NEW_PRIVS),
       N(PR_SET_THP_DISABLE), N(PR_GET_THP_DISABLE), N(PR_CAP_AMBIENT),
       { 0x53564d41, "PR_SET_VMA" }, { 0x59616d61, "PR_SET_PTRACER" },
       { 5, "PR_GET_UNALIGN" }, { 6, "PR_SET_UNALIGN" }, { 13, "PR_GET_TIMING" },
       { 14, "PR_SET_TIMING" }, { 25, "PR_GET_TSC" }, { 26, "PR_SET_TSC" },
       { 31, "PR_TASK_PERF_EVENTS_DISABLE" }, { 32, "PR_TASK_PERF_EVENTS_ENABLE" },
       { 33, "PR_MCE_KILL" }, { 34, "PR_MCE_KILL_GET" }, { 40, "PR_GET_TID_ADDRESS" },
       { 52, "PR_GET_SPECULATION_CTRL" }, { 53, "PR_SET_SPECULATION_CTRL" },
       { 55, "PR_SET_TAGGED_ADDR_CTRL" }, { 56, "PR_GET_TAGGED_ADDR_CTRL" },
       { 57, "PR_SET_IO_FLUSHER" }, { 58, "PR_GET_IO_FLUSHER" },
       { 59, "PR_SET_SYSCALL_USER_DISPATCH" }, { 62, "PR_SCHED_CORE" }, { 65, "PR_SET_MDWE" },
       { 66, "PR_GET_MDWE" }, { 67, "PR_SET_MEMORY_MERGE" }, { 68, "PR_GET_MEMORY_MERGE" });
#ifdef ARCH_SET_FS
VALUES(arch_codes, N(ARCH_SET_GS), N(ARCH_SET_FS), N(ARCH_GET_FS), N(ARCH_GET_GS),
       { 0x1011, "ARCH_GET_CPUID" }, { 0x1012, "ARCH_SET_CPUID" },
       { 0x1021, "ARCH_GET_XCOMP_SUPP" }, { 0x1022, "ARCH_GET_XCOMP_PERM" },
       { 0x1023, "ARCH_REQ_XCOMP_PERM" }, { 0x3001, "ARCH_CET_STATUS" },
       { 0x5001, "ARCH_SHSTK_ENABLE" }, { 0x5002, "ARCH_SHSTK_DISABLE" },
       { 0x5003, "ARCH_SHSTK_LOCK" }, { 0x5005, "ARCH_SHSTK_STATUS" });
#else
VALUES(arch_codes, { 0, "0" });
#endif
FLAGS(rseq_flags, { 1, "RSEQ_FLAG_UNREGISTER" });
FLAGS(grnd_flags, N(GRND_NONBLOCK), N(GRND_RANDOM), { 4, "GRND_INSECURE" });
VALUES(membarrier_commands, { 0, "MEMBARRIER_CMD_QUERY" }, { 1, "MEMBARRIER_CMD_GLOBAL" },
       { 2, "MEMBARRIER_CMD_GLOBAL_EXPEDITED" }, { 4, "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED" },
       { 8, "MEMBARRIER_CMD_PRIVATE_EXPEDITED" },
       { 16, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED" },
       { 32, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE" },
       { 64, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE" },
       { 128, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ" },
       { 256, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ" },
       { 512, "MEMBARRIER_CMD_GET_REGISTRATIONS" });
VALUES(clock_ids, N(CLOCK_REALTIME), N(CLOCK_MONOTONIC), N(CLOCK_PROCESS_CPUTIME_ID),
       N(CLOCK_THREAD_CPUTIME_ID), N(CLOCK_MONOTONIC_RAW), N(CLOCK_REALTIME_COARSE),
       N(CLOCK_MONOTONIC_COARSE), N(CLOCK_BOOTTIME), N(CLOCK_REALTIME_ALARM),
       N(CLOCK_BOOTTIME_ALARM), N(CLOCK_TAI));
VALUES(itimers, { 0, "ITIMER_REAL" }, { 1, "ITIMER_VIRTUAL" }, { 2, "ITIMER_PROF" });

/* --- network --------------------------------------------------------------------------------- */

VALUES(socket_families, N(AF_UNSPEC), N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK),
       N(AF_PACKET), N(AF_KEY), N(AF_CAN), N(AF_BLUETOOTH), N(AF_ALG), N(AF_VSOCK), N(AF_XDP));
NAMES(socket_types, 0xf, { SOCK_STREAM, "SOCK_STREAM" }, { SOCK_DGRAM, "SOCK_DGRAM" },
      { SOCK_RAW, "SOCK_RAW" }, { SOCK_RDM, "SOCK_RDM" }, { SOCK_SEQPACKET, "SOCK_SEQPACKET" },
      { SOCK_CLOEXEC, "SOCK_CLOEXEC" }, { SOCK_NONBLOCK, "SOCK_NONBLOCK" });
VALUES(shutdown_hows, { 0, "SHUT_RD" }, { 1, "SHUT_WR" }, { 2, "SHUT_RDWR" });
FLAGS(rw_flags, { 1, "RWF_HIPRI" }, { 2, "RWF_DSYNC" }, { 4, "RWF_SYNC" }, { 8, "RWF_NOWAIT" },
      { 16, "RWF_APPEND" }, { 32, "RWF_NOAPPEND" }, { 64, "RWF_ATOMIC" },
      { 128, "RWF_DONTCACHE" });
FLAGS(message_flags, { MSG_OOB, "MSG_OOB" }, { MSG_PEEK, "MSG_PEEK" },
      { MSG_DONTROUTE, "MSG_DONTROUTE" }, { MSG_CTRUNC, "MSG_CTRUNC" }, { MSG_TRUNC, "MSG_TRUNC" },
      { MSG_DONTWAIT, "MSG_DONTWAIT" }, { MSG_EOR, "MSG_EOR" }, { MSG_WAITALL, "MSG_WAITALL" },
      { MSG_CONFIRM, "MSG_CONFIRM" }, { MSG_ERRQUEUE, "MSG_ERRQUEUE" },
      { MSG_NOSIGNAL, "MSG_NOSIGNAL" }, { MSG_MORE, "MSG_MORE" },
      { MSG_WAITFORONE, "MSG_WAITFORONE" }, { MSG_FASTOPEN, "MSG_FASTOPEN" },
      { MSG_CMSG_CLOEXEC, "MSG_CMSG_CLOEXEC" });
VALUES(level_names, { 0, "SOL_IP" }, { 1, "SOL_SOCKET" }, { 6, "SOL_TCP" }, { 17, "SOL_UDP" },
       { 41, "SOL_IPV6" }, { 58, "SOL_ICMPV6" }, { 132, "SOL_SCTP" }, { 255, "SOL_RAW" },
       { 263, "SOL_PACKET" }, { 270, "SOL_NETLINK" }, { 277, "SOL_IUCV" }, { 279, "SOL_ALG" },
       { 282, "SOL_TLS" }, { 283, "SOL_XDP" }, { 284, "SOL_MPTCP" }, { 287, "SOL_VSOCK" });
/* Control messages: types that the C library names differently, or not at all. */
VALUES(socket_control_types, { 1, "SCM_RIGHTS" }, { 2, "SCM_CREDENTIALS" }, { 3, "SCM_SECURITY" },
       { 4, "SCM_PIDFD" }, { 29, "SO_TIMESTAMP_OLD" }, { 35, "SO_TIMESTAMPNS_OLD" },
       { 37, "SO_TIMESTAMPING_OLD" });
VALUES(ip_control_types, { 1, "IP_TOS" }, { 2, "IP_TTL" }, { 7, "IP_RETOPTS" }, { 8, "IP_PKTINFO" },
       { 11, "IP_RECVERR" }, { 20, "IP_ORIGDSTADDR" });
/* For SOL_SOCKET. */
VALUES(socket_options, N(SO_DEBUG), N(SO_REUSEADDR), N(SO_TYPE), N(SO_ERROR), N(SO_DONTROUTE),
       N(SO_BROADCAST), N(SO_SNDBUF), N(SO_RCVBUF), N(SO_KEEPALIVE), N(SO_OOBINLINE),
       N(SO_PRIORITY), N(SO_LINGER), N(SO_REUSEPORT), N(SO_PASSCRED), N(SO_PEERCRED),
       N(SO_RCVLOWAT), N(SO_SNDLOWAT), N(SO_RCVTIMEO), N(SO_SNDTIMEO), N(SO_BINDTODEVICE),
       N(SO_ATTACH_FILTER), N(SO_DETACH_FILTER), N(SO_PEERNAME), N(SO_ACCEPTCONN), N(SO_PEERSEC),
       N(SO_SNDBUFFORCE), N(SO_RCVBUFFORCE), N(SO_PASSSEC), N(SO_MARK), N(SO_PROTOCOL),
       N(SO_DOMAIN), N(SO_BUSY_POLL), N(SO_INCOMING_CPU), { 29, "SO_TIMESTAMP_OLD" },
       { 35, "SO_TIMESTAMPNS_OLD" }, { 37, "SO_TIMESTAMPING_OLD" }, { 11, "SO_NO_CHECK" },
       { 14, "SO_BSDCOMPAT" }, { 40, "SO_RXQ_OVFL" }, { 41, "SO_WIFI_STATUS" },
       { 42, "SO_PEEK_OFF" }, { 43, "SO_NOFCS" }, { 44, "SO_LOCK_FILTER" },
       { 45, "SO_SELECT_ERR_QUEUE" }, { 47, "SO_MAX_PACING_RATE" }, { 48, "SO_BPF_EXTENSIONS" },
       { 50, "SO_ATTACH_BPF" }, { 51, "SO_ATTACH_REUSEPORT_CBPF" },
       { 52, "SO_ATTACH_REUSEPORT_EBPF" }, { 53, "SO_CNX_ADVICE" }, { 55, "SO_MEMINFO" },
       { 56, "SO_INCOMING_NAPI_ID" }, { 57, "SO_COOKIE" }, { 59, "SO_PEERGROUPS" },
       { 60, "SO_ZEROCOPY" }, { 61, "SO_TXTIME" }, { 62, "SO_BINDTOIFINDEX" },
       { 63, "SO_TIMESTAMP_NEW" }, { 64, "SO_TIMESTAMPNS_NEW" }, { 65, "SO_TIMESTAMPING_NEW" },
       { 66, "SO_RCVTIMEO_NEW" }, { 67, "SO_SNDTIMEO_NEW" }, { 68, "SO_DETACH_REUSEPORT_BPF" },
       { 69, "SO_PREFER_BUSY_POLL" }, { 70, "SO_BUSY_POLL_BUDGET" }, { 71, "SO_NETNS_COOKIE" },
       { 72, "SO_BUF_LOCK" }, { 73, "SO_RESERVE_MEM" }, { 74, "SO_TXREHASH" },
       { 75, "SO_RCVMARK" }, { 76, "SO_PASSPIDFD" }, { 77, "SO_PEERPIDFD" });

/* Options of SOL_SOCKET whose number has another name in getsockopt than in setsockopt. */
VALUES(told_socket_options, { 26, "SO_GET_FILTER" });

/* For SOL_IP, SOL_IPV6, SOL_TCP. */
VALUES(ip_options, N(IP_TOS), N(IP_TTL), N(IP_HDRINCL), N(IP_OPTIONS), N(IP_RECVOPTS), N(IP_RETOPTS),
       N(IP_PKTINFO), N(IP_MTU_DISCOVER), N(IP_RECVERR), N(IP_RECVTTL), N(IP_RECVTOS), N(IP_MTU),
       N(IP_FREEBIND), N(IP_TRANSPARENT), N(IP_RECVORIGDSTADDR), N(IP_MINTTL),
       N(IP_BIND_ADDRESS_NO_PORT), N(IP_MULTICAST_IF), N(IP_MULTICAST_TTL), N(IP_MULTICAST_LOOP),
       N(IP_ADD_MEMBERSHIP), N(IP_DROP_MEMBERSHIP));
VALUES(ipv6_options, N(IPV6_UNICAST_HOPS), N(IPV6_MULTICAST_IF), N(IPV6_MULTICAST_HOPS),
       N(IPV6_MULTICAST_LOOP), N(IPV6_MTU_DISCOVER), N(IPV6_MTU), N(IPV6_RECVERR), N(IPV6_V6ONLY),
       N(IPV6_RECVPKTINFO), N(IPV6_PKTINFO), N(IPV6_RECVHOPLIMIT), N(IPV6_RECVTCLASS),
       N(IPV6_TCLASS), N(IPV6_TRANSPARENT), N(IPV6_FREEBIND), { 1, "IPV6_ADDRFORM" },
       { 7, "IPV6_CHECKSUM" }, { 20, "IPV6_ADD_MEMBERSHIP" }, { 21, "IPV6_DROP_MEMBERSHIP" },
       { 33, "IPV6_FLOWINFO_SEND" }, { 72, "IPV6_ADDR_PREFERENCES" },
       { 74, "IPV6_ORIGDSTADDR" });
VALUES(tcp_options, N(TCP_NODELAY), N(TCP_MAXSEG), N(TCP_CORK), N(TCP_KEEPIDLE), N(TCP_KEEPINTVL),
       N(TCP_KEEPCNT), N(TCP_SYNCNT), N(TCP_LINGER2), N(TCP_DEFER_ACCEPT), N(TCP_WINDOW_CLAMP),
       N(TCP_INFO), N(TCP_QUICKACK), N(TCP_CONGESTION), N(TCP_MD5SIG), N(TCP_USER_TIMEOUT),
       N(TCP_FASTOPEN), N(TCP_ULP), N(TCP_FASTOPEN_CONNECT), { 16, "TCP_THIN_LINEAR_TIMEOUTS" },
       { 17, "TCP_THIN_DUPACK" }, { 19, "TCP_REPAIR" }, { 20, "TCP_REPAIR_QUEUE" },
       { 21, "TCP_QUEUE_SEQ" }, { 22, "TCP_REPAIR_OPTIONS" }, { 24, "TCP_TIMESTAMP" },
       { 25, "TCP_NOTSENT_LOWAT" }, { 26, "TCP_CC_INFO" }, { 27, "TCP_SAVE_SYN" },
       { 28, "TCP_SAVED_SYN" }, { 29, "TCP_REPAIR_WINDOW" }, { 32, "TCP_MD5SIG_EXT" },
       { 33, "TCP_FASTOPEN_KEY" }, { 34, "TCP_FASTOPEN_NO_COOKIE" },
       { 35, "TCP_ZEROCOPY_RECEIVE" }, { 36, "TCP_INQ" }, { 37, "TCP_TX_DELAY" });

/* --- as text --------------------------------------------------------------------------------- */

const char *value_names__find(const struct value_names *names, u64 value)
{
	const struct value_name *n;

	for (n = names->name; n->name; n++)
		if (n->value == value)
			return n->name;
	return NULL;
}

void value_names__put(FILE *f, const struct value_names *names, u64 value)
{
	u64 one = value & names->mask, left = value & ~names->mask;
	const struct value_name *n;
	const char *name = value_names__find(names, one), *bar = "";

	constant__begin(f, CONSTANT_HEX, value);
	if (name && (one || !left)) {
		fputs(name, f);
		bar = "|";
	} else if (one || names->mask == VALUE_ONLY || !left) {
		fprintf(f, one ? "%#llx" : "%llx", one);
		bar = "|";
	}
	for (n = names->name; n->name && left; n++) {
		if (n->value & names->mask || !n->value || (left & n->value) != n->value)
			continue;
		fprintf(f, "%s%s", bar, n->name);
		left &= ~n->value;
		bar = "|";
	}
	if (left)
		fprintf(f, "%s%#llx", bar, left);
	constant__end(f);
}

void signal_name__put(FILE *f, u64 number)
{
	const char *name = number < 32 ? sigabbrev_np(number) : NULL;

	/* The kernel's name; the C library may call it SIGPOLL. */
	if (number == SIGIO)
		name = "IO";

	constant__begin(f, CONSTANT_DECIMAL, number);
	if (name)
		fprintf(f, "SIG%s", name);
	else if (number >= 32 && number <= 64)
		fprintf(f, number == 32 ? "SIGRTMIN" : "SIGRT_%llu", number - 32);
	else
		fprintf(f, "%d", (int)number);
	constant__end(f);
}
