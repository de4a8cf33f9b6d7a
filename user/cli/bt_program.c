// SPDX-License-Identifier: BSD-2-Clause
#include "cli/bt_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "cli/foreign_event.h"

/* The first row applies whose event, and whose other text (if it has one), occur in the program. */
static const struct {
	const char *event, *other, *line;
} programs[] = {
	{ "raw_syscalls:sys_e", "[comm]", "syscount --by comm" },
	{ "raw_syscalls:sys_e", "[pid, comm]", "syscount --by pid,comm" },
	{ "raw_syscalls:sys_e", NULL, "syscount" },
	{ "syscalls:sys_enter_*", NULL, "syscount" },
	{ "syscalls:sys_exit_*", NULL, "syscount" },
	{ "syscalls:sys_enter_open", "filename", "opensnoop" },
	{ "syscalls:sys_enter_exec", NULL, "execsnoop" },
	{ "sched:sched_process_exec", NULL, "execsnoop" },
	{ "sched:sched_process_exit", NULL, "exitsnoop" },
	{ "sched:sched_switch", "nsecs", "offcputime" },
	{ "sched:sched_wakeup", "nsecs", "runqlat" },
	{ "syscalls:sys_enter_kill", NULL, "signals --sender" },
	{ "signal:signal_", NULL, "signals" },
	{ "syscalls:sys_enter_connect", NULL, "connsnoop" },
	{ "syscalls:sys_enter_accept", NULL, "connsnoop" },
	{ "block:block_rq_issue", "hist(", "bitesize" },
	{ "block:block_rq_complete", "nsecs", "biolatency" },
	{ "block:block_io_done", "nsecs", "biolatency" },
	{ "block:block_rq_", "printf", "biosnoop" },
	{ "block:block_rq_insert", "stack", "stackcount block:block_rq_insert" },
	{ "software:major-faults:", NULL, "faults --major --by comm" },
	{ "software:page-faults:", "stack", "faults -g" },
	{ "software:faults:", "stack", "faults -g" },
	{ "software:page-faults:", NULL, "faults --by comm" },
	{ "software:faults:", NULL, "faults --by comm" },
	{ "exceptions:page_fault_", NULL, "faults --by comm" },
	{ "tcp:tcp_retransmit_", NULL, "tcpretrans" },
	{ "skb:kfree_skb", "stack", "netdrop -g" },
	{ "skb:kfree_skb", NULL, "netdrop" },
	{ "irq:irq_handler_", NULL, "hardirqs" },
	{ "irq:softirq_", NULL, "softirqs" },
	{ "workqueue:workqueue_", NULL, "workqueues" },
	{ "io_uring:io_uring_", NULL, "uringstat" },
	{ "kmem:k", NULL, "kmem" },
	{ "sched:sched_migrate_task", NULL, "migrations" },
};

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* Returns the field after "args." or "args->", or NULL if the text begins with neither. */
static const char *field_of(const char *text)
{
	if (!strncmp(text, "args.", 5))
		return text + 5;
	return strncmp(text, "args->", 6) ? NULL : text + 6;
}

static bool is_key(const char *word, size_t len)
{
	static const char *const keys[] = { "comm", "pid", "tid", "cpu", "uid", "func" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (strlen(keys[i]) == len && !memcmp(keys[i], word, len))
			return true;
	return false;
}

/* Writes the key of the first map: "@x[comm, args.ret]" becomes "comm,ret". Unknown keys are left out. */
static void put_keys(FILE *f, const char *program)
{
	const char *p = strchr(program, '@'), *field, *separator = " --by ";
	size_t n;

	p = p ? strpbrk(p, "[;=}") : NULL;
	if (!p || *p != '[')
		return;
	for (p++; *p && *p != ']'; p += n + strspn(p + n, ", ")) {
		field = field_of(p);
		p = field ?: p;
		n = field ? strspn(p, LETTERS) : strcspn(p, ",] ");
		if (!field && !is_key(p, n))
			continue;
		fprintf(f, "%s%.*s", separator, (int)n, p);
		separator = ",";
	}
}

/* Writes the argument of hist() or sum(): a field, a result, or an argument, which bpftrace counts from 0. */
static bool put_value(FILE *f, const char *program, const char *function, const char *option)
{
	const char *p = strstr(program, function), *field;

	if (!p)
		return false;
	p += strlen(function);
	field = field_of(p);
	if (field)
		fprintf(f, " %s %.*s", option, (int)strspn(field, LETTERS), field);
	else if (!strncmp(p, "retval)", strlen("retval)")) || !strncmp(p, "retval,", strlen("retval,")))
		fprintf(f, " %s '$retval'", option);
	else if (!strncmp(p, "arg", 3) && p[3] >= '0' && p[3] <= '5' && (p[4] == ')' || p[4] == ','))
		fprintf(f, " %s arg%c", option, p[3] + 1);
	else
		return false;
	return true;
}

/* Writes filters by pid or process name, which are options here. */
static void put_filter(FILE *f, const char *program)
{
	const char *pid = strstr(program, "/pid == "), *comm = strstr(program, "/comm == \"");

	if (pid)
		fprintf(f, " -p %.*s", (int)strspn(pid + 8, "0123456789"), pid + 8);
	if (comm)
		fprintf(f, " --comm '%.*s'", (int)strcspn(comm + 10, "\"'"), comm + 10);
}

/* Returns the first event other than BEGIN and intervals. */
static char *first_event(const char *program)
{
	static const char *const others[] = { "BEGIN", "begin", "config", "interval:", "i:" };
	const char *p = program;
	size_t i = 0;

	while (p && i < ARRAY_SIZE(others)) {
		p += strspn(p, " \n\t;");
		for (i = 0; i < ARRAY_SIZE(others); i++)
			if (!strncmp(p, others[i], strlen(others[i])))
				break;
		if (i < ARRAY_SIZE(others))
			p = strchr(p, '}') ? strchr(p, '}') + 1 : NULL;
	}
	return p ? strndup(p, strcspn(p, " \n\t,{")) : NULL;
}

static const char *tool_of(const char *program, const char *event)
{
	if (strstr(program, "stack"))
		return "stackcount";
	if (strstr(program, "[probe]"))
		return "stat";
	return !strncmp(event, "software:", 9) || !strncmp(event, "hardware:", 9) ? "stat" : "probe";
}

static bool put_event(FILE *f, const char *program)
{
	char *event = first_event(program), *line = NULL;
	bool is_probe;

	if (event)
		line = foreign_event__here(tool_of(program, event), event);
	free(event);
	if (!line)
		return false;
	is_probe = !strncmp(line, "tally probe", strlen("tally probe"));
	fputs(line + strlen("tally "), f);
	if (is_probe && strstr(program, "nsecs -"))
		fputs(" --latency", f);
	else if (is_probe && strstr(program, "printf(") && !strchr(program, '@'))
		fputs(" --stream", f);
	else if (!is_probe || put_value(f, program, "hist(", "--hist") || put_value(f, program, "sum(", "--sum") ||
		 put_value(f, program, "avg(", "--avg") || strchr(program, '@'))
		put_keys(f, program);
	put_filter(f, program);
	free(line);
	return true;
}

/*
 * True if the line contains the filter, which selects a process or a name. A filter by a map only selects events that
 * have begun, and needs no option.
 */
static bool has_filter(const char *line, const char *filter, size_t len)
{
	const char *option = "";
	size_t n = 0;

	if (!strncmp(filter, "pid == ", 7)) {
		option = " -p ";
		n = 7 + strspn(filter + 7, "0123456789");
	} else if (!strncmp(filter, "comm == \"", 9)) {
		option = " --comm ";
		n = 9 + strcspn(filter + 9, "\"'") + 1;
	} else if (*filter == '@') {
		n = len;
	}
	return n == len && strstr(line, option);
}

/*
 * True if the line lacks a filter of the program. A filter stands between an event and its block: "EVENT /FILTER/ { ...
 * }". A path in an event follows a colon.
 */
static bool drops_a_filter(const char *program, const char *line)
{
	const char *p, *end;
	int depth = 0;

	for (p = program; *p; p++) {
		depth += (*p == '{') - (*p == '}');
		if (depth || *p != '/' || p == program || !strchr(" \n\t", p[-1]))
			continue;
		end = strchr(p + 1, '/');
		if (!end || !has_filter(line, p + 1, end - p - 1))
			return true;
		p = end;
	}
	return false;
}

static char *line_of(const char *program)
{
	char *line = NULL;
	size_t n, i;
	bool is_known;
	FILE *f;

	for (i = 0; i < ARRAY_SIZE(programs); i++)
		if (strstr(program, programs[i].event) &&
		    (!programs[i].other || strstr(program, programs[i].other)))
			return strdup(programs[i].line);
	f = open_memstream(&line, &n);
	is_known = f && put_event(f, program);
	if (f && !fclose(f) && is_known)
		return line;
	free(line);
	return NULL;
}

char *bt_program__here(const char *program, bool *drops_filter)
{
	char *line = line_of(program);

	*drops_filter = line && drops_a_filter(program, line);
	return line;
}
