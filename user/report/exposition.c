// SPDX-License-Identifier: BSD-2-Clause
#include "report/exposition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/escape.h"

struct exposed_family {
	char *name, *head;      /* head: TYPE, UNIT and HELP lines */
	const char *type;       /* constant */
	FILE *f;
	char *text;             /* samples flushed so far */
	size_t n;
	size_t counted;         /* samples already included in series */
};

struct exposition {
	struct exposed_family **family;
	size_t n, series;
	bool no_memory;
};

struct exposition *exposition__new(void)
{
	return calloc(1, sizeof(struct exposition));
}

static void family__free(struct exposed_family *family)
{
	if (family->f)
		fclose(family->f);
	free(family->text);
	free(family->name);
	free(family->head);
	free(family);
}

void exposition__free(struct exposition *x)
{
	size_t i;

	for (i = 0; x && i < x->n; i++)
		family__free(x->family[i]);
	if (x)
		free(x->family);
	free(x);
}

int put_label_value(FILE *f, const char *text)
{
	char *shown = escape_string(text), *p;

	if (!shown)
		return -ENOMEM;
	for (p = shown; *p; p++) {
		if (*p == '\\' || *p == '"')
			fputc('\\', f);
		fputc(*p, f);
	}
	free(shown);
	return 0;
}

static int put_help(FILE *f, const char *text)
{
	char *shown = escape_string(text), *p;

	if (!shown)
		return -ENOMEM;
	for (p = shown; *p; p++)
		fputs(*p == '\\' ? "\\\\" : (char[]){ *p, 0 }, f);
	free(shown);
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Returns NULL without memory. */
static char *head_of(const char *name, const char *type, const char *unit, const char *help, const char *more)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int err;

	if (!f)
		return NULL;
	fprintf(f, "# TYPE %s %s\n", name, type);
	if (unit && ends_with(name, unit))
		fprintf(f, "# UNIT %s %s\n", name, unit);
	fprintf(f, "# HELP %s ", name);
	err = put_help(f, help);
	if (!err && more) {
		fputs("; ", f);
		err = put_help(f, more);
	}
	fputc('\n', f);
	if (!fclose(f) && !err)
		return text;
	free(text);
	return NULL;
}

static struct exposed_family *family_named(const struct exposition *x, const char *name)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		if (!strcmp(x->family[i]->name, name))
			return x->family[i];
	return NULL;
}

static struct exposed_family *add_family(struct exposition *x, const char *name, const char *type, char *head)
{
	struct exposed_family *family = calloc(1, sizeof(*family));

	if (!family) {
		free(head);
		return NULL;
	}
	*family = (struct exposed_family){ .name = strdup(name), .head = head, .type = type };
	family->f = open_memstream(&family->text, &family->n);
	if (family->name && family->head && family->f && !ARRAY_ROOM(x->family, x->n))
		return x->family[x->n++] = family;
	family__free(family);
	return NULL;
}

FILE *exposition__family(struct exposition *x, char name[METRIC_NAME_SPACE], const char *type, const char *unit,
			 const char *help, const char *more)
{
	struct exposed_family *family = family_named(x, name);

	if (family && strcmp(family->type, type)) {
		snprintf(name + strlen(name), METRIC_NAME_SPACE - strlen(name), "_%s", type);
		family = family_named(x, name);
	}
	if (!family)
		family = add_family(x, name, type, head_of(name, type, unit, help, more));
	x->no_memory |= !family;
	return family ? family->f : NULL;
}

size_t exposition__series(struct exposition *x)
{
	struct exposed_family *family;
	size_t i;

	for (i = 0; i < x->n; i++) {
		family = x->family[i];
		x->no_memory |= fflush(family->f) != 0;
		for (; family->counted < family->n; family->counted++)
			x->series += family->text[family->counted] == '\n';
	}
	return x->series;
}

/* Families without samples are omitted. */
int exposition__write(struct exposition *x, FILE *f)
{
	size_t i;

	exposition__series(x);
	for (i = 0; i < x->n; i++) {
		if (!x->family[i]->n)
			continue;
		fputs(x->family[i]->head, f);
		fwrite(x->family[i]->text, 1, x->family[i]->n, f);
	}
	fputs("# EOF\n", f);
	return x->no_memory ? -ENOMEM : 0;
}
