// SPDX-License-Identifier: BSD-2-Clause
#include "sym/symbol_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sym/demangle.h"

/* A hostile file could nest a million symbols; compilers nest one or two. */
#define MAX_NESTING 64
#define MAX_SIZE (UINT32_MAX >> 1)
/* Limit on the size of all names: offsets have 32 bits, and the memory is charged to us. */
#define MAX_NAMES (512U << 20)

/*
 * --- the table ---------------------------------------------------------------------------------
 */

static u64 end_of(const struct symbol_entry *e)
{
	u64 end;

	return __builtin_add_overflow(e->start, e->size, &end) ? UINT64_MAX : end;
}

static bool is_sound(const struct symbol_entry *entry, u64 n, const char *names, size_t size)
{
	u64 i;

	if (n >= SYMBOL_NONE || (n && (!size || names[size - 1])))
		return false;
	for (i = 0; i < n; i++)
		if (entry[i].name >= size || (i && entry[i].start <= entry[i - 1].start))
			return false;
	return true;
}

/* Takes linear time: each step shortens a chain of outer symbols. */
static void set_outer(struct symbol_table *t)
{
	u32 i, outer;

	for (i = 0; i < t->n; i++) {
		outer = i ? i - 1 : SYMBOL_NONE;
		while (outer != SYMBOL_NONE && end_of(&t->entry[outer]) <= t->entry[i].start)
			outer = t->outer[outer];
		t->outer[i] = outer;
	}
}

int symbol_table__adopt(struct symbol_table *t, struct symbol_entry *entry, u64 n, char *names,
			size_t names_size)
{
	struct symbol_table new = { .entry = entry, .names = names, .names_size = names_size };
	int err = -EBADMSG;

	if (!is_sound(entry, n, names, names_size))
		goto fail;
	new.n = n;
	new.outer = malloc((n ?: 1) * sizeof(*new.outer));
	err = -ENOMEM;
	if (!new.outer)
		goto fail;
	set_outer(&new);
	*t = new;
	return 0;
fail:
	symbol_table__free(&new);
	return err;
}

static void free_shown(struct symbol_table *t)
{
	u32 i;

	for (i = 0; t->shown && i < t->n; i++)
		if (t->shown[i] != t->names + t->entry[i].name)
			free(t->shown[i]);
	free(t->shown);
}

void symbol_table__free(struct symbol_table *t)
{
	free_shown(t);
	free(t->entry);
	free(t->outer);
	free(t->names);
	memset(t, 0, sizeof(*t));
}

/* Returns the last symbol that starts at or before address. */
static u32 last_before(const struct symbol_table *t, u64 address)
{
	u32 low = 0, high = t->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (t->entry[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : SYMBOL_NONE;
}

u32 symbol_table__find(const struct symbol_table *t, u64 address)
{
	u32 i = last_before(t, address), depth;

	for (depth = 0; i != SYMBOL_NONE && depth < MAX_NESTING; depth++) {
		if (address < end_of(&t->entry[i]))
			return i;
		i = t->outer[i];
	}
	return SYMBOL_NONE;
}

char *symbol_name__cut(const char *name)
{
	size_t len = SYMBOL_SHOWN_MAX, i;
	char *cut;

	if (strnlen(name, len + 1) <= len)
		return strdup(name);
	for (i = 0; i < 3 && (name[len] & 0xc0) == 0x80; i++)
		len--;
	return asprintf(&cut, "%.*s...", (int)len, name) < 0 ? NULL : cut;
}

/* Returns the name itself if it is shown unchanged, else a copy. */
static char *copy_shown(char *name, struct demangler *d)
{
	char *text = malloc(DEMANGLED_MAX), *shown, *from = name;
	bool is_same;

	if (!text)
		return NULL;
	if (demangler__ask(d, name, text, DEMANGLED_MAX))
		from = text;
	is_same = from == name && strnlen(name, SYMBOL_SHOWN_MAX + 1) <= SYMBOL_SHOWN_MAX;
	shown = is_same ? name : symbol_name__cut(from);
	free(text);
	return shown;
}

const char *symbol_table__shown(struct symbol_table *t, u32 i, struct demangler *d)
{
	/* Allocate on first use: most tables are never queried. calloc() does not touch large arrays. */
	if (!t->shown)
		t->shown = calloc(t->n, sizeof(*t->shown));
	if (t->shown && !t->shown[i])
		t->shown[i] = copy_shown(t->names + t->entry[i].name, d);
	return t->shown ? t->shown[i] : NULL;
}

/*
 * --- choosing names ----------------------------------------------------------------------------
 */

/* Returns a negative number if a is the better name. */
static int compare_names(const char *a, const char *b)
{
	size_t under_a = strspn(a, "_"), under_b = strspn(b, "_");
	size_t len_a = strlen(a), len_b = strlen(b);

	if (under_a != under_b)
		return under_a < under_b ? -1 : 1;
	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	return strcmp(a, b);
}

int symbol_list__add(struct symbol_list *l, const struct symbol_candidate *symbol,
		     const char *name, size_t len)
{
	int err;

	if (len >= MAX_NAMES - l->names_size || l->n >= SYMBOL_NONE - 1)
		return -E2BIG;
	err = ARRAY_ROOM(l->symbol, l->n);
	if (!err)
		err = array__grow(&l->names, l->names_size, len + 1, 1);
	if (err)
		return err;
	l->symbol[l->n] = *symbol;
	l->symbol[l->n].len = len;
	l->symbol[l->n++].name = l->names_size;
	memcpy(l->names + l->names_size, name, len);
	l->names[l->names_size + len] = 0;
	l->names_size += len + 1;
	return 0;
}

void symbol_list__free(struct symbol_list *l)
{
	free(l->symbol);
	free(l->names);
	memset(l, 0, sizeof(*l));
}

/* Sorts by address, and puts the best name of each address first. */
static int compare_candidates(const void *a, const void *b, void *names)
{
	const struct symbol_candidate *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return compare_names((char *)names + x->name, (char *)names + y->name);
}

/* Leaves one candidate per address, with the best name and the largest size. */
static void choose_names(struct symbol_list *l)
{
	struct symbol_candidate *s = l->symbol;
	size_t i, n = 0;

	for (i = 0; i < l->n; i++) {
		if (!n || s[n - 1].start != s[i].start)
			s[n++] = s[i];
		else if (s[i].size > s[n - 1].size)
			s[n - 1].size = s[i].size;
	}
	l->n = n;
}

/*
 * Returns the size of an unsized symbol. It ends at the next symbol, the end of the section, or the end of the
 * enclosing symbol (reach), if any, whichever comes first.
 */
static u64 unsized(const struct symbol_list *l, size_t i, u64 reach)
{
	const struct symbol_candidate *s = &l->symbol[i];
	u64 end = s->limit;

	if (i + 1 < l->n && l->symbol[i + 1].start < end)
		end = l->symbol[i + 1].start;
	if (reach > s->start && reach < end)
		end = reach;
	return end > s->start ? end - s->start : 0;
}

/*
 * Drops labels inside symbols, and sets the other sizes. Packs the remaining symbols at the front
 * of the list, one per entry. Returns their number.
 */
static size_t make_entries(struct symbol_list *l, struct symbol_entry *entry)
{
	u64 reach = 0, size, end;
	size_t i, n = 0;

	for (i = 0; i < l->n; i++) {
		const struct symbol_candidate s = l->symbol[i];

		if (s.rank == SYMBOL_RANK_END ||
		    (s.rank == SYMBOL_RANK_LABEL && s.start < reach))
			continue;
		size = s.size ?: unsized(l, i, reach);
		entry[n] = (struct symbol_entry){
			.start = s.start,
			.size = size < MAX_SIZE ? size : MAX_SIZE,
			.is_near = s.is_near && !s.size,
		};
		l->symbol[n++] = s;
		if (__builtin_add_overflow(s.start, s.size, &end))
			end = UINT64_MAX;
		if (end > reach)
			reach = end;
	}
	l->n = n;
	return n;
}

/* Concatenates the chosen names in the order of the entries. */
static int pack_names(struct symbol_list *l, struct symbol_entry *entry)
{
	size_t i, at = 0, size = 0;
	char *packed;

	for (i = 0; i < l->n; i++)
		size += l->symbol[i].len + 1;
	packed = malloc(size ?: 1);
	if (!packed)
		return -ENOMEM;
	for (i = 0; i < l->n; i++) {
		memcpy(packed + at, l->names + l->symbol[i].name, l->symbol[i].len + 1);
		entry[i].name = at;
		at += l->symbol[i].len + 1;
	}
	free(l->names);
	l->names = packed;
	l->names_size = size;
	return 0;
}

int symbol_list__finish(struct symbol_list *l, struct symbol_entry **entry, u64 *n, char **names,
			size_t *names_size)
{
	struct symbol_entry *made;
	size_t used;
	int err;

	made = malloc((l->n ?: 1) * sizeof(*made));
	err = made ? 0 : -ENOMEM;
	if (err)
		goto out;
	if (l->n)
		qsort_r(l->symbol, l->n, sizeof(*l->symbol), compare_candidates, l->names);
	choose_names(l);
	used = make_entries(l, made);
	err = pack_names(l, made);
	if (err) {
		free(made);
		goto out;
	}
	*entry = made;
	*n = used;
	*names = l->names;
	*names_size = l->names_size;
	l->names = NULL;
out:
	symbol_list__free(l);
	return err;
}
