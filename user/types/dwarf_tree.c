// SPDX-License-Identifier: BSD-2-Clause
/* The tree of entries: the code of an entry, and the entries that contain an address. */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "types/dwarf_libdw.h"

bool dwarf_die__is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

bool dwarf_die__is_block(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	default:
		return false;
	}
}

bool dwarf_die__may_hold_functions(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return dwarf_die__is_block(die);
	}
}

const char *dwarf_die__file(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Die unit;
	Dwarf_Half version;
	Dwarf_Word index;
	size_t n;

	if (file)
		return file;
	/* Since DWARF 5, file 0 is the unit's own file; libdw before 0.190 treats it as none. */
	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attr), &index) || index ||
	    !dwarf_cu_die(attr.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) || version < 5 ||
	    dwarf_getsrcfiles(&unit, &files, &n) || !n)
		return NULL;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

int dwarf_ranges__of(struct dwarf_ranges *out, struct dwarf *d, Dwarf_Die *die)
{
	Dwarf_Addr base = 0, start, end;
	struct dwarf_ranges r = {};
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0 && dwarf__spend(d)) {
		/*
		 * An inlined copy may start with an instruction attributed to the enclosing function. The copy's
		 * range is then empty, but control passes through it.
		 */
		if (start == end)
			end++;
		if (start >= end)
			continue;
		if (ARRAY_ROOM(r.range, r.n)) {
			free(r.range);
			return -ENOMEM;
		}
		r.range[r.n++] = (struct dwarf_range){ start, end };
	}
	if (!at && r.n) {
		*out = r;
		return 0;
	}
	free(r.range);
	return at ? -EBADMSG : -ENOENT;
}

size_t dwarf_rows__first(Dwarf_Lines *rows, size_t n, u64 address)
{
	size_t low = 0, high = n, middle;
	Dwarf_Addr at;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (dwarf_lineaddr(dwarf_onesrcline(rows, middle), &at) || at < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns where control enters inlined Go code: the first statement in its ranges. An instruction before it, such as
 * one that reloads a register, belongs to only one of the paths that lead there.
 */
static u64 entry_of_go(struct dwarf *d, Dwarf_Die *unit, const struct dwarf_ranges *r)
{
	bool is_statement, is_end;
	Dwarf_Addr address;
	Dwarf_Lines *rows;
	size_t n, i, k;

	if (dwarf_getsrclines(unit, &rows, &n))
		return r->range[0].start;
	for (i = 0; i < r->n; i++) {
		for (k = dwarf_rows__first(rows, n, r->range[i].start); k < n && dwarf__spend(d); k++) {
			Dwarf_Line *row = dwarf_onesrcline(rows, k);

			if (dwarf_lineaddr(row, &address) || address >= r->range[i].end)
				break;
			if (!dwarf_linebeginstatement(row, &is_statement) && is_statement &&
			    !dwarf_lineendsequence(row, &is_end) && !is_end)
				return address;
		}
	}
	return r->range[0].start;
}

int dwarf_die__entry(struct dwarf *d, Dwarf_Die *die, u64 *address)
{
	struct dwarf_ranges r;
	Dwarf_Addr entry;
	Dwarf_Die unit;
	size_t i;
	int err;

	err = dwarf_ranges__of(&r, d, die);
	if (err)
		return err;
	if (dwarf_tag(die) == DW_TAG_inlined_subroutine && dwarf_diecu(die, &unit, NULL, NULL) &&
	    dwarf_srclang(&unit) == DW_LANG_Go) {
		*address = entry_of_go(d, &unit, &r);
		free(r.range);
		return 0;
	}
	/* An entry address outside the ranges is either an offset (DWARF 5) or damaged. */
	if (dwarf_entrypc(die, &entry))
		entry = r.range[0].start;
	for (i = 0; i < r.n; i++)
		if (entry >= r.range[i].start && entry < r.range[i].end)
			break;
	*address = i < r.n ? entry : r.range[0].start;
	free(r.range);
	return 0;
}

/*
 * True for unoptimized code. It first stores its arguments in its frame, but its debug information claims that they
 * are in the frame throughout the function, prologue included. Optimized code has location lists.
 */
static bool stores_arguments(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	size_t steps = 0;
	Dwarf_Die child;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    !dwarf_attr(&child, DW_AT_location, &attr) ||
		    (dwarf_whatform(&attr) != DW_FORM_exprloc &&
		     dwarf_whatform(&attr) != DW_FORM_block1))
			continue;
		if (!dwarf_getlocation(&attr, &ops, &n) && n && ops[0].atom == DW_OP_fbreg &&
		    (Dwarf_Sword)ops[0].number < 0)
			return true;
	} while (++steps < 256 && !dwarf_siblingof(&child, &child));
	return false;
}

u64 dwarf_die__body(Dwarf_Die *die, u64 entry)
{
	Dwarf_Addr *breakpoints = NULL, low, high;
	u64 body = entry;
	int n;

	if (dwarf_tag(die) != DW_TAG_subprogram || !stores_arguments(die))
		return entry;
	n = dwarf_entry_breakpoints(die, &breakpoints);
	if (n > 0 && !dwarf_lowpc(die, &low) && !dwarf_highpc(die, &high) && low == entry &&
	    breakpoints[0] > low && breakpoints[0] < high)
		body = breakpoints[0];
	if (n > 0)
		free(breakpoints);
	return body;
}

/* --- scopes around an address ----------------------------------------------------------------- */

/* Searches all units if necessary: some compilers do not write .debug_aranges. */
bool dwarf__unit_at(struct dwarf *d, u64 address, Dwarf_Die *unit)
{
	Dwarf_Off at = 0, next;
	size_t header;

	if (dwarf_addrdie(d->dwarf, address, unit) && dwarf_haspc(unit, address) > 0)
		return true;
	while (!dwarf_nextcu(d->dwarf, at, &next, &header, NULL, NULL, NULL) && next > at) {
		if (dwarf_offdie(d->dwarf, at + header, unit) && dwarf_haspc(unit, address) > 0)
			return true;
		at = next;
	}
	return false;
}

/* True if the entry's code contains pc. With `empty`, empty ranges of inlined copies count: see dwarf_ranges__of(). */
static bool holds(struct dwarf *d, Dwarf_Die *die, u64 pc, bool empty)
{
	struct dwarf_ranges r;
	bool found = false;
	size_t i;

	if (!empty)
		return dwarf_haspc(die, pc) > 0;
	if (dwarf_tag(die) == DW_TAG_subprogram || dwarf_ranges__of(&r, d, die))
		return false;
	for (i = 0; i < r.n && !found; i++)
		found = pc >= r.range[i].start && pc < r.range[i].end;
	free(r.range);
	return found;
}

static bool is_code(Dwarf_Die *die, bool functions)
{
	return dwarf_die__is_block(die) || (functions && dwarf_die__is_function(die));
}

/* Finds the child of parent that contains pc. Returns 1, or 0 if there is none. */
static int find_child(Dwarf_Die *found, struct dwarf *d, Dwarf_Die *parent, u64 pc, bool functions,
		      bool empty)
{
	int more;

	more = dwarf_child(parent, found);
	while (!more) {
		if (!dwarf__spend(d))
			return -EBADMSG;
		if (is_code(found, functions) && holds(d, found, pc, empty))
			return 1;
		more = dwarf_siblingof(found, found);
	}
	return 0;
}

int dwarf_path__descend(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *from, u64 pc,
			bool functions)
{
	Dwarf_Die parent = *from, child;
	int found;

	while (path->n < DWARF_MAX_DEPTH) {
		found = find_child(&child, d, &parent, pc, functions, false);
		if (!found && path->n)
			found = find_child(&child, d, &parent, pc, functions, true);
		if (found <= 0)
			return found;
		path->die[path->n++] = parent = child;
	}
	return 0;
}

/* Searches nested entries: the out-of-line function may be in a namespace or a type. */
static int find_function(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *parent, u64 pc,
			 u32 depth)
{
	Dwarf_Die child;
	int more, err;

	if (depth > DWARF_MAX_DEPTH)
		return 0;
	err = dwarf_path__descend(path, d, parent, pc, true);
	if (err || path->n)
		return err;
	more = dwarf_child(parent, &child);
	while (!more && !path->n && !err) {
		if (!dwarf__spend(d))
			return -EBADMSG;
		if (dwarf_die__may_hold_functions(&child))
			err = find_function(path, d, &child, pc, depth + 1);
		more = dwarf_siblingof(&child, &child);
	}
	return err;
}

int dwarf_path__at(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *unit, u64 pc)
{
	path->n = 0;
	return find_function(path, d, unit, pc, 0);
}

/* Entries are stored in preorder, so the target's ancestor is the last child not after it. */
int dwarf_path__to(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *unit, Dwarf_Off target)
{
	Dwarf_Die parent = *unit, child, last;
	u32 depth;
	int more;

	path->n = 0;
	for (depth = 0; depth < DWARF_MAX_DEPTH; depth++) {
		more = dwarf_child(&parent, &child);
		if (more || dwarf_dieoffset(&child) > target)
			return -ENOENT;
		while (!more && dwarf_dieoffset(&child) <= target) {
			if (!dwarf__spend(d))
				return -EBADMSG;
			last = child;
			more = dwarf_siblingof(&child, &child);
		}
		if (is_code(&last, true))
			path->die[path->n++] = last;
		if (dwarf_dieoffset(&last) == target)
			return 0;
		parent = last;
	}
	return -ENOENT;
}

#endif /* HAVE_LIBDW */
