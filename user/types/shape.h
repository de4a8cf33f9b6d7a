/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats the bytes of a structure or an array as text, member by member: {.id=1, .name="x", .at=0x7ffe10,
 * .state=RUNNING, .sizes=[1, 2]}. A shape is made once from a type, which need not outlive it.
 *
 * Types come from untrusted debug information, so the amount shown is limited; "..." stands for the rest. Pure.
 */
#ifndef TALLY_TYPES_SHAPE_H
#define TALLY_TYPES_SHAPE_H

#include "types/c_type.h"

#define SHAPE_BYTES_MOST 1024   /* of a value; later bytes are ignored */
#define SHAPE_DEPTH_MOST 8      /* nested structures */
#define SHAPE_MEMBERS_MOST 512  /* in total */
#define SHAPE_TEXT_MOST 4096    /* characters */

struct shape;

/* Makes the shape of a type. -EINVAL: not a structure, union, array or enumeration, or of unknown size; -ENOMEM. */
int shape__new(struct shape **s, const struct c_type *type);

/* Makes the shape of a number of size bytes whose values have names, added one by one. NULL if out of memory. */
struct shape *shape__of_names(u32 size, bool is_signed);
/*
 * Same for a number of flags, where a name stands for one or several bits: "GFP_KERNEL|__GFP_ZERO|0x80000000". Formats
 * as the kernel does (trace_print_flags_seq()): tries names in the order in which they were added, each on the bits
 * that remain.
 */
struct shape *shape__of_flags(u32 size);
int shape__add_name(struct shape *s, const char *name, u64 value);
void shape__free(struct shape *s);

/* Returns the number of bytes that a shape formats, at most SHAPE_BYTES_MOST. */
u32 shape__size(const struct shape *s);

/* True if both shapes format the same bytes alike. */
bool shape__equal(const struct shape *a, const struct shape *b);

/* Formats size bytes. Allocated; NULL if out of memory. */
char *shape__text(const struct shape *s, const void *bytes, u32 size);

/* Sets the bits of mask[shape__size()] that affect the text; the others are padding. */
void shape__mask(const struct shape *s, u8 *mask);

/* Calls visit for each array of characters; bytes after its first NUL are not part of the text. */
void shape__each_text(const struct shape *s, void (*visit)(void *arg, u32 offset, u32 size), void *arg);

#endif /* TALLY_TYPES_SHAPE_H */
