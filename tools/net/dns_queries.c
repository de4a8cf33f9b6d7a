// SPDX-License-Identifier: BSD-2-Clause
#include "net/dns_queries.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define SAME_PACKET_NS NSEC_PER_MSEC

struct dns_waiting {
	struct dns_query query; /* first: compare() casts records to this type */
	u64 last_ns;		/* of the last try */
	u32 tries;
	TAILQ_ENTRY(dns_waiting) entry;
};

static int compare(const void *a, const void *b)
{
	const struct dns_record *x = a, *y = b;

	return memcmp(&x->flow, &y->flow, sizeof(x->flow));
}

static struct dns_waiting *find(const struct dns_queries *q, const struct dns_record *r)
{
	struct dns_waiting **found = tfind(r, &q->root, compare);

	return found ? *found : NULL;
}

static void take_out(struct dns_queries *q, struct dns_waiting *w)
{
	tdelete(w, &q->root, compare);
	TAILQ_REMOVE(&q->list, w, entry);
	q->n--;
	free(w);
}

static int give_up(struct dns_queries *q, struct dns_waiting *w, u64 now)
{
	const struct dns_outcome o = {
		.query = &w->query,
		.time_ns = now,
		.took_ns = now - w->query.record.time_ns,
		.tries = w->tries,
	};
	int err = q->show(q->context, &o);

	take_out(q, w);
	return err;
}

static bool is_same_question(const struct dns_query *a, const struct dns_query *b)
{
	return a->record.length == b->record.length && !memcmp(a->question, b->question, a->record.length);
}

static void try_again(struct dns_queries *q, struct dns_waiting *w, u64 now)
{
	if (now < w->last_ns + SAME_PACKET_NS)
		return;
	w->tries++;
	w->last_ns = now;
	TAILQ_REMOVE(&q->list, w, entry);
	TAILQ_INSERT_TAIL(&q->list, w, entry);
}

static int add(struct dns_queries *q, const struct dns_query *query)
{
	struct dns_waiting *w;

	if (q->n == DNS_QUERIES_MOST) {
		q->lost++;
		return 0;
	}
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	*w = (struct dns_waiting){ .query = *query, .last_ns = query->record.time_ns, .tries = 1 };
	if (!tsearch(w, &q->root, compare)) {
		free(w);
		return -ENOMEM;
	}
	TAILQ_INSERT_TAIL(&q->list, w, entry);
	q->n++;
	return 0;
}

int dns_queries__query(struct dns_queries *q, const struct dns_query *query)
{
	struct dns_waiting *w = find(q, &query->record);
	int err = 0;

	if (!q->is_ready)
		TAILQ_INIT(&q->list);
	q->is_ready = true;
	if (w && is_same_question(&w->query, query)) {
		try_again(q, w, query->record.time_ns);
		return 0;
	}
	if (w)
		err = give_up(q, w, query->record.time_ns);
	return err ?: add(q, query);
}

int dns_queries__reply(struct dns_queries *q, const struct dns_record *reply)
{
	struct dns_waiting *w = find(q, reply);
	struct dns_outcome o;
	int err;

	if (!w || reply->time_ns < w->query.record.time_ns)
		return 0;
	o = (struct dns_outcome){
		.query = &w->query,
		.time_ns = reply->time_ns,
		.took_ns = reply->time_ns - w->query.record.time_ns,
		.tries = w->tries,
		.is_answered = true,
		.flags = reply->flags,
		.answers = reply->answers,
	};
	err = q->show(q->context, &o);
	take_out(q, w);
	return err;
}

int dns_queries__expire(struct dns_queries *q, u64 now)
{
	struct dns_waiting *w;
	int err = 0;

	while (!err && q->n) {
		w = TAILQ_FIRST(&q->list);
		if (now < w->last_ns + q->patience_ns)
			break;
		err = give_up(q, w, now);
	}
	return err;
}

void dns_queries__free(struct dns_queries *q)
{
	while (q->n)
		take_out(q, TAILQ_FIRST(&q->list));
}
