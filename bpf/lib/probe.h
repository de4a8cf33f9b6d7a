/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What probe's programs, the functions that are compiled into them (user/jit), and the loader
 * (tools/events/probe) share.
 *
 * A measurement is made at single events, or over spans that have a begin and an end: the entry of a
 * function and its return, or any two events (--from, --to). Programs call the compiled functions,
 * all of them int FUNCTION(void *ctx, struct probe_frame *f):
 *
 *   event_filter()   1: the event counts, 0: it does not
 *   event_value()    0: f->value has been set, 1: it would be negative (histograms, and sums by stack)
 *   event_key()      0: writes the bytes of the key, or of the record of a stream, at f->key
 *   event_match()    0: writes the bytes that a begin and its end have in common at f->match
 *
 * event_match() says 1 at an instruction by which calls of several functions end. Each says a
 * negative number (enum event_verdict) where the event is lost. What is not compiled is replaced by
 * a function that says 1 (filter) or 0 (others) and does nothing.
 */
#ifndef TALLY_PROBE_H
#define TALLY_PROBE_H

#include "event.h"
#include "hist.h"

#define PROBE_KEY_SMALL 96      /* bytes of a key on the stack of a program */
#define PROBE_KEY_MOST 4096     /* and in a buffer; also of a stream's record */
#define PROBE_KEY_OLD 504       /* with its slot 512: what hashes of 5.10 take (htab_map_alloc_check()) */
#define PROBE_TEXT_MOST 256     /* bytes of a text, the zero included */
#define PROBE_MATCH_MOST 64
#define PROBE_HEAD 40           /* bytes of a frame in front of the key */
#define PROBE_COUNTERS 4        /* of --with */

/* What is kept of the events. */
enum probe_what {
	PROBE_COUNT,            /* how many */
	PROBE_SUM,              /* how many, sum, minimum and maximum of a value */
	PROBE_HIST,             /* hist.h's histogram */
	PROBE_BOUNDS,           /* a histogram with bounds of its own: value is a bucket's number */
	PROBE_STREAM,           /* each of them */
};

/* Whose name an element keyed by pid or tid has. */
enum probe_name {
	PROBE_NAME_NONE,
	PROBE_NAME_THREAD,
	PROBE_NAME_PROCESS,     /* that of its first thread */
};

/*
 * Compiled functions know the offsets. key is where the key of a map begins for them; in front of
 * it stands what the program adds (hist_slot), so that both are one.
 *
 * The frame of a single event whose key is small is on the stack of its program, and ends in the key
 * behind PROBE_KEY_SMALL bytes. All others (spans, streams, larger keys) are whole, in a buffer of
 * which each CPU has some. Of the 512 bytes of stack, compiled functions have 256 for themselves and
 * whatever they call.
 */
struct probe_frame {
	__u64 value;
	__u64 order;            /* PROBE_BOUNDS: the value itself (value is its bucket) */
	__u64 elapsed;          /* ns, at the end of a span */
	__u32 event;            /* number of the event */
	__u32 size;             /* PROBE_STREAM: bytes at key that the record has */
	struct hist_slot slot;
	__u8 key[PROBE_KEY_MOST];       /* at PROBE_HEAD */
	__u8 match[PROBE_MATCH_MOST];
	/* By how much they advanced, at the end of a span; and behind them how often that is unknown. */
	__u64 counter[PROBE_COUNTERS + 1];
};

/* Programs can interrupt each other on a CPU: so many of them can have a frame in a buffer. */
#define PROBE_FRAMES 4

/*
 * Element of sums, one for each event and CPU, and of keyed_sums: as much of it as is asked for
 * (probe_sum__size()), because small elements share cache lines. The extremes are those of
 * value ^ bias: bias is 2^63 where values have a sign, else 0.
 */
struct probe_sum {
	__u64 count;
	__u64 name_stamp;       /* keyed: when name was written */
	char name[HIST_NAME_LEN];       /* keyed by pid or tid: the task's comm at its last event */
	__u64 sum;              /* with the next one a number of 128 bits (wide.h) */
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
 * Does an element have figures that have to be of the same events? Then each is of one generation
 * (writer.h), which the loader ends with the interval: once no program writes them any more, it reads
 * and clears them. Of sums, event n then has elements 2 n and 2 n + 1, for even and odd generations.
 */
static inline int probe_sum__in_turns(enum probe_what what, __u32 ncounters)
{
	return what == PROBE_SUM || ncounters;
}

/*
 * A begin that waits for its end: the element of starts. Behind it, where begins have a part of the
 * key, that; then the thread's counters and gaps (own_counters.bpf.h). Where a span is in one
 * thread, task_start is the thread's start_time: a begin that was left behind is not taken for one of
 * a later thread with the same id.
 */
struct probe_begin {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__u64 task_start;       /* CLOCK_MONOTONIC; 0: spans are not of threads */
	__u64 value, order;     /* where the value is had at the begin */
	__u32 tid;              /* that it happened in, initial pid namespace */
	__u32 lost;             /* something of it could not be read, which has been counted */
	__u8 key[];
};

/* What comes before the fields in the ring buffer. */
struct probe_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__u64 elapsed;
	__u32 event;
	__u32 cpu;
	__u32 pid, tid;         /* initial pid namespace */
	char comm[HIST_NAME_LEN];
	__u8 key[];             /* layout.h */
};

/* A text in a record: where it is from the start of key, and how long (without a zero). */
struct probe_text {
	__u16 at;
	__u16 length;           /* PROBE_TEXT_FAULT: could not be read */
};
#define PROBE_TEXT_FAULT 0xffff

_Static_assert(sizeof(struct probe_frame) == PROBE_HEAD + PROBE_KEY_MOST + PROBE_MATCH_MOST +
							8 * (PROBE_COUNTERS + 1),
	       "probe_frame has padding");
_Static_assert(sizeof(struct probe_sum) == 64 + 8 * PROBE_COUNTERS, "probe_sum has padding");
_Static_assert(sizeof(struct probe_begin) == 40, "probe_begin has padding");
_Static_assert(sizeof(struct probe_record) == 48, "probe_record has padding");

#endif /* TALLY_PROBE_H */
