/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every way in which an event that should be in the numbers can be missing from them (lost), or be there
 * without something that belongs to it (inexact); user/agg/loss.c says which is which. An event is counted
 * once. Counted in the kernel (loss.bpf.h), read by user/agg/loss.h, shown in every report and turned into
 * exit code 3 by --strict.
 */
#ifndef TALLY_LOSS_H
#define TALLY_LOSS_H

enum loss_reason {
	LOSS_MAP_FULL,     /* no room for a new key */
	LOSS_NO_MEMORY,    /* the kernel had no memory for a new key at that moment */
	LOSS_MISSED,       /* the kernel's own count shows events for which no program was run */
	LOSS_NO_STATE,     /* counted, but the past of the task was not seen: maybe too small */
	LOSS_UNMATCHED,    /* the end of something whose start was not seen */
	LOSS_READ_FAULT,   /* kernel or user memory could not be read */
	LOSS_NEGATIVE,     /* a value below zero, which neither a histogram nor a sum of stacks holds */
	LOSS_RECURSION,    /* the kernel skipped the program because it was already running */
	LOSS_STACKS_FULL,  /* counted, but without its stack: no room for a new one */
	LOSS_TRUNCATED,    /* counted, but its stack has more frames than were kept */
	LOSS_NESTING,      /* counted, but without its stack: too many at once on that CPU */
	LOSS_RING_FULL,    /* no room in the buffer of single events: it was not read fast enough */
	LOSS_NO_BUFFER,    /* programs interrupted each other so deep that none was left for the key */
	LOSS_UNWOUND,      /* calls that were left without a return: by an exception, longjmp(), exit */
	LOSS_NO_RESULT,    /* calls that ended in a jump to another function, whose result is not known */
	LOSS_BAD_ARITHMETIC, /* an expression has no value, as EVENT_BAD_ARITHMETIC says */
	LOSS_TEXT_TOO_LONG, /* a text is longer than an expression can look at */
	LOSS_NO_STORAGE,   /* the kernel gave no room for what a task is doing: busy, or no memory */
	LOSS_STACK_MEMORY, /* counted, but without its stack: the kernel had no memory for a new one */
	LOSS_INCOMPLETE,   /* counted, but a part of it could not be read or kept: a name, a text, who asked */
	LOSS_NO_END,       /* begun, and another began that cannot be told from it before it ended */
	LOSS_REASONS,
};

/* Per CPU; cumulative since the programs were loaded. */
struct loss_counters {
	__u64 filtered;             /* events of subjects outside the scope */
	__u64 unaccounted;          /* events counted here that the kernel's own totals leave out */
	__u64 corrected;            /* events counted here without what those totals add wrongly */
	__u64 begun_before;         /* events that had begun before the run: no loss */
	__u64 summed;               /* events whose values are in sums, where those do not tell how many */
	__u64 lost[LOSS_REASONS];   /* LOSS_RECURSION stays 0 here: the kernel counts it */
};

#endif /* TALLY_LOSS_H */
