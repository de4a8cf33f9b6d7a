/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves the addresses of a stack to frames. Equal frames are stored once. */
#ifndef TALLY_STACK_NAMES_H
#define TALLY_STACK_NAMES_H

#include "base/types.h"
#include "report/report.h"
#include "base/table.h"
#include "runtime/python.h"
#include "sym/source.h"
#include "sym/symbols.h"

#include "bpf/lib/stack.h"

struct stack_names {
	struct symbols *symbols;
	struct python *python;
	const struct unwinder *unwinder;        /* NULL: stacks are not walked by tables */
	/* Frames by name; indexes never change. */
	struct report_frame *frame;
	size_t n;
	struct table by_name;
	bool at_tracepoints;    /* see is_tracers_own() */
	bool lines;             /* frames include the source line, and differ by it */
	bool inlined;           /* inlined functions are separate frames */
};

/* Why a stack is [incomplete]. */
enum stack_break {
	STACK_WHOLE,            /* complete, or walked by frame pointers only */
	STACK_NO_TABLE,         /* code of a file without .eh_frame, or whose table could not be read */
	STACK_LATE_TABLE,       /* code of a file whose table was read later */
	STACK_GENERATED,        /* generated code, which is in no file */
	STACK_NOT_FOLLOWED,     /* an unsupported unwind rule, or memory that is not in RAM */
	STACK_NO_CALLER,        /* a return address that is not code */
	STACK_BREAKS,
};

/* The frames of a stack, outermost first: the user part, then the kernel part. */
struct stack_path {
	u32 n;
	bool is_mixed;          /* see struct symbol */
	bool lacks_python;      /* Python frames or their names are missing */
	bool is_unknown;        /* the process is unknown, or has no code there */
	/* pid of the process, if frames are in code that it has generated without naming it; else 0 */
	u32 generated_by;
	enum stack_break breaks;
	const char *breaks_in;  /* module of the outermost frame, if it breaks there; lives as long as the symbols */
	u32 *frame;             /* indexes in stack_names.frame */
	struct report_place *place;
};

/* Functions return 0 or a negative errno. */
int stack_names__init(struct stack_names *names);
void stack_names__free(struct stack_names *names);

/* Frees all frames, once no path refers to them; indexes start again from 0. */
void stack_names__forget_frames(struct stack_names *names);

/*
 * Resolves a stack (NULL: a lost one), by the mappings of its process when the stack was first seen. A frame of kind
 * FRAME_NOTE stands for frames known to be missing:
 *   [stack lost]    no room in the map
 *   [user mode]     only the kernel part was requested, and the task was in user mode
 *   [no user stack] only the user part was requested, and the task has none
 *   [deeper]        more callers than the depth limit
 *   [ran meanwhile] the thread ran while its stack was read, so its stack is unknown
 *   [exiting]       the task had released its memory, stack included
 *   [python]        Python frames, or names of their code, that could not be read
 *   [incomplete]    the chain of frame pointers broke before the thread's first function; or frames may be missing
 *                   in between, where the walk followed frame pointers in code whose table was not known yet
 */
int stack_names__resolve(struct stack_names *names, const struct stack *stack, bool kernel,
			 struct stack_path *path);
void stack_path__free(struct stack_path *path);

/*
 * True if a tracepoint calls this kernel function to reach a tracer's program. Whether a stack walk sees such functions
 * depends on the kernel and on other tracers; for tracepoint events they are removed from the inner end of stacks.
 */
bool is_tracers_own(const char *name);

/* True if threads start in this function, so a stack that ends here is complete. nuser: frames of the user part. */
bool is_first_function(const struct symbol *symbol, u32 nuser);

/*
 * True if the frame belongs to the thread that created this one. A Go thread begins in runtime.mstart with the frame
 * pointer of its creator, so the walk continues through the creator's stack. inner: the frame that this one called.
 */
bool is_other_thread(const struct symbol *frame, const struct symbol *inner);

#endif /* TALLY_STACK_NAMES_H */
