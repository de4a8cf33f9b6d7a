// SPDX-License-Identifier: BSD-2-Clause
/* Variables visible at an address: the locations of their values there, and the other places where they are live. */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/dwarf_libdw.h"

/* Limits the work, which is quadratic in the number of variables. */
#define MAX_VARIABLES 4096

/* --- evaluating location expressions ---------------------------------------------------------- */

struct location {
	enum dwarf_where where;
	u32 reg;
	s64 offset;
	bool in_frame;          /* in the function's own frame, below the part that the caller pushed */
};

static bool is_register(const Dwarf_Op *op, u32 *reg)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*reg = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx && op->number <= UINT32_MAX)
		*reg = op->number;
	else
		return false;
	return true;
}

static bool is_register_offset(const Dwarf_Op *op, u32 *reg, s64 *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset = op->number;
	} else if (op->atom == DW_OP_bregx && op->number <= UINT32_MAX) {
		*reg = op->number;
		*offset = op->number2;
	} else {
		return false;
	}
	return true;
}

static bool is_constant(const Dwarf_Op *op, s64 *value)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		*value = op->atom - DW_OP_lit0;
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		*value = op->number;
	else
		return false;
	return true;
}

/* True if the value exists only at the function's entry, or never. */
static bool is_unavailable(const Dwarf_Op *op, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		switch (op[i].atom) {
		case DW_OP_entry_value:
		case DW_OP_GNU_entry_value:
		case DW_OP_implicit_pointer:
		case DW_OP_GNU_implicit_pointer:
		case DW_OP_GNU_parameter_ref:
		case DW_OP_GNU_variable_value:
			return true;
		}
	}
	return false;
}

/* Reads the canonical frame address (CFA) at pc as register and offset. */
static bool frame_address(struct dwarf *d, u64 pc, u32 *reg, s64 *offset)
{
	Dwarf_Frame *frame;
	bool found = false;
	Dwarf_Op *ops;
	size_t n, i;

	for (i = 0; i < ARRAY_SIZE(d->cfi) && !found; i++) {
		if (!d->cfi[i] || dwarf_cfi_addrframe(d->cfi[i], pc + d->cfi_bias[i], &frame))
			continue;
		found = !dwarf_frame_cfa(frame, &ops, &n) && n == 1 &&
			is_register_offset(ops, reg, offset);
		free(frame);
	}
	return found;
}

/*
 * Reads a location. Go writes DWARF 4 expressions in a DWARF 3 form, which libdw does not accept as a location. In
 * expressions of fewer than 128 bytes, both forms begin with the same byte, the length.
 */
static bool location_of(Dwarf_Die *die, int name, Dwarf_Attribute *attr)
{
	Dwarf_Block block;

	if (!dwarf_attr_integrate(die, name, attr))
		return false;
	if (attr->form == DW_FORM_block1 && !dwarf_formblock(attr, &block) && block.length < 0x80)
		attr->form = DW_FORM_exprloc;
	return true;
}

/* Reads the base of DW_OP_fbreg in the function that contains the code. */
static bool frame_base(struct dwarf *d, Dwarf_Die *holder, u64 pc, u32 *reg, s64 *offset,
		       bool *is_cfa)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	*is_cfa = false;
	*offset = 0;
	if (!location_of(holder, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 || n != 1)
		return false;
	*is_cfa = ops->atom == DW_OP_call_frame_cfa;
	if (*is_cfa)
		return frame_address(d, pc, reg, offset);
	return is_register(ops, reg) || is_register_offset(ops, reg, offset);
}

/* Reads the operand of an operation in attr's expression: an address, or a block. */
static bool read_address(Dwarf_Attribute *attr, const Dwarf_Op *op, s64 *address)
{
	Dwarf_Attribute result;
	Dwarf_Addr value;

	*address = op->number;
	if (op->atom == DW_OP_addr)
		return true;
	if ((op->atom != DW_OP_addrx && op->atom != DW_OP_GNU_addr_index) ||
	    dwarf_getlocation_attr(attr, op, &result) || dwarf_formaddr(&result, &value))
		return false;
	*address = value;
	return true;
}

static bool read_bytes(Dwarf_Attribute *attr, const Dwarf_Op *op, s64 *value)
{
	Dwarf_Block block;

	if (op->atom != DW_OP_implicit_value ||
	    dwarf_getlocation_implicit_value(attr, op, &block) || !block.length ||
	    block.length > sizeof(*value))
		return false;
	*value = 0;
	memcpy(value, block.data, block.length);
	return true;
}

struct view {
	struct dwarf *d;
	Dwarf_Die *holder;      /* the out-of-line function */
	Dwarf_Die *function;    /* holder, or the inlined function */
	struct dwarf_ranges ranges;     /* of the function */
	struct dwarf_lines lines;       /* its lines in this copy */
	u64 pc, entry, body;
	bool is_c, is_go;
};

static struct location locate(const struct view *v, Dwarf_Attribute *attr, const Dwarf_Op *op,
			      size_t n, u64 pc)
{
	struct location l = { .where = DWARF_COMPLEX };
	bool value = n == 2 && op[1].atom == DW_OP_stack_value, is_cfa;
	s64 base;

	if (!n || is_unavailable(op, n))
		return (struct location){ .where = DWARF_NOWHERE };
	if (n == 1 && is_register(op, &l.reg)) {
		l.where = DWARF_REGISTER;
	} else if ((n == 1 && read_bytes(attr, op, &l.offset)) ||
		   (value && is_constant(op, &l.offset))) {
		l.where = DWARF_CONSTANT;
	} else if (n == 1 && read_address(attr, op, &l.offset)) {
		l.where = DWARF_STATIC;
	} else if ((n == 1 || value) && is_register_offset(op, &l.reg, &l.offset)) {
		l.where = value ? DWARF_VALUE : DWARF_MEMORY;
		l.in_frame = !value;
	} else if (n == 1 && op->atom == DW_OP_call_frame_cfa) {
		if (frame_address(v->d, pc, &l.reg, &l.offset))
			l.where = DWARF_MEMORY;
	} else if (op->atom == DW_OP_fbreg) {
		s64 offset = op->number;

		l.in_frame = true;
		if ((n == 1 || value) && frame_base(v->d, v->holder, pc, &l.reg, &base, &is_cfa)) {
			l.where = value ? DWARF_VALUE : DWARF_MEMORY;
			l.offset = (s64)((u64)base + (u64)offset);
			l.in_frame = !(is_cfa && offset >= 0);
		}
	}
	return l;
}

/* --- where a variable is live ----------------------------------------------------------------- */

static int add_range(struct dwarf_variable *out, u64 start, u64 end)
{
	struct dwarf_range *last = out->nlive ? &out->live[out->nlive - 1] : NULL;

	if (start >= end)
		return 0;
	if (last && last->end == start) {
		last->end = end;
		return 0;
	}
	return ARRAY_APPEND(out->live, out->nlive, (struct dwarf_range){ start, end });
}

/* Adds the part of start..end that is inside the function. */
static int add_clipped(const struct view *v, struct dwarf_variable *out, u64 start, u64 end)
{
	const struct dwarf_range *r;
	int err = 0;

	for (r = v->ranges.range; r < v->ranges.range + v->ranges.n && !err; r++)
		err = add_range(out, start > r->start ? start : r->start,
				end < r->end ? end : r->end);
	return err;
}

/*
 * Adds a location for the whole function. A location in the function's own frame is valid after the
 * prologue (see dwarf_die__body()), which is at the start of the function's first range.
 */
static int add_everywhere(const struct view *v, struct dwarf_variable *out,
			  const struct location *l)
{
	const struct dwarf_range *r;
	int err = 0;

	for (r = v->ranges.range; r < v->ranges.range + v->ranges.n && !err; r++) {
		bool first = v->entry >= r->start && v->entry < r->end;

		err = add_range(out, l->in_frame && first ? v->body : r->start, r->end);
	}
	return err;
}

static bool is_live(const struct dwarf_variable *v, u64 address)
{
	size_t i;

	for (i = 0; i < v->nlive; i++)
		if (address >= v->live[i].start && address < v->live[i].end)
			return true;
	return false;
}

static int compare_ranges(const void *x, const void *y)
{
	const struct dwarf_range *a = x, *b = y;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void merge_ranges(struct dwarf_variable *v)
{
	size_t i, n = 0;

	if (v->nlive)
		qsort(v->live, v->nlive, sizeof(*v->live), compare_ranges);
	for (i = 0; i < v->nlive; i++) {
		if (n && v->live[i].start <= v->live[n - 1].end) {
			if (v->live[i].end > v->live[n - 1].end)
				v->live[n - 1].end = v->live[i].end;
		} else {
			v->live[n++] = v->live[i];
		}
	}
	v->nlive = n;
}

static int find_live_lines(const struct view *view, struct dwarf_variable *v)
{
	const struct dwarf_line *l;
	size_t i;

	for (l = view->lines.line; l < view->lines.line + view->lines.n; l++) {
		for (i = 0; i < l->naddresses && is_live(v, l->address[i]); i++)
			;
		if (i < l->naddresses)
			continue;
		if (ARRAY_ROOM(v->live_line, v->nlive_lines))
			return -ENOMEM;
		v->live_line[v->nlive_lines++] = l->relative;
	}
	return 0;
}

static void take(struct dwarf_variable *v, const struct location *l)
{
	v->where = l->where;
	v->reg = l->reg;
	v->offset = l->offset;
}

static int read_locations(const struct view *view, struct dwarf_variable *v, Dwarf_Attribute *attr)
{
	Dwarf_Addr base, start, end;
	struct location l;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	int err = 0;
	size_t n;

	while (!err && (at = dwarf_getlocations(attr, at, &base, &start, &end, &ops, &n)) > 0) {
		bool everywhere = !start && end == (Dwarf_Addr)-1;

		if (!dwarf__spend(view->d))
			return -EBADMSG;
		/*
		 * The frame's location at the start of a range determines whether the value is available in the
		 * range.
		 */
		l = locate(view, attr, ops, n, everywhere ? view->entry : start);
		if (l.where == DWARF_NOWHERE)
			continue;
		err = everywhere ? add_everywhere(view, v, &l) : add_clipped(view, v, start, end);
		if (view->pc < start || view->pc >= end)
			continue;
		l = locate(view, attr, ops, n, view->pc);
		take(v, &l);
	}
	return err;
}

static int set_location(const struct view *view, struct dwarf_variable *v, Dwarf_Die *die)
{
	struct location constant = { .where = DWARF_CONSTANT };
	Dwarf_Attribute attr;
	Dwarf_Sword value;
	int err = 0;

	if (location_of(die, DW_AT_location, &attr)) {
		err = read_locations(view, v, &attr);
	} else if (dwarf_attr_integrate(die, DW_AT_const_value, &attr) &&
		   !dwarf_formsdata(&attr, &value)) {
		constant.offset = value;
		take(v, &constant);
		err = add_everywhere(view, v, &constant);
	}
	merge_ranges(v);
	if (!is_live(v, view->pc))
		take(v, &(struct location){ .where = DWARF_NOWHERE });
	return err ?: find_live_lines(view, v);
}

/* --- selecting variables ---------------------------------------------------------------------- */

static bool is_hidden(const struct dwarf_variables *found, const char *name)
{
	size_t i;

	for (i = 0; i < found->n; i++)
		if (!strcmp(found->variable[i].name, name))
			return true;
	return false;
}

static int add_variable(struct dwarf_variables *found, const struct view *view, Dwarf_Die *die)
{
	const char *name = dwarf_die__name(view->d, die);
	struct dwarf_variable *v;

	if (!name || found->n >= MAX_VARIABLES || is_hidden(found, name))
		return 0;
	if (ARRAY_ROOM(found->variable, found->n))
		return -ENOMEM;
	v = &found->variable[found->n];
	*v = (struct dwarf_variable){
		.is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter,
		.name = strdup(name),
	};
	v->is_result = view->is_go && v->is_parameter && dwarf_go__is_result(die);
	if (!v->name)
		return -ENOMEM;
	found->n++;
	return dwarf_variable__set_type(v, view->d, die, view->is_c) ?:
	       set_location(view, v, die);
}

static int add_children(struct dwarf_variables *found, const struct view *view, Dwarf_Die *parent)
{
	int more, err = 0, tag;
	Dwarf_Die child;

	more = dwarf_child(parent, &child);
	while (!more && !err) {
		if (!dwarf__spend(view->d))
			return -EBADMSG;
		tag = dwarf_tag(&child);
		if (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable)
			err = add_variable(found, view, &child);
		more = dwarf_siblingof(&child, &child);
	}
	return err;
}

/* Puts parameters first, in declaration order. Hidden variables have already been dropped. */
static int compare_variables(const struct dwarf_variable *a, const struct dwarf_variable *b)
{
	return b->is_parameter - a->is_parameter;
}

static void parameters_first(struct dwarf_variables *found)
{
	struct dwarf_variable v;
	size_t i, k;

	for (i = 1; i < found->n; i++) {
		v = found->variable[i];
		for (k = i; k && compare_variables(&found->variable[k - 1], &v) > 0; k--)
			found->variable[k] = found->variable[k - 1];
		found->variable[k] = v;
	}
}

/* --- scopes around an address ----------------------------------------------------------------- */

static bool is_c(Dwarf_Die *unit)
{
	int language = dwarf_srclang(unit);

	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11;
}

/* True if the out-of-line code of this function begins at the address. */
static bool begins_at(struct dwarf *d, Dwarf_Die *die, u64 address)
{
	u64 entry;

	return dwarf_tag(die) == DW_TAG_subprogram && !dwarf_die__entry(d, die, &entry) && entry == address;
}

/*
 * Finds the path to the given function (place's, else the one that begins at the address, else the innermost one) and
 * to its blocks around the address. Sets *function to the function's index in the path.
 */
static int find_path(struct dwarf_path *path, size_t *function, struct dwarf *d,
		     const struct dwarf_place *place, Dwarf_Die *unit, u64 address)
{
	bool found = false;
	size_t i;
	int err;

	if (place) {
		err = dwarf_path__to(path, d, unit, place->entry);
		if (err || !path->n)
			return err ?: -ENOENT;
		*function = path->n - 1;
		return dwarf_path__descend(path, d, &path->die[*function], address, false);
	}
	err = dwarf_path__at(path, d, unit, address);
	for (i = path->n; i-- > 0 && !err;) {
		if (!dwarf_die__is_function(&path->die[i]) || (found && !begins_at(d, &path->die[i], address)))
			continue;
		*function = i;
		found = true;
	}
	return err ?: found ? 0 : -ENOENT;
}

static int prepare(struct view *v, Dwarf_Die *unit)
{
	struct dwarf_begin begin = {};
	int err;

	v->is_c = is_c(unit);
	v->is_go = dwarf_srclang(unit) == DW_LANG_Go;
	err = dwarf_ranges__of(&v->ranges, v->d, v->function);
	if (!err)
		err = dwarf_die__entry(v->d, v->function, &v->entry);
	if (err)
		return err;
	v->body = dwarf_die__body(v->function, v->entry);
	/* In Go, an inlined copy may lack the first line, but the function's own code has it. */
	if (!v->is_go || dwarf_tag(v->function) == DW_TAG_subprogram)
		err = dwarf_begin__of(&begin, v->d, v->function);
	err = err ?: dwarf_lines__add_place(&v->lines, v->d, v->function, &begin);
	if (!err || err == -ENOENT)
		err = dwarf_lines__finish(&v->lines, begin.line);
	return err;
}

static int find_all(struct dwarf_variables *found, struct view *v, struct dwarf_path *path,
		    size_t function, Dwarf_Die *unit, bool globals)
{
	size_t i;
	int err;

	v->holder = &path->die[0];
	for (i = 0; i <= function; i++)
		if (dwarf_tag(&path->die[i]) == DW_TAG_subprogram)
			v->holder = &path->die[i];
	v->function = &path->die[function];
	err = prepare(v, unit);
	for (i = path->n; i-- > function && !err;)
		err = add_children(found, v, &path->die[i]);
	parameters_first(found);
	if (!err && v->is_go && dwarf_tag(v->function) == DW_TAG_subprogram) {
		err = dwarf_go__result(&found->result, v->d, v->function);
	} else if (!err && dwarf_tag(v->function) == DW_TAG_subprogram) {
		err = dwarf_variable__set_type(&found->result, v->d, v->function, v->is_c);
		dwarf_abi__pass(found, v->d, v->function);
	}
	if (!err && globals)
		err = add_children(found, v, unit);
	return err;
}

static int find(struct dwarf_variables *out, struct dwarf *d, const struct dwarf_place *place,
		u64 address, bool globals)
{
	struct view v = { .d = d, .pc = address };
	struct dwarf_variables found = {};
	struct dwarf_path path = {};
	Dwarf_Die unit, *known;
	size_t function = 0;
	int err;

	d->budget = DWARF_MAX_STEPS + 16 * d->entries;
	if (place) {
		/* Use the unit of the place: another unit may claim the address too. */
		known = dwarf_offdie(d->dwarf, place->entry, &unit);
		if (!known || !dwarf_diecu(known, &unit, NULL, NULL))
			return -EBADMSG;
	} else if (!dwarf__unit_at(d, address, &unit)) {
		return -ENOENT;
	}
	err = find_path(&path, &function, d, place, &unit, address);
	if (!err)
		err = find_all(&found, &v, &path, function, &unit, globals);
	free(v.ranges.range);
	dwarf_lines__free(&v.lines);
	if (err)
		dwarf_variables__free(&found);
	else
		*out = found;
	return err;
}

int dwarf_direct__variables(struct dwarf_variables *found, struct dwarf *d,
			    const struct dwarf_place *place, u64 address, bool globals)
{
	return find(found, d, place, address, globals);
}

#endif /* HAVE_LIBDW */
