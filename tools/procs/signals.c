// SPDX-License-Identifier: BSD-2-Clause
/* signals: signals as they are sent. The measurement is bpf/procs/signals.bpf.c. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "host/signal_name.h"
#include "report/diag.h"
#include "stack/snoop_callers.h"
#include "tools.h"

#include "bpf/procs/signals.h"
#include "signals.skel.h"

SKELETON(signals);

static const char *const field_names[] = {
	"signal", "code", "result", "to", "sender_comm", "sender_pid", "sender_tid",
};

/* include/trace/events/signal.h, in the same order. */
static const char *const results[] = {
	"delivered", "ignored", "already-pending", "overflow", "info-lost",
};

struct signals {
	struct snoop snoop;     /* first member: show() casts its context to this type */
	bool by_sender;
	u64 only;               /* 1 << (signal - 1), ORed; 0: all */
	struct callers callers;
	struct signals_bpf *bpf;
};

/* Sent by users and their tools, and rare compared with SIGCHLD, SIGALRM and the signals of language runtimes. */
#define BIT(number) (1ULL << ((number) - 1))
#define RARE (BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGKILL) | BIT(SIGTERM) | BIT(SIGSTOP))

static int parse_signals(void *own, char *arg)
{
	struct signals *s = own;
	char *list = strdup(arg), *rest = list, *name;
	int number;

	if (!list)
		return -ENOMEM;
	while ((name = strsep(&rest, ","))) {
		if (signal_number(name, &number)) {
			diag_error("--signal: unknown signal '%s'; as in TERM, SIGKILL, 9", name);
			free(list);
			return -EINVAL;
		}
		s->only |= BIT(number);
	}
	free(list);
	s->snoop.rare = !(s->only & ~RARE);
	return 0;
}

/* Whether a task sent the signal by a system call. The kernel itself sends the others, in any context. */
static bool has_sender(int code)
{
	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL;
}

static int show(void *context, const void *record, size_t size)
{
	const struct signal_record *r = record;
	struct signals *s = context;
	char comm[sizeof(r->comm) + 1] = "", sender[sizeof(r->sender_comm) + 1] = "";
	char name[SIGNAL_NAME_SPACE], code[SIGNAL_NAME_SPACE];
	bool known = (u32)r->result < ARRAY_SIZE(results), sent = has_sender(r->code);
	struct stream_field fields[ARRAY_SIZE(field_names)] = {
		snoop_word("signal", signal_name(name, r->signal)),
		snoop_word("code", signal_code_name(code, r->signal, r->code)),
		snoop_word("result", known ? results[r->result] : "?"),
		snoop_word("to", r->group ? "process" : "thread"),
		snoop_word("sender_comm", sent ? sender : NULL),
		sent ? snoop_id("sender_pid", r->sender_pid) : snoop_none("sender_pid"),
		sent ? snoop_id("sender_tid", r->sender_tid) : snoop_none("sender_tid"),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	fields[4].field.word = false;   /* a text, shown in quotes */
	memcpy(comm, r->comm, sizeof(r->comm));
	memcpy(sender, r->sender_comm, sizeof(r->sender_comm));
	return snoop_callers__find(&s->snoop, &r->stack, &line) ?: lines__write(&s->snoop.lines, &line);
}

static int open_skeleton(struct snoop *snoop)
{
	struct signals *s = (struct signals *)snoop;
	struct signals_bpf *bpf = snoop->m->bpf;

	s->bpf = bpf;
	bpf->rodata->by_sender = s->by_sender;
	if (s->only)
		bpf->rodata->only = s->only;
	return 0;
}

static void init(void *own)
{
	struct signals *s = own;

	*s = (struct signals){
		.snoop = {
			.value = "signals",
			.source = "tp_btf/signal_generate",
			.field = field_names, .nfields = ARRAY_SIZE(field_names),
			.least = sizeof(struct signal_record),
			.show = show,
			.open = open_skeleton,
			.callers = &s->callers,
		},
	};
}

static void release(void *own)
{
	struct signals *s = own;

	lines__free(&s->snoop.lines);
	callers__free(&s->callers);
}

static const struct option_row rows[] = {
	{ "signal", 0, "NAME,...", ROW_OWN, "Only these signals: TERM, SIGKILL, 9", 0,
	  .parse = parse_signals, .adds = true, .complete = complete_signals, .separators = "," },
	{ "sender", 0, NULL, ROW_FLAG, "Apply the scope (-p, -u, ...) to the sender, not the target", 0,
	  FIELD(struct signals, by_sender) },
	INCLUDE(struct signals, callers, caller_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "signals",
	.cli = {
		.groups = SNOOP_GROUPS & ~CLI_TIMES,
		.doc = "Each signal sent: sender, target and result.",
		.rows = rows,
	},
	.own_size = sizeof(struct signals), .skeleton = &signals_skeleton,
	SNOOP_CALLERS_HOOKS,
	.init = init, .free = release,
};

TOOL_MEASURING(signals, spec, AREA_PROCESSES, "each signal sent, and by whom");
