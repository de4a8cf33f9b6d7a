/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the bytes of a key, or of the record of a stream, are: made by the plan of a measurement,
 * written by compiled code (jit/compile.h), read by whoever shows them.
 */
#ifndef TALLY_PROBE_LAYOUT_H
#define TALLY_PROBE_LAYOUT_H

#include "base/types.h"
#include "report/report.h"
#include "sym/symbols.h"

#include "bpf/lib/scope.h"

enum layout_kind {
	LAYOUT_UNSIGNED,        /* number of 4 or 8 bytes */
	LAYOUT_SIGNED,
	LAYOUT_HEX,             /* pointers, :x8 .. :x64 */
	LAYOUT_ID,              /* a pid, uid, CPU: no separators between digits */
	LAYOUT_TIME,            /* nanoseconds */
	LAYOUT_SYMBOL,          /* address in the kernel, shown as its name */
	LAYOUT_EVENT,           /* number of an event, shown as its name */
	LAYOUT_ERRNO,           /* a result: "ENOENT" of -2; a number where it is no error */
	LAYOUT_CGROUP,          /* id of a cgroup, shown as its path */
	LAYOUT_TEXT,            /* size bytes, zeroes behind the text; in a record of sizeof(struct
				 * probe_text): where it is behind the fields */
};

struct layout_field {
	char *name;             /* as the report shows it; owned */
	enum layout_kind kind;
	u32 offset;             /* from the start of the key */
	u32 size;               /* bytes; 4 or 8 for numbers */
};

struct layout {
	struct layout_field *field;
	size_t n;
	u32 size;               /* bytes of all, a multiple of 4 */
	bool has_name; /* keyed by pid or tid without comm: elements have the task's name */
};

/* Where numbers get their names from, and what was looked up last. */
struct layout_names {
	const char *const *event;       /* borrowed */
	size_t nevents;
	enum scope_hierarchy hierarchy; /* of cgroup ids */
	struct symbols *symbols;        /* made when the first is asked for */
	u64 cgroup;
	char *cgroup_path;
};
void layout_names__free(struct layout_names *names);

/*
 * What the bytes of a field say: those of a number, or of a text in a key. *out is named like the
 * field and owns its text. Returns 0 or -ENOMEM.
 */
int layout_field__show(struct field *out, const struct layout_field *f, const void *bytes,
		       struct layout_names *names);

/*
 * Appends the fields of a key to a row, which is to have none if this fails. name: that of the
 * task, where the layout has one; it goes behind the pid or tid, as "comm". Returns 0 or -ENOMEM.
 */
int layout__add_cells(struct report_row *row, const struct layout *l, const void *key,
		      const char *name, struct layout_names *names);

#endif /* TALLY_PROBE_LAYOUT_H */
