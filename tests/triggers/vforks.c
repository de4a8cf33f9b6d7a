// SPDX-License-Identifier: BSD-2-Clause
/*
 * vforks N: N times a vfork(2) whose child exits at once
 *
 *   work() -> outer() -> vfork()
 *
 *   ready
 *   done
 */
#include <sys/wait.h>

#include "trigger.h"

#pragma GCC optimize("omit-frame-pointer", "no-optimize-sibling-calls")

#define NOIPA __attribute__((noipa))

static volatile long ended;

static NOIPA void outer(void)
{
	pid_t child = vfork();

	if (!child)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		error(1, errno, "vfork");
	ended++;
}

static NOIPA void work(long n)
{
	while (n--)
		outer();
	ended++;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1);

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	work(n);
	trigger__say("done");
	trigger__end();
}
