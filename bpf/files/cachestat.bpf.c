// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The page cache: pages that reads and page faults request, and those among them that were missing.
 *
 * Requests are reported by the tracepoints of reads and faults (6.12). At that time the same task has already added the
 * missing pages to the cache: mm_filemap_add_to_page_cache reports them, including readahead, before the read reports
 * which pages it requested. So a task's additions are kept until the read reports. A fault reports its page first.
 *
 * The subject is the requesting task, which is always the current one.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "cachestat.h"
#include "file_name.bpf.h"
#include "loss.bpf.h"
#include "page.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "sums.bpf.h"
#include "syscalls.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "writer.bpf.h"

#define NO_PAGE (~0ULL)

const volatile u8 calls[SYSCALL_ABIS][SYSCALL_NUMBERS] = {};    /* enum cachestat_call */

SUMS(struct cachestat_key, struct cachestat_sums)

/* A name under construction: too large for the stack. */
struct name_room {
	u64 holders;
	struct file_record name;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct name_room);
} rooms SEC(".maps");

/* Maximum number of runs of added pages that are kept until their call reports which pages it requested. */
#define RUNS 12

/* A call is identified by the number of reads that its task has finished. */
struct cache_state {
	u64 call, mapping;              /* the call and file of the runs */
	u64 from[RUNS];
	u32 pages[RUNS];
	u32 n, pad;
	u64 read_call, read_mapping, read_at, read_last;        /* the pages last requested */
	u64 fault, fault_mapping, fault_page;                   /* the page fault last counted */
};

TASK_STATE(cache_states, struct cache_state)

/* --- files and their names -------------------------------------------------------------------- */

static __always_inline struct inode *host_of(u64 mapping)
{
	return BPF_CORE_READ((struct address_space *)mapping, host);
}

static __always_inline void id_of(struct file_id *id, u64 mapping)
{
	struct inode *inode = host_of(mapping);

	id->inode = BPF_CORE_READ(inode, i_ino);
	id->generation = BPF_CORE_READ(inode, i_generation);
	id->device = BPF_CORE_READ(inode, i_sb, s_dev);
}

/* One of the file's names, if the kernel has one cached. */
static __always_inline struct dentry *dentry_of(struct inode *inode)
{
	struct hlist_node *first = BPF_CORE_READ(inode, i_dentry.first);
	u64 at = (u64)first;

	if (!first)
		return NULL;
	if (bpf_core_field_exists(struct dentry, d_u.d_alias))
		return (struct dentry *)(at - bpf_core_field_offset(struct dentry, d_u.d_alias));
	if (bpf_core_field_exists(struct dentry___alias, d_alias))
		return (struct dentry *)(at - bpf_core_field_offset(struct dentry___alias, d_alias));
	return NULL;
}

/* Stores the path up to the root of the file system; the mount is unknown here. */
static __always_inline void name_of(struct file_name *n, struct inode *inode)
{
	struct dentry *d = dentry_of(inode), *parent;
	u32 i;

	n->flags = d ? 0 : FILE_NAME_UNKNOWN;
	n->mode = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	n->inode = BPF_CORE_READ(inode, i_ino);
	n->size = 0;
	if (!d)
		return;
	if (!BPF_CORE_READ(d, d_hash.pprev))
		n->flags |= FILE_NAME_DELETED;
	for (i = 0; i < FILE_DEPTH; i++) {
		parent = BPF_CORE_READ(d, d_parent);
		if (d == parent)
			return;
		if (!file_name_add(n, d))
			break;
		d = parent;
	}
	n->flags |= FILE_NAME_CUT;
}

static __noinline int send_name(const struct file_id *id, u64 mapping)
{
	struct name_room *room;
	u32 zero = 0;
	u64 size;

	room = bpf_map_lookup_elem(&rooms, &zero);
	if (!room)
		return 0;
	if (!claim_alone(&room->holders)) {
		count_lost(LOSS_INCOMPLETE);
		return 0;
	}
	room->name.id = *id;
	name_of(&room->name.name, host_of(mapping));
	size = room->name.name.size;
	barrier_var(size);
	if (size <= sizeof(room->name.name.names))
		ring_output_name(&room->name,
				 __builtin_offsetof(struct file_record, name.names) + size);
	give_up_claim(&room->holders);
	return 0;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* Returns an argument as a number, because the verifier forbids arithmetic on typed pointers. */
static __always_inline u64 argument(unsigned long long *ctx, u32 n)
{
	u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), ctx + n);
	return value;
}

/* --- sums ------------------------------------------------------------------------------------- */

/*
 * The events are the pages requested, so these are lost. Misses and pages added are pages of a request, or get counted
 * as unasked; pages written also become dirty. The others are in no event, but their columns lack them.
 */
static __noinline int count_without_room(u32 what, u64 pages, int err)
{
	switch (what) {
	case CACHESTAT_READ:
	case CACHESTAT_FAULT:
		count_failed_updates(err, pages);
		break;
	case CACHESTAT_UNASKED:
	case CACHESTAT_OTHER:
	case CACHESTAT_DIRTIED:
		count_lost_many(LOSS_INCOMPLETE, pages);
		break;
	}
	return 0;
}

static __noinline int count(u64 mapping, u32 what, u64 pages)
{
	struct cachestat_key key = { .writer = shared_writer() };
	struct cachestat_sums *e;
	u64 at = what;
	long err;

	if (!pages)
		return 0;
	if (by & BY_CACHED_FILE)
		id_of(&key.id, mapping);
	task_key_of(&key.task, NULL);
	e = sums_try(&key, &err);
	if (!e)
		return count_without_room(what, pages, err);
	if (!err && by & BY_CACHED_FILE)
		send_name(&key.id, mapping);
	barrier_var(at);
	if (at < CACHESTAT_COUNTS)
		__sync_fetch_and_add(&e->sum[at], pages);
	task_key_name(e->name, &e->name_stamp, NULL, bpf_ktime_get_ns());
	return 0;
}

static __always_inline bool counts(void)
{
	return armed && in_scope(NULL);
}

/* --- calls and faults ------------------------------------------------------------------------- */

static __always_inline u32 call_number(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	if (BPF_CORE_READ(t, flags) & PF_KTHREAD)
		return ~0U;
	return current_syscall_number();
}

static __always_inline u8 call_mark(u32 number)
{
	u64 nr = number;

	barrier_var(nr);
	if (nr >= SYSCALL_NUMBERS)
		return CACHESTAT_CALL_NONE;
	return in_native_syscall() ? calls[SYSCALL_NATIVE][nr] : calls[SYSCALL_COMPAT][nr];
}

static __always_inline u64 reads_ended(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	return bpf_core_field_exists(t->ioac.syscr) ? BPF_CORE_READ(t, ioac.syscr) : 0;
}

/* Identifies the current call, so that it differs from the previous and the next one. */
static __always_inline u64 this_call(u32 number)
{
	return (reads_ended() << 16 | (number & 0xffff)) + 1;
}

/*
 * Identifies the current page fault by the number of completed faults. No fault lasts longer than the read in which it
 * occurs.
 */
static __always_inline u64 this_fault(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	return (BPF_CORE_READ(t, min_flt) + BPF_CORE_READ(t, maj_flt) + 1) ^ reads_ended() << 40;
}

static __always_inline struct cache_state *own_state(void)
{
	struct cache_state *s = cache_states_get(calling_task(), NULL);

	if (!s)
		count_lost(LOSS_NO_STORAGE);
	return s;
}

/* --- pages that are added --------------------------------------------------------------------- */

/* A large folio stores its number of pages in its second page; the member had other names before. */
static __always_inline u64 pages_of(u64 folio)
{
	u64 flags = 0;

	if (!bpf_core_type_exists(struct folio))
		return 1;
	bpf_probe_read_kernel(&flags, sizeof(flags), (void *)folio);
	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 1;
	if (bpf_core_field_exists(struct folio, _nr_pages))
		return BPF_CORE_READ((struct folio *)folio, _nr_pages);
	if (bpf_core_field_exists(struct folio___old, _folio_nr_pages))
		return BPF_CORE_READ((struct folio___old *)folio, _folio_nr_pages);
	return 1;
}

static __always_inline u64 mapping_of(u64 folio)
{
	if (bpf_core_type_exists(struct folio))
		return (u64)BPF_CORE_READ((struct folio *)folio, mapping);
	return (u64)BPF_CORE_READ((struct page *)folio, mapping);
}

static __always_inline u64 index_of(u64 folio)
{
	if (bpf_core_type_exists(struct folio))
		return BPF_CORE_READ((struct folio *)folio, index);
	return BPF_CORE_READ((struct page *)folio, index);
}

/* Counts the runs of pages that the call did not request. */
static __noinline int drop_runs(struct cache_state *s)
{
	u64 pages = 0;
	u32 i;

	for (i = 0; i < RUNS; i++)
		if (i < s->n)
			pages += s->pages[i];
	s->n = 0;
	return count(s->mapping, CACHESTAT_UNASKED, pages);
}

static __always_inline bool is_device(u64 mapping)
{
	return (BPF_CORE_READ(host_of(mapping), i_mode) & S_IFMT) == S_IFBLK;
}

/*
 * Counts the pages immediately, because a task that adds pages and never requests any, like a kernel thread, is not
 * seen here again.
 */
static __noinline int keep(struct cache_state *s, u64 mapping, u64 at, u64 pages)
{
	u64 last;

	count(mapping, CACHESTAT_ADDED, pages);
	last = s->n - 1;
	barrier_var(last);
	if (s->n && last < RUNS && s->from[last] + s->pages[last] == at) {
		s->pages[last] += pages;
		return 0;
	}
	last = s->n;
	barrier_var(last);
	if (last >= RUNS) {
		count_lost(LOSS_INCOMPLETE);
		return 0;
	}
	s->from[last] = at;
	s->pages[last] = pages;
	s->n++;
	return 0;
}

static __always_inline int added_by_fault(const struct cache_state *s, u64 mapping, u64 at, u64 pages)
{
	bool missed;

	if (mapping != s->fault_mapping)
		return count(mapping, CACHESTAT_OTHER, pages);
	missed = s->fault_page >= at && s->fault_page < at + pages;
	count(mapping, CACHESTAT_MISS, missed);
	return count(mapping, CACHESTAT_ADDED, pages);
}

static __always_inline int added(u64 mapping, u64 at, u64 pages)
{
	struct cache_state *s;
	u32 number;
	u64 call;

	s = own_state();
	if (!s)
		return count(mapping, CACHESTAT_OTHER, pages);
	if (s->fault == this_fault())
		return added_by_fault(s, mapping, at, pages);
	number = call_number();
	if (call_mark(number) == CACHESTAT_CALL_WRITE)
		return count(mapping, is_device(mapping) ? CACHESTAT_OTHER : CACHESTAT_WRITTEN, pages);
	if (call_mark(number) == CACHESTAT_CALL_ADVICE)
		return count(mapping, CACHESTAT_OTHER, pages);
	call = this_call(number);
	if (s->n && (s->call != call || s->mapping != mapping)) {
		/* The file's block map is read between the addition of its pages and the request for them. */
		if (s->call == call && is_device(mapping))
			return count(mapping, CACHESTAT_OTHER, pages);
		drop_runs(s);
	}
	s->call = call;
	s->mapping = mapping;
	return keep(s, mapping, at, pages);
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int UNPREEMPTED_PROG(on_added)
{
	u64 f = argument(ctx, 0);

	if (!counts())
		return 0;
	added(mapping_of(f), index_of(f), pages_of(f));
	return 0;
}

/* --- pages that are asked for ----------------------------------------------------------------- */

/* Pages added in the requested range are misses; the other added pages were read ahead. */
static __noinline int take_runs(struct cache_state *s, u64 at, u64 end)
{
	u64 missed = 0, from, to;
	u32 i;

	for (i = 0; i < RUNS; i++) {
		if (i >= s->n)
			break;
		from = s->from[i];
		to = from + s->pages[i];
		if (from < at)
			from = at;
		if (to > end)
			to = end;
		if (from < to)
			missed += to - from;
	}
	s->n = 0;
	return count(s->mapping, CACHESTAT_MISS, missed);
}

static __always_inline int asked(struct cache_state *s, u64 mapping, u64 call, u64 at, u64 end)
{
	if (!s->n)
		return 0;
	if (s->mapping != mapping || s->call != call)
		return drop_runs(s);
	return take_runs(s, at, end);
}

static __always_inline u64 position_of(u32 fd)
{
	struct file *f = file_of_task((struct task_struct *)bpf_get_current_task(), fd);

	return f ? BPF_CORE_READ(f, f_pos) : ~0ULL;
}

static __always_inline u64 position_at(u64 address, u32 fd)
{
	u64 position = ~0ULL;

	if (!address)
		return position_of(fd);
	bpf_probe_read_user(&position, sizeof(position), (void *)address);
	return position;
}

/* The page at which the current call begins to read; ~0 if unknown. */
static __noinline u64 call_begins(u32 mark)
{
	s64 position;

	if (!in_native_syscall())
		return ~0ULL;
	switch (mark) {
	case CACHESTAT_CALL_READ:
		return position_of(current_syscall_argument(0));
	case CACHESTAT_CALL_PREAD:
		position = current_syscall_argument(3);
		return position < 0 ? position_of(current_syscall_argument(0)) : (u64)position;
	case CACHESTAT_CALL_SENDFILE:
		return position_at(current_syscall_argument(2), current_syscall_argument(1));
	case CACHESTAT_CALL_SPLICE:
		return position_at(current_syscall_argument(1), current_syscall_argument(0));
	default:
		return ~0ULL;
	}
}

static __always_inline bool in_pieces(u32 mark)
{
	return mark == CACHESTAT_CALL_SENDFILE || mark == CACHESTAT_CALL_SPLICE;
}

/* A reported batch, in pages. */
struct batch {
	u64 mapping, call, at, last, end;
	u32 mark;
};

/*
 * The kernel does not report a batch whose last page is still being read: it returns the other pages to the reader and
 * tries again. So the begin of the request is taken from the call, or from its previous request.
 */
static __always_inline u64 begins(const struct cache_state *s, const struct batch *b)
{
	u64 at;

	if (s->read_call != b->call || s->read_mapping != b->mapping)
		at = call_begins(b->mark) >> page_shift;
	else
		at = in_pieces(b->mark) ? s->read_last + 1 : b->at;
	return at < b->at ? at : b->at;
}

static __noinline int got_batch(struct cache_state *s, const struct batch *b)
{
	u64 at;

	/* Batches of one read end at the same page. */
	if (s->read_call == b->call && s->read_mapping == b->mapping && s->read_last == b->last &&
	    b->at > s->read_at) {
		at = s->read_at;
	} else {
		at = begins(s, b);
		count(b->mapping, CACHESTAT_READ, b->end - at);
	}
	s->read_call = b->call;
	s->read_mapping = b->mapping;
	s->read_last = b->last;
	s->read_at = b->at;
	return asked(s, b->mapping, b->call, at, b->end);
}

SEC("tp_btf/mm_filemap_get_pages")
int UNPREEMPTED_PROG(on_get_pages)
{
	struct batch b = { .mapping = argument(ctx, 0), .at = argument(ctx, 1), .last = argument(ctx, 2) };
	struct inode *host = host_of(b.mapping);
	struct cache_state *s;
	u32 number;
	u64 pages;

	if (!counts())
		return 0;
	pages = pages_for(BPF_CORE_READ(host, i_size));
	b.end = b.last < pages ? b.last + 1 : pages;
	if (b.at >= b.end)
		return 0;
	s = own_state();
	if (!s)
		return 0;
	number = call_number();
	b.mark = call_mark(number);
	b.call = this_call(number);
	got_batch(s, &b);
	return 0;
}

/* --- page faults ------------------------------------------------------------------------------ */

/* A fault first tries the pages that are present, then requests its page, perhaps twice: it counts once. */
static __noinline int fault_on(u64 mapping, u64 page)
{
	u64 fault = this_fault();
	struct cache_state *s;

	if (!counts())
		return 0;
	s = own_state();
	if (!s)
		return 0;
	if (s->fault != fault)
		count(mapping, CACHESTAT_FAULT, 1);
	s->fault = fault;
	s->fault_mapping = mapping;
	s->fault_page = page;
	return 0;
}

/*
 * Excludes tmpfs, which consists only of page cache: a tracepoint, this one, reports only those of its faults whose
 * pages are present.
 */
SEC("tp_btf/mm_filemap_map_pages")
int UNPREEMPTED_PROG(on_map_pages)
{
	u64 mapping = argument(ctx, 0);

	if (!is_on_tmpfs(host_of(mapping)))
		fault_on(mapping, NO_PAGE);
	return 0;
}

SEC("tp_btf/mm_filemap_fault")
int UNPREEMPTED_PROG(on_fault)
{
	fault_on(argument(ctx, 0), argument(ctx, 1));
	return 0;
}

/* --- pages that become dirty ------------------------------------------------------------------ */

static __always_inline int dirtied(u64 folio, u64 mapping)
{
	if (counts())
		count(mapping, CACHESTAT_DIRTIED, pages_of(folio));
	return 0;
}

SEC("tp_btf/writeback_dirty_folio")
int UNPREEMPTED_PROG(on_dirtied)
{
	return dirtied(argument(ctx, 0), argument(ctx, 1));
}

/* Before 5.18. */
SEC("tp_btf/writeback_dirty_page")
int UNPREEMPTED_PROG(on_dirtied_page)
{
	return dirtied(argument(ctx, 0), argument(ctx, 1));
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
