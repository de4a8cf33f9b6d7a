/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepares stacks for the writers: names of frames and keys, and a tree in which stacks share their
 * outer frames.
 */
#ifndef TALLY_OUT_TREE_H
#define TALLY_OUT_TREE_H

#include "report/report.h"

/*
 * Styles of the names of frames and keys, which are escaped (report/escape.h). Folded: ';' separates names, so a ';'
 * inside a name is also escaped. Kernel, JIT and inlined frames end in _[k], _[j] and _[i], as flamegraph.pl expects,
 * and a frame without a symbol is "libfoo.so+0x1234". Drawn: all frames of a module that have no symbol are merged into
 * "libfoo.so [no symbol]". A frame without symbol and module is "[unknown]".
 */
enum label_style {
	LABELS_FOLDED,
	LABELS_DRAWN,
	LABELS_SHORT,           /* like drawn, but C++ and Rust names without parameters: report/short_name.h */
	LABELS_NAMED,           /* like folded, but without source files, and ';' is not escaped */
};

/* Returns the source file without its directory, or NULL if there is none. */
const char *report_frame__file(const struct report_frame *f);

struct stack_labels {
	size_t nframes, nkeys;
	char **frame, **key;    /* with several events, key labels omit the event */
	char **event;           /* per event; NULL if there is only one, or if it is shown elsewhere */
	size_t nevents;
	u32 *same;              /* per frame, then per key: index of its representative */
	bool callee_first;
};

int stack_labels__make(struct stack_labels *l, const struct report_stacks *s,
		       enum label_style style);
void stack_labels__free(struct stack_labels *l);

/* Writes one folded stack, without its value: event;key;outermost;...;innermost. */
void put_folded_stack(FILE *f, const struct stack_labels *l, const struct report_stack *s);

/*
 * Nodes are in preorder: the first child of node i is i + 1, and the next sibling of node c is c +
 * node[c].span. Siblings are sorted by name. Node 0 is the root, with the total of all stacks. Its
 * descendants are the keys, if any, then frames.
 */
struct call_node {
	u32 frame;              /* index into labels; for a key nframes + its index; for the root 0 */
	u32 span;               /* nodes of this subtree, including itself */
	u32 depth;              /* 0 for the root */
	u64 total, self;
	u64 before;             /* total in the earlier run of a comparison */
};

struct call_tree {
	struct call_node *node;
	size_t n;
	/*
	 * With several events: nevents per node. Totals in the nodes are then sums over all events, and only serve to
	 * check for zero.
	 */
	struct call_share { u64 total, self; } *share;
	size_t nevents;
	u32 depth;              /* depth of the deepest node */
};

/* Returns 0 or -ENOMEM. */
int call_tree__make(struct call_tree *t, const struct report_stacks *s,
		    const struct stack_labels *l);
void call_tree__free(struct call_tree *t);

/* Name and kind of a node other than the root; a key has kind FRAME_NOTE. */
const char *call_node__label(const struct call_node *node, const struct stack_labels *l);
enum frame_kind call_node__kind(const struct call_node *node, const struct report_stacks *s);

#endif /* TALLY_OUT_TREE_H */
