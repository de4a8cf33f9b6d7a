// SPDX-License-Identifier: BSD-2-Clause
/* Formats types in C syntax. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types/btf_common.h"

static char *declare(const struct btf *btf, u32 id, const char *name, int nesting);

/* Replaces *text with a formatted text; *text is NULL after the first failure. */
static void PRINTF_LIKE(2, 3) rewrite(char **text, const char *fmt, ...)
{
	char *new;
	va_list args;
	int n;

	if (!*text)
		return;
	va_start(args, fmt);
	n = vasprintf(&new, fmt, args);
	va_end(args);
	free(*text);
	*text = n < 0 ? NULL : new;
}

/* Returns the parameters, e.g. "(struct sock *sk, ...)". */
static char *arguments(const struct btf *btf, const struct btf_type *proto, int nesting)
{
	const struct btf_param *p = btf_params(proto);
	char *text = strdup("(");
	u32 i;

	for (i = 0; i < btf_vlen(proto); i++) {
		const char *name = btf_name(btf, p[i].name_off);
		char *one = p[i].type ? declare(btf, p[i].type, name, nesting + 1) : strdup("...");

		if (one) {
			rewrite(&text, "%s%s%s", text, i ? ", " : "", one);
		} else {
			free(text);
			text = NULL;
		}
		free(one);
	}
	rewrite(&text, "%s%s)", text, i ? "" : "void");
	return text;
}

/* Returns the type that a declarator follows, e.g. "struct sock" or "unsigned int". */
static char *base_name(const struct btf *btf, const struct btf_type *t)
{
	const char *name = t ? btf_name(btf, t->name_off) : "void", *kind = "";
	char *text;

	switch (t ? btf_kind(t) : BTF_KIND_UNKN) {
	case BTF_KIND_STRUCT:
		kind = "struct ";
		break;
	case BTF_KIND_UNION:
		kind = "union ";
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		kind = "enum ";
		break;
	case BTF_KIND_FWD:
		kind = btf_kflag(t) ? "union " : "struct ";
		break;
	}
	return asprintf(&text, "%s%s", kind, *name ? name : "{...}") < 0 ? NULL : text;
}

/* A C declarator, built outwards from the name. */
struct declarator {
	char *text;             /* NULL if out of memory */
	bool is_pointer;        /* needs parentheses before [] and () */
	const char *constant, *is_volatile, *is_restrict;
};

/* Prepends words, each followed by a blank. Drops the last blank unless a name follows. */
static void put_in_front(struct declarator *d, const char *star, const char *words)
{
	int n = strlen(words);

	if (n && d->text && (!*d->text || *d->text == '['))
		n--;
	rewrite(&d->text, "%s%.*s%s", star, n, words, d->text);
}

static void add_pointer(struct declarator *d)
{
	char words[32];

	snprintf(words, sizeof(words), "%s%s%s", d->constant, d->is_volatile, d->is_restrict);
	put_in_front(d, "*", words);
	d->constant = d->is_volatile = d->is_restrict = "";
	d->is_pointer = true;
}

static void add_parentheses(struct declarator *d)
{
	if (d->is_pointer)
		rewrite(&d->text, "(%s)", d->text);
	d->is_pointer = false;
}

static void add_tag(struct declarator *d, const char *tag, bool is_attribute)
{
	char *words;
	int n;

	if (is_attribute)
		n = asprintf(&words, "__attribute__((%s)) ", tag);
	else
		n = asprintf(&words, "__%s ", tag);
	if (n < 0) {
		free(d->text);
		d->text = NULL;
		return;
	}
	put_in_front(d, "", words);
	free(words);
}

/* Takes one step from the name towards the base type. Returns false at the base type. */
static bool step(struct declarator *d, const struct btf *btf, const struct btf_type *t, u32 *next,
		 int nesting)
{
	char *list;

	*next = t->type;
	switch (btf_kind(t)) {
	case BTF_KIND_CONST:
		d->constant = "const ";
		return true;
	case BTF_KIND_VOLATILE:
		d->is_volatile = "volatile ";
		return true;
	case BTF_KIND_RESTRICT:
		d->is_restrict = "restrict ";
		return true;
	case BTF_KIND_TYPE_TAG:
		add_tag(d, btf_name(btf, t->name_off), btf_kflag(t));
		return true;
	case BTF_KIND_PTR:
		add_pointer(d);
		return true;
	case BTF_KIND_ARRAY:
		add_parentheses(d);
		if (btf_array(t)->nelems)
			rewrite(&d->text, "%s[%u]", d->text, btf_array(t)->nelems);
		else
			rewrite(&d->text, "%s[]", d->text);
		*next = btf_array(t)->type;
		return true;
	case BTF_KIND_FUNC_PROTO:
		add_parentheses(d);
		list = arguments(btf, t, nesting);
		if (list) {
			rewrite(&d->text, "%s%s", d->text, list);
		} else {
			free(d->text);
			d->text = NULL;
		}
		free(list);
		return true;
	default:
		return false;
	}
}

static char *declare(const struct btf *btf, u32 id, const char *name, int nesting)
{
	struct declarator d = { strdup(name), false, "", "", "" };
	const struct btf_type *t = NULL;
	char *base;
	int steps = 0;

	while (d.text && id) {
		t = btf__type_by_id(btf, id);
		if (!t || nesting + steps++ > BTF_NESTING_MAX) {
			free(d.text);
			return NULL;
		}
		if (!step(&d, btf, t, &id, nesting))
			break;
		t = NULL;
	}
	base = d.text ? base_name(btf, t) : NULL;
	if (base) {
		const char *blank = *d.text && *d.text != '[' ? " " : "";

		rewrite(&d.text, "%s%s%s%s%s", d.constant, d.is_volatile, base, blank, d.text);
	} else {
		free(d.text);
		d.text = NULL;
	}
	free(base);
	return d.text;
}

char *btf_declaration(const struct btf *btf, u32 id, const char *name)
{
	return declare(btf, id, name, 0);
}
