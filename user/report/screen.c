// SPDX-License-Identifier: BSD-2-Clause
#include "report/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/diag.h"

/* The other screen, without a cursor; long lines are cut, not wrapped. And back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"

#define USUAL_HEIGHT 24
#define AROUND 9                /* lines of header, titles, losses, keys */
#define MOST_TYPED 64

static void put(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

int screen__check(void)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return 0;
	diag_error("--live: this is no terminal");
	diag_hint("-I 1000 prints a report each second, one below the other");
	return -EINVAL;
}

int screen__open(struct screen *s)
{
	struct termios quiet;

	if (tcgetattr(STDIN_FILENO, &s->before))
		return -errno;
	/* A key counts at once and is not shown; Ctrl-C stays what it is. */
	quiet = s->before;
	quiet.c_lflag &= ~(ICANON | ECHO);
	if (tcsetattr(STDIN_FILENO, TCSANOW, &quiet))
		return -errno;
	s->is_open = true;
	put(ENTER);
	return 0;
}

static size_t height(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ? USUAL_HEIGHT : size.ws_row;
}

size_t screen__rows(void)
{
	size_t lines = height();

	return lines > AROUND ? lines - AROUND : 1;
}

/* Line by line, so that nothing flickers; the last line is for the keys. */
static void draw(char *text)
{
	size_t left = height() - 1;
	char *line, *rest = text;

	fputs(HOME, stdout);
	for (; left && (line = strsep(&rest, "\n")); left--)
		printf("%s" CLEAR_LINE "\n", line);
	put(CLEAR_REST "q quits");
}

int screen__show(const struct report *r)
{
	struct writer w = { .format = FORMAT_TEXT };
	char *text = NULL;
	size_t size = 0;
	int err;

	w.file = open_memstream(&text, &size);
	if (!w.file)
		return -ENOMEM;
	err = write_text(&w, r);
	if (fclose(w.file) && !err)
		err = -ENOMEM;
	if (!err)
		draw(text);
	free(text);
	return err;
}

bool screen__is_quit(void)
{
	struct pollfd wait = { STDIN_FILENO, POLLIN, 0 };
	char typed[MOST_TYPED];
	ssize_t n;

	if (poll(&wait, 1, 0) <= 0)
		return false;
	n = read(STDIN_FILENO, typed, sizeof(typed));
	return n <= 0 || memchr(typed, 'q', n);
}

void screen__close(struct screen *s)
{
	if (!s->is_open)
		return;
	put(LEAVE);
	tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
	s->is_open = false;
}
