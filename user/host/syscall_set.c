// SPDX-License-Identifier: BSD-2-Clause
#include "host/syscall_set.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

#define NAME_SPACE 64           /* the longest name has 24 letters */

/*
 * The arguments and results of a call decide its class: a path, a descriptor, processes, sockets, the address space,
 * signals, System V IPC, ids and capabilities, the wall clock. Words are names or globs of calls in either table.
 */
static const struct {
	const char *name, *calls;
} classes[] = {
	{ "file",
	  "open openat openat2 open_tree* creat access faccessat faccessat2 stat stat64 oldstat "
	  "lstat lstat64 oldlstat newfstatat fstatat64 statx statfs statfs64 getcwd chdir chroot "
	  "pivot_root rename renameat renameat2 mkdir mkdirat rmdir link linkat unlink unlinkat "
	  "symlink symlinkat readlink readlinkat chmod fchmodat fchmodat2 chown chown32 lchown "
	  "lchown32 fchownat truncate truncate64 utime utimes utimensat* futimesat mknod mknodat "
	  "setxattr lsetxattr setxattrat getxattr lgetxattr getxattrat listxattr llistxattr "
	  "listxattrat removexattr lremovexattr removexattrat mount umount umount2 move_mount "
	  "mount_setattr fspick fsconfig swapon swapoff acct uselib quotactl execve execveat "
	  "inotify_add_watch fanotify_mark name_to_handle_at file_getattr file_setattr" },
	{ "desc",
	  "read write readv writev pread64 pwrite64 preadv* pwritev* lseek _llseek close "
	  "close_range dup dup2 dup3 fcntl fcntl64 ioctl flock fsync fdatasync syncfs "
	  "sync_file_range ftruncate ftruncate64 fallocate fadvise64* readahead cachestat "
	  "open openat openat2 open_by_handle_at open_tree* creat fstat fstat64 oldfstat fstatfs "
	  "fstatfs64 newfstatat fstatat64 statx fchdir fchmod fchown fchown32 fchmodat fchmodat2 "
	  "fchownat faccessat faccessat2 mkdirat mknodat linkat unlinkat symlinkat readlinkat "
	  "renameat renameat2 utimensat* futimesat name_to_handle_at execveat "
	  "getdents getdents64 readdir fsetxattr fgetxattr flistxattr fremovexattr *xattrat "
	  "pipe pipe2 poll ppoll* select _newselect pselect6* epoll_create* epoll_ctl epoll_wait "
	  "epoll_pwait* eventfd eventfd2 signalfd signalfd4 timerfd_* inotify_* fanotify_* "
	  "userfaultfd memfd_create memfd_secret mmap mmap2 splice tee vmsplice copy_file_range "
	  "sendfile sendfile64 perf_event_open bpf mq_open mq_timedsend* mq_timedreceive* "
	  "mq_notify mq_getsetattr io_uring_* pidfd_* process_madvise process_mrelease setns "
	  "fsopen fsconfig fsmount fspick move_mount mount_setattr quotactl_fd finit_module "
	  "kexec_file_load landlock_create_ruleset landlock_add_rule landlock_restrict_self "
	  "file_getattr file_setattr" },
	{ "process",
	  "fork vfork clone clone3 execve execveat exit exit_group wait4 waitid waitpid kill tkill "
	  "tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal "
	  "process_mrelease" },
	{ "network",
	  "socket socketpair bind listen accept accept4 connect shutdown getsockname getpeername "
	  "getsockopt setsockopt sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg* sendfile "
	  "sendfile64 socketcall getpmsg putpmsg" },
	{ "memory",
	  "brk mmap mmap2 munmap mremap mprotect pkey_mprotect msync mincore madvise "
	  "process_madvise mlock mlock2 munlock mlockall munlockall remap_file_pages mbind "
	  "set_mempolicy* get_mempolicy migrate_pages move_pages shmat shmdt io_setup io_destroy "
	  "map_shadow_stack mseal" },
	{ "signal",
	  "rt_sig* sigaction signal sigreturn sigprocmask sigpending sigsuspend sgetmask ssetmask "
	  "sigaltstack pause kill tkill tgkill rt_tgsigqueueinfo signalfd signalfd4 "
	  "pidfd_send_signal" },
	{ "ipc",
	  "ipc shmget shmat shmdt shmctl semget semop semctl semtimedop* msgget msgsnd msgrcv "
	  "msgctl" },
	{ "creds",
	  "getuid geteuid getgid getegid getresuid getresgid setuid setgid setreuid setregid "
	  "setresuid setresgid setfsuid setfsgid getgroups setgroups getuid32 geteuid32 getgid32 "
	  "getegid32 getresuid32 getresgid32 setuid32 setgid32 setreuid32 setregid32 setresuid32 "
	  "setresgid32 setfsuid32 setfsgid32 getgroups32 setgroups32 capget capset prctl" },
	/* Variants of stat by name, link and descriptor; and of statfs. */
	{ "stat", "stat stat64 oldstat" },
	{ "lstat", "lstat lstat64 oldlstat" },
	{ "fstat", "fstat fstat64 oldfstat fstatat64 newfstatat" },
	{ "%stat",
	  "stat stat64 oldstat lstat lstat64 oldlstat fstat fstat64 oldfstat fstatat64 newfstatat "
	  "statx" },
	{ "statfs", "statfs statfs64" },
	{ "fstatfs", "fstatfs fstatfs64" },
	{ "%statfs", "statfs statfs64 fstatfs fstatfs64 ustat" },
	/* Calls without arguments that never fail. */
	{ "pure",
	  "getpid getppid gettid getpgrp getuid geteuid getgid getegid getuid32 geteuid32 getgid32 "
	  "getegid32" },
	{ "clock",
	  "time stime ftime gettimeofday settimeofday adjtimex clock_adjtime clock_adjtime64 "
	  "clock_settime clock_settime64 clock_gettime clock_gettime64 clock_getres "
	  "clock_getres_time64" },
};

/* Further aliases that strace(1) accepts. */
static const struct {
	const char *name, *class_name;
} aliases[] = {
	{ "net", "network" }, { "cred", "creds" },
};

const char *syscall_class_name(size_t i)
{
	return i < ARRAY_SIZE(classes) ? classes[i].name : NULL;
}

const char *syscall_classes(void)
{
	return "file, desc, process, network, memory, signal, ipc, creds, clock, stat, lstat, fstat, "
	       "%stat, statfs, fstatfs, %statfs, pure";
}

const char *syscall_class_words(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(aliases[i].name, name))
			name = aliases[i].class_name;
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (!strcmp(classes[i].name, name))
			return classes[i].calls;
	return NULL;
}

static void put(struct syscall_set *set, enum syscall_abi abi, u32 number, bool in)
{
	u64 bit = 1ULL << number % 64;

	if (in)
		set->bits[abi][number / 64] |= bit;
	else
		set->bits[abi][number / 64] &= ~bit;
}

/* Adds or removes the calls that match the glob. Returns the number of matches in both tables. */
static u32 put_matching(struct syscall_set *set, const char *glob, bool in)
{
	const char *name;
	u32 abi, i, n = 0;

	for (abi = 0; abi < SYSCALL_ABIS; abi++) {
		for (i = 0; i < SYSCALL_NUMBERS; i++) {
			name = syscall_name(abi, i);
			if (!name || fnmatch(glob, name, 0))
				continue;
			put(set, abi, i, in);
			n++;
		}
	}
	return n;
}

/* Copies the next word. Returns false if none is left. */
static bool next_word(const char **words, char word[NAME_SPACE])
{
	size_t len;

	*words += strspn(*words, " ");
	len = strcspn(*words, " ");
	snprintf(word, NAME_SPACE, "%.*s", (int)len, *words);
	*words += len;
	return len;
}

static void put_class(struct syscall_set *set, const char *words, bool in)
{
	char word[NAME_SPACE];

	while (next_word(&words, word))
		put_matching(set, word, in);
}

bool syscall_is_in_class(const char *class_name, const char *call)
{
	const char *words = syscall_class_words(class_name);
	char word[NAME_SPACE];

	while (words && next_word(&words, word))
		if (!fnmatch(word, call, 0))
			return true;
	return false;
}

void syscall_set__all(struct syscall_set *set)
{
	memset(set, 0xff, sizeof(*set));
}

void syscall_set__add(struct syscall_set *set, const struct syscall_set *more)
{
	u32 abi, i;

	for (abi = 0; abi < SYSCALL_ABIS; abi++)
		for (i = 0; i < ARRAY_SIZE(set->bits[abi]); i++)
			set->bits[abi][i] |= more->bits[abi][i];
}

bool syscall_set__has(const struct syscall_set *set, enum syscall_abi abi, u32 number)
{
	return number < SYSCALL_NUMBERS && set->bits[abi][number / 64] & 1ULL << number % 64;
}

/* Suggests the nearest name of either table or of a class. */
static void hint_at_nearest(struct complaint *c, const char *word)
{
	const char **names, *name = NULL;
	u32 abi, i;
	size_t n = 0;

	names = calloc(SYSCALL_ABIS * SYSCALL_NUMBERS + ARRAY_SIZE(classes), sizeof(*names));
	if (!names)
		return;
	for (abi = 0; abi < SYSCALL_ABIS && *word != '%'; abi++) {
		for (i = 0; i < SYSCALL_NUMBERS; i++) {
			name = syscall_name(abi, i);
			if (name)
				names[n++] = name;
		}
	}
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		names[n++] = classes[i].name;
	name = nearest(word + (*word == '%'), names, n);
	free(names);
	if (name)
		complain_hint(c, 0, "did you mean %s%s?", syscall_class_words(name) ? "%" : "", name);
	else
		complain_hint(c, 0, "classes are %s", syscall_classes());
}

/* at: offset of the word in the whole text. */
static int put_word(struct syscall_set *set, const char *word, bool in, size_t at,
		    struct complaint *c)
{
	bool is_call = syscall_number_in(SYSCALL_NATIVE, word) >= 0;
	const char *calls = is_call ? NULL : syscall_class_words(word + (*word == '%'));

	if (!*word)
		return complain(c, -EINVAL, at, 0, "expected a name here");
	if (!strcmp(word, "all")) {
		memset(set, in ? 0xff : 0, sizeof(*set));
		return 0;
	}
	if (calls) {
		put_class(set, calls, in);
		return 0;
	}
	if (*word != '%' && put_matching(set, word, in))
		return 0;
	complain(c, -ENOENT, at, strlen(word),
		 *word == '%'	       ? "unknown class of system calls" :
		 strpbrk(word, "*?[") ? "no system call matches this" :
					"unknown system call");
	hint_at_nearest(c, word);
	return -ENOENT;
}

int syscall_set__parse(struct syscall_set *set, const char *text, struct complaint *c)
{
	bool all_but = *text == '!', out;
	const char *p = text + all_but;
	char word[NAME_SPACE];
	size_t len;
	int err;

	memset(set, all_but ? 0xff : 0, sizeof(*set));
	for (;; p += len + 1) {
		out = *p == '!';
		p += out;
		len = strcspn(p, ",");
		if (len >= sizeof(word))
			return complain(c, -EINVAL, p - text, len, "this name is too long");
		memcpy(word, p, len);
		word[len] = 0;
		err = put_word(set, word, !out && !all_but, p - text, c);
		if (err || !p[len])
			return err;
	}
}
