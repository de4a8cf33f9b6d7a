/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the mapping at an address of a process without taking the mmap lock, because a program may have interrupted the
 * holder of that lock. All memory is read by bpf_probe_read_kernel(), and a mapping counts only if its own members
 * confirm the process and the address.
 *
 *   vma_in_tree(mm, address, pivot)
 *                                since 6.1; pivot: room for VMA_PIVOTS, which would take up much of a BPF stack
 *   vma_in_rb_tree(mm, address)  before 6.1. Both return NULL if nothing is mapped there, or if the mappings were
 *                                being changed
 *
 * bpf_find_vma() is no alternative: it releases its lock in an irq_work, which is an extra interrupt, and finds at most
 * one mapping per interrupt.
 */
#ifndef TALLY_VMA_BPF_H
#define TALLY_VMA_BPF_H

#include "compat.bpf.h"
#include "stack.h"

#define VM_EXEC 0x00000004      /* include/linux/mm.h */

static __always_inline bool vma_is_at(struct vm_area_struct *vma, struct mm_struct *mm, u64 address)
{
	return vma && BPF_CORE_READ(vma, vm_mm) == mm && address >= BPF_CORE_READ(vma, vm_start) &&
	       address < BPF_CORE_READ(vma, vm_end);
}

/*
 * Since 6.1 mappings are in a maple tree (lib/maple_tree.c: mtree_range_walk()). The low bits of a node pointer, which
 * are free because nodes are aligned, contain its type; slot i is for addresses up to pivot i. Readers need no lock:
 * replaced nodes remain unchanged until no program can see them.
 */
#define NODE_ALIGN 256
#define NODE_TYPE(entry) ((entry) >> 3 & 15)
#define ROOT_IS_NODE 2          /* in the pointer to the root */
#define LEAF 1                  /* enum maple_type */
#define INNER 3
#define INNER_PIVOTS 9
#define TREE_HEIGHT 10          /* 5 suffice for the 65,530 mappings that vm.max_map_count allows */

static __always_inline u64 tree_step(u64 entry, u64 address, u64 *pivot)
{
	bool inner = NODE_TYPE(entry) == INNER;
	u32 n = inner ? INNER_PIVOTS : VMA_PIVOTS, at = n, i;
	u64 node = entry & ~(NODE_ALIGN - 1ULL), next = 0, pivots, slots;

	pivots = inner ? bpf_core_field_offset(struct maple_arange_64, pivot) :
			 bpf_core_field_offset(struct maple_range_64, pivot);
	slots = inner ? bpf_core_field_offset(struct maple_arange_64, slot) :
			bpf_core_field_offset(struct maple_range_64, slot);
	bpf_probe_read_kernel(pivot, n * sizeof(*pivot), (void *)(node + pivots));
	/* A pivot of 0 after the first pivot marks the end of the node. */
#pragma unroll
	for (i = VMA_PIVOTS; i-- > 0;)
		if (i < n && (pivot[i] >= address || (i && !pivot[i])))
			at = i;
	bpf_probe_read_kernel(&next, sizeof(next), (void *)(node + slots + at * sizeof(next)));
	return next;
}

static __always_inline u64 tree_find(u64 root, u64 address, u64 *pivot)
{
	u64 entry = root, node;
	u32 i;

	for (i = 0; i < TREE_HEIGHT && entry >= NODE_ALIGN; i++) {
		node = entry;
		entry = tree_step(node, address, pivot);
		if (NODE_TYPE(node) <= LEAF)
			return entry;
	}
	return 0;
}

static __always_inline struct vm_area_struct *vma_in_tree(struct mm_struct *mm, u64 address, u64 *pivot)
{
	struct vm_area_struct *vma;
	u64 root;

	if (!bpf_core_field_exists(mm->mm_mt))
		return NULL;
	root = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	if ((root & 3) != ROOT_IS_NODE)
		return NULL;
	vma = (struct vm_area_struct *)tree_find(root, address, pivot);
	return vma_is_at(vma, mm, address) ? vma : NULL;
}

#define RB_STEPS 34             /* 2 * log2(65,530), plus 2 */

static __always_inline u64 rb_tree_find(u64 root, u64 address)
{
	u64 node = root, at = bpf_core_field_offset(struct vm_area_struct___rb, vm_rb);
	u32 i;

	for (i = 0; i < RB_STEPS && node; i++) {
		struct vm_area_struct *vma = (struct vm_area_struct *)(node - at);
		struct rb_node *links = (struct rb_node *)node;

		if (BPF_CORE_READ(vma, vm_end) <= address)
			node = (u64)BPF_CORE_READ(links, rb_right);
		else if (BPF_CORE_READ(vma, vm_start) > address)
			node = (u64)BPF_CORE_READ(links, rb_left);
		else
			return (u64)vma;
	}
	return 0;
}

/* Before 6.1. Other threads of the process may change its mappings during the search. */
static __always_inline struct vm_area_struct *vma_in_rb_tree(struct mm_struct *mm, u64 address)
{
	struct mm_struct___rb *old = (void *)mm;
	struct vm_area_struct *vma;

	if (!bpf_core_field_exists(old->mm_rb))
		return NULL;
	vma = (struct vm_area_struct *)rb_tree_find((u64)BPF_CORE_READ(old, mm_rb.rb_node), address);
	return vma_is_at(vma, mm, address) ? vma : NULL;
}

#endif /* TALLY_VMA_BPF_H */
