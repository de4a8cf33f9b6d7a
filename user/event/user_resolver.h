/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves an event on user functions in one file:
 *
 *   user_function.c    the typed text, the choice of files, and complaints about functions not found
 *   user_symbols.c     functions by the symbols of the file
 *   user_lines.c       functions and lines by debug information
 *   user_sites.c       the sites themselves: ends of functions, places inside functions
 *   user_alike.c       names for functions that share one
 *
 * Functions of type int return 0 or a negative errno, after a complaint unless it is -ENOMEM.
 */
#ifndef TALLY_EVENT_USER_RESOLVER_H
#define TALLY_EVENT_USER_RESOLVER_H

#include "event/code_name.h"
#include "event/event.h"
#include "event/user_code.h"
#include "sym/demangle.h"
#include "types/binary.h"
#include "types/dwarf.h"

struct resolver {
	struct event_sites *sites;
	const struct event *event;
	struct complaint *c;
	const char *path;
	const char *file;       /* name of the file in reports: "libc.so.6" */
	struct user_code *code; /* opened on first use */
	bool is_32_bit;
	bool is_one_of_several; /* other files may have the function instead */
	const struct dwarf_unread *unread;      /* unread debug information that may describe functions; or NULL */
	bool is_glob;           /* the name is a glob, and the file has no function with exactly that name */
	bool by_code_name;      /* match C++ and Rust names as in the source */
	char **told;            /* with by_code_name: names of the functions found, without parameters */
	struct demangler demangler;
	size_t first;           /* index of our first site */
	u32 most;
};

/* Probes the ends of a function at its returning instructions, which leaves its stack unchanged. */
int resolver__add_ends(struct resolver *r, const char *name, const char *text, u64 function, u64 file_offset);

/* Probes the place at an offset in a function, which is at file_offset. */
int resolver__add_place(struct resolver *r, const char *text, u64 function, u64 offset, u64 file_offset);

/*
 * Checks that an instruction begins at an address. An address from debug information is trusted unless the code
 * contradicts it.
 */
int resolver__check_place(struct resolver *r, const char *name, u64 address, bool from_dwarf);

/* Adds the sites of all functions whose symbols match. */
int resolver__add_symbols(struct resolver *r);

/* Sets the symbol of all sites from index from to the end. */
int resolver__set_symbols(struct resolver *r, size_t from, const char *symbol);

#define TOLD_MOST 320           /* characters of a name in reports */

/* Formats the name in text[size]; symbols that are not C++ or Rust are printed as is. */
void resolver__tell_name(struct resolver *r, char *text, size_t size, const char *symbol, enum code_name_form form);

/*
 * Callback for binary_functions__search(). Demangles in its unprivileged process, since symbols may be crafted to
 * attack the demangler.
 */
bool user_symbol__is_named(const char *symbol, const void *typed);

/* True for lines and source files. For plain names, debug information only adds inlined copies. */
bool event_function__needs_dwarf(const struct event_function *e);

/* Adds the sites found in debug information. -ENODATA, -EOPNOTSUPP, -EPROTONOSUPPORT: it cannot be read. */
int resolver__add_from_dwarf(struct resolver *r);

/*
 * Renames the sites of functions of this file that share a name: NAME@SOURCE, or NAME (ADDRESS) if the source is
 * unknown or the same. Their symbol remains the name.
 */
int resolver__tell_alike_apart(struct resolver *r);

#endif /* TALLY_EVENT_USER_RESOLVER_H */
