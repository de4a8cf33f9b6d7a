// SPDX-License-Identifier: BSD-2-Clause
#include "cli/foreign_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/program_path.h"
#include "base/types.h"
#include "cli/bcc_probe.h"

enum kind {
	KIND_ENTRY,             /* of a function in the kernel or in a file */
	KIND_RETURN,
	KIND_TRACEPOINT,
	KIND_RAW,               /* tracepoint without its system */
	KIND_USDT,
	KIND_USER_ENTRY,        /* bpftrace's: the file comes first, after one colon */
	KIND_USER_RETURN,
	KIND_COUNTER,           /* EVENT[:PERIOD] */
	KIND_SAMPLES,           /* hz:RATE */
	KIND_LIBC, KIND_LIBM,   /* c: and m: of bcc */
};

/* No tracepoint has a system with one of these names. */
static const struct {
	const char *word;
	enum kind kind;
} kinds[] = {
	{ "p", KIND_ENTRY },
	{ "r", KIND_RETURN },
	{ "t", KIND_TRACEPOINT },
	{ "u", KIND_USDT },
	{ "c", KIND_LIBC },
	{ "m", KIND_LIBM },
	{ "k", KIND_ENTRY },
	{ "kr", KIND_RETURN },
	{ "kprobe", KIND_ENTRY },
	{ "kretprobe", KIND_RETURN },
	{ "kfunc", KIND_ENTRY },
	{ "kretfunc", KIND_RETURN },
	{ "fentry", KIND_ENTRY },
	{ "fexit", KIND_RETURN },
	{ "tracepoint", KIND_TRACEPOINT },
	{ "rawtracepoint", KIND_RAW },
	{ "rt", KIND_RAW },
	{ "usdt", KIND_USDT },
	{ "uprobe", KIND_USER_ENTRY },
	{ "uretprobe", KIND_USER_RETURN },
	{ "ur", KIND_USER_RETURN },
	{ "software", KIND_COUNTER },
	{ "hardware", KIND_COUNTER },
	{ "profile", KIND_SAMPLES },
};

/* The parts of an event, separated by colons. */
#define MOST_PARTS 4

struct parts {
	enum kind kind;
	int n;                  /* number of parts after the kind */
	char *part[MOST_PARTS];
	char *text;             /* storage of the parts */
	const char *args;       /* arguments as in kprobe_events, with a leading blank; or empty */
};

static bool find_kind(const char *word, size_t len, enum kind *kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(kinds[i].word, word, len) && !kinds[i].word[len]) {
			*kind = kinds[i].kind;
			return true;
		}
	return false;
}

/* Splits the first word of text into parts. */
static bool split(struct parts *p, const char *text)
{
	size_t kind = strcspn(text, ":"), len = strcspn(text, " ");
	char *end;

	*p = (struct parts){ .args = text + len };
	if (kind >= len || !find_kind(text, kind, &p->kind))
		return false;
	p->text = strndup(text + kind + 1, len - kind - 1);
	for (end = p->text; end && p->n < MOST_PARTS; p->n++) {
		p->part[p->n] = end;
		end = strchr(end, ':');
		if (end)
			*end++ = 0;
	}
	return p->text && !end && *p->part[p->n - 1] && !strpbrk(p->text, "()'") && !strchr(p->args, '\'');
}

/* The word after "p:NAME" is the function, unless it is an argument: "p:NAME FUNCTION x=%di", "r:FUNCTION $retval". */
static void take_named(struct parts *p)
{
	const char *word = p->args + strspn(p->args, " ");
	size_t len = strcspn(word, " ");

	if (p->n != 1 || !len || memchr(word, '$', len) || memchr(word, '%', len) || memchr(word, '=', len))
		return;
	free(p->text);
	p->text = p->part[0] = strndup(word, len);
	p->args = word + len;
}

/* bcc finds libNAME.so or a program. Since glibc 2.34, functions of libpthread are in libc. */
static void put_file(FILE *f, const char *name)
{
	char *path = strchr(name, '/') || strchr(name, '.') ? strdup(name) : program_path(name);

	if (!strcmp(name, "c") || !strcmp(name, "pthread"))
		fputs("-x libc ", f);
	else if (path || !strncmp(name, "lib", 3))
		fprintf(f, "-x %s ", name);
	else
		fprintf(f, "-x lib%s ", name);
	free(path);
}

static void put_function(FILE *f, const char *tool, const char *file, const struct parts *p, bool returns)
{
	bool counts = !strcmp(tool, "stat"), in_file = file && *file;

	if (*p->args)
		tool = "probe";
	fprintf(f, "tally %s ", counts ? in_file || *p->args ? "probe" : "stat -e" : tool);
	if (in_file)
		put_file(f, file);
	fprintf(f, "'%s%s%s'%s", p->part[p->n - 1], returns ? "%return" : "", p->args,
		counts && in_file ? " --by func" : "");
}

/* stat and profile take events only with -e. */
static const char *before_event(const char *tool)
{
	return !strcmp(tool, "stat") || !strcmp(tool, "profile") ? " -e" : "";
}

static bool put_counter(FILE *f, const char *tool, const struct parts *p)
{
	bool counts = !strcmp(tool, "stat");

	if (p->n > 2)
		return false;
	fprintf(f, "tally %s -e '%s'", counts ? "stat" : "profile", p->part[0]);
	if (p->n == 2 && !counts)
		fprintf(f, " -c %s", p->part[1]);
	return true;
}

static bool put_usdt(FILE *f, const char *tool, const struct parts *p)
{
	if (p->n < 2 || p->n > 3)
		return false;
	fprintf(f, "tally %s ", strcmp(tool, "stat") ? tool : "probe");
	put_file(f, p->part[0]);
	fprintf(f, "'%s:%s'%s", p->n == 3 ? p->part[1] : "sdt", p->part[p->n - 1],
		strcmp(tool, "stat") ? "" : " --by func");
	return true;
}

static bool put_line(FILE *f, const char *tool, const struct parts *p)
{
	const char *last = p->part[p->n - 1], *file = p->n == 2 ? p->part[0] : NULL;

	switch (p->kind) {
	case KIND_ENTRY:
	case KIND_RETURN:
		put_function(f, tool, file, p, p->kind == KIND_RETURN);
		return p->n <= 2;
	case KIND_USER_ENTRY:
	case KIND_USER_RETURN:
		put_function(f, tool, p->part[0], p, p->kind == KIND_USER_RETURN);
		return p->n == 2;
	case KIND_LIBC:
	case KIND_LIBM:
		put_function(f, tool, p->kind == KIND_LIBC ? "libc" : "libm", p, false);
		return p->n == 1;
	case KIND_TRACEPOINT:
		fprintf(f, "tally %s%s '%s:%s'", tool, before_event(tool), p->part[0], last);
		return p->n == 2;
	case KIND_RAW:
		fprintf(f, "tally list '%s'", last);
		return p->n == 1;
	case KIND_USDT:
		return put_usdt(f, tool, p);
	case KIND_COUNTER:
		return put_counter(f, tool, p);
	case KIND_SAMPLES:
		fprintf(f, "tally profile -F %s", last);
		return p->n == 2 && !strcmp(p->part[0], "hz");
	}
	return false;
}

char *foreign_event__here(const char *tool, const char *text)
{
	char *line = NULL;
	struct parts p;
	bool is_one = false;
	size_t n;
	FILE *f;

	if (strchr(text, '"'))
		return bcc_probe__here(text);
	f = open_memstream(&line, &n);
	if (!f)
		return NULL;
	if (split(&p, text)) {
		if (p.kind == KIND_ENTRY || p.kind == KIND_RETURN)
			take_named(&p);
		is_one = p.text && (!*p.args || p.kind <= KIND_RETURN) && put_line(f, tool, &p);
	}
	free(p.text);
	if (!fclose(f) && is_one)
		return line;
	free(line);
	return NULL;
}
