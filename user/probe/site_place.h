/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and types known at a site: from its tracepoint's format, kernel BTF, its USDT note, or
 * DWARF.
 */
#ifndef TALLY_PROBE_SITE_PLACE_H
#define TALLY_PROBE_SITE_PLACE_H

#include "event/attach.h"
#include "jit/place.h"
#include "types/dwarf.h"

#define NAMED_TYPES 8

/* Sources opened so far, to be reused for later sites. */
struct knowledge {
	struct kernel_types types;
	struct c_type task;     /* struct task_struct */
	bool has_task;
	int tracefs;            /* -1: not opened */
	bool want_dwarf; /* some names may only be in debug information, which is slow to read */
	struct dwarf *dwarf;    /* debug information of dwarf_path, or NULL */
	const struct dwarf_unread *unread;      /* why debug information is missing or incomplete, or NULL */
	struct dwarf_types *dwarf_types;        /* NULL if not needed so far */
	char *dwarf_path;
	/* Cache of the types most recently named by casts, because an expression is compiled several times. */
	struct named_type {
		char *name;
		u64 address;
		struct c_type type;
		int err;
	} named[NAMED_TYPES];
	u32 nnamed;
};

void knowledge__init(struct knowledge *k);
void knowledge__release(struct knowledge *k);

/*
 * Fills in *p (with *format, for a tracepoint) for a site that is attached this way. The caller
 * calls site_place__free() in either case; *p is valid as long as *k. Returns 0, or a negative
 * errno if the format of a tracepoint cannot be read. Other missing information is not an error.
 */
int site_place__make(struct place *p, struct tracepoint_format *format,
		     const struct event_site *site, enum attach_way way, struct knowledge *k);
/*
 * True if this tracepoint is to be read by its arguments instead of its record. names() decides, with both in p. It is
 * first called with only the record and `perhaps` set, to find out whether arguments may be needed at all, because
 * reading types takes some milliseconds.
 */
typedef bool (*names_arguments)(void *arg, const struct place *p, bool perhaps);
bool site_place__needs_arguments(const struct event_site *site, names_arguments names, void *arg,
				 struct knowledge *k);
void site_place__free(struct place *p, struct tracepoint_format *format);

#endif /* TALLY_PROBE_SITE_PLACE_H */
