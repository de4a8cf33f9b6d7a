// SPDX-License-Identifier: BSD-2-Clause
#include "calls/counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/iterator.h"

/* --- the programs' counts --------------------------------------------------------------------- */

const struct sum_layout calls_layout = {
	.key_size = sizeof(struct syscount_key), .value_size = sizeof(struct syscount_count),
	.writer_at = offsetof(struct syscount_key, writer), .nsums = 1, .named = true,
};

struct counted {
	struct syscount_key key;
	struct syscount_count value;
};

int calls__read_array(struct sum_set *set, int map_fd)
{
	struct counted *found = calloc(OUTCOME_INDEXES, sizeof(*found));
	int ncpus = libbpf_num_possible_cpus(), cpu, err = 0;
	u64 *values = calloc(ncpus < 0 ? 1 : ncpus, sizeof(*values)), sum;
	size_t n = 0;
	u32 i;

	*set = (struct sum_set){ .layout = &calls_layout };
	if (ncpus < 0 || !values || !found)
		err = ncpus < 0 ? ncpus : -ENOMEM;
	for (i = 0; i < OUTCOME_INDEXES && !err; i++) {
		err = bpf_map_lookup_elem(map_fd, &i, values);
		for (sum = 0, cpu = 0; cpu < ncpus && !err; cpu++)
			sum += values[cpu];
		if (sum)
			found[n++] = (struct counted){ { .outcome = OUTCOME(i >> 1, i & 1) }, { .count = sum } };
	}
	if (!err)
		err = sum_set__insert(set, found, n);
	free(values);
	free(found);
	return err;
}

/* --- sets ------------------------------------------------------------------------------------- */

/* Takes ownership of the histogram, even if it returns -ENOMEM. */
static int add(struct calls *set, struct call *each)
{
	if (!set->tell_errors)
		each->outcome = OUTCOME(outcome_call(each->outcome), 0);
	if (ARRAY_APPEND(set->call, set->n, *each)) {
		histogram__free(&each->hist);
		return -ENOMEM;
	}
	return 0;
}

int calls__add_counts(struct calls *set, const struct sum_set *counts)
{
	struct call each;
	size_t i;
	int err = 0;

	for (i = 0; i < counts->n && !err; i++) {
		const struct counted *e = sum_set__at(counts, i);

		each = (struct call){ .task = e->key.task, .outcome = e->key.outcome, .calls = e->value.count };
		each.errors = outcome_errno(e->key.outcome) ? e->value.count : 0;
		memcpy(each.name, e->value.name, sizeof(each.name));
		err = add(set, &each);
	}
	return err;
}

int calls__add_times(struct calls *set, struct hist_set *times)
{
	bool only_calls = times->key_size == sizeof(u64);
	struct call each;
	size_t i;
	int err = 0;

	for (i = 0; i < times->ngroups && !err; i++) {
		struct hist_group *g = &times->group[i];
		const char *key = g->key;

		each = (struct call){ .hist = g->hist, .calls = g->hist.count };
		g->hist = (struct histogram){};
		if (!only_calls)
			memcpy(&each.task, key, sizeof(each.task));
		memcpy(&each.outcome, key + times->key_size - sizeof(u64), sizeof(u64));
		each.errors = outcome_errno(each.outcome) ? each.calls : 0;
		memcpy(each.name, g->name, sizeof(each.name));
		err = add(set, &each);
	}
	return err;
}

static int add_running(void *context, const void *record)
{
	const struct syscount_running *r = record;
	struct call each = {
		.task = r->task, .outcome = r->outcome, .running = 1,
		.longest_ns = r->elapsed_ns, .so_far_ns = r->elapsed_ns,
	};

	memcpy(each.name, r->name, sizeof(each.name));
	return add(context, &each);
}

int calls__add_running(struct calls *set, int fd)
{
	return iterator__each(fd, sizeof(struct syscount_running), add_running, set);
}

static int compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	int d = memcmp(&x->task, &y->task, sizeof(x->task));

	if (d)
		return d;
	return x->outcome < y->outcome ? -1 : x->outcome > y->outcome;
}

static int merge(struct call *to, struct call *from)
{
	int err = histogram__add(&to->hist, &from->hist);

	histogram__free(&from->hist);
	to->calls += from->calls;
	to->errors += from->errors;
	to->running += from->running;
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
	to->so_far_ns += from->so_far_ns;
	to->before_ns += from->before_ns;
	to->ahead_ns += from->ahead_ns;
	to->time_ns += from->time_ns;
	if (from->name[0])
		memcpy(to->name, from->name, sizeof(to->name));
	return err;
}

static int settle(struct calls *set)
{
	size_t i, n = 0;
	int err = 0;

	if (!set->n)
		return 0;
	qsort(set->call, set->n, sizeof(*set->call), compare);
	for (i = 1; i < set->n; i++) {
		if (!compare(&set->call[n], &set->call[i]))
			err = merge(&set->call[n], &set->call[i]) ?: err;
		else
			set->call[++n] = set->call[i];
	}
	set->n = n + 1;
	return err;
}

/* --- times over intervals --------------------------------------------------------------------- */

/*
 * The change is negative if a call that was in progress at the last report has returned, but is not
 * in hist yet. The missing time is added to ahead_ns, and subtracted from the next report, whose
 * hist contains it.
 */
static void spend(struct call *c)
{
	u64 there = c->hist.sum + c->so_far_ns, gone = c->before_ns + c->ahead_ns;

	c->time_ns = there > gone ? there - gone : 0;
	c->ahead_ns = there < gone ? gone - there : 0;
	if (c->ahead_ns > c->before_ns)
		c->ahead_ns = c->before_ns;
}

int calls__add_up(struct calls *set, struct calls *before)
{
	struct calls next = { .tell_errors = set->tell_errors };
	struct call each;
	size_t i;
	int err = 0;

	for (i = 0; i < before->n && !err; i++)
		err = add(set, &before->call[i]);
	err = settle(set) ?: err;
	for (i = 0; i < set->n && !err; i++) {
		struct call *c = &set->call[i];

		spend(c);
		each = (struct call){
			.task = c->task, .outcome = c->outcome, .before_ns = c->so_far_ns,
			.ahead_ns = c->ahead_ns,
		};
		if (each.before_ns || each.ahead_ns)
			err = add(&next, &each);
	}
	calls__free(before);
	*before = next;
	return err;
}

int calls__regroup(struct calls *set, void (*change)(void *context, void *key), void *context)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		change(context, &set->call[i].task);
	return settle(set);
}

void calls__scale(struct calls *set, double by)
{
	size_t i;

	for (i = 0; i < set->n; i++) {
		set->call[i].calls = set->call[i].calls * by + 0.5;
		set->call[i].errors = set->call[i].errors * by + 0.5;
	}
}

void calls__free(struct calls *set)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		histogram__free(&set->call[i].hist);
	free(set->call);
	*set = (struct calls){ .tell_errors = set->tell_errors };
}
