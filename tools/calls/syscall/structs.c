// SPDX-License-Identifier: BSD-2-Clause
/* Structs of the kernel's ABI as text: the relevant members, by name. */
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "host/errno_name.h"
#include "host/open_flags.h"
#include "calls/syscall/constants.h"
#include "calls/syscall/decode.h"
#include "calls/syscall/facts.h"
#include "calls/syscall/signals.h"
#include "calls/syscall/text.h"

/* The kernel's struct, which differs from the C library's. */
struct kernel_sigaction {
	u64 handler, flags, restorer, mask;
};

static void put_timespec(FILE *f, const struct timespec *t)
{
	fprintf(f, "{tv_sec=%lld, tv_nsec=%lld}", (long long)t->tv_sec, (long long)t->tv_nsec);
}

static void put_timeval(FILE *f, const struct timeval *t)
{
	fprintf(f, "{tv_sec=%lld, tv_usec=%lld}", (long long)t->tv_sec, (long long)t->tv_usec);
}

static void put_mode(FILE *f, u32 mode)
{
	static const char *const types[16] = {
		[S_IFSOCK >> 12] = "S_IFSOCK", [S_IFLNK >> 12] = "S_IFLNK",
		[S_IFREG >> 12] = "S_IFREG",   [S_IFBLK >> 12] = "S_IFBLK",
		[S_IFDIR >> 12] = "S_IFDIR",   [S_IFCHR >> 12] = "S_IFCHR",
		[S_IFIFO >> 12] = "S_IFIFO",
	};
	const char *type = types[mode >> 12 & 15];

	constant__begin(f, CONSTANT_OCTAL, mode);
	if (type)
		fprintf(f, "%s|%04o", type, mode & 07777);
	else
		fprintf(f, "%#o", mode);
	constant__end(f);
}

static void put_rlimit(FILE *f, const char *name, u64 value)
{
	fprintf(f, "%s=", name);
	constant__begin(f, CONSTANT_UNSIGNED, value);
	if (value == UINT64_MAX)
		fputs("RLIM64_INFINITY", f);
	else
		fprintf(f, "%llu", value);
	constant__end(f);
}

static void put_sigaction(FILE *f, const struct kernel_sigaction *a)
{
	fputs("{sa_handler=", f);
	constant__begin(f, CONSTANT_HEX, a->handler);
	if (a->handler <= 1)
		fputs(a->handler ? "SIG_IGN" : "SIG_DFL", f);
	else
		fprintf(f, "%#llx", a->handler);
	constant__end(f);
	fputs(", sa_mask=", f);
	sigset__put(f, a->mask);
	fputs(", sa_flags=", f);
	value_names__put(f, &sa_flags, a->flags);
	if (a->flags & 0x04000000)
		fprintf(f, ", sa_restorer=%#llx", a->restorer);
	fputc('}', f);
}

static void put_wait_status(FILE *f, int status)
{
	if (WIFEXITED(status)) {
		fprintf(f, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(status));
	} else if (WIFSIGNALED(status)) {
		fputs("[{WIFSIGNALED(s) && WTERMSIG(s) == ", f);
		signal_name__put(f, WTERMSIG(status));
		fputs(WCOREDUMP(status) ? " && WCOREDUMP(s)}]" : "}]", f);
	} else if (WIFSTOPPED(status)) {
		fputs("[{WIFSTOPPED(s) && WSTOPSIG(s) == ", f);
		signal_name__put(f, WSTOPSIG(status));
		fputs("}]", f);
	} else {
		fprintf(f, "[%#x]", status);
	}
}

static void put_epoll_event(FILE *f, const struct epoll_event *e)
{
	fputs("{events=", f);
	value_names__put(f, &epoll_events, e->events);
	fprintf(f, ", data=%#llx}", (unsigned long long)e->data.u64);
}

void clone_args__put(FILE *f, const void *data, size_t bytes)
{
	struct clone_args a = {};

	memcpy(&a, data, bytes < sizeof(a) ? bytes : sizeof(a));
	fputs("{flags=", f);
	value_names__put(f, &clone_flags, a.flags);
	if (a.flags & CLONE_PIDFD)
		fprintf(f, ", pidfd=%#llx", (u64)a.pidfd);
	if (a.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
		fprintf(f, ", child_tid=%#llx", (u64)a.child_tid);
	if (a.flags & CLONE_PARENT_SETTID)
		fprintf(f, ", parent_tid=%#llx", (u64)a.parent_tid);
	fputs(", exit_signal=", f);
	if (a.exit_signal)
		signal_name__put(f, a.exit_signal);
	else
		fputc('0', f);
	fputs(", stack=", f);
	pointer__put(f, a.stack);
	fprintf(f, a.stack_size ? ", stack_size=%#llx" : ", stack_size=%llu", (u64)a.stack_size);
	if (a.flags & CLONE_SETTLS)
		fprintf(f, ", tls=%#llx", (u64)a.tls);
	if (a.set_tid)
		fprintf(f, ", set_tid=%#llx", (u64)a.set_tid);
	if (a.set_tid_size)
		fprintf(f, ", set_tid_size=%llu", (u64)a.set_tid_size);
	if (a.flags & 0x200000000 /* CLONE_INTO_CGROUP */)
		fprintf(f, ", cgroup=%llu", (u64)a.cgroup);
	fputc('}', f);
}

static void put_open_how(FILE *f, const struct open_how *h)
{
	char text[OPEN_FLAGS_SPACE];

	fputs("{flags=", f);
	constant__begin(f, CONSTANT_HEX, h->flags);
	fputs(open_flags(text, h->flags), f);
	constant__end(f);
	if (open_flags_create(h->flags))
		fprintf(f, ", mode=%#llo", h->mode);
	if (h->resolve)
		fputs(", resolve=", f);
	if (h->resolve)
		value_names__put(f, &resolve_flags, h->resolve);
	fputc('}', f);
}

static void put_file_time(FILE *f, const struct timespec *t)
{
	if (t->tv_nsec == UTIME_NOW)
		fputs("UTIME_NOW", f);
	else if (t->tv_nsec == UTIME_OMIT)
		fputs("UTIME_OMIT", f);
	else
		put_timespec(f, t);
}

static void put_file_times(FILE *f, const struct timespec *t)
{
	fputc('[', f);
	put_file_time(f, &t[0]);
	fputs(", ", f);
	put_file_time(f, &t[1]);
	fputc(']', f);
}

static void put_timevals(FILE *f, const struct timeval *t)
{
	fputc('[', f);
	put_timeval(f, &t[0]);
	fputs(", ", f);
	put_timeval(f, &t[1]);
	fputc(']', f);
}

static void put_rlimits(FILE *f, const struct rlimit *limit)
{
	put_rlimit(f, "{rlim_cur", limit->rlim_cur);
	put_rlimit(f, ", rlim_max", limit->rlim_max);
	fputc('}', f);
}

/* it_interval and it_value consist of timespecs or timevals, which have the same size. */
static void put_itimer(FILE *f, const void *data, bool microseconds)
{
	const struct timespec *t = data;
	const struct timeval *u = data;

	fputs("{it_interval=", f);
	if (microseconds)
		put_timeval(f, &u[0]);
	else
		put_timespec(f, &t[0]);
	fputs(", it_value=", f);
	if (microseconds)
		put_timeval(f, &u[1]);
	else
		put_timespec(f, &t[1]);
	fputc('}', f);
}

/* move_pages(2): puts the node of a page, or its error. */
static void put_page_status(FILE *f, int node)
{
	const char *error = node < 0 && node > -4096 ? errno_name(-node) : NULL;

	if (error)
		fprintf(f, "-%s", error);
	else
		fprintf(f, "%d", node);
}

static void put_int(FILE *f, enum struct_layout layout, int value)
{
	switch (layout) {
	case STRUCT_WAIT_STATUS:
		put_wait_status(f, value);
		break;
	case STRUCT_PAGE_STATUS:
		put_page_status(f, value);
		break;
	case STRUCT_NODE:
		fprintf(f, "%d", value);
		break;
	default:
		fprintf(f, "%u", (u32)value);
	}
}

static void put_stat(FILE *f, const struct stat *st)
{
	fputs("{st_mode=", f);
	put_mode(f, st->st_mode);
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		fprintf(f, ", st_rdev=makedev(%#x, %#x), ...}", major(st->st_rdev),
			minor(st->st_rdev));
	else
		fprintf(f, ", st_size=%lld, ...}", (long long)st->st_size);
}

static void put_statx(FILE *f, const struct statx *st)
{
	fputs("{stx_mask=", f);
	value_names__put(f, &statx_masks, st->stx_mask);
	fputs(", stx_attributes=", f);
	value_names__put(f, &statx_attributes, st->stx_attributes);
	fputs(", stx_mode=", f);
	put_mode(f, st->stx_mode);
	fprintf(f, ", stx_size=%llu, ...}", (unsigned long long)st->stx_size);
}

void struct__put(FILE *f, enum struct_layout layout, const void *data)
{
	const int *i = data;

	switch (layout) {
	case STRUCT_INT:
		fprintf(f, "[%d]", i[0]);
		break;
	case STRUCT_FD_PAIR:
		fprintf(f, "[%d, %d]", i[0], i[1]);
		break;
	case STRUCT_OFFSET:
		fprintf(f, "[%lld]", *(const long long *)data);
		break;
	case STRUCT_TIMESPEC:
		put_timespec(f, data);
		break;
	case STRUCT_TIMESPEC_PAIR:
		put_file_times(f, data);
		break;
	case STRUCT_TIMEVAL:
		put_timeval(f, data);
		break;
	case STRUCT_ITIMERSPEC:
		put_itimer(f, data, false);
		break;
	case STRUCT_ITIMERVAL:
		put_itimer(f, data, true);
		break;
	case STRUCT_STAT:
		put_stat(f, data);
		break;
	case STRUCT_STATX:
		put_statx(f, data);
		break;
	case STRUCT_RLIMIT:
		put_rlimits(f, data);
		break;
	case STRUCT_SIGSET:
		sigset__put(f, *(const u64 *)data);
		break;
	case STRUCT_SIGACTION:
		put_sigaction(f, data);
		break;
	case STRUCT_EPOLL_EVENT:
		put_epoll_event(f, data);
		break;
	case STRUCT_CLONE_ARGS:
		clone_args__put(f, data, sizeof(struct clone_args));
		break;
	case STRUCT_OPEN_HOW:
		put_open_how(f, data);
		break;
	case STRUCT_PAGE:
		pointer__put(f, *(const u64 *)data);
		break;
	case STRUCT_ID:
	case STRUCT_NODE:
	case STRUCT_PAGE_STATUS:
	case STRUCT_WAIT_STATUS:
		put_int(f, layout, i[0]);
		break;
	case STRUCT_RUSAGE:
		rusage__put(f, data);
		break;
	case STRUCT_TMS:
		tms__put(f, data);
		break;
	case STRUCT_SYSINFO:
		sysinfo__put(f, data);
		break;
	case STRUCT_UTSNAME:
		utsname__put(f, data);
		break;
	case STRUCT_STATFS:
		statfs__put(f, data);
		break;
	case STRUCT_CAP_HEADER:
		cap_header__put(f, data);
		break;
	case STRUCT_CAPS:
		caps__put(f, data);
		break;
	case STRUCT_SCHED_ATTR:
		sched_attr__put(f, data);
		break;
	case STRUCT_SIGINFO:
		siginfo__put(f, data);
		break;
	case STRUCT_SIGEVENT:
		sigevent__put(f, data);
		break;
	case STRUCT_SIGSTACK:
		sigstack__put(f, data);
		break;
	case STRUCT_FLOCK:
		flock__put(f, data, false);
		break;
	case STRUCT_TIMEVAL_PAIR:
		put_timevals(f, data);
		break;
	default:                        /* calls/syscall/polled.h, layouts.h */
		break;
	}
}
