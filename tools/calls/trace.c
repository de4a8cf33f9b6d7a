// SPDX-License-Identifier: BSD-2-Clause
/* trace: each system call with its arguments, or sums of them. Measured by bpf/calls/trace.bpf.c. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"
#include "calls/trace/trace.h"
#include "types/btf.h"
#include "types/tracefs.h"

SKELETON(trace);

enum {
	KEY_FAILED = 0x1000,
	KEY_MIN,
	KEY_SUMMARY,
	KEY_SORT,
	KEY_STRING_MAX,
	KEY_BYTES,
	KEY_FAULTS,
};

#define LEAST_TASKS 2048
#define STRING_MOST 4096
#define DEFAULT_STRING_MAX 256
#define DEFAULT_BYTES 32

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_set(struct trace *t, const char *arg)
{
	struct syscall_set set = {};
	struct complaint c = {};
	size_t abi, i;

	/* strace's name for what -e is about. */
	if (!strncmp(arg, "trace=", 6))
		arg += 6;
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

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct trace *t = state->input;

	switch (key) {
	case 'e':
		return parse_set(t, arg);
	case 'y':
		t->fd_names = true;
		return 0;
	case KEY_FAULTS:
		t->faults = true;
		return 0;
	case KEY_FAILED:
		t->failed = true;
		return 0;
	case KEY_MIN:
		return parse_min(t, arg);
	case KEY_SUMMARY:
		t->summary = true;
		return 0;
	case KEY_SORT:
		return trace_table__sort_column(arg, &t->sort) ? EINVAL : 0;
	case KEY_STRING_MAX:
		return parse_length("--string-max", arg, &t->string_max);
	case KEY_BYTES:
		return parse_length("--bytes", arg, &t->bytes);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{NULL, 'e', "SET", 0,
	 "Only these calls: names, 'glob*', %class, '!' for all but; repeatable", 1},
	{"failed", KEY_FAILED, NULL, 0, "Only calls that failed", 1},
	{"min", KEY_MIN, "TIME", 0, "Only calls that took at least so long", 1},
	{"fd-names", 'y', NULL, 0, "With the file or socket that each descriptor stands for", 1},
	{"faults", KEY_FAULTS, NULL, 0, "Page faults, too", 1},
	{"summary", KEY_SUMMARY, NULL, 0,
	 "No lines: calls, errors and times, summed up in the kernel", 1},
	{"sort", KEY_SORT, "COL", 0,
	 "Of --summary: by total (default), calls, errors, avg, min, max, call", 1},
	{"string-max", KEY_STRING_MAX, "N", 0,
	 "Bytes shown of paths and other strings (default: 256)", 1},
	{"bytes", KEY_BYTES, "N", 0, "Bytes shown of data read and written (default: 32)", 1},
	{},
};

static int check(void *context, struct cli *cli)
{
	struct trace *t = context;

	if (!t->has_set)
		syscall_set__all(&t->set);
	t->tracefs = tracefs__open();
	return t->summary ? 0 : trace_lines__init(t, cli);
}

/*
 * --- what is loaded ----------------------------------------------------------------------------
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
static int choose_programs(struct trace *t, bool has_command)
{
	struct trace_bpf *bpf = t->bpf;

	bpf_program__set_autoload(bpf->progs.command_exec, has_command);
	bpf_program__set_autoload(bpf->progs.call_enter, !t->summary);
	bpf_program__set_autoload(bpf->progs.call_exit, !t->summary);
	bpf_program__set_autoload(bpf->progs.task_exit, !t->summary);
	bpf_program__set_autoload(bpf->progs.seed_states, !t->summary);
	bpf_program__set_autoload(bpf->progs.show_running, !t->summary);
	bpf_program__set_autoload(bpf->progs.sum_enter, t->summary);
	bpf_program__set_autoload(bpf->progs.sum_exit, t->summary);
	bpf_program__set_autoload(bpf->progs.sum_running, t->summary);
	bpf_program__set_autoload(bpf->progs.fault_user, t->faults);
	bpf_program__set_autoload(bpf->progs.fault_kernel, t->faults);
	return bpf_map__set_autocreate(t->summary ? bpf->maps.records : bpf->maps.sums, false);
}

static int choose_states(struct trace *t, const struct measurement *m)
{
	struct trace_bpf *bpf = t->bpf;
	int err = leave_out_state(bpf->obj, t->summary ? "states" : "starts");

	if (!err && !t->summary)
		err = bpf_map__set_autocreate(bpf->maps.running, false);
	if (!err)
		err = task_state__prepare(bpf->obj, t->summary ? "starts" : "states", &m->run->host);
	if (!err && !t->summary && !task_state__in_storage(&m->run->host))
		err = size_states(bpf->maps.states_hash);
	return err;
}

static void write_constants(struct trace *t, const struct measurement *m)
{
	struct trace_bpf *bpf = t->bpf;

	bpf->rodata->min_ns = t->min_ns;
	bpf->rodata->failed_only = t->failed;
	bpf->rodata->string_room = t->string_max + 2;
	bpf->rodata->data_most = t->bytes;
	bpf->rodata->fd_names = t->fd_names;
	bpf->rodata->summary = t->summary;
	bpf->rodata->command = m->run->command.pid;
}

static bool has_faults(void)
{
	if (kernel_btf_arguments("btf_trace_page_fault_user") >= 0)
		return true;
	diag_error("--faults: this kernel has no tracepoint exceptions:page_fault_user");
	diag_hint("it is there on x86; `stat -e page-faults` counts them elsewhere");
	return false;
}

static int open_skeleton(struct measurement *m)
{
	struct trace *t = m->own;
	int err;

	if (t->faults && !has_faults())
		return -EOPNOTSUPP;
	t->bpf = m->bpf;
	write_constants(t, m);
	err = choose_programs(t, m->run->command.pid);
	if (!err)
		err = choose_states(t, m);
	if (!err && !t->summary)
		err = lines__prepare(&t->lines, m, m->obj);
	return err;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int attach(struct measurement *m)
{
	struct trace *t = m->own;
	int err = trace__describe_calls(t);

	if (!err && !t->summary)
		err = trace_lines__begin(t, m);
	return err ?: measurement__attach(m);
}

static int report(struct measurement *m, struct report *r)
{
	const struct trace *t = m->own;

	return t->summary ? trace_table__report(m, r) : trace_lines__report(m, r);
}

static void init(void *own)
{
	struct trace *t = own;

	t->string_max = DEFAULT_STRING_MAX;
	t->bytes = DEFAULT_BYTES;
	t->sort = "total";
	t->tracefs = -1;
}

static void release(void *own)
{
	struct trace *t = own;

	trace_lines__free(t);
	trace__free_signatures(t);
	if (t->tracefs >= 0)
		close(t->tracefs);
}

static const struct argp own_argp = {.options = options, .parser = parse_own};

static const struct tool_spec spec = {
	.name = "trace",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND |
			  CLI_TIMES | CLI_LINES,
		.follows = true,
		.doc = "Each system call with its arguments and its result, at a cost that "
		       "production can bear.",
		.own = &own_argp,
	},
	.own_size = sizeof(struct trace), .skeleton = &trace_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = TRACE_SOURCE, .free = release,
};

TOOL_MEASURING(trace, spec, AREA_CALLS,
     "each system call with its arguments, or calls, errors and times summed up");
