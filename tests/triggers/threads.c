// SPDX-License-Identifier: BSD-2-Clause
/*
 * threads BATCHES N: creates N threads, which compete for the CPUs, and joins them one by one, BATCHES times. An exited
 * thread's schedstat cannot be read, so each thread reads its own as its last act. It does so at a real-time priority,
 * so that nothing preempts it on its way out, and alone, so that it seldom has to wait there.
 *
 *   done THREADS COUNT DELAY     how often and how long (ns) they waited for a CPU
 */
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "trigger.h"

static atomic_ullong count, delay;

static void *work(void *arg)
{
	struct sched_param urgent = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };
	struct books books;
	int fd;

	trigger__spin(50000);
	sem_wait(arg);
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
	sem_t *turn = calloc(n, sizeof(*turn));
	pthread_attr_t attr;

	for (i = 0; i < n; i++)
		sem_init(&turn[i], 0, 0);
	trigger__name();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	trigger__say("ready");
	trigger__wait();
	for (b = 0; b < batches; b++) {
		for (i = 0; i < n; i++) {
			errno = pthread_create(&thread[i], &attr, work, &turn[i]);
			if (errno)
				error(1, errno, "pthread_create");
		}
		for (i = 0; i < n; i++) {
			sem_post(&turn[i]);
			pthread_join(thread[i], NULL);
		}
	}
	trigger__say("done %ld %llu %llu", batches * n, count, delay);
	trigger__end();
}
