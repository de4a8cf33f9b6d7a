/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks as the writers draw them: what each frame and each key is called, and the tree that
 * stacks with the same outer frames make.
 */
#ifndef TALLY_OUT_TREE_H
#define TALLY_OUT_TREE_H

#include "report/report.h"

/*
 * The names of all frames and keys, escaped (report/escape.h). Folded ones stand between ';': one in
 * a name is escaped too; kernel, JIT and inlined frames end in _[k], _[j] and _[i], as
 * flamegraph.pl knows them, and a frame without a symbol is "libfoo.so+0x1234". Drawn ones: all those of one module are
 * one, "libfoo.so [no symbol]". One of which nothing is known is "[unknown]".
 */
enum label_style {
	LABELS_FOLDED,
	LABELS_DRAWN,
	LABELS_NAMED,           /* as folded ones, without source files, and ';' is left alone */
};

/* The source file without its directory; NULL: none. */
const char *report_frame__file(const struct report_frame *f);

struct stack_labels {
	size_t nframes, nkeys;
	char **frame, **key;
	u32 *same;              /* of each frame, the index of the one that stands for it */
	bool callee_first;
};

int stack_labels__make(struct stack_labels *l, const struct report_stacks *s,
		       enum label_style style);
void stack_labels__free(struct stack_labels *l);

/* One stack in folded form, without its value: key;outermost;...;innermost. */
void put_folded_stack(FILE *f, const struct stack_labels *l, const struct report_stack *s);

/*
 * Nodes stand in the order of a walk that visits parents first: the children of node i begin at
 * i + 1, and the next sibling of node c is c + node[c].span. Siblings are ordered by their names.
 * Node 0 is the root, of all stacks; below it the keys, if there are any, then frames.
 */
struct call_node {
	u32 frame; /* index into labels; of a key: nframes + its index; of the root: 0 */
	u32 span;               /* nodes of this subtree, itself included */
	u32 depth;              /* of the root: 0 */
	u64 total, self;
	u64 before;             /* the total in the run that this one is compared with */
};

struct call_tree {
	struct call_node *node;
	size_t n;
	u32 depth;              /* of the deepest */
};

/* Returns 0 or -ENOMEM. */
int call_tree__make(struct call_tree *t, const struct report_stacks *s,
		    const struct stack_labels *l);
void call_tree__free(struct call_tree *t);

/* The name of a node that is not the root, and what it is; that of a key is FRAME_NOTE. */
const char *call_node__label(const struct call_node *node, const struct stack_labels *l);
enum frame_kind call_node__kind(const struct call_node *node, const struct report_stacks *s);

#endif /* TALLY_OUT_TREE_H */
