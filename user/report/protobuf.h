/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire format of protocol buffers, as far as it takes to write messages: numbers and what has a
 * length. The first error (-ENOMEM) stays in err, and nothing more is written from then on.
 */
#ifndef TALLY_OUT_PROTOBUF_H
#define TALLY_OUT_PROTOBUF_H

#include <stddef.h>

#include "base/types.h"

/* All zero is an empty message. */
struct protobuf {
	unsigned char *data;
	size_t n, room;
	int err;
};

/* Fields of 0 are left out: it is what readers take a missing one for. */
void protobuf__put_number(struct protobuf *p, u32 field, u64 number);

/* A repeated field of numbers, packed; left out if there are none. */
void protobuf__put_numbers(struct protobuf *p, u32 field, const u64 *number, size_t n);

/* Strings and bytes, empty ones too. */
void protobuf__put_bytes(struct protobuf *p, u32 field, const void *bytes, size_t n);

/* A message inside of this one, which takes over its error; it is empty afterwards, and can be used again. */
void protobuf__put_message(struct protobuf *p, u32 field, struct protobuf *message);

/* All fields of another message behind those there are; likewise. */
void protobuf__append(struct protobuf *p, struct protobuf *fields);
void protobuf__free(struct protobuf *p);

#endif /* TALLY_OUT_PROTOBUF_H */
