/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Markers in a program (event.bpf.h) that the loader replaces (user/event/splice.h): the event's number, and
 * functions compiled from the user's expressions.
 */
#ifndef TALLY_EVENT_MARK_H
#define TALLY_EVENT_MARK_H

#define EVENT_SLOT_MARK 0x7a11e001

/* The functions compiled for an event; each has its own marker, EVENT_BODY_MARK + n. */
enum event_body {
	EVENT_FILTER,
	EVENT_VALUE,
	EVENT_KEY,
	EVENT_MATCH,
	EVENT_BODIES,
};
#define EVENT_BODY_MARK 0x7a11e010

/* Returned by a compiled function that has no result: the reason why the event is lost. */
enum event_verdict {
	EVENT_FAULT = -1,               /* memory could not be read */
	EVENT_BAD_ARITHMETIC = -2,      /* division by zero, shift by 64 or more, 2^63 and more in a signed sum */
	EVENT_NO_RESULT = -4,           /* the call ended in a jump to another function */
	EVENT_TEXT_TOO_LONG = -3,       /* a string longer than the limit */
};

/* Marks global functions, which the verifier verifies only once (user/event/func_info.h). */
#define EVENT_ONCE_MARK 0x7a11e020

#define VERIFIED_ONCE()                                                                         \
	({                                                                                      \
		__u64 mark;                                                                     \
		asm volatile("%0 = %1" : "=r"(mark) : "i"(EVENT_ONCE_MARK));                    \
	})

#endif /* TALLY_EVENT_MARK_H */
