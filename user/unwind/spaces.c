// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/spaces.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/clock.h"

/* BPF programs use a range for less than a millisecond. */
#define QUIET_NS NSEC_PER_SEC
#define SWEEP_NS NSEC_PER_SEC

struct unwind_space_of {
	TAILQ_ENTRY(unwind_space_of) next;
	u32 pid;
	struct process_stamp stamp;
	struct unwind_range *range;
	u64 rests_until_ns;     /* see unwind_spaces__may_see() */
};

/*
 * --- ranges ------------------------------------------------------------------------------------
 */

/* Returns the index of the first gap after a position. */
static size_t gap_behind(const struct unwind_spaces *s, u32 place)
{
	size_t low = 0, high = s->ngaps, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->gap[mid].first < place)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void remove_gap(struct unwind_spaces *s, size_t i)
{
	memmove(&s->gap[i], &s->gap[i + 1], (--s->ngaps - i) * sizeof(*s->gap));
}

static bool insert_gap(struct unwind_spaces *s, size_t i, u32 first, u32 n)
{
	if (ARRAY_ROOM(s->gap, s->ngaps))
		return false;
	memmove(&s->gap[i + 1], &s->gap[i], (s->ngaps++ - i) * sizeof(*s->gap));
	s->gap[i] = (struct unwind_gap){ first, n };
	return true;
}

/* If out of memory for a gap, the range is lost for this run. */
static void add_gap(struct unwind_spaces *s, u32 first, u32 n)
{
	size_t i = gap_behind(s, first);
	bool before = i && s->gap[i - 1].first + s->gap[i - 1].n == first;
	bool behind = i < s->ngaps && first + n == s->gap[i].first;

	if (!n)
		return;
	if (before) {
		s->gap[i - 1].n += n + (behind ? s->gap[i].n : 0);
		if (behind)
			remove_gap(s, i);
	} else if (behind) {
		s->gap[i].first = first;
		s->gap[i].n += n;
	} else {
		insert_gap(s, i, first, n);
	}
}

static void free_replaced(struct unwind_spaces *s, u64 before_ns)
{
	struct unwind_range *r;

	while ((r = STAILQ_FIRST(&s->replaced)) && r->replaced_ns <= before_ns) {
		STAILQ_REMOVE_HEAD(&s->replaced, next);
		add_gap(s, r->first, r->n);
		free(r);
	}
}

static bool cut_gap(struct unwind_spaces *s, u32 n, u32 *first)
{
	size_t i;

	*first = 0;
	for (i = 0; n && i < s->ngaps && s->gap[i].n < n; i++)
		;
	if (!n)
		return true;
	if (i == s->ngaps)
		return false;
	*first = s->gap[i].first;
	s->gap[i].first += n;
	s->gap[i].n -= n;
	if (!s->gap[i].n)
		remove_gap(s, i);
	return true;
}

/* Returns -ENOSPC if no gap is large enough. */
static int take_range(struct unwind_spaces *s, u32 n, struct unwind_range **range)
{
	struct unwind_range *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	free_replaced(s, monotonic_ns() - QUIET_NS);
	if (!cut_gap(s, n, &r->first)) {
		free(r);
		return -ENOSPC;
	}
	r->n = n;
	*range = r;
	return 0;
}

static void let_range_go(struct unwind_spaces *s, struct unwind_range *r)
{
	if (!r || --r->users)
		return;
	r->replaced_ns = monotonic_ns();
	STAILQ_INSERT_TAIL(&s->replaced, r, next);
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
	const struct unwind_space_of *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct unwind_space_of *find(const struct unwind_spaces *s, u32 pid)
{
	const struct unwind_space_of key = { .pid = pid };
	struct unwind_space_of **found = tfind(&key, &s->processes, compare);

	return found ? *found : NULL;
}

static struct unwind_space_of *get(struct unwind_spaces *s, u32 pid)
{
	struct unwind_space_of *p = find(s, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	if (!tsearch(p, &s->processes, compare)) {
		free(p);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&s->known, p, next);
	s->nknown++;
	return p;
}

static void forget(struct unwind_spaces *s, struct unwind_space_of *p)
{
	bpf_map_delete_elem(s->spaces_fd, &p->pid);
	let_range_go(s, p->range);
	tdelete(p, &s->processes, compare);
	TAILQ_REMOVE(&s->known, p, next);
	s->nknown--;
	free(p);
}

/* Makes the range current for the process. Releases its old range only after BPF programs see the new one. */
static void publish(struct unwind_spaces *s, struct unwind_space_of *p,
		    const struct process_stamp *stamp, struct unwind_range *range)
{
	const struct unwind_space space = {
		.code = stamp->code,
		.stack = stamp->stack,
		.first = range->first,
		.n = range->n,
	};
	struct unwind_range *old = p->range;

	range->users++;
	p->range = range;
	p->stamp = *stamp;
	/* The map is full. */
	if (bpf_map_update_elem(s->spaces_fd, &p->pid, &space, BPF_ANY)) {
		s->refused++;
		forget(s, p);
	}
	let_range_go(s, old);
}

/* True if the code is unchanged although data has grown, or if this is a child with its parent's code. */
static bool is_same(const struct unwind_spaces *s, const struct unwind_space_of *p,
		    const struct process_stamp *stamp, const struct unwind_mapping *mapping, u32 n)
{
	return p->range && p->range->n == n && p->stamp.code == stamp->code &&
	       p->stamp.stack == stamp->stack &&
	       !memcmp(s->mapping + p->range->first, mapping, n * sizeof(*mapping));
}

int unwind_spaces__put(struct unwind_spaces *s, u32 pid, const struct process_stamp *stamp,
		       const struct unwind_mapping *mapping, u32 n)
{
	struct unwind_space_of *p = get(s, pid);
	struct unwind_range *range;
	int err;

	if (!p)
		return -ENOMEM;
	if (is_same(s, p, stamp, mapping, n)) {
		p->stamp = *stamp;
		return 0;
	}
	err = take_range(s, n, &range);
	if (err == -ENOSPC) {
		s->refused++;
		forget(s, p);
		return 0;
	}
	if (err)
		return err;
	memcpy(s->mapping + range->first, mapping, n * sizeof(*mapping));
	publish(s, p, stamp, range);
	return 0;
}

int unwind_spaces__fork(struct unwind_spaces *s, u32 pid, u32 parent)
{
	struct unwind_space_of *from = find(s, parent), *p;

	if (!from || pid == parent)
		return 0;
	p = get(s, pid);
	if (!p)
		return -ENOMEM;
	if (p->range != from->range)
		publish(s, p, &from->stamp, from->range);
	return 0;
}

bool unwind_spaces__has(const struct unwind_spaces *s, u32 pid, const struct process_stamp *stamp)
{
	const struct unwind_space_of *p = find(s, pid);

	return p && !memcmp(&p->stamp, stamp, sizeof(*stamp));
}

/* Must match unwind_known_mapping() in bpf/lib/unwind.bpf.h. */
const struct unwind_mapping *unwind_spaces__find(const struct unwind_spaces *s, u32 pid, u64 address)
{
	const struct unwind_space_of *p = find(s, pid);
	u32 from = 0, to = p && p->range ? p->range->n : 0, middle;
	const struct unwind_mapping *m = to ? s->mapping + p->range->first : NULL;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (m[middle].start <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from && address < m[from - 1].end ? &m[from - 1] : NULL;
}

void unwind_spaces__note_seen(struct unwind_spaces *s, u32 pid, u64 now, u64 took_ns)
{
	struct unwind_space_of *p = find(s, pid);

	if (p)
		p->rests_until_ns = now + 10 * took_ns;
}

bool unwind_spaces__may_see(const struct unwind_spaces *s, u32 pid, u64 now, bool *known)
{
	const struct unwind_space_of *p = find(s, pid);

	*known = p;
	return !p || now >= p->rests_until_ns;
}

/* Children share their parent's range, so mappings that have been settled no longer have a token. */
void unwind_spaces__settle(struct unwind_spaces *s, u32 token,
			   void (*settle)(void *arg, struct unwind_mapping *m), void *arg)
{
	struct unwind_space_of *p;
	u32 i;

	TAILQ_FOREACH(p, &s->known, next)
		for (i = 0; p->range && i < p->range->n; i++)
			if (s->mapping[p->range->first + i].token == token)
				settle(arg, &s->mapping[p->range->first + i]);
}

void unwind_spaces__sweep(struct unwind_spaces *s)
{
	u64 now = monotonic_ns();
	struct unwind_space_of *p, *next;

	if (now - s->swept_ns < SWEEP_NS)
		return;
	s->swept_ns = now;
	for (p = TAILQ_FIRST(&s->known); p; p = next) {
		next = TAILQ_NEXT(p, next);
		if (kill(p->pid, 0) && errno == ESRCH)
			forget(s, p);
	}
}

/*
 * --- setup and teardown ------------------------------------------------------------------------
 */

static size_t array_bytes(u32 room)
{
	return (size_t)room * sizeof(struct unwind_mapping);
}

int unwind_spaces__init(struct unwind_spaces *s, int spaces_fd, int mappings_fd)
{
	struct bpf_map_info info = {};
	u32 size = sizeof(info);
	void *memory;

	memset(s, 0, sizeof(*s));
	TAILQ_INIT(&s->known);
	STAILQ_INIT(&s->replaced);
	s->spaces_fd = spaces_fd;
	if (bpf_obj_get_info_by_fd(mappings_fd, &info, &size))
		return -errno;
	memory = mmap(NULL, array_bytes(info.max_entries), PROT_READ | PROT_WRITE, MAP_SHARED,
		      mappings_fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	s->mapping = memory;
	s->room = info.max_entries;
	return insert_gap(s, 0, 0, s->room) ? 0 : -ENOMEM;
}

/* The maps are freed with the programs, so there is no need to empty them. */
void unwind_spaces__free(struct unwind_spaces *s)
{
	struct unwind_space_of *p;

	while (s->mapping && (p = TAILQ_FIRST(&s->known))) {
		let_range_go(s, p->range);
		tdelete(p, &s->processes, compare);
		TAILQ_REMOVE(&s->known, p, next);
		free(p);
	}
	if (s->mapping) {
		free_replaced(s, UINT64_MAX);
		munmap(s->mapping, array_bytes(s->room));
	}
	free(s->gap);
	memset(s, 0, sizeof(*s));
}
