/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of tools that show stacks: which part, how deep, in which format, and --by with two
 * more keys, dso and sym, of the innermost frame. A child of the tool's own argp; a tool has
 * spec->own_keys.
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
	 * By tables where there are callers to be shown; for tools that take so few stacks that their cost is no
	 * matter. Of the whole machine a run begins at once, and tables come meanwhile.
	 */
	CALL_GRAPH_AUTO,
};

struct stack_options {
	u64 max_depth;          /* 0: as usual */
	bool no_kernel, no_user;
	bool table;             /* instead of stacks */
	u32 leaf;               /* enum leaf_part */
	int format;             /* -1: not said */
	bool callee_first;
	bool lines, inlined;    /* see struct stack_names */
	enum call_graph call_graph;
	const char *with, *without;     /* what frames are called; NULL: not said */
};

#define STACK_OPTIONS ((struct stack_options){ .format = -1 })

/* Its input is a struct stack_options, which the tool's parser hands to it at ARGP_KEY_INIT. */
extern const struct argp stack_options_argp;

#define STACK_FORMATS_DOC \
	"--format is tree (default), folded, flame (SVG), pprof, speedscope, table, json or csv; --by also " \
	"takes dso and sym, of the innermost frame, for a table."

/*
 * After parsing: checks what no single option can see, and fills in cli->by, cli->format and the
 * depth of s. by: the keys where none are asked for. Returns 0, or -EINVAL after saying what is
 * wrong.
 */
int stack_options__check(struct stack_options *o, struct stacks *s, struct cli *cli, u32 by);

/*
 * The same for tools that take stacks with -g only, where that was not said: cli->format is filled in, and
 * whatever is about stacks is refused, -EINVAL.
 */
int stack_options__check_none(const struct stack_options *o, struct cli *cli);

/* The enum stack_flags of bpf/lib/stack.bpf.h; the parts are noted in s. */
u32 stack_options__take(const struct stack_options *o, struct stacks *s);

#endif /* TALLY_STACK_OPTIONS_H */
