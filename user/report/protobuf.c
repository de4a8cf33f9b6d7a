// SPDX-License-Identifier: BSD-2-Clause
#include "report/protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LONGEST_NUMBER 10       /* bytes of a varint: seven bits each */

enum wire_type { WIRE_NUMBER = 0, WIRE_LENGTH = 2 };

static bool has_room(struct protobuf *p, size_t n)
{
	if (!p->err)
		p->err = n > SIZE_MAX - p->n ? -ENOMEM : ARRAY_RESERVE(p->data, p->room, p->n + n);
	return !p->err;
}

static void put_varint(struct protobuf *p, u64 number)
{
	if (!has_room(p, LONGEST_NUMBER))
		return;
	for (; number >= 0x80; number >>= 7)
		p->data[p->n++] = number | 0x80;
	p->data[p->n++] = number;
}

static void put_tag(struct protobuf *p, u32 field, enum wire_type type)
{
	put_varint(p, (u64)field << 3 | type);
}

static void put_raw(struct protobuf *p, const void *bytes, size_t n)
{
	if (!n || !has_room(p, n))
		return;
	memcpy(p->data + p->n, bytes, n);
	p->n += n;
}

static size_t varint_size(u64 number)
{
	size_t n = 1;

	for (; number >= 0x80; number >>= 7)
		n++;
	return n;
}

void protobuf__put_number(struct protobuf *p, u32 field, u64 number)
{
	if (!number)
		return;
	put_tag(p, field, WIRE_NUMBER);
	put_varint(p, number);
}

void protobuf__put_numbers(struct protobuf *p, u32 field, const u64 *number, size_t n)
{
	size_t size = 0, i;

	if (!n)
		return;
	for (i = 0; i < n; i++)
		size += varint_size(number[i]);
	put_tag(p, field, WIRE_LENGTH);
	put_varint(p, size);
	for (i = 0; i < n; i++)
		put_varint(p, number[i]);
}

void protobuf__put_bytes(struct protobuf *p, u32 field, const void *bytes, size_t n)
{
	put_tag(p, field, WIRE_LENGTH);
	put_varint(p, n);
	put_raw(p, bytes, n);
}

void protobuf__put_message(struct protobuf *p, u32 field, struct protobuf *message)
{
	if (message->err && !p->err)
		p->err = message->err;
	protobuf__put_bytes(p, field, message->data, message->n);
	message->n = 0;
}

void protobuf__append(struct protobuf *p, struct protobuf *fields)
{
	if (fields->err && !p->err)
		p->err = fields->err;
	put_raw(p, fields->data, fields->n);
	fields->n = 0;
}

void protobuf__free(struct protobuf *p)
{
	free(p->data);
	*p = (struct protobuf){};
}
