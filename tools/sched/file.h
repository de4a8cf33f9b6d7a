/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records in a file, to be looked at later, on another machine too: a head, the records one after
 * the other as they came, and an end that says how many there are and how many were lost. In the
 * byte order of the machine that wrote it; another one is refused. Stacks are there by names, so
 * that they can be read where the kernel and the programs are others: each once, before its first
 * record.
 *
 * Nothing in a file is believed: it may come from anybody.
 */
#ifndef TALLY_SCHED_FILE_H
#define TALLY_SCHED_FILE_H

#include "base/types.h"
#include "report/call_stack.h"

#include "bpf/lib/loss.h"
#include "bpf/lib/switches.h"

#define SWITCHES_FILE_MAGIC "tallysw\n"
#define SWITCHES_FILE_VERSION 2         /* 1, which has no stacks, is read, too */
#define SWITCHES_FILE_ORDER 0x01020304

struct switches_file_head {
	__u8 magic[8];
	__u32 version;
	__u32 order;            /* bytes, as this machine has them */
	__u32 record_size;
	__u32 cpus;             /* one more than the highest number of a CPU */
	__u64 to_wall_clock;    /* to be added to the times of records: ns since 1970 */
	__u32 source;           /* enum wait_source */
	__u32 unused;           /* 0 */
	__u8 kernel[64];        /* uname -r, terminated */
	__u8 pad[24];           /* 0 */
};

_Static_assert(sizeof(struct switches_file_head) == 128, "no hidden padding");

/*
 * The kind of the last record: its off_ns is how many there are, its wait_ns how many numbers of 64
 * bits follow: what was lost, by reason (enum loss_reason, which later versions only add to).
 */
#define SWITCHES_FILE_END 0xffff

/*
 * A stack, the next in number; its off_ns is how many frames follow, the innermost first, each with
 * its texts behind it.
 */
#define SWITCHES_FILE_STACK 0xfffe
#define SWITCHES_FILE_FRAMES (2 * STACK_MOST_DEPTH + 4) /* at most, with notes */

struct switches_file_frame {
	__u64 offset;
	__u16 kind;             /* enum frame_kind */
	__u16 name, module;     /* bytes, without an end; 0: none */
	__u16 unused;           /* 0 */
};

_Static_assert(sizeof(struct switches_file_frame) == 16, "no hidden padding");

/* A file ends by itself with so many: 3 GiB. */
#define SWITCHES_FILE_MOST (32U << 20)

struct switches_file;

/*
 * A new file of mode 0600 in place of what has the name (report/replace.h), from the first record or
 * from the end on. The caller fills in the head but for what says how the file is to be
 * read. Returns 0 or a negative errno.
 */
int MUST_CHECK switches_file__create(struct switches_file **f, const char *path,
			  const struct switches_file_head *head);

/* Returns 0, -EFBIG when the file is full, or what writing says. */
int switches_file__add(struct switches_file *f, const struct switches_record *r);

/* Adds the stack that records from here on may name by its number. Returns what writing says. */
int switches_file__add_stack(struct switches_file *f, const struct call_stack *stack);

/* Writes the end and closes. Returns 0 or a negative errno: then the file is not whole. */
int MUST_CHECK switches_file__finish(struct switches_file *f, const struct loss_counters *counters);

bool switches_file__has_records(const struct switches_file *f);

/* Closes without an end. Without records there will not have been a file. */
void switches_file__close(struct switches_file *f);

/* What a file that has been read is. */
struct switches_file_text {
	struct switches_file_head head; /* checked */
	u64 records;
	struct call_stacks stacks;      /* those of the records so far */
	struct loss_counters counters;  /* lost; the others were not written */
	bool whole;                     /* false: it has no end: whoever wrote it was killed */
};

/*
 * Reads a regular file and calls begin() with its head, then take() with each record; what either
 * returns but 0 ends it. Returns 0, or a negative errno: of -EBADMSG *why is the reason, else NULL.
 * What is in text is to be freed in any case.
 */
int switches_file__read(struct switches_file_text *text, const char *path,
			int (*begin)(void *context, const struct switches_file_head *head),
			int (*take)(void *context, const struct switches_record *r), void *context,
			const char **why);
void switches_file_text__free(struct switches_file_text *text);

#endif /* TALLY_SCHED_FILE_H */
