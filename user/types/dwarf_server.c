// SPDX-License-Identifier: BSD-2-Clause
/* The unprivileged process that reads debug information and answers queries. */
#include "types/dwarf_wire.h"

#ifdef HAVE_LIBDW

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/confined.h"
#include "types/dwarf_libdw.h"

#define MAX_QUESTION (64ULL << 20)

struct server {
	struct dwarf *d;
	struct direct_types *types;
	int err;                /* error from opening the files */
};

static int tell_functions(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_functions found = {};
	char *glob = unwire__text(u);
	int err = u->err ?: dwarf_direct__functions(&found, s->d, glob);

	if (!err)
		dwarf_wire__put_functions(w, &found);
	dwarf_functions__free(&found);
	free(glob);
	return err;
}

static int tell_lines_of(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_function f = {};
	struct dwarf_lines lines = {};
	int err;

	dwarf_wire__take_function(u, &f);
	err = u->err ?: dwarf_direct__lines_of(&lines, s->d, &f);
	if (!err)
		dwarf_wire__put_lines(w, &lines);
	dwarf_lines__free(&lines);
	return err;             /* f is small, and freed at exit */
}

static int tell_lines_of_file(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_lines lines = {};
	char *file = unwire__text(u);
	int err = u->err ?: dwarf_direct__lines_of_file(&lines, s->d, file ?: "");

	if (!err)
		dwarf_wire__put_lines(w, &lines);
	dwarf_lines__free(&lines);
	free(file);
	return err;
}

static int tell_row(struct server *s, struct unwire *u, struct wire *w)
{
	u64 address = unwire__number(u);

	wire__number(w, dwarf_direct__has_row(s->d, address));
	return u->err;
}

static int tell_variables(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_variables found = {};
	struct dwarf_place place = {};
	u64 has_place = unwire__number(u), address, globals;
	int err;

	if (has_place)
		dwarf_wire__take_place(u, &place);
	address = unwire__number(u);
	globals = unwire__number(u);
	err = u->err ?: dwarf_direct__variables(&found, s->d, has_place ? &place : NULL, address,
						globals);
	if (!err)
		dwarf_wire__put_variables(w, &found);
	dwarf_variables__free(&found);
	free(place.function);
	return err;
}

/* Answers with the type's number and all types so far. */
static int tell_type(struct server *s, struct unwire *u, struct wire *w)
{
	u64 entry = unwire__number(u);
	const void *data;
	u32 id, size;
	int err = u->err;

	if (!err && !s->types)
		err = direct_types__new(&s->types, s->d);
	if (!err)
		err = direct_types__add(s->types, entry, &id);
	if (err)
		return err;
	data = btf__raw_data(direct_types__btf(s->types), &size);
	if (!data)
		return -ENOMEM;
	wire__number(w, id);
	wire__array(w, data, size, 1);
	return 0;
}

static int tell_type_named(struct server *s, struct unwire *u, struct wire *w)
{
	char *name = unwire__text(u);
	u64 address = unwire__number(u), entry;
	int err = u->err ?: dwarf_direct__find_type(s->d, name ?: "", address, &entry);

	if (!err)
		wire__number(w, entry);
	free(name);
	return err;
}

static int tell(struct server *s, u64 what, struct unwire *u, struct wire *w)
{
	if (s->err)
		return s->err;
	switch (what) {
	case ASK_OPENED:
		wire__number(w, dwarf_direct__is_split(s->d));
		return 0;
	case ASK_FUNCTIONS:
		return tell_functions(s, u, w);
	case ASK_LINES_OF:
		return tell_lines_of(s, u, w);
	case ASK_LINES_OF_FILE:
		return tell_lines_of_file(s, u, w);
	case ASK_ROW:
		return tell_row(s, u, w);
	case ASK_VARIABLES:
		return tell_variables(s, u, w);
	case ASK_TYPE:
		return tell_type(s, u, w);
	case ASK_TYPE_NAMED:
		return tell_type_named(s, u, w);
	default:
		return -EINVAL;
	}
}

static bool read_all(int fd, void *data, size_t size)
{
	char *at = data;
	ssize_t n;

	for (; size; at += n, size -= n) {
		n = read(fd, at, size);
		if (n <= 0)
			return false;
	}
	return true;
}

static bool serve_one(struct answer *to, struct server *s)
{
	struct dwarf_answered head = {};
	struct dwarf_asked asked;
	struct wire w = {};
	struct unwire u;
	char *question;

	if (!read_all(to->fd, &asked, sizeof(asked)) || asked.size > MAX_QUESTION)
		return false;
	question = malloc(asked.size ?: 1);
	if (!question || !read_all(to->fd, question, asked.size))
		return false;
	u = (struct unwire){ question, asked.size, 0 };
	head.err = tell(s, asked.what, &u, &w);
	head.err = head.err ?: w.err;
	head.size = head.err ? 0 : w.n;
	answer__put(to, &head, sizeof(head));
	answer__put(to, w.data, head.size);
	free(question);
	free(w.data);
	return !to->err;
}

void dwarf_server__run(struct answer *to, void *arg)
{
	const struct dwarf_files *has = arg;
	int debug_fd = has->has_debug ? 1 : -1, alt_fd = has->has_alt ? 1 + has->has_debug : -1;
	struct server s = {};

	s.err = dwarf_direct__open(&s.d, 0, debug_fd, alt_fd, true);
	while (serve_one(to, &s))
		;
}

#endif /* HAVE_LIBDW */
