// SPDX-License-Identifier: BSD-2-Clause
/*
 * types/dwarf.h for programs: the process without rights that reads the files, and what asks it and
 * takes its answers, which are no more trusted than the files. What is read directly is asked
 * directly.
 */
#include "types/dwarf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "base/regular.h"
#include "base/wire.h"
#include "types/debug_file.h"
#include "types/dwarf_libdw.h"

#ifdef HAVE_LIBDW

#include <bpf/btf.h>

/* Each with what is put behind it. */
enum question {
	ASK_OPENED,             /* nothing: did it go well? */
	ASK_FUNCTIONS,          /* glob */
	ASK_LINES_OF,           /* function */
	ASK_LINES_OF_FILE,      /* file */
	ASK_VARIABLES,          /* has place, place, address, globals */
	ASK_TYPE,               /* entry */
};

struct asked {
	u64 what, size;
};

struct answered {
	s64 err;
	u64 size;
};

#define MAX_QUESTION (64ULL << 20)

/*
 * --- on the wire -------------------------------------------------------------------------------
 *
 * Structures go as they are, so that a new member goes with them; what their pointers lead to
 * follows. A new pointer has to be put here, too.
 */

_Static_assert(sizeof(struct dwarf_place) == 48, "new members: pointers of them go here, too");
_Static_assert(sizeof(struct dwarf_function) == 48, "new members: pointers of them go here, too");
_Static_assert(sizeof(struct dwarf_line) == 24, "new members: pointers of them go here, too");
_Static_assert(sizeof(struct dwarf_variable) == 104, "new members: pointers of them go here, too");

/* A byte that the other side has set may be neither of a bool's values. */
static void settle(bool *b)
{
	u8 byte;

	memcpy(&byte, b, 1);
	*b = byte & 1;
}

static void put_place(struct wire *w, const struct dwarf_place *p)
{
	wire__put(w, p, sizeof(*p));
	wire__text(w, p->function);
}

static void take_place(struct unwire *u, struct dwarf_place *p)
{
	unwire__get(u, p, sizeof(*p));
	settle(&p->is_inlined);
	settle(&p->has_untold);
	p->function = unwire__text(u);
	if (!p->function && !u->err)
		u->err = -EBADMSG;
}

static void put_function(struct wire *w, const struct dwarf_function *f)
{
	size_t i;

	wire__put(w, f, sizeof(*f));
	wire__text(w, f->name);
	wire__text(w, f->linkage);
	wire__text(w, f->file);
	wire__number(w, f->nplaces);
	for (i = 0; i < f->nplaces; i++)
		put_place(w, &f->place[i]);
}

static void take_function(struct unwire *u, struct dwarf_function *f)
{
	u64 n, i;

	unwire__get(u, f, sizeof(*f));
	f->name = unwire__text(u);
	f->linkage = unwire__text(u);
	f->file = unwire__text(u);
	f->nplaces = 0;
	n = unwire__count(u, sizeof(*f->place));
	f->place = calloc(n ?: 1, sizeof(*f->place));
	if (!f->place || !f->name)
		u->err = u->err ?: f->place ? -EBADMSG : -ENOMEM;
	for (i = 0; f->place && i < n; i++)
		take_place(u, &f->place[f->nplaces++]);
}

static void put_functions(struct wire *w, const struct dwarf_functions *f)
{
	size_t i;

	wire__number(w, f->n);
	for (i = 0; i < f->n; i++)
		put_function(w, &f->function[i]);
}

static void take_functions(struct unwire *u, struct dwarf_functions *f)
{
	u64 n = unwire__count(u, sizeof(*f->function)), i;

	*f = (struct dwarf_functions){ .function = calloc(n ?: 1, sizeof(*f->function)) };
	if (!f->function)
		u->err = -ENOMEM;
	for (i = 0; f->function && i < n && !u->err; i++)
		take_function(u, &f->function[f->n++]);
	if (u->err)
		dwarf_functions__free(f);
}

static void put_lines(struct wire *w, const struct dwarf_lines *l)
{
	size_t i;

	wire__text(w, l->file);
	wire__text(w, l->directory);
	wire__number(w, l->n);
	for (i = 0; i < l->n; i++) {
		wire__put(w, &l->line[i], sizeof(l->line[i]));
		wire__array(w, l->line[i].address, l->line[i].naddresses, sizeof(u64));
	}
}

static void take_line(struct unwire *u, struct dwarf_line *l)
{
	u64 n;

	unwire__get(u, l, sizeof(*l));
	l->address = unwire__array(u, &n, sizeof(*l->address));
	l->naddresses = n;
}

static void take_lines(struct unwire *u, struct dwarf_lines *l)
{
	u64 n, i;

	*l = (struct dwarf_lines){ .file = unwire__text(u) };
	l->directory = unwire__text(u);
	n = unwire__count(u, sizeof(*l->line));
	l->line = calloc(n ?: 1, sizeof(*l->line));
	if (!l->line || !l->file)
		u->err = u->err ?: l->line ? -EBADMSG : -ENOMEM;
	for (i = 0; l->line && i < n && !u->err; i++)
		take_line(u, &l->line[l->n++]);
	if (u->err)
		dwarf_lines__free(l);
}

static void put_variable(struct wire *w, const struct dwarf_variable *var)
{
	wire__put(w, var, sizeof(*var));
	wire__text(w, var->name);
	wire__text(w, var->type);
	wire__array(w, var->live, var->nlive, sizeof(*var->live));
	wire__array(w, var->live_line, var->nlive_lines, sizeof(*var->live_line));
}

static void put_variables(struct wire *w, const struct dwarf_variables *v)
{
	size_t i;

	wire__number(w, v->n);
	for (i = 0; i < v->n; i++)
		put_variable(w, &v->variable[i]);
	put_variable(w, &v->result);
}

static void take_variable(struct unwire *u, struct dwarf_variable *v)
{
	u64 n;

	unwire__get(u, v, sizeof(*v));
	settle(&v->is_parameter);
	settle(&v->is_string);
	v->name = unwire__text(u);
	v->type = unwire__text(u);
	v->live = unwire__array(u, &n, sizeof(*v->live));
	v->nlive = n;
	v->live_line = unwire__array(u, &n, sizeof(*v->live_line));
	v->nlive_lines = n;
	if ((v->where > DWARF_COMPLEX || v->kind > DWARF_ARRAY || v->passed > DWARF_PASSED_NOWHERE) &&
	    !u->err)
		u->err = -EBADMSG;
}

static void take_named(struct unwire *u, struct dwarf_variable *v)
{
	take_variable(u, v);
	if ((!v->name || !v->type) && !u->err)
		u->err = -EBADMSG;
}

static void take_variables(struct unwire *u, struct dwarf_variables *v)
{
	u64 n = unwire__count(u, sizeof(*v->variable)), i;

	*v = (struct dwarf_variables){ .variable = calloc(n ?: 1, sizeof(*v->variable)) };
	if (!v->variable)
		u->err = -ENOMEM;
	for (i = 0; v->variable && i < n && !u->err; i++)
		take_named(u, &v->variable[v->n++]);
	if (!u->err)
		take_variable(u, &v->result);   /* it has no name, and of inlined functions no type */
	if (u->err)
		dwarf_variables__free(v);
}

/*
 * --- the process without rights ----------------------------------------------------------------
 */

struct server {
	struct dwarf *d;
	struct direct_types *types;
	int err;                /* of opening */
};

struct files {
	bool has_debug, has_alt;
};

static int tell_functions(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_functions found = {};
	char *glob = unwire__text(u);
	int err = u->err ?: dwarf_direct__functions(&found, s->d, glob);

	if (!err)
		put_functions(w, &found);
	dwarf_functions__free(&found);
	free(glob);
	return err;
}

static int tell_lines_of(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_function f = {};
	struct dwarf_lines lines = {};
	int err;

	take_function(u, &f);
	err = u->err ?: dwarf_direct__lines_of(&lines, s->d, &f);
	if (!err)
		put_lines(w, &lines);
	dwarf_lines__free(&lines);
	return err;             /* f is small, and goes with the process */
}

static int tell_lines_of_file(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_lines lines = {};
	char *file = unwire__text(u);
	int err = u->err ?: dwarf_direct__lines_of_file(&lines, s->d, file ?: "");

	if (!err)
		put_lines(w, &lines);
	dwarf_lines__free(&lines);
	free(file);
	return err;
}

static int tell_variables(struct server *s, struct unwire *u, struct wire *w)
{
	struct dwarf_variables found = {};
	struct dwarf_place place = {};
	u64 has_place = unwire__number(u), address, globals;
	int err;

	if (has_place)
		take_place(u, &place);
	address = unwire__number(u);
	globals = unwire__number(u);
	err = u->err ?: dwarf_direct__variables(&found, s->d, has_place ? &place : NULL, address,
						globals);
	if (!err)
		put_variables(w, &found);
	dwarf_variables__free(&found);
	free(place.function);
	return err;
}

/* The type's number, and all types that are known by now. */
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

static int tell(struct server *s, u64 what, struct unwire *u, struct wire *w)
{
	if (s->err)
		return s->err;
	switch (what) {
	case ASK_OPENED:
		return 0;
	case ASK_FUNCTIONS:
		return tell_functions(s, u, w);
	case ASK_LINES_OF:
		return tell_lines_of(s, u, w);
	case ASK_LINES_OF_FILE:
		return tell_lines_of_file(s, u, w);
	case ASK_VARIABLES:
		return tell_variables(s, u, w);
	case ASK_TYPE:
		return tell_type(s, u, w);
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
	struct answered head = {};
	struct asked asked;
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

/* confined_work: the files are the program, its debug file, and what dwz has moved. */
static void serve(struct answer *to, void *arg)
{
	const struct files *has = arg;
	int debug_fd = has->has_debug ? 1 : -1, alt_fd = has->has_alt ? 1 + has->has_debug : -1;
	struct server s = {};

	s.err = dwarf_direct__open(&s.d, 0, debug_fd, alt_fd, true);
	while (serve_one(to, &s))
		;
}

/*
 * --- who asks ----------------------------------------------------------------------------------
 */

static bool is_errno(s64 err)
{
	return err == -ENOENT || err == -EBADMSG || err == -ENOMEM || err == -ENODATA ||
	       err == -ENOEXEC || err == -E2BIG;
}

static void end(struct dwarf *d, int err)
{
	if (d->ask_fd < 0)
		return;
	close(d->ask_fd);
	d->ask_fd = -1;
	confined__end(d->pid, true);
	d->err = err;
}

static int send_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	for (; size; at += n, size -= n) {
		n = send(fd, at, size, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return -EBADMSG;
	}
	return 0;
}

static int receive(struct dwarf *d, struct answered *head, void **data)
{
	u64 end_ns = monotonic_ns() + DWARF_ANSWER_NS;
	int err = confined__read(d->ask_fd, head, sizeof(*head), end_ns);

	if (err)
		return err;
	if (head->size > CONFINED_MAX_ANSWER)
		return -EBADMSG;
	*data = malloc(head->size ?: 1);
	if (!*data)
		return -ENOMEM;
	err = confined__read(d->ask_fd, *data, head->size, end_ns);
	if (err)
		free(*data);
	return err;
}

/* Takes the question's memory over. *data, to be freed, is what *u is about. */
static int ask(struct dwarf *d, enum question what, struct wire *w, void **data, struct unwire *u)
{
	struct asked asked = { what, w->n };
	struct answered head;
	int err = d->ask_fd < 0 ? d->err : w->err;

	if (!err)
		err = send_all(d->ask_fd, &asked, sizeof(asked));
	if (!err)
		err = send_all(d->ask_fd, w->data, w->n);
	if (!err)
		err = receive(d, &head, data);
	free(w->data);
	if (err) {
		end(d, err);
		return err;
	}
	if (head.err) {
		free(*data);
		return is_errno(head.err) ? head.err : -EBADMSG;
	}
	*u = (struct unwire){ *data, head.size, 0 };
	return 0;
}

static int start(struct dwarf *d, const int *fd, size_t n, struct files *has)
{
	int ends[2], err;
	struct wire w = {};
	struct unwire u;
	void *data;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = confined__start(serve, has, fd, n, ends[1], &d->pid);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return err;
	}
	d->ask_fd = ends[0];
	err = ask(d, ASK_OPENED, &w, &data, &u);
	if (!err)
		free(data);
	return err;
}

/* *fd: the program's is there. The others are added, as far as they are found. */
static int open_files(struct dwarf *d, int *fd, size_t *n, struct files *has)
{
	struct elf_about about;
	int err = elf_about__read(&about, fd[0]), found;
	char *name;

	if (!err && about.type != ET_EXEC && about.type != ET_DYN)
		err = -ENOEXEC;
	if (err)
		return err;
	if (!about.has_debug_info) {
		found = debug_file__open(&about, d->path, &name);
		if (found < 0)
			return found == -ENOENT ? -ENODATA : found;
		fd[(*n)++] = found;
		has->has_debug = true;
		free(d->path);
		d->path = name;
		err = elf_about__read(&about, found);
		if (err)
			return err;
		if (!about.has_debug_info)
			return -ENODATA;
	}
	found = debug_file__open_alt(&about, d->path);
	if (found >= 0)
		fd[(*n)++] = found;
	has->has_alt = found >= 0;
	return found == -ENOMEM || found == -EINTR ? found : 0;
}

int dwarf__open(struct dwarf **out, const char *path)
{
	struct dwarf *d = calloc(1, sizeof(*d));
	int fd[CONFINED_MAX_FILES], err;
	struct files has = {};
	size_t n = 0;

	if (!d)
		return -ENOMEM;
	*d = (struct dwarf){ .path = strdup(path), .is_confined = true, .ask_fd = -1 };
	fd[0] = open_regular(path, NULL);
	n = fd[0] >= 0;
	err = !d->path ? -ENOMEM : fd[0] == -EISDIR ? -EISDIR : fd[0] < 0 ? fd[0] : 0;
	if (!err)
		err = open_files(d, fd, &n, &has);
	if (!err)
		err = start(d, fd, n, &has);
	while (n--)
		close(fd[n]);
	if (err)
		dwarf__close(d);
	else
		*out = d;
	return err;
}

void dwarf__close(struct dwarf *d)
{
	if (!d)
		return;
	if (!d->is_confined) {
		dwarf_direct__close(d);
		return;
	}
	end(d, 0);
	free(d->path);
	free(d);
}

const char *dwarf__path(const struct dwarf *d)
{
	return d->path;
}

int dwarf_functions__find(struct dwarf_functions *found, struct dwarf *d, const char *name)
{
	struct dwarf_functions new;
	struct wire w = {};
	struct unwire u;
	void *data;
	int err;

	if (!d->is_confined)
		return dwarf_direct__functions(found, d, name);
	wire__text(&w, name);
	err = ask(d, ASK_FUNCTIONS, &w, &data, &u);
	if (err)
		return err;
	take_functions(&u, &new);
	free(data);
	if (!u.err)
		*found = new;
	return u.err;
}

static int ask_lines(struct dwarf_lines *lines, struct dwarf *d, enum question what, struct wire *w)
{
	struct dwarf_lines new;
	struct unwire u;
	void *data;
	int err = ask(d, what, w, &data, &u);

	if (err)
		return err;
	take_lines(&u, &new);
	free(data);
	if (!u.err)
		*lines = new;
	return u.err;
}

int dwarf_lines__of(struct dwarf_lines *lines, struct dwarf *d, const struct dwarf_function *f)
{
	struct wire w = {};

	if (!d->is_confined)
		return dwarf_direct__lines_of(lines, d, f);
	put_function(&w, f);
	return ask_lines(lines, d, ASK_LINES_OF, &w);
}

int dwarf_lines__of_file(struct dwarf_lines *lines, struct dwarf *d, const char *file)
{
	struct wire w = {};

	if (!d->is_confined)
		return dwarf_direct__lines_of_file(lines, d, file);
	wire__text(&w, file);
	return ask_lines(lines, d, ASK_LINES_OF_FILE, &w);
}

int dwarf_variables__of(struct dwarf_variables *found, struct dwarf *d,
			const struct dwarf_place *place, u64 address, bool globals)
{
	struct dwarf_variables new;
	struct wire w = {};
	struct unwire u;
	void *data;
	int err;

	if (!d->is_confined)
		return dwarf_direct__variables(found, d, place, address, globals);
	wire__number(&w, place != NULL);
	if (place)
		put_place(&w, place);
	wire__number(&w, address);
	wire__number(&w, globals);
	err = ask(d, ASK_VARIABLES, &w, &data, &u);
	if (err)
		return err;
	take_variables(&u, &new);
	free(data);
	if (!u.err)
		*found = new;
	return u.err;
}

int dwarf_variables__at(struct dwarf_variables *found, struct dwarf *d, u64 address, bool globals)
{
	return dwarf_variables__of(found, d, NULL, address, globals);
}

/*
 * --- types -------------------------------------------------------------------------------------
 */

/*
 * Each answer has all types up to then. Earlier ones stay, since who has asked for a type goes on
 * looking at it.
 */
struct types_version {
	struct types_version *former;
	struct btf *btf;
};

struct dwarf_types {
	struct dwarf *d;
	struct direct_types *direct;    /* of one that is read directly */
	struct types_version *latest;
};

int dwarf_types__new(struct dwarf_types **out, struct dwarf *d)
{
	struct dwarf_types *t = calloc(1, sizeof(*t));
	int err = t ? 0 : -ENOMEM;

	if (!err && !d->is_confined)
		err = direct_types__new(&t->direct, d);
	if (err) {
		free(t);
		return err;
	}
	t->d = d;
	*out = t;
	return 0;
}

/* An array of arrays of ... comes to an end. */
static bool array_ends(const struct btf *btf, const struct btf_type *type)
{
	u32 depth;

	for (depth = 0; type && depth < DWARF_MAX_DEPTH; depth++) {
		if (!btf_is_array(type))
			return true;
		type = btf__type_by_id(btf, btf_array(type)->type);
	}
	return false;
}

/* Of the kinds that we make, and all that it refers to is there. */
static bool is_sound(const struct btf *btf, const struct btf_type *type)
{
	u32 most = btf__type_cnt(btf), i;

	if (!btf__name_by_offset(btf, type->name_off))
		return false;
	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
		return type->type < most;
	case BTF_KIND_ARRAY:
		return btf_array(type)->index_type < most && array_ends(btf, type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (i = 0; i < btf_vlen(type); i++)
			if (btf_members(type)[i].type >= most ||
			    !btf__name_by_offset(btf, btf_members(type)[i].name_off))
				return false;
		return true;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		/* The two have their names at the same place, and differ in size. */
		for (i = 0; i < btf_vlen(type); i++)
			if (!btf__name_by_offset(btf, btf_is_enum(type)
							      ? btf_enum(type)[i].name_off
							      : btf_enum64(type)[i].name_off))
				return false;
		return true;
	case BTF_KIND_TYPE_TAG:         /* of a reference; never one of another */
		return type->type < most &&
		       btf_kind(btf__type_by_id(btf, type->type)) != BTF_KIND_TYPE_TAG;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		return true;
	default:
		return false;
	}
}

static struct btf *take_types(const void *data, u64 size)
{
	struct btf *btf = size <= UINT32_MAX ? btf__new(data, size) : NULL;
	u32 i;

	if (!btf)
		return NULL;
	for (i = 1; i < btf__type_cnt(btf); i++) {
		if (!is_sound(btf, btf__type_by_id(btf, i))) {
			btf__free(btf);
			return NULL;
		}
	}
	return btf;
}

static int take_version(struct dwarf_types *t, struct unwire *u, u32 *id)
{
	u64 number = unwire__number(u), size;
	void *data = unwire__array(u, &size, 1);
	struct types_version *v = calloc(1, sizeof(*v));

	if (v && data && !u->err)
		v->btf = take_types(data, size);
	free(data);
	if (!v || !v->btf || number >= btf__type_cnt(v->btf)) {
		if (v)
			btf__free(v->btf);
		free(v);
		return v ? u->err ?: -EBADMSG : -ENOMEM;
	}
	v->former = t->latest;
	t->latest = v;
	*id = number;
	return 0;
}

int dwarf_types__add(struct dwarf_types *t, u64 entry, u32 *id)
{
	struct wire w = {};
	struct unwire u;
	void *data;
	int err;

	if (t->direct)
		return direct_types__add(t->direct, entry, id);
	wire__number(&w, entry);
	err = ask(t->d, ASK_TYPE, &w, &data, &u);
	if (err)
		return err;
	err = take_version(t, &u, id);
	free(data);
	return err;
}

const struct btf *dwarf_types__btf(const struct dwarf_types *t)
{
	if (t->direct)
		return direct_types__btf(t->direct);
	return t->latest ? t->latest->btf : NULL;
}

void dwarf_types__free(struct dwarf_types *t)
{
	struct types_version *v;

	if (!t)
		return;
	while ((v = t->latest)) {
		t->latest = v->former;
		btf__free(v->btf);
		free(v);
	}
	if (t->direct)
		direct_types__free(t->direct);
	free(t);
}

#endif /* HAVE_LIBDW */
