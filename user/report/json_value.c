// SPDX-License-Identifier: BSD-2-Clause
#include "report/json_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "report/escape.h"
#include "report/role.h"

json_t *json_of_number(u64 value)
{
	return value <= INT64_MAX ? json_integer(value) : json_real((double)value);
}

json_t *json_of_moment(u64 realtime_ns)
{
	time_t seconds = realtime_ns / NSEC_PER_SEC;
	char text[64];
	struct tm tm;
	size_t n;

	if (!gmtime_r(&seconds, &tm))
		return json_null();
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09lluZ", realtime_ns % NSEC_PER_SEC);
	return json_string(text);
}

json_t *json_of_text(const char *raw)
{
	char *text;
	json_t *value;

	if (!raw)
		return json_null();
	text = escape_string(raw);
	value = text ? json_string(text) : NULL;
	free(text);
	return value;
}

json_t *json_of_field(const struct field *f)
{
	if (f->text)
		return json_of_text(f->text);
	if (f->kind == FIELD_NONE || (f->kind == FIELD_REAL && !isfinite(f->real)))
		return json_null();
	if (field_is_signed(f->kind))
		return json_integer((s64)f->number);
	return f->kind == FIELD_REAL ? json_real(f->real) : json_of_number(f->number);
}

void json_put_flag(json_t *o, const char *name, bool set)
{
	if (set)
		json_object_set_new(o, name, json_true());
}

static void put_name(json_t *o, const char *member, const char *name)
{
	if (name)
		json_object_set_new(o, member, json_of_text(name));
}

void json_put_role(json_t *o, enum field_role role, const char *of, const char *per)
{
	put_name(o, "role", field_role_name(role));
	put_name(o, "of", of);
	put_name(o, "per", per);
}

json_t *json_of_fields(const struct field *f, size_t n)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_set_new(object, f[i].name, json_of_field(&f[i]));
	return object;
}
