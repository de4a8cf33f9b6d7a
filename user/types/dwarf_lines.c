// SPDX-License-Identifier: BSD-2-Clause
/* Finds the addresses at which control enters each line. */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/dwarf_libdw.h"

/* --- a list of lines, one entry per address until it is finished ------------------------------ */

static int add(struct dwarf_lines *lines, u32 line, u64 address)
{
	struct dwarf_line *l;

	if (ARRAY_ROOM(lines->line, lines->n))
		return -ENOMEM;
	l = &lines->line[lines->n];
	*l = (struct dwarf_line){ .line = line, .naddresses = 1 };
	l->address = malloc(sizeof(*l->address));
	if (!l->address)
		return -ENOMEM;
	l->address[0] = address;
	lines->n++;
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct dwarf_line *a = x, *b = y;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->address[0] != b->address[0])
		return a->address[0] < b->address[0] ? -1 : 1;
	return 0;
}

/* Merges the entries of each line into one with all its addresses. first is the function's line, or 0 if none. */
int dwarf_lines__finish(struct dwarf_lines *lines, u32 first)
{
	struct dwarf_line *to = NULL, *from;
	u64 address;
	size_t n = 0, i;
	int err = 0;

	if (lines->n)
		qsort(lines->line, lines->n, sizeof(*lines->line), compare);
	for (i = 0; i < lines->n; i++) {
		from = &lines->line[i];
		if (!n || to->line != from->line) {
			to = &lines->line[n++];
			*to = *from;
			to->relative = first ? to->line - first : 0;
			continue;
		}
		address = from->address[0];
		free(from->address);
		if (err || to->address[to->naddresses - 1] == address)
			continue;
		err = ARRAY_APPEND(to->address, to->naddresses, address);
	}
	lines->n = n;
	return err;
}

/* Compares paths, either of which may lack leading directories. */
static bool same_file(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	const char *longer = n > m ? a : b, *shorter = n > m ? b : a;
	size_t more = n > m ? n - m : m - n;

	return !strcmp(longer + more, shorter) &&
	       (!more || longer[more - 1] == '/' || *shorter == '/');
}

/* --- one copy of a function ------------------------------------------------------------------- */

/* Code of another function that is inlined here, with that function's first line if it is in our file. */
struct guest {
	struct dwarf_range range;
	u32 line;
};

struct place {
	struct dwarf *d;
	const char *file;
	u32 first;              /* the function's first line */
	u32 limit;              /* lines from this one on belong to callers; 0 if there is no limit */
	int last;               /* line of the last row added; 0 after a row of another line */
	bool is_go;             /* rows belong to the innermost function, so rows in a guest's code are the guest's */
	struct guest *guest;
	size_t nguests;
};

static int add_guest(struct place *p, Dwarf_Die *die)
{
	const char *file = dwarf_die__file(die);
	struct dwarf_ranges r;
	int line = 0, err;
	size_t i;

	if (!p->is_go && (!file || strcmp(file, p->file) || dwarf_decl_line(die, &line) || line <= 0 ||
			  (u32)line == p->first))
		return 0;
	err = dwarf_ranges__of(&r, p->d, die);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < r.n && !err; i++)
		err = ARRAY_APPEND(p->guest, p->nguests, (struct guest){ r.range[i], line });
	free(r.range);
	return err;
}

static int find_guests(struct place *p, Dwarf_Die *parent, u32 depth)
{
	int more, err = 0;
	Dwarf_Die child;

	if (depth > DWARF_MAX_DEPTH)
		return 0;
	more = dwarf_child(parent, &child);
	while (!more && !err) {
		if (!dwarf__spend(p->d))
			return -EBADMSG;
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			err = add_guest(p, &child);
		if (!err && (dwarf_tag(&child) == DW_TAG_inlined_subroutine ||
			     dwarf_die__is_block(&child)))
			err = find_guests(p, &child, depth + 1);
		more = dwarf_siblingof(&child, &child);
	}
	return err;
}

/*
 * True if a line of our file at this address belongs to the function. In a guest's code, the line may be the guest's
 * (lines from its start on, but only up to ours if we start later) or the call's.
 */
static bool is_own(const struct place *p, u32 line, u64 address)
{
	const struct guest *g;

	if (line < p->first || (p->limit && line >= p->limit))
		return false;
	for (g = p->guest; g < p->guest + p->nguests; g++)
		if (address >= g->range.start && address < g->range.end &&
		    (p->is_go || (g->line > p->first && line >= g->line)))
			return false;
	return true;
}

/*
 * The start of inlined code often has rows of the call too. Line numbers distinguish them if the enclosing
 * functions are later in the file.
 */
static int find_limit(struct place *p, Dwarf_Die *unit, Dwarf_Die *die)
{
	struct dwarf_path path;
	const char *file;
	size_t i;
	int line, err;

	if (p->is_go || dwarf_tag(die) != DW_TAG_inlined_subroutine)
		return 0;
	err = dwarf_path__to(&path, p->d, unit, dwarf_dieoffset(die));
	for (i = 0; i + 1 < path.n && !err; i++) {
		if (!dwarf_die__is_function(&path.die[i]))
			continue;
		file = dwarf_die__file(&path.die[i]);
		if (file && !strcmp(file, p->file) && !dwarf_decl_line(&path.die[i], &line) &&
		    line > 0 && (u32)line > p->first && (!p->limit || (u32)line < p->limit))
			p->limit = line;
	}
	return err == -ENOENT ? 0 : err;
}

bool dwarf_direct__has_row(struct dwarf *d, u64 address)
{
	Dwarf_Lines *rows;
	Dwarf_Addr at;
	Dwarf_Die unit;
	size_t n, i;

	if (!dwarf__unit_at(d, address, &unit) || dwarf_getsrclines(&unit, &rows, &n))
		return false;
	i = dwarf_rows__first(rows, n, address);
	return i < n && !dwarf_lineaddr(dwarf_onesrcline(rows, i), &at) && at == address;
}

/*
 * Adds the rows of a range. Adjacent rows of a line are one visit: the compiler emits several for the parts of an
 * expression.
 */
static int add_range(struct dwarf_lines *lines, struct place *p, Dwarf_Lines *rows, size_t n,
		     const struct dwarf_range *range)
{
	const char *file, *known = NULL;
	bool same = false, statement, end;
	size_t i = dwarf_rows__first(rows, n, range->start);
	int line, err = 0;
	Dwarf_Addr address;

	if (!p->is_go)          /* in Go, caller code lies between the ranges of one copy */
		p->last = 0;
	for (; i < n && !err; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);

		if (!dwarf__spend(p->d))
			return -EBADMSG;
		if (dwarf_lineaddr(row, &address) || address >= range->end)
			break;
		if (dwarf_lineno(row, &line) || dwarf_linebeginstatement(row, &statement) ||
		    dwarf_lineendsequence(row, &end))
			continue;
		if (end)
			p->last = 0;
		if (!statement || end)
			continue;
		file = dwarf_linesrc(row, NULL, NULL);
		if (file != known) {            /* libdw returns the same pointer for the same file */
			same = file && same_file(file, p->file);
			known = file;
		}
		if (!same || line <= 0 || !is_own(p, line, address)) {
			p->last = 0;
			continue;
		}
		if (line != p->last)
			err = add(lines, line, address);
		p->last = line;
	}
	return err;
}

/* --- Go --------------------------------------------------------------------------------------- */

static bool has_line(Dwarf_Lines *rows, size_t i, int line)
{
	int own;

	return !dwarf_lineno(dwarf_onesrcline(rows, i), &own) && own == line;
}

/*
 * Returns the row after the stack check, which the Go compiler marks as the end of the prologue, or `end` if
 * there is no check.
 */
static size_t find_body(Dwarf_Lines *rows, size_t i, size_t end)
{
	bool is_body;

	for (; i < end; i++)
		if (!dwarf_lineprologueend(dwarf_onesrcline(rows, i), &is_body) && is_body)
			break;
	return i;
}

/*
 * A Go function that checks its stack restarts after growing it, by code at its end that belongs to its first line.
 * Reduces the range to the part that each call passes through once.
 */
static void leave_out_check(struct dwarf_range *range, Dwarf_Lines *rows, size_t n)
{
	size_t start = dwarf_rows__first(rows, n, range->start), end = dwarf_rows__first(rows, n, range->end);
	size_t body = find_body(rows, start, end);
	Dwarf_Addr address;
	int line;

	if (body == end || dwarf_lineno(dwarf_onesrcline(rows, start), &line))
		return;
	while (end > body + 1 && has_line(rows, end - 1, line))
		end--;
	if (end < n && !dwarf_lineaddr(dwarf_onesrcline(rows, end), &address) && address < range->end)
		range->end = address;
	if (!dwarf_lineaddr(dwarf_onesrcline(rows, body), &address))
		range->start = address;
}

/* Returns the first line of the parameters, or 0 if unknown. */
static u32 line_of_parameters(struct dwarf *d, Dwarf_Die *function)
{
	Dwarf_Die child;
	u32 first = 0;
	int line;

	if (dwarf_child(function, &child))
		return 0;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter && !dwarf_decl_line(&child, &line) && line > 0 &&
		    (!first || (u32)line < first))
			first = line;
	} while (dwarf__spend(d) && !dwarf_siblingof(&child, &child));
	return first;
}

/*
 * Takes the file of the function's own first row, and the lowest line of its own rows, or with first_only the line of
 * the first one.
 */
static int begin_of_rows(struct dwarf_begin *b, const struct place *p, Dwarf_Lines *rows, size_t n,
			 const struct dwarf_range *range, bool first_only)
{
	size_t i = dwarf_rows__first(rows, n, range->start), end = dwarf_rows__first(rows, n, range->end);
	const char *file;
	int line;

	for (; i < end; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		Dwarf_Addr address;

		if (!dwarf__spend(p->d))
			return -EBADMSG;
		if (dwarf_lineaddr(row, &address) || dwarf_lineno(row, &line) || line <= 0 || !is_own(p, line, address))
			continue;
		file = dwarf_linesrc(row, NULL, NULL);
		b->file = b->file ?: file;
		if (!file || !b->file || strcmp(file, b->file))
			continue;
		if (!b->line || (u32)line < b->line)
			b->line = line;
		if (first_only)
			break;
	}
	return 0;
}

/*
 * In older Go (1.19), entries lack the line, and entries of functions that may be inlined lack the file. The rows of
 * the stack check have the function's line. Without a check, the line is that of the parameters, if known, or else
 * the lowest line with code.
 */
static int begin_of_go(struct dwarf_begin *b, struct dwarf *d, Dwarf_Die *die, Dwarf_Die *unit)
{
	struct dwarf_begin found = { .file = b->file };
	struct place p = { .d = d, .is_go = true };
	struct dwarf_ranges r;
	Dwarf_Lines *rows;
	bool is_first;
	size_t n, i;
	int err;

	if (dwarf_getsrclines(unit, &rows, &n))
		return 0;
	err = dwarf_ranges__of(&r, d, die);
	if (err)
		return err == -ENOMEM ? err : 0;
	found.line = line_of_parameters(d, die);
	err = find_guests(&p, die, 0);
	for (i = 0; i < r.n && !err; i++) {
		size_t start = dwarf_rows__first(rows, n, r.range[i].start);
		size_t end = dwarf_rows__first(rows, n, r.range[i].end);

		is_first = found.line || find_body(rows, start, end) < end;
		err = begin_of_rows(&found, &p, rows, n, &r.range[i], is_first);
	}
	b->file = found.file;
	b->line = b->line ?: found.line;
	free(r.range);
	free(p.guest);
	return err;
}

int dwarf_begin__of(struct dwarf_begin *b, struct dwarf *d, Dwarf_Die *die)
{
	Dwarf_Die unit;
	int line;

	*b = (struct dwarf_begin){ .file = dwarf_die__file(die) };
	if (!dwarf_decl_line(die, &line) && line > 0)
		b->line = line;
	if ((b->file && b->line) || !dwarf_diecu(die, &unit, NULL, NULL) || dwarf_srclang(&unit) != DW_LANG_Go)
		return 0;
	return begin_of_go(b, d, die, &unit);
}

/* --- a function ------------------------------------------------------------------------------- */

/* Sets the file name from the first copy: a function is in a single file. */
static int name_file(struct dwarf_lines *lines, const struct place *p, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *text;

	lines->file = strdup(p->file);
	if (!lines->file)
		return -ENOMEM;
	if (!dwarf_attr(unit, DW_AT_comp_dir, &attr))
		return 0;
	text = dwarf__text(p->d, dwarf_formstring(&attr));
	lines->directory = text ? strdup(text) : NULL;
	return text && !lines->directory ? -ENOMEM : 0;
}

int dwarf_lines__add_place(struct dwarf_lines *lines, struct dwarf *d, Dwarf_Die *die, const struct dwarf_begin *begin)
{
	struct place p = { .d = d, .file = begin->file, .first = begin->line };
	struct dwarf_ranges r;
	Dwarf_Lines *rows;
	Dwarf_Die unit;
	size_t n, i;
	int err;

	if (!p.file || !p.first || !dwarf_diecu(die, &unit, NULL, NULL))
		return -ENOENT;
	if (dwarf_getsrclines(&unit, &rows, &n))
		return -ENOENT;
	p.is_go = dwarf_srclang(&unit) == DW_LANG_Go;
	err = lines->file ? 0 : name_file(lines, &p, &unit);
	if (err)
		return err;
	err = dwarf_ranges__of(&r, d, die);
	if (err)
		return err;
	err = find_guests(&p, die, 0) ?: find_limit(&p, &unit, die);
	for (i = 0; i < r.n && !err; i++) {
		if (p.is_go)
			leave_out_check(&r.range[i], rows, n);
		err = add_range(lines, &p, rows, n, &r.range[i]);
	}
	free(r.range);
	free(p.guest);
	return err;
}

int dwarf_direct__lines_of(struct dwarf_lines *out, struct dwarf *d, const struct dwarf_function *f)
{
	const struct dwarf_begin begin = { f->file, f->line };
	struct dwarf_lines lines = {};
	Dwarf_Die die;
	int err = 0, end;
	size_t i;

	d->budget = DWARF_MAX_STEPS + 16 * d->entries;
	for (i = 0; i < f->nplaces && !err; i++) {
		if (!dwarf_offdie(d->dwarf, f->place[i].entry, &die))
			err = -EBADMSG;
		else
			err = dwarf_lines__add_place(&lines, d, &die, &begin);
		if (err == -ENOENT)
			err = 0;        /* this copy has no lines */
	}
	end = dwarf_lines__finish(&lines, f->line);
	err = err ?: end;
	if (!err && !lines.n)
		err = -ENOENT;
	if (err)
		dwarf_lines__free(&lines);
	else
		*out = lines;
	return err;
}

/* --- a file ----------------------------------------------------------------------------------- */

static int add_unit(struct dwarf_lines *lines, struct dwarf *d, Dwarf_Die *unit, const char *file)
{
	const struct dwarf_range all = { 0, UINT64_MAX };
	struct place p = { .d = d, .file = file };
	Dwarf_Files *files;
	Dwarf_Lines *rows;
	const char *name;
	size_t n, i;

	if (dwarf_getsrcfiles(unit, &files, &n))
		return 0;
	for (i = 0; i < n; i++) {
		name = dwarf_filesrc(files, i, NULL, NULL);
		if (name && same_file(name, file))
			break;
	}
	if (i == n || dwarf_getsrclines(unit, &rows, &n))
		return 0;
	if (!lines->file) {
		lines->file = strdup(name);
		if (!lines->file)
			return -ENOMEM;
	}
	return add_range(lines, &p, rows, n, &all);
}

int dwarf_direct__lines_of_file(struct dwarf_lines *out, struct dwarf *d, const char *file)
{
	struct dwarf_lines lines = {};
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t header;
	int err = 0, end;

	d->budget = DWARF_MAX_STEPS + 16 * d->entries;
	while (!err && !dwarf_nextcu(d->dwarf, at, &next, &header, NULL, NULL, NULL) && next > at) {
		if (dwarf_offdie(d->dwarf, at + header, &unit))
			err = add_unit(&lines, d, &unit, file);
		at = next;
	}
	end = dwarf_lines__finish(&lines, 0);
	err = err ?: end;
	if (!err && !lines.n)
		err = -ENOENT;
	if (err)
		dwarf_lines__free(&lines);
	else
		*out = lines;
	return err;
}

#endif /* HAVE_LIBDW */
