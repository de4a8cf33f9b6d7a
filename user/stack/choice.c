// SPDX-License-Identifier: BSD-2-Clause
#include "stack/choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pattern.h"
#include "report/diag.h"

/* Cached results per frame. */
enum {
	ASKED = 1 << 0,
	IS_WITH = 1 << 1,
	IS_WITHOUT = 1 << 2,
};

static int compile(struct frame_pattern *p, const char *option, const char *text)
{
	char why[128];

	if (!text)
		return 0;
	if (pattern__compile(&p->regex, text, why, sizeof(why))) {
		diag_error("%s: '%.100s'%s is not a regular expression: %s", option, text,
			   strlen(text) > 100 ? "..." : "", why);
		return -EINVAL;
	}
	p->text = text;
	return 0;
}

int stack_choice__init(struct stack_choice *c, const char *with, const char *without)
{
	int err = compile(&c->with, "--frames", with);

	if (!err)
		err = compile(&c->without, "--no-frames", without);
	if (err)
		stack_choice__free(c);
	return err;
}

static bool matches(const struct frame_pattern *p, const char *name)
{
	return p->text && !regexec(&p->regex, name, 0, NULL, 0);
}

static u8 ask(const struct stack_choice *c, const struct report_frame *f)
{
	const char *name = f->name ?: f->module ?: "[unknown]";

	return ASKED | (matches(&c->with, name) ? IS_WITH : 0) | (matches(&c->without, name) ? IS_WITHOUT : 0);
}

static int make_room(struct stack_choice *c, size_t frames)
{
	return ARRAY_REACH(c->seen, c->room, frames);
}

int stack_choice__takes(struct stack_choice *c, const struct stack_names *names, const struct stack_path *path)
{
	u8 found = 0;
	u32 i, frame;

	if (!stack_choice__selects(c))
		return 1;
	if (make_room(c, names->n))
		return -ENOMEM;
	for (i = 0; i < path->n; i++) {
		frame = path->frame[i];
		if (frame >= names->n)
			continue;
		if (!c->seen[frame])
			c->seen[frame] = ask(c, &names->frame[frame]);
		found |= c->seen[frame];
	}
	return (!c->with.text || found & IS_WITH) && !(found & IS_WITHOUT);
}

bool stack_choice__selects(const struct stack_choice *c)
{
	return c->with.text || c->without.text;
}

bool stack_choice__describe(const struct stack_choice *c, char *text, size_t size)
{
	const char *with = c->with.text, *without = c->without.text;

	if (with && without)
		snprintf(text, size, "--frames '%s', --no-frames '%s'", with, without);
	else if (with || without)
		snprintf(text, size, "--%sframes '%s'", with ? "" : "no-", with ?: without);
	return with || without;
}

void stack_choice__free(struct stack_choice *c)
{
	if (c->with.text)
		regfree(&c->with.regex);
	if (c->without.text)
		regfree(&c->without.regex);
	free(c->seen);
	*c = (struct stack_choice){};
}
