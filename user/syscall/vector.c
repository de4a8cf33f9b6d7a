// SPDX-License-Identifier: BSD-2-Clause
#include "syscall/vector.h"

#include <stddef.h>
#include <string.h>

#include "syscall/control.h"
#include "syscall/names.h"
#include "syscall/text.h"

/* An array and what is in the buffers that it tells of. */
struct vector {
	const struct trace_chunk *array, *data;
	u64 count;              /* elements, of which some were read */
	u64 left;               /* bytes in those buffers that are not shown yet */
	size_t at;              /* those of the next one, in the chunk of data */
};

static const struct trace_chunk *part_of(const struct trace_record *r, size_t size,
					 enum trace_part part)
{
	return trace_chunk__find(r, size, TRACE_ID(TRACE_VECTOR_ARG, part));
}

/* The bytes of one buffer. False: they were not read. */
static bool put_data(FILE *f, struct vector *v, u32 i, u64 length)
{
	u64 there = length < v->left ? length : v->left;
	struct trace_data d;

	v->left -= there;
	if (!v->data || v->data->bytes < sizeof(d))
		return false;
	memcpy(&d, v->data->data, sizeof(d));
	if (d.bytes[i] > there || sizeof(d) + v->at + d.bytes[i] > v->data->bytes)
		return false;
	quoted__put(f, v->data->data + sizeof(d) + v->at, d.bytes[i]);
	v->at += d.bytes[i];
	if (d.bytes[i] < there)
		fputs("...", f);
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

static void put_vector(FILE *f, const struct trace_record *r, size_t size, u64 from, u64 count,
		       bool filled)
{
	s64 result = r->value[TRACE_RESULT];
	struct vector v = {
		.array = part_of(r, size, PART_VECTOR),
		.data = part_of(r, size, PART_DATA),
		.count = count,
		.left = !filled ? UINT64_MAX : result > 0 ? result : 0,
	};
	u32 n, i;

	if (!from || (!v.array && count)) {
		unread__put(f, from, part_of(r, size, PART_TARGET));
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
	put_vector(f, r, size, r->value[TRACE_VECTOR_ARG], (u32)r->value[TRACE_VECTOR_COUNT],
		   filled);
}

static void put_name(FILE *f, const struct trace_chunk *c, u64 address)
{
	if (!c || !sockaddr__put(f, c->data, c->bytes))
		pointer__put(f, address);
}

void message__put(FILE *f, const struct trace_record *r, size_t size, bool filled)
{
	const struct trace_chunk *c = part_of(r, size, PART_TARGET);
	struct trace_message m;

	if (!c || c->bytes < sizeof(m)) {
		unread__put(f, r->value[TRACE_VECTOR_ARG], c);
		return;
	}
	memcpy(&m, c->data, sizeof(m));
	fputs("{msg_name=", f);
	put_name(f, part_of(r, size, PART_NAME), m.name);
	fprintf(f, ", msg_namelen=%u, msg_iov=", m.name_length);
	put_vector(f, r, size, m.vector, m.count, filled);
	fprintf(f, ", msg_iovlen=%llu", m.count);
	if (m.control_length) {
		fputs(", msg_control=", f);
		if (!control__put(f, part_of(r, size, PART_CONTROL)))
			pointer__put(f, m.control);
	}
	fprintf(f, ", msg_controllen=%llu, msg_flags=", m.control_length);
	value_names__put(f, &message_flags, m.flags);
	fputc('}', f);
}
