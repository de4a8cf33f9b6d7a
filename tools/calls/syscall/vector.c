// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/vector.h"

#include <stddef.h>
#include <string.h>

#include "calls/syscall/control.h"
#include "calls/syscall/names.h"
#include "calls/syscall/netlink.h"
#include "calls/syscall/text.h"

/* The source of an array or a message, and how many bytes of its buffers are valid. */
struct source {
	const struct trace_record *r;
	size_t size;
	u32 element;            /* index in an array of messages, from 1 */
	u64 there;              /* number of bytes sent, or filled in */
	bool ended;             /* no data follows */
};

/* An array and the contents of its buffers. */
struct vector {
	const struct trace_chunk *array, *data;
	u64 left;               /* bytes of the buffers that were not shown yet */
	bool ended;             /* see struct source */
	size_t at;              /* offset of the next buffer's bytes in the data chunk */
	int protocol;           /* netlink__protocol() */
	u64 lacking;            /* bytes of the last netlink message that have not appeared yet */
};

/* Describes the buffers passed to the call, or filled in by it according to its result. */
static struct source source_of(const struct trace_record *r, size_t size, bool filled)
{
	s64 result = r->value[TRACE_RESULT];

	return (struct source){
		.r = r,
		.size = size,
		.there = !filled ? UINT64_MAX : result > 0 ? result : 0,
		.ended = filled && result >= 0,
	};
}

static const struct trace_chunk *part_of(const struct source *s, enum trace_part part)
{
	return trace_chunk__find_element(s->r, s->size, TRACE_ID(TRACE_VECTOR_ARG, part),
					 s->element);
}

/* Puts the n bytes read out of the `there` bytes of a buffer. begins: netlink messages may begin in it. */
static void put_bytes(FILE *f, struct vector *v, const u8 *data, size_t n, u64 there, bool begins)
{
	if (begins && netlink__put(f, v->protocol, data, n, there, &v->lacking))
		return;
	quoted__put(f, data, n);
	if (n < there)
		fputs("...", f);
}

/* Puts the bytes of one buffer. Returns false if they were not read. */
static bool put_data(FILE *f, struct vector *v, u32 i, u64 length)
{
	u64 there = length < v->left ? length : v->left;
	bool begins = !v->lacking;
	struct trace_data d;

	v->left -= there;
	v->lacking = there <= v->lacking ? v->lacking - there : UINT64_MAX;
	if (!there && v->ended) {
		fputs("\"\"", f);
		return true;
	}
	if (!v->data || v->data->bytes < sizeof(d))
		return false;
	memcpy(&d, v->data->data, sizeof(d));
	if (d.bytes[i] > there || sizeof(d) + v->at + d.bytes[i] > v->data->bytes)
		return false;
	put_bytes(f, v, v->data->data + sizeof(d) + v->at, d.bytes[i], there, begins);
	v->at += d.bytes[i];
	return true;
}

static bool is_fault(const struct vector *v, u32 i)
{
	struct trace_data d;

	if (!v->data || v->data->bytes < sizeof(d))
		return false;
	memcpy(&d, v->data->data, sizeof(d));
	return d.bytes[i] == TRACE_DATA_FAULT;
}

static void put_element(FILE *f, struct vector *v, u32 i)
{
	struct trace_iovec element;

	memcpy(&element, v->array->data + i * sizeof(element), sizeof(element));
	fputs(i ? ", {iov_base=" : "{iov_base=", f);
	if (!element.base || !put_data(f, v, i, element.length))
		pointer__put(f, element.base);
	fprintf(f, "%s, iov_len=%llu}", is_fault(v, i) ? "(fault)" : "", element.length);
}

static void put_vector(FILE *f, const struct source *s, u64 from, u64 count, int protocol)
{
	struct vector v = {
		.array = part_of(s, PART_VECTOR),
		.data = part_of(s, PART_DATA),
		.left = s->there,
		.ended = s->ended,
		.protocol = protocol,
	};
	u32 n, i;

	if (!from || (!v.array && count)) {
		unread__put(f, from, part_of(s, PART_TARGET));
		return;
	}
	n = v.array ? v.array->bytes / sizeof(struct trace_iovec) : 0;
	fputc('[', f);
	for (i = 0; i < n && i < TRACE_IOVECS && i < count; i++)
		put_element(f, &v, i);
	fputs(i < count ? ", ...]" : "]", f);
}

void vector__put(FILE *f, const struct trace_record *r, size_t size, bool filled)
{
	struct source s = source_of(r, size, filled);

	put_vector(f, &s, r->value[TRACE_VECTOR_ARG], (u32)r->value[TRACE_VECTOR_COUNT], NOT_NETLINK);
}

static void put_name(FILE *f, const struct trace_chunk *c, u64 address)
{
	if (!c || !sockaddr__put(f, c->data, c->bytes))
		pointer__put(f, address);
}

/* from: the address in the program, shown if the message could not be read. */
static void put_message(FILE *f, const struct source *s, u64 from)
{
	const struct trace_chunk *c = part_of(s, PART_TARGET);
	struct trace_message m;

	if (!c || c->bytes < sizeof(m)) {
		unread__put(f, from, c);
		return;
	}
	memcpy(&m, c->data, sizeof(m));
	fputs("{msg_name=", f);
	put_name(f, part_of(s, PART_NAME), m.name);
	fprintf(f, ", msg_namelen=%u, msg_iov=", m.name_length);
	put_vector(f, s, m.vector, m.count, netlink__protocol(s->r, s->size, part_of(s, PART_NAME)));
	fprintf(f, ", msg_iovlen=%llu", m.count);
	if (m.control_length) {
		fputs(", msg_control=", f);
		if (!control__put(f, part_of(s, PART_CONTROL)))
			pointer__put(f, m.control);
	}
	fprintf(f, ", msg_controllen=%llu, msg_flags=", m.control_length);
	value_names__put(f, &message_flags, m.flags);
	fputc('}', f);
}

void message__put(FILE *f, const struct trace_record *r, size_t size, bool filled)
{
	struct source s = source_of(r, size, filled);

	put_message(f, &s, r->value[TRACE_VECTOR_ARG]);
}

/*
 * Reads the msg_len of message i. Returns false if the call did not reach it, or the read failed.
 */
static bool length_of(const struct trace_record *r, size_t size, u32 i, u32 *length)
{
	const struct trace_chunk *c =
		trace_chunk__find(r, size, TRACE_ID(TRACE_VECTOR_ARG, PART_LENGTHS));

	if (!c || (i + 1) * sizeof(*length) > c->bytes)
		return false;
	memcpy(length, c->data + i * sizeof(*length), sizeof(*length));
	return true;
}

static void put_message_of_many(FILE *f, const struct source *all, u32 i)
{
	u64 from = all->r->value[TRACE_VECTOR_ARG] + i * sizeof(struct trace_message_of_many);
	struct source s = *all;
	bool has_length;
	u32 length = 0;

	s.element = i + 1;
	has_length = length_of(s.r, s.size, i, &length);
	if (s.ended)
		s.there = length;
	fputs(i ? ", {msg_hdr=" : "{msg_hdr=", f);
	put_message(f, &s, from);
	if (has_length)
		fprintf(f, ", msg_len=%u", length);
	fputc('}', f);
}

void messages__put(FILE *f, const struct trace_record *r, size_t size, bool filled)
{
	struct source s = source_of(r, size, filled);
	u64 n = filled ? s.there : (u32)r->value[TRACE_VECTOR_COUNT];
	const struct trace_chunk *first;
	u32 i;

	s.element = 1;
	first = part_of(&s, PART_TARGET);
	if (n && (!first || first->flags & TRACE_CHUNK_FAULT)) {
		unread__put(f, r->value[TRACE_VECTOR_ARG], first);
		return;
	}
	if (!n && filled) {
		pointer__put(f, r->value[TRACE_VECTOR_ARG]);
		return;
	}
	fputc('[', f);
	for (i = 0; i < n; i++) {
		s.element = i + 1;
		if (!part_of(&s, PART_TARGET))
			break;
		put_message_of_many(f, &s, i);
	}
	fputs(i < n ? ", ...]" : "]", f);
}
