// SPDX-License-Identifier: BSD-2-Clause
/* Finds functions with all copies of their code, out of line and inlined. */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/dwarf_libdw.h"

/* A copy and its function, kept until all copies are found. */
struct instance {
	char *name, *linkage, *file;
	int line;
	struct dwarf_place place;
};

struct search {
	struct dwarf *d;
	const char *glob;
	bool literal;           /* the glob has no wildcards */
	bool methods;           /* this unit's language has functions inside types */
	struct instance *found;
	size_t n;
};

static bool name_matches(const struct search *s, const char *name)
{
	if (!s->glob)
		return true;
	return name && (!strcmp(name, s->glob) || (!s->literal && !fnmatch(s->glob, name, 0)));
}

static const char *linkage_name(const struct dwarf *d, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name;

	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));
	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr));
	return dwarf__text(d, name);
}

static char *copy(const char *text, int *err)
{
	char *new = text ? strdup(text) : NULL;

	if (text && !new)
		*err = -ENOMEM;
	return new;
}

/* Name and start of the out-of-line function around a copy. */
struct holder {
	const char *name;
	u64 start;              /* UINT64_MAX if unknown */
};

static int add_instance(struct search *s, Dwarf_Die *die, const struct holder *holder, u64 address,
			bool has_untold)
{
	const char *name = dwarf_die__name(s->d, die), *linkage = linkage_name(s->d, die);
	struct instance *i = ARRAY_ADD(s->found, s->n);
	int err = 0;

	if (!i)
		return -ENOMEM;
	i->name = copy(name ?: linkage, &err);
	i->linkage = copy(linkage, &err);
	i->file = copy(dwarf_die__file(die), &err);
	if (dwarf_decl_line(die, &i->line) || i->line < 0)
		i->line = 0;
	i->place = (struct dwarf_place){
		.address = address,
		.body = dwarf_die__body(die, address),
		.is_inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine,
		.has_untold = has_untold,
		.function = copy(holder->name ?: "", &err),
		.entry = dwarf_dieoffset(die),
	};
	if (address >= holder->start)
		i->place.offset = address - holder->start;
	return i->name ? err : -ENOMEM;
}

/* Adds die if it is a copy of a wanted function. `in` is the out-of-line function around it. */
static int keep_instance(struct search *s, Dwarf_Die *die, Dwarf_Die *in)
{
	const char *name = dwarf_die__name(s->d, die), *linkage;
	struct dwarf_copies copies;
	struct holder holder = {};
	u64 address;
	size_t i;
	int err;

	if (!name_matches(s, name)) {
		linkage = linkage_name(s->d, die);
		if (!linkage || !name_matches(s, linkage))
			return 0;
	}
	err = dwarf_die__entry(s->d, die, &address);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = dwarf_copies__find(&copies, s->d, die, address);
	if (err)
		return err;
	holder.name = linkage_name(s->d, in) ?: dwarf_die__name(s->d, in);
	if (dwarf_die__entry(s->d, in, &holder.start))
		holder.start = UINT64_MAX;
	err = add_instance(s, die, &holder, address, copies.untold);
	for (i = 0; i < copies.n && !err; i++)
		if (copies.address[i] != address)
			err = add_instance(s, die, &holder, copies.address[i], copies.untold);
	free(copies.address);
	return err;
}

static int search_below(struct search *s, Dwarf_Die *parent, Dwarf_Die *holder, u32 depth);

static int search_die(struct search *s, Dwarf_Die *die, Dwarf_Die *holder, u32 depth)
{
	int tag = dwarf_tag(die), err = 0;

	if (tag == DW_TAG_subprogram) {
		/* An entry without code is a declaration, or the origin of inlined copies. */
		if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
			return 0;
		err = keep_instance(s, die, die);
		holder = die;
	} else if (tag == DW_TAG_inlined_subroutine) {
		if (holder)
			err = keep_instance(s, die, holder);
	} else if (!dwarf_die__may_hold_functions(die) ||
		   (!s->methods && tag != DW_TAG_namespace && !dwarf_die__is_block(die))) {
		return 0;
	}
	return err ?: search_below(s, die, holder, depth + 1);
}

static int search_below(struct search *s, Dwarf_Die *parent, Dwarf_Die *holder, u32 depth)
{
	Dwarf_Die child;
	int err, more;

	if (depth > DWARF_MAX_DEPTH)
		return 0;
	more = dwarf_child(parent, &child);
	while (!more) {
		if (!dwarf__spend(s->d))
			return -EBADMSG;
		err = search_die(s, &child, holder, depth);
		if (err)
			return err;
		more = dwarf_siblingof(&child, &child);
	}
	return more < 0 ? -EBADMSG : 0;
}

static bool has_methods(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

static int search_units(struct search *s)
{
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t header;
	int err = 0;

	/* A damaged unit does not affect the others. */
	while (!err && !dwarf_nextcu(s->d->dwarf, at, &next, &header, NULL, NULL, NULL)) {
		if (next <= at)
			return -EBADMSG;
		if (dwarf_offdie(s->d->dwarf, at + header, &unit)) {
			s->methods = has_methods(&unit);
			err = search_below(s, &unit, NULL, 0);
			if (err == -EBADMSG && s->d->budget)
				err = 0;
		}
		at = next;
	}
	return err;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ?: "", b ?: "");
}

/* Sorts by name, then by the location of the definition, which all copies of a function share. */
static int compare_functions(const struct instance *a, const struct instance *b)
{
	int order = compare_texts(a->name, b->name) ?: compare_texts(a->file, b->file);

	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return compare_texts(a->linkage, b->linkage);
}

static int compare_instances(const void *x, const void *y)
{
	const struct instance *a = x, *b = y;
	int order = compare_functions(a, b);

	if (order)
		return order;
	if (a->place.address != b->place.address)
		return a->place.address < b->place.address ? -1 : 1;
	return a->place.is_inlined - b->place.is_inlined;
}

static void free_instance(struct instance *i)
{
	free(i->name);
	free(i->linkage);
	free(i->file);
	free(i->place.function);
	memset(i, 0, sizeof(*i));
}

static bool same_place(const struct dwarf_function *f, const struct instance *i)
{
	return f->nplaces && f->place[f->nplaces - 1].address == i->place.address;
}

/* Groups sorted instances into functions, and takes ownership of their strings. */
static int group(struct dwarf_functions *out, struct instance *found, size_t n)
{
	struct dwarf_function *f = NULL;
	size_t i, first = 0;

	for (i = 0; i < n; i++) {
		if (!i || compare_functions(&found[first], &found[i])) {
			f = ARRAY_ADD(out->function, out->n);
			if (!f)
				return -ENOMEM;
			f->line = found[i].line;
			f->name = copy(found[i].name, &(int){ 0 });
			f->linkage = copy(found[i].linkage, &(int){ 0 });
			f->file = copy(found[i].file, &(int){ 0 });
			if (!f->name || (found[i].linkage && !f->linkage) ||
			    (found[i].file && !f->file))
				return -ENOMEM;
			first = i;
		}
		if (same_place(f, &found[i]))
			continue;       /* inlined into itself, or a duplicate unit */
		if (ARRAY_APPEND(f->place, f->nplaces, found[i].place))
			return -ENOMEM;
		found[i].place.function = NULL;
	}
	return 0;
}

static bool is_named(const struct instance *i, const char *name)
{
	return !strcmp(i->name, name) || (i->linkage && !strcmp(i->linkage, name));
}

/* Drops all other functions if any has exactly the wanted name. */
static void prefer_exact(struct search *s)
{
	size_t i, exact = 0, n = 0;

	for (i = 0; i < s->n; i++)
		exact += is_named(&s->found[i], s->glob);
	for (i = 0; i < s->n && exact; i++)
		if (is_named(&s->found[i], s->glob))
			s->found[n++] = s->found[i];
		else
			free_instance(&s->found[i]);
	s->n = exact ?: s->n;
}

/* If the entry lacks it, finds where a function begins from its copies of one kind. */
static int find_begin(struct dwarf_function *f, struct dwarf *d, bool is_inlined)
{
	struct dwarf_begin b;
	Dwarf_Die die;
	int err = 0;
	size_t i;

	for (i = 0; i < f->nplaces && !err; i++) {
		if (f->place[i].is_inlined != is_inlined || !dwarf_offdie(d->dwarf, f->place[i].entry, &die))
			continue;
		err = dwarf_begin__of(&b, d, &die);
		if (err)
			return err == -ENOMEM ? err : 0;
		if (!f->file)
			f->file = copy(b.file, &err);
		if (b.line && (!f->line || b.line < f->line))
			f->line = b.line;
	}
	return err;
}

/* Prefers the out-of-line code, since inlined copies may lack the first lines. */
static int find_begins(struct dwarf_functions *found, struct dwarf *d)
{
	size_t i;
	int err = 0;

	for (i = 0; i < found->n && !err; i++) {
		struct dwarf_function *f = &found->function[i];

		if (!f->file || !f->line)
			err = find_begin(f, d, false);
		if (!err && (!f->file || !f->line))
			err = find_begin(f, d, true);
	}
	return err;
}

int dwarf_direct__functions(struct dwarf_functions *found, struct dwarf *d, const char *name)
{
	struct search s = { .d = d, .glob = name, .literal = name && !strpbrk(name, "*?[\\") };
	struct dwarf_functions new = {};
	size_t i;
	int err;

	/* The budget also covers the rows of line tables that are read for inlined copies. */
	d->budget = DWARF_MAX_STEPS + 16 * d->entries;
	err = search_units(&s);
	if (!err && s.glob && !s.literal)
		prefer_exact(&s);
	if (!err && s.n) {
		qsort(s.found, s.n, sizeof(*s.found), compare_instances);
		err = group(&new, s.found, s.n);
	}
	if (!err && name)
		err = find_begins(&new, d);
	for (i = 0; i < s.n; i++)
		free_instance(&s.found[i]);
	free(s.found);
	if (err)
		dwarf_functions__free(&new);
	else
		*found = new;
	return err;
}

#endif /* HAVE_LIBDW */
