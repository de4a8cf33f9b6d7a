// SPDX-License-Identifier: BSD-2-Clause
#include "sym/source_file.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "sym/demangle.h"
#include "types/dwarf_source.h"

/* Maximum number of idle readers. Restarting one rereads its file. */
#define MAX_READERS 32
/* Limit on consecutive failures. libdw may fail on single addresses; more failures mean that the file is damaged. */
#define MAX_FAILURES 3
#define MAX_ANSWER (64 << 10)

/*
 * An answer is a status, then for each place the line in four bytes, and the function and file as NUL-terminated
 * strings, "" if unknown.
 */
enum { ANSWER_PLACES = '=', ANSWER_DAMAGED = '!' };

/*
 * --- the child: reads untrusted files ----------------------------------------------------------
 */

struct message {
	char data[MAX_ANSWER];
	size_t n;
};

/* Omits a string that does not fit, and reserves room for a line and two NULs per place. */
static void put_text(struct message *m, const char *text, size_t reserve)
{
	size_t len = text ? strlen(text) : 0;

	if (m->n + len + 1 + reserve > sizeof(m->data))
		len = 0;
	if (len)
		memcpy(m->data + m->n, text, len);
	m->n += len;
	m->data[m->n++] = 0;
}

static void put_path(struct message *m, const char *dir, const char *file, size_t reserve)
{
	char path[PATH_MAX];

	if (!file || file[0] == '/' || !dir)
		put_text(m, file, reserve);
	else if (snprintf(path, sizeof(path), "%s/%s", dir, file) < (int)sizeof(path))
		put_text(m, path, reserve);
	else
		put_text(m, NULL, reserve);
}

static void put_places(struct message *m, const struct dwarf_source_place *place, size_t n)
{
	static char demangled[DEMANGLED_MAX];
	const char *function;
	size_t i, reserve;

	for (i = 0; i < n; i++) {
		reserve = (n - i) * (sizeof(place->line) + 2);
		memcpy(m->data + m->n, &place[i].line, sizeof(place->line));
		m->n += sizeof(place->line);
		function = place[i].name;
		if (place[i].linkage)
			function = demangle(place[i].linkage, demangled, sizeof(demangled))
					   ? demangled
					   : place[i].linkage;
		put_text(m, function, reserve);
		put_path(m, place[i].dir, place[i].file, reserve);
	}
}

static void answer_one(struct answer *to, struct dwarf_source *source, u64 address)
{
	static struct dwarf_source_place place[DWARF_SOURCE_PLACES];
	static struct message m;
	size_t n = 0;

	m.n = 0;
	m.data[m.n++] = ANSWER_PLACES;
	/* Damaged entries of one function do not affect its neighbours. */
	if (dwarf_source__at(source, address, place, &n))
		n = 0;
	put_places(&m, place, n);
	answer__put(to, m.data, m.n);
}

/* Callback of confined_work. Descriptor 0 is the file, 1 is the dwz file, if any. */
static void serve(struct answer *to, void *arg)
{
	const bool *has_alt = arg;
	struct dwarf_source *source = NULL;
	const char damaged = ANSWER_DAMAGED;
	struct dwarf *dwarf;
	u64 address;
	int err;

	err = dwarf__open_fd(&dwarf, 0, *has_alt ? 1 : -1);
	if (!err)
		err = dwarf_source__new(&source, dwarf);
	while (read(to->fd, &address, sizeof(address)) == sizeof(address) && !to->err) {
		if (err)
			answer__put(to, &damaged, 1);
		else
			answer_one(to, source, address);
	}
	/* The child exits now, so nothing needs freeing. */
}

/*
 * --- starting and stopping readers -------------------------------------------------------------
 */

void source_file__init(struct source_file *f)
{
	*f = (struct source_file){ .fd = -1, .alt_fd = -1, .ask_fd = -1 };
}

static void close_files(struct source_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->alt_fd >= 0)
		close(f->alt_fd);
	f->fd = f->alt_fd = -1;
}

static void end_reader(struct sources *s, struct source_file *f)
{
	if (f->ask_fd < 0)
		return;
	close(f->ask_fd);
	f->ask_fd = -1;
	confined__end(f->pid, true);
	TAILQ_REMOVE(&s->readers, f, order);
	s->nreaders--;
}

/* Starts the reader if it is not running, and makes it the most recently used one. */
static int start_reader(struct sources *s, struct source_file *f)
{
	int ends[2], files[] = { f->fd, f->alt_fd }, err;
	bool has_alt = f->alt_fd >= 0;

	if (f->ask_fd >= 0) {
		TAILQ_REMOVE(&s->readers, f, order);
		TAILQ_INSERT_TAIL(&s->readers, f, order);
		return 0;
	}
	if (s->nreaders == MAX_READERS)
		end_reader(s, TAILQ_FIRST(&s->readers));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = confined__start(serve, &has_alt, files, 1 + has_alt, ends[1], &f->pid);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return err;
	}
	f->ask_fd = ends[0];
	TAILQ_INSERT_TAIL(&s->readers, f, order);
	s->nreaders++;
	return 0;
}

/* Returns the answer's size, or a negative errno. */
static ssize_t ask_reader(struct sources *s, struct source_file *f, u64 address, char *answer,
			  size_t size)
{
	const int files[] = { f->fd, f->alt_fd };
	size_t nfiles = 1 + (f->alt_fd >= 0);
	u64 time_ns = allowance__time(s->allowance, files, nfiles), began_ns = monotonic_ns();
	ssize_t n;
	int err;

	if (!time_ns)
		return -EDQUOT;
	address -= f->moved;
	if (send(f->ask_fd, &address, sizeof(address), MSG_NOSIGNAL) != sizeof(address))
		return -EIO;
	err = confined__wait_for_answer(f->ask_fd, began_ns + time_ns);
	allowance__spend(s->allowance, files, nfiles, monotonic_ns() - began_ns);
	if (err)
		return err;
	n = recv(f->ask_fd, answer, size, 0);
	if (n < 1)
		return -EIO;
	return answer[0] == ANSWER_PLACES ? n : -EBADMSG;
}

/*
 * --- known addresses ---------------------------------------------------------------------------
 */

struct known_address {
	u64 address;
	size_t n;
	struct source_place place[];
};

static int compare_addresses(const void *a, const void *b)
{
	const struct known_address *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Takes the next string of an answer, and sets *text to a shared copy, or to NULL for "". */
static int take_text(struct sources *s, const char **at, const char *end, const char **text)
{
	const char *start = *at, *nul = memchr(start, 0, end - start);
	char **found, *copy;

	*text = NULL;
	if (!nul)
		return -EBADMSG;
	*at = nul + 1;
	if (nul == start)
		return 0;
	found = tfind(start, &s->texts, compare_texts);
	if (found) {
		*text = *found;
		return 0;
	}
	copy = strdup(start);
	if (!copy || !tsearch(copy, &s->texts, compare_texts)) {
		free(copy);
		return -ENOMEM;
	}
	*text = copy;
	return 0;
}

int sources__take(struct sources *s, const char *answer, size_t size, struct source_place *place,
		  size_t *n)
{
	const char *at = answer + 1, *end = answer + size;
	int err = 0;

	*n = 0;
	if (!size || *answer != ANSWER_PLACES)
		return -EBADMSG;
	for (; at < end && !err; ++*n) {
		if (*n == SOURCE_MAX_PLACES || end - at < (ptrdiff_t)sizeof(place->line))
			return -EBADMSG;
		memcpy(&place[*n].line, at, sizeof(place->line));
		at += sizeof(place->line);
		err = take_text(s, &at, end, &place[*n].function);
		if (!err)
			err = take_text(s, &at, end, &place[*n].file);
	}
	return err;
}

static int ask(struct sources *s, struct source_file *f, u64 address, struct source_place *place,
	       size_t *n)
{
	char *answer = malloc(MAX_ANSWER);
	ssize_t size = answer ? start_reader(s, f) : -ENOMEM;
	int err;

	if (!size)
		size = ask_reader(s, f, address, answer, MAX_ANSWER);
	if (size == -EBADMSG || size == -ETIME || size == -EDQUOT)
		f->failures = MAX_FAILURES;
	err = size < 0 ? size : sources__take(s, answer, size, place, n);
	free(answer);
	if (err == -ENOMEM || err == -EINTR)
		return err;
	f->failures = err ? f->failures + 1 : 0;
	if (err) {
		*n = 0;
		end_reader(s, f);
	}
	if (f->failures >= MAX_FAILURES) {
		f->err = -EBADMSG;
		close_files(f);
		s->nfiles--;
	}
	return 0;
}

static int add_known(struct source_file *f, u64 address, const struct source_place *place, size_t n,
		     const struct known_address **known)
{
	struct known_address *k = malloc(sizeof(*k) + n * sizeof(*place));

	if (!k)
		return -ENOMEM;
	k->address = address;
	k->n = n;
	memcpy(k->place, place, n * sizeof(*place));
	if (!tsearch(k, &f->known, compare_addresses)) {
		free(k);
		return -ENOMEM;
	}
	*known = k;
	return 0;
}

int sources__ask(struct sources *s, struct source_file *f, const char *name, u64 address,
		 const struct source_place **place, size_t *n)
{
	struct source_place found[SOURCE_MAX_PLACES];
	const struct known_address key = { .address = address }, *known, **old;
	int err;

	*n = 0;
	if (!f->name) {
		f->name = name;
		STAILQ_INSERT_TAIL(&s->asked, f, next);
	}
	old = tfind(&key, &f->known, compare_addresses);
	if (!old && f->fd < 0)
		return 0;
	if (!old) {
		err = ask(s, f, address, found, n);
		if (err == -EINTR) {
			*n = 0;         /* retried by the next query */
			end_reader(s, f);
			return 0;
		}
		if (!err)
			err = add_known(f, address, found, *n, &known);
		if (err)
			return err;
	}
	known = old ? *old : known;
	*place = known->place;
	*n = known->n;
	return 0;
}

/*
 * --- all sources -------------------------------------------------------------------------------
 */

void sources__init(struct sources *s)
{
	*s = (struct sources){};
	TAILQ_INIT(&s->readers);
	STAILQ_INIT(&s->asked);
}

void sources__admit(struct sources *s, struct source_file *f)
{
	if (f->fd < 0) {
		f->err = f->err ?: -ENODATA;
		return;
	}
	if (s->nfiles < SOURCE_MAX_FILES) {
		s->nfiles++;
		return;
	}
	close_files(f);
	f->err = -EMFILE;
}

const char *sources__sourceless(const struct sources *s, size_t *at, int *why)
{
	const struct source_file *f;
	size_t i = 0;

	STAILQ_FOREACH(f, &s->asked, next) {
		if (i++ < *at || !f->err)
			continue;
		*at = i;
		*why = f->err;
		return f->name;
	}
	return NULL;
}

void source_file__free(struct source_file *f)
{
	close_files(f);
	tdestroy(f->known, free);
}

void sources__free(struct sources *s)
{
	struct source_file *f;

	while ((f = TAILQ_FIRST(&s->readers)))
		end_reader(s, f);
	tdestroy(s->texts, free);
}
