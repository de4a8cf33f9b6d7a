/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout of a key, or of a stream's record. The plan of a measurement makes the layout, compiled code
 * (jit/compile.h) writes data in it, and reports read the data.
 */
#ifndef TALLY_PROBE_LAYOUT_H
#define TALLY_PROBE_LAYOUT_H

#include "base/types.h"
#include "host/cgroup_names.h"
#include "report/report.h"
#include "sym/symbols.h"
#include "types/shape.h"

#include "bpf/lib/scope.h"

enum layout_kind {
	LAYOUT_UNSIGNED,        /* number of 4 or 8 bytes */
	LAYOUT_SIGNED,
	LAYOUT_HEX,             /* pointers, :x8 .. :x64 */
	LAYOUT_ID,              /* a pid, uid or CPU: no digit grouping */
	LAYOUT_TIME,            /* nanoseconds */
	LAYOUT_SYMBOL,          /* kernel address, shown as a symbol */
	LAYOUT_USER_SYMBOL,     /* address in the task's process, shown as a symbol */
	LAYOUT_EVENT,           /* event number, shown as its name */
	LAYOUT_DEVICE,          /* a dev_t, shown as major:minor */
	LAYOUT_ERRNO,           /* a result: "ENOENT" for -2; a number if not an error */
	LAYOUT_CGROUP,          /* cgroup id, shown as its path */
	LAYOUT_CONTAINER,       /* cgroup id, shown as the name of its container */
	LAYOUT_UNIT,            /* cgroup id, shown as its systemd unit */
	LAYOUT_ENUM,            /* a number of 4 or 8 bytes, shown as its name if it has one */
	LAYOUT_TEXT,            /* size bytes, zero-padded; in a record a struct probe_text, with the text's
				 * position after the fields */
	LAYOUT_VALUE,           /* the bytes of a structure or an array, zero-padded */
};

struct layout_field {
	char *name;             /* as in reports; owned */
	enum layout_kind kind;
	u32 offset;             /* from the start of the key */
	u32 size;               /* bytes; 4 or 8 for numbers */
	struct shape *shape;    /* LAYOUT_VALUE, LAYOUT_ENUM; owned */
	bool is_of_begin;       /* of a span: the value was taken when it began */
	size_t group;           /* of the events that have it; 0: all events */
};

struct layout {
	struct layout_field *field;
	size_t n;
	u32 size;               /* total bytes, a multiple of 4 */
	bool has_name; /* keyed by pid or tid without comm: elements hold the task's name */
};

void layout_field__free(struct layout_field *f);

/* Names a program's address. Returns a text that the caller owns; NULL: no memory. */
typedef char *(*layout_name_address)(void *arg, u64 address);

/* Sources of names for numbers, and the last lookup. */
struct layout_names {
	const char *const *event;       /* borrowed */
	size_t nevents;
	enum scope_hierarchy hierarchy; /* of cgroup ids */
	struct symbols *symbols;        /* created on first use */
	struct cgroup_names *cgroups;   /* borrowed: for LAYOUT_CONTAINER and LAYOUT_UNIT */
	u64 cgroup;
	char *cgroup_path;
	layout_name_address name_address;       /* for the process of this key or record; NULL: unknown */
	void *name_arg;
};
void layout_names__free(struct layout_names *names);

/*
 * Formats a field's bytes: a number, or a text in a key. *out has the field's name and owns its
 * text. Returns 0 or -ENOMEM.
 */
int layout_field__show(struct field *out, const struct layout_field *f, const void *bytes,
		       struct layout_names *names);

/*
 * A report merges the cgroups of a container, or of a unit. layout__merge_key() replaces the ids in a key by the id of
 * the first such cgroup. key: aligned to 4 bytes. Returns 0 or -ENOMEM.
 */
bool layout__merges(const struct layout *l);
int layout__merge_key(const struct layout *l, void *key, struct layout_names *names);

/* Returns the number of cells that layout__add_cells() makes. */
size_t layout__ncells(const struct layout *l);

/*
 * Appends a key's fields to a row, which is freed on failure. name: the task's, if the layout has
 * one; it becomes "comm", after the pid or tid. Returns 0 or -ENOMEM.
 */
int layout__add_cells(struct report_row *row, const struct layout *l, const void *key,
		      const char *name, struct layout_names *names);

#endif /* TALLY_PROBE_LAYOUT_H */
