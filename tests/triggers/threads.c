// SPDX-License-Identifier: BSD-2-Clause
/*
 * threads BATCHES N: creates N threads and joins them, BATCHES times. An exiting thread leaves
 * nothing behind to read, so each reads its own books as its last act, at real-time priority:
 * whatever has that (its fellows) cannot preempt it on its way out, and nothing else may.
 *
 *   done THREADS COUNT DELAY     how often and how long (ns) they waited for a CPU
 */
#include <fcntl.h>
#include <stdatomic.h>

#include "trigger.h"

static atomic_ullong count, delay;
static pthread_barrier_t made;          /* all of a batch: later ones would change the memory map */

static void *work(void *arg)
{
	struct sched_param urgent = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };
	struct books books;
	int fd;

	(void)arg;
	trigger__spin(50000);
	pthread_barrier_wait(&made);
	fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		error(1, errno, "schedstat");
	if (sched_setscheduler(0, SCHED_FIFO, &urgent))
		error(1, errno, "SCHED_FIFO");
	books = trigger__books(fd);
	close(fd);
	count += books.count;
	delay += books.delay_ns;
	return NULL;
}

int main(int argc, char **argv)
{
	long batches = trigger__number(argc, argv, 1), n = trigger__number(argc, argv, 2), b, i;
	pthread_t *thread = calloc(n, sizeof(*thread));
	pthread_attr_t attr;

	trigger__name();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&made, NULL, n);
	trigger__say("ready");
	trigger__wait();
	for (b = 0; b < batches; b++) {
		for (i = 0; i < n; i++) {
			errno = pthread_create(&thread[i], &attr, work, NULL);
			if (errno)
				error(1, errno, "pthread_create");
		}
		for (i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
	}
	trigger__say("done %ld %llu %llu", batches * n, count, delay);
	trigger__end();
}
