/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that newer architectures, such as arm64, lack. Where they exist they are made directly, elsewhere by the
 * call that has replaced them, as the C library does. Results are those of syscall(2).
 */
#ifndef TALLY_OLD_CALLS_H
#define TALLY_OLD_CALLS_H

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define OLD_SIGSET_BYTES 8

static inline long old__open(const char *path, int flags, int mode)
{
#ifdef SYS_open
	return syscall(SYS_open, path, flags, mode);
#else
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
#endif
}

static inline long old__creat(const char *path, int mode)
{
#ifdef SYS_creat
	return syscall(SYS_creat, path, mode);
#else
	return old__open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
#endif
}

static inline long old__unlink(const char *path)
{
#ifdef SYS_unlink
	return syscall(SYS_unlink, path);
#else
	return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
#endif
}

static inline long old__rename(const char *from, const char *to)
{
#ifdef SYS_rename
	return syscall(SYS_rename, from, to);
#else
	return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
#endif
}

static inline long old__mkdir(const char *path, int mode)
{
#ifdef SYS_mkdir
	return syscall(SYS_mkdir, path, mode);
#else
	return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
#endif
}

static inline long old__access(const char *path, int mode)
{
#ifdef SYS_access
	return syscall(SYS_access, path, mode);
#else
	return syscall(SYS_faccessat, AT_FDCWD, path, mode);
#endif
}

static inline long old__dup2(int from, int to)
{
#ifdef SYS_dup2
	return syscall(SYS_dup2, from, to);
#else
	return syscall(SYS_dup3, from, to, 0);
#endif
}

static inline long old__poll(void *fds, unsigned int n, int ms)
{
#ifdef SYS_poll
	return syscall(SYS_poll, fds, n, ms);
#else
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	return syscall(SYS_ppoll, fds, n, ms < 0 ? NULL : &time, NULL, OLD_SIGSET_BYTES);
#endif
}

static inline long old__select(int n, void *in, void *out, void *except, struct timeval *time)
{
#ifdef SYS_select
	return syscall(SYS_select, n, in, out, except, time);
#else
	struct timespec left = { time ? time->tv_sec : 0, time ? time->tv_usec * 1000L : 0 };

	return syscall(SYS_pselect6, n, in, out, except, time ? &left : NULL, NULL);
#endif
}

static inline long old__epoll_wait(int fd, void *events, int most, int ms)
{
#ifdef SYS_epoll_wait
	return syscall(SYS_epoll_wait, fd, events, most, ms);
#else
	return syscall(SYS_epoll_pwait, fd, events, most, ms, NULL, OLD_SIGSET_BYTES);
#endif
}

static inline long old__pause(void)
{
#ifdef SYS_pause
	return syscall(SYS_pause);
#else
	return syscall(SYS_ppoll, NULL, 0, NULL, NULL, OLD_SIGSET_BYTES);
#endif
}

#endif /* TALLY_OLD_CALLS_H */
