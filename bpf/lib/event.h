/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marks in a program (event.bpf.h), for what the loader puts into it (user/event/splice.h): the
 * number of its event, and functions compiled from what was typed.
 */
#ifndef TALLY_EVENT_MARK_H
#define TALLY_EVENT_MARK_H

#define EVENT_SLOT_MARK 0x7a11e001

/* The functions that can be compiled for an event; each has its own mark, EVENT_BODY_MARK + n. */
enum event_body {
	EVENT_FILTER,
	EVENT_VALUE,
	EVENT_KEY,
	EVENT_MATCH,
	EVENT_BODIES,
};
#define EVENT_BODY_MARK 0x7a11e010

/* What such a function returns where it has nothing to say: the event is lost, and why. */
enum event_verdict {
	EVENT_FAULT = -1,               /* memory could not be read */
	EVENT_BAD_ARITHMETIC = -2,      /* division by zero, shift by 64 or more, 2^63 and more in a signed sum */
	EVENT_NO_RESULT = -4,           /* of a call that ended in a jump to another function */
	EVENT_TEXT_TOO_LONG = -3,       /* a text with more characters than can be looked at */
};

/* In global functions, which the verifier is to look at once (user/event/func_info.h). */
#define EVENT_ONCE_MARK 0x7a11e020

#define VERIFIED_ONCE()                                                                         \
	({                                                                                      \
		__u64 mark;                                                                     \
		asm volatile("%0 = %1" : "=r"(mark) : "i"(EVENT_ONCE_MARK));                    \
	})

#endif /* TALLY_EVENT_MARK_H */
