/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbols of one file, or of the kernel, in order of address: 20 bytes each and the names.
 *
 * A table is made in two steps, because what reads a hostile file and what uses the result are
 * different processes: symbol_list collects and chooses, symbol_table__adopt() checks.
 */
#ifndef TALLY_SYM_SYMBOL_TABLE_H
#define TALLY_SYM_SYMBOL_TABLE_H

#include "base/types.h"

struct symbol_entry {
	u64 start;
	u32 size;               /* more than 4 GB is cut to that */
	u32 name;               /* where it begins in names */
};

struct symbol_table {
	struct symbol_entry *entry;     /* by start, which is different for each */
	u32 *outer;                     /* the last one before it that reaches beyond its start */
	u32 n;
	char *names;                    /* strings with their NULs, the last byte is one */
	size_t names_size;
	char **shown;                   /* names that were asked for; NULL: none yet */
};

#define SYMBOL_NONE UINT32_MAX

/*
 * Takes over entries and names (from malloc), also on failure, and checks that they are as they
 * have to be. -EBADMSG: they are not. -ENOMEM.
 */
int symbol_table__adopt(struct symbol_table *t, struct symbol_entry *entry, u64 n, char *names,
			size_t names_size);
void symbol_table__free(struct symbol_table *t);

/* The innermost symbol over an address; SYMBOL_NONE. */
u32 symbol_table__find(const struct symbol_table *t, u64 address);

static inline const char *symbol_table__name(const struct symbol_table *t, u32 i)
{
	return t->names + t->entry[i].name;
}

/* The same demangled, with the table's life; NULL: no memory. */
struct demangler;
const char *symbol_table__shown(struct symbol_table *t, u32 i, struct demangler *d);

/*
 * Names of one address are chosen by rank, the largest first; then by fewer underscores in front, by
 * length, and by bytes.
 */
enum symbol_rank {
	SYMBOL_RANK_END,        /* no name, it only ends the unsized symbol before it */
	SYMBOL_RANK_LABEL,      /* no type: a label in assembly. Not kept inside another symbol */
	SYMBOL_RANK_LOCAL,
	SYMBOL_RANK_INDIRECT,   /* the resolver of an STT_GNU_IFUNC */
	SYMBOL_RANK_GLOBAL,     /* weak ones too */
};

struct symbol_candidate {
	u64 start, size;        /* size 0: up to the next symbol, or to limit */
	u64 limit;              /* where the section ends */
	u32 name, len;          /* set by symbol_list__add() */
	enum symbol_rank rank;
};

struct symbol_list {
	struct symbol_candidate *symbol;
	size_t n, room;
	char *names;
	size_t names_size, names_room;
};

/*
 * Adds a symbol; name has len bytes, and what follows a NUL in them stays with it. -ENOMEM,
 * -E2BIG: more than a table holds.
 */
int symbol_list__add(struct symbol_list *l, const struct symbol_candidate *symbol,
		     const char *name, size_t len);

/* Chooses one name for each address and what it covers. The list is empty then, also on failure. */
int symbol_list__finish(struct symbol_list *l, struct symbol_entry **entry, u64 *n, char **names,
			size_t *names_size);
void symbol_list__free(struct symbol_list *l);

#endif /* TALLY_SYM_SYMBOL_TABLE_H */
