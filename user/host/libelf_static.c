// SPDX-License-Identifier: BSD-2-Clause
/*
 * For static builds with elfutils 0.192 (Debian 13). Its libelf.a calls five functions of an internal library, libeu,
 * that is not shipped (https://sourceware.org/bugzilla/show_bug.cgi?id=32293). These functions manage a search tree of
 * raw data chunks, which libbpf never requests. The definitions here are weak, so a complete libelf.a takes precedence.
 * The tree's first member is its root (lib/eu-search.h). tally is single-threaded, so the tree's lock is not used.
 */
#ifdef TALLY_STATIC

#include <search.h>
#include <stddef.h>

struct eu_search_tree {
	void *root;
};

typedef int (*eu_compare)(const void *a, const void *b);

void eu_search_tree_init(struct eu_search_tree *tree);
void eu_search_tree_fini(struct eu_search_tree *tree, void (*free_node)(void *node));
void *eu_tsearch(const void *key, struct eu_search_tree *tree, eu_compare compare);
void *eu_tfind(const void *key, struct eu_search_tree *tree, eu_compare compare);
void *eu_tdelete(const void *key, struct eu_search_tree *tree, eu_compare compare);

__attribute__((weak)) void eu_search_tree_init(struct eu_search_tree *tree)
{
	tree->root = NULL;
}

__attribute__((weak)) void eu_search_tree_fini(struct eu_search_tree *tree,
					       void (*free_node)(void *node))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

__attribute__((weak)) void *eu_tsearch(const void *key, struct eu_search_tree *tree,
				       eu_compare compare)
{
	return tsearch(key, &tree->root, compare);
}

__attribute__((weak)) void *eu_tfind(const void *key, struct eu_search_tree *tree,
				     eu_compare compare)
{
	return tfind(key, &tree->root, compare);
}

__attribute__((weak)) void *eu_tdelete(const void *key, struct eu_search_tree *tree,
				       eu_compare compare)
{
	return tdelete(key, &tree->root, compare);
}

#else

/* ISO C forbids an empty translation unit. */
struct eu_search_tree;

#endif /* TALLY_STATIC */
