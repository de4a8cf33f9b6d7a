// SPDX-License-Identifier: BSD-2-Clause
/*
 * The load of the benchmarks of probe, stackcount and profile:
 *
 *   work reads N KEYS        read() N times, with counts 0 .. KEYS - 1 in turn; they read nothing
 *   work mallocs N SIZES     malloc() and free() N times, of that many sizes in turn
 *   work sites N SITES       call N functions, site_0000 .. in turn
 *   work spin SECONDS DEPTH  two threads spin below DEPTH calls
 *
 * Says how much CPU time that took: took SECONDS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define SITES 1000

static volatile long sink;

/* site_0000() .. site_0999() */
#define ONE(n) NOINLINE long site_0##n(long value); \
	NOINLINE long site_0##n(long value) { sink = value; return value + 1; }
#define NAME(n) site_0##n,
#define TEN(do, n) do(n##0) do(n##1) do(n##2) do(n##3) do(n##4) \
	do(n##5) do(n##6) do(n##7) do(n##8) do(n##9)
#define HUNDRED(do, n) TEN(do, n##0) TEN(do, n##1) TEN(do, n##2) TEN(do, n##3) TEN(do, n##4) \
	TEN(do, n##5) TEN(do, n##6) TEN(do, n##7) TEN(do, n##8) TEN(do, n##9)
#define THOUSAND(do) HUNDRED(do, 0) HUNDRED(do, 1) HUNDRED(do, 2) HUNDRED(do, 3) HUNDRED(do, 4) \
	HUNDRED(do, 5) HUNDRED(do, 6) HUNDRED(do, 7) HUNDRED(do, 8) HUNDRED(do, 9)

THOUSAND(ONE)
static long (*const sites[])(long) = { THOUSAND(NAME) };
_Static_assert(sizeof(sites) / sizeof(*sites) == SITES, "a thousand");

/* The compiler knows what malloc() and free() do, and leaves out pairs of them. */
static void *(*volatile allocate)(size_t) = malloc;

static double cpu_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void reads(long n, long keys)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char *buffer = calloc(1, (size_t)keys);
	long i;

	if (fd < 0 || !buffer)
		error(1, errno, "reads");
	for (i = 0; i < n; i++)
		sink = read(fd, buffer, (size_t)(i % keys));
	free(buffer);
	close(fd);
}

static void mallocs(long n, long sizes)
{
	long i;

	for (i = 0; i < n; i++)
		free(allocate((size_t)(16 + i % sizes)));
}

static void call_sites(long n, long of)
{
	long i;

	for (i = 0; i < n; i++)
		sites[i % of](i);
}

static NOINLINE long spin_below(long depth, double seconds)
{
	long i, below = 0;

	if (depth)
		below = spin_below(depth - 1, seconds);
	else
		while (cpu_seconds(CLOCK_MONOTONIC) < seconds)
			for (i = 0; i < 1000; i++)
				sink = i;
	sink = below;
	return below + 1;
}

struct spin {
	long depth;
	double until;
};

static void *spin_thread(void *arg)
{
	const struct spin *spin = arg;

	spin_below(spin->depth, spin->until);
	return NULL;
}

static void spin(long seconds, long depth)
{
	struct spin s = { depth, cpu_seconds(CLOCK_MONOTONIC) + (double)seconds };
	pthread_t other;

	if (pthread_create(&other, NULL, spin_thread, &s))
		error(1, 0, "no thread");
	spin_thread(&s);
	pthread_join(other, NULL);
}

static long number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 0);

	if (*end || n < 1)
		error(2, 0, "not a number above zero: %s", text);
	return n;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long n, long of);
	} loads[] = {
		{ "reads", reads }, { "mallocs", mallocs }, { "sites", call_sites }, { "spin", spin },
	};
	size_t i;
	long n, of;

	if (argc != 4)
		error(2, 0, "usage: work reads|mallocs|sites|spin N OF");
	n = number(argv[2]);
	of = number(argv[3]);
	for (i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		if (strcmp(argv[1], loads[i].name))
			continue;
		if (loads[i].run == call_sites && of > SITES)
			error(2, 0, "there are %d sites", SITES);
		loads[i].run(n, of);
		printf("took %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
		return 0;
	}
	error(2, 0, "no such load: %s", argv[1]);
}
