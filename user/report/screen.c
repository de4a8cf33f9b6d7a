// SPDX-License-Identifier: BSD-2-Clause
#include "report/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/diag.h"
#include "report/terminal.h"

/* Enters the alternate screen, hides the cursor and turns line wrap off; LEAVE undoes this. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"
#define MORE "..."

#define USUAL_LINES 24
#define USUAL_COLUMNS 80

static void put(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

int screen__check(void)
{
	if (isatty(STDOUT_FILENO))
		return 0;
	diag_error("--live: standard output is not a terminal");
	diag_hint("-I 1000 prints one report per second");
	return -EINVAL;
}

/* True also without job control, where no process is in the background. */
static bool is_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group < 0 || group == getpgrp();
}

/*
 * --- the guard ---------------------------------------------------------------------------------
 */

/* The state of the screen, as sent to the guard. */
struct guarded {
	bool is_open, has_keys;
	struct termios before;
};

static void give_back(const struct guarded *g)
{
	if (!g->is_open)
		return;
	if (g->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &g->before);
	if (write(STDOUT_FILENO, LEAVE, strlen(LEAVE)) < 0)
		return;
}

/*
 * The child closes everything but the terminal, so that none of the tracer's other resources outlives the tracer. The
 * child ignores SIGTTOU, so that it can change the settings even after the shell has taken the foreground.
 */
static void guard(int fd)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE };
	struct guarded now = {}, told;
	ssize_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "tally-screen");
	close(STDERR_FILENO);
	if (dup2(fd, STDERR_FILENO) < 0)
		_exit(1);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	do {
		n = read(STDERR_FILENO, &told, sizeof(told));
		if (n == sizeof(told))
			now = told;
	} while (n > 0 || (n < 0 && errno == EINTR));
	give_back(&now);
	_exit(0);
}

static void tell_guard(const struct screen *s)
{
	const struct guarded now = { s->is_open, s->has_keys, s->before };

	if (s->guard && write(s->guard_fd, &now, sizeof(now)) != sizeof(now))
		return;         /* the guard has been killed, and cannot be replaced */
}

static int start_guard(struct screen *s)
{
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		close(fd[1]);
		guard(fd[0]);
	}
	close(fd[0]);
	if (pid < 0) {
		close(fd[1]);
		return -errno;
	}
	s->guard = pid;
	s->guard_fd = fd[1];
	return 0;
}

/*
 * --- taking over the terminal ------------------------------------------------------------------
 */

static void do_nothing(int sign)
{
	(void)sign;
}

static void handle(int sign, void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler };

	sigaction(sign, &action, NULL);
}

/* In the background, this process may write (the last report), but reads fail. */
static void begin_handling(void)
{
	handle(SIGTTOU, SIG_IGN);
	handle(SIGTTIN, do_nothing);
}

static void end_handling(void)
{
	handle(SIGTTOU, SIG_DFL);
	handle(SIGTTIN, SIG_DFL);
}

/*
 * Does not change settings in the background: with a handler for SIGTTOU, tcsetattr() fails there with EINTR. If the
 * signal were ignored, it would succeed.
 */
static int set_terminal(const struct termios *settings)
{
	int err;

	handle(SIGTTOU, do_nothing);
	err = tcsetattr(STDIN_FILENO, TCSANOW, settings) ? -errno : 0;
	handle(SIGTTOU, SIG_IGN);
	return err;
}

int screen__init(struct screen *s, bool keys)
{
	*s = (struct screen){ .guard_fd = -1, .wants_keys = keys && isatty(STDIN_FILENO) };
	return start_guard(s);
}

/* Sets unbuffered input without echo. Ctrl-C and Ctrl-Z still raise signals. */
static int set_keys(const struct screen *s)
{
	struct termios quiet = s->before;

	quiet.c_lflag &= ~(ICANON | ECHO);
	quiet.c_cc[VMIN] = 1;
	quiet.c_cc[VTIME] = 0;
	return set_terminal(&quiet);
}

static void take_keys(struct screen *s)
{
	s->has_keys = false;
	if (!s->wants_keys || !is_foreground(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &s->before))
		return;
	s->is_open = s->has_keys = true;
	tell_guard(s);
	s->has_keys = !set_keys(s);
}

/* Redirects all writes to stderr to memory: glibc's stderr is a variable. */
static void keep_messages(struct screen *s)
{
	if (!isatty(STDERR_FILENO))
		return;
	s->messages = open_memstream(&s->text, &s->n);
	if (!s->messages)
		return;
	s->error = stderr;
	stderr = s->messages;
}

static void show_messages(struct screen *s)
{
	if (!s->messages)
		return;
	stderr = s->error;
	if (!fclose(s->messages) && s->text)
		fwrite(s->text, 1, s->n, stderr);
	fflush(stderr);
	free(s->text);
	s->messages = s->error = NULL;
	s->text = NULL;
}

bool screen__open(struct screen *s)
{
	begin_handling();
	if (s->is_open && is_foreground(STDOUT_FILENO))
		return true;
	if (s->is_open) {               /* stopped by SIGSTOP and resumed by bg: the shell has reset the terminal */
		s->is_open = s->has_keys = false;
		tell_guard(s);
		show_messages(s);
		return false;
	}
	if (!is_foreground(STDOUT_FILENO))
		return false;
	take_keys(s);
	s->is_open = true;
	tell_guard(s);
	keep_messages(s);
	put(ENTER);
	return true;
}

void screen__again(struct screen *s)
{
	if (!s->is_open || !is_foreground(STDOUT_FILENO))
		return;
	if (s->has_keys)
		set_keys(s);
	put(ENTER);
}

void screen__close(struct screen *s)
{
	bool is_ours = s->is_open && is_foreground(STDOUT_FILENO);

	if (!s->is_open)
		return;
	if (is_ours)
		put(LEAVE);
	if (is_ours && s->has_keys)
		set_terminal(&s->before);
	s->is_open = s->has_keys = false;
	tell_guard(s);
	show_messages(s);
}

void screen__free(struct screen *s)
{
	screen__close(s);
	if (!s->guard)
		return;
	close(s->guard_fd);
	while (waitpid(s->guard, NULL, 0) < 0 && errno == EINTR)
		;
	s->guard = 0;
	end_handling();
}

/* Blocks SIGTSTP, so that this process can wait for it. The kernel does not stop orphaned process groups. */
void screen__stop(struct screen *s)
{
	sigset_t set;

	screen__close(s);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * --- contents ----------------------------------------------------------------------------------
 */

struct screen_size screen__size(void)
{
	struct winsize size = {};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return (struct screen_size){ size.ws_row ?: USUAL_LINES, size.ws_col ?: USUAL_COLUMNS };
}

static size_t lines_of(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/* Replaces the screen line by line to avoid flicker. */
void screen__show(const struct screen *s, char *text, const char *below)
{
	struct screen_size size = screen__size();
	size_t last = lines_of(below), left = size.lines > last ? size.lines - last : 0;
	char *line, *rest = text;

	if (!s->is_open || !is_foreground(STDOUT_FILENO))
		return;
	fputs(HOME, stdout);
	for (; left && (line = strsep(&rest, "\n")); left--) {
		if (left == 1 && rest && *rest)
			line = MORE;
		printf("%.*s" CLEAR_LINE "\n", (int)terminal_fitting(line, size.columns), line);
	}
	for (; *below; below += strcspn(below, "\n"), below += *below == '\n')
		printf("%.*s" CLEAR_LINE "%s", (int)strcspn(below, "\n"), below, strchr(below, '\n') ? "\n" : "");
	put(CLEAR_REST);
}

ssize_t screen__read(struct screen *s, char *keys, size_t room)
{
	struct pollfd wait = { STDIN_FILENO, POLLIN, 0 };
	ssize_t n;

	if (!s->has_keys || !is_foreground(STDIN_FILENO) || poll(&wait, 1, 0) <= 0)
		return 0;
	n = read(STDIN_FILENO, keys, room);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	return n > 0 ? n : -EIO;
}
