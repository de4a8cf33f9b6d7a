/* SPDX-License-Identifier: BSD-2-Clause */
/* Causes of time in the user's terms, derived from the phase, the system call and its file (bpf/calls/why.h). */
#ifndef TALLY_CALLS_WHY_CAUSE_H
#define TALLY_CALLS_WHY_CAUSE_H

#include "base/types.h"

#include "bpf/calls/why.h"

enum why_state {
	STATE_CPU,              /* on a CPU */
	STATE_RUNNABLE,         /* runnable, waits for a CPU */
	STATE_BLOCKED,          /* waits for another task, a device or a timer */
	STATE_IDLE,             /* waits for work; without this wait, the program would not be faster */
	STATE_UNKNOWN,
	WHY_STATES,
};

enum why_cause {
	CAUSE_UNKNOWN,
	CAUSE_MODE_UNKNOWN,     /* on a CPU, but no tick has shown the mode */
	CAUSE_USER,
	CAUSE_SYSTEM,
	CAUSE_RUN_QUEUE,
	CAUSE_PREEMPTED,
	CAUSE_THROTTLED,
	CAUSE_STARTING,
	CAUSE_MEMORY,
	CAUSE_DISK,
	CAUSE_KERNEL_LOCK,
	CAUSE_UNINTERRUPTIBLE,
	CAUSE_FILE_SYSTEM,
	CAUSE_FUTEX,
	CAUSE_TIMER,
	CAUSE_CHILD,
	CAUSE_FILE_LOCK,
	CAUSE_PIPE,
	CAUSE_SOCKET,
	CAUSE_IPC,
	CAUSE_IO_URING,
	CAUSE_AIO,
	CAUSE_STOPPED,
	CAUSE_TRACED,
	CAUSE_OTHER,
	CAUSE_EVENTS,
	CAUSE_ACCEPT,
	CAUSE_SIGNAL,
	CAUSE_TERMINAL,
	CAUSE_DESCRIPTOR,
	CAUSE_KERNEL_THREAD,
	WHY_CAUSES,
};

/* A cause. state: the state of threads that did not sleep through the whole run. */
struct why_cause_text {
	const char *name;
	enum why_state state;
	const char *next;       /* a command that shows more, without "tally" and a scope, or NULL */
	bool by_threads;        /* other threads end such waits */
};

extern const char *const why_state_names[WHY_STATES];
extern const struct why_cause_text why_causes[WHY_CAUSES];

/* Derives the cause from a key that has the phase of the BPF programs, or WHY_USER or WHY_SYSTEM. */
enum why_cause why_cause_of(const struct why_key *key);

/* Replaces the phase by the cause. Several phases may have the same cause. */
void why_name_cause(struct why_key *key);

/* The name of the call in which a thread is blocked; NULL if there is none. */
const char *why_call_name(char text[64], const struct why_key *key);

struct call_signatures;
struct report_row;

/* For programs: the place of the first descriptor among the arguments of each call, plus 1; and WHY_TAKES_PATH. */
void why_describe_calls(u8 descriptor[TRACE_SLOTS], struct call_signatures *signatures);

/* The name of the kind of the call's descriptor; NULL if unknown. */
const char *why_kind_name(u32 kind);

/* Adds a cell with the command that shows more; next may be NULL. Returns 0 or -ENOMEM. */
int why_add_next(struct report_row *row, const char *next);

#endif /* TALLY_CALLS_WHY_CAUSE_H */
