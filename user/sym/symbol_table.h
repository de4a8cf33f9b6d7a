/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbols of one file or of the kernel, by address: 20 bytes each plus the names.
 *
 * A table is built in two steps, because one process reads the untrusted file and another uses the result: symbol_list
 * collects and selects, symbol_table__adopt() checks.
 */
#ifndef TALLY_SYM_SYMBOL_TABLE_H
#define TALLY_SYM_SYMBOL_TABLE_H

#include "base/types.h"

struct symbol_entry {
	u64 start;
	u32 size : 31;          /* larger sizes are capped at 2 GB */
	u32 is_near : 1;        /* size is an upper limit: unnamed code may follow the function */
	u32 name;               /* offset in names */
};

struct symbol_table {
	struct symbol_entry *entry;     /* by start; each start occurs once */
	u32 *outer;                     /* the last symbol before it that extends beyond its start */
	u32 n;
	char *names;                    /* NUL-terminated strings; the last byte is a NUL */
	size_t names_size;
	char **shown;                   /* demangled names of the symbols looked up; NULL: none yet */
};

#define SYMBOL_NONE UINT32_MAX

/*
 * Takes ownership of entries and names (from malloc), also on failure, and checks their invariants.
 * -EBADMSG: violated. -ENOMEM.
 */
int symbol_table__adopt(struct symbol_table *t, struct symbol_entry *entry, u64 n, char *names,
			size_t names_size);
void symbol_table__free(struct symbol_table *t);

/* Returns the innermost symbol that covers an address, or SYMBOL_NONE. */
u32 symbol_table__find(const struct symbol_table *t, u64 address);

static inline const char *symbol_table__name(const struct symbol_table *t, u32 i)
{
	return t->names + t->entry[i].name;
}

/*
 * Returns a copy of a name, which the caller frees. A name longer than SYMBOL_SHOWN_MAX is cut to this length, without
 * splitting a UTF-8 sequence, and ends in "...". NULL: no memory.
 */
#define SYMBOL_SHOWN_MAX 4096
char *symbol_name__cut(const char *name);

/* Returns the symbol's name, demangled and cut; it lives as long as the table. NULL: no memory. */
struct demangler;
const char *symbol_table__shown(struct symbol_table *t, u32 i, struct demangler *d);

/*
 * Order in which a name is chosen for an address: the highest rank, then the fewest leading underscores, then the
 * shortest name, then the first name in byte order.
 */
enum symbol_rank {
	SYMBOL_RANK_END,        /* no name; only ends the unsized symbol before it */
	SYMBOL_RANK_LABEL,      /* no type: a label in assembly. Dropped inside another symbol */
	SYMBOL_RANK_LOCAL,
	SYMBOL_RANK_INDIRECT,   /* the resolver of an STT_GNU_IFUNC */
	SYMBOL_RANK_GLOBAL,     /* also weak symbols */
};

struct symbol_candidate {
	u64 start, size;        /* size 0: up to the next symbol, or to limit */
	u64 limit;              /* end of the section, or of the function */
	bool is_near;           /* see struct symbol_entry; has no effect if size is not 0 */
	u32 name, len;          /* set by symbol_list__add() */
	enum symbol_rank rank;
};

struct symbol_list {
	struct symbol_candidate *symbol;
	size_t n;
	char *names;
	size_t names_size;
};

/* Adds a symbol. name has len bytes; bytes after a NUL in it are kept with it. -ENOMEM; -E2BIG: the table is full. */
int symbol_list__add(struct symbol_list *l, const struct symbol_candidate *symbol,
		     const char *name, size_t len);

/* Selects one name for each address and the range it covers. Empties the list, also on failure. */
int symbol_list__finish(struct symbol_list *l, struct symbol_entry **entry, u64 *n, char **names,
			size_t *names_size);
void symbol_list__free(struct symbol_list *l);

#endif /* TALLY_SYM_SYMBOL_TABLE_H */
