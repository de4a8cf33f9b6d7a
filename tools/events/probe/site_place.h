/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of a site: from its tracepoint's format, kernel BTF, its USDT note, or DWARF. */
#ifndef TALLY_PROBE_SITE_PLACE_H
#define TALLY_PROBE_SITE_PLACE_H

#include "event/attach.h"
#include "jit/place.h"
#include "types/dwarf.h"

/* What has been opened on the way, for the sites that come after. */
struct knowledge {
	struct kernel_types types;
	bool has_types; /* they have been opened (types.vmlinux may be NULL: there are none) */
	struct c_type task;     /* struct task_struct */
	bool has_task;
	int tracefs;            /* -1: not opened */
	bool want_dwarf; /* names are used that only debug information may know: it takes long to
			    read */
	struct dwarf *dwarf;    /* of dwarf_path; NULL: it has none */
	struct dwarf_types *dwarf_types;        /* NULL: none were asked for yet */
	char *dwarf_path;
};

void knowledge__init(struct knowledge *k);
void knowledge__release(struct knowledge *k);

/*
 * Fills in *p (with *format, where it is a tracepoint's) for a site that is attached this way; both
 * to be freed by site_place__free() in any case, and good as long as the knowledge is. Returns 0 or
 * a negative errno: of a tracepoint whose format cannot be read. What else is not known is just not
 * known.
 */
int site_place__make(struct place *p, struct tracepoint_format *format,
		     const struct event_site *site, enum attach_way way, struct knowledge *k);
/*
 * Is this tracepoint to be read by its arguments, and not by its record? names() is shown both, and says so. It is
 * asked first whether that may be, with the record alone: types take some milliseconds to read.
 */
typedef bool (*names_arguments)(void *arg, const struct place *p, bool perhaps);
bool site_place__needs_arguments(const struct event_site *site, names_arguments names, void *arg,
				 struct knowledge *k);
void site_place__free(struct place *p, struct tracepoint_format *format);

#endif /* TALLY_PROBE_SITE_PLACE_H */
