// SPDX-License-Identifier: BSD-2-Clause
/*
 * handlers N [PROGRAM]: makes on_signal() the handler of SIGUSR1. Calls take(HANDLER, &operations) with addresses of
 * code, N times each: first(), one byte after the start of second(), the C library's getppid(), &number, NULL, and 1.
 * The operations are {first, hidden}. Finally it executes PROGRAM with N as its argument.
 *
 *   ready
 *   done            unless it executes a program
 */
#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

struct operations {
	long (*open)(long n);
	long (*close)(long n);
};

static volatile long sink;
long number = 1;

long first(long n);
long second(long n);
long take(const void *handler, const struct operations *operations);

/* With SWAPPED, each function is at the place of the other one. */
#ifdef SWAPPED
#define LOWER second
#define UPPER first
#else
#define LOWER first
#define UPPER second
#endif

NOINLINE long LOWER(long n)
{
	sink = n + 1;
	return n;
}

NOINLINE long UPPER(long n)
{
	sink = n + 2;
	return n;
}

static NOINLINE long hidden(long n)
{
	sink = n + 3;
	return n;
}

static void on_signal(int signal)
{
	(void)signal;
}

NOINLINE long take(const void *handler, const struct operations *operations)
{
	sink = (long)handler;
	return operations->open(1) + operations->close(2);
}

int main(int argc, char **argv)
{
	static const struct operations operations = { first, hidden };
	long n = trigger__number(argc, argv, 1), i;

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	signal(SIGUSR1, on_signal);
	for (i = 0; i < n; i++) {
		sink = take(first, &operations);
		sink = take((const char *)second + 1, &operations);
		sink = take(getppid, &operations);
		sink = take(&number, &operations);
		sink = take(NULL, &operations);
		sink = take((const void *)1, &operations);
	}
	if (argc > 2) {
		execl(argv[2], argv[2], argv[1], NULL);
		error(1, errno, "%s", argv[2]);
	}
	trigger__say("done");
	trigger__end();
}
