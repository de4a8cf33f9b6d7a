/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of JSON, for all who write it. New references, which json_object_set_new() and the like take over; NULL
 * for want of memory, which those refuse, and dumping what lacks them fails.
 */
#ifndef TALLY_OUT_JSON_VALUE_H
#define TALLY_OUT_JSON_VALUE_H

#include <jansson.h>

#include "report/report.h"

/*
 * JSON integers are signed 64-bit in jansson. Larger values (a count above 2^63, the last bucket)
 * are given as reals, which every reader can take.
 */
json_t *json_of_number(u64 value);

/* A text as it is: this escapes it (report/escape.h). NULL: null. */
json_t *json_of_text(const char *raw);

/* null where there is no value; and an object of several, by their names. */
json_t *json_of_field(const struct field *f);
json_t *json_of_fields(const struct field *f, size_t n);

/* A member that is true, or is not there. */
void json_put_flag(json_t *o, const char *name, bool set);

#endif /* TALLY_OUT_JSON_VALUE_H */
