// SPDX-License-Identifier: BSD-2-Clause
/* opensnoop: files opened by name. The measurement is bpf/files/opensnoop.bpf.c. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"
#include "host/errno_name.h"
#include "host/open_flags.h"
#include "report/diag.h"
#include "stack/snoop_callers.h"
#include "tools.h"

#include "bpf/files/opensnoop.h"
#include "opensnoop.skel.h"

SKELETON(opensnoop);

enum {
	KEY_FAILED = 0x1000,
	KEY_ERRNO,
	KEY_NAME,
	KEY_ELAPSED,
	KEY_MIN,
};

static const char *const field_names[] = { "fd", "error", "flags", "mode", "dirfd", "path" };

static const struct snoop_call calls[] = {
	{ "open", OPEN_OPEN }, { "creat", OPEN_CREAT },
	{ "openat", OPEN_OPENAT }, { "openat2", OPEN_OPENAT2 },
};

struct opensnoop {
	struct snoop snoop;     /* first: show() casts its context to this type */
	bool only_failed;
	int only_errno;         /* 0: any */
	u64 min_ns;
	const char *name;       /* glob; NULL: any */
	struct callers callers;
	struct opensnoop_bpf *bpf;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_errno(struct opensnoop *o, const char *arg)
{
	if (!errno_number(arg, &o->only_errno))
		return 0;
	diag_error("--errno: '%s' is no error; as in ENOENT, EACCES, 2", arg);
	return EINVAL;
}

static error_t parse_min(struct opensnoop *o, const char *arg)
{
	o->snoop.has_elapsed = true;
	if (!parse_duration(arg, NSEC_PER_MSEC, &o->min_ns))
		return 0;
	diag_error("--min: '%s' is no time; as in 10ms, 500us", arg);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct opensnoop *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->callers;
		return 0;
	case KEY_FAILED:
		o->only_failed = true;
		return 0;
	case KEY_ERRNO:
		return parse_errno(o, arg);
	case KEY_NAME:
		o->name = arg;
		return 0;
	case KEY_ELAPSED:
		o->snoop.has_elapsed = true;
		return 0;
	case KEY_MIN:
		return parse_min(o, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static struct stream_field path_field(const struct open_record *r, char path[OPEN_PATH_MOST])
{
	struct stream_field f = { .field = { .name = "path", .text = path }, .fault = !r->length };
	size_t n = r->length;

	f.cut = n > OPEN_PATH_MOST;
	if (f.cut)
		n = OPEN_PATH_MOST;
	if (n)
		memcpy(path, r->path, n - 1);
	path[n ? n - 1 : 0] = 0;
	return f;
}

static struct stream_field dirfd_field(const struct open_record *r, const char *path)
{
	if (r->dirfd == AT_FDCWD || *path == '/')
		return snoop_none("dirfd");
	return snoop_number("dirfd", r->dirfd);
}

static int show_line(struct opensnoop *o, const struct open_record *r, const char *path,
		     const struct stream_field *last)
{
	char comm[sizeof(r->comm) + 1] = "", flags[OPEN_FLAGS_SPACE], mode[16], number[16];
	const char *error = r->result < 0 ? errno_name(-r->result) : NULL;
	bool makes = !r->bad_how && open_flags_create(r->flags);
	struct stream_field fields[ARRAY_SIZE(field_names)] = {
		r->result < 0 ? snoop_none("fd") : snoop_number("fd", r->result),
		snoop_word("error", error),
		snoop_spare(snoop_word("flags", open_flags(flags, r->flags))),
		snoop_spare(snoop_word("mode", makes ? mode : NULL)),
		dirfd_field(r, path),
		*last,
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.has_elapsed = o->snoop.has_elapsed, .elapsed_ns = r->elapsed_ns,
		.elapsed_unknown = r->no_start,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	if (r->result < 0 && !error) {
		snprintf(number, sizeof(number), "%d", -r->result);
		fields[1] = snoop_word("error", number);
	}
	fields[2].fault = r->bad_how;
	snprintf(mode, sizeof(mode), "0%o", r->mode);
	memcpy(comm, r->comm, sizeof(r->comm));
	return snoop_callers__find(&o->snoop, &r->stack, &line) ?: lines__write(&o->snoop.lines, &line);
}

static int show(void *context, const void *record, size_t size)
{
	const struct open_record *r = record;
	struct opensnoop *o = context;
	char path[OPEN_PATH_MOST];
	struct stream_field last;

	if (size < OPEN_RECORD_LEAST + r->length)
		return -EBADMSG;
	last = path_field(r, path);
	if (o->name && (last.fault || fnmatch(o->name, path, 0))) {
		o->snoop.filtered++;
		return 0;
	}
	return show_line(o, r, path, &last);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct snoop *s)
{
	struct opensnoop *o = (struct opensnoop *)s;
	struct opensnoop_bpf *bpf = s->m->bpf;

	o->bpf = bpf;
	bpf->rodata->only_failed = o->only_failed;
	bpf->rodata->only_errno = o->only_errno;
	bpf->rodata->min_ns = s->min_ns = o->min_ns;
	bpf->rodata->timed = o->snoop.has_elapsed;
	bpf_program__set_autoload(bpf->progs.on_enter, o->snoop.has_elapsed);
	return 0;
}

static void init(void *own)
{
	struct opensnoop *o = own;

	*o = (struct opensnoop){
		.snoop = {
			.value = "opens of files",
			.source = "system calls at tp_btf/sys_exit: open, creat, openat, openat2",
			.caveat = "not seen: opens by io_uring, by handle, and the kernel's own",
			.field = field_names, .nfields = ARRAY_SIZE(field_names),
			.call = calls, .ncalls = ARRAY_SIZE(calls),
			.state = "open_starts",
			.least = OPEN_RECORD_LEAST,
			.show = show,
			.open = open_skeleton,
			.callers = &o->callers,
		},
	};
}

static void release(void *own)
{
	struct opensnoop *o = own;

	lines__free(&o->snoop.lines);
	callers__free(&o->callers);
}

static const struct argp_option option_list[] = {
	{ "failed", KEY_FAILED, NULL, 0, "Only opens that fail", 0 },
	{ "errno", KEY_ERRNO, "NAME", 0, "Only those that fail so: ENOENT, EACCES", 0 },
	{ "name", KEY_NAME, "GLOB", 0, "Only paths like this, as the caller gave them", 0 },
	{ "elapsed", KEY_ELAPSED, NULL, 0, "With the time each open took", 0 },
	{ "min", KEY_MIN, "TIME", 0, "Only opens that took at least so long", 0 },
	{},
};

OPTION_VALUES(errno, .options = option_list, .key = KEY_ERRNO, .add = complete_errors);
static const struct argp_child child_argps[] = { { &callers_argp, 0, NULL, 0 }, {} };
static const struct argp own_argp = { .options = option_list, .parser = parse_own, .children = child_argps };

static const struct tool_spec spec = {
	.name = "opensnoop",
	.cli = {
		.groups = SNOOP_GROUPS,
		.doc = "Each open of a file by name, and what came of it.",
		.own = &own_argp,
	},
	.own_size = sizeof(struct opensnoop), .skeleton = &opensnoop_skeleton,
	SNOOP_CALLERS_HOOKS,
	.init = init, .free = release,
};

TOOL_MEASURING(opensnoop, spec, AREA_FILES, "each open of a file by name");
