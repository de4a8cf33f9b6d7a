// SPDX-License-Identifier: BSD-2-Clause
#include "base/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NO_TEXT UINT64_MAX

void wire__put(struct wire *w, const void *data, size_t size)
{
	if (w->err || !size)
		return;
	w->err = size > SIZE_MAX - w->n ? -ENOMEM : ARRAY_RESERVE(w->data, w->room, w->n + size);
	if (w->err)
		return;
	memcpy(w->data + w->n, data, size);
	w->n += size;
}

void wire__number(struct wire *w, u64 number)
{
	wire__put(w, &number, sizeof(number));
}

void wire__text(struct wire *w, const char *text)
{
	wire__number(w, text ? strlen(text) : NO_TEXT);
	if (text)
		wire__put(w, text, strlen(text));
}

void wire__array(struct wire *w, const void *array, u64 n, size_t each)
{
	wire__number(w, n);
	wire__put(w, array, n * each);
}

void unwire__get(struct unwire *u, void *data, size_t size)
{
	if (!u->err && size > u->left)
		u->err = -EBADMSG;
	if (u->err) {
		memset(data, 0, size);
		return;
	}
	memcpy(data, u->at, size);
	u->at += size;
	u->left -= size;
}

u64 unwire__number(struct unwire *u)
{
	u64 number;

	unwire__get(u, &number, sizeof(number));
	return number;
}

char *unwire__text(struct unwire *u)
{
	u64 len = unwire__number(u);
	char *text;

	if (len == NO_TEXT)
		return NULL;
	if (!u->err && (len > u->left || memchr(u->at, 0, len)))
		u->err = -EBADMSG;
	if (u->err)
		return NULL;
	text = malloc(len + 1);
	if (!text) {
		u->err = -ENOMEM;
		return NULL;
	}
	unwire__get(u, text, len);
	text[len] = 0;
	return text;
}

u64 unwire__count(struct unwire *u, size_t least)
{
	u64 n = unwire__number(u);

	if (!u->err && n > u->left / least)
		u->err = -EBADMSG;
	return u->err ? 0 : n;
}

void *unwire__array(struct unwire *u, u64 *n, size_t each)
{
	void *array;

	*n = unwire__count(u, each);
	array = malloc(*n * each ?: 1);
	if (!array) {
		u->err = -ENOMEM;
		*n = 0;
		return NULL;
	}
	unwire__get(u, array, *n * each);
	return array;
}
