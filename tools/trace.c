// SPDX-License-Identifier: BSD-2-Clause
/* trace: each system call with its arguments, or sums of them. Measured by bpf/trace.bpf.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers.h"
#include "host/errno_name.h"
#include "host/syscall_set.h"
#include "host/task_state.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/lines.h"
#include "run/waits.h"
#include "syscall/decode.h"
#include "syscall/sums.h"
#include "tools.h"
#include "types/tracefs.h"

#include "trace.skel.h"

enum {
	KEY_FAILED = 0x1000,
	KEY_MIN,
	KEY_SUMMARY,
	KEY_SORT,
	KEY_STRING_MAX,
	KEY_BYTES,
};

#define LEAST_TASKS 2048
#define STRING_MOST 4096
#define DEFAULT_STRING_MAX 256
#define DEFAULT_BYTES 32

#define AS_STRACE "{time} {comm}[{pid}/{tid}] {call}({args}) = {result} <{duration}>"
#define SOURCE "tp_btf/sys_enter and sys_exit"

/* In this order in JSON and CSV. */
enum line_field {
	LINE_CALL,
	LINE_ARGS,
	LINE_RESULT, /* for people; ret and error say the same */
	LINE_RET,
	LINE_ERROR,
	LINE_DURATION,
	LINE_FIELDS,
};

static const char *const field_names[LINE_FIELDS] = {
	"call", "args", "result", "ret", "error", "duration",
};

struct trace {
	bool summary, failed, has_set;
	u64 min_ns, string_max, bytes;
	const char *sort;
	struct syscall_set set;
	const struct signature *signature[TRACE_SLOTS]; /* where known, or guessed */
	int tracefs;					/* -1: none */
	struct trace_bpf *bpf;
	struct lines lines;
	/* --summary */
	struct call_sum *before; /* of TRACE_SLOTS */
	struct loss_counters losses_before;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_set(struct trace *t, const char *arg)
{
	struct syscall_set set = {};
	struct complaint c = {};
	size_t abi, i;

	if (syscall_set__parse(&set, arg, &c)) {
		diag_complaint("-e", arg, &c);
		return EINVAL;
	}
	for (abi = 0; abi < SYSCALL_ABIS; abi++)
		for (i = 0; i < ARRAY_SIZE(set.bits[abi]); i++)
			t->set.bits[abi][i] |= set.bits[abi][i];
	t->has_set = true;
	return 0;
}

static error_t parse_min(struct trace *t, const char *arg)
{
	if (!parse_duration(arg, NSEC_PER_MSEC, &t->min_ns))
		return 0;
	diag_error("--min: '%s' is no time; as in 10ms, 500us", arg);
	return EINVAL;
}

static error_t parse_length(const char *option, const char *arg, u64 *length)
{
	if (!parse_u64_between(arg, 1, STRING_MOST, length))
		return 0;
	diag_error("%s: '%s' is not a number from 1 to %d", option, arg, STRING_MOST);
	return EINVAL;
}

static const char *const columns[] = {"total", "calls", "errors", "avg", "min", "max"};

static error_t parse_sort(struct trace *t, const char *arg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(arg, columns[i])) {
			t->sort = columns[i];
			return 0;
		}
	if (!strcmp(arg, "call")) {
		t->sort = NULL;
		return 0;
	}
	diag_error("--sort: no column '%s'; there are total, calls, errors, avg, min, max, call",
		   arg);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct trace *t = state->input;

	switch (key) {
	case 'e':
		return parse_set(t, arg);
	case KEY_FAILED:
		t->failed = true;
		return 0;
	case KEY_MIN:
		return parse_min(t, arg);
	case KEY_SUMMARY:
		t->summary = true;
		return 0;
	case KEY_SORT:
		return parse_sort(t, arg);
	case KEY_STRING_MAX:
		return parse_length("--string-max", arg, &t->string_max);
	case KEY_BYTES:
		return parse_length("--bytes", arg, &t->bytes);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * --- calls -------------------------------------------------------------------------------------
 */

static enum syscall_abi abi_of(u32 slot)
{
	return slot / SYSCALL_NUMBERS;
}

/*
 * "openat", "openat:32" of a 32-bit call, "syscall_600" where no name is known; in sums, the
 * highest number stands for all above it. Returns text.
 */
static const char *call_name(char text[64], u32 slot, u32 number)
{
	const char *name = number < SYSCALL_NUMBERS ? syscall_name(abi_of(slot), number) : NULL;
	const char *suffix = abi_of(slot) == SYSCALL_COMPAT ? ":32" : "";

	if (name)
		snprintf(text, 64, "%s%s", name, suffix);
	else
		snprintf(text, 64, "syscall_%u%s", number, suffix);
	return text;
}

/* Never NULL. */
static const struct signature *signature_of(struct trace *t, u32 slot)
{
	static const struct signature six = {
		.name = "",
		.native = 1,
		.arg = {{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX}},
	};
	const char *name = syscall_name(abi_of(slot), slot % SYSCALL_NUMBERS);
	const struct signature *s = name ? syscall_signature(name) : NULL;
	struct signature *guess;

	if (t->signature[slot])
		return t->signature[slot];
	if (s && s->native && abi_of(slot) != SYSCALL_NATIVE)
		s = NULL;
	if (!s && name && abi_of(slot) == SYSCALL_NATIVE) {
		guess = malloc(sizeof(*guess));
		if (guess)
			syscall_signature__guess(guess, t->tracefs, name);
		s = guess;
	}
	t->signature[slot] = s ?: &six;
	return t->signature[slot];
}

static void free_signatures(struct trace *t)
{
	const struct signature *known;
	size_t n, slot;

	known = syscall_signatures(&n);
	for (slot = 0; slot < SYSCALL_NUMBERS; slot++)
		if (t->signature[slot] && *t->signature[slot]->name &&
		    (t->signature[slot] < known || t->signature[slot] >= known + n))
			free((void *)t->signature[slot]);
}

static int describe_call(struct trace *t, u32 slot)
{
	const struct signature *s = signature_of(t, slot);
	struct trace_call c = {
		.wanted = syscall_set__has(&t->set, abi_of(slot), slot % SYSCALL_NUMBERS),
		.no_return = s->no_return,
		.exec = s->exec,
	};

	if (!t->summary)
		syscall_fetches(&c, s, abi_of(slot), t->bytes);
	return bpf_map__update_elem(t->bpf->maps.calls, &slot, sizeof(slot), &c, sizeof(c),
				    BPF_ANY);
}

static int describe_calls(struct trace *t)
{
	int err = 0;
	u32 slot;

	for (slot = 0; slot < TRACE_SLOTS && !err; slot++)
		err = describe_call(t, slot);
	return err;
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

/* What a call that runs since before the trace is: /proc knows. False: it runs in user space. */
static bool ask_proc(struct trace_record *r)
{
	char path[64], line[256];
	u64 *v = r->value;
	long number;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", r->pid, r->tid);
	if (read_line(path, line, sizeof(line)))
		return false;
	if (sscanf(line, "%ld %llx %llx %llx %llx %llx %llx", &number, &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5]) != 7 ||
	    number < 0)
		return false;
	r->number = number;
	r->slot += number < SYSCALL_NUMBERS ? number : SYSCALL_NUMBERS - 1;
	r->used = 0;
	return true;
}

static int make_text(char **text, size_t *n, const struct signature *s,
		     const struct trace_record *r, size_t size, bool result)
{
	FILE *f = open_memstream(text, n);

	if (!f)
		return -ENOMEM;
	if (result)
		syscall_result__put(f, s, r);
	else
		syscall_arguments__put(f, s, r, size);
	return fclose(f) ? -ENOMEM : 0;
}

static int write_line(struct trace *t, const struct trace_record *r, char *args, char *result)
{
	bool returned = r->state == TRACE_RETURNED, timed = returned && r->start_ns;
	int error = syscall_error(r);
	char comm[sizeof(r->comm) + 1] = "", call[64];
	const struct stream_field fields[LINE_FIELDS] = {
		{.field = {.name = field_names[LINE_CALL], .text = call, .word = true}},
		{.field = {.name = field_names[LINE_ARGS], .text = args}, .escaped = true},
		{.field = {.name = field_names[LINE_RESULT], .text = result}, .escaped = true},
		{.field = {.name = field_names[LINE_RET],
			   .number = r->value[TRACE_RESULT],
			   .kind = returned ? FIELD_SIGNED : FIELD_NONE}},
		{.field = {.name = field_names[LINE_ERROR],
			   .text = (char *)errno_name(error),
			   .word = true,
			   .kind = error ? FIELD_NUMBER : FIELD_NONE}},
		{.field = {.name = field_names[LINE_DURATION],
			   .number = r->time_ns - r->start_ns,
			   .kind = timed ? FIELD_TIME : FIELD_NONE},
		 .seconds = true},
	};
	struct stream_line line = {
		.time_ns = r->time_ns,
		.comm = comm,
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->cpu,
		.field = fields,
		.n = LINE_FIELDS,
	};

	call_name(call, r->slot, r->number);
	memcpy(comm, r->comm, sizeof(r->comm));
	return lines__write(&t->lines, &line);
}

static int show(void *context, const void *data, size_t size)
{
	const struct trace_record *r = data;
	struct trace *t = context;
	struct trace_record running;
	char *args = NULL, *result = NULL;
	const struct signature *s;
	size_t n;
	int err;

	if (r->state == TRACE_SINCE_BEFORE) {
		memcpy(&running, data, offsetof(struct trace_record, data));
		r = &running;
		if (!ask_proc(&running) ||
		    !syscall_set__has(&t->set, abi_of(r->slot), r->slot % SYSCALL_NUMBERS))
			return 0;
		size = offsetof(struct trace_record, data);
	}
	s = signature_of(t, r->slot % TRACE_SLOTS);
	err = make_text(&args, &n, s, r, size, false);
	if (!err)
		err = make_text(&result, &n, s, r, size, true);
	if (!err)
		err = write_line(t, r, args, result);
	free(args);
	free(result);
	return err;
}

static int watch(struct run *run)
{
	struct trace *t = run->context;

	return lines__drain(&t->lines);
}

/* Without intervals the report is the last one, and whatever still runs is shown with it. */
static int drain_last(struct trace *t)
{
	int err;

	t->bpf->bss->closed = 1;
	err = lines__drain(&t->lines);
	if (err)
		return err;
	if (tasks__visit(t->bpf->progs.show_running))
		diag_detail("no task iterator: calls that still run are not shown");
	return lines__drain(&t->lines);
}

static int report_lines(struct run *run, struct report *r)
{
	struct trace *t = run->context;
	int err = run->cli->interval_ns ? 0 : drain_last(t);

	r->value = "system calls";
	r->source = SOURCE;
	return err ?: lines__report(&t->lines, r);
}

/*
 * --- sums --------------------------------------------------------------------------------------
 */

static int add_time(struct report_row *row, const char *name, u64 ns, bool known)
{
	return report_row__add_number(row, name, ns, known ? FIELD_DURATION : FIELD_NONE);
}

static int add_count(struct report_row *row, const char *name, u64 n, bool known)
{
	return report_row__add_number(row, name, n, known ? FIELD_NUMBER : FIELD_NONE);
}

static int add_figures(struct report_row *row, const struct call_sum *s,
		       const struct trace_running *running)
{
	bool any = s->count, has_error = s->count > 1 && s->squares;
	int err = add_count(row, "calls", s->count, true);

	if (!err)
		err = add_count(row, "errors", s->errors, true);
	if (!err)
		err = add_time(row, "total", s->ns, true);
	if (!err)
		err = add_time(row, "avg", any ? s->ns / s->count : 0, any);
	if (!err)
		err = add_time(row, "std_error", has_error ? call_sum__error(s) : 0, has_error);
	if (!err)
		err = add_time(row, "min", s->min_ns, any);
	if (!err)
		err = add_time(row, "max", s->max_ns, any);
	if (!err)
		err = add_count(row, "running", running->count, running->count);
	return err ?: add_time(row, "for", running->max_ns, running->count);
}

static int add_row(struct report *r, const char *name, const struct call_sum *s,
		   const struct trace_running *running)
{
	struct report_row row = {};
	int err = report_row__add_text(&row, "call", name);

	if (!err)
		err = add_figures(&row, s, running);
	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
}

static int read_running(struct trace *t, u32 slot, struct trace_running *running)
{
	int err = bpf_map__lookup_elem(t->bpf->maps.running, &slot, sizeof(slot), running,
				       sizeof(*running), 0);

	if (running->visit != t->bpf->bss->visit)
		*running = (struct trace_running){};
	return err;
}

static void add_to_total(struct call_sum *total, const struct call_sum *s)
{
	if (!total->count || s->min_ns < total->min_ns)
		total->min_ns = s->min_ns;
	if (s->max_ns > total->max_ns)
		total->max_ns = s->max_ns;
	total->count += s->count;
	total->errors += s->errors;
	total->ns += s->ns;
	/* No squares: the error of a mean over calls of different kinds says nothing. */
}

static int fill_rows(struct trace *t, struct run *run, struct report *r, const struct call_sum *now)
{
	struct trace_running running, all_running = {};
	struct call_sum sum, total = {};
	char name[64];
	u32 slot;
	int err = 0;

	for (slot = 0; slot < TRACE_SLOTS && !err; slot++) {
		sum = call_sum__difference(&now[slot], &t->before[slot]);
		err = read_running(t, slot, &running);
		if (err || (!sum.count && !running.count))
			continue;
		if (sum.count)
			add_to_total(&total, &sum);
		all_running.count += running.count;
		if (running.max_ns > all_running.max_ns)
			all_running.max_ns = running.max_ns;
		call_name(name, slot, slot % SYSCALL_NUMBERS);
		err = add_row(r, name, &sum, &running);
	}
	r->events = total.count;
	report__sort_rows(r, t->sort, 1, run->cli->top);
	/* For people; programs can add up rows, and would have to leave out this one. */
	if (!err && r->nrows && run->cli->format == FORMAT_TEXT)
		err = add_row(r, "total", &total, &all_running);
	return err;
}

static int read_sums(struct trace *t, struct run *run, struct call_sum *now)
{
	u64 interval = t->bpf->data->interval;

	t->bpf->bss->closed = !run->cli->interval_ns;
	t->bpf->data->interval = interval + 1;
	t->bpf->bss->visit++;
	if (tasks__visit(t->bpf->progs.sum_running))
		diag_detail("no task iterator: calls that still run are not shown");
	return call_sums__read(now, bpf_map__fd(t->bpf->maps.sums), run->host.cpus_possible,
			       interval);
}

static int report_sums(struct run *run, struct report *r)
{
	struct trace *t = run->context;
	struct call_sum *now = calloc(TRACE_SLOTS, sizeof(*now));
	struct loss_counters losses;
	int err = now ? 0 : -ENOMEM;

	r->value = "system calls";
	r->source = SOURCE;
	r->table = true;
	r->has_events = true;
	if (!err)
		err = loss__read(&losses, bpf_map__fd(t->bpf->maps.losses), t->bpf->obj);
	if (!err)
		err = read_sums(t, run, now);
	if (!err)
		err = fill_rows(t, run, r, now);
	if (err) {
		free(now);
		return err;
	}
	r->counters = loss__difference(&losses, &t->losses_before);
	t->losses_before = losses;
	free(t->before);
	t->before = now;
	return 0;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static int leave_out_state(struct bpf_object *obj, const char *name)
{
	char text[64];
	int err = bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, name), false);

	snprintf(text, sizeof(text), "%s_hash", name);
	if (!err)
		err = bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, text), false);
	snprintf(text, sizeof(text), "%s_hash_on_free", name);
	return err ?: bpf_program__set_autoload(bpf_object__find_program_by_name(obj, text), false);
}

/*
 * Before 5.13. Elements have 8 KiB, so they are made where they are needed: a system call begins
 * where memory can be had.
 */
static int size_states(struct bpf_map *hash)
{
	u64 tasks = 4 * host__threads();
	int err = bpf_map__set_map_flags(hash, BPF_F_NO_PREALLOC);

	return err ?: bpf_map__set_max_entries(hash, tasks > LEAST_TASKS ? tasks : LEAST_TASKS);
}

/* Either records or sums are loaded. */
static int choose(struct trace *t, struct run *run)
{
	struct trace_bpf *bpf = t->bpf;
	bool storage = false;
	int err;

	bpf_program__set_autoload(bpf->progs.command_exec, run->command.pid != 0);
	bpf_program__set_autoload(bpf->progs.call_enter, !t->summary);
	bpf_program__set_autoload(bpf->progs.call_exit, !t->summary);
	bpf_program__set_autoload(bpf->progs.task_exit, !t->summary);
	bpf_program__set_autoload(bpf->progs.seed_states, !t->summary);
	bpf_program__set_autoload(bpf->progs.show_running, !t->summary);
	bpf_program__set_autoload(bpf->progs.sum_enter, t->summary);
	bpf_program__set_autoload(bpf->progs.sum_exit, t->summary);
	bpf_program__set_autoload(bpf->progs.sum_running, t->summary);
	err = bpf_map__set_autocreate(t->summary ? bpf->maps.records : bpf->maps.sums, false);
	if (!err && !t->summary)
		err = bpf_map__set_autocreate(bpf->maps.running, false);
	if (!err)
		err = leave_out_state(bpf->obj, t->summary ? "states" : "starts");
	if (!err)
		err = task_state__prepare(bpf->obj, t->summary ? "starts" : "states", &run->host,
					  &storage);
	if (!err && !t->summary && !storage)
		err = size_states(bpf->maps.states_hash);
	bpf->rodata->have_task_storage = storage;
	return err;
}

static int configure(struct trace *t, struct run *run)
{
	struct trace_bpf *bpf = t->bpf;
	int err;

	memcpy((void *)&bpf->rodata->scope, &run->scope, sizeof(run->scope));
	bpf->rodata->min_ns = t->min_ns;
	bpf->rodata->failed_only = t->failed;
	bpf->rodata->string_room = t->string_max + 2;
	bpf->rodata->command = run->command.pid;
	err = scope__prepare(bpf->obj, &run->scope, &run->cli->scope);
	if (!err)
		err = choose(t, run);
	if (!err && !t->summary)
		err = lines__prepare(&t->lines, run, bpf->obj, &bpf->rodata->wake_bytes);
	return err;
}

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int begin(struct trace *t, struct run *run)
{
	struct trace_bpf *bpf = t->bpf;
	int err;

	bpf_program__set_autoattach(bpf->progs.seed_states, false);
	bpf_program__set_autoattach(bpf->progs.show_running, false);
	bpf_program__set_autoattach(bpf->progs.sum_running, false);
	run__describe_memory(run, bpf->obj);
	err = scope__fill(bpf->obj, &run->cli->scope);
	if (!err)
		err = describe_calls(t);
	run->watch = t->summary ? NULL : watch;
	if (!err && !t->summary)
		err = lines__begin(&t->lines, run, offsetof(struct trace_record, data), show, t);
	if (!err)
		err = trace_bpf__attach(bpf);
	if (err) {
		diag_error("cannot attach to the tracepoints of system calls: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	if (!t->summary && tasks__visit(bpf->progs.seed_states))
		diag_detail("no task iterator: calls that began before are not shown");
	bpf->bss->began_ns = now_ns();
	bpf->bss->armed = 1;
	return 0;
}

static int measure(struct trace *t, struct run *run)
{
	int err;

	t->bpf = trace_bpf__open();
	if (!t->bpf)
		return -errno;
	err = configure(t, run);
	if (!err && run->cli->explain)
		return run__explain(run, t->bpf->obj, SOURCE);
	if (!err)
		err = trace_bpf__load(t->bpf);
	if (err) {
		diag_error("this kernel cannot load the programs; -v shows why");
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	err = begin(t, run);
	return err ?: run__loop(run);
}

static const struct argp_option options[] = {
	{NULL, 'e', "SET", 0,
	 "Only these calls: names, 'glob*', %class, '!' for all but; repeatable", 1},
	{"failed", KEY_FAILED, NULL, 0, "Only calls that failed", 1},
	{"min", KEY_MIN, "TIME", 0, "Only calls that took at least so long", 1},
	{"summary", KEY_SUMMARY, NULL, 0,
	 "No lines: calls, errors and times, summed up in the kernel", 1},
	{"sort", KEY_SORT, "COL", 0,
	 "Of --summary: by total (default), calls, errors, avg, min, max, call", 1},
	{"string-max", KEY_STRING_MAX, "N", 0,
	 "Bytes shown of paths and other strings (default: 256)", 1},
	{"bytes", KEY_BYTES, "N", 0, "Bytes shown of data read and written (default: 32)", 1},
	{},
};

static int prepare(struct trace *t, struct cli *cli)
{
	if (!t->has_set)
		syscall_set__all(&t->set);
	if (!t->summary && !cli->template_text && cli->format == FORMAT_TEXT)
		cli->template_text = AS_STRACE;
	t->before = calloc(TRACE_SLOTS, sizeof(*t->before));
	t->tracefs = tracefs__open();
	if (!t->before)
		return -ENOMEM;
	return lines__init(&t->lines, cli, field_names, LINE_FIELDS);
}

static void release(struct trace *t)
{
	lines__free(&t->lines);
	trace_bpf__destroy(t->bpf);
	free_signatures(t);
	free(t->before);
	if (t->tracefs >= 0)
		close(t->tracefs);
}

static int trace(int argc, char **argv)
{
	static const struct argp own = {.options = options, .parser = parse_own};
	struct trace t = {.string_max = DEFAULT_STRING_MAX,
			  .bytes = DEFAULT_BYTES,
			  .sort = "total",
			  .tracefs = -1};
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND |
			  CLI_TIMES | CLI_LINES,
		.doc = "Each system call with its arguments and its result, at a cost that "
		       "production can bear.",
		.own = &own,
		.own_input = &t,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (prepare(&t, &cli)) {
		release(&t);
		cli__free(&cli);
		return EXIT_USAGE;
	}
	err = run__init(&run, "trace", &cli);
	run.report = t.summary ? report_sums : report_lines;
	run.context = &t;
	if (!err)
		err = measure(&t, &run);
	release(&t);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(trace, AREA_CALLS,
     "each system call with its arguments, or calls, errors and times summed up");
