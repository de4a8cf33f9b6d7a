// SPDX-License-Identifier: BSD-2-Clause
/* A thread as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/snap/snap.h"
#include "calls/syscall/constants.h"
#include "calls/syscall/decode.h"
#include "calls/syscall/descriptor.h"
#include "calls/syscall/text.h"
#include "report/escape.h"

const char *const snap_part_names[SNAP_PARTS] = {
	[SNAP_BY_STATE] = "state", [SNAP_BY_CALL] = "call", [SNAP_BY_OBJECT] = "object", [SNAP_BY_WCHAN] = "wchan",
};

/* A thread that has waited this long for a CPU is shown first. */
#define LONG_RUNNABLE_NS (10 * NSEC_PER_MSEC)

/* Converts a thread's call to the record that is decoded, without the targets of pointers. */
size_t snap_thread__record(struct trace_record *r, const struct snap_thread *t)
{
	memset(r, 0, offsetof(struct trace_record, data));
	memcpy(r->value, t->value, sizeof(t->value));
	r->value[TRACE_ONE] = 1;
	r->pid = t->task.pid;
	r->tid = t->task.tid;
	r->slot = t->slot;
	r->number = t->number;
	r->state = TRACE_RUNNING;
	if (t->frames * sizeof(u64) <= t->used && t->used - t->frames * sizeof(u64) <= TRACE_ROOM)
		r->used = t->used - t->frames * sizeof(u64);
	memcpy(r->data, (const u64 *)(t + 1) + t->frames, r->used);
	return offsetof(struct trace_record, data) + r->used;
}

/*
 * --- calls -------------------------------------------------------------------------------------
 */

/* Returns the name of the kernel function at a return address, or NULL if it is unknown. */
static const char *function_at(struct snap_names *names, u64 address, int *err)
{
	struct symbol found = {};

	*err = address ? symbols__kernel(names->symbols, address - 1, &found) : 0;
	return found.name;
}

/* Classifies by the outermost kernel function. On arm64, faults have the same outermost function as calls. */
static const char *outside_name(const char *entry)
{
	if (entry && strstr(entry, "page_fault"))
		return "[page fault]";
	if (entry && (strstr(entry, "sysvec") || strstr(entry, "interrupt") || strstr(entry, "_irq")))
		return "[user mode]";
	return "[no call]";
}

static int call_text(struct snap_names *names, const struct snap_thread *t, char **text)
{
	static const char *const places[] = {
		[SNAP_ON_CPU] = "[running]", [SNAP_KERNEL_THREAD] = "[kernel]", [SNAP_ENDED] = "[ended]",
	};
	char name[CALL_NAME_SPACE];
	int err = 0;

	if (t->place == SNAP_IN_CALL)
		*text = strdup(call_name(name, t->slot, t->number));
	else if (t->place == SNAP_OUTSIDE)
		*text = strdup(outside_name(function_at(names, t->entry, &err)));
	else
		*text = strdup(t->place < ARRAY_SIZE(places) ? places[t->place] : "?");
	return err ?: *text ? 0 : -ENOMEM;
}

int snap_names__arguments(struct snap_names *names, const struct snap_thread *t, char **text)
{
	struct trace_record r;
	size_t size = snap_thread__record(&r, t), n;
	FILE *f;

	*text = NULL;
	if (t->place != SNAP_IN_CALL)
		return 0;
	f = open_memstream(text, &n);
	if (!f)
		return -ENOMEM;
	syscall_arguments__put(f, call_signature(&names->signatures, t->slot % TRACE_SLOTS), &r, size);
	if (fclose(f))
		return -ENOMEM;
	*text = constants__choose(*text, CONSTANTS_BY_NAME);
	if (*text)
		escape_undo(*text);     /* undone, because the report escapes it */
	return *text ? 0 : -ENOMEM;
}

/*
 * --- objects of waits --------------------------------------------------------------------------
 */

/* "pipe:[123]": the file of the call's first descriptor. */
static int file_text(const struct trace_chunk *c, char **text)
{
	size_t n;
	FILE *f = open_memstream(text, &n);
	char *end;

	if (!f)
		return -ENOMEM;
	descriptor__put(f, c);
	if (fclose(f) || !*text)
		return -ENOMEM;
	/* "</tmp/x>(deleted)" */
	end = strrchr(*text, '>');
	if (end && **text == '<') {
		*end = end[1] ? ' ' : 0;
		memmove(*text, *text + 1, strlen(*text));
	}
	escape_undo(*text);
	return 0;
}

bool snap_thread__is_call(const struct snap_thread *t, const char *name)
{
	const char *is = syscall_name(t->slot / SYSCALL_NUMBERS, t->slot % SYSCALL_NUMBERS);

	return is && !strcmp(is, name);
}

static int object_text(const struct snap_thread *t, char **text)
{
	struct trace_record r;
	size_t size = snap_thread__record(&r, t), at = 0;
	const struct trace_chunk *c = t->place == SNAP_IN_CALL ? trace_chunk__next(&r, size, &at) : NULL;
	int n = 0;

	if (c)
		return file_text(c, text);
	if (t->place != SNAP_IN_CALL)
		return 0;
	if (snap_thread__is_call(t, "futex") || snap_thread__is_call(t, "futex_wait"))
		n = asprintf(text, "%#llx", t->value[0]);
	else if (snap_thread__is_call(t, "wait4") && (int)t->value[0] > 0)
		n = asprintf(text, "pid %d", (int)t->value[0]);
	return n < 0 ? -ENOMEM : 0;
}

static int channel_text(struct snap_names *names, const struct snap_thread *t, char **text)
{
	const char *name = NULL;
	int err = 0;

	if (t->state == 'R')
		name = t->place == SNAP_ON_CPU ? NULL : "[run queue]";
	else
		name = function_at(names, t->waits_in, &err);
	if (!name)
		return err;
	*text = strdup(name);
	return *text ? err : -ENOMEM;
}

int snap_names__part(struct snap_names *names, const struct snap_thread *t, enum snap_part part, char **text)
{
	*text = NULL;
	switch (part) {
	case SNAP_BY_STATE:
		*text = strndup(&t->state, 1);
		return *text ? 0 : -ENOMEM;
	case SNAP_BY_CALL:
		return call_text(names, t, text);
	case SNAP_BY_OBJECT:
		return object_text(t, text);
	case SNAP_BY_WCHAN:
		return channel_text(names, t, text);
	default:
		return -EINVAL;
	}
}

u32 snap_thread__rank(const struct snap_thread *t, u64 ns)
{
	switch (t->state) {
	case 'D':
		return 0;
	case 'R':
		return t->place != SNAP_ON_CPU && ns >= LONG_RUNNABLE_NS ? 1 : 4;
	case 'T':
	case 't':
		return 2;
	case 'Z':
	case 'X':
		return 3;
	default:
		return t->place == SNAP_KERNEL_THREAD ? 5 : 4;
	}
}
