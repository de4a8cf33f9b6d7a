// SPDX-License-Identifier: BSD-2-Clause
/*
 * types/dwarf.h for programs: queries the unprivileged process that reads the files (types/dwarf_server.c). Its
 * answers are trusted no more than the files. Files read in this process are queried directly.
 */
#include "types/dwarf_wire.h"

#ifdef HAVE_LIBDW

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "base/opener.h"
#include "types/debug_file.h"
#include "types/dwarf_libdw.h"

static bool is_errno(s64 err)
{
	return err == -ENOENT || err == -EBADMSG || err == -ENOMEM || err == -ENODATA ||
	       err == -ENOEXEC || err == -E2BIG || err == -EEXIST || err == -EPROTONOSUPPORT;
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

static int receive(struct dwarf *d, struct dwarf_answered *head, void **data)
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

int dwarf__ask(struct dwarf *d, enum dwarf_question what, struct wire *w, void **data,
	       struct unwire *u)
{
	struct dwarf_asked asked = { what, w->n };
	struct dwarf_answered head;
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

static int start(struct dwarf *d, const int *fd, size_t n, struct dwarf_files *has)
{
	int ends[2], err;
	struct wire w = {};
	struct unwire u;
	void *data;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = confined__start(dwarf_server__run, has, fd, n, ends[1], &d->pid);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return err;
	}
	d->ask_fd = ends[0];
	err = dwarf__ask(d, ASK_OPENED, &w, &data, &u);
	if (err)
		return err;
	d->is_split = unwire__number(&u);
	free(data);
	return u.err;
}

/* fd[0] is the program. Adds the debug and dwz files if found. */
static int open_files(struct dwarf *d, int *fd, size_t *n, struct dwarf_files *has)
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
	struct dwarf_files has = {};
	size_t n = 0;

	if (!d)
		return -ENOMEM;
	*d = (struct dwarf){ .path = strdup(path), .is_confined = true, .ask_fd = -1 };
	fd[0] = opener__open_path(path, NULL);
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

bool dwarf__is_split(const struct dwarf *d)
{
	return d->is_split;
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
	err = dwarf__ask(d, ASK_FUNCTIONS, &w, &data, &u);
	if (err)
		return err;
	dwarf_wire__take_functions(&u, &new);
	free(data);
	if (!u.err)
		*found = new;
	return u.err;
}

static int ask_lines(struct dwarf_lines *lines, struct dwarf *d, enum dwarf_question what,
		     struct wire *w)
{
	struct dwarf_lines new;
	struct unwire u;
	void *data;
	int err = dwarf__ask(d, what, w, &data, &u);

	if (err)
		return err;
	dwarf_wire__take_lines(&u, &new);
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
	dwarf_wire__put_function(&w, f);
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

bool dwarf__has_row(struct dwarf *d, u64 address)
{
	struct wire w = {};
	struct unwire u;
	void *data;
	bool has;

	if (!d->is_confined)
		return dwarf_direct__has_row(d, address);
	wire__number(&w, address);
	if (dwarf__ask(d, ASK_ROW, &w, &data, &u))
		return false;
	has = unwire__number(&u);
	free(data);
	return has;
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
		dwarf_wire__put_place(&w, place);
	wire__number(&w, address);
	wire__number(&w, globals);
	err = dwarf__ask(d, ASK_VARIABLES, &w, &data, &u);
	if (err)
		return err;
	dwarf_wire__take_variables(&u, &new);
	free(data);
	if (!u.err)
		*found = new;
	return u.err;
}

int dwarf__find_type(struct dwarf *d, const char *name, u64 address, u64 *entry)
{
	struct wire w = {};
	struct unwire u;
	void *data;
	u64 found;
	int err;

	if (!d->is_confined)
		return dwarf_direct__find_type(d, name, address, entry);
	wire__text(&w, name);
	wire__number(&w, address);
	err = dwarf__ask(d, ASK_TYPE_NAMED, &w, &data, &u);
	if (err)
		return err;
	found = unwire__number(&u);
	free(data);
	if (!u.err)
		*entry = found;
	return u.err;
}

int dwarf_variables__at(struct dwarf_variables *found, struct dwarf *d, u64 address, bool globals)
{
	return dwarf_variables__of(found, d, NULL, address, globals);
}

#endif /* HAVE_LIBDW */
