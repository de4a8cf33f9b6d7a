/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serialization of the structures of types/dwarf.h between the process that reads the files (types/dwarf_server.c) and
 * the one that queries it (types/dwarf_confined.c). Structures are sent byte for byte, so new members are included,
 * followed by the data behind their pointers. A new pointer member needs new code here.
 *
 * Receivers check what they rely on. After an error (unwire.err) functions, lines and variables have been freed; the
 * caller frees a single place or function.
 */
#ifndef TALLY_TYPES_DWARF_WIRE_H
#define TALLY_TYPES_DWARF_WIRE_H

#include "base/wire.h"
#include "types/dwarf.h"

/* The comments list the arguments that follow each question. */
enum dwarf_question {
	ASK_OPENED,             /* no arguments: did opening succeed? Answer: dwarf__is_split() */
	ASK_FUNCTIONS,          /* glob */
	ASK_LINES_OF,           /* function */
	ASK_LINES_OF_FILE,      /* file */
	ASK_ROW,                /* address */
	ASK_VARIABLES,          /* has place, place, address, globals */
	ASK_TYPE,               /* entry */
	ASK_TYPE_NAMED,         /* name, address */
};

struct dwarf_asked {
	u64 what, size;
};

struct dwarf_answered {
	s64 err;
	u64 size;
};

/* The files passed in addition to the program's. */
struct dwarf_files {
	bool has_debug, has_alt;
};

struct answer;

/*
 * A confined_work, with a struct dwarf_files: the files are the program, its debug file, and the
 * dwz file.
 */
void dwarf_server__run(struct answer *to, void *arg);

/* Sends a question and takes ownership of its memory. The caller frees *data, which backs *u. */
int dwarf__ask(struct dwarf *d, enum dwarf_question what, struct wire *w, void **data,
	       struct unwire *u);

void dwarf_wire__put_place(struct wire *w, const struct dwarf_place *p);
void dwarf_wire__put_function(struct wire *w, const struct dwarf_function *f);
void dwarf_wire__put_functions(struct wire *w, const struct dwarf_functions *f);
void dwarf_wire__put_lines(struct wire *w, const struct dwarf_lines *l);
void dwarf_wire__put_variables(struct wire *w, const struct dwarf_variables *v);

void dwarf_wire__take_place(struct unwire *u, struct dwarf_place *p);
void dwarf_wire__take_function(struct unwire *u, struct dwarf_function *f);
void dwarf_wire__take_functions(struct unwire *u, struct dwarf_functions *f);
void dwarf_wire__take_lines(struct unwire *u, struct dwarf_lines *l);
void dwarf_wire__take_variables(struct unwire *u, struct dwarf_variables *v);

#endif /* TALLY_TYPES_DWARF_WIRE_H */
