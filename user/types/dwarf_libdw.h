/* SPDX-License-Identifier: BSD-2-Clause */
/* Private to the files behind types/dwarf.h. */
#ifndef TALLY_TYPES_DWARF_LIBDW_H
#define TALLY_TYPES_DWARF_LIBDW_H

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "types/dwarf.h"
#include "types/elf_file.h"

/* Limit for the nesting of blocks and for chains of types. */
#define DWARF_MAX_DEPTH 64

/* Steps that a query may take, in addition to those proportional to the size of the debug information. */
#define DWARF_MAX_STEPS (16 << 20)

/*
 * If an unprivileged process reads the files, this struct only has the path and the connection to that process; the
 * struct dwarf of that process has everything else.
 */
struct dwarf {
	char *path;
	bool is_confined;
	int ask_fd;             /* -1: the process has exited */
	pid_t pid;
	int err;                /* error of that process */
	bool is_split;          /* answer of that process: dwarf__is_split() */
	struct elf_file file;   /* the program */
	struct elf_file debug;  /* the separate file; fd -1 and elf NULL if there is none */
	struct elf_file alt_file;       /* file of alt; fd -1 and elf NULL if there is none */
	Dwfl *dwfl;             /* of a kernel module, which needs relocation first */
	Dwarf *dwarf;
	Dwarf *alt;             /* the parts that dwz(1) moved out; NULL: none */
	Dwarf_CFI *cfi[2];      /* .debug_frame, .eh_frame; each may be NULL */
	u64 cfi_bias[2];        /* to add to an address before a lookup */
	bool cfi_owned;         /* free cfi[1] on close */
	Elf_Data section[8];    /* sections with entries, for dwarf__text() */
	size_t nsections;
	u64 budget;             /* entries that this query may still visit */
	u64 entries;            /* upper limit of the number of entries */
};

/*
 * Opens open, readable files only: the program, its debug file and the file to which dwz(1) has moved shared parts (-1:
 * none). Takes ownership of the descriptors, also on failure, and maps them. whole: also read unwind tables.
 */
int dwarf_direct__open(struct dwarf **d, int fd, int debug_fd, int alt_fd, bool whole);
/* Opens a file by path, and its separate debug file. Only for trusted system files. */
int dwarf_direct__open_path(struct dwarf **d, const char *path);
void dwarf_direct__close(struct dwarf *d);

/*
 * The functions of types/dwarf.h, as run by the process that reads the files. place NULL: the function at the address.
 */
int dwarf_direct__functions(struct dwarf_functions *found, struct dwarf *d, const char *name);
int dwarf_direct__lines_of(struct dwarf_lines *lines, struct dwarf *d,
			   const struct dwarf_function *f);
int dwarf_direct__lines_of_file(struct dwarf_lines *lines, struct dwarf *d, const char *file);
bool dwarf_direct__is_split(struct dwarf *d);
bool dwarf_direct__has_row(struct dwarf *d, u64 address);
int dwarf_direct__variables(struct dwarf_variables *found, struct dwarf *d,
			    const struct dwarf_place *place, u64 address, bool globals);

int dwarf_direct__find_type(struct dwarf *d, const char *name, u64 address, u64 *entry);

struct btf;
struct direct_types;
int direct_types__new(struct direct_types **t, struct dwarf *d);
int direct_types__add(struct direct_types *t, u64 entry, u32 *id);
const struct btf *direct_types__btf(const struct direct_types *t);
void direct_types__free(struct direct_types *t);

/*
 * Spends one entry of the budget. Every step through entries calls it, so that cycles in a damaged
 * file end. False: the budget is used up.
 */
static inline bool dwarf__spend(struct dwarf *d)
{
	return d->budget && --d->budget;
}

/* Checks a string returned by libdw: NULL if it is NULL or not terminated within its section. */
const char *dwarf__text(const struct dwarf *d, const char *text);

static inline const char *dwarf_die__name(const struct dwarf *d, Dwarf_Die *die)
{
	return dwarf__text(d, dwarf_diename(die));
}

/* True for a lexical block; for a function, out of line or inlined; for a scope that can contain functions. */
bool dwarf_die__is_block(Dwarf_Die *die);
bool dwarf_die__is_function(Dwarf_Die *die);
bool dwarf_die__may_hold_functions(Dwarf_Die *die);

/* Strips typedefs and qualifiers. False: void, a function, or an endless chain. */
bool dwarf_die__peel(Dwarf_Die *type);

/* Returns the file that declares an entry; NULL if unknown. */
const char *dwarf_die__file(Dwarf_Die *die);

/* Address ranges of an entry, in an array that the caller frees. */
struct dwarf_ranges {
	struct dwarf_range *range;
	size_t n;
};

int dwarf_ranges__of(struct dwarf_ranges *out, struct dwarf *d, Dwarf_Die *die);

/* Finds the first instruction of a function or an inlined copy. */
int dwarf_die__entry(struct dwarf *d, Dwarf_Die *die, u64 *address);

/* Returns the address after the prologue of an out-of-line function; its entry if unknown. */
u64 dwarf_die__body(Dwarf_Die *die, u64 entry);

/*
 * The entry addresses of an inlined place, which the compiler may have duplicated: the first
 * instruction of each copy, including the one at entry if any is known. untold: there may be more.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
struct dwarf_copies {
	u64 *address;
	size_t n;
	bool untold;
};

int dwarf_copies__find(struct dwarf_copies *out, struct dwarf *d, Dwarf_Die *die, u64 entry);

/* Returns the index of the first of n sorted line table rows at or after an address. */
size_t dwarf_rows__first(Dwarf_Lines *rows, size_t n, u64 address);

/* Finds the compilation unit of an address. False: none. */
bool dwarf__unit_at(struct dwarf *d, u64 address, Dwarf_Die *unit);

/* The functions, inlined functions and blocks around an address, outermost first. */
struct dwarf_path {
	Dwarf_Die die[DWARF_MAX_DEPTH];
	size_t n;
};

/* Finds the path to an address; n is 0 if the unit has no function there. */
int dwarf_path__at(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *unit, u64 pc);

/* Finds the path to a known entry; -ENOENT: it is not in the unit. */
int dwarf_path__to(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *unit, Dwarf_Off target);

/* Appends the blocks and inlined functions around the address below an entry. */
int dwarf_path__descend(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *from, u64 pc,
			bool functions);

/* Where a function begins in the source. */
struct dwarf_begin {
	const char *file;       /* NULL: unknown */
	u32 line;               /* 0: unknown */
};

/*
 * Taken from the function's entry. In Go, whose compiler often omits it, taken from the line table rows of this copy
 * (dwarf_lines.c). Returns 0, -EBADMSG or -ENOMEM.
 */
int dwarf_begin__of(struct dwarf_begin *b, struct dwarf *d, Dwarf_Die *die);

/*
 * Appends to lines, unsorted, the lines of one copy of a function in the file that defines it; sets
 * lines->file if it is not set. dwarf_lines__finish() sorts them.
 */
int dwarf_lines__add_place(struct dwarf_lines *lines, struct dwarf *d, Dwarf_Die *die, const struct dwarf_begin *begin);
int dwarf_lines__finish(struct dwarf_lines *lines, u32 first);

/* Sets type, kind, size and is_string of a variable. Returns 0 or -ENOMEM. */
int dwarf_variable__set_type(struct dwarf_variable *v, struct dwarf *d, Dwarf_Die *variable,
			     bool is_c);

/* Sets passed and slot for the parameters and the result of an out-of-line function. */
void dwarf_abi__pass(struct dwarf_variables *found, struct dwarf *d, Dwarf_Die *function);

/*
 * For Go. dwarf_go__is_result() is true if this parameter is actually a result. dwarf_go__result() sets type and passed
 * of the first result, and returns 0 or -ENOMEM.
 */
bool dwarf_go__is_result(Dwarf_Die *parameter);
int dwarf_go__result(struct dwarf_variable *out, struct dwarf *d, Dwarf_Die *function);

#endif /* HAVE_LIBDW */

#endif /* TALLY_TYPES_DWARF_LIBDW_H */
