// SPDX-License-Identifier: BSD-2-Clause
#include "types/dwarf_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/dwarf_libdw.h"

#ifdef HAVE_LIBDW

/* A range of code. `of` is its owner: the index of a unit, or the entry of a function. */
struct span {
	u64 start, end;
	u64 of;
};

struct spans {
	struct span *span;
	size_t n;
};

struct unit {
	Dwarf_Off entry;
	bool known;             /* its functions are loaded */
	struct spans functions;
};

struct dwarf_source {
	struct dwarf *dwarf;
	struct unit *unit;
	size_t nunits;
	struct spans units;
};

/* --- spans ------------------------------------------------------------------------------------ */

/* Adds the valid ranges of an entry. */
static int add_spans(struct spans *s, struct dwarf *d, Dwarf_Die *die, u64 of)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!dwarf__spend(d))
			return -EBADMSG;
		/* Code removed by the linker is at address 0, or beyond all code. */
		if (!start || start >= end)
			continue;
		if (ARRAY_ROOM(s->span, s->n))
			return -ENOMEM;
		s->span[s->n++] = (struct span){ start, end, of };
	}
	return 0;
}

/* Sorts by address. At the same address, the outer span comes first. */
static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static void sort_spans(struct spans *s)
{
	if (s->n)
		qsort(s->span, s->n, sizeof(*s->span), compare_spans);
}

/* Finds the innermost span that contains an address. Overlaps are rare, so it is only a few steps back. */
static const struct span *find_span(const struct spans *s, u64 address)
{
	size_t low = 0, high = s->n, middle, steps;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (s->span[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (steps = 0; low-- && steps < 16; steps++)
		if (address < s->span[low].end)
			return &s->span[low];
	return NULL;
}

/* --- units and their functions ---------------------------------------------------------------- */

static int add_unit(struct dwarf_source *s, Dwarf_Die *die)
{
	if (ARRAY_ROOM(s->unit, s->nunits))
		return -ENOMEM;
	s->unit[s->nunits] = (struct unit){ .entry = dwarf_dieoffset(die) };
	return add_spans(&s->units, s->dwarf, die, s->nunits++);
}

/* Uses the units' own ranges: some compilers do not write .debug_aranges, and a file may mix compilers. */
static int find_units(struct dwarf_source *s)
{
	Dwarf *dwarf = s->dwarf->dwarf;
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t header;
	int err = 0;

	while (!err && !dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) && next > at) {
		if (!dwarf__spend(s->dwarf))
			return -EBADMSG;
		if (dwarf_offdie(dwarf, at + header, &unit))
			err = add_unit(s, &unit);
		at = next;
	}
	sort_spans(&s->units);
	return err;
}

static int find_functions(struct spans *functions, struct dwarf *d, Dwarf_Die *parent, u32 depth)
{
	Dwarf_Die child;
	int more, err = 0;

	if (depth > DWARF_MAX_DEPTH)
		return 0;
	more = dwarf_child(parent, &child);
	while (!more && !err) {
		if (!dwarf__spend(d))
			return -EBADMSG;
		if (dwarf_tag(&child) == DW_TAG_subprogram)
			err = add_spans(functions, d, &child, dwarf_dieoffset(&child));
		else if (dwarf_die__may_hold_functions(&child))
			err = find_functions(functions, d, &child, depth + 1);
		more = dwarf_siblingof(&child, &child);
	}
	return err;
}

/* Finds the unit of an address, and loads its functions. Sets *unit to NULL if there is none. */
static int find_unit(struct dwarf_source *s, u64 address, struct unit **unit, Dwarf_Die *die)
{
	const struct span *span = find_span(&s->units, address);
	int err;

	*unit = span ? &s->unit[span->of] : NULL;
	if (!span)
		return 0;
	if (!dwarf_offdie(s->dwarf->dwarf, (*unit)->entry, die))
		return -EBADMSG;
	if ((*unit)->known)
		return 0;
	err = find_functions(&(*unit)->functions, s->dwarf, die, 0);
	sort_spans(&(*unit)->functions);
	(*unit)->known = true;
	return err;
}

/* --- one address ------------------------------------------------------------------------------ */

/* Finds the call site of an inlined function. File 0 means none in DWARF 4, but the unit's own file in DWARF 5. */
static void find_call(struct dwarf_source_place *place, Dwarf_Die *unit, Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word value;
	Dwarf_Half version = 0;
	Dwarf_Die ignored;
	size_t n;

	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &value) &&
	    value <= UINT32_MAX)
		place->line = value;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &value) ||
	    dwarf_getsrcfiles(unit, &files, &n) || value >= n ||
	    !dwarf_cu_die(attr.cu, &ignored, &version, NULL, NULL, NULL, NULL, NULL) ||
	    (!value && version < 5))
		return;
	place->file = dwarf_filesrc(files, value, NULL, NULL);
}

static void find_row(struct dwarf_source_place *place, Dwarf_Die *unit, u64 address)
{
	Dwarf_Line *row = dwarf_getsrc_die(unit, address);
	int line;

	if (!row)
		return;
	place->file = dwarf_linesrc(row, NULL, NULL);
	if (!dwarf_lineno(row, &line) && line > 0)
		place->line = line;
}

/* Returns the compiler's working directory, to which file names are relative. */
static const char *directory(const struct dwarf *d, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;

	return dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf__text(d, dwarf_formstring(&attr))
						       : NULL;
}

static void name_function(struct dwarf_source_place *place, const struct dwarf *d, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	place->name = dwarf_die__name(d, die);
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return;
	place->linkage = dwarf__text(d, dwarf_formstring(&attr));
}

/* Finds the child block or inlined function that contains the address. Returns 1, or 0 if there is none. */
static int find_child(Dwarf_Die *child, struct dwarf *d, Dwarf_Die *parent, u64 address)
{
	int more = dwarf_child(parent, child);

	while (!more) {
		if (!dwarf__spend(d))
			return -EBADMSG;
		if ((dwarf_tag(child) == DW_TAG_inlined_subroutine || dwarf_die__is_block(child)) &&
		    dwarf_haspc(child, address) > 0)
			return 1;
		more = dwarf_siblingof(child, child);
	}
	return 0;
}

/* Finds a function and the functions inlined in it at an address, outermost first. */
static int find_inlined(Dwarf_Die *chain, size_t *n, struct dwarf *d, u64 address)
{
	Dwarf_Die at = chain[0], child;
	u32 depth;
	int found;

	*n = 1;
	for (depth = 0; depth < 4 * DWARF_MAX_DEPTH && *n < DWARF_SOURCE_PLACES; depth++) {
		found = find_child(&child, d, &at, address);
		if (found <= 0)
			return found;
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			chain[(*n)++] = child;
		at = child;
	}
	return 0;
}

int dwarf_source__at(struct dwarf_source *s, u64 address, struct dwarf_source_place *place,
		     size_t *n)
{
	Dwarf_Die chain[DWARF_SOURCE_PLACES], unit_die;
	const struct span *function;
	struct unit *unit;
	size_t i;
	int err;

	*n = 0;
	s->dwarf->budget = DWARF_MAX_STEPS + 16 * s->dwarf->entries;
	err = find_unit(s, address, &unit, &unit_die);
	if (err || !unit)
		return err;
	place[0] = (struct dwarf_source_place){ .dir = directory(s->dwarf, &unit_die) };
	find_row(&place[0], &unit_die, address);
	function = find_span(&unit->functions, address);
	if (!function) {
		*n = place[0].file || place[0].line;
		return 0;
	}
	if (!dwarf_offdie(s->dwarf->dwarf, function->of, &chain[0]))
		return -EBADMSG;
	err = find_inlined(chain, n, s->dwarf, address);
	for (i = 0; i < *n; i++) {
		Dwarf_Die *die = &chain[*n - 1 - i];

		name_function(&place[i], s->dwarf, die);
		if (i + 1 == *n)
			break;
		place[i + 1] = (struct dwarf_source_place){ .dir = place[0].dir };
		find_call(&place[i + 1], &unit_die, die);
	}
	return err;
}

/* --- setup and teardown ----------------------------------------------------------------------- */

int dwarf_source__new(struct dwarf_source **out, struct dwarf *d)
{
	struct dwarf_source *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->dwarf = d;
	d->budget = DWARF_MAX_STEPS + 16 * d->entries;
	err = find_units(s);
	if (err)
		dwarf_source__free(s);
	else
		*out = s;
	return err;
}

void dwarf_source__free(struct dwarf_source *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->nunits; i++)
		free(s->unit[i].functions.span);
	free(s->unit);
	free(s->units.span);
	free(s);
}

#else

int dwarf_source__new(struct dwarf_source **s, struct dwarf *d)
{
	(void)s, (void)d;
	return -EOPNOTSUPP;
}

void dwarf_source__free(struct dwarf_source *s)
{
	(void)s;
}

int dwarf_source__at(struct dwarf_source *s, u64 address, struct dwarf_source_place *place,
		     size_t *n)
{
	(void)s, (void)address, (void)place;
	*n = 0;
	return -EOPNOTSUPP;
}

#endif /* HAVE_LIBDW */
