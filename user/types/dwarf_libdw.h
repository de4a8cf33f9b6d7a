/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files behind types/dwarf.h share, and nobody else sees. */
#ifndef TALLY_TYPES_DWARF_LIBDW_H
#define TALLY_TYPES_DWARF_LIBDW_H

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "types/dwarf.h"
#include "types/elf_file.h"

/* Deeper nesting of blocks, or longer chains of types, than this are not followed. */
#define DWARF_MAX_DEPTH 64

/* Steps that a query may take besides those that go with the size of the debug information. */
#define DWARF_MAX_STEPS (16 << 20)

/*
 * One that is read by a process without rights has only its path and what leads to that process; all
 * else is there, in a struct dwarf that is read directly.
 */
struct dwarf {
	char *path;
	bool is_confined;
	int ask_fd;             /* -1: it has gone */
	pid_t pid;
	int err;                /* why */
	struct elf_file file;   /* the program */
	struct elf_file debug;  /* the separate file, fd -1 and elf NULL without */
	struct elf_file alt_file;       /* of alt, likewise */
	Dwfl *dwfl;             /* of a kernel module, which has to be relocated first */
	Dwarf *dwarf;
	Dwarf *alt;             /* what dwz(1) has moved out of it; NULL */
	Dwarf_CFI *cfi[2];      /* .debug_frame, .eh_frame; each may be NULL */
	u64 cfi_bias[2];        /* what has to be added to an address for it */
	bool cfi_owned;         /* cfi[1] is ours to free */
	Elf_Data section[8];    /* those with entries, for dwarf__text() */
	size_t nsections;
	u64 budget;             /* entries that may still be looked at in this query */
	u64 entries;            /* more than there can be */
};

/*
 * Opens files that are open for reading, and nothing else: the program, its debug file and the one
 * that dwz(1) has moved shared parts to (-1: none), which are taken over, also on failure, and
 * mapped. whole: unwind tables, too.
 */
int dwarf_direct__open(struct dwarf **d, int fd, int debug_fd, int alt_fd, bool whole);
/* By name, with the separate file: one that is known to be the system's. */
int dwarf_direct__open_path(struct dwarf **d, const char *path);
void dwarf_direct__close(struct dwarf *d);

/* What is behind types/dwarf.h, in the process that reads the files. place NULL: whatever is there. */
int dwarf_direct__functions(struct dwarf_functions *found, struct dwarf *d, const char *name);
int dwarf_direct__lines_of(struct dwarf_lines *lines, struct dwarf *d,
			   const struct dwarf_function *f);
int dwarf_direct__lines_of_file(struct dwarf_lines *lines, struct dwarf *d, const char *file);
bool dwarf_direct__has_row(struct dwarf *d, u64 address);
int dwarf_direct__variables(struct dwarf_variables *found, struct dwarf *d,
			    const struct dwarf_place *place, u64 address, bool globals);

struct btf;
struct direct_types;
int direct_types__new(struct direct_types **t, struct dwarf *d);
int direct_types__add(struct direct_types *t, u64 entry, u32 *id);
const struct btf *direct_types__btf(const struct direct_types *t);
void direct_types__free(struct direct_types *t);

/*
 * Takes one from the budget: what steps through entries calls it for each, so that a damaged
 * file that leads in circles comes to an end. False: it is used up.
 */
static inline bool dwarf__spend(struct dwarf *d)
{
	return d->budget && --d->budget;
}

/* A text that libdw has returned, NULL if there is none or it does not end within its section. */
const char *dwarf__text(const struct dwarf *d, const char *text);

static inline const char *dwarf_die__name(const struct dwarf *d, Dwarf_Die *die)
{
	return dwarf__text(d, dwarf_diename(die));
}

/* Is it a lexical block? A function, out of line or inlined? Or what functions may be in? */
bool dwarf_die__is_block(Dwarf_Die *die);
bool dwarf_die__is_function(Dwarf_Die *die);
bool dwarf_die__may_hold_functions(Dwarf_Die *die);

/* The file an entry was declared in; NULL: not said. */
const char *dwarf_die__file(Dwarf_Die *die);

/* Address ranges of an entry, in one array that the caller frees. */
struct dwarf_ranges {
	struct dwarf_range *range;
	size_t n;
};

int dwarf_ranges__of(struct dwarf_ranges *out, struct dwarf *d, Dwarf_Die *die);

/* The first instruction of a function or of a place it is inlined in. */
int dwarf_die__entry(struct dwarf *d, Dwarf_Die *die, u64 *address);

/* The address behind the prologue of an out-of-line function; its entry where not known. */
u64 dwarf_die__body(Dwarf_Die *die, u64 entry);

/*
 * Where control enters an inlined place, of which the compiler may have made copies: their first
 * instructions, the one at entry among them where any is known. untold: there may be more.
 * 0, -EBADMSG or -ENOMEM.
 */
struct dwarf_copies {
	u64 *address;
	size_t n;
	bool untold;
};

int dwarf_copies__find(struct dwarf_copies *out, struct dwarf *d, Dwarf_Die *die, u64 entry);

/* The first of n rows of a line table, which are sorted, at or behind an address. */
size_t dwarf_rows__first(Dwarf_Lines *rows, size_t n, u64 address);

/* The unit an address belongs to; false: none. */
bool dwarf__unit_at(struct dwarf *d, u64 address, Dwarf_Die *unit);

/* The functions, inlined ones and blocks around an address, outermost first. */
struct dwarf_path {
	Dwarf_Die die[DWARF_MAX_DEPTH];
	size_t n;
};

/* By address; n is 0 where no function of the unit is. */
int dwarf_path__at(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *unit, u64 pc);

/* To an entry that is known; -ENOENT: it is not in the unit. */
int dwarf_path__to(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *unit, Dwarf_Off target);

/* Adds what is around the address below an entry: blocks, and functions inlined there. */
int dwarf_path__descend(struct dwarf_path *path, struct dwarf *d, Dwarf_Die *from, u64 pc,
			bool functions);

/*
 * The lines of one place of a function, in the file where it is defined, which becomes
 * lines->file unless there is one: added to lines, unsorted. dwarf_lines__finish() sorts them.
 */
int dwarf_lines__add_place(struct dwarf_lines *lines, struct dwarf *d, Dwarf_Die *die);
int dwarf_lines__finish(struct dwarf_lines *lines, u32 first);

/* Type, kind, size and is_string of a variable. Returns 0 or -ENOMEM. */
int dwarf_variable__set_type(struct dwarf_variable *v, struct dwarf *d, Dwarf_Die *variable,
			     bool is_c);

/* Sets passed and slot of the parameters of an out-of-line function, and of its result. */
void dwarf_abi__pass(struct dwarf_variables *found, struct dwarf *d, Dwarf_Die *function);

/* Room for one more in an array of n whose room is the next power of two. NULL: no memory. */
void *dwarf__grown(void *array, size_t n, size_t size);

#endif /* HAVE_LIBDW */

#endif /* TALLY_TYPES_DWARF_LIBDW_H */
