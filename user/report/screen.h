/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text that fills the terminal and is replaced by the next one, and keys. Uses plain ECMA-48 sequences, which every
 * current terminal understands, and the kernel's window size: ncurses would need a terminfo database, which is missing
 * if only one file is copied.
 *
 * The terminal is taken over in the foreground only: in the background a screen stays closed, nothing is written or
 * read, and no setting changes. While the screen is open, messages to a standard error that is a terminal are held
 * back, and shown once it is closed.
 *
 * A child process waits for the end of this one and then restores the terminal if necessary, even after SIGKILL or a
 * crash.
 */
#ifndef TALLY_OUT_SCREEN_H
#define TALLY_OUT_SCREEN_H

#include <stdio.h>
#include <sys/types.h>
#include <termios.h>

#include "base/types.h"

struct screen {
	bool is_open;
	bool has_keys;          /* while open: keys can be read from standard input */
	bool wants_keys;
	struct termios before;  /* settings to restore, if has_keys */
	pid_t guard;            /* 0: none */
	int guard_fd;
	FILE *messages, *error; /* while open: replacement of stderr, and stderr itself; NULL: not a terminal */
	char *text;
	size_t n;
};

/* Checks that standard output is a terminal; otherwise reports it and returns -EINVAL. */
int screen__check(void);

/*
 * Prepares a screen. Forks, so call it before opening descriptors that must be closed when this process ends. keys:
 * read them, if standard input is a terminal. Returns 0 or a negative errno. Call screen__free() in either case.
 */
int screen__init(struct screen *s, bool keys);

/*
 * Takes over the terminal unless it is open, or this process is in the background. Returns whether it is open. From the
 * first call on, SIGTTOU and SIGTTIN do not stop the process.
 */
bool screen__open(struct screen *s);

/* After SIGCONT: takes over an open screen again, since a shell may have used its terminal meanwhile. */
void screen__again(struct screen *s);

/* Gives the terminal back, and shows the messages that were held back. */
void screen__close(struct screen *s);
void screen__free(struct screen *s);

struct screen_size {
	size_t lines, columns;
};

struct screen_size screen__size(void);

/*
 * Shows the text, and the lines below it at the end of an open screen. All lines are cut to the width, and the text,
 * which is modified, also to the height.
 */
void screen__show(const struct screen *s, char *text, const char *below);

/*
 * Reads keys without waiting, when standard input is readable. Returns their number, 0 if there are
 * none or none can be read now, and -EIO if the terminal is gone.
 */
ssize_t screen__read(struct screen *s, char *keys, size_t room);

/* Stops this process as SIGTSTP does by default, after giving the terminal back. Returns when it continues. */
void screen__stop(struct screen *s);

#endif /* TALLY_OUT_SCREEN_H */
