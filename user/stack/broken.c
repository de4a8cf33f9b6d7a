// SPDX-License-Identifier: BSD-2-Clause
#include "stack/broken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"
#include "report/incomplete.h"

/* Modules listed for each reason, by descending number of events. */
#define TOLD_MODULES 5
#define SAID_MODULES 3

static struct broken_module *find(struct broken *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (!strcmp(b->module[i].name, name))
			return &b->module[i];
	if (b->n == BROKEN_MODULES)
		return NULL;
	snprintf(b->module[b->n].name, sizeof(b->module->name), "%s", name);
	return &b->module[b->n++];
}

void broken__count(struct broken *b, const struct stack_path *path, u64 count)
{
	struct broken_module *m;

	b->total += count;
	if (!path->breaks)
		return;
	b->value[path->breaks] += count;
	m = find(b, path->breaks_in);
	if (m)
		m->value[path->breaks] += count;
}

/*
 * Returns the module that follows `before` (NULL for the first) by descending number of events. Modules with equal
 * numbers keep their order.
 */
static const struct broken_module *next_module(const struct broken *b, enum stack_break why,
					       const struct broken_module *before)
{
	const struct broken_module *m, *best = NULL;

	for (m = b->module; m < b->module + b->n; m++) {
		u64 value = m->value[why], most = before ? before->value[why] : UINT64_MAX;

		if (!value || value > most || (value == most && m <= before))
			continue;
		if (!best || value > best->value[why])
			best = m;
	}
	return best;
}

static u64 sum_of(const struct broken *b)
{
	u64 sum = 0;
	u32 why;

	for (why = 1; why < STACK_BREAKS; why++)
		sum += b->value[why];
	return sum;
}

/* Skips generated code, which has its own note (stack/generated.h). */
static enum stack_break main_reason(const struct broken *b)
{
	enum stack_break best = STACK_WHOLE;
	u32 why;

	for (why = 1; why < STACK_BREAKS; why++)
		if (why != STACK_GENERATED && b->value[why] > (best ? b->value[best] : 0))
			best = why;
	return best;
}

bool broken__is_much(const struct broken *b)
{
	enum stack_break why = main_reason(b);

	return why && b->value[why] * (100.0 / INCOMPLETE_TO_NOTE) >= b->total;
}

static void put_names(const struct broken *b, enum stack_break why, FILE *f)
{
	const struct broken_module *m = NULL;
	size_t i;

	for (i = 0; i < SAID_MODULES && (m = next_module(b, why, m)); i++)
		fprintf(f, "%s%s", i ? ", " : " (", m->name);
	if (i)
		fputs(m && next_module(b, why, m) ? ", ...)" : ")", f);
}

void broken__say(const struct broken *b, FILE *f)
{
	static const struct {
		const char *reason, *advice;
	} said[STACK_BREAKS] = {
		[STACK_NO_TABLE] = { "as their code has neither unwind tables nor frame pointers",
				     "build with -fno-omit-frame-pointer" },
		[STACK_LATE_TABLE] = { "as unwind tables were not read yet",
				       "longer runs have fewer; -p PID and commands after -- have none" },
		[STACK_NOT_FOLLOWED] = { "due to unsupported unwind rules, or memory that could not be read",
					 "-v counts them" },
		[STACK_NO_CALLER] = { "as return addresses are not code", "building with -fno-omit-frame-pointer may "
									  "help" },
	};
	enum stack_break why = main_reason(b);

	fprintf(f, "%.0f %% by [incomplete] stacks, %s", 100.0 * b->value[why] / b->total, said[why].reason);
	put_names(b, why, f);
	fprintf(f, ": %s", said[why].advice);
}

static void tell_modules(const struct broken *b, enum stack_break why, const char *reason)
{
	const struct broken_module *m = NULL;
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	for (i = 0; i < TOLD_MODULES && (m = next_module(b, why, m)); i++)
		fprintf(f, "%s%s %llu", i ? ", " : ": ", m->name, m->value[why]);
	if (!fclose(f))
		diag_detail("%llu of them %s%s", b->value[why], reason, text);
	free(text);
}

void broken__tell(const struct broken *b)
{
	static const char *const reason[STACK_BREAKS] = {
		[STACK_NO_TABLE] = "in code of files without tables",
		[STACK_LATE_TABLE] = "in code of files whose tables were not read yet",
		[STACK_GENERATED] = "in generated code",
		[STACK_NOT_FOLLOWED] = "due to an unsupported unwind rule, or memory that could not be read",
		[STACK_NO_CALLER] = "due to a return address that is not code",
	};
	u32 why;

	diag_detail("%llu of %llu with [incomplete] stacks", sum_of(b), b->total);
	for (why = 1; why < STACK_BREAKS; why++)
		if (b->value[why])
			tell_modules(b, why, reason[why]);
}
