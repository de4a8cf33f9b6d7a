// SPDX-License-Identifier: BSD-2-Clause
/*
 * answers: system calls whose arguments are structs that the kernel reads or fills in, the same ones in each run: for
 * readiness, remaining time, ended children, and the state of the system. The first call is getppid. Prints nothing.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "old_calls.h"

#define SIGSET_BYTES 8

static char space[16384];

static void nothing(int number)
{
	(void)number;
}

static void what_is_ready(const int pipe_fds[2], const sigset_t *set)
{
	struct pollfd both[2] = { { pipe_fds[0], POLLIN, 0 }, { pipe_fds[1], POLLOUT, 0 } };
	struct timespec later = { 7, 5000000 };
	struct timeval much_later = { 7, 5 };
	int end = pipe_fds[1] + 1;
	fd_set in, out, except;

	old__poll(both, 2, 100);
	syscall(SYS_ppoll, both, 2, &later, set, SIGSET_BYTES);
	old__poll(both, 1, 0);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	FD_SET(pipe_fds[0], &in);
	FD_SET(pipe_fds[1], &out);
	old__select(end, &in, &out, &except, &much_later);
	syscall(SYS_write, pipe_fds[1], "a\nb\tc\rd\\e\"f\033g\0h7", 17);
	FD_SET(pipe_fds[0], &in);
	syscall(SYS_pselect6, end, &in, &out, NULL, NULL, NULL);
	syscall(SYS_read, pipe_fds[0], space, 100);
	FD_ZERO(&out);
	much_later = (struct timeval){};
	old__select(end, &in, &out, NULL, &much_later);
}

/*
 * Sleeps of 100 s that a signal interrupts. If the machine was stopped for so long that the signal came before the
 * sleep, the next signal interrupts it.
 */
static void how_long_is_left(void)
{
	struct itimerval soon = { .it_value.tv_usec = 200000, .it_interval.tv_usec = 200000 }, never = {}, now;
	struct timespec whole = { 100, 0 }, left = { 7, 7 }, none = {};
	struct sigaction action = { .sa_handler = nothing };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	syscall(SYS_nanosleep, &whole, &left);
	setitimer(ITIMER_REAL, &soon, NULL);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &whole, &left);
	setitimer(ITIMER_REAL, &never, NULL);
	syscall(SYS_nanosleep, &none, &left);
	syscall(SYS_getitimer, ITIMER_REAL, &now);
}

static void files(const int pipe_fds[2])
{
	struct timespec times[2] = { { 0, UTIME_NOW }, { 0, UTIME_OMIT } };
	struct flock lock = { .l_type = F_WRLCK, .l_start = 100, .l_len = 20 };
	struct statfs fs;
	struct statx st;
	int file;

	syscall(SYS_statx, AT_FDCWD, "/dev/null", 0, STATX_BASIC_STATS, &st);
	syscall(SYS_statfs, "/proc", &fs);
	syscall(SYS_fstatfs, pipe_fds[0], &fs);
	syscall(SYS_utimensat, AT_FDCWD, "/no/such/file", times, 0);
	file = open("/dev/null", O_RDWR | O_APPEND);
	syscall(SYS_fcntl, file, F_GETFL);
	syscall(SYS_fcntl, file, F_SETLK, &lock);
	lock.l_type = F_RDLCK;
	syscall(SYS_fcntl, file, F_GETLK, &lock);
	close(file);
}

static void scheduling(void)
{
	struct {
		unsigned int size, policy;
		unsigned long long flags;
		int nice;
		unsigned int priority;
		unsigned long long times[3];
	} attr;
	struct sched_param param;
	struct timespec slice;

	syscall(SYS_sched_getaffinity, 0, 128, space);
	syscall(SYS_sched_setaffinity, 0, 128, space);
	syscall(SYS_sched_getparam, 0, &param);
	syscall(SYS_sched_setparam, 0, &param);
	syscall(SYS_sched_getscheduler, 0);
	syscall(SYS_sched_get_priority_max, SCHED_FIFO);
	syscall(SYS_sched_get_priority_min, SCHED_OTHER);
	syscall(SYS_sched_rr_get_interval, 0, &slice);
	syscall(SYS_sched_getattr, 0, &attr, 48, 0);
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void itself(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];
	gid_t groups[3] = { 5, 6, 7 };
	uid_t id[3];

	syscall(SYS_prctl, PR_SET_NAME, "an\"swers", 0, 0, 0);
	syscall(SYS_prctl, PR_GET_NAME, space, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_prctl, PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_TIMERSLACK, 50000, 0, 0, 0);
	syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
	syscall(SYS_capget, &head, caps);
	syscall(SYS_setgroups, 3, groups);
	syscall(SYS_getgroups, 3, groups);
	syscall(SYS_getgroups, 0, NULL);
	syscall(SYS_getresuid, &id[0], &id[1], &id[2]);
	syscall(SYS_getresgid, &id[0], &id[1], &id[2]);
	syscall(SYS_setresuid, -1, -1, -1);
}

static void the_system(void)
{
	struct rusage usage;
	struct sysinfo info;
	struct utsname name;
	struct tms times;

	syscall(SYS_getrusage, RUSAGE_SELF, &usage);
	syscall(SYS_times, &times);
	syscall(SYS_sysinfo, &info);
	syscall(SYS_uname, &name);
}

/* A child that exits by itself, a child that is killed, and no child. */
static void children(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	struct rusage usage;
	siginfo_t info;
	int status;

	if (!syscall(SYS_clone3, &args, sizeof(args)))
		_exit(3);
	syscall(SYS_wait4, -1, &status, 0, &usage);
	if (!syscall(SYS_clone3, &args, sizeof(args))) {
		syscall(SYS_kill, getpid(), SIGKILL);
		_exit(0);
	}
	syscall(SYS_waitid, P_ALL, 0, &info, WEXITED, &usage);
	syscall(SYS_wait4, -1, &status, WNOHANG, &usage);
}

static void signals(const sigset_t *set)
{
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };
	stack_t mine = { .ss_sp = space, .ss_size = sizeof(space) }, old;
	struct timespec none = {};

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, set, NULL, SIGSET_BYTES);
	syscall(SYS_kill, getpid(), SIGUSR1);
	syscall(SYS_rt_sigpending, space, SIGSET_BYTES);
	syscall(SYS_rt_sigtimedwait, set, &info, &none, SIGSET_BYTES);
	info = (siginfo_t){ .si_signo = SIGUSR1, .si_code = SI_QUEUE };
	info.si_pid = 1;
	info.si_value.sival_int = 5;
	syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &info);
	syscall(SYS_rt_sigtimedwait, set, &info, NULL, SIGSET_BYTES);
	syscall(SYS_sigaltstack, &mine, &old);
	syscall(SYS_sigaltstack, NULL, &old);
}

static void timers(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec later = { .it_value.tv_sec = 100 }, old;
	int timer;

	syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer);
	syscall(SYS_timer_settime, timer, 0, &later, &old);
	syscall(SYS_timer_getoverrun, timer);
	syscall(SYS_timer_delete, timer);
}

int main(void)
{
	sigset_t set;
	int fds[2];

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	if (pipe(fds))
		return 1;
	syscall(SYS_getppid);
	what_is_ready(fds, &set);
	how_long_is_left();
	files(fds);
	scheduling();
	itself();
	the_system();
	children();
	signals(&set);
	timers();
	return 0;
}
