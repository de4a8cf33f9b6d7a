// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/polled.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#include "calls/syscall/decode.h"
#include "calls/syscall/descriptor.h"
#include "calls/syscall/names.h"
#include "calls/syscall/signals.h"
#include "calls/syscall/text.h"

static void put_name(FILE *f, const struct trace_record *r, size_t size, u32 arg, int fd)
{
	descriptor__put(f, trace_chunk__find_element(r, size, TRACE_ID(arg, PART_FD), fd));
}

void pollfds__put(FILE *f, const struct trace_record *r, size_t size, u32 arg,
		  const struct trace_chunk *c)
{
	struct pollfd p;
	size_t at;

	fputc('[', f);
	for (at = 0; at + sizeof(p) <= c->bytes; at += sizeof(p)) {
		memcpy(&p, c->data + at, sizeof(p));
		fprintf(f, "%s{fd=%d", at ? ", " : "", p.fd);
		/* The kernel ignores negative descriptors. */
		if (p.fd >= 0) {
			put_name(f, r, size, arg, p.fd);
			fputs(", events=", f);
			value_names__put(f, &poll_events, (unsigned short)p.events);
		}
		fputc('}', f);
	}
	fputs(c->flags & TRACE_CHUNK_CUT ? ", ...]" : "]", f);
}

void fd_set__put(FILE *f, const struct trace_record *r, size_t size, u32 arg,
		 const struct trace_chunk *c)
{
	int end = r->value[0], fd;
	bool first = true;

	fputc('[', f);
	for (fd = 0; fd < end && fd < c->bytes * 8; fd++) {
		if (!(c->data[fd / 8] >> fd % 8 & 1))
			continue;
		fprintf(f, "%s%d", first ? "" : " ", fd);
		put_name(f, r, size, arg, fd);
		first = false;
	}
	fputs(c->flags & TRACE_CHUNK_CUT ? " ...]" : "]", f);
}

void set_and_size__put(FILE *f, const struct trace_record *r, size_t size, u32 arg, const struct trace_chunk *c)
{
	const struct trace_chunk *described = trace_chunk__find(r, size, TRACE_ID(arg, PART_DESCRIBED));
	struct trace_iovec v;
	u64 set;

	if (c->bytes < sizeof(v)) {
		pointer__put(f, r->value[arg]);
		return;
	}
	memcpy(&v, c->data, sizeof(v));
	fputs("{sigmask=", f);
	/* The kernel accepts no other size. */
	if (v.base && v.length == sizeof(set) && described && described->bytes == sizeof(set)) {
		memcpy(&set, described->data, sizeof(set));
		sigset__put(f, set);
	} else {
		unread__put(f, v.base, described);
	}
	fprintf(f, ", sigsetsize=%llu}", v.length);
}

/*
 * --- results -----------------------------------------------------------------------------------
 */

/* Items within "(...)", with separators. */
struct pieces {
	FILE *f;
	bool any;
};

static void begin_piece(struct pieces *p)
{
	fputs(p->any ? ", " : " (", p->f);
	p->any = true;
}

static const struct trace_chunk *after(const struct trace_record *r, size_t size, u32 arg)
{
	const struct trace_chunk *c = trace_chunk__find(r, size, TRACE_ID(arg, PART_AFTER));

	return c && !(c->flags & TRACE_CHUNK_FAULT) ? c : NULL;
}

static void put_ready(struct pieces *to, const struct trace_record *r, size_t size)
{
	const struct trace_chunk *c = after(r, size, 0);
	u64 n = 0;
	struct pollfd p;
	size_t at;

	if (!c)
		return;
	begin_piece(to);
	fputc('[', to->f);
	for (at = 0; at + sizeof(p) <= c->bytes; at += sizeof(p)) {
		memcpy(&p, c->data + at, sizeof(p));
		if (!p.revents)
			continue;
		fprintf(to->f, "%s{fd=%d", n++ ? ", " : "", p.fd);
		put_name(to->f, r, size, 0, p.fd);
		fputs(", revents=", to->f);
		value_names__put(to->f, &poll_events, (unsigned short)p.revents);
		fputc('}', to->f);
	}
	if (n < r->value[TRACE_RESULT])
		fputs(n ? ", ..." : "...", to->f);
	fputc(']', to->f);
}

static bool has_bit(const struct trace_chunk *c)
{
	size_t i;

	for (i = 0; i < c->bytes; i++)
		if (c->data[i])
			return true;
	return false;
}

static void put_ready_sets(struct pieces *to, const struct trace_record *r, size_t size)
{
	static const char *const names[] = { "in ", "out ", "except " };
	const struct trace_chunk *c;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		c = after(r, size, i + 1);
		if (!c || !has_bit(c))
			continue;
		begin_piece(to);
		fputs(names[i], to->f);
		fd_set__put(to->f, r, size, i + 1, c);
	}
}

/* A struct timespec or timeval; both have the same size. */
static void put_left(struct pieces *to, const struct signature *s, const struct trace_record *r,
		     size_t size)
{
	const struct trace_chunk *c;
	struct timespec left;
	u32 i;

	for (i = 0; i < TRACE_ARGUMENTS; i++) {
		if (s->arg[i].kind != ARG_STRUCT || !s->arg[i].after || s->arg[i].array ||
		    s->arg[i].told)
			continue;
		c = after(r, size, i);
		if (!c || c->bytes < sizeof(left))
			continue;
		memcpy(&left, c->data, sizeof(left));
		begin_piece(to);
		fputs("left ", to->f);
		struct__put(to->f, s->arg[i].layout, &left);
	}
}

void found__put(FILE *f, const struct signature *s, const struct trace_record *r, size_t size)
{
	bool array = s->arg[0].kind == ARG_STRUCT && s->arg[0].layout == STRUCT_POLLFD;
	bool sets = s->arg[1].kind == ARG_FD_SET;
	struct pieces to = { .f = f };

	if (!r->value[TRACE_RESULT]) {
		fputs(array || sets ? " (Timeout)" : "", f);
		return;
	}
	if (array)
		put_ready(&to, r, size);
	if (sets)
		put_ready_sets(&to, r, size);
	put_left(&to, s, r, size);
	fputs(to.any ? ")" : "", f);
}
