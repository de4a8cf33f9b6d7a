// SPDX-License-Identifier: BSD-2-Clause
#include "cli/option_row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "host/errno_name.h"
#include "host/scope.h"
#include "report/diag.h"

/* First key of options without a letter. The key of such an option is this plus the number of its row. */
#define KEY_FIRST 0x1000

#define NAME_SPACE 64
#define LIST_SPACE 256

/*
 * --- the table of argp -------------------------------------------------------------------------
 */

static bool is_end(const struct option_row *row)
{
	return !row->name && !row->letter && !row->help && !row->rows;
}

/* True if the field has the type that its kind sets. Every run checks all rows of its tool. */
static bool fits(const struct option_row *row)
{
	switch (row->kind) {
	case ROW_FLAG:
		return row->size == sizeof(bool);
	case ROW_TIME:
		return row->size == sizeof(u64);
	case ROW_COUNT:
	case ROW_SIZE:
		return row->size == sizeof(u64) || row->size == sizeof(u32);
	case ROW_TEXT:
		return row->size == sizeof(char *);
	case ROW_GLOB:
		return row->size == sizeof(struct scope_glob);
	case ROW_ERRNO:
		return row->size == sizeof(int);
	case ROW_WORD:
	case ROW_WORDS:
		return row->size == sizeof(u32) && row->words;
	case ROW_OWN:
		return row->parse || row->parse_row;
	default:
		return true;
	}
}

static struct argp_option option_of(const struct option_row *row, size_t i)
{
	int flags = (row->hidden ? OPTION_HIDDEN : 0) | (row->optional ? OPTION_ARG_OPTIONAL : 0);

	if (row->kind == ROW_HEADING)
		return (struct argp_option){ .doc = row->help, .group = row->heading };
	if (row->kind == ROW_ALIAS)
		return (struct argp_option){ row->name, row->letter, NULL, OPTION_ALIAS, NULL, row->heading };
	return (struct argp_option){
		row->name, row->letter ?: KEY_FIRST + (int)i, row->arg, flags, row->help, row->heading,
	};
}

static bool has_name(const struct option_rows *rows, const char *name)
{
	size_t i;

	for (i = 0; name && i < rows->n; i++)
		if (rows->row[i]->name && !strcmp(rows->row[i]->name, name))
			return true;
	return false;
}

static void add_rows(struct option_rows *rows, const struct option_row *row, size_t base,
		     const struct option_rows *instead)
{
	for (; !is_end(row); row++) {
		if (row->kind == ROW_INCLUDE) {
			add_rows(rows, row->rows, base + row->offset, instead);
			continue;
		}
		if (instead && has_name(instead, row->name))
			continue;
		if (rows->n == OPTION_ROWS_MOST || !fits(row))
			abort();
		rows->row[rows->n] = row;
		rows->base[rows->n] = base;
		rows->option[rows->n] = option_of(row, rows->n);
		rows->n++;
	}
}

static const char *unit_name(const struct option_row *row)
{
	return row->unit_ns == NSEC_PER_SEC ? "s" : row->unit_ns == NSEC_PER_USEC ? "us" : "ms";
}

static int row_of_key(const struct option_rows *rows, int key)
{
	size_t i;

	for (i = 0; i < rows->n; i++)
		if (rows->option[i].key == key && rows->row[i]->kind != ROW_HEADING)
			return i;
	return -1;
}

/* Returns the text of --help: either allocated, and freed by argp, or the argument text itself. */
static char *describe(int key, const char *text, void *input)
{
	const struct option_rows *rows = input;
	int i = rows && key ? row_of_key(rows, key) : -1;
	const struct option_row *row = i < 0 ? NULL : rows->row[i];
	char *more = NULL;

	if (row && row->describe && rows->own)
		more = row->describe((char *)rows->own + rows->base[i]);
	else if (row && row->kind == ROW_TIME && !strcmp(row->arg, "TIME") &&
		 asprintf(&more, "%s; %s without a unit", text, unit_name(row)) < 0)
		more = NULL;
	return more ?: (char *)text;
}

static error_t parse(int key, char *arg, struct argp_state *state);

void option_rows__fill(struct option_rows *rows, const struct option_row *from, void *own)
{
	*rows = (struct option_rows){ .own = own };
	rows->argp = (struct argp){ .options = rows->option, .parser = parse, .help_filter = describe };
	if (from)
		add_rows(rows, from, 0, NULL);
}

void option_rows__add(struct option_rows *rows, const struct option_row *from, const struct option_rows *instead)
{
	add_rows(rows, from, 0, instead);
}

struct option_rows *option_rows__of(const struct argp *argp)
{
	return argp->parser == parse ? (void *)((char *)argp - offsetof(struct option_rows, argp)) : NULL;
}

const struct option_row *option_row__of(const struct argp *argp, const struct argp_option *option)
{
	const struct option_rows *rows = option_rows__of(argp);

	return rows ? rows->row[option - rows->option] : NULL;
}

bool option_row__takes_one(const struct option_row *row)
{
	return !row->adds;
}

/*
 * --- values ------------------------------------------------------------------------------------
 */

static int number_of(const struct option_row *row, const char *text, u64 *n)
{
	return row->kind == ROW_TIME ? parse_duration(text, row->unit_ns ?: NSEC_PER_MSEC, n) :
				       parse_u64_between(text, 0, UINT64_MAX, n);
}

bool option_row__same(const struct option_row *row, const char *one, const char *other)
{
	bool counts = row->kind == ROW_TIME || row->kind == ROW_COUNT || row->kind == ROW_SIZE;
	u64 a, b;

	if (!strcmp(one, other))
		return true;
	return counts && !number_of(row, one, &a) && !number_of(row, other, &b) && a == b;
}

static error_t bad(const char *option, const char *value, const char *wanted)
{
	diag_error("%s: '%s' is not %s", option, value, wanted);
	return EINVAL;
}

static error_t parse_time(const struct option_row *row, const char *option, const char *value, u64 *field)
{
	u64 unit_ns = row->unit_ns ?: NSEC_PER_MSEC, n;

	if (!parse_duration(value, unit_ns, &n) && n >= row->least && (!row->most || n <= row->most)) {
		*field = n;
		return 0;
	}
	if (row->wanted)
		return bad(option, value, row->wanted);
	diag_error("%s: '%s' is not a time, like %s (a number alone is in %s)", option, value,
		   unit_ns == NSEC_PER_SEC ? "10s, 500ms" : unit_ns == NSEC_PER_USEC ? "5us, 300ns" : "10ms, 500us",
		   unit_name(row));
	return EINVAL;
}

static error_t parse_number(const struct option_row *row, const char *option, const char *value, void *field)
{
	u64 most = row->most ?: row->size == sizeof(u32) ? UINT32_MAX : UINT64_MAX, n;
	char wanted[NAME_SPACE];

	if (!parse_u64_between(value, row->least, most, &n)) {
		if (row->size == sizeof(u32))
			*(u32 *)field = n;
		else
			*(u64 *)field = n;
		return 0;
	}
	if (row->most)
		snprintf(wanted, sizeof(wanted), "a number from %llu to %llu", row->least, row->most);
	else
		snprintf(wanted, sizeof(wanted), "a number of at least %llu", row->least);
	return bad(option, value, row->wanted ?: wanted);
}

static error_t parse_glob(const char *option, const char *value, struct scope_glob *field)
{
	int err = scope_glob__compile(field, value);

	if (!err)
		return 0;
	diag_error("%s: '%s' %s", option, value,
		   err == -E2BIG ? "is too long for a glob" : "is not a glob: [ is not closed");
	return EINVAL;
}

static error_t parse_errno(const char *option, const char *value, int *field)
{
	if (!errno_number(value, field))
		return 0;
	diag_error("%s: no error '%s'", option, value);
	diag_hint("expected a name like ENOENT or EAGAIN, or a number; errno(3) lists them");
	return EINVAL;
}

static error_t bad_word(const struct option_row *row, const char *option, const char *value, size_t len)
{
	char list[LIST_SPACE] = "";
	size_t i, n = 0;

	for (i = 0; i < row->nwords && n < sizeof(list); i++)
		if (row->words[i])
			n += snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "", row->words[i]);
	if (row->noun)
		diag_error("%s: unknown %s '%.*s'; expected one of %s", option, row->noun, (int)len, value, list);
	else
		diag_error("%s: '%.*s' is not one of %s", option, (int)len, value, list);
	return EINVAL;
}

/* Returns the index of the word that the first len characters spell, or nwords. */
static size_t find_word(const struct option_row *row, const char *value, size_t len)
{
	size_t i;

	for (i = 0; i < row->nwords; i++)
		if (row->words[i] && strlen(row->words[i]) == len && !strncmp(row->words[i], value, len))
			break;
	return i;
}

/* Parses a word. An omitted value means the first word. */
static error_t parse_word(const struct option_row *row, const char *option, const char *value, int *field)
{
	size_t i = value ? find_word(row, value, strlen(value)) : 0;

	if (i == row->nwords)
		return bad_word(row, option, value, strlen(value));
	*field = i;
	return 0;
}

static error_t parse_words(const struct option_row *row, const char *option, const char *value, u32 *field)
{
	u32 bits = 0;
	size_t i, len;

	for (;; value += len + 1) {
		len = strcspn(value, ",");
		i = find_word(row, value, len);
		if (i == row->nwords)
			return bad_word(row, option, value, len);
		bits |= 1U << i;
		if (!value[len])
			break;
	}
	*field = row->adds ? *field | bits : bits;
	return 0;
}

static error_t set(const struct option_row *row, const char *option, char *value, void *own)
{
	void *field = (char *)own + row->offset;

	switch (row->kind) {
	case ROW_FLAG:
		*(bool *)field = true;
		return 0;
	case ROW_TIME:
		return parse_time(row, option, value, field);
	case ROW_COUNT:
	case ROW_SIZE:
		return parse_number(row, option, value, field);
	case ROW_TEXT:
		*(const char **)field = value;
		return 0;
	case ROW_GLOB:
		return parse_glob(option, value, field);
	case ROW_ERRNO:
		return parse_errno(option, value, field);
	case ROW_WORD:
		return parse_word(row, option, value, field);
	case ROW_WORDS:
		return parse_words(row, option, value, field);
	case ROW_OWN:
		return (row->parse ? row->parse(own, value) : row->parse_row(own, row, value)) ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct option_rows *rows = state->input;
	int i = row_of_key(rows, key);
	const struct option_row *row = i < 0 ? NULL : rows->row[i];
	char option[NAME_SPACE], *own;
	error_t err;

	if (!row || !key)
		return ARGP_ERR_UNKNOWN;
	own = (char *)rows->own + rows->base[i];
	if (row->letter)
		snprintf(option, sizeof(option), "-%c", row->letter);
	else
		snprintf(option, sizeof(option), "--%s", row->name);
	err = set(row, option, arg, own);
	if (!err && row->sets_also)
		*(bool *)(own + row->also) = true;
	return err;
}
