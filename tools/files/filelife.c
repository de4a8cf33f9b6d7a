// SPDX-License-Identifier: BSD-2-Clause
/* filelife: short-lived files. The measurement is bpf/files/filelife.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "files/name.h"
#include "host/features.h"
#include "host/probing.h"
#include "report/diag.h"
#include "run/snoop.h"
#include "sym/kallsyms.h"
#include "tools.h"

#include "bpf/files/filelife.h"
#include "filelife.skel.h"

SKELETON(filelife);

#define NOT_SEEN "not seen: files replaced by a rename, and files that are not regular"

static const char *const field_names[] = { "age", "maker", "maker_pid", "path" };

struct filelife {
	struct snoop snoop;     /* first: show() casts its context to this type */
	char note[192];
};

static int show(void *context, const void *record, size_t size)
{
	const struct filelife_record *r = record;
	char comm[sizeof(r->comm) + 1] = "", maker[sizeof(r->maker_comm) + 1] = "", *path;
	struct snoop *s = context;
	int err;

	memcpy(comm, r->comm, sizeof(r->comm));
	memcpy(maker, r->maker_comm, sizeof(r->maker_comm));
	path = file_name__path(&r->name, size - offsetof(struct filelife_record, name));
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		snoop_time("age", r->age_ns),
		snoop_word("maker", maker),
		snoop_id("maker_pid", r->maker_pid),
		snoop_word("path", path),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	err = lines__write(&s->lines, &line);
	free(path);
	return err;
}

/*
 * Files evicted from the map are not reported when they are deleted. Files created or deleted while
 * the map is read may or may not be in it.
 */
static void settle(struct snoop *s)
{
	struct filelife *f = (struct filelife *)s;
	struct filelife_bpf *bpf = s->m->bpf;
	struct elements e = {
		.key_size = sizeof(struct file_id), .value_size = sizeof(struct filelife_birth),
	};
	u64 there = bpf->bss->made - bpf->bss->taken, later;

	if (elements__read(&e, bpf_map__fd(bpf->maps.births)))
		there = 0;
	later = bpf->bss->made - bpf->bss->taken;
	if (later < there)
		there = later;
	if (there > e.n)
		snprintf(f->note, sizeof(f->note), "%s; no room for the oldest %llu created files", NOT_SEEN,
			 (unsigned long long)(there - e.n));
	s->caveat = there > e.n ? f->note : NOT_SEEN;
	elements__free(&e);
}

/* Since 7.0, the function that opens files is called do_file_open(). */
static int open_skeleton(struct snoop *s)
{
	struct filelife_bpf *bpf = s->m->bpf;
	u64 address;

	/* fentry may just be switched off. In this case, measurement__attach() reports it. */
	if (feature__probe("fentry") != FEATURE_MISSING || ftrace_is_off())
		return kernel_symbol("do_filp_open", &address) != -ENOENT ? 0 :
		       bpf_program__set_attach_target(bpf->progs.on_opened, 0, "do_file_open");
	diag_error("this kernel has no fentry, and no tracepoint reports which file is deleted");
	diag_hint("`tally trace -e 'creat,openat,unlink*'` shows the calls");
	return -EOPNOTSUPP;
}

static void init(void *own)
{
	struct filelife *f = own;

	f->snoop = (struct snoop){
		.value = "files created and deleted in the run",
		.source = "fexit do_filp_open (do_file_open), fentry and fexit vfs_unlink",
		.caveat = NOT_SEEN,
		.field = field_names, .nfields = ARRAY_SIZE(field_names),
		.rare = true,
		.least = offsetof(struct filelife_record, name.names),
		.show = show,
		.open = open_skeleton,
		.settle = settle,
	};
}

static void release(void *own)
{
	struct filelife *f = own;

	lines__free(&f->snoop.lines);
}

static const struct tool_spec spec = {
	.name = "filelife",
	.cli = {
		.groups = SNOOP_GROUPS,
		.doc = "Each file created and deleted in the run: its age, its directory, and who deleted it.",
	},
	.own_size = sizeof(struct filelife), .skeleton = &filelife_skeleton,
	SNOOP_HOOKS,
	.init = init, .free = release,
};

TOOL_MEASURING(filelife, spec, AREA_FILES,
	       "short-lived files: created and deleted, their age and by whom");
