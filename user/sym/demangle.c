// SPDX-License-Identifier: BSD-2-Clause
#include "sym/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"

#ifdef HAVE_LIBIBERTY

#include <libiberty/demangle.h>
#include <setjmp.h>

/*
 * A few hundred bytes can expand to gigabytes by nested substitutions. The demanglers with a
 * callback allocate only stack, so the callback can longjmp() out of them at the limit.
 */
struct output {
	char *text;
	size_t n, size;
	jmp_buf full;
};

static void append(const char *text, size_t len, void *arg)
{
	struct output *o = arg;

	if (!len)
		return;                 /* text may be NULL */
	if (len >= o->size - o->n)
		longjmp(o->full, 1);
	memcpy(o->text + o->n, text, len);
	o->n += len;
}

static bool may_be_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2) ||
	       !strncmp(symbol, "_GLOBAL_", 8);
}

size_t demangle(const char *symbol, char *buffer, size_t size)
{
	struct output o = { .text = buffer, .size = size < DEMANGLED_MAX ? size : DEMANGLED_MAX };

	if (!may_be_mangled(symbol) || !size || setjmp(o.full))
		return 0;
	/* Rust's legacy symbols are C++ symbols with a hash, so try Rust first. */
	if (!rust_demangle_callback(symbol, 0, append, &o)) {
		o.n = 0;
		if (!cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, append, &o))
			return 0;
	}
	buffer[o.n] = 0;
	return strlen(buffer);
}

#else

static bool may_be_mangled(const char *symbol)
{
	(void)symbol;
	return false;
}

size_t demangle(const char *symbol, char *buffer, size_t size)
{
	(void)symbol, (void)buffer, (void)size;
	return 0;
}

#endif /* HAVE_LIBIBERTY */

/*
 * --- the demangling process --------------------------------------------------------------------
 */

#define MAX_SYMBOL 16384
#define MAX_FAILURES 32
#define ANSWER_NS (2 * NSEC_PER_SEC)

/* Each message is a symbol. Each answer is '=' and a name, so that none is empty. */
static void serve(struct answer *to, void *arg)
{
	/* Static, since this process does nothing else, and the user may have limited its stack. */
	static char symbol[MAX_SYMBOL + 1], text[1 + DEMANGLED_MAX] = "=";
	ssize_t n;

	(void)arg;
	while ((n = read(to->fd, symbol, MAX_SYMBOL)) > 0 && !to->err) {
		symbol[n] = 0;
		answer__put(to, text, 1 + demangle(symbol, text + 1, sizeof(text) - 1));
	}
}

static int start(struct demangler *d)
{
	int ends[2], err;

	if (d->fd >= 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = confined__start(serve, NULL, NULL, 0, ends[1], &d->pid);
	close(ends[1]);
	if (err)
		close(ends[0]);
	else
		d->fd = ends[0];
	return err;
}

/* Returns the length of the received name, or a negative errno. */
static ssize_t ask(const struct demangler *d, const char *symbol, size_t len, char *text,
		   size_t size)
{
	ssize_t n;
	int err;

	if (send(d->fd, symbol, len, MSG_NOSIGNAL) != (ssize_t)len)
		return -EIO;
	err = confined__wait_for_answer(d->fd, monotonic_ns() + ANSWER_NS);
	if (err)
		return err;
	n = recv(d->fd, text, size - 1, 0);
	if (n < 1 || memchr(text + 1, 0, n - 1))
		return -EIO;
	text[n] = 0;
	return n - 1;
}

void demangler__init(struct demangler *d)
{
	*d = (struct demangler){ .fd = -1 };
}

void demangler__end(struct demangler *d)
{
	if (d->fd < 0)
		return;
	close(d->fd);
	confined__end(d->pid, true);
	d->fd = -1;
}

size_t demangler__ask(struct demangler *d, const char *symbol, char *buffer, size_t size)
{
	size_t len = strlen(symbol);
	char *text;
	ssize_t n;

	if (!may_be_mangled(symbol) || len > MAX_SYMBOL || d->failures >= MAX_FAILURES)
		return 0;
	text = malloc(1 + DEMANGLED_MAX);
	if (!text)
		return 0;
	n = start(d);
	if (!n)
		n = ask(d, symbol, len, text, 1 + DEMANGLED_MAX);
	if (n < 0) {
		demangler__end(d);
		d->failures += n != -EINTR;
		n = 0;
	} else if ((size_t)n >= size) {
		n = 0;
	}
	if (n)
		memcpy(buffer, text + 1, n + 1);
	free(text);
	return n;
}
