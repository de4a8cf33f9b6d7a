// SPDX-License-Identifier: BSD-2-Clause
/* memleak: memory that processes have not freed, by stack. See bpf/memory/memleak.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/wide.h"
#include "base/clock.h"
#include "base/process_thread.h"
#include "cli/key_view.h"
#include "cli/order.h"
#include "cli/task_key.h"
#include "event/attach.h"
#include "event/user_binary.h"
#include "host/process.h"
#include "host/task_state.h"
#include "base/confined.h"
#include "memory/allocators.h"
#include "memory/outstanding.h"
#include "report/column.h"
#include "report/diag.h"
#include "report/units.h"
#include "run/measurement.h"
#include "run/map_room.h"
#include "stack/options.h"
#include "tools.h"

#include "bpf/memory/memleak.h"
#include "memleak.skel.h"

SKELETON(memleak);

/* 180 MB, which is preallocated before Linux 6.1. */
#define DEFAULT_MAX_LIVE (1 << 20)

/* Allows for one process per this many allocations, but not fewer than LEAST_PROCESSES. */
#define LIVE_PER_PROCESS 16
#define LEAST_PROCESSES 16384

/* Places in allocators that one program probes. */
struct probes {
	struct event_sites sites;
	u32 *slot;                      /* slot of each site */
	struct attach_programs programs;
	struct attachments attachments;
};

struct memleak {
	const char *binary;             /* -x */
	u64 max_live;
	struct stack_options options;
	struct memleak_bpf *bpf;
	struct allocators allocators;
	struct probes returns, calls;   /* sites in functions of allocators */
	u32 by;
	bool command_has_none;          /* the files of the command contain no allocator */
	bool has_files;                 /* several files contain allocators */
	bool keeps_ended;               /* the report includes processes that have ended */
	struct task_key_names names;
	struct stacks stacks;
	struct outstanding outstanding;
	size_t source_length;           /* without the text that the programs of the run add */
	char source[640], value[160], nothing[640];
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static const struct column columns[] = {
	ADDED_BY_TOOL("bytes", ROLE_GAUGE),
	ADDED_BY_TOOL("count", ROLE_GAUGE),
	ADDED_BY_TOOL("oldest", ROLE_GAUGE),
	{},
};

/* Chooses a table, unless a stack format is given. */
static int check(void *context, struct cli *cli)
{
	struct memleak *m = context;
	int err;

	if (m->options.no_user) {
		diag_error("-K: allocations of processes have user stacks only");
		return -EINVAL;
	}
	m->options.table = m->options.format < 0 || format_is_metrics(m->options.format) ||
			   m->options.format == FORMAT_HTML;
	err = stack_options__check(&m->options, &m->stacks, cli, 0);
	if (!err && m->options.table && m->outstanding.by_count) {
		diag_error("--count needs a stack format, as in --format tree; a table shows both");
		err = -EINVAL;
	}
	m->by = cli->by;
	m->keeps_ended = cli->command || cli->scope.npids;
	cli->scope.command_joins_at_exec = true;
	return err;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

static int add_key(void *context, const void *key, const char *name, struct report_row *row)
{
	struct memleak *m = context;

	return task_key__add_fields(row, key, name, m->by, &m->names);
}

/* The process that was looked up most recently. */
struct owner {
	u32 tgid;
	u64 exec;               /* 0 if there was no exec during the run */
	bool has_gone;
};

static void find_owner(const struct memleak *m, struct owner *o, u32 tgid)
{
	struct memleak_exec e;

	if (o->tgid == tgid)
		return;
	*o = (struct owner){ .tgid = tgid };
	if (!bpf_map_lookup_elem(bpf_map__fd(m->bpf->maps.execs), &tgid, &e))
		o->exec = e.exec;
	o->has_gone = !m->keeps_ended && !process_exists(tgid);
}

static int add_live(struct memleak *m, const struct memleak_live *l, u64 now)
{
	struct key_view view = { m->by, &m->names, 0 };
	struct task_key task = l->task;

	key_view__change(&view, &task);
	return outstanding__add(&m->outstanding, &task, l->name, &l->item, now);
}

static int read_live(struct memleak *m)
{
	struct elements e = {
		.key_size = sizeof(struct memleak_key), .value_size = sizeof(struct memleak_live),
	};
	int fd = bpf_map__fd(m->bpf->maps.live);
	int err = outstanding__begin(&m->outstanding) ?: elements__read(&e, fd);
	struct owner owner = {};
	u64 now = monotonic_ns();
	size_t i;

	for (i = 0; i < e.n && !err; i++) {
		const struct memleak_key *key = elements__key(&e, i);
		const struct memleak_live *l = elements__value(&e, i);

		find_owner(m, &owner, key->tgid);
		if (owner.has_gone || (owner.exec && owner.exec != key->exec))
			bpf_map_delete_elem(fd, key);
		else
			err = add_live(m, l, now);
	}
	if (!err)
		outstanding__end(&m->outstanding);
	elements__free(&e);
	return err;
}

/* Only the probed files are known. A program may have another malloc(), whose memory is not seen. */
static void explain_nothing(struct memleak *m, u64 allocs)
{
	const struct allocators *a = &m->allocators;

	snprintf(m->nothing, sizeof(m->nothing),
		 "%s in programs that map %.300s%s; other programs, such as static and Go programs, are not seen: "
		 "use -x or -p",
		 allocs ? "no outstanding allocations by probed functions" : "no allocations seen",
		 a->site[0].shown, m->has_files ? " or another of the files" : "");
	m->outstanding.nothing = m->nothing;
}

/* The totals also reveal missed uprobes, and frees by untraced functions. */
static int read_totals(struct memleak *m)
{
	int cpus = libbpf_num_possible_cpus(), i, err;
	struct memleak_totals *per_cpu, sum = {};
	char allocs[UNITS_SPACE], bytes[UNITS_SPACE];
	__int128 all = 0;
	u32 zero = 0;
	size_t n;

	per_cpu = cpus > 0 ? calloc(cpus, sizeof(*per_cpu)) : NULL;
	if (!per_cpu)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(m->bpf->maps.totals), &zero, per_cpu);
	for (i = 0; i < cpus && !err; i++) {
		sum.allocs += per_cpu[i].allocs;
		all += wide_sum(per_cpu[i].bytes, per_cpu[i].bytes_high, false);
		sum.frees += per_cpu[i].frees;
		sum.unseen += per_cpu[i].unseen;
	}
	free(per_cpu);
	explain_nothing(m, sum.allocs);
	n = snprintf(m->value, sizeof(m->value), "not freed, of %s %s with %s %s", format_count(allocs, sum.allocs),
		     sum.allocs == 1 ? "allocation" : "allocations", format_count(bytes, all),
		     all == 1 ? "byte" : "bytes");
	if (sum.unseen)
		snprintf(m->value + n, sizeof(m->value) - n, " (%llu were freed unseen)",
			 sum.unseen);
	return err;
}

#define UNSEEN_NAMES 3

/* Programs that called no probed function: they are static, or use another library. */
struct unseen {
	size_t programs, names;
	bool has_others;                /* there are more names than fit into name[] */
	char name[UNSEEN_NAMES][TASK_KEY_COMM_LEN];
};

static void unseen__add(struct unseen *u, const struct memleak_exec *e)
{
	size_t i;

	if (e->calls)
		return;
	u->programs++;
	for (i = 0; i < u->names; i++)
		if (!strncmp(u->name[i], e->comm, TASK_KEY_COMM_LEN))
			return;
	u->has_others |= u->names == UNSEEN_NAMES;
	if (u->names < UNSEEN_NAMES)
		memcpy(u->name[u->names++], e->comm, TASK_KEY_COMM_LEN);
}

/* "; 3 programs called none of them (server, busybox)" */
static void describe_unseen(const struct unseen *u, char *text, size_t size)
{
	size_t i, n;

	*text = '\0';
	if (!u->programs)
		return;
	n = snprintf(text, size, "; %zu %s called none of them (", u->programs,
		     u->programs == 1 ? "program" : "programs");
	for (i = 0; i < u->names; i++)
		n += snprintf(text + n, n < size ? size - n : 0, "%s%.*s", i ? ", " : "", TASK_KEY_COMM_LEN,
			      u->name[i]);
	snprintf(text + n, n < size ? size - n : 0, "%s)", u->has_others ? ", ..." : "");
}

/* Prevents a false all-clear, since memory of such a program is missing from the report. */
static int read_programs(struct memleak *m)
{
	struct elements e = { .key_size = sizeof(u32), .value_size = sizeof(struct memleak_exec) };
	int err = elements__read(&e, bpf_map__fd(m->bpf->maps.execs));
	size_t i, n = m->source_length;
	struct unseen u = {};

	for (i = 0; i < e.n && !err; i++)
		unseen__add(&u, elements__value(&e, i));
	elements__free(&e);
	describe_unseen(&u, m->source + n, sizeof(m->source) - n);
	n += strlen(m->source + n);
	if (m->bpf->bss->first_has_ended)
		snprintf(m->source + n, sizeof(m->source) - n,
			 "; nothing was seen after the first thread of the process exited: run it again");
	return err;
}

static int report(struct measurement *measurement, struct report *r)
{
	struct memleak *m = measurement->own;
	int err = stacks__read_losses(&m->stacks, r) ?: stacks__watch(&m->stacks);

	if (!err)
		err = read_live(m);
	if (!err)
		err = read_totals(m) ?: read_programs(m);
	if (err)
		return err;
	r->value = m->value;
	r->source = m->source;
	r->room_by = "--max-live";
	r->begun = "frees whose allocation was not seen, before the run or cached by a thread that exited";
	r->has_events = true;
	r->counters.lost[LOSS_RECURSION] += attach__misses(&m->calls.attachments) +
					    attach__misses(&m->returns.attachments);
	if (m->options.table && !m->options.leaf)
		return outstanding__report_rows(&m->outstanding, r, measurement->cli->order,
						table_rows(measurement->cli));
	err = outstanding__report_stacks(&m->outstanding, r,
					 m->options.table ? 0 : measurement->cli->top);
	if (err || !m->options.table)
		return err;
	return stacks__tabulate(r, m->options.leaf, table_rows(measurement->cli), false);
}

static int watch(struct measurement *measurement)
{
	struct memleak *m = measurement->own;

	return stacks__watch(&m->stacks);
}

/*
 * --- functions ---------------------------------------------------------------------------------
 */

static const char c_library[] = "libc.so.6";

/* Uses -x BINARY, else the processes of -p, else the command and the C library. */
static int find_allocators(struct memleak *m, const struct cli *cli)
{
	const char *command = cli->command ? cli->command[0] : NULL;
	size_t i;
	int err = 0;

	if (m->binary)
		return allocators__add_file(&m->allocators, m->binary, command);
	for (i = 0; i < cli->scope.npids && !err; i++)
		err = allocators__add_process(&m->allocators, cli->scope.pids[i]);
	if (cli->scope.npids)
		return err;
	if (command)
		err = allocators__add_command(&m->allocators, command);
	if (err)
		return err;
	m->command_has_none = command && !m->allocators.n;
	/* Programs that the command starts may use our C library. */
	err = allocators__add_file(&m->allocators, c_library, NULL);
	return err == -ENOENT && m->allocators.n ? 0 : err;
}

/* "uprobes on 10 functions of /usr/lib/x86_64-linux-gnu/libc.so.6" */
static void describe(struct memleak *m, const struct cli *cli)
{
	bool is_everyone = !cli->scope.npids && !cli->command;
	const struct allocators *a = &m->allocators;
	size_t i, n, files = 0, functions = 0;

	for (i = 0; i < a->n; i++) {
		files += !i || strcmp(a->site[i].path, a->site[i - 1].path);
		functions += a->site[i].kind != ALLOCATOR_NEW_EXIT;
	}
	n = snprintf(m->source, sizeof(m->source), "uprobes on %zu functions of %.200s%s", functions,
		     a->site[0].shown, files > 1 ? " and others" : "");
	m->has_files = files > 1;
	if (a->nleft_out)
		n += snprintf(m->source + n, sizeof(m->source) - n, "; %zu left out", a->nleft_out);
	if (m->command_has_none)
		n += snprintf(m->source + n, sizeof(m->source) - n, "; %.64s and its libraries have no malloc()",
			      event_binary_name(cli->command[0]));
	if (is_everyone)
		event_binaries__describe_others(
			event_binaries__count_others(m->binary ?: c_library,
						     a->site[0].path), m->source + n,
			sizeof(m->source) - n);
	m->source_length = strlen(m->source);
}

static void tell_left_out(const struct allocators *a)
{
	if (a->nleft_out)
		diag_warn("left out: %zu (%s: %s); with a return probe, an exception would end the program, and its "
			  "exits cannot be found; memory it allocates without malloc() is missing",
			  a->nleft_out, a->left_out, a->why);
}

static int choose_functions(struct memleak *m, const struct cli *cli)
{
	int err = find_allocators(m, cli);

	if (!err && m->allocators.n) {
		describe(m, cli);
		tell_left_out(&m->allocators);
		return 0;
	}
	if (err == -ENOMEM)
		return err;
	if ((err == -EACCES || err == -EPERM) && !m->binary && cli->scope.npids) {
		diag_error("not permitted to read the mappings of the process: missing capability %s",
			   right_name(right_held(RIGHT_SYS_PTRACE) ? RIGHT_SYS_ADMIN :
				      RIGHT_SYS_PTRACE));
		diag_hint("run it as root, e.g. with sudo; `tally doctor` lists missing capabilities");
		return -EPERM;
	}
	if (err) {
		diag_error("cannot look for malloc() in %s: %s",
			   m->binary ?: cli->scope.npids ? "the process" : "libc.so.6",
			   confined__why(err));
		if (m->binary || err == -EMFILE || err == -ENFILE || err == -ETIME || err == -EINTR)
			return m->binary ? -EINVAL : err;
		return -EOPNOTSUPP;
	}
	if (m->allocators.unread) {
		diag_error("cannot look for malloc() in %s: %s", m->allocators.unread,
			   confined__why(m->allocators.unread_err));
		return m->allocators.unread_err;
	}
	diag_error("no malloc() in %s", m->binary ?: "the mappings of the process");
	diag_hint("name the program or library that has it: -x BINARY");
	return -EINVAL;
}

/* Return probes are safe here: no exception passes through these functions. */
static bool has_return_probe(enum allocator_kind kind)
{
	switch (kind) {
	case ALLOCATOR_FREE:
	case ALLOCATOR_NEW:
	case ALLOCATOR_NEW_EXIT:
	case ALLOCATOR_DELETE:
		return false;
	default:
		return true;
	}
}

static const struct event an_allocator = {
	.type = EVENT_USER_FUNCTION, .name = "memory", .group = -1,
};

/* Slot: the kind of the function, or 0 for returns, which need none. */
static int add_site(struct probes *to, const struct allocator_site *s, bool is_return)
{
	struct event_site *site = event_sites__add(&to->sites, &an_allocator, s->name);

	if (!site)
		return -ENOMEM;
	site->is_return = is_return;
	site->file_offset = s->file_offset;
	site->path = strdup(s->path);
	to->slot[to->sites.n - 1] = is_return ? 0 : s->kind;
	return site->path ? 0 : -ENOMEM;
}

/*
 * With a single process, the probe is installed only for this process, and costs others nothing.
 * The kernel compares the address space with that of the first thread, which has none after it has
 * exited.
 */
static u32 only_process(const struct cli *cli)
{
	u32 pid = cli->scope.npids == 1 && !cli->command && !cli->scope.follow ? cli->scope.pids[0] : 0;

	return process_thread(pid) == pid ? pid : 0;
}

static int add_sites(struct memleak *m, enum allocator_kind kind)
{
	const struct allocators *a = &m->allocators;
	int err = 0;
	size_t i;

	for (i = 0; i < a->n && !err; i++) {
		if (a->site[i].kind != kind)
			continue;
		if (has_return_probe(kind))
			err = add_site(&m->returns, &a->site[i], true);
		if (!err)
			err = add_site(&m->calls, &a->site[i], false);
	}
	return err;
}

/* Chooses how each function is probed, and with which programs: functions of one kind share a program. */
static int plan_probes(struct memleak *m, const struct cli *cli)
{
	const struct bpf_object *object = m->bpf->obj;
	const struct allocators *a = &m->allocators;
	u32 pid = only_process(cli);
	int err = 0, kind;

	m->returns.programs = (struct attach_programs){
		.object = object, .pid = pid,
		.probe = m->bpf->progs.on_return, .probes = m->bpf->progs.on_return,
	};
	m->calls.programs = (struct attach_programs){
		.object = object, .pid = pid,
		.probe = m->bpf->progs.on_call, .probes = m->bpf->progs.on_calls,
	};
	m->returns.slot = calloc(a->n, sizeof(*m->returns.slot));
	m->calls.slot = calloc(a->n, sizeof(*m->calls.slot));
	if (!m->returns.slot || !m->calls.slot)
		return -ENOMEM;
	for (kind = 0; kind < ALLOCATOR_KINDS && !err; kind++)
		err = add_sites(m, kind);
	if (!err)
		err = attach__plan(&m->returns.attachments, &m->returns.sites, NULL,
				   &m->returns.programs);
	if (!err)
		err = attach__plan(&m->calls.attachments, &m->calls.sites, NULL, &m->calls.programs);
	if (!err)
		err = bpf_program__set_autoload(m->bpf->progs.on_first_exit,
						pid && m->calls.attachments.way[0] == ATTACH_UPROBE);
	return err;
}

/* The caller reports the error, as for the programs of the skeleton. */
static int attach_probes(struct probes *p)
{
	struct complaint c = {};
	size_t which;

	return attach__sites(&p->attachments, &p->sites, p->slot, &p->programs, &c, &which);
}

/* Descriptors that are used temporarily while attaching, and by the timers of the run. */
#define FILES_BESIDE_LINKS 12

/* Attaches return probes first, so that the return is seen of every call whose entry is seen. */
static int attach_functions(struct memleak *m)
{
	int err = host__need_files(2 * m->allocators.n + FILES_BESIDE_LINKS);

	if (!err)
		err = attach_probes(&m->returns);
	return err ?: attach_probes(&m->calls);
}

static void probes__free(struct probes *p)
{
	event_sites__free(&p->sites);
	free(p->slot);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Processes that have ended are removed, unless the report includes them. */
static int make_room(struct memleak *m, const struct host *host)
{
	u64 processes = m->max_live / LIVE_PER_PROCESS;
	int err = bpf_program__set_autoload(m->bpf->progs.on_last_exit, !m->keeps_ended);

	if (!err)
		err = map__set_room(m->bpf->maps.execs, host,
				    processes > LEAST_PROCESSES ? processes : LEAST_PROCESSES);
	return err ?: map__set_room(m->bpf->maps.live, host, m->max_live);
}

static int open_skeleton(struct measurement *measurement)
{
	const struct cli *cli = measurement->cli;
	struct memleak *m = measurement->own;
	int err = choose_functions(m, cli);

	if (err)
		return err;
	m->bpf = measurement->bpf;
	measurement->source = m->source;
	m->names.cgroups = measurement->cgroups;
	m->options.no_kernel = true;
	m->bpf->rodata->take = stack_options__take(&m->options, &m->stacks);
	err = task_state__prepare(m->bpf->obj, "allocator_calls", &measurement->run->host);
	if (!err)
		err = stacks__prepare(&m->stacks, measurement, m->bpf->obj, NULL, cli->asked_keys);
	if (!err)
		err = plan_probes(m, cli);
	return err ?: make_room(m, &measurement->run->host);
}

static int attach(struct measurement *measurement)
{
	struct memleak *m = measurement->own;
	int err = stacks__begin(&m->stacks, measurement);

	measurement->watch = watch;
	if (!err)
		err = measurement__attach_programs(measurement);
	return err ?: attach_functions(m);
}

static void memleak__free(struct memleak *m)
{
	attach__release_both(&m->calls.attachments, &m->returns.attachments);
	probes__free(&m->calls);
	probes__free(&m->returns);
	allocators__free(&m->allocators);
	task_key_names__free(&m->names);
	outstanding__free(&m->outstanding);
	stacks__free(&m->stacks);
}

static void init(void *own)
{
	struct memleak *m = own;

	*m = (struct memleak){
		.max_live = DEFAULT_MAX_LIVE, .options = STACK_OPTIONS,
		.outstanding = { .key_size = sizeof(struct task_key), .add_key = add_key },
	};
	m->options.of_stacks = true;
	m->outstanding.context = m;
	m->outstanding.stacks = &m->stacks;
}

static void release(void *own)
{
	struct memleak *m = own;

	memleak__free(m);
}

static const struct option_row rows[] = {
	HEADING("Shown:", 1),
	{ "executable", 'x', "BINARY", ROW_TEXT, "The program or library with malloc() (default: the C library)", 1,
	  FIELD(struct memleak, binary) },
	{ "older", 0, "TIME", ROW_TIME, "Only allocations at least this old", 1,
	  FIELD(struct memleak, outstanding.older_ns), .unit_ns = NSEC_PER_SEC },
	{ "count", 0, NULL, ROW_FLAG, "Stacks by count instead of bytes", 1,
	  FIELD(struct memleak, outstanding.by_count) },
	{ "max-live", 0, "N", ROW_COUNT, "Follow N allocations at once (default 1M)", 1,
	  FIELD(struct memleak, max_live), .least = 1, .most = 1 << 26, .wanted = "a number from 1 to 64M" },
	INCLUDE(struct memleak, options, stack_option_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "memleak",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.usual_keys = STACKS_ON_DEMAND,
		.doc = "Memory that processes have allocated and not freed, by stack.\n"
		       "A table by default (--format).",
		.rows = rows,
		.own_keys = true,
		.keys = STACK_KEYS, .columns = columns, .order = "bytes",
	},
	.own_size = sizeof(struct memleak), .skeleton = &memleak_skeleton, .stays_attached = true,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.free = release,
};

TOOL_MEASURING(memleak, spec, AREA_MEMORY,
	       "memory that processes have not freed, by allocating stack");
