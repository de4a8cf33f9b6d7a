// SPDX-License-Identifier: BSD-2-Clause
#include "event/user_binary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "types/binary.h"

size_t event_word__path(const struct event_word *w)
{
	const char *slash = memrchr(w->text, '/', w->len), *colon;
	size_t from = slash ? slash - w->text : 0;

	colon = memchr(w->text + from, ':', w->len - from);
	if (!colon)
		return 0;
	if (slash || memmem(w->text, colon - w->text, ".so", 3))
		return colon - w->text;
	return 0;
}

bool event_word__is_sdt(const struct event_word *w, size_t from)
{
	return w->len - from > 4 && !strncmp(w->text + from, "sdt", 3) &&
	       (w->text[from + 3] == '_' || w->text[from + 3] == ':');
}

int event__take_path(struct event *e, const struct event_word *w, size_t *from,
		     struct complaint *c)
{
	size_t len = event_word__path(w);
	char *path;

	*from = 0;
	if (!len)
		return 0;
	path = event_word__copy(w, 0, len);
	if (!path)
		return complain(c, -ENOMEM, w->at, w->len, "no memory");
	free(e->binary);
	e->binary = path;
	*from = len + 1;
	return 0;
}

int event__locate_binary(char **path, const struct event *e, struct complaint *c)
{
	*path = binary__locate(e->binary);
	if (*path)
		return 0;
	if (errno == ENOMEM)
		return complain(c, -ENOMEM, e->at, e->len, "no memory");
	complain(c, 0, e->at, e->len, "there is no program and no library '%s'", e->binary);
	return complain_hint(c, -ENOENT, "name it with its path");
}

int event__complain_binary(const struct event *e, const char *path, int err, struct complaint *c)
{
	switch (err) {
	case -ENOEXEC:
		complain(c, 0, e->at, e->len, "%s is no program or library (ELF), or damaged",
			 path);
		return complain_hint(c, err, "for scripts, name the interpreter");
	case -EBADMSG:
	case -E2BIG:
		return complain(c, err, e->at, e->len, "%s is damaged", path);
	default:
		return complain(c, err, e->at, e->len, "%s: %s", path, strerror(-err));
	}
}

int event__complain_sites(const struct event *e, u32 most, struct complaint *c)
{
	complain(c, 0, e->at, e->len, "'%s' stands for more than %u places", e->name, most);
	return complain_hint(c, -E2BIG, "name fewer; -n shows them without doing anything");
}

const char *event_binary_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool event_is_glob(const char *name)
{
	return strpbrk(name, "*?[");
}
