// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/result.h"

#include <fcntl.h>
#include <string.h>

#include "host/errno_name.h"
#include "host/open_flags.h"
#include "report/units.h"
#include "calls/syscall/constants.h"
#include "calls/syscall/descriptor.h"
#include "calls/syscall/packed.h"
#include "calls/syscall/polled.h"
#include "calls/syscall/text.h"

#define MAX_ERRNO 4095

int syscall_error(const struct trace_record *r)
{
	s64 result = r->value[TRACE_RESULT];

	if (r->state != TRACE_RETURNED && r->state != TRACE_ANSWERED)
		return 0;
	return result < 0 && result >= -MAX_ERRNO ? -result : 0;
}

/*
 * The call was interrupted by a signal. Before the task sees the result, the kernel restarts the
 * call or returns EINTR.
 */
static const char *restarts(int error)
{
	switch (error) {
	case 512:
		return "To be restarted if SA_RESTART is set";
	case 513:
		return "To be restarted";
	case 514:
		return "To be restarted if no handler";
	case 516:
		return "Interrupted by signal";
	default:
		return NULL;
	}
}

static void put_error(FILE *f, int error)
{
	const char *name = errno_name(error), *restart = restarts(error);

	if (restart)
		fprintf(f, "? %s (%s)", name ?: "", restart);
	else if (name)
		fprintf(f, "-1 %s (%s)", name, strerror(error));
	else
		fprintf(f, "-%d", error);
}

/* Puts the meaning of a returned number, if it has a name. */
static void put_meaning(FILE *f, const struct signature *s, const struct trace_record *r)
{
	u64 result = r->value[TRACE_RESULT];
	char text[OPEN_FLAGS_SPACE];

	if (s->result == RESULT_SIGNAL) {
		fputs(" (", f);
		signal_name__put(f, result);
		fputc(')', f);
	} else if (s->result == RESULT_SCHEDULER) {
		fputs(" (", f);
		value_names__put(f, &schedulers, result);
		fputc(')', f);
	} else if (s->result == RESULT_FD_BY_COMMAND && r->value[1] == F_GETFL) {
		fprintf(f, " (flags %s)", open_flags(text, result));
	} else if (s->result == RESULT_NAMES && (result || s->result_names->mask == VALUE_ONLY)) {
		fputs(s->result_names == &fd_flags ? " (flags " : " (", f);
		value_names__put(f, s->result_names, (u32)result);
		fputc(')', f);
	} else if (s->result == RESULT_IO_PRIORITY) {
		fputs(" (", f);
		io_priority__put(f, result);
		fputc(')', f);
	} else if (s->result == RESULT_LOCK_TYPE) {
		fputs(" (", f);
		value_names__put(f, &lock_types, (u32)result);
		fputc(')', f);
	}
}

static void put_returned(FILE *f, const struct signature *s, const struct trace_record *r,
			 size_t size)
{
	s64 result = r->value[TRACE_RESULT];
	int error = syscall_error(r);

	if (error)
		put_error(f, error);
	else if (s->result == RESULT_POINTER)
		fprintf(f, "%#llx", (u64)result);
	else if (s->result == RESULT_OCTAL)
		fprintf(f, "%#03llo", (u64)result);
	else if (result && ((s->result == RESULT_NAMES && s->result_names->mask != VALUE_ONLY) ||
			    (s->result == RESULT_FD_BY_COMMAND && r->value[1] == F_GETFL)))
		fprintf(f, "%#llx", (u64)result);
	else
		fprintf(f, "%lld", result);
	if (error)
		return;
	descriptor__put(f, trace_chunk__find(r, size, TRACE_ID(TRACE_RESULT, PART_FD)));
	put_meaning(f, s, r);
	found__put(f, s, r, size);
}

void syscall_result__put(FILE *f, const struct signature *s, const struct trace_record *r,
			 size_t size)
{
	char text[UNITS_SPACE];

	s = syscall_commanded(s, r->value);
	switch (r->state) {
	case TRACE_RETURNED:
		put_returned(f, s, r, size);
		break;
	case TRACE_ANSWERED:
		put_returned(f, s, r, size);
		fputs(" (answered by seccomp or a tracer)", f);
		break;
	case TRACE_RUNNING:
		fprintf(f, "? (running for %s)",
			format_value(text, r->time_ns - r->start_ns, UNIT_NS, false));
		break;
	case TRACE_SINCE_BEFORE:
		fputs("? (running since before the trace)", f);
		break;
	case TRACE_ENDED:
		fputs("? (the task ended)", f);
		break;
	default:
		fputc('?', f);
		break;
	}
}
