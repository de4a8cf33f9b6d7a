/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of tools that show stacks: parts, depth, format, and two more --by keys, dso and sym of the innermost frame.
 * The tool includes the rows, and sets spec->own_keys.
 */
#ifndef TALLY_STACK_OPTIONS_H
#define TALLY_STACK_OPTIONS_H

#include "cli/options.h"
#include "stack/stacks.h"

/* How user stacks are walked. */
enum call_graph {
	CALL_GRAPH_FP,
	CALL_GRAPH_DWARF,       /* see struct stacks, unwind */
	/*
	 * The default: by tables if callers are shown. For the whole machine, the run begins at
	 * once, and tables are loaded during the run.
	 */
	CALL_GRAPH_AUTO,
};

struct stack_options {
	u64 max_depth;          /* 0: default */
	bool no_kernel, no_user, no_python;
	bool table;             /* a table instead of stacks */
	bool of_stacks;         /* a row of the table is a stack, with its callers (memleak), unless --by dso, sym */
	u32 leaf;               /* enum leaf_part */
	int format;             /* -1: not given */
	bool callee_first;
	bool lines, inlined;    /* see struct stack_names */
	enum call_graph call_graph;
	const char *with, *without;     /* patterns for frame names; NULL: not given */
};

#define STACK_OPTIONS ((struct stack_options){ .format = -1, .call_graph = CALL_GRAPH_AUTO })

/* Options of a struct stack_options. */
extern const struct option_row stack_option_rows[];
/* Options of a tool that has its own formats. */
extern const struct option_row stack_part_rows[];

/* Keys of --by in a tool that adds no keys. */
#define STACK_KEYS TASK_KEY_PARTS ", dso, sym"

#define STACK_FORMATS_DOC \
	"A tree by default (--format); --by also takes dso and sym, of the innermost frame, for a table."

/*
 * Call after parsing: checks combinations of options, and sets cli->by, cli->format and the depth
 * of s. by: the default keys. Returns 0, or -EINVAL after reporting the error.
 */
int stack_options__check(struct stack_options *o, struct stacks *s, struct cli *cli, u32 by);

/*
 * Checks the options of a picture or profile, which covers the whole run: an interval without a count sets its
 * duration. Returns -EINVAL after reporting options that are incompatible with cli->format.
 */
int stack_format__check(struct cli *cli);

/*
 * For tools that take stacks only with -g, when -g is not given: sets cli->format, and refuses
 * stack options with -EINVAL.
 */
int stack_options__check_none(const struct stack_options *o, struct cli *cli);

/* Returns the enum stack_flags of bpf/lib/stack.bpf.h, and records the parts in s. */
u32 stack_options__take(const struct stack_options *o, struct stacks *s);

#endif /* TALLY_STACK_OPTIONS_H */
