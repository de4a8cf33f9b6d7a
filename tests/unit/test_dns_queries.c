// SPDX-License-Identifier: BSD-2-Clause
/* The reply of each DNS query. */
#include "unit.h"

#include "net/dns_queries.h"

#define MS NSEC_PER_MSEC
#define HOST 1
#define CONTAINER 2

static struct dns_outcome shown[8];
static __u16 id[8];
static size_t n;

static int show(void *context, const struct dns_outcome *o)
{
	(void)context;
	assert_true(n < 8);
	id[n] = o->query->record.flow.id;
	shown[n++] = *o;
	return 0;
}

static struct dns_queries start(void)
{
	n = 0;
	return (struct dns_queries){ .patience_ns = 5000 * MS, .show = show };
}

static struct dns_record record_of(__u16 number, u32 netns, u64 at)
{
	return (struct dns_record){ .time_ns = at, .flow = { .id = number, .netns = netns } };
}

static void ask(struct dns_queries *q, __u16 number, u32 netns, u64 at)
{
	const struct dns_query query = { .record = record_of(number, netns, at) };

	assert_int_equal(dns_queries__query(q, &query), 0);
}

static void answer(struct dns_queries *q, __u16 number, u32 netns, u64 at)
{
	const struct dns_record reply = record_of(number, netns, at);

	assert_int_equal(dns_queries__reply(q, &reply), 0);
}

static void assert_shown(size_t i, __u16 number, bool is_answered, u64 took_ns)
{
	assert_true(i < n);
	assert_int_equal(id[i], number);
	assert_int_equal(shown[i].is_answered, is_answered);
	assert_int_equal(shown[i].took_ns, took_ns);
}

/* The reply in the namespace of the query counts, even if the host shows it before. */
static void forwarded(void **state)
{
	struct dns_queries q = start();

	(void)state;
	ask(&q, 7, CONTAINER, 10 * MS);
	answer(&q, 7, HOST, 12 * MS);
	assert_int_equal(n, 0);
	answer(&q, 7, CONTAINER, 13 * MS);
	assert_int_equal(n, 1);
	assert_shown(0, 7, true, 3 * MS);
	answer(&q, 7, CONTAINER, 14 * MS);
	assert_int_equal(n, 1);
	assert_int_equal(q.n, 0);
}

/* The host shows the reply, and nobody else does. */
static void elsewhere(void **state)
{
	struct dns_queries q = start();

	(void)state;
	ask(&q, 7, CONTAINER, 10 * MS);
	ask(&q, 8, CONTAINER, 11 * MS);
	answer(&q, 8, HOST, 12 * MS);
	answer(&q, 8, HOST, 13 * MS);
	answer(&q, 7, HOST, 9 * MS);
	assert_int_equal(dns_queries__expire(&q, 111 * MS), 0);
	assert_int_equal(n, 0);
	assert_int_equal(dns_queries__expire(&q, 112 * MS), 0);
	assert_int_equal(n, 1);
	assert_shown(0, 8, true, 1 * MS);
	answer(&q, 7, HOST, 113 * MS);
	assert_int_equal(dns_queries__settle(&q), 0);
	assert_int_equal(n, 2);
	assert_shown(1, 7, true, 103 * MS);
	assert_int_equal(q.n, 0);
}

/* Two containers with the same addresses, ports and id. */
static void same_flow(void **state)
{
	struct dns_queries q = start();

	(void)state;
	ask(&q, 7, CONTAINER, 10 * MS);
	ask(&q, 7, HOST, 11 * MS);
	answer(&q, 7, HOST, 14 * MS);
	assert_shown(0, 7, true, 3 * MS);
	answer(&q, 7, CONTAINER, 15 * MS);
	assert_shown(1, 7, true, 5 * MS);
	assert_int_equal(q.n, 0);
}

/* A try counts even while a reply elsewhere is kept; the last try delays the end. */
static void tries(void **state)
{
	struct dns_queries q = start();

	(void)state;
	ask(&q, 1, CONTAINER, 0);
	ask(&q, 2, CONTAINER, 0);
	ask(&q, 1, CONTAINER, 3000 * MS);
	assert_int_equal(dns_queries__expire(&q, 5000 * MS), 0);
	assert_int_equal(n, 1);
	assert_shown(0, 2, false, 5000 * MS);
	answer(&q, 1, HOST, 5001 * MS);
	ask(&q, 1, CONTAINER, 5002 * MS);
	assert_int_equal(dns_queries__expire(&q, 11000 * MS), 0);
	assert_int_equal(n, 2);
	assert_shown(1, 1, true, 5001 * MS);
	assert_int_equal(shown[1].tries, 3);
	ask(&q, 3, CONTAINER, 11001 * MS);
	ask(&q, 4, CONTAINER, 11001 * MS);
	answer(&q, 3, HOST, 11002 * MS);
	dns_queries__free(&q);
	assert_int_equal(q.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forwarded),
		cmocka_unit_test(elsewhere),
		cmocka_unit_test(same_flow),
		cmocka_unit_test(tries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
