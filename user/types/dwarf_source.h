/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses to places in the source, for many addresses of one file: what it takes to find a
 * function is put in order once, for each compilation unit when it is first asked about. Not
 * trusted, and errors, as in types/dwarf.h.
 */
#ifndef TALLY_TYPES_DWARF_SOURCE_H
#define TALLY_TYPES_DWARF_SOURCE_H

#include "types/dwarf.h"

/* A function at an address, and where in its source that is. Texts belong to the dwarf. */
struct dwarf_source_place {
	const char *name;       /* "push_back"; NULL: not said */
	const char *linkage;    /* "_ZN3foo3barEv"; NULL: none */
	const char *dir;        /* that file is from, unless it is absolute; NULL: not said */
	const char *file;       /* NULL: not said */
	u32 line;               /* 0: not said */
};

struct dwarf_source;

/* d is to live as long. */
int dwarf_source__new(struct dwarf_source **s, struct dwarf *d);
void dwarf_source__free(struct dwarf_source *s);

#define DWARF_SOURCE_PLACES 64

/*
 * The functions inlined at an address, the innermost first, and last the one that holds them;
 * each but the first at the line of its call. *n = 0: nothing is known of the address. place has
 * room for DWARF_SOURCE_PLACES.
 */
int dwarf_source__at(struct dwarf_source *s, u64 address, struct dwarf_source_place *place,
		     size_t *n);

#endif /* TALLY_TYPES_DWARF_SOURCE_H */
