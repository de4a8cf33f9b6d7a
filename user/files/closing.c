// SPDX-License-Identifier: BSD-2-Clause
#include "files/closing.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define MOST_THREADS 16
#define STACK_BYTES (64 << 10)

struct closing {
	const int *fd;
	size_t n;
	atomic_size_t next;
};

static void *close_some(void *arg)
{
	struct closing *c = arg;
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->n)
		close(c->fd[i]);
	return NULL;
}

/* Starts at most n threads with all signals blocked. Returns the number started. */
static size_t start(pthread_t *thread, size_t n, struct closing *c)
{
	sigset_t all, before;
	pthread_attr_t attr;
	size_t i;

	if (pthread_attr_init(&attr))
		return 0;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, close_some, c))
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return i;
}

void close_together(const int *fd, size_t n)
{
	struct closing c = {.fd = fd, .n = n};
	pthread_t thread[MOST_THREADS];
	size_t threads = 0, i;

	if (n > 1)
		threads = start(thread, n - 1 < MOST_THREADS ? n - 1 : MOST_THREADS, &c);
	close_some(&c);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}
