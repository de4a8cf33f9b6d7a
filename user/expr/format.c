// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

static void put_string(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		/* Keep the backslash of an escaped glob character, as in \*. */
		if (*text == '"' || (*text == '\\' && !(text[1] && strchr("*?[]", text[1]))))
			fprintf(f, "\\%c", *text);
		else if (isprint((unsigned char)*text))
			fputc(*text, f);
		else
			fprintf(f, "\\x%02x", (unsigned char)*text);
	}
	fputc('"', f);
}

static void put(FILE *f, const struct expr *e)
{
	switch (e->op) {
	case EXPR_NUMBER:
		fprintf(f, "%llu", e->number);
		return;
	case EXPR_TIME:
		fprintf(f, "%lluns", e->number);
		return;
	case EXPR_DEVICE:
		fprintf(f, "%llu:%llu", e->number >> 20, e->number & ((1 << 20) - 1));
		return;
	case EXPR_STRING:
		put_string(f, e->text);
		return;
	case EXPR_PATH:
	case EXPR_NAME:
		fputs(e->text, f);
		return;
	case EXPR_SPECIAL:
		fprintf(f, "$%s", e->text);
		return;
	case EXPR_REGISTER:
		fprintf(f, "%%%s", e->text);
		return;
	case EXPR_SYMBOL:
		fprintf(f, "@%s", e->text);
		return;
	case EXPR_MEMBER:
	case EXPR_ARROW:
	case EXPR_TYPED:
		put(f, e->left);
		fprintf(f, "%s%s", expr_op_text(e->op), e->text);
		return;
	case EXPR_CAST:
		fprintf(f, "((%s)", e->text);
		break;
	case EXPR_MEMORY:
		fprintf(f, "%+lld(", (long long)e->number);
		break;
	case EXPR_INDEX:
		put(f, e->left);
		fputc('[', f);
		put(f, e->right);
		fputc(']', f);
		return;
	default:
		fputc('(', f);
		if (!e->right)
			fputs(expr_op_text(e->op), f);
	}
	put(f, e->left);
	if (e->right) {
		fprintf(f, " %s ", expr_op_text(e->op));
		put(f, e->right);
	}
	fputc(')', f);
}

char *expr__format(const struct expr *e)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	put(f, e);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
