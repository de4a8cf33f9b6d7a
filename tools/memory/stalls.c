// SPDX-License-Identifier: BSD-2-Clause
#include "memory/stalls.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/iterator.h"
#include "cli/key_view.h"

static const struct sum_layout pages_layout = {
	.key_size = sizeof(struct reclaim_pages_key), .value_size = sizeof(u64),
	.writer_at = offsetof(struct reclaim_pages_key, writer), .nsums = 1,
};

/* An element of the set of freed pages. */
struct freed {
	struct reclaim_pages_key key;
	u64 pages;
};

/* The key of a hist_group, and of a row. */
struct stall_key {
	struct task_key task;
	struct reclaim_parts parts;
};

/* All inputs of a report. */
struct gathered {
	struct hist_set hists;
	struct sum_set pages;
	struct reclaim_running *running;
	size_t nrunning;
};

const char *reclaim_kind_name(u32 kind)
{
	static const char *const names[RECLAIM_KINDS] = {
		[RECLAIM_DIRECT] = "direct",	   [RECLAIM_MEMCG] = "memcg",
		[RECLAIM_SOFTLIMIT] = "softlimit", [RECLAIM_NODE] = "node",
		[RECLAIM_COMPACT] = "compact",	   [RECLAIM_HIGH] = "high",
		[RECLAIM_KSWAPD] = "kswapd",	   [RECLAIM_OOM] = "oom",
	};

	return kind < RECLAIM_KINDS ? names[kind] : "?";
}

static const char *const part_names[] = { "kind" };

const struct own_parts reclaim_own_parts = {
	.name = part_names, .n = ARRAY_SIZE(part_names), .text = "kind (always)",
};

/*
 * --- reading -----------------------------------------------------------------------------------
 */

static int keep_running(void *context, const void *record)
{
	struct gathered *g = context;

	return ARRAY_APPEND(g->running, g->nrunning, *(const struct reclaim_running *)record);
}

static int gather_running(struct gathered *g, const struct bpf_link *link)
{
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, err;

	if (!link)
		return 0;
	if (fd < 0)
		return fd;
	err = iterator__each(fd, sizeof(*g->running), keep_running, g);
	close(fd);
	return err;
}

static int gather(struct stalls *s, struct gathered *g, struct loss_counters *losses)
{
	int err = measure__difference(&s->measure, &g->hists, losses);

	if (!err)
		err = sum_set__since(&g->pages, &s->pages_last, &(struct sum_source){
			.layout = &pages_layout, .map_fd = s->pages_fd, .generation = s->measure.maps.generation,
		});
	return err ?: gather_running(g, s->running);
}

static void drop(struct gathered *g)
{
	hist_set__free(&g->hists);
	sum_set__free(&g->pages);
	free(g->running);
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static u64 pages_of(const struct gathered *g, const struct stall_key *key)
{
	size_t i;

	for (i = 0; i < g->pages.n; i++) {
		const struct freed *f = sum_set__at(&g->pages, i);

		if (!memcmp(&f->key, key, sizeof(*key)))
			return f->pages;
	}
	return 0;
}

/* Sums the durations so far of a key's unfinished stalls, and removes these stalls. */
static u64 take_running(struct gathered *g, const struct stall_key *key)
{
	size_t i = 0;
	u64 ns = 0;

	while (i < g->nrunning) {
		if (memcmp(&g->running[i].task, &key->task, sizeof(key->task)) ||
		    g->running[i].parts.kind != key->parts.kind) {
			i++;
			continue;
		}
		ns += g->running[i].ns;
		g->running[i] = g->running[--g->nrunning];
	}
	return ns;
}

static int add_figures(struct report_row *row, const struct histogram *h, u64 pages, u64 running_ns,
		       u32 kind, const struct cli *cli)
{
	enum field_kind time = cli->milliseconds ? FIELD_TIME : FIELD_DURATION;
	bool timed = kind < RECLAIM_TIMED, frees = kind < RECLAIM_COMPACT;
	enum field_kind of_ended = timed && h->count ? time : FIELD_NONE;
	const struct field figures[] = {
		{ .name = "count", .number = h->count, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "total", .number = h->sum, .kind = timed ? time : FIELD_NONE, .role = ROLE_COUNTER },
		{ .name = "avg", .number = histogram__average(h), .kind = of_ended,
		  .role = ROLE_MEAN, .of = "total", .per = "count" },
		{ .name = "p99", .number = histogram__percentile(h, 9900), .kind = of_ended, .role = ROLE_GAUGE },
		{ .name = "max", .number = h->max, .kind = of_ended, .role = ROLE_MAXIMUM },
		{ .name = "pages", .number = pages, .kind = frees ? FIELD_NUMBER : FIELD_NONE,
		  .role = ROLE_COUNTER },
		{ .name = "unfinished", .number = running_ns, .role = ROLE_GAUGE,
		  .kind = running_ns ? time : FIELD_NONE },
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

/* A report under construction. */
struct making {
	const struct measurement *measurement;
	struct report *r;
	struct gathered g;
	struct task_key_names names;
	size_t nkeys;
};

static int add_row(struct making *m, const struct stall_key *key, const char *name,
		   const struct histogram *h)
{
	const struct cli *cli = m->measurement->cli;
	struct report_row row = {};
	int err = task_key__add_fields(&row, &key->task, name, cli->by, &m->names);

	if (!err)
		err = report_row__add_text(&row, "kind", reclaim_kind_name(key->parts.kind));
	m->nkeys = row.ncells;
	report_row__end_key(&row);
	if (!err)
		err = add_figures(&row, h, pages_of(&m->g, key), take_running(&m->g, key),
				  key->parts.kind, cli);
	m->r->events += h->count;
	return report__end_row(m->r, &row, err);
}

/* Adds rows for keys that have only unfinished stalls. */
static int add_unfinished(struct making *m)
{
	const struct histogram none = {};
	int err = 0;

	while (m->g.nrunning && !err) {
		const struct reclaim_running *last = &m->g.running[m->g.nrunning - 1];
		const struct stall_key key = { last->task, last->parts };
		char name[TASK_KEY_COMM_LEN];

		memcpy(name, last->name, sizeof(name));
		err = add_row(m, &key, name, &none);
	}
	return err;
}

static int regroup(struct making *m)
{
	struct key_view view = { m->measurement->cli->by, &m->names, 0 };
	size_t i;

	for (i = 0; i < m->g.nrunning; i++)
		key_view__change(&view, &m->g.running[i].task);
	key_view__sum_set(&view, &m->g.pages);
	return key_view__hist_set(&view, &m->g.hists);
}

int stalls__report(struct stalls *s, const struct measurement *measurement, struct report *r,
		   const char *order)
{
	static const struct stall_key no_key;
	static const struct histogram none;
	struct making m = { .measurement = measurement, .r = r, .names = { .cgroups = measurement->cgroups } };
	int err = gather(s, &m.g, &r->counters) ?: regroup(&m);
	size_t i;

	r->table = true;
	r->has_events = true;
	for (i = 0; i < m.g.hists.ngroups && !err; i++) {
		const struct hist_group *g = &m.g.hists.group[i];

		err = add_row(&m, g->key, g->name, &g->hist);
	}
	if (!err)
		err = add_unfinished(&m);
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_row(&m, &no_key, "", &none));
	task_key_names__free(&m.names);
	drop(&m.g);
	report__sort_rows(r, order, m.nkeys, measurement->cli->top);
	return err;
}

void stalls__free(struct stalls *s)
{
	bpf_link__destroy(s->running);
	sum_set__free(&s->pages_last);
	measure__free(&s->measure);
}
