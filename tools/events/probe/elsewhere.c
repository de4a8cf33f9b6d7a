// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/elsewhere.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"
#include "report/shell.h"

/* The keys of --by. stackcount takes both stacks unless an option selects one. */
struct stack_keys {
	const char *first;      /* as typed */
	size_t len;
	bool kernel, user;
	char *others;           /* the other keys, each preceded by a comma */
};

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}

static void take_key(struct stack_keys *keys, const char *key, size_t len)
{
	bool both = is_word(key, len, "stack"), kernel = is_word(key, len, "kstack");

	if (!both && !kernel && !is_word(key, len, "ustack")) {
		strcat(keys->others, ",");
		strncat(keys->others, key, len);
		return;
	}
	if (!keys->first) {
		keys->first = key;
		keys->len = len;
	}
	keys->kernel |= both || kernel;
	keys->user |= both || !kernel;
}

/* Also splits keys at commas inside parentheses, but no such part begins with the name of a stack. */
static int read_keys(struct stack_keys *keys, const char *by)
{
	const char *at = by, *end;

	*keys = (struct stack_keys){ .others = calloc(1, 2 * strlen(by) + 2) };
	if (!keys->others)
		return -ENOMEM;
	for (; *at; at = end + (*end == ',')) {
		at += strspn(at, " \t");
		end = at + strcspn(at, ",");
		take_key(keys, at, end - at - (end > at && end[-1] == ' '));
	}
	return 0;
}

struct words {
	char *text;
	size_t n;
};

static void add_word(struct words *w, const char *word, size_t len)
{
	memcpy(w->text + w->n, word, len);
	w->text[w->n + len] = 0;
	w->n += len + 1;
}

static void add_keys(struct words *w, const struct stack_keys *keys)
{
	if (keys->kernel != keys->user)
		add_word(w, keys->kernel ? "-K" : "-U", 2);
	if (!*keys->others)
		return;
	add_word(w, "--by", 4);
	add_word(w, keys->others + 1, strlen(keys->others + 1));
}

/* For a probe, only its event counts, since stackcount takes no arguments. */
static size_t length_of(const struct probe_request *r, const char *word)
{
	size_t i;

	for (i = 0; i < r->ntyped; i++)
		if (r->typed[i] == word)
			return strcspn(word, " \t");
	return strlen(word);
}

/* The words as typed, with --by replaced and --count removed. */
static void rewrite(struct words *w, const struct probe_request *r, const struct stack_keys *keys,
		    char *const *argv)
{
	bool command = false;

	add_word(w, "stackcount", 10);
	while (*++argv) {
		command |= !strcmp(*argv, "--");
		if (!command && !strcmp(*argv, "--by") && argv[1]) {
			add_keys(w, keys);
			argv++;
		} else if (!command && !strncmp(*argv, "--by=", 5)) {
			add_keys(w, keys);
		} else if (command || strcmp(*argv, "--count")) {
			add_word(w, *argv, length_of(r, *argv));
		}
	}
}

static void hint(const struct probe_request *r, const struct stack_keys *keys, char *const *argv)
{
	size_t size = strlen(keys->others) + 64, n = 0, i;
	struct words w = {};
	char *line;

	for (i = 0; argv[i]; i++, n++)
		size += strlen(argv[i]) + 1;
	w.text = malloc(size);
	line = malloc(SHELL_SPACE(size, n + 8));
	if (w.text && line) {
		rewrite(&w, r, keys, argv);
		shell_words(line, w.text, w.n);
		diag_hint("%s", line);
	}
	free(w.text);
	free(line);
}

/* Why stackcount cannot do this, or NULL if it can. */
static const char *not_done(const struct probe_request *r, u32 figures)
{
	if (r->latency || r->from)
		return "stackcount counts single events, not the time between two events";
	if (r->what > PROBE_SUM)
		return "stackcount shows no distributions and no single events";
	if (figures & ~(RESULT_SUM | RESULT_COUNT))
		return "stackcount shows no average, minimum or maximum";
	return figures && !r->value ? "name the value: --sum EXPR" : NULL;
}

int elsewhere__stacks(const struct probe_request *r, u32 figures, char *const *argv)
{
	struct stack_keys keys;
	int err;

	if (!r->by)
		return 0;
	err = read_keys(&keys, r->by);
	if (!err && keys.first) {
		err = -EINVAL;
		diag_error("--by %.*s: use stackcount to count or sum by stack", (int)keys.len,
			   keys.first);
		if (not_done(r, figures))
			diag_hint("%s", not_done(r, figures));
		else
			hint(r, &keys, argv);
	}
	free(keys.others);
	return err;
}
