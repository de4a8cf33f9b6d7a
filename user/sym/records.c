// SPDX-License-Identifier: BSD-2-Clause
/* Side-band records about processes: mappings, forks, execs, exits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sym/state.h"

/* Limit on the mappings that records add to a process. */
#define MAX_MAPPINGS 8192

static int insert_mapping(struct process *p, const struct mapping *m)
{
	struct mapping *all;
	size_t at;
	int err = process__own_code(p, 1);

	if (err)
		return err;
	all = p->code->mapping;
	for (at = p->code->n; at > 0 && all[at - 1].start > m->start; at--)
		all[at] = all[at - 1];
	all[at] = *m;
	p->code->n++;
	return 0;
}

/* Removes the range of m from p's mappings. Mappings that extend beyond m keep the parts outside it. */
static int cut_mappings(struct process *p, const struct mapping *m)
{
	size_t i, n = 0, total = p->code->n;
	struct mapping *all = p->code->mapping, behind = {};
	bool cut_behind = false;

	for (i = 0; i < total; i++) {
		struct mapping old = all[i];

		if (old.end <= m->start || old.start >= m->end) {
			all[n++] = old;
			continue;
		}
		process__keep_former(p, &old, m);
		if (old.end > m->end) {
			cut_behind = true;
			behind = old;
			behind.offset += m->end - old.start;
			behind.start = m->end;
		}
		if (old.start < m->start) {
			old.end = m->start;
			all[n++] = old;
		}
	}
	p->code->n = n;
	return cut_behind ? insert_mapping(p, &behind) : 0;
}

static int put_mapping(struct process *p, const struct mapping *m)
{
	int err = process__own_code(p, 2);

	if (!err)
		err = cut_mappings(p, m);
	return err ?: insert_mapping(p, m);
}

/*
 * True if the record is older than the last read of the mappings, which is then newer. A record from during the read
 * may belong to the mappings read or to later ones; if it is outdated, another record follows.
 */
static bool is_old(const struct process *p, u64 at_ns)
{
	return at_ns < p->seen_ns;
}

/* Mappings per process in a burst, and per second in the long run. A process that creates more loses names. */
#define MAPPINGS_AT_ONCE 4096
#define MAPPINGS_A_SECOND 512

static bool has_credit(struct process *p, u64 at_ns)
{
	u64 elapsed = at_ns > p->debt_at_ns ? at_ns - p->debt_at_ns : 0;
	u64 each = NSEC_PER_SEC / MAPPINGS_A_SECOND;

	p->debt_ns = p->debt_ns > elapsed ? p->debt_ns - elapsed : 0;
	p->debt_at_ns += elapsed;
	if (p->debt_ns >= MAPPINGS_AT_ONCE * each)
		return false;
	p->debt_ns += each;
	return true;
}

/* Returns the mapping with exactly this range. */
static struct mapping *find_exactly(const struct process *p, u64 start, u64 end)
{
	struct mapping *m = (struct mapping *)process__find_current(p, start);

	return m && m->start == start && m->end == end ? m : NULL;
}

static int take_told(struct symbols *s, struct process *p, const struct mapping_line *line,
		     struct mapping *m)
{
	struct mapping *old = find_exactly(p, m->start, m->end);
	int err;

	/* The mapping was seen before, but its time was unknown: other mappings may have preceded it. */
	if (old && mapping__is_same_code(old, m)) {
		if (m->from_ns <= p->seen_until_ns && old->path && old->from_ns == p->from_ns)
			old->from_ns = m->from_ns;
		return 0;
	}
	err = symbols__open_at_once(s, p->pid, line, m);
	if (err)
		return err;
	if (!is_old(p, m->from_ns))
		return put_mapping(p, m);
	process__keep_former(p, m, &(struct mapping){});
	return 0;
}

int symbols__mapped(struct symbols *s, u32 pid, const struct mapping_line *line, u64 at_ns,
		    u64 *replaced_ns)
{
	struct process *p = symbols__find_process_at(s, pid, at_ns) ?: symbols__find_process(s, pid);
	struct mapping m = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.inode = line->inode,
		.from_ns = at_ns,
		.executable = true,
		.kind = strcmp(line->name, "[vdso]") ? SYMBOL_USER : SYMBOL_VDSO,
		.unopened = mapping_line__has_path(line),
	};
	size_t before;
	int err;

	p = p ?: symbols__add_process(s, pid, 0);
	if (!p)
		return -ENOMEM;
	if (line->end <= line->start)
		return 0;
	/* The JIT map names code generated at run time, wherever it is mapped. */
	p->makes_code |= mapping_line__is_made(line);
	if (!has_credit(p, at_ns) || (p->code && p->code->n >= MAX_MAPPINGS)) {
		s->skipped++;
		return 0;
	}
	before = p->nformer;
	err = symbols__name_mapping(s, p, line, &m);
	m.unopened &= m.path != NULL;
	if (!err)
		err = take_told(s, p, line, &m);
	if (p->nformer > before)
		*replaced_ns = p->former[p->nformer - 1].from_ns ?: 1;
	symbols__note_seen(s, p);
	return err;
}

void symbols__note_mixed(struct symbols *s, u32 pid)
{
	struct process *p = symbols__find_process(s, pid);

	if (p && p->nformer)
		p->former[p->nformer - 1].is_mixed = true;
}

int symbols__forked(struct symbols *s, u32 pid, u32 parent, u64 at_ns)
{
	struct process *from, *p;

	if (pid == parent)
		return 0;
	from = symbols__find_process_at(s, parent, at_ns);
	/* The parent started before recording, and may still exist. */
	if (!from && symbols__see(s, parent) == -ENOMEM)
		return -ENOMEM;
	from = from ?: symbols__find_process_at(s, parent, at_ns);
	p = symbols__add_process(s, pid, at_ns);
	if (!p)
		return -ENOMEM;
	if (from && from->code) {
		p->code = from->code;
		p->code->users++;
		p->makes_code = from->makes_code;
		p->is_told = from->is_told || from->stamp.start_time;
	}
	symbols__note_seen(s, p);
	return 0;
}

/* The process was seen with its current program before the earlier record of its exec arrived. */
static void began_earlier(struct process *p, u64 at_ns)
{
	size_t i;

	if (!p->before || p->before->over_ns != p->from_ns || at_ns < p->before->from_ns)
		return;
	for (i = 0; p->code && i < p->code->n; i++)
		if (p->code->mapping[i].from_ns == p->from_ns)
			p->code->mapping[i].from_ns = at_ns;
	p->before->over_ns = at_ns;
	p->from_ns = at_ns;
}

/* The mappings were read after the exec, so they belong to the new program. The old program's are unknown. */
static void take_over(struct process *to, struct process *from)
{
	struct jit_map jit = to->jit;

	to->code = from->code;
	to->stamp = from->stamp;
	to->seen_ns = from->seen_ns;
	to->seen_until_ns = from->seen_until_ns;
	to->makes_code = from->makes_code;
	to->jit = from->jit;
	to->jit_due = from->jit_due;
	from->jit = jit;
	from->code = NULL;
}

int symbols__execed(struct symbols *s, u32 pid, u64 at_ns)
{
	struct process *p = symbols__find_process(s, pid), *before = p;
	bool was_seen = p && !p->over_ns && p->stamp.start_time && at_ns < p->seen_ns;

	if (p && at_ns < p->from_ns) {
		began_earlier(p, at_ns);
		return 0;
	}
	p = symbols__add_process(s, pid, at_ns);
	if (!p)
		return -ENOMEM;
	p->is_told = true;
	if (was_seen) {
		take_over(p, before);
		symbols__count_kept(s, before);
	}
	symbols__note_seen(s, p);
	return 0;
}

void symbols__exited(struct symbols *s, u32 pid, u64 at_ns)
{
	struct process *p = symbols__find_process_at(s, pid, at_ns);

	if (p)
		symbols__end_process(s, p, at_ns);
}

/* True for a process that holds its mmap lock most of the time: reading its mappings would block. */
static bool is_stormy(const struct process *p)
{
	return p->debt_ns >= (u64)MAPPINGS_AT_ONCE / 2 * (NSEC_PER_SEC / MAPPINGS_A_SECOND);
}

#define SLOW_NS (5 * NSEC_PER_MSEC)

int symbols__see_again(struct symbols *s, u32 pid, bool told_all)
{
	struct process *p = symbols__find_process(s, pid);
	u64 begin_ns = monotonic_ns(), took_ns;
	int err;

	if (p && !p->over_ns) {
		if (is_stormy(p) || begin_ns < p->rests_until_ns)
			return 0;
		if (told_all && (p->is_told || p->stamp.start_time))
			return symbols__take_jit_map(s, p);
	}
	err = symbols__see(s, pid);
	p = symbols__find_process(s, pid);
	took_ns = monotonic_ns() - begin_ns;
	if (p && took_ns >= SLOW_NS)
		p->rests_until_ns = begin_ns + 11 * took_ns;
	return err;
}
