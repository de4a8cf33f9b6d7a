// SPDX-License-Identifier: BSD-2-Clause
/* trace: system calls with their arguments, or their sums. See bpf/calls/trace.bpf.c. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "types/kernel_btf.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"
#include "calls/trace/trace.h"
#include "types/tracefs.h"

SKELETON(trace);

enum {
	KEY_FAILED = 0x1000,
	KEY_SUCCEEDED,
	KEY_STATUS,
	KEY_SINCE,
	KEY_IP,
	KEY_COLUMNS,
	KEY_MIN,
	KEY_SUMMARY,
	KEY_SORT,
	KEY_STRING_MAX,
	KEY_BYTES,
	KEY_FAULTS,
	KEY_DETACH_ON,
	KEY_CALL_OVERHEAD,
	KEY_MAX_DEPTH,
	KEY_CONSTANTS,
};

#define LEAST_TASKS 2048
#define STRING_MOST 4096
#define DEFAULT_STRING_MAX 256
#define DEFAULT_BYTES 32

/*
 * --- options -----------------------------------------------------------------------------------
 */

/* Other expressions of strace's -e, each with what to type instead. */
static bool is_other_expression(const char *arg)
{
	static const struct {
		const char *word, *instead;
	} others[] = {
		{ "read=", "--bytes N shows more of what is read and written" },
		{ "write=", "--bytes N shows more of what is read and written" },
		{ "signal=", "signals are not among the calls; the tool signals shows them" },
		{ "signals=", "signals are not among the calls; the tool signals shows them" },
		{ "decode-fds=", "-y shows the files and sockets of descriptors" },
		{ "inject=", "calls are watched, and never changed" },
		{ "fault=", "calls are watched, and never changed" },
		{ "abbrev=", "--string-max and --bytes say how much is shown" },
		{ "verbose=", "--string-max and --bytes say how much is shown" },
		{ "raw=", "arguments are decoded; probe 'syscalls:sys_enter_NAME' --stream has the numbers" },
		{ "kvm=", "kvmstat shows why virtual CPUs exit" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		if (strncmp(arg, others[i].word, strlen(others[i].word)))
			continue;
		diag_error("-e %s: %s", arg, others[i].instead);
		return true;
	}
	return false;
}

/* Expressions of strace's -e that are options here. */
static bool is_option(struct trace *t, const char *arg)
{
	bool descriptors = !strncmp(arg, "decode-fds=", 11) && strcmp(arg + 11, "none");

	if (descriptors)
		t->fd_names = true;
	/* Signals are never among the calls. */
	return descriptors || !strcmp(arg, "signal=none") || !strcmp(arg, "signals=none");
}

/* strace's names of what calls come to. Calls that are not finished, detached or unavailable have none here. */
static error_t parse_status(struct trace *t, const char *arg)
{
	if (!strcmp(arg, "failed"))
		t->failed = true;
	else if (!strcmp(arg, "successful"))
		t->succeeded = true;
	else {
		diag_error("--status: '%s' is not one of failed, successful", arg);
		return EINVAL;
	}
	return 0;
}

static error_t parse_set(struct trace *t, const char *arg)
{
	struct syscall_set set = {};
	struct complaint c = {};
	size_t abi, i;

	if (is_option(t, arg))
		return 0;
	if (!strncmp(arg, "status=", 7))
		return parse_status(t, arg + 7);
	/* strace's -e trace=SET and its short form. */
	if (!strncmp(arg, "trace=", 6) || !strncmp(arg, "t=", 2))
		arg = strchr(arg, '=') + 1;
	else if (is_other_expression(arg))
		return EINVAL;
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

static const char *const styles[] = {
	[CONSTANTS_BY_NAME] = "abbrev", [CONSTANTS_RAW] = "raw", [CONSTANTS_WITH_BOTH] = "verbose",
};

static error_t parse_constants(struct trace *t, const char *arg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(styles); i++) {
		if (strcmp(arg, styles[i]))
			continue;
		t->constants = i;
		return 0;
	}
	diag_error("--constants: '%s' is not one of abbrev, raw, verbose", arg);
	return EINVAL;
}

static error_t parse_depth(struct trace *t, const char *arg)
{
	if (!parse_u64_between(arg, 1, STACK_MOST_DEPTH, &t->callers.most_frames))
		return 0;
	diag_error("--max-depth: '%s' is not a number of frames from 1 to %u", arg, STACK_MOST_DEPTH);
	return EINVAL;
}

/* Without a unit in microseconds, as in strace. */
static error_t parse_overhead(struct trace *t, const char *arg)
{
	if (!parse_duration(arg, NSEC_PER_USEC, &t->overhead_ns))
		return 0;
	diag_error("--call-overhead: '%s' is no time; as in 5us, 300ns", arg);
	return EINVAL;
}

static error_t parse_detach_on(struct trace *t, const char *arg)
{
	t->detach = !strcmp(arg, "execve");
	if (t->detach)
		return 0;
	diag_error("--detach-on: '%s' is not execve, the only call to leave a process at", arg);
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
	case 'P':
		return -trace_paths__add(&t->paths, arg);
	case 'y':
		t->fd_names = true;
		return 0;
	case KEY_FAULTS:
		t->faults = true;
		return 0;
	case KEY_FAILED:
		t->failed = true;
		return 0;
	case KEY_SUCCEEDED:
		t->succeeded = true;
		return 0;
	case KEY_STATUS:
		return parse_status(t, arg);
	case KEY_SINCE:
		t->since = true;
		return 0;
	case KEY_IP:
		t->ip = true;
		return 0;
	case KEY_MIN:
		return parse_min(t, arg);
	case KEY_SUMMARY:
		t->summary = true;
		return 0;
	case KEY_SORT:
		return trace_table__sort_column(arg, &t->sort) ? EINVAL : 0;
	case KEY_COLUMNS:
		return -trace_table__add_columns(t, arg);
	case KEY_STRING_MAX:
		return parse_length("--string-max", arg, &t->string_max);
	case KEY_BYTES:
		return parse_length("--bytes", arg, &t->bytes);
	case 'g':
		t->callers.wanted = true;
		return 0;
	case KEY_CONSTANTS:
		return parse_constants(t, arg);
	case KEY_MAX_DEPTH:
		return parse_depth(t, arg);
	case KEY_DETACH_ON:
		return parse_detach_on(t, arg);
	case KEY_CALL_OVERHEAD:
		return parse_overhead(t, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{NULL, 'e', "SET", 0,
	 "Only these calls: names, 'glob*', %class, '!' for all but; repeatable", 1},
	{"path", 'P', "PATH", 0,
	 "Only calls with this path, or with a descriptor of its file; with -y; may be given again", 1},
	{"failed", KEY_FAILED, NULL, 0, "Only calls that failed", 1},
	{"succeeded", KEY_SUCCEEDED, NULL, 0, "Only calls that succeeded", 1},
	{"status", KEY_STATUS, "STATUS", OPTION_HIDDEN, NULL, 1},
	{"detach-on", KEY_DETACH_ON, "execve", 0,
	 "A process is traced no more, nor are its children, once it runs another program; cf. strace -b", 1},
	{"min", KEY_MIN, "TIME", 0, "Only calls that took at least so long", 1},
	{"since", KEY_SINCE, NULL, 0, "With the time from the begin of one call to that of the next, as strace -r", 1},
	{"ip", KEY_IP, NULL, 0, "With the code that makes the call: address, function and file; cf. strace -i", 1},
	{"stacks", 'g', NULL, 0, "With the functions that make the call, below each line; cf. strace -k", 1},
	{"max-depth", KEY_MAX_DEPTH, "N", 0, "of -g: the N innermost frames", 1},
	{"fd-names", 'y', NULL, 0, "With the file or socket that each descriptor stands for", 1},
	{"constants", KEY_CONSTANTS, "STYLE", 0,
	 "Flags and other constants by name (abbrev), as numbers (raw), or both (verbose), as strace -X", 1},
	{"faults", KEY_FAULTS, NULL, 0, "Page faults, too", 1},
	{"summary", KEY_SUMMARY, NULL, 0,
	 "No lines: calls, errors and times, summed up in the kernel", 1},
	{"sort", KEY_SORT, "COL", 0,
	 "with --summary: by total (default), calls, errors, avg, min, max, call", 1},
	{"call-overhead", KEY_CALL_OVERHEAD, "TIME", 0,
	 "with --summary: take so much off the time of each call, as strace -O; a number alone is in us", 1},
	{"columns", KEY_COLUMNS, "COL,..", 0,
	 "with --summary: only these columns and the call, in text", 1},
	{"string-max", KEY_STRING_MAX, "N", 0,
	 "Bytes shown of paths and other strings (default: 256)", 1},
	{"bytes", KEY_BYTES, "N", 0, "Bytes shown of data read and written (default: 32)", 1},
	{},
};

OPTION_VALUES(calls, .options = options, .key = 'e', .add = complete_syscalls, .separators = SYSCALL_SEPARATORS);
OPTION_VALUES(constants, .options = options, .key = KEY_CONSTANTS, .word = styles, .n = ARRAY_SIZE(styles));
OPTION_VALUES(sort, .options = options, .key = KEY_SORT, .add = trace_table__complete_column);
OPTION_VALUES(columns, .options = options, .key = KEY_COLUMNS, .add = trace_table__complete_column, .separators = ",");

/* Processes leave the set that -p and a command make. */
static int check_detach(const struct scope_options *scope, bool has_command)
{
	if ((scope->npids || has_command) && !scope->ntids)
		return 0;
	diag_error("--detach-on takes processes off those of -p or of a command");
	return -EINVAL;
}

static int check(void *context, struct cli *cli)
{
	struct trace *t = context;

	if (t->detach && check_detach(&cli->scope, cli->command))
		return -EINVAL;
	if (t->overhead_ns && !t->summary) {
		diag_error("--call-overhead is about the times of --summary");
		return -EINVAL;
	}
	if (t->failed && t->succeeded) {
		diag_error("calls that failed and calls that succeeded are all calls; give one of them");
		return -EINVAL;
	}
	if (t->has_columns && !t->summary) {
		diag_error("--columns is about the table of --summary; --template says how a line looks");
		return -EINVAL;
	}
	if (t->paths.n && t->summary) {
		diag_error("-P looks at each call, and --summary sums them up in the kernel");
		diag_hint("filetop and fileslower are about files; trace -P PATH --json | jq adds up");
		return -EINVAL;
	}
	if (t->paths.n) {
		t->fd_names = true;
		t->string_max = t->string_max > PATH_MAX - 1 ? t->string_max : PATH_MAX - 1;
	}
	if ((t->since || t->ip) && t->summary) {
		diag_error("--since and --ip are about lines, and --summary has none");
		return -EINVAL;
	}
	if (t->callers.wanted && t->summary) {
		diag_error("-g is about lines, and --summary has none; syscount and stackcount sum up by more");
		return -EINVAL;
	}
	/* All calls have the same kernel stack. */
	t->callers.user = t->callers.wanted;
	if (callers__check(&t->callers))
		return -EINVAL;
	if (!t->has_set)
		syscall_set__all(&t->set);
	t->tracefs = tracefs__open();
	return t->summary ? 0 : trace_lines__init(t, cli);
}

/*
 * --- loading -----------------------------------------------------------------------------------
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

/* Before 5.13. Elements of 8 KiB are allocated on demand: this is safe where system calls begin. */
static int size_states(struct bpf_map *hash)
{
	u64 tasks = 4 * host__threads();
	int err = bpf_map__set_map_flags(hash, BPF_F_NO_PREALLOC);

	return err ?: bpf_map__set_max_entries(hash, tasks > LEAST_TASKS ? tasks : LEAST_TASKS);
}

/* Loads either the programs of records or those of sums. */
static int choose_programs(struct trace *t, bool has_command)
{
	struct trace_bpf *bpf = t->bpf;

	bpf_program__set_autoload(bpf->progs.command_exec, has_command || t->detach);
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
	bpf->rodata->succeeded_only = t->succeeded;
	bpf->rodata->string_room = t->string_max + 2;
	bpf->rodata->data_most = t->bytes;
	bpf->rodata->fd_names = t->fd_names;
	bpf->rodata->summary = t->summary;
	bpf->rodata->leaves_at_exec = t->detach;
	bpf->rodata->overhead_ns = t->overhead_ns;
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
	if (!err)
		err = t->callers.wanted ? callers__prepare(&t->callers, m, m->obj) : stacks__leave_out(m->obj);
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
	if (err)
		return err;
	return t->callers.wanted ? measurement__attach_programs(m) : measurement__attach(m);
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
	trace_paths__free(&t->paths);
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
