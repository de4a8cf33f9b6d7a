// SPDX-License-Identifier: BSD-2-Clause
/* opensnoop: files opened by name. The measurement is bpf/files/opensnoop.bpf.c. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "host/errno_name.h"
#include "host/open_flags.h"
#include "run/uring.h"
#include "stack/snoop_callers.h"
#include "tools.h"

#include "bpf/files/opensnoop.h"
#include "opensnoop.skel.h"

SKELETON(opensnoop);

#define NOT_SEEN "not seen: "

static const char *const field_names[] = { "fd", "error", "flags", "mode", "dirfd", "via", "path" };

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
		r->result < 0 || r->has_slot ? snoop_none("fd") : snoop_number("fd", r->result),
		snoop_word("error", error),
		snoop_spare(snoop_word("flags", open_flags(flags, r->flags))),
		snoop_spare(snoop_word("mode", makes ? mode : NULL)),
		dirfd_field(r, path),
		snoop_word("via", r->by_uring ? "io_uring" : NULL),
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
	struct uring_layout layout;

	s->caveat = NOT_SEEN "opens by io_uring, by handle, and the kernel's own";
	if (!uring__prepare(s->m->obj, &layout))
		s->caveat = NOT_SEEN "opens by handle, and the kernel's own";
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
			.source = "system calls at tp_btf/sys_exit: open, creat, openat, openat2; io_uring",
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

static const struct option_row rows[] = {
	{ "failed", 0, NULL, ROW_FLAG, "Only opens that fail", 0, FIELD(struct opensnoop, only_failed) },
	{ "errno", 0, "NAME", ROW_ERRNO, "Only opens that fail with this error: ENOENT, or a number", 0,
	  FIELD(struct opensnoop, only_errno), .complete = complete_errors },
	{ "name", 0, "GLOB", ROW_TEXT, "Only paths that match, as the caller wrote them", 0,
	  FIELD(struct opensnoop, name) },
	{ "elapsed", 0, NULL, ROW_FLAG, "Show the time each open took", 0,
	  FIELD(struct opensnoop, snoop.has_elapsed) },
	{ "min", 0, "TIME", ROW_TIME, "Only opens that took at least this long", 0,
	  FIELD(struct opensnoop, min_ns), ALSO(struct opensnoop, snoop.has_elapsed) },
	INCLUDE(struct opensnoop, callers, caller_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "opensnoop",
	.cli = {
		.groups = SNOOP_GROUPS,
		.doc = "Each open of a file by name, and its result.",
		.rows = rows,
	},
	.own_size = sizeof(struct opensnoop), .skeleton = &opensnoop_skeleton,
	SNOOP_CALLERS_HOOKS,
	.init = init, .free = release,
};

TOOL_MEASURING(opensnoop, spec, AREA_FILES, "each open of a file by name");
