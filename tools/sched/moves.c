// SPDX-License-Identifier: BSD-2-Clause
#include "sched/moves.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "cli/key_view.h"
#include "host/topology.h"

#include "bpf/sched/migrations.h"

static int add_element(struct counts *counts, const struct migrations_key *key,
		       const struct migrations_count *value)
{
	struct count count = {
		.key = key->task, .place = key->from, .row = key->to, .value = value->count,
		.name_stamp = value->name_stamp,
	};

	memcpy(count.name, value->name, sizeof(count.name));
	return counts__add(counts, &count);
}

int moves__read(struct counts *counts, int map_fd, volatile u32 *generation, bool *anew)
{
	struct elements e = {
		.key_size = sizeof(struct migrations_key),
		.value_size = sizeof(struct migrations_count),
	};
	const struct writer_place writer = {
		.at = offsetof(struct migrations_key, writer), .generation = generation,
	};
	int err = elements__take(&e, map_fd, &writer, anew);
	size_t i;

	*counts = (struct counts){};
	for (i = 0; i < e.n && !err; i++)
		err = add_element(counts, elements__key(&e, i), elements__value(&e, i));
	elements__free(&e);
	if (err)
		counts__free(counts);
	counts__settle(counts);
	return err;
}

static u64 sum_of(const struct count *c, size_t n)
{
	u64 sum = 0;

	while (n--)
		sum += c[n].value;
	return sum;
}

u64 moves__sum(const struct counts *c)
{
	return sum_of(c->count, c->n);
}

/* --- the table -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	int d;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	d = memcmp(&x->key, &y->key, sizeof(x->key));
	if (d)
		return d;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int put_way(struct report *r, const struct count *c, u32 by, struct task_key_names *names)
{
	struct report_row row = {};
	int err;

	err = task_key__add_fields(&row, &c->key, c->name, by, names);
	if (!err)
		err = report_row__add_number(&row, "from", c->place, FIELD_ID);
	if (!err)
		err = report_row__add_number(&row, "to", c->row, FIELD_ID);
	if (!err)
		err = report_row__add_sum(&row, "count", c->value, FIELD_NUMBER);
	return report__end_row(r, &row, err);
}

int moves__table(struct report *r, const struct measurement *m, struct counts *c)
{
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct cli *cli = m->cli;
	const struct key_view view = { cli->by, &names, 0 };
	static const struct count none;
	int err = 0;
	size_t i;

	key_view__counts(&view, c);
	if (c->n)
		qsort(c->count, c->n, sizeof(*c->count), by_value);
	for (i = 0; i < c->n && c->count[i].value && !err; i++) {
		if (cli->top && i >= cli->top)
			r->hidden++;
		else
			err = put_way(r, &c->count[i], cli->by, &names);
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, put_way(r, &none, cli->by, &names));
	task_key_names__free(&names);
	return err;
}

/* --- the matrix ------------------------------------------------------------------------------- */

/* All reports of a run have the same columns, because CSV names them only once. */
int moves__take_columns(struct move_columns *m)
{
	struct topology t;
	int err = topology__read(&t);
	size_t i;

	if (err)
		return err;
	m->cpu = calloc(t.n ?: 1, sizeof(*m->cpu));
	m->title = calloc(t.n ?: 1, sizeof(*m->title));
	if (!m->cpu || !m->title)
		err = -ENOMEM;
	for (i = 0; i < t.n && !err; i++) {
		m->cpu[i] = t.cpu[i].cpu;
		snprintf(m->title[i], sizeof(m->title[i]), "to %d", t.cpu[i].cpu);
	}
	m->n = err ? 0 : t.n;
	topology__free(&t);
	return err;
}

/* Adds the row of a source CPU: n counts, sorted by target CPU. */
static int put_from(const struct move_columns *m, struct report *r, const struct count *c, size_t n)
{
	struct report_row row = {};
	struct field moved;
	size_t i, k;
	int err;

	err = report_row__add_number(&row, "from", c->place, FIELD_ID);
	for (k = 0; k < m->n && !err; k++) {
		moved = (struct field){
			.name = m->title[k], .kind = FIELD_NUMBER, .role = ROLE_COUNTER, .no_metric = true,
		};
		for (i = 0; i < n; i++)
			if ((int)c[i].row == m->cpu[k])
				moved.number += c[i].value;
		err = report_row__add_field(&row, &moved);
	}
	if (!err)
		err = report_row__add_sum(&row, "total", sum_of(c, n), FIELD_NUMBER);
	return report__end_row(r, &row, err);
}

int moves__matrix(struct report *r, const struct move_columns *m, const struct counts *c)
{
	static const struct count none;
	size_t from, to;
	int err = 0;

	for (from = 0; from < c->n && !err; from = to) {
		for (to = from + 1; to < c->n && c->count[to].place == c->count[from].place; to++)
			;
		if (sum_of(&c->count[from], to - from))
			err = put_from(m, r, &c->count[from], to - from);
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, put_from(m, r, &none, 0));
	return err;
}

void moves__free_columns(struct move_columns *m)
{
	free(m->cpu);
	free(m->title);
	*m = (struct move_columns){};
}
