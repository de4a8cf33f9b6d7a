/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps many addresses of one file to source locations. The lookup structures of a compilation unit are built once, at
 * the first lookup of an address in it. Trust and errors as in types/dwarf.h.
 */
#ifndef TALLY_TYPES_DWARF_SOURCE_H
#define TALLY_TYPES_DWARF_SOURCE_H

#include "types/dwarf.h"

/* A function at an address, and its source location. Strings belong to the dwarf. */
struct dwarf_source_place {
	const char *name;       /* "push_back"; NULL: unknown */
	const char *linkage;    /* "_ZN3foo3barEv"; NULL: none */
	const char *dir;        /* base of a relative file; NULL: unknown */
	const char *file;       /* NULL: unknown */
	u32 line;               /* 0: unknown */
};

struct dwarf_source;

/* d must outlive *s. */
int dwarf_source__new(struct dwarf_source **s, struct dwarf *d);
void dwarf_source__free(struct dwarf_source *s);

#define DWARF_SOURCE_PLACES 64

/*
 * Finds the functions inlined at an address, innermost first, and then the function that contains them. Each but the
 * first is at the line of its call. *n = 0: unknown address. place has room for DWARF_SOURCE_PLACES.
 */
int dwarf_source__at(struct dwarf_source *s, u64 address, struct dwarf_source_place *place,
		     size_t *n);

#endif /* TALLY_TYPES_DWARF_SOURCE_H */
