// SPDX-License-Identifier: BSD-2-Clause
/*
 * returns N: calls, for i = 0 .. N - 1
 *
 *   fill(&box, i)          writes 2 * i and "box I" to the box, which was empty; returns -i
 *   reuse(i, -i, "text")   reuses the locations of its arguments; returns 3 * i
 *   nest(3, i)             calls itself until its first argument is 0, and returns that
 *
 * Two threads, T = 0 and 1, are in waiting(T, true) before it is ready, leave it when the work begins, and then call
 * waiting(10 + T, false).
 *
 *   ready
 *   done
 */
#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

struct box {
	int number;
	char name[16];
};

static volatile long sink;
static int release[2];

long fill(struct box *box, int i);
long reuse(long a, long b, const char *text);
long nest(long left, long i);
long waiting(long thread, bool waits);

NOINLINE long fill(struct box *box, int i)
{
	box->number = 2 * i;
	snprintf(box->name, sizeof(box->name), "box %d", i);
	return -i;
}

NOINLINE long reuse(long a, long b, const char *text)
{
	sink = a + b + *text;
	a *= 3;
	b = 77;
	text = "other";
#if defined(__x86_64__)
	__asm__ volatile("" : "+D"(text), "+S"(b), "+d"(a) :: "memory");
#elif defined(__aarch64__)
	register const char *x0 __asm__("x0") = text;
	register long x1 __asm__("x1") = b, x2 __asm__("x2") = a;

	__asm__ volatile("" : "+r"(x0), "+r"(x1), "+r"(x2) :: "memory");
	a = x2;
#endif
	return a;
}

NOINLINE long nest(long left, long i)
{
	if (left)
		sink = nest(left - 1, i);
	return left;
}

NOINLINE long waiting(long thread, bool waits)
{
	char c;

	if (waits)
		sink = read(release[0], &c, 1);
	return thread;
}

static void work(long i)
{
	struct box box = {};

	sink = fill(&box, i);
	sink = reuse(i, -i, "text");
	sink = nest(3, i);
}

/* Has the thread begun to wait? It sleeps nowhere else. */
static bool is_asleep(pid_t tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		error(1, errno, "%s", path);
	fclose(file);
	return state == 'S';
}

static pid_t tids[2];

static void *begin(void *thread)
{
	__atomic_store_n(&tids[(long)thread], gettid(), __ATOMIC_RELEASE);
	sink = waiting((long)thread, true);
	sink = waiting(10 + (long)thread, false);
	return NULL;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;
	pthread_t threads[2];

	if (pipe(release))
		error(1, errno, "pipe");
	trigger__name();
	for (i = 0; i < 2; i++) {
		errno = pthread_create(&threads[i], NULL, begin, (void *)i);
		if (errno)
			error(1, errno, "a thread");
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE) || !is_asleep(tids[i]))
			usleep(1000);
	}
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++)
		work(i);
	if (write(release[1], "xx", 2) != 2)
		error(1, errno, "write");
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	trigger__say("done");
	trigger__end();
}
