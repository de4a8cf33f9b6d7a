// SPDX-License-Identifier: BSD-2-Clause
#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * Copies one word to *to, NUL-terminated. Returns the rest of the text, or NULL for an unclosed
 * quote.
 */
static const char *copy_word(const char *text, char **to)
{
	char quote = 0;

	for (; *text && (quote || !is_blank(*text)); text++) {
		if (quote ? *text == quote : *text == '\'' || *text == '"') {
			quote = quote ? 0 : *text;
			continue;
		}
		if (*text == '\\' && quote != '\'' && !*++text)
			return NULL;
		*(*to)++ = *text;
	}
	*(*to)++ = 0;
	return quote ? NULL : text;
}

int words__split(const char *text, char ***words)
{
	/* At most one word per two characters, plus NULL; words never grow. */
	size_t most = strlen(text) / 2 + 2;
	char **list = malloc(most * sizeof(*list) + strlen(text) + 1);
	char *to = (char *)(list + most);
	int n = 0;

	if (!list)
		return -ENOMEM;
	for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
		list[n++] = to;
		text = copy_word(text, &to);
		if (!text) {
			free(list);
			return -EINVAL;
		}
	}
	list[n] = NULL;
	*words = list;
	return n;
}
