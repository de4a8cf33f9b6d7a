// SPDX-License-Identifier: BSD-2-Clause
/* trace: system calls with their arguments, or their sums. See bpf/calls/trace.bpf.c. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "types/kernel_btf.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"
#include "calls/trace/trace.h"
#include "types/tracefs.h"

SKELETON(trace);

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
		{ "read=", "--bytes N shows more of the data read and written" },
		{ "reads=", "--bytes N shows more of the data read and written" },
		{ "r=", "--bytes N shows more of the data read and written" },
		{ "write=", "--bytes N shows more of the data read and written" },
		{ "writes=", "--bytes N shows more of the data read and written" },
		{ "w=", "--bytes N shows more of the data read and written" },
		{ "signal=", "signals are not traced here; use the tool signals" },
		{ "signals=", "signals are not traced here; use the tool signals" },
		{ "s=", "signals are not traced here; use the tool signals" },
		{ "decode-pids=", "each line shows the command name, and pids are host pids" },
		{ "trace-fds=", "use -P PATH, the file or socket of the descriptor" },
		{ "decode-fds=", "-y shows the files and sockets of descriptors" },
		{ "inject=", "calls are only traced, never changed" },
		{ "fault=", "calls are only traced, never changed" },
		{ "abbrev=", "--string-max and --bytes limit what is shown" },
		{ "a=", "--string-max and --bytes limit what is shown" },
		{ "verbose=", "--string-max and --bytes limit what is shown" },
		{ "v=", "--string-max and --bytes limit what is shown" },
		{ "raw=", "arguments are decoded; probe 'syscalls:sys_enter_NAME' --stream shows the numbers" },
		{ "x=", "arguments are decoded; probe 'syscalls:sys_enter_NAME' --stream shows the numbers" },
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
	/*
	 * These expressions change nothing: signals are never shown as calls, and the messages that strace -q
	 * suppresses are never written.
	 */
	return descriptors || !strcmp(arg, "signal=none") || !strcmp(arg, "signals=none") ||
	       !strncmp(arg, "quiet=", 6) || !strncmp(arg, "silent=", 7) || !strncmp(arg, "silence=", 8) ||
	       !strncmp(arg, "q=", 2);
}

/* Forms of names that strace accepts, but that have no meaning here. */
static bool is_other_name(const char *arg)
{
	const char *said = NULL;

	arg += strspn(arg, "!");
	if (!strcmp(arg, "none"))
		said = "for signals only, use tally signals";
	else if (*arg == '/')
		said = "names are globs, not regular expressions, as in: tally trace -e 'open*'";
	else if (*arg == '?')
		said = "'?' is not supported: leave out the calls that this kernel lacks, or use a glob";
	else if (strchr(arg, '@'))
		said = "a name without @ selects the call in 64-bit and 32-bit programs";
	if (said)
		diag_error("-e %s: %s", arg, said);
	return said;
}

/* The names that strace gives to outcomes of calls. Tally has no outcomes "unfinished", "detached" or "unavailable". */
static int parse_status(void *own, char *arg)
{
	struct trace *t = own;

	if (!strcmp(arg, "failed"))
		t->failed = true;
	else if (!strcmp(arg, "successful"))
		t->succeeded = true;
	else {
		diag_error("--status: '%s' is not one of failed, successful", arg);
		return -EINVAL;
	}
	return 0;
}

/* perf trace also accepts tracepoints. Reports the first one as an error. Returns false if no name is a tracepoint. */
static bool is_tracepoint(const char *arg)
{
	const char *event = arg + strspn(arg, "!"), *call;
	int len;

	for (; *event; event += len + (event[len] == ',')) {
		len = strcspn(event, ",");
		call = memchr(event, ':', len);
		if (!call || call == event)
			continue;
		call += strncmp(call, ":sys_enter_", 11) ? strncmp(call, ":sys_exit_", 10) ? 0 : 10 : 11;
		if (*call != ':' && !strncmp(event, "syscalls:", 9))
			diag_error("-e %.*s: this is a tracepoint of a call, as in: tally trace -e '%.*s'", len, event,
				   (int)(event + len - call), call);
		else
			diag_error("-e %.*s: this is a tracepoint, as in: tally probe '%.*s' --stream", len, event, len,
				   event);
		return true;
	}
	return false;
}

static int parse_set(void *own, char *arg)
{
	struct trace *t = own;
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
	else if (is_other_expression(arg) || is_tracepoint(arg))
		return -EINVAL;
	if (is_other_name(arg))
		return -EINVAL;
	if (syscall_set__parse(&set, arg, &c)) {
		diag_complaint("-e", arg, &c);
		return -EINVAL;
	}
	for (abi = 0; abi < SYSCALL_ABIS; abi++)
		for (i = 0; i < ARRAY_SIZE(set.bits[abi]); i++)
			t->set.bits[abi][i] |= set.bits[abi][i];
	t->has_set = true;
	return 0;
}

static const char *const styles[] = {
	[CONSTANTS_BY_NAME] = "abbrev", [CONSTANTS_RAW] = "raw", [CONSTANTS_WITH_BOTH] = "verbose",
};

static int parse_detach_on(void *own, char *arg)
{
	struct trace *t = own;

	t->detach = !strcmp(arg, "execve");
	if (t->detach)
		return 0;
	diag_error("--detach-on: expected execve, got '%s'", arg);
	return -EINVAL;
}

static int parse_path(void *own, char *path)
{
	struct trace *t = own;

	return trace_paths__add(&t->paths, path);
}

static int parse_order(void *own, char *column)
{
	struct trace *t = own;

	return trace_table__sort_column(column, &t->sort);
}

static int parse_columns(void *own, char *columns)
{
	return trace_table__add_columns(own, columns);
}

static const struct option_row rows[] = {
	{ NULL, 'e', "SET", ROW_OWN, "Only these calls: names, 'glob*', %class, '!' for all but; repeatable", 1,
	  .parse = parse_set, .adds = true, .complete = complete_syscalls, .separators = SYSCALL_SEPARATORS },
	{ "path", 'P', "PATH", ROW_OWN,
	  "Only calls with this path or a descriptor of it; implies -y; repeatable", 1,
	  .parse = parse_path, .adds = true },
	{ "failed", 0, NULL, ROW_FLAG, "Only calls that failed", 1, FIELD(struct trace, failed) },
	{ "succeeded", 0, NULL, ROW_FLAG, "Only calls that succeeded", 1, FIELD(struct trace, succeeded) },
	{ "status", 0, "STATUS", ROW_OWN, NULL, 1, .parse = parse_status, .adds = true, .hidden = true },
	{ "detach-on", 0, "execve", ROW_OWN,
	  "Stop tracing a process and its children once it executes another program, like strace -b", 1,
	  .parse = parse_detach_on },
	{ "min", 0, "TIME", ROW_TIME, "Only calls that took at least this long", 1, FIELD(struct trace, min_ns) },
	{ "since", 0, NULL, ROW_FLAG,
	  "Show the time since the start of the previous call, like strace -r", 1,
	  FIELD(struct trace, since) },
	{ "epoch", 0, NULL, ROW_FLAG,
	  "Show times as seconds since 1970, like strace -ttt", 1,
	  FIELD(struct trace, epoch) },
	{ "ip", 0, NULL, ROW_FLAG,
	  "Show the caller's address, function and file, like strace -i", 1,
	  FIELD(struct trace, ip) },
	{ "stacks", 'g', NULL, ROW_FLAG, "Show the stack of the call below each line, like strace -k", 1,
	  FIELD(struct trace, callers.wanted) },
	{ "max-depth", 0, "N", ROW_COUNT, "with -g: the N innermost frames", 1,
	  FIELD(struct trace, callers.most_frames), .least = 1, .most = STACK_MOST_DEPTH },
	{ "fd-names", 'y', NULL, ROW_FLAG, "Show the file or socket of each descriptor", 1,
	  FIELD(struct trace, fd_names) },
	{ "constants", 0, "STYLE", ROW_WORD,
	  "Show flags and other constants by name (abbrev), as numbers (raw), or both (verbose), like strace -X", 1,
	  FIELD(struct trace, constants), WORDS(styles) },
	{ "faults", 0, NULL, ROW_FLAG, "Page faults, too", 1, FIELD(struct trace, faults) },
	{ "summary", 0, NULL, ROW_FLAG, "Totals instead of lines: calls, errors and times, summed up in the kernel", 1,
	  FIELD(struct trace, summary) },
	{ "sort", 0, "COL", ROW_OWN, "with --summary: by total (default), calls, errors, avg, min, max, call", 1,
	  .parse = parse_order, .complete = trace_table__complete_column },
	{ "call-overhead", 0, "TIME", ROW_TIME,
	  "with --summary: subtract this overhead from each call, like strace -O", 1,
	  FIELD(struct trace, overhead_ns), .unit_ns = NSEC_PER_USEC },
	{ "columns", 0, "COL,..", ROW_OWN, "with --summary: only these columns and the call, in text", 1,
	  .parse = parse_columns, .adds = true, .complete = trace_table__complete_column, .separators = "," },
	{ "string-max", 0, "N", ROW_COUNT, "Bytes shown of paths and other strings (default: 256)", 1,
	  FIELD(struct trace, string_max), .least = 1, .most = STRING_MOST },
	{ "bytes", 0, "N", ROW_COUNT, "Bytes shown of data read and written (default: 32)", 1,
	  FIELD(struct trace, bytes), .least = 1, .most = STRING_MOST },
	{},
};

/* With -p and a command, the set of processes shrinks as they exit. */
static int check_detach(const struct scope_options *scope, bool has_command)
{
	if ((scope->npids || has_command) && !scope->ntids)
		return 0;
	diag_error("--detach-on needs -p or a command, and no -t");
	return -EINVAL;
}

static int check(void *context, struct cli *cli)
{
	struct trace *t = context;

	if (t->detach && check_detach(&cli->scope, cli->command))
		return -EINVAL;
	if (t->overhead_ns && !t->summary) {
		diag_error("--call-overhead needs --summary");
		return -EINVAL;
	}
	if (t->failed && t->succeeded) {
		diag_error("--failed and --succeeded cannot be combined");
		return -EINVAL;
	}
	if (t->has_columns && !t->summary) {
		diag_error("--columns needs --summary; --template formats lines");
		return -EINVAL;
	}
	if (t->paths.n && t->summary) {
		diag_error("-P and --summary cannot be combined");
		diag_hint("filetop and fileslower report files; trace -P PATH --json | jq sums calls");
		return -EINVAL;
	}
	if (t->paths.n) {
		t->fd_names = true;
		t->string_max = t->string_max > PATH_MAX - 1 ? t->string_max : PATH_MAX - 1;
	}
	if ((t->since || t->epoch || t->ip) && t->summary) {
		diag_error("--summary cannot be combined with --since, --epoch or --ip");
		return -EINVAL;
	}
	if (t->epoch && cli->template_text) {
		diag_error("--epoch and --template cannot be combined; use {epoch} in the template");
		return -EINVAL;
	}
	if (t->callers.wanted && t->summary) {
		diag_error("-g and --summary cannot be combined; syscount and stackcount sum by other keys");
		return -EINVAL;
	}
	/* All calls would have the same kernel stack. */
	t->callers.user = t->callers.wanted;
	if (callers__check(&t->callers))
		return -EINVAL;
	if (!t->has_set)
		syscall_set__all(&t->set);
	t->signatures.tracefs = tracefs__open();
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

/* For kernels before 5.13. Elements of 8 KiB are allocated on demand, which is safe at the entry of system calls. */
static int size_states(struct bpf_map *hash)
{
	u64 tasks = 4 * host__threads();
	int err = bpf_map__set_map_flags(hash, BPF_F_NO_PREALLOC);

	return err ?: bpf_map__set_max_entries(hash, tasks > LEAST_TASKS ? tasks : LEAST_TASKS);
}

/* Loads either the programs that write records or the programs that keep sums. */
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
	diag_hint("x86 kernels have it; elsewhere, `stat -e page-faults` counts faults");
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
	t->signatures.tracefs = -1;
}

static void release(void *own)
{
	struct trace *t = own;

	trace_lines__free(t);
	trace_paths__free(&t->paths);
	call_signatures__free(&t->signatures);
	if (t->signatures.tracefs >= 0)
		close(t->signatures.tracefs);
}

static const struct tool_spec spec = {
	.name = "trace",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND |
			  CLI_TIMES | CLI_LINES,
		.follows = true,
		.doc = "Each system call with its arguments and its result, cheap enough for production.",
		.rows = rows,
	},
	.own_size = sizeof(struct trace), .skeleton = &trace_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = TRACE_SOURCE, .free = release,
};

TOOL_MEASURING(trace, spec, AREA_CALLS,
     "each system call with its arguments, or calls, errors and times summed up");
