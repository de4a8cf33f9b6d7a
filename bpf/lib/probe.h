/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by probe's programs, the functions compiled into them (user/jit), and the loader (user/probe).
 *
 * A run measures single events, or spans with a begin and an end: a function's entry and return, or any two events
 * (--from, --to). Programs call the compiled functions, each int FUNCTION(void *ctx, struct probe_frame *f):
 *
 *   event_filter()   1: the event counts, 0: it does not
 *   event_value()    0: f->value is set, 1: it would be negative (histograms, and sums by stack)
 *   event_key()      0: wrote the key, or the record of a stream, to f->key
 *   event_match()    0: wrote the bytes that match a begin with its end to f->match
 *                    1: the same, at an instruction at which calls of several functions end
 *
 * A negative result (enum event_verdict) means that the event is lost. If a function is not compiled, it is replaced by
 * one that only returns 1 (filter) or 0 (others).
 */
#ifndef TALLY_PROBE_H
#define TALLY_PROBE_H

#include "event.h"
#include "hist.h"

#define PROBE_KEY_SMALL 96      /* bytes of a key that fits on a program's stack */
#define PROBE_KEY_MOST 4096     /* bytes of a key, or of a stream's record, in a buffer */
#define PROBE_KEY_OLD 504       /* 512 with its slot, the limit of 5.10's hashes (htab_map_alloc_check()) */
#define PROBE_TEXT_MOST 256     /* bytes of a string, including its NUL */
#define PROBE_MATCH_MOST 64
#define PROBE_HEAD 40           /* bytes of a frame before the key */
#define PROBE_COUNTERS 4        /* of --with */

/* The figures to record about the events. */
enum probe_what {
	PROBE_COUNT,            /* their number */
	PROBE_SUM,              /* their number, and sum, minimum and maximum of a value */
	PROBE_HIST,             /* hist.h's histogram */
	PROBE_BOUNDS,           /* a histogram with custom bounds: value is a bucket number */
	PROBE_STREAM,           /* each event */
};

/* The name stored with an element keyed by pid or tid. */
enum probe_name {
	PROBE_NAME_NONE,
	PROBE_NAME_THREAD,
	PROBE_NAME_PROCESS,     /* of the process's first thread */
};

/*
 * The compiled functions know these offsets. For them, the key of a map begins at key; the program's own part
 * (hist_slot) directly precedes it, so that both form one key.
 *
 * A single event with a small key has its frame on the program's stack, truncated after PROBE_KEY_SMALL bytes of the
 * key. All other frames (spans, streams, larger keys) are complete, and each is in one of a few buffers per CPU.
 * Compiled functions and their callees have 256 of the 512 bytes of stack.
 */
struct probe_frame {
	__u64 value;
	__u64 order;            /* PROBE_BOUNDS: the value itself (value is its bucket) */
	__u64 elapsed;          /* ns, at the end of a span */
	__u32 event;            /* number of the event */
	__u32 size;             /* PROBE_STREAM: bytes of the record at key */
	struct hist_slot slot;
	__u8 key[PROBE_KEY_MOST];       /* at PROBE_HEAD */
	__u8 match[PROBE_MATCH_MOST];
	/* At the end of a span, the increase of each counter; after them, the number of gaps. */
	__u64 counter[PROBE_COUNTERS + 1];
};

/* Buffers per CPU: one for each program that may interrupt another. */
#define PROBE_FRAMES 4

/*
 * Element of sums, one per event and CPU, and of keyed_sums. Only as large as the run needs (probe_sum__size()),
 * because small elements share cache lines. Extremes are those of value ^ bias, where bias is 2^63 for signed values,
 * else 0.
 */
struct probe_sum {
	__u64 count;
	__u64 name_stamp;       /* keyed: time name was written */
	char name[HIST_NAME_LEN];       /* keyed by pid or tid: the task's comm at its latest event */
	__u64 sum;              /* with the next one a 128-bit number (wide.h) */
	__u64 sum_high;
	__u64 max;
	__u64 min_inv;          /* of ~(value ^ bias) */
	__u64 counter[PROBE_COUNTERS];
};

static inline __u32 probe_sum__size(enum probe_what what, bool has_name, __u32 ncounters)
{
	if (what == PROBE_SUM)
		return __builtin_offsetof(struct probe_sum, counter) + 8 * ncounters;
	return has_name ? __builtin_offsetof(struct probe_sum, sum) :
			  __builtin_offsetof(struct probe_sum, name_stamp);
}

/*
 * True if an element has several figures, which must cover the same events. If so, each element belongs to one
 * generation (writer.h), which the loader ends with the interval: once no program writes its elements any more, the
 * loader reads and clears them. In sums, event n then has elements 2 n and 2 n + 1, for even and odd generations.
 */
static inline int probe_sum__in_turns(enum probe_what what, __u32 ncounters)
{
	return what == PROBE_SUM || ncounters;
}

/*
 * A begin that waits for its end: the element of starts. It is followed by the part of the key taken at the begin, if
 * any, then by the thread's counters and gaps (own_counters.bpf.h). For spans within one thread or process, task_start
 * is its start_time, so that a stale begin is not matched with the end of a later task that has the same id.
 */
struct probe_begin {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__u64 task_start;       /* CLOCK_MONOTONIC; 0 if spans are not within one thread or process */
	__u64 value, order;     /* if the value is taken at the begin */
	__u32 tid;              /* of the thread, initial pid namespace */
	__u32 lost;             /* a part could not be read; already counted as a loss */
	__u8 key[];
};

/* The head of a record in the ring buffer, before its fields. */
struct probe_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__u64 elapsed;
	__u32 event;
	__u32 cpu;
	__u32 pid, tid;         /* initial pid namespace */
	char comm[HIST_NAME_LEN];
	__u8 key[];             /* layout.h; with stacks, struct stack_id follows, at the next multiple of 8 bytes */
};

/* A string in a record: its offset from key, and its length without NUL. */
struct probe_text {
	__u16 at;
	__u16 length;           /* PROBE_TEXT_FAULT if unreadable */
};
#define PROBE_TEXT_FAULT 0xffff

_Static_assert(sizeof(struct probe_frame) == PROBE_HEAD + PROBE_KEY_MOST + PROBE_MATCH_MOST +
							8 * (PROBE_COUNTERS + 1),
	       "probe_frame has padding");
_Static_assert(sizeof(struct probe_sum) == 64 + 8 * PROBE_COUNTERS, "probe_sum has padding");
_Static_assert(sizeof(struct probe_begin) == 40, "probe_begin has padding");
_Static_assert(sizeof(struct probe_record) == 48, "probe_record has padding");

#endif /* TALLY_PROBE_H */
