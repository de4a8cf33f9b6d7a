// SPDX-License-Identifier: BSD-2-Clause
#include "report/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"

static bool is_plain(const char *word, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr("_@%+=:,./-", word[i]))
			return false;
	return n;
}

/* True if report/escape.h leaves the word unchanged. Returning false is always safe. */
static bool stays(const char *word, size_t n)
{
	char *escaped = malloc(ESCAPE_SPACE(n));
	bool same = escaped && escape(escaped, word, n) == n;

	free(escaped);
	return same;
}

/*
 * Writes 'word', or $'word' if some bytes will be escaped as \xNN, which bash reads back. A single
 * quote becomes '"'"'.
 */
static char *put_quoted(char *to, const char *word, size_t n)
{
	const char *open = stays(word, n) ? "'" : "$'";
	size_t i;

	to = stpcpy(to, open);
	for (i = 0; i < n; i++) {
		if (word[i] == '\'')
			to = stpcpy(stpcpy(to, "'\"'\""), open);
		else
			*to++ = word[i];
	}
	return stpcpy(to, "'");
}

size_t shell_words(char *dst, const char *words, size_t n)
{
	const char *end = words + n;
	char *to = dst;
	size_t len;

	for (; words < end; words += len + 1) {
		len = strnlen(words, end - words);
		if (to > dst)
			*to++ = ' ';
		if (is_plain(words, len))
			to = mempcpy(to, words, len);
		else
			to = put_quoted(to, words, len);
	}
	*to = 0;
	return to - dst;
}
