/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reasons for which an event that should be counted is missing (lost), or is counted with a detail missing (inexact);
 * user/agg/loss.c classifies them. Each event is counted once. Counted in the kernel (loss.bpf.h), read by
 * user/agg/loss.h, shown in every report, and turned into exit status 3 by --strict.
 */
#ifndef TALLY_LOSS_H
#define TALLY_LOSS_H

enum loss_reason {
	LOSS_MAP_FULL,     /* no room for a new key */
	LOSS_NO_MEMORY,    /* the kernel had no memory for a new key at that moment */
	LOSS_MISSED,       /* the kernel's own count includes events for which no program ran */
	LOSS_NO_STATE,     /* counted, but the task's past was not seen: the value may be too small */
	LOSS_UNMATCHED,    /* an end whose begin was not seen */
	LOSS_READ_FAULT,   /* kernel or user memory could not be read */
	LOSS_NEGATIVE,     /* a value below zero, which neither a histogram nor a sum by stack can hold */
	LOSS_RECURSION,    /* the kernel skipped the program because it was already running */
	LOSS_STACKS_FULL,  /* counted, but without its stack: no room for a new one */
	LOSS_TRUNCATED,    /* counted, but its stack has more frames than were kept */
	LOSS_NESTING,      /* counted, but without its stack: too many programs took stacks at once on that CPU */
	LOSS_RING_FULL,    /* no room in the ring buffer: the reader was too slow */
	LOSS_NO_BUFFER,    /* programs interrupted each other so deeply that no key buffer was left */
	LOSS_UNWOUND,      /* calls left without a return: by an exception, longjmp(), exit */
	LOSS_NO_RESULT,    /* calls that ended in a jump to another function; their result is unknown */
	LOSS_BAD_ARITHMETIC, /* an expression has no value, see EVENT_BAD_ARITHMETIC */
	LOSS_TEXT_TOO_LONG, /* a string longer than an expression can examine */
	LOSS_NO_STORAGE,   /* no task storage: the lock was busy, or no memory */
	LOSS_STACK_MEMORY, /* counted, but without its stack: the kernel had no memory for a new one */
	LOSS_INCOMPLETE,   /* counted, but a part could not be read or kept: a name, a string, the requester */
	LOSS_NO_END,       /* another event that cannot be distinguished from this one began before it ended */
	LOSS_TOO_DEEP,     /* calls nested too deeply to be kept */
	LOSS_REASONS,
};

/* Per CPU; cumulative since the programs were loaded. */
struct loss_counters {
	__u64 filtered;             /* events whose subjects are outside the scope */
	__u64 unaccounted;          /* events counted here that the kernel's own totals leave out */
	__u64 corrected;            /* events to which the kernel's own totals wrongly add time; counted without it */
	__u64 begun_before;         /* events that began before the run: not a loss */
	__u64 answered;             /* system calls that the kernel did not run (answered.bpf.h): not a loss */
	__u64 summed;               /* events in sums that do not record how many they contain */
	__u64 lost[LOSS_REASONS];   /* LOSS_RECURSION stays 0 here: the kernel counts it */
};

#endif /* TALLY_LOSS_H */
