// SPDX-License-Identifier: BSD-2-Clause
/* Finds types by name, for casts. */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <string.h>

#include "types/dwarf_libdw.h"

/* Distinguishes types with the same name. A header produces the same type in each unit. */
struct identity {
	int tag, line;
	s64 size;
	const char *name, *file;
};

struct search {
	struct dwarf *d;
	const char *name;       /* without the keyword */
	int tag;                /* required by the keyword; 0 for any */
	const char *scope[DWARF_MAX_DEPTH];     /* names of the enclosing scopes, outermost first */
	u32 nscopes;
	Dwarf_Die found;
	struct identity identity;
	bool has_found, is_alias;       /* a typedef: in C, a bare name refers to it */
	bool differs;           /* another type has the same name */
};

/* Compares n characters, ignoring blanks: T<int, char> has several spellings. */
static bool is_called(const char *name, const char *typed, size_t n)
{
	const char *end = typed + n;

	while (name && (*name || typed < end)) {
		if (*name == ' ')
			name++;
		else if (typed < end && *typed == ' ')
			typed++;
		else if (typed == end || *name++ != *typed++)
			return false;
	}
	return name;
}

/* Returns the start of a name's last component, after the last :: outside <>. */
static const char *last_part(const char *from, const char *end)
{
	int nested = 0;

	for (; end > from; end--) {
		nested += (end[-1] == '>') - (end[-1] == '<');
		if (!nested && end - from >= 2 && end[-1] == ':' && end[-2] == ':')
			return end;
	}
	return from;
}

/* Compares the last component with the entry's own name, and the others with the enclosing scopes. */
static bool name_matches(const struct search *s, Dwarf_Die *die)
{
	const char *end = s->name + strlen(s->name), *part = last_part(s->name, end);
	u32 i = s->nscopes;

	if (!is_called(dwarf_die__name(s->d, die), part, end - part))
		return false;
	while (part > s->name) {
		end = part - 2;
		part = last_part(s->name, end);
		while (i && !s->scope[i - 1])
			i--;            /* skip anonymous scopes */
		if (!i || !is_called(s->scope[--i], part, end - part))
			return false;
	}
	return true;
}

static bool is_wanted(const struct search *s, int tag)
{
	switch (tag) {
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
		return !s->tag || s->tag == DW_TAG_structure_type;
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return !s->tag || s->tag == tag;
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		return !s->tag;
	default:
		return false;
	}
}

static struct identity identity_of(struct search *s, Dwarf_Die *die)
{
	struct identity i = { .tag = dwarf_tag(die), .size = dwarf_bytesize(die) };

	i.name = dwarf_die__name(s->d, die) ?: "";
	i.file = dwarf_die__file(die) ?: "";
	if (dwarf_decl_line(die, &i.line))
		i.line = 0;
	return i;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->tag == b->tag && a->line == b->line && a->size == b->size &&
	       !strcmp(a->name, b->name) && !strcmp(a->file, b->file);
}

static void look_at(struct search *s, Dwarf_Die *die)
{
	bool is_alias = dwarf_tag(die) == DW_TAG_typedef || dwarf_tag(die) == DW_TAG_base_type;
	struct identity identity;
	Dwarf_Die bare = *die;

	if (!is_wanted(s, dwarf_tag(die)) || dwarf_hasattr(die, DW_AT_declaration) ||
	    !name_matches(s, die) || !dwarf_die__peel(&bare) || dwarf_hasattr(&bare, DW_AT_declaration))
		return;
	if (s->has_found && is_alias < s->is_alias)
		return;
	identity = identity_of(s, &bare);
	if (s->has_found && is_alias == s->is_alias) {
		s->differs |= !is_same(&identity, &s->identity);
		return;
	}
	s->found = *die;
	s->identity = identity;
	s->is_alias = is_alias;
	s->has_found = true;
	s->differs = false;
}

static bool may_hold_types(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_module;
}

static int search_below(struct search *s, Dwarf_Die *parent, u32 depth)
{
	Dwarf_Die child;
	int err = 0, more = dwarf_child(parent, &child);

	while (!more && !err) {
		if (!dwarf__spend(s->d))
			return -EBADMSG;
		look_at(s, &child);
		if (may_hold_types(dwarf_tag(&child)) && depth < DWARF_MAX_DEPTH) {
			s->scope[s->nscopes++] = dwarf_die__name(s->d, &child);
			err = search_below(s, &child, depth + 1);
			s->nscopes--;
		}
		more = err ?: dwarf_siblingof(&child, &child);
	}
	return err ?: more < 0 ? -EBADMSG : 0;
}

static int search_units(struct search *s)
{
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t header;
	int err;

	/* A damaged unit does not affect the others. */
	while (!dwarf_nextcu(s->d->dwarf, at, &next, &header, NULL, NULL, NULL)) {
		if (next <= at)
			return -EBADMSG;
		s->nscopes = 0;
		err = dwarf_offdie(s->d->dwarf, at + header, &unit) ? search_below(s, &unit, 0) : 0;
		if (err && !s->d->budget)
			return err;
		at = next;
	}
	return 0;
}

/* Splits "struct ns::table" into the keyword and the name. */
static void take_keyword(struct search *s, const char *name)
{
	static const struct {
		const char *word;
		int tag;
	} words[] = {
		{ "struct ", DW_TAG_structure_type }, { "class ", DW_TAG_structure_type },
		{ "union ", DW_TAG_union_type }, { "enum ", DW_TAG_enumeration_type },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (strncmp(name, words[i].word, strlen(words[i].word)))
			continue;
		s->tag = words[i].tag;
		name += strlen(words[i].word);
	}
	s->name = name + strspn(name, " ");
}

int dwarf_direct__find_type(struct dwarf *d, const char *name, u64 address, u64 *entry)
{
	struct search s = { .d = d };
	Dwarf_Die unit;
	int err = 0;

	take_keyword(&s, name);
	if (!*s.name)
		return -ENOENT;
	d->budget = DWARF_MAX_STEPS + 16 * d->entries;
	if (address && dwarf__unit_at(d, address, &unit))
		err = search_below(&s, &unit, 0);
	if (!s.has_found)
		err = search_units(&s);
	if (s.has_found && s.differs)
		return -EEXIST;
	if (!s.has_found)
		return err ?: -ENOENT;
	*entry = dwarf_dieoffset(&s.found);
	return 0;
}

#endif /* HAVE_LIBDW */
