/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks by the functions in them: only those with a frame like this, and without one like that. */
#ifndef TALLY_STACK_CHOICE_H
#define TALLY_STACK_CHOICE_H

#include <regex.h>

#include "base/types.h"
#include "stack/names.h"

/* A POSIX extended regular expression; text NULL: none. */
struct frame_pattern {
	const char *text;
	regex_t regex;
};

/* All zero: every stack is taken. */
struct stack_choice {
	struct frame_pattern with, without;
	u8 *seen;               /* of each frame: what is known of it, enum in choice.c */
	size_t room;
};

/* Says what is wrong with the texts (NULL: none), which must live as long, and returns -EINVAL. */
int stack_choice__init(struct stack_choice *c, const char *with, const char *without);

/*
 * Does the stack belong to the choice? A frame without a symbol goes by the name of its file.
 * Frames that are not of names (indexes from names->n on) are like nothing. 1, 0, or -ENOMEM.
 */
int stack_choice__takes(struct stack_choice *c, const struct stack_names *names,
			const struct stack_path *path);

/* "--frames 'read', --no-frames 'idle'"; false: nothing is left out. */
bool stack_choice__describe(const struct stack_choice *c, char *text, size_t size);
void stack_choice__free(struct stack_choice *c);

#endif /* TALLY_STACK_CHOICE_H */
