// SPDX-License-Identifier: BSD-2-Clause
#include "report/stream_value.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "report/escape.h"

#define FAULT "(fault)"

void stream_put_time(FILE *f, u64 time_ns)
{
	time_t seconds = time_ns / NSEC_PER_SEC;
	char clock[16] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(f, "%s.%06llu", clock, time_ns % NSEC_PER_SEC / 1000);
}

static void put_ns(FILE *f, u64 ns, bool milliseconds)
{
	char text[UNITS_SPACE];

	fputs(format_value(text, ns, UNIT_NS, milliseconds), f);
}

int stream_put_text(FILE *f, const char *text, bool quoted)
{
	char *line = escape_string(text), *p;

	if (!line)
		return -ENOMEM;
	for (p = line; *p; p++) {
		if (quoted && *p == '"')
			fputs("\\x22", f);
		else
			fputc(*p, f);
	}
	free(line);
	return 0;
}

int stream_put_value(FILE *f, const struct stream_field *v, bool quoted, bool milliseconds)
{
	int err = 0;

	if (v->fault) {
		fputs(FAULT, f);
	} else if (v->field.kind == FIELD_NONE) {
		fputc('-', f);          /* the template needs a placeholder */
	} else if (v->field.text && v->escaped) {
		fputs(v->field.text, f);
	} else if (v->field.text) {
		quoted &= !v->field.word;
		if (quoted)
			fputc('"', f);
		err = stream_put_text(f, v->field.text, quoted);
		if (quoted)
			fputc('"', f);
		if (v->cut)
			fputs(STREAM_CUT, f);
	} else if (v->seconds) {
		fprintf(f, "%llu.%06llu", v->field.number / NSEC_PER_SEC,
			v->field.number % NSEC_PER_SEC / NSEC_PER_USEC);
	} else if (v->field.kind == FIELD_TIME) {
		put_ns(f, v->field.number, milliseconds);
	} else {
		fprintf(f, field_is_signed(v->field.kind) ? "%lld" : "%llu", v->field.number);
	}
	return err;
}

bool stream_field__is_there(const struct stream_field *v)
{
	return v->fault || v->field.kind != FIELD_NONE;
}

void stream_put_elapsed(FILE *f, const struct stream_line *line, bool milliseconds)
{
	if (line->elapsed_unknown)
		fputc('-', f);
	else
		put_ns(f, line->elapsed_ns, milliseconds);
}

int stream_put_pair(FILE *f, const struct stream_field *v, const char *gap, bool milliseconds)
{
	int err;

	fputs(gap, f);
	err = stream_put_text(f, v->field.name, false);
	fputc('=', f);
	return err ?: stream_put_value(f, v, true, milliseconds);
}

int stream_put_pairs(FILE *f, const struct stream_line *line, const char *gap, bool milliseconds)
{
	size_t i;
	int err = 0;

	for (i = 0; i < line->n && !err; i++) {
		if (!stream_field__is_there(&line->field[i]))
			continue;
		err = stream_put_pair(f, &line->field[i], gap, milliseconds);
		gap = " ";
	}
	return err;
}
