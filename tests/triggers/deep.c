// SPDX-License-Identifier: BSD-2-Clause
/*
 * deep DEPTH MS KIND: main() -> begin() -> down(), which calls itself until it has been entered DEPTH times, ->
 * bottom(), which uses MS ms of CPU time: KIND 0 in itself, 1 in the kernel, 2 in a child that exits immediately
 * afterwards. Built with frame pointers.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

static volatile uint64_t sink;
static int kind;

static __attribute__((noinline)) void bottom(long ms)
{
	uint64_t end = trigger__now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ULL;
	static char zeroes[1 << 20];
	int fd = kind == 1 ? open("/dev/zero", O_RDONLY | O_CLOEXEC) : -1;

	do {
		if (kind == 1 && read(fd, zeroes, sizeof(zeroes)) < 0)
			error(1, errno, "/dev/zero");
		for (int i = 0; kind != 1 && i < 20000; i++)
			sink += i;
	} while (trigger__now(CLOCK_THREAD_CPUTIME_ID) < end);
}

static __attribute__((noinline)) void down(long depth, long ms)
{
	if (depth > 1)
		down(depth - 1, ms);
	else
		bottom(ms);
	sink++;         /* keeps the call from becoming a jump */
}

static __attribute__((noinline)) void begin(long depth, long ms)
{
	down(depth, ms);
	sink++;
}

int main(int argc, char **argv)
{
	long depth = trigger__number(argc, argv, 1), ms = trigger__number(argc, argv, 2);
	pid_t child = 0;

	kind = trigger__number(argc, argv, 3);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	if (kind == 2)
		child = fork();
	if (child < 0)
		error(1, errno, "fork");
	if (!child)
		begin(depth, ms);
	if (kind == 2 && !child)
		_exit(0);
	if (child)
		waitpid(child, NULL, 0);
	trigger__say("done");
	trigger__end();
}
