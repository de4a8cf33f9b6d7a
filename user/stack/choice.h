/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selects stacks by their functions: stacks with a frame that matches one pattern, and without a frame that matches
 * another.
 */
#ifndef TALLY_STACK_CHOICE_H
#define TALLY_STACK_CHOICE_H

#include <regex.h>

#include "base/types.h"
#include "stack/names.h"

/* A POSIX extended regular expression; text NULL: no pattern. */
struct frame_pattern {
	const char *text;
	regex_t regex;
};

/* All zero: every stack is selected. */
struct stack_choice {
	struct frame_pattern with, without;
	u8 *seen;               /* per frame: cached result, enum in choice.c */
	size_t room;
};

/* Compiles the patterns (NULL: none), which must outlive *c. Reports errors and returns -EINVAL. */
int stack_choice__init(struct stack_choice *c, const char *with, const char *without);

/*
 * Returns 1 if the stack is selected, 0 if not, or -ENOMEM. A frame without a symbol matches by its file's name. Frames
 * without a name (indexes >= names->n) match nothing.
 */
int stack_choice__takes(struct stack_choice *c, const struct stack_names *names,
			const struct stack_path *path);

/* True if any pattern is given. */
bool stack_choice__selects(const struct stack_choice *c);

/* Writes "--frames 'read', --no-frames 'idle'". Returns false if no pattern is given. */
bool stack_choice__describe(const struct stack_choice *c, char *text, size_t size);
void stack_choice__free(struct stack_choice *c);

#endif /* TALLY_STACK_CHOICE_H */
