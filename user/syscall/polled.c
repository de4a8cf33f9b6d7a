// SPDX-License-Identifier: BSD-2-Clause
#include "syscall/polled.h"

#include <poll.h>
#include <string.h>

#include "syscall/descriptor.h"
#include "syscall/names.h"
#include "syscall/text.h"

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
		/* The kernel does not look at those. */
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
