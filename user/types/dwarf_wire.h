/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What types/dwarf.h tells of, on the way from the process that reads the files (types/dwarf_server.c)
 * to who asks (types/dwarf_confined.c), and back. Structures go as they are, so that a new member goes
 * with them; what their pointers lead to follows. A new pointer has to be put here, too.
 *
 * What is taken is checked as far as the one who takes it has to rely on it. After an error (unwire.err)
 * functions, lines and variables have been freed; a single place or function has to be.
 */
#ifndef TALLY_TYPES_DWARF_WIRE_H
#define TALLY_TYPES_DWARF_WIRE_H

#include "base/wire.h"
#include "types/dwarf.h"

/* Each with what is put behind it. */
enum dwarf_question {
	ASK_OPENED,             /* nothing: did it go well? */
	ASK_FUNCTIONS,          /* glob */
	ASK_LINES_OF,           /* function */
	ASK_LINES_OF_FILE,      /* file */
	ASK_ROW,                /* address */
	ASK_VARIABLES,          /* has place, place, address, globals */
	ASK_TYPE,               /* entry */
};

struct dwarf_asked {
	u64 what, size;
};

struct dwarf_answered {
	s64 err;
	u64 size;
};

/* Which files the process has, besides the program's. */
struct dwarf_files {
	bool has_debug, has_alt;
};

struct answer;

/* confined_work, of struct dwarf_files: the files are the program, its debug file, and what dwz has moved. */
void dwarf_server__run(struct answer *to, void *arg);

/* Takes the question's memory over. *data, to be freed, is what *u is about. */
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
