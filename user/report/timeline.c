// SPDX-License-Identifier: BSD-2-Clause
#include "report/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/escape.h"
#include "report/stream.h"

#define NSEC_PER_USEC 1000ULL

/* A name of 15 letters and two 7-digit ids: "[4194304/4194304]". */
#define TASK_WIDTH 32
#define TASK_NARROW 23          /* on narrower terminals; longer names use the blanks after them */
#define ALL_WIDTH 89
#define TIME_WIDTH 10

/*
 * --- pieces ------------------------------------------------------------------------------------
 */

void timeline__format_time(const struct timeline *t, char text[TIMELINE_TIME_SPACE], u64 time_ns)
{
	u64 wall_ns = time_ns + t->to_wall_clock;
	time_t seconds = wall_ns / NSEC_PER_SEC;
	char clock[16] = "??:??:??";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(text, TIMELINE_TIME_SPACE, "%s.%06llu", clock,
		 wall_ns % NSEC_PER_SEC / NSEC_PER_USEC);
}

static void put_time(const struct timeline *t, FILE *f, u64 time_ns)
{
	char text[TIMELINE_TIME_SPACE];

	timeline__format_time(t, text, time_ns);
	fputs(text, f);
}

/*
 * Right-aligns text in width columns. Earlier columns have exceeded their widths by *over: drops leading blanks of this
 * one to make up for that.
 */
static void put_right(FILE *f, const char *text, int width, int *over)
{
	int blank = width - (int)strlen(text), taken = *over < blank ? *over : blank;

	if (taken < 0)
		taken = 0;
	*over -= taken;
	fprintf(f, " %*s", width - taken, text);
}

/* Writes milliseconds, truncated as in perf. */
static void put_milliseconds(FILE *f, u64 ns, int *over)
{
	char text[32] = "-";
	u64 us = ns / NSEC_PER_USEC;

	if (ns != SWITCHES_UNKNOWN)
		snprintf(text, sizeof(text), "%llu.%03llu", us / 1000, us % 1000);
	put_right(f, text, TIME_WIDTH, over);
}

/* Returns the width in screen columns: escape() produces UTF-8 without invisible characters. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* Writes "name[tid/pid]" or, for a main thread, "name[pid]". Returns the columns beyond width. */
static int put_task(FILE *f, const struct switches_task *t, int width)
{
	char name[ESCAPE_SPACE(sizeof(t->comm))], text[sizeof(name) + 32];
	const char *comm = (const char *)t->comm;
	int n;

	if (t->tid) {
		escape(name, comm, strnlen(comm, sizeof(t->comm)));
		if (t->tid == t->pid)
			snprintf(text, sizeof(text), "%s[%u]", name, t->tid);
		else
			snprintf(text, sizeof(text), "%s[%u/%u]", name, t->tid, t->pid);
	} else {
		snprintf(text, sizeof(text), "<idle>");
	}
	fputs(text, f);
	for (n = width_of(text); n < width; n++)
		fputc(' ', f);
	return n - width;
}

static void put_picture(const struct timeline *t, FILE *f, const struct switches_record *r)
{
	static const char letters[SWITCHES_KINDS] = {
		[SWITCHES_SWITCH] = 's', [SWITCHES_ARRIVAL] = 's', [SWITCHES_WAIT] = 's',
		[SWITCHES_WAKEUP] = 'w', [SWITCHES_MIGRATION] = 'm',
	};
	char letter = letters[r->kind];
	u32 cpu;

	if (r->kind == SWITCHES_SWITCH && !r->other.tid)
		letter = 'i';
	fputs("  ", f);
	for (cpu = 0; cpu < t->cpus; cpu++)
		fputc(cpu == r->cpu ? letter : ' ', f);
}

/*
 * --- lines of text -----------------------------------------------------------------------------
 */

static int task_width(const struct writer *w)
{
	return w->terminal.columns && w->terminal.columns < ALL_WIDTH ? TASK_NARROW : TASK_WIDTH;
}

/* True if w takes text. Sinks take fields. */
static bool takes_text(const struct writer *w)
{
	return w->format == FORMAT_TEXT && !w->sink;
}

void timeline__write_titles(const struct timeline *t, struct writer *w)
{
	FILE *f = w->file;
	u32 cpu;

	if (!takes_text(w))
		return;
	fprintf(f, "%-15s %-6s", "time", "cpu");
	if (t->picture) {
		fputs("  ", f);
		for (cpu = 0; cpu < t->cpus; cpu++)
			fputc('0' + cpu % 10, f);
	}
	fprintf(f, "  %-*s %*s %*s %*s\n", task_width(w), "task[tid/pid]", TIME_WIDTH, "wait time",
		TIME_WIDTH, "sch delay", TIME_WIDTH, "run time");
	fprintf(f, "%*s %*s %*s %*s\n", 24 + (t->picture ? 2 + (int)t->cpus : 0) + task_width(w), "",
		TIME_WIDTH, "(ms)", TIME_WIDTH, "(ms)", TIME_WIDTH, "(ms)");
}

static const struct call_stack *stack_of(const struct timeline *t, const struct switches_record *r)
{
	return t->stacks && r->kind == SWITCHES_SWITCH ? call_stacks__find(t->stacks, r->stack) :
							 NULL;
}

static void put_stack(const struct timeline *t, FILE *f, const struct call_stack *stack)
{
	char *line = call_stack__line(stack, t->most_frames ?: TIMELINE_FRAMES);

	fprintf(f, "  %s", line ?: "[no memory]");
	free(line);
}

static void put_switch(const struct timeline *t, struct writer *w, const struct switches_record *r)
{
	const struct call_stack *stack = stack_of(t, r);
	FILE *f = w->file;
	int over = put_task(f, &r->task, task_width(w));

	put_milliseconds(f, r->off_ns, &over);
	put_milliseconds(f, r->wait_ns, &over);
	put_milliseconds(f, r->run_ns, &over);
	if (t->next) {
		fputs("  next: ", f);
		put_task(f, &r->other, 0);
	}
	if (stack)
		put_stack(t, f, stack);
}

/* Writes an event that is not a switch, with the acting task in the task column. */
static void put_other_event(struct writer *w, const struct switches_record *r)
{
	FILE *f = w->file;
	int over = put_task(f, &r->other, task_width(w));

	put_right(f, "", 3 * TIME_WIDTH + 2, &over);
	fputs(r->kind == SWITCHES_WAKEUP ? "  awakened: " : "  migrated: ", f);
	put_task(f, &r->task, 0);
	if (r->kind == SWITCHES_MIGRATION)
		fprintf(f, " cpu %u => %u", r->from, r->to);
}

static void write_text_line(const struct timeline *t, struct writer *w, const struct switches_record *r)
{
	FILE *f = w->file;

	put_time(t, f, r->time_ns);
	fprintf(f, " [%04u]", r->cpu);
	if (t->picture)
		put_picture(t, f, r);
	fputs("  ", f);
	if (r->kind == SWITCHES_SWITCH)
		put_switch(t, w, r);
	else
		put_other_event(w, r);
	fputc('\n', f);
}

/*
 * --- lines for programs ------------------------------------------------------------------------
 */

/* Makes a field that is null if its value is unknown or meaningless for this event. */
static struct stream_field number_field(const char *name, u64 n, enum field_kind kind, bool has)
{
	return (struct stream_field){
		.field = { .name = name, .number = n, .kind = kind }, .fault = !has,
	};
}

static struct stream_field time_field(const char *name, u64 ns)
{
	return number_field(name, ns, FIELD_TIME, ns != SWITCHES_UNKNOWN);
}

/* record: NULL to write only the heading, if there were no lines. */
static int write_fields(const struct timeline *t, struct writer *w, const struct switches_record *record)
{
	static const char *const names[SWITCHES_KINDS] = {
		[SWITCHES_SWITCH] = "switch", [SWITCHES_ARRIVAL] = "arrival",
		[SWITCHES_WAIT] = "wait", [SWITCHES_WAKEUP] = "wakeup",
		[SWITCHES_MIGRATION] = "migration",
	};
	static const struct switches_record none;
	const struct switches_record *r = record ?: &none;
	char comm[sizeof(r->task.comm) + 1] = "", other[sizeof(r->other.comm) + 1] = "";
	bool moved = r->kind == SWITCHES_MIGRATION;
	const struct stream_field fields[] = {
		time_field("wait", r->off_ns), time_field("delay", r->wait_ns),
		time_field("run", r->run_ns), { .field = { .name = "other_comm", .text = other } },
		number_field("other_pid", r->other.pid, FIELD_ID, true),
		number_field("other_tid", r->other.tid, FIELD_ID, true),
		number_field("from", r->from, FIELD_ID, moved),
		number_field("to", r->to, FIELD_ID, moved),
	};
	const struct stream_line line = {
		.time_ns = r->time_ns + t->to_wall_clock,
		.comm = comm, .pid = r->task.pid, .tid = r->task.tid, .cpu = r->cpu,
		.event = names[r->kind], .field = fields, .n = ARRAY_SIZE(fields),
		.has_stack = t->stacks, .stack = stack_of(t, r), .most_frames = t->most_frames,
	};

	memcpy(comm, r->task.comm, sizeof(r->task.comm));
	memcpy(other, r->other.comm, sizeof(r->other.comm));
	return record ? stream__write_line(w, NULL, &line) : stream__end_lines(w, &line);
}

int timeline__end_lines(const struct timeline *t, struct writer *w)
{
	return write_fields(t, w, NULL);
}

int timeline__write(const struct timeline *t, struct writer *w, const struct switches_record *r)
{
	if (!takes_text(w))
		return write_fields(t, w, r);
	write_text_line(t, w, r);
	return 0;
}

/*
 * --- the map -----------------------------------------------------------------------------------
 */

/* record: NULL to write only the heading, if there were no lines. */
static int write_map_fields(const struct timeline *t, struct writer *w,
			    const struct switches_record *record, const char *code)
{
	static const struct switches_record none;
	const struct switches_record *r = record ?: &none;
	char comm[sizeof(r->other.comm) + 1] = "", text[TIMELINE_CELL];
	const struct stream_field field = { .field = { .name = "code", .text = text } };
	const struct stream_line line = {
		.time_ns = r->time_ns + t->to_wall_clock,
		.comm = comm, .pid = r->other.pid, .tid = r->other.tid, .cpu = r->cpu,
		.field = &field, .n = 1,
	};

	memcpy(comm, r->other.comm, sizeof(r->other.comm));
	snprintf(text, sizeof(text), "%s", code);
	return record ? stream__write_line(w, NULL, &line) : stream__end_lines(w, &line);
}

int timeline__end_map(const struct timeline *t, struct writer *w)
{
	return write_map_fields(t, w, NULL, "");
}

int timeline__write_map(const struct timeline *t, struct writer *w, const struct switches_record *r,
			char (*cell)[TIMELINE_CELL], const char *code, bool is_new)
{
	FILE *f = w->file;
	u32 cpu;

	if (!takes_text(w))
		return write_map_fields(t, w, r, code);
	for (cpu = 0; cpu < t->cpus; cpu++)
		fprintf(f, "%c%-2s", cpu == r->cpu ? '*' : ' ', cell[cpu]);
	fputs("  ", f);
	put_time(t, f, r->time_ns);
	if (is_new) {
		fprintf(f, "  %s => ", code);
		put_task(f, &r->other, 0);
	}
	fputc('\n', f);
	return 0;
}
