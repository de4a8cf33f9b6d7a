// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/prctl.h"

#include <sys/prctl.h>

#include "calls/syscall/names.h"
#include "calls/syscall/text.h"

enum second_kind {
	SECOND_HEX,
	SECOND_NUMBER,
	SECOND_POINTER,
	SECOND_NAME,            /* passed by the caller */
	SECOND_NAME_TOLD,
	SECOND_SIGNAL,
	SECOND_CAPABILITY,
	SECOND_DUMPABLE,
};

static const struct {
	u8 option, arguments;
	u8 second;              /* enum second_kind */
} options[] = {
	{ PR_SET_PDEATHSIG, 2, SECOND_SIGNAL },
	{ PR_GET_PDEATHSIG, 2, SECOND_POINTER },
	{ PR_GET_DUMPABLE, 1, SECOND_HEX },
	{ PR_SET_DUMPABLE, 2, SECOND_DUMPABLE },
	{ PR_GET_KEEPCAPS, 1, SECOND_HEX },
	{ PR_SET_KEEPCAPS, 2, SECOND_NUMBER },
	{ PR_SET_NAME, 2, SECOND_NAME },
	{ PR_GET_NAME, 2, SECOND_NAME_TOLD },
	{ PR_GET_SECCOMP, 1, SECOND_HEX },
	{ PR_CAPBSET_READ, 2, SECOND_CAPABILITY },
	{ PR_CAPBSET_DROP, 2, SECOND_CAPABILITY },
	{ PR_GET_SECUREBITS, 1, SECOND_HEX },
	{ PR_SET_SECUREBITS, 2, SECOND_HEX },
	{ PR_SET_TIMERSLACK, 2, SECOND_NUMBER },
	{ PR_GET_TIMERSLACK, 1, SECOND_HEX },
	{ PR_SET_CHILD_SUBREAPER, 2, SECOND_NUMBER },
	{ PR_GET_CHILD_SUBREAPER, 2, SECOND_POINTER },
	{ PR_SET_NO_NEW_PRIVS, 5, SECOND_NUMBER },
	{ PR_GET_NO_NEW_PRIVS, 5, SECOND_NUMBER },
	{ PR_SET_THP_DISABLE, 5, SECOND_NUMBER },
	{ PR_GET_THP_DISABLE, 5, SECOND_NUMBER },
};

/* Returns its index in the table, or -1. */
static int find_option(u64 option)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].option == (u32)option)
			return i;
	return -1;
}

u32 prctl_arguments(u64 option)
{
	int i = find_option(option);

	return i < 0 ? 5 : options[i].arguments;
}

static void put_name(FILE *f, const struct trace_record *r, size_t size, enum trace_part part)
{
	const struct trace_chunk *c = trace_chunk__find(r, size, TRACE_ID(1, part));

	if (!r->value[1] || !c || c->flags & TRACE_CHUNK_FAULT)
		unread__put(f, r->value[1], c);
	else
		quoted_chunk__put(f, c);
}

void prctl_second__put(FILE *f, const struct trace_record *r, size_t size)
{
	int i = find_option(r->value[0]);
	u64 value = r->value[1];

	switch (i < 0 ? SECOND_HEX : options[i].second) {
	case SECOND_NUMBER:
		fprintf(f, "%llu", value);
		break;
	case SECOND_POINTER:
		pointer__put(f, value);
		break;
	case SECOND_NAME:
		put_name(f, r, size, PART_TARGET);
		break;
	case SECOND_NAME_TOLD:
		put_name(f, r, size, PART_AFTER);
		break;
	case SECOND_SIGNAL:
		signal_name__put(f, value);
		break;
	case SECOND_CAPABILITY:
		value_names__put(f, &capabilities, value);
		break;
	case SECOND_DUMPABLE:
		value_names__put(f, &dumpable, value);
		break;
	default:
		fprintf(f, "%#llx", value);
		break;
	}
}
