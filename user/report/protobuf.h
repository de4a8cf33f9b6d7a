/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the protocol buffers wire format: varints and length-delimited fields only. err keeps the
 * first error (-ENOMEM); later calls are no-ops.
 */
#ifndef TALLY_OUT_PROTOBUF_H
#define TALLY_OUT_PROTOBUF_H

#include <stddef.h>

#include "base/types.h"

/* Initialise to all zeros: an empty message. */
struct protobuf {
	unsigned char *data;
	size_t n, room;
	int err;
};

/* Writes a number. Omits 0, the default of a missing field. */
void protobuf__put_number(struct protobuf *p, u32 field, u64 number);

/* Writes a packed repeated field of numbers. Omits it if n is 0. */
void protobuf__put_numbers(struct protobuf *p, u32 field, const u64 *number, size_t n);

/* Writes strings and bytes, including empty ones. */
void protobuf__put_bytes(struct protobuf *p, u32 field, const void *bytes, size_t n);

/* Embeds a message and inherits its error. The message is then empty and can be reused. */
void protobuf__put_message(struct protobuf *p, u32 field, struct protobuf *message);

/* Appends all fields of another message. It is then empty and can be reused. */
void protobuf__append(struct protobuf *p, struct protobuf *fields);
void protobuf__free(struct protobuf *p);

#endif /* TALLY_OUT_PROTOBUF_H */
