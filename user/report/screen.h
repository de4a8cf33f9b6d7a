/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Full-screen text, each replaced by the next one, and keys. Uses plain ECMA-48 sequences, which every current terminal
 * supports, and the kernel's window size. ncurses would need a terminfo database, which is missing if the binary is
 * copied alone.
 *
 * The terminal is taken over only in the foreground. In the background, the screen remains closed, nothing is written
 * or read, and no setting changes. While the screen is open, messages are held back if standard error is a terminal,
 * and shown when the screen is closed.
 *
 * A child process waits until this process ends and then restores the terminal if necessary, even after SIGKILL or a
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
	pid_t guard;            /* that child; 0 if none */
	int guard_fd;
	FILE *messages, *error; /* while open: replacement of stderr, and stderr itself; NULL if not a terminal */
	char *text;
	size_t n;
};

/* Checks that standard output is a terminal. Returns 0, or -EINVAL after reporting that it is not. */
int screen__check(void);

/*
 * Prepares a screen. Forks, so it must be called before opening descriptors that must be closed when this process ends.
 * keys: read keys if standard input is a terminal. Returns 0 or a negative errno. Call screen__free() in either case.
 */
int screen__init(struct screen *s, bool keys);

/*
 * Takes over the terminal, unless the screen is already open or this process is in the background. Returns whether the
 * screen is open. After the first call, SIGTTOU and SIGTTIN no longer stop the process.
 */
bool screen__open(struct screen *s);

/* Takes over the terminal of an open screen again, after SIGCONT: a shell may have used the terminal. */
void screen__again(struct screen *s);

/* Restores the terminal, and shows the messages that were held back. */
void screen__close(struct screen *s);
void screen__free(struct screen *s);

struct screen_size {
	size_t lines, columns;
};

struct screen_size screen__size(void);

/*
 * Shows text on an open screen, and the lines of below at its end. All lines are truncated to the width, and the text
 * also to the height. Modifies text.
 */
void screen__show(const struct screen *s, char *text, const char *below);

/*
 * Reads keys without waiting, when standard input is readable. Returns their number, 0 if no key was
 * pressed or none can be read now, or -EIO if the terminal has been closed.
 */
ssize_t screen__read(struct screen *s, char *keys, size_t room);

/* Restores the terminal, then stops this process like SIGTSTP does by default. Returns when it is continued. */
void screen__stop(struct screen *s);

#endif /* TALLY_OUT_SCREEN_H */
