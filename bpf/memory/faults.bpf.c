// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Page faults, counted where the kernel counts them: every event of its software events minor-faults and major-faults
 * (mm_account_fault()). Faults that fail or are retried are not counted there. The subject is the faulting task.
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
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "vma.bpf.h"
#include "writer.bpf.h"

const volatile u32 take = 0;            /* enum stack_flags; 0 for sums without stacks */
const volatile u32 kinds = ~0U;         /* 1 << enum fault_kind, ORed */
const volatile bool want_vma = false;   /* the key or the filter needs the mapping */

SUMS(struct faults_key, struct faults_sums)

STACK_COUNTS(counts);

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct faults_taken);
} taken SEC(".maps");

/* --- the context ------------------------------------------------------------------------------ */

/*
 * struct bpf_perf_event_data (include/uapi/linux/bpf_perf_event.h): the registers in their user-space layout, followed
 * by these members. addr exists since 4.17 (commit 95da0cdb723e).
 */
struct fault_context {
	struct saved_regs regs;
	u64 sample_period;
	u64 addr;
};

static __always_inline u32 mode_of(const struct fault_context *c)
{
	return context_is_user(&c->regs) ? FAULT_BY_USER : FAULT_BY_KERNEL;
}

/* --- the mapping at the address --------------------------------------------------------------- */

/* include/linux/mm.h */
#define VM_HUGETLB 0x00400000

struct fault_place {
	u32 kind;               /* enum fault_kind */
	struct file *file;      /* NULL if none */
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

/* The same rules as get_vma_name() in fs/proc/task_mmu.c. */
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
	return is_on_tmpfs(BPF_CORE_READ(f, f_inode)) ? FAULT_SHMEM : FAULT_DATA;
}

static __always_inline void look_at(struct fault_place *p, struct vm_area_struct *vma)
{
	p->file = BPF_CORE_READ(vma, vm_file);
	p->kind = p->file ? kind_of_file(p->file, BPF_CORE_READ(vma, vm_flags)) :
			    kind_without_file(vma);
}

/*
 * Before 6.1: the fault has just looked up the mapping, so it is one of the four that the task caches. None of them can
 * be freed while the fault holds the lock.
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
		if (vma_is_at(vma, mm, address))
			return vma;
	}
	return NULL;
}

/* If no mapping is found, the mappings were being changed: FAULT_UNKNOWN. */
static __noinline int look_up(struct fault_place *p, u64 address)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	u64 pivot[VMA_PIVOTS] = {};
	struct vm_area_struct *vma = vma_in_tree(mm, address, pivot) ?: remembered(mm, address);

	if (vma)
		look_at(p, vma);
	return 0;
}

/* --- access and mode -------------------------------------------------------------------------- */

/* arch/x86/include/asm/trap_pf.h */
#define PF_WRITE (1 << 1)
#define PF_INSTR (1 << 4)

/* The fault with which a task entered the kernel. */
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

/* A name under construction: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct file_record);
} name_room SEC(".maps");

static __always_inline void send_name(const struct file_id *id, struct file *f)
{
	struct file_record *n;
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
		ring_output_name(n, __builtin_offsetof(struct file_record, name.names) + size);
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
	bool is_new;

	task_key_of(&key.task, NULL);
	parts_of(&key.parts, c, p);
	s = sums_get(&key, &is_new);
	if (!s)
		return;
	if (is_new && by & BY_FAULT_FILE && p->file)
		send_name(&key.parts.file, p->file);
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
	/* Faults in user mode have no kernel stack: skip the walk. */
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
