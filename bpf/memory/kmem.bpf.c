// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allocations of kernel memory: of objects (slab), or of pages. The subject is the current task, even for allocations
 * in an interrupt.
 *
 * These programs run wherever the kernel allocates, and may interrupt each other, so sums are added to atomically. None
 * of them allocates, because all maps are preallocated. Otherwise each new element would be an allocation by the tracer
 * itself that is counted here, before 6.1 even under the map's lock. The loader's own allocations are excluded by its
 * pid.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "kmem.h"
#include "loss.bpf.h"
#include "page.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "writer.bpf.h"

const volatile u32 layout = KMEM_MERGED;        /* enum kmem_layout */
const volatile bool follow = false;             /* match each object with its free */
const volatile u32 take = 0;                    /* enum stack_flags; 0: no stacks */

SUMS(struct kmem_key, struct kmem_sums)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, u64);
	__type(value, struct kmem_live);
} live SEC(".maps");

/* --- sums ---------------------------------------------------------------------------------------- */

static __always_inline void name_sums(struct kmem_sums *s)
{
	if (task_key_has_name())
		task_key_name(s->name, &s->name_stamp, NULL, bpf_ktime_get_ns());
}

/* Fills in the key parts that allocations and frees share. */
static __always_inline void common_key(struct kmem_key *key, u64 caller)
{
	task_key_of(&key->task, NULL);
	if (by & BY_CALLER)
		key->caller = caller;
	key->writer = this_writer();
}

static __always_inline void name_cache(struct kmem_key *key, const char *name)
{
	if (by & BY_CACHE && bpf_probe_read_kernel_str(key->cache, sizeof(key->cache), name) < 0)
		count_lost(LOSS_INCOMPLETE);
}

/* --- objects that are followed ------------------------------------------------------------------- */

/*
 * Returns the sums of the key under which an object was allocated, for this CPU and the current generation: the
 * original element may have been removed since. Not inlined, to keep its key off the stack frame of callers, which take
 * a stack later.
 */
static __noinline struct kmem_sums *sums_of_object(const struct kmem_live *l)
{
	struct kmem_key key = l->key;
	struct kmem_sums *s;

	key.writer = this_writer();
	s = sums_of(&key);
	if (s && task_key_has_name() && !s->name_stamp)
		__builtin_memcpy(s->name, l->name, sizeof(s->name));
	return s;
}

/* Called when the address is allocated again although its free was not seen: bulk frees have no tracepoint. */
static __always_inline void end_unseen(u64 address)
{
	struct kmem_live *old = bpf_map_lookup_elem(&live, &address);
	struct kmem_sums *s = old ? sums_of_object(old) : NULL;

	if (!s)
		return;
	__sync_fetch_and_add(&s->unseen, 1);
	__sync_fetch_and_add(&s->freed, old->item.bytes);
}

static __noinline int take_stack(void *ctx, struct stack_id *id)
{
	if (!id)
		return 0;
	stack_count_flaw(stack_take(id, ctx, take));
	if (id->tgid)
		stack_see();
	return 0;
}

static __always_inline void begin_following(void *ctx, u64 address, struct kmem_live *l, u64 bytes)
{
	u64 stamp;
	long err;

	l->cpu = bpf_get_smp_processor_id();
	l->item.bytes = bytes;
	l->item.since_ns = bpf_ktime_get_ns();
	if (take)
		take_stack(ctx, &l->item.stack);
	task_key_name(l->name, &stamp, NULL, 0);
	err = bpf_map_update_elem(&live, &address, l, BPF_NOEXIST);
	if ((int)err == -EEXIST) {
		end_unseen(address);
		err = bpf_map_update_elem(&live, &address, l, BPF_ANY);
	}
	if (err)
		count_failed_update(err);
}

static __always_inline int end_following(u64 address)
{
	struct kmem_live *l = bpf_map_lookup_elem(&live, &address);
	struct kmem_sums *s;

	if (!l) {
		if (scope_for_life(NULL) && scope_now(NULL))
			count_begun_before();
		return 0;
	}
	s = sums_of_object(l);
	if (s) {
		__sync_fetch_and_add(&s->frees, 1);
		__sync_fetch_and_add(&s->freed, l->item.bytes);
		if (l->cpu != bpf_get_smp_processor_id())
			__sync_fetch_and_add(&s->elsewhere, 1);
	}
	bpf_map_delete_elem(&live, &address);
	return 0;
}

/* --- allocations and frees ----------------------------------------------------------------------- */

/* The caller has filled in the key parts that its tracepoint reports. */
static __always_inline int allocated(void *ctx, struct kmem_live *l, u64 address, u64 requested,
				     u64 bytes)
{
	struct kmem_sums *s;

	s = sums_of(&l->key);
	if (!s)
		return 0;
	name_sums(s);
	if (!address) {
		__sync_fetch_and_add(&s->failed, 1);
		return 0;
	}
	__sync_fetch_and_add(&s->allocs, 1);
	__sync_fetch_and_add(&s->requested, requested);
	__sync_fetch_and_add(&s->allocated, bytes);
	if (follow)
		begin_following(ctx, address, l, bytes);
	return 0;
}

static __always_inline int freed(const struct kmem_key *key)
{
	struct kmem_sums *s = sums_of(key);

	if (!s)
		return 0;
	name_sums(s);
	__sync_fetch_and_add(&s->frees, 1);
	return 0;
}

static __always_inline int on_allocation(struct bpf_raw_tracepoint_args *ctx, u64 requested,
					 u64 bytes, const struct kmem_cache *cache)
{
	struct kmem_live l = {};

	common_key(&l.key, ctx->args[0]);
	if (by & BY_SIZE)
		l.key.size = requested;
	if (cache)
		name_cache(&l.key, BPF_CORE_READ(cache, name));
	else if (by & BY_CACHE)
		l.key.slab = bytes;
	return allocated(ctx, &l, ctx->args[1], requested, bytes);
}

SEC("raw_tp/kmalloc")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_kmalloc, struct bpf_raw_tracepoint_args *, ctx)
{
	u32 sizes = layout == KMEM_BOTH_CACHES ? 3 : 2;

	if (!armed || !in_scope(NULL))
		return 0;
	if (sizes == 3)
		return on_allocation(ctx, ctx->args[3], ctx->args[4], NULL);
	return on_allocation(ctx, ctx->args[2], ctx->args[3], NULL);
}

SEC("raw_tp/kmem_cache_alloc")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_cache_alloc, struct bpf_raw_tracepoint_args *, ctx)
{
	const struct kmem_cache *cache = (void *)ctx->args[2];

	if (!armed || !in_scope(NULL))
		return 0;
	if (layout == KMEM_PLAIN)
		return on_allocation(ctx, ctx->args[2], ctx->args[3], NULL);
	if (layout == KMEM_BOTH_CACHES)
		return on_allocation(ctx, ctx->args[3], ctx->args[4], cache);
	return on_allocation(ctx, BPF_CORE_READ(cache, object_size), BPF_CORE_READ(cache, size),
			     cache);
}

/* Merged into the tracepoints above in 6.1 (commit 11e9734bcb6a). */
SEC("raw_tp/kmalloc_node")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_kmalloc_node, struct bpf_raw_tracepoint_args *, ctx)
{
	if (!armed || !in_scope(NULL))
		return 0;
	if (layout == KMEM_BOTH_CACHES)
		return on_allocation(ctx, ctx->args[3], ctx->args[4], NULL);
	return on_allocation(ctx, ctx->args[2], ctx->args[3], NULL);
}

SEC("raw_tp/kmem_cache_alloc_node")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_cache_alloc_node, struct bpf_raw_tracepoint_args *, ctx)
{
	if (!armed || !in_scope(NULL))
		return 0;
	if (layout == KMEM_BOTH_CACHES)
		return on_allocation(ctx, ctx->args[3], ctx->args[4], (void *)ctx->args[2]);
	return on_allocation(ctx, ctx->args[2], ctx->args[3], NULL);
}

/* kfree() ignores NULL and ZERO_SIZE_PTR, the result of kmalloc(0). */
SEC("raw_tp/kfree")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_kfree, struct bpf_raw_tracepoint_args *, ctx)
{
	u64 address = ctx->args[1];
	struct kmem_key key = {};

	if (!armed || address <= 16)
		return 0;
	if (follow)
		return end_following(address);
	if (!in_scope(NULL))
		return 0;
	common_key(&key, ctx->args[0]);
	return freed(&key);
}

/* The third argument: none before 5.12, then the cache's name, since 6.1 the cache. */
SEC("raw_tp/kmem_cache_free")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_cache_free, struct bpf_raw_tracepoint_args *, ctx)
{
	struct kmem_key key = {};

	if (!armed)
		return 0;
	if (follow)
		return end_following(ctx->args[1]);
	if (!in_scope(NULL))
		return 0;
	common_key(&key, ctx->args[0]);
	if (layout == KMEM_MERGED)
		name_cache(&key, BPF_CORE_READ((struct kmem_cache *)ctx->args[2], name));
	else if (layout == KMEM_BOTH_CACHES)
		name_cache(&key, (const char *)ctx->args[2]);
	return freed(&key);
}

/* --- pages --------------------------------------------------------------------------------------- */

SEC("raw_tp/mm_page_alloc")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_page_alloc, struct bpf_raw_tracepoint_args *, ctx)
{
	u32 order = ctx->args[1];
	struct kmem_live l = {};
	u64 bytes;

	if (!armed || !in_scope(NULL))
		return 0;
	common_key(&l.key, 0);
	if (by & BY_ORDER)
		l.key.order = order;
	if (by & BY_MIGRATETYPE)
		l.key.migratetype = ctx->args[3];
	bytes = 1ULL << (page_shift + (order & 31));
	return allocated(ctx, &l, ctx->args[0], bytes, bytes);
}

/* Fires for every page freed, including those of mm_page_free_batched. */
SEC("raw_tp/mm_page_free")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_page_free, struct bpf_raw_tracepoint_args *, ctx)
{
	struct kmem_key key = {};

	if (!armed)
		return 0;
	if (follow)
		return end_following(ctx->args[0]);
	if (!in_scope(NULL))
		return 0;
	common_key(&key, 0);
	if (by & BY_ORDER)
		key.order = (u32)ctx->args[1];
	if (by & BY_MIGRATETYPE)
		key.migratetype = -1;   /* not reported */
	return freed(&key);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
