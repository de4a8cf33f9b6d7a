// SPDX-License-Identifier: BSD-2-Clause
#include "net/dns_sums.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "net/dns_names.h"

_Static_assert(sizeof(struct dns_key) == 336, "dns_key has padding");

/* RFC 1035, 4.1.1 */
enum {
	RCODE_SERVFAIL = 2,
	RCODE_NXDOMAIN = 3
};

/* Length bytes are below 64, so changing the case of all bytes is safe. */
static void take_name(struct dns_key *key, const struct dns_query *q, bool wants_name, bool wants_type)
{
	char text[DNS_NAME_SPACE];
	__u16 type = 0;
	size_t i, n = dns_question__parse(q->question, q->record.length, text, &type);

	if (!n)
		return;
	if (wants_type) {
		key->type = type;
		key->has_type = true;
	}
	if (!wants_name)
		return;
	key->length = n;
	for (i = 0; i < n; i++)
		key->name[i] = tolower(q->question[i]);
}

static void make_key(struct dns_key *key, const struct dns_totals *t, const struct dns_outcome *o)
{
	const struct dns_record *r = &o->query->record;

	*key = (struct dns_key){ .task = o->query->task };
	take_name(key, o->query, t->by & BY_DNS_NAME, t->by & BY_DNS_TYPE);
	if (t->by & BY_DNS_SERVER) {
		memcpy(key->server, r->flow.server, sizeof(key->server));
		key->server_port = r->flow.server_port;
		key->family = r->flow.family;
	}
	if (t->by & BY_DNS_RESULT && o->is_answered)
		key->result = 1 + (o->flags & DNS_RESULT_MASK);
}

static bool is_same(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct dns_element *)array)[index].key, key, sizeof(struct dns_key));
}

static int find(struct dns_totals *t, const struct dns_key *key, struct dns_element **found)
{
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 known = table__find(&t->index, hash, is_same, t->element, key);
	int err;

	*found = NULL;
	if (known >= 0) {
		*found = &t->element[known];
		return 0;
	}
	if (t->n >= t->most)
		return 0;
	err = ARRAY_ROOM(t->element, t->n) ?: table__add(&t->index, hash, t->n);
	if (err)
		return err;
	*found = &t->element[t->n++];
	**found = (struct dns_element){ .key = *key };
	return 0;
}

static void add_to(struct dns_sums *s, const struct dns_outcome *o)
{
	u32 code = o->flags & DNS_RESULT_MASK;

	s->queries++;
	s->tries += o->tries;
	s->ns += o->took_ns;
	if (!o->is_answered)
		s->no_reply++;
	else if (code == RCODE_NXDOMAIN)
		s->nxdomain++;
	else if (code == RCODE_SERVFAIL)
		s->servfail++;
	else if (code)
		s->other_errors++;
	else if (o->flags & DNS_TRUNCATED)
		s->truncated++;
	s->longest[0].interval = 1;
	if (o->took_ns > s->longest[0].value)
		s->longest[0].value = o->took_ns;
	s->name_stamp = o->time_ns;
	memcpy(s->name, o->query->record.comm, sizeof(s->name));
}

int dns_totals__add(struct dns_totals *t, const struct dns_outcome *o)
{
	struct dns_element *e;
	struct dns_key key;
	int err;

	make_key(&key, t, o);
	err = find(t, &key, &e);
	if (!err && e)
		add_to(&e->sums, o);
	else if (!err)
		t->lost++;
	return err;
}

int dns_totals__take(struct dns_totals *t, struct sum_set *set)
{
	int err = t->n ? sum_set__insert(set, t->element, t->n) : 0;

	table__free(&t->index);
	t->index = (struct table){};
	t->n = 0;
	return err;
}

void dns_totals__free(struct dns_totals *t)
{
	table__free(&t->index);
	free(t->element);
}
