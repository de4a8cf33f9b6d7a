/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracepoints in tracefs (Documentation/trace/events.rst): their names, ids and fields. If tracefs is not mounted, it
 * is mounted for this process only (fsopen(2), since 5.2), and nothing is left behind.
 */
#ifndef TALLY_TYPES_TRACEFS_H
#define TALLY_TYPES_TRACEFS_H

#include "base/types.h"

/*
 * Opens the events directory of tracefs. Returns an O_PATH-like directory descriptor, which the
 * caller closes, or -ENOENT (this kernel has no tracefs), -EPERM.
 */
int tracefs__open(void);

/*
 * Mounts a file system of that type, at no path, and opens a directory in it. Returns a descriptor, which the caller
 * closes, or a negative errno.
 */
int open_private(const char *type, const char *directory);

/* True if tracefs is mounted where other processes see it. */
bool tracefs__is_mounted(void);

struct tracepoint_name {
	char *system, *name;
};

struct tracepoints {
	struct tracepoint_name *tracepoint;     /* sorted by system, then name */
	size_t n;
};

/*
 * Finds the tracepoints whose system and name match the two globs (fnmatch(3); NULL is "*"). Returns 0 (n may be 0) or
 * a negative errno.
 */
int tracepoints__find(struct tracepoints *found, int tracefs, const char *system,
		      const char *name);
void tracepoints__free(struct tracepoints *t);

/* Lists all systems, as tracepoints with a NULL name. */
int tracepoints__systems(struct tracepoints *found, int tracefs);

/* Reads the id from SYSTEM/NAME/id. Returns 0 or a negative errno. */
int tracepoint__id(int tracefs, const char *system, const char *name, u32 *id);

/* One field of a tracepoint's record, from its format file. */
struct tracepoint_field {
	char *type;             /* C type as in the file, without array bounds: "unsigned int" */
	char *name;
	u32 offset, size;       /* bytes in the record */
	u32 elements;           /* of a fixed array, else 0 */
	bool is_signed;
	bool is_dynamic;        /* __data_loc: offset:16, length:16 relative to the record's start */
	bool is_relative;       /* __rel_loc: relative to the end of the field (5.17) */
	bool is_common;         /* common_pid etc.: in every record */
};

struct tracepoint_format {
	u32 id;
	struct tracepoint_field *field;
	size_t nfields;
	char *print;            /* the print fmt line */
};

/* Parses the text of a format file; pure. Returns 0, -EINVAL or -ENOMEM. */
int tracepoint_format__parse(struct tracepoint_format *f, const char *text);
/* Reads and parses SYSTEM/NAME/format. */
int tracepoint_format__read(struct tracepoint_format *f, int tracefs, const char *system,
			    const char *name);
void tracepoint_format__free(struct tracepoint_format *f);

#endif /* TALLY_TYPES_TRACEFS_H */
