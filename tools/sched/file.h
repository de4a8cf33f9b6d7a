/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records in a file, which may be read later on another machine. The file consists of a head, the
 * records in order of arrival, and a trailer with the numbers of records and losses. The byte order
 * is that of the writing machine; files of the other byte order are rejected. Stacks are saved with
 * names, so that the file can be read where kernels and programs differ. Each stack is saved once,
 * before the first record that uses it.
 *
 * Files are untrusted input.
 */
#ifndef TALLY_SCHED_FILE_H
#define TALLY_SCHED_FILE_H

#include "base/types.h"
#include "report/call_stack.h"

#include "bpf/lib/loss.h"
#include "bpf/lib/switches.h"

#define SWITCHES_FILE_MAGIC "tallysw\n"
#define SWITCHES_FILE_VERSION 2         /* version 1, which has no stacks, can also be read */
#define SWITCHES_FILE_ORDER 0x01020304

struct switches_file_head {
	__u8 magic[8];
	__u32 version;
	__u32 order;            /* SWITCHES_FILE_ORDER in the byte order of the writer */
	__u32 record_size;
	__u32 cpus;             /* highest CPU number + 1 */
	__u64 to_wall_clock;    /* to add to the times of records: ns since 1970 */
	__u32 source;           /* enum wait_source */
	__u32 unused;           /* 0 */
	__u8 kernel[64];        /* uname -r, terminated */
	__u8 pad[24];           /* 0 */
};

_Static_assert(sizeof(struct switches_file_head) == 128, "no hidden padding");

/*
 * The kind of the trailer. Its off_ns is the number of records. Its wait_ns is the number of 64-bit
 * counters that follow: losses by reason (enum loss_reason, to which later versions only append).
 */
#define SWITCHES_FILE_END 0xffff

/*
 * The kind of a stack. Stacks are numbered in order. Its off_ns is the number of frames that
 * follow, innermost first, each followed by its texts.
 */
#define SWITCHES_FILE_STACK 0xfffe
#define SWITCHES_FILE_FRAMES (2 * STACK_MOST_DEPTH + 4) /* limit, including notes */

struct switches_file_frame {
	__u64 offset;
	__u16 kind;             /* enum frame_kind */
	__u16 name, module;     /* lengths, without a terminator; 0 if there is none */
	__u16 unused;           /* 0 */
};

_Static_assert(sizeof(struct switches_file_frame) == 16, "no hidden padding");

/* Maximum number of records, 3 GiB. */
#define SWITCHES_FILE_MOST (32U << 20)

struct switches_file;

/*
 * Creates a file with mode 0600, which replaces path (report/replace.h) at its first record, or at
 * the end. The caller fills in the head, except for the members that describe the format. Returns 0
 * or a negative errno.
 */
int MUST_CHECK switches_file__create(struct switches_file **f, const char *path,
			  const struct switches_file_head *head);

/* Returns 0, -EFBIG when the file is full, or the negative errno of the write. */
int switches_file__add(struct switches_file *f, const struct switches_record *r);

/*
 * Adds a stack, which later records may refer to by its number. Returns 0 or the negative errno of
 * the write.
 */
int switches_file__add_stack(struct switches_file *f, const struct call_stack *stack);

/* Writes the trailer and closes. Returns 0, or a negative errno if the file is incomplete. */
int MUST_CHECK switches_file__finish(struct switches_file *f, const struct loss_counters *counters);

bool switches_file__has_records(const struct switches_file *f);

/* Closes without a trailer. If there are no records, path keeps its previous file. */
void switches_file__close(struct switches_file *f);

/* The contents of a file that was read. */
struct switches_file_text {
	struct switches_file_head head; /* checked */
	u64 records;
	struct call_stacks stacks;      /* stacks of the records read so far */
	struct loss_counters counters;  /* losses; other counters are not in the file */
	bool whole;                     /* false if there is no trailer, because the writer was killed */
};

/*
 * Reads a regular file and calls begin() with its head, then take() with each record; a nonzero
 * result of either function ends the reading. Returns 0 or a negative errno. For -EBADMSG, *why is
 * the reason, otherwise NULL. The caller frees text in either case.
 */
int switches_file__read(struct switches_file_text *text, const char *path,
			int (*begin)(void *context, const struct switches_file_head *head),
			int (*take)(void *context, const struct switches_record *r), void *context,
			const char **why);
void switches_file_text__free(struct switches_file_text *text);

#endif /* TALLY_SCHED_FILE_H */
