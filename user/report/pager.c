// SPDX-License-Identifier: BSD-2-Clause
#include "report/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/types.h"

/* PAGER is a shell command line, as for man(1). If the text fits the screen, less exits at once and leaves it there. */
static void run_pager(void)
{
	const char *line = getenv("PAGER");

	if (line)
		execl("/bin/sh", "sh", "-c", line, NULL);
	setenv("LESS", "FRX", 0);
	execlp("less", "less", NULL);
	execlp("more", "more", NULL);
	execlp("cat", "cat", NULL);
	_exit(127);
}

static void ignore(bool on)
{
	/* The pager handles Ctrl-C. */
	signal(SIGINT, on ? SIG_IGN : SIG_DFL);
	signal(SIGQUIT, on ? SIG_IGN : SIG_DFL);
}

void pager__begin(struct pager *p)
{
	const char *line = getenv("PAGER");
	int fd[2];

	*p = (struct pager){ .terminal = -1 };
	if (!isatty(STDOUT_FILENO) || (line && !*line) || pipe2(fd, O_CLOEXEC))
		return;
	p->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	p->pid = p->terminal < 0 ? -1 : fork();
	if (!p->pid) {
		dup2(fd[0], STDIN_FILENO);
		run_pager();
	}
	if (p->pid > 0) {
		dup2(fd[1], STDOUT_FILENO);
		ignore(true);
	} else {
		p->pid = 0;
	}
	close(fd[0]);
	close(fd[1]);
}

void pager__end(struct pager *p)
{
	if (p->terminal < 0)
		return;
	dup2(p->terminal, STDOUT_FILENO);
	close(p->terminal);
	if (!p->pid)
		return;
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	ignore(false);
}
