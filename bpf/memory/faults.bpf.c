// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Page faults, counted where the kernel counts them: its software events minor-faults and
 * major-faults, each single one (mm_account_fault()). A fault that failed, or is begun again, is
 * not one of them. The subject is the task that faults.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "faults.h"
#include "file_name.bpf.h"
#include "loss.bpf.h"
#include "page_fault.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "writer.bpf.h"

const volatile u32 take = 0;            /* enum stack_flags; 0: sums without stacks */
const volatile u32 kinds = ~0U;         /* 1 << enum fault_kind, ORed */
const volatile bool want_vma = false;   /* what is mapped is in the key, or chosen by */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct faults_key);
	__type(value, struct faults_sums);
} sums SEC(".maps");

STACK_COUNTS(counts);

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct faults_taken);
} taken SEC(".maps");

/* --- the context ------------------------------------------------------------------------------ */

/*
 * struct bpf_perf_event_data (include/uapi/linux/bpf_perf_event.h): the registers as user space has
 * them, then these. addr has been there since 4.17 (commit 95da0cdb723e).
 */
struct fault_context {
#if defined(__TARGET_ARCH_x86)
	u64 before_cs[17];
	u64 cs;
	u64 flags, sp, ss;
#elif defined(__TARGET_ARCH_arm64)
	u64 regs[31];
	u64 sp, pc, pstate;
#endif
	u64 sample_period;
	u64 addr;
};

static __always_inline u32 mode_of(const struct fault_context *c)
{
#if defined(__TARGET_ARCH_x86)
	return c->cs & 3 ? FAULT_BY_USER : FAULT_BY_KERNEL;
#elif defined(__TARGET_ARCH_arm64)
	return c->pstate & 0xc ? FAULT_BY_KERNEL : FAULT_BY_USER;
#endif
}

/* --- what is mapped there --------------------------------------------------------------------- */

/* include/linux/mm.h, include/uapi/linux/magic.h */
#define VM_EXEC 0x00000004
#define VM_HUGETLB 0x00400000
#define TMPFS_MAGIC 0x01021994

struct fault_place {
	u32 kind;               /* enum fault_kind */
	struct file *file;      /* NULL: none */
};

static __always_inline bool is_heap(struct mm_struct *mm, u64 start, u64 end)
{
	return start < BPF_CORE_READ(mm, brk) && end > BPF_CORE_READ(mm, start_brk);
}

static __always_inline bool is_stack(struct mm_struct *mm, u64 start, u64 end)
{
	u64 at = BPF_CORE_READ(mm, start_stack);

	return start <= at && end >= at;
}

/* As fs/proc/task_mmu.c: get_vma_name() tells them apart. */
static __always_inline u32 kind_without_file(struct vm_area_struct *vma)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end);
	struct mm_struct *mm = BPF_CORE_READ(t, mm);

	if (BPF_CORE_READ(vma, vm_ops))
		return FAULT_SPECIAL;
	if (is_heap(mm, start, end))
		return FAULT_HEAP;
	return is_stack(mm, start, end) ? FAULT_STACK : FAULT_ANON;
}

static __always_inline u32 kind_of_file(struct file *f, u64 flags)
{
	if (flags & VM_HUGETLB)
		return FAULT_HUGETLB;
	if (flags & VM_EXEC)
		return FAULT_TEXT;
	if (BPF_CORE_READ(f, f_inode, i_sb, s_magic) == TMPFS_MAGIC)
		return FAULT_SHMEM;
	return FAULT_DATA;
}

static __always_inline void look_at(struct fault_place *p, struct vm_area_struct *vma)
{
	p->file = BPF_CORE_READ(vma, vm_file);
	p->kind = p->file ? kind_of_file(p->file, BPF_CORE_READ(vma, vm_flags)) :
			    kind_without_file(vma);
}

static __always_inline bool is_at(struct vm_area_struct *vma, struct mm_struct *mm, u64 address)
{
	return vma && BPF_CORE_READ(vma, vm_mm) == mm && address >= BPF_CORE_READ(vma, vm_start) &&
	       address < BPF_CORE_READ(vma, vm_end);
}

/*
 * Until 6.0: the fault has just been looked up, which left the mapping among the four that the task
 * remembers, and none of them can go while the fault holds the lock.
 */
static __always_inline struct vm_area_struct *remembered(struct mm_struct *mm, u64 address)
{
	struct task_struct___vmacache *t = (void *)bpf_get_current_task();
	struct vm_area_struct *vma;
	u32 i;

	if (!bpf_core_field_exists(t->vmacache))
		return NULL;
#pragma unroll
	for (i = 0; i < 4; i++) {
		vma = BPF_CORE_READ(t, vmacache.vmas[i]);
		if (is_at(vma, mm, address))
			return vma;
	}
	return NULL;
}

/*
 * Since 6.1 mappings are in a maple tree (lib/maple_tree.c: mtree_range_walk()). A pointer to a node
 * has its type in the bits that the alignment leaves; slot i is for addresses up to pivot i.
 * Readers need no lock: nodes that are replaced stay as they are until no program can see them.
 * bpf_find_vma() would do it, but has the lock given back by an interrupt of its own for each fault.
 */
#define NODE_ALIGN 256
#define NODE_TYPE(entry) ((entry) >> 3 & 15)
#define ROOT_IS_NODE 2          /* in the pointer to the root */
#define LEAF 1                  /* enum maple_type */
#define INNER 3
#define PIVOTS 15               /* of all types the most */
#define INNER_PIVOTS 9
#define TREE_HEIGHT 10          /* 5 are enough for 65,530 mappings, which vm.max_map_count allows */

static __always_inline u64 tree_step(u64 entry, u64 address)
{
	bool inner = NODE_TYPE(entry) == INNER;
	u32 n = inner ? INNER_PIVOTS : PIVOTS, at = n, i;
	u64 node = entry & ~(NODE_ALIGN - 1ULL), pivot[PIVOTS] = {}, next = 0, pivots, slots;

	pivots = inner ? bpf_core_field_offset(struct maple_arange_64, pivot) :
			 bpf_core_field_offset(struct maple_range_64, pivot);
	slots = inner ? bpf_core_field_offset(struct maple_arange_64, slot) :
			bpf_core_field_offset(struct maple_range_64, slot);
	bpf_probe_read_kernel(pivot, n * sizeof(*pivot), (void *)(node + pivots));
	/* A pivot of 0 behind the first: the node has no more. */
#pragma unroll
	for (i = PIVOTS; i-- > 0;)
		if (i < n && (pivot[i] >= address || (i && !pivot[i])))
			at = i;
	bpf_probe_read_kernel(&next, sizeof(next), (void *)(node + slots + at * sizeof(next)));
	return next;
}

static __noinline u64 tree_find(u64 root, u64 address)
{
	u64 entry = root, node;
	u32 i;

	for (i = 0; i < TREE_HEIGHT && entry >= NODE_ALIGN; i++) {
		node = entry;
		entry = tree_step(node, address);
		if (NODE_TYPE(node) <= LEAF)
			return entry;
	}
	return 0;
}

static __always_inline struct vm_area_struct *in_tree(struct mm_struct *mm, u64 address)
{
	struct vm_area_struct *vma;
	u64 root;

	if (!bpf_core_field_exists(mm->mm_mt))
		return NULL;
	root = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	if ((root & 3) != ROOT_IS_NODE)
		return NULL;
	vma = (struct vm_area_struct *)tree_find(root, address);
	return is_at(vma, mm, address) ? vma : NULL;
}

/* What is not found was just being changed: FAULT_UNKNOWN. */
static __always_inline void look_up(struct fault_place *p, u64 address)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	struct vm_area_struct *vma = in_tree(mm, address) ?: remembered(mm, address);

	if (vma)
		look_at(p, vma);
}

/* --- how it was touched ----------------------------------------------------------------------- */

/* arch/x86/include/asm/trap_pf.h */
#define PF_WRITE (1 << 1)
#define PF_INSTR (1 << 4)

/* The fault that a task has come into the kernel with. */
struct fault_state {
	u64 address;
	u64 error;
};

TASK_STATE(fault_states, struct fault_state)

static __always_inline int fault_begins(u64 address, u64 error)
{
	struct fault_state *s;

	if (is_only_a_try() || !scope_for_life(NULL))
		return 0;
	s = fault_states_get(calling_task(), NULL);
	if (s) {
		s->address = address;
		s->error = error;
	}
	return 0;
}

SEC("tp_btf/page_fault_user")
int UNPREEMPTED_PROG(begin_in_user, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return fault_begins(address, error);
}

SEC("tp_btf/page_fault_kernel")
int UNPREEMPTED_PROG(begin_in_kernel, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return fault_begins(address, error);
}

static __always_inline u32 access_of(u64 address)
{
	struct fault_state *s = fault_states_find(calling_task());

	if (!s || s->address != address)
		return FAULT_ACCESS_UNKNOWN;
	return s->error & PF_INSTR ? FAULT_EXEC : s->error & PF_WRITE ? FAULT_WRITE : FAULT_READ;
}

/* --- sums ------------------------------------------------------------------------------------- */

static const struct faults_sums no_sums = {};

/* A name being made: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct faults_name);
} name_room SEC(".maps");

static __always_inline void send_name(const struct file_id *id, struct file *f)
{
	struct faults_name *n;
	u32 zero = 0;
	u64 size;

	n = bpf_map_lookup_elem(&name_room, &zero);
	if (!n)
		return;
	n->id = *id;
	file_name_of(&n->name, f);
	size = n->name.size;
	barrier_var(size);
	if (size <= sizeof(n->name.names))
		ring_output_name(n, __builtin_offsetof(struct faults_name, name.names) + size);
}

static __always_inline void parts_of(struct faults_parts *to, const struct fault_context *c,
				     const struct fault_place *p)
{
	struct file *f = p->file;

	if (by & BY_FAULT_KIND)
		to->kind = p->kind;
	if (by & BY_FAULT_FILE && f) {
		to->file.inode = BPF_CORE_READ(f, f_inode, i_ino);
		to->file.generation = BPF_CORE_READ(f, f_inode, i_generation);
		to->file.device = BPF_CORE_READ(f, f_inode, i_sb, s_dev);
	}
	if (by & BY_FAULT_ACCESS)
		to->access = access_of(c->addr);
	if (by & BY_FAULT_MODE)
		to->mode = mode_of(c);
}

static __always_inline void add(const struct fault_context *c, const struct fault_place *p,
				u32 major)
{
	struct faults_key key = { .writer = this_writer() };
	struct faults_sums *s;
	long err;

	task_key_of(&key.task, NULL);
	parts_of(&key.parts, c, p);
	s = bpf_map_lookup_elem(&sums, &key);
	if (!s) {
		err = bpf_map_update_elem(&sums, &key, &no_sums, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&sums, &key);
		if (!s) {
			count_failed_update(err);
			return;
		}
		if (by & BY_FAULT_FILE && p->file)
			send_name(&key.parts.file, p->file);
	}
	if (major)
		s->major++;
	else
		s->minor++;
	if (task_key_has_name())
		task_key_name(s->name, &s->name_stamp, NULL, bpf_ktime_get_ns());
}

/* --- the hooks -------------------------------------------------------------------------------- */

static __always_inline void count_taken(u32 major)
{
	struct faults_taken *t;
	u32 zero = 0;

	t = bpf_map_lookup_elem(&taken, &zero);
	if (t && major)
		t->n[1]++;
	else if (t)
		t->n[0]++;
}

static __always_inline int page_fault(struct fault_context *c, const struct fault_place *p,
				      u32 major)
{
	struct stack_key key = {};

	if (!(kinds & 1U << p->kind)) {
		if (p->kind == FAULT_UNKNOWN)
			count_lost(LOSS_READ_FAULT);
		else
			count_filtered();
		return 0;
	}
	if (!take) {
		add(c, p, major);
		return 0;
	}
	task_key_of(&key.task, NULL);
	/* There is no kernel part below user code, and not to look for it is cheaper. */
	stack_add(&counts, &key, c, mode_of(c) == FAULT_BY_USER ? take & ~STACK_KERNEL : take, 1);
	return 0;
}

static __always_inline int look_and_count(struct fault_context *c, u32 major)
{
	struct fault_place p = {};

	count_taken(major);
	if (!armed || !in_scope(NULL))
		return 0;
	if (want_vma)
		look_up(&p, c->addr);
	return page_fault(c, &p, major);
}

SEC("perf_event")
int on_minor(struct fault_context *c)
{
	return look_and_count(c, 0);
}

SEC("perf_event")
int on_major(struct fault_context *c)
{
	return look_and_count(c, 1);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
