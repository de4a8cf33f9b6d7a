// SPDX-License-Identifier: BSD-2-Clause
/*
 * handed N: the first thread allocates 4 * N blocks of 1000 bytes. Another one, named "other", makes N of them larger,
 * fails to make N much larger, and frees N. ready, done
 */
#include "trigger.h"

#define HUGE (1UL << 62)

static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void **block;
static long n;

static void work(long i)
{
	prctl(PR_SET_NAME, "other");
	for (i = 0; i < n; i++) {
		block[i] = do_realloc(block[i], 5000);
		if (!block[i] || do_realloc(block[n + i], HUGE))
			error(1, 0, "unusual memory");
		free(block[2 * n + i]);
	}
}

int main(int argc, char **argv)
{
	struct crew crew;
	long i;

	n = trigger__number(argc, argv, 1);
	block = malloc(4 * n * sizeof(*block));
	crew__hire(&crew, 1, work);
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < 4 * n; i++)
		block[i] = do_malloc(1000);
	crew__start(&crew);
	crew__finish(&crew);
	trigger__say("done");
	trigger__end();
}
