// SPDX-License-Identifier: BSD-2-Clause
#include "net/dns_queries.h"

#include <errno.h>
#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SAME_PACKET_NS NSEC_PER_MSEC

struct dns_waiting {
	struct dns_query query; /* first: compare() casts records to this type */
	u64 last_ns;		/* of the last try */
	u32 tries;
	struct dns_record seen; /* a reply in another namespace, if has_seen */
	bool has_seen;
	TAILQ_ENTRY(dns_waiting) entry; /* of the list, or of elsewhere if has_seen */
};

/* Flows are sorted by their bytes, so those that differ only in the namespace are neighbours. */
_Static_assert(offsetof(struct dns_flow, netns) == 40, "the namespace follows what it does not separate");

static int compare(const void *a, const void *b)
{
	const struct dns_record *x = a, *y = b;

	return memcmp(&x->flow, &y->flow, sizeof(x->flow));
}

static int compare_elsewhere(const void *a, const void *b)
{
	const struct dns_record *x = a, *y = b;

	return memcmp(&x->flow, &y->flow, offsetof(struct dns_flow, netns));
}

static struct dns_waiting *find(const struct dns_queries *q, const struct dns_record *r,
				int (*compare_with)(const void *, const void *))
{
	struct dns_waiting **found = tfind(r, &q->root, compare_with);

	return found ? *found : NULL;
}

static void take_out(struct dns_queries *q, struct dns_waiting *w)
{
	tdelete(w, &q->root, compare);
	TAILQ_REMOVE(w->has_seen ? &q->elsewhere : &q->list, w, entry);
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

static int end(struct dns_queries *q, struct dns_waiting *w, const struct dns_record *reply)
{
	const struct dns_outcome o = {
		.query = &w->query,
		.time_ns = reply->time_ns,
		.took_ns = reply->time_ns - w->query.record.time_ns,
		.tries = w->tries,
		.is_answered = true,
		.flags = reply->flags,
		.answers = reply->answers,
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
	if (w->has_seen)
		return;
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
	struct dns_waiting *w = find(q, &query->record, compare);
	int err = 0;

	if (!q->is_ready) {
		TAILQ_INIT(&q->list);
		TAILQ_INIT(&q->elsewhere);
	}
	q->is_ready = true;
	if (w && is_same_question(&w->query, query)) {
		try_again(q, w, query->record.time_ns);
		return 0;
	}
	if (w)
		err = w->has_seen ? end(q, w, &w->seen) : give_up(q, w, query->record.time_ns);
	return err ?: add(q, query);
}

static void keep_reply(struct dns_queries *q, struct dns_waiting *w, const struct dns_record *reply)
{
	if (w->has_seen)
		return;
	TAILQ_REMOVE(&q->list, w, entry);
	TAILQ_INSERT_TAIL(&q->elsewhere, w, entry);
	w->has_seen = true;
	w->seen = *reply;
}

int dns_queries__reply(struct dns_queries *q, const struct dns_record *reply)
{
	struct dns_waiting *w = find(q, reply, compare);

	if (w)
		return reply->time_ns < w->query.record.time_ns ? 0 : end(q, w, reply);
	w = find(q, reply, compare_elsewhere);
	if (w && reply->time_ns >= w->query.record.time_ns)
		keep_reply(q, w, reply);
	return 0;
}

static int end_elsewhere(struct dns_queries *q, u64 until)
{
	struct dns_waiting *w;
	int err = 0;

	while (!err && q->n && (w = TAILQ_FIRST(&q->elsewhere)) && w->seen.time_ns <= until)
		err = end(q, w, &w->seen);
	return err;
}

int dns_queries__settle(struct dns_queries *q)
{
	return end_elsewhere(q, UINT64_MAX);
}

int dns_queries__expire(struct dns_queries *q, u64 now)
{
	struct dns_waiting *w;
	int err = end_elsewhere(q, now - DNS_ELSEWHERE_NS);

	while (!err && q->n && (w = TAILQ_FIRST(&q->list)) && now >= w->last_ns + q->patience_ns)
		err = give_up(q, w, now);
	return err;
}

static void free_list(struct dns_queries *q, const struct dns_waiting_list *list)
{
	while (q->n && TAILQ_FIRST(list))
		take_out(q, TAILQ_FIRST(list));
}

void dns_queries__free(struct dns_queries *q)
{
	free_list(q, &q->list);
	free_list(q, &q->elsewhere);
}
