/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON values for all writers. Each function returns a new reference, for json_object_set_new() and
 * similar functions to steal, or NULL without memory, which those functions reject, so the dump fails.
 */
#ifndef TALLY_OUT_JSON_VALUE_H
#define TALLY_OUT_JSON_VALUE_H

#include <jansson.h>

#include "report/report.h"

/*
 * jansson integers are signed 64-bit. Larger values (a count above 2^63, the last bucket) become
 * reals, which every reader accepts.
 */
json_t *json_of_number(u64 value);

/*
 * A time since 1970 in RFC 3339 format, in UTC: "2026-11-28T17:42:13.123456789Z". As a number, its nanoseconds would be
 * rounded to multiples of 256 by readers whose numbers are doubles (JavaScript, jq before 1.7).
 */
json_t *json_of_moment(u64 realtime_ns);

/* Escapes a raw text (report/escape.h). NULL: null. */
json_t *json_of_text(const char *raw);

/* json_of_field() returns null for a field without a value. json_of_fields() returns an object of fields by name. */
json_t *json_of_field(const struct field *f);

/* Adds the members "role", "of" and "per" if the field has them. */
void json_put_role(json_t *o, enum field_role role, const char *of, const char *per);
json_t *json_of_fields(const struct field *f, size_t n);

/* Sets a member to true, or omits it. */
void json_put_flag(json_t *o, const char *name, bool set);

#endif /* TALLY_OUT_JSON_VALUE_H */
