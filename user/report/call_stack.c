// SPDX-License-Identifier: BSD-2-Clause
#include "report/call_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/escape.h"
#include "report/short_name.h"

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static const char *copy_text(char **to, const char *text)
{
	char *copy = *to;

	if (!text)
		return NULL;
	*to = stpcpy(copy, text) + 1;
	return copy;
}

int call_stacks__add(struct call_stacks *s, const struct report_frame *frame, u32 n)
{
	size_t size = n * sizeof(*frame);
	struct call_stack new = { .n = n };
	char *text;
	u32 i;

	if (ARRAY_ROOM(s->stack, s->n))
		return -ENOMEM;
	for (i = 0; i < n; i++)
		size += text_size(frame[i].name) + text_size(frame[i].module);
	new.frame = malloc(size ?: 1);
	if (!new.frame)
		return -ENOMEM;
	text = (char *)(new.frame + n);
	for (i = 0; i < n; i++) {
		new.frame[i] = (struct report_frame){
			.name = copy_text(&text, frame[i].name),
			.module = copy_text(&text, frame[i].module),
			.offset = frame[i].offset, .kind = frame[i].kind,
		};
	}
	s->stack[s->n++] = new;
	return 0;
}

const struct call_stack *call_stacks__find(const struct call_stacks *s, u32 number)
{
	return number && number <= s->n ? &s->stack[number - 1] : NULL;
}

void call_stacks__free(struct call_stacks *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->stack[i].frame);
	free(s->stack);
	*s = (struct call_stacks){};
}

static void put_frame(FILE *out, const struct report_frame *f)
{
	char *name = f->name || f->module ? escape_string(f->name ?: f->module) : NULL;

	fputs(name ?: "[unknown]", out);
	if (name && !f->name)
		fprintf(out, "+0x%llx", f->offset);
	free(name);
}

char *call_stack__frame(const struct call_stack *s, u32 i, bool brief)
{
	struct report_frame f = s->frame[i];
	bool is_user = f.kind == FRAME_USER && f.name && f.module;
	char *name = is_user && brief ? short_name(f.name) : NULL, *module = is_user ? escape_string(f.module) : NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = !out || (is_user && (!module || (brief && !name))) ? -ENOMEM : 0;

	if (!err) {
		f.name = name ?: f.name;
		put_frame(out, &f);
		if (module)
			fprintf(out, " (%s)", module);
	}
	free(name);
	free(module);
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err)
		return text;
	free(text);
	return NULL;
}

char *call_stack__line(const struct call_stack *s, u32 most)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	u32 i;

	if (!out)
		return NULL;
	for (i = 0; i < s->n; i++) {
		fputs(i ? " <- " : "", out);
		if (most && i == most)
			break;
		put_frame(out, &s->frame[i]);
	}
	if (i < s->n)
		fputs("...", out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
