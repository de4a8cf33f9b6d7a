// SPDX-License-Identifier: BSD-2-Clause
#include "types/command_programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/opener.h"
#include "base/program_path.h"
#include "base/types.h"

/* Characters that end a word in a shell, or precede a program's name: $(cmd, "cmd, VAR=cmd. */
#define BETWEEN " \t\n;|&(){}<>'\"`$="

struct search {
	command_program_visit visit;
	void *arg;
	char *found[1 + COMMAND_PROGRAMS_MOST];
	size_t n, words;
};

static bool is_known(const struct search *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->found[i], path))
			return true;
	return false;
}

static int take_word(struct search *s, const char *word)
{
	char *path;
	int err;

	if (s->n == ARRAY_SIZE(s->found) || s->words++ == COMMAND_WORDS_MOST)
		return 1;
	path = program_path_asked(word, &err);
	if (!path && opener__is_unanswered(err))
		return 1;
	if (!path || is_known(s, path)) {
		free(path);
		return 0;
	}
	s->found[s->n++] = path;
	return s->visit(s->arg, path);
}

static int take_words(struct search *s, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (word = strsep(&rest, BETWEEN)))
		if (*word)
			err = take_word(s, word);
	free(copy);
	return err;
}

/* True for options that a script follows: -c, -lc, -ec. */
static bool is_script_next(const char *arg)
{
	return arg[0] == '-' && arg[1] && arg[1] != '-' && arg[strlen(arg) - 1] == 'c';
}

int command_programs__each(char *const *command, command_program_visit visit, void *arg)
{
	struct search s = { .visit = visit, .arg = arg };
	bool script = false;
	int err = 0;

	for (; *command && !err; command++) {
		err = script ? take_words(&s, *command) : take_word(&s, *command);
		script = is_script_next(*command);
	}
	while (s.n)
		free(s.found[--s.n]);
	return err < 0 ? err : 0;
}
