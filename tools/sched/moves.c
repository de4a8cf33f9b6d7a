// SPDX-License-Identifier: BSD-2-Clause
#include "sched/moves.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/key_view.h"
#include "host/topology.h"

#include "bpf/sched/migrations.h"

const struct sum_layout moves_layout = {
	.key_size = sizeof(struct migrations_key), .value_size = sizeof(struct migrations_count),
	.writer_at = offsetof(struct migrations_key, writer), .nsums = 1, .named = true,
};

struct move {
	struct migrations_key key;
	struct migrations_count value;
};

static struct move *moves_of(const struct sum_set *set)
{
	return (struct move *)set->element;
}

static u64 sum_of(const struct move *move, size_t n)
{
	u64 sum = 0;

	while (n--)
		sum += move[n].value.count;
	return sum;
}

u64 moves__sum(const struct sum_set *set)
{
	return sum_of(moves_of(set), set->n);
}

/* --- the table -------------------------------------------------------------------------------- */

static int by_way(const void *a, const void *b)
{
	const struct migrations_key *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_value(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	if (x->value.count != y->value.count)
		return x->value.count > y->value.count ? -1 : 1;
	return memcmp(&x->key.task, &y->key.task, sizeof(x->key.task)) ?: by_way(a, b);
}

static int put_way(struct report *r, const struct move *move, u32 by, struct task_key_names *names)
{
	struct report_row row = {};
	int err;

	err = task_key__add_fields(&row, &move->key.task, move->value.name, by, names);
	if (!err)
		err = report_row__add_number(&row, "from", move->key.from, FIELD_ID);
	if (!err)
		err = report_row__add_number(&row, "to", move->key.to, FIELD_ID);
	if (!err)
		err = report_row__add_sum(&row, "count", move->value.count, FIELD_NUMBER);
	return report__end_row(r, &row, err);
}

int moves__table(struct report *r, const struct measurement *m, struct sum_set *set)
{
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct cli *cli = m->cli;
	const struct key_view view = { cli->by, &names, offsetof(struct migrations_key, task) };
	const struct move *move = moves_of(set);
	static const struct move none;
	int err = 0;
	size_t i;

	key_view__sum_set(&view, set);
	if (set->n)
		qsort(set->element, set->n, sizeof(*move), by_value);
	for (i = 0; i < set->n && !err; i++) {
		if (cli->top && i >= cli->top)
			r->hidden++;
		else
			err = put_way(r, &move[i], cli->by, &names);
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

/* Adds the row of a source CPU: its n moves. */
static int put_from(const struct move_columns *m, struct report *r, const struct move *move, size_t n)
{
	struct report_row row = {};
	struct field moved;
	size_t i, k;
	int err;

	err = report_row__add_number(&row, "from", move->key.from, FIELD_ID);
	for (k = 0; k < m->n && !err; k++) {
		moved = (struct field){
			.name = m->title[k], .kind = FIELD_NUMBER, .role = ROLE_COUNTER, .no_metric = true,
		};
		for (i = 0; i < n; i++)
			if ((int)move[i].key.to == m->cpu[k])
				moved.number += move[i].value.count;
		err = report_row__add_field(&row, &moved);
	}
	if (!err)
		err = report_row__add_sum(&row, "total", sum_of(move, n), FIELD_NUMBER);
	return report__end_row(r, &row, err);
}

int moves__matrix(struct report *r, const struct move_columns *m, struct sum_set *set)
{
	const struct move *move = moves_of(set);
	static const struct move none;
	size_t from, to;
	int err = 0;

	if (set->n)
		qsort(set->element, set->n, sizeof(*move), by_way);
	for (from = 0; from < set->n && !err; from = to) {
		for (to = from + 1; to < set->n && move[to].key.from == move[from].key.from; to++)
			;
		err = put_from(m, r, &move[from], to - from);
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
