// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of inlined functions. For unrolled and peeled loops and duplicated code, the debug information has a single
 * entry, with the code of all copies and the start of only one.
 *
 * gcc marks the copies: for each, the line table has a statement with the line and column of the function's name
 * (DEBUG_INLINE_ENTRY), a location that no other code has. clang does not mark them. Its copies begin with the
 * function's first statement, as does each iteration of a loop that begins with that statement, so they cannot be
 * distinguished.
 */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/dwarf_libdw.h"

/* A source location. */
struct spot {
	const char *file;
	int line, column;
};

struct scan {
	struct dwarf *d;
	Dwarf_Lines *rows;
	size_t nrows;
	struct spot spot;               /* the location to find */
	struct dwarf_ranges own;        /* code of the inlined place */
	struct dwarf_ranges inner;      /* within own: other inlined copies of the same function */
	struct dwarf_copies found;
};

/* Reads a row. Returns false if it does not begin a statement. */
static bool read_statement(Dwarf_Line *row, struct spot *spot, Dwarf_Addr *address)
{
	bool statement, end;

	if (dwarf_lineaddr(row, address) || dwarf_lineno(row, &spot->line) ||
	    dwarf_linecol(row, &spot->column) || dwarf_linebeginstatement(row, &statement) ||
	    dwarf_lineendsequence(row, &end) || end || !statement)
		return false;
	spot->file = dwarf_linesrc(row, NULL, NULL);
	return spot->file != NULL;
}

static bool is_same(const struct spot *a, const struct spot *b)
{
	return a->line == b->line && a->column == b->column &&
	       (a->file == b->file || !strcmp(a->file, b->file));
}

static bool is_inside(const struct dwarf_ranges *r, u64 address)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (address >= r->range[i].start && address < r->range[i].end)
			return true;
	return false;
}

static int add_copy(struct scan *s, u64 address)
{
	return ARRAY_APPEND(s->found.address, s->found.n, address);
}

/* Two marks at one address mean two calls per execution. */
static int find_marks(struct scan *s, const struct dwarf_range *range)
{
	size_t i = dwarf_rows__first(s->rows, s->nrows, range->start);
	u64 last = UINT64_MAX;
	Dwarf_Addr address;
	struct spot spot;
	int err = 0;

	for (; i < s->nrows && !err; i++) {
		Dwarf_Line *row = dwarf_onesrcline(s->rows, i);

		if (!dwarf__spend(s->d))
			return -EBADMSG;
		if (dwarf_lineaddr(row, &address) || address >= range->end)
			break;
		if (!read_statement(row, &spot, &address) || !is_same(&spot, &s->spot) ||
		    is_inside(&s->inner, address))
			continue;
		s->found.untold |= address == last;
		err = address == last ? 0 : add_copy(s, address);
		last = address;
	}
	return err;
}

/* Counts how often control reaches the spot from another line, as far as the rows show. */
static int count_visits(struct scan *s, const struct dwarf_range *range, size_t *visits)
{
	size_t i = dwarf_rows__first(s->rows, s->nrows, range->start);
	struct spot spot, last = {};
	Dwarf_Addr address;

	for (; i < s->nrows; i++) {
		Dwarf_Line *row = dwarf_onesrcline(s->rows, i);

		if (!dwarf__spend(s->d))
			return -EBADMSG;
		if (dwarf_lineaddr(row, &address) || address >= range->end)
			break;
		if (!read_statement(row, &spot, &address) || is_inside(&s->inner, address))
			continue;
		*visits += is_same(&spot, &s->spot) && last.line != spot.line;
		last = spot;
	}
	return 0;
}

/* True if there is such a statement at exactly this address. */
static bool has_mark(const struct scan *s, u64 at, const struct spot *mark)
{
	size_t i = dwarf_rows__first(s->rows, s->nrows, at);
	Dwarf_Addr address;
	struct spot spot;

	for (; i < s->nrows && dwarf__spend(s->d); i++) {
		Dwarf_Line *row = dwarf_onesrcline(s->rows, i);

		if (dwarf_lineaddr(row, &address) || address != at)
			break;
		if (read_statement(row, &spot, &address) && is_same(&spot, mark))
			return true;
	}
	return false;
}

/* Finds the first address, starting at `from`, that has a statement, and takes its last statement. */
static bool find_first(const struct scan *s, u64 from, struct spot *found)
{
	size_t i = dwarf_rows__first(s->rows, s->nrows, from);
	Dwarf_Addr address, at = 0;
	struct spot spot;
	bool any = false;

	for (; i < s->nrows && dwarf__spend(s->d); i++) {
		Dwarf_Line *row = dwarf_onesrcline(s->rows, i);

		if (dwarf_lineaddr(row, &address) || (any && address != at) ||
		    !is_inside(&s->own, address))
			break;
		if (!read_statement(row, &spot, &address))
			continue;
		*found = spot;
		at = address;
		any = true;
	}
	return any;
}

static Dwarf_Off origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) || !dwarf_formref_die(&attr, &origin))
		return 0;
	return dwarf_dieoffset(&origin);
}

static int add_ranges(struct dwarf_ranges *to, const struct dwarf_ranges *from)
{
	size_t i;

	int err = 0;

	for (i = 0; i < from->n && !err; i++)
		err = ARRAY_APPEND(to->range, to->n, from->range[i]);
	return err;
}

static int find_inner(struct scan *s, Dwarf_Die *parent, Dwarf_Off origin, u32 depth)
{
	struct dwarf_ranges r;
	Dwarf_Die child;
	int more, err = 0;

	if (depth > DWARF_MAX_DEPTH)
		return 0;
	more = dwarf_child(parent, &child);
	while (!more && !err) {
		if (!dwarf__spend(s->d))
			return -EBADMSG;
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine && origin_of(&child) == origin &&
		    !dwarf_ranges__of(&r, s->d, &child)) {
			err = add_ranges(&s->inner, &r);
			free(r.range);
		}
		if (!err && (dwarf_die__is_block(&child) ||
			     dwarf_tag(&child) == DW_TAG_inlined_subroutine))
			err = find_inner(s, &child, origin, depth + 1);
		more = dwarf_siblingof(&child, &child);
	}
	return err;
}

static bool is_of_gcc(const struct dwarf *d, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *producer = NULL;

	if (dwarf_attr(unit, DW_AT_producer, &attr))
		producer = dwarf__text(d, dwarf_formstring(&attr));
	return producer && !strncmp(producer, "GNU ", 4);
}

static int find_all(struct scan *s, Dwarf_Die *die, Dwarf_Die *unit, u64 entry)
{
	struct spot name = { .file = dwarf_die__file(die) };
	size_t visits = 0, i;
	int err = 0;

	if (name.file && !dwarf_decl_line(die, &name.line) &&
	    !dwarf_decl_column(die, &name.column) && name.column > 0 &&
	    has_mark(s, entry, &name)) {
		s->spot = name;
		for (i = 0; i < s->own.n && !err; i++)
			err = find_marks(s, &s->own.range[i]);
		return err;
	}
	if (is_of_gcc(s->d, unit) || !find_first(s, entry, &s->spot))
		return 0;
	for (i = 0; i < s->own.n && !err; i++)
		err = count_visits(s, &s->own.range[i], &visits);
	s->found.untold = visits > 1;
	return err;
}

int dwarf_copies__find(struct dwarf_copies *out, struct dwarf *d, Dwarf_Die *die, u64 entry)
{
	struct scan s = { .d = d };
	Dwarf_Die unit;
	int err;

	*out = (struct dwarf_copies){};
	if (dwarf_tag(die) != DW_TAG_inlined_subroutine || !dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_getsrclines(&unit, &s.rows, &s.nrows))
		return 0;
	err = dwarf_ranges__of(&s.own, d, die);
	if (!err)
		err = find_inner(&s, die, origin_of(die), 0);
	if (!err)
		err = find_all(&s, die, &unit, entry);
	free(s.own.range);
	free(s.inner.range);
	if (err)
		free(s.found.address);
	else
		*out = s.found;
	return err;
}

#endif /* HAVE_LIBDW */
