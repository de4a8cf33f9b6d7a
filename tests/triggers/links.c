// SPDX-License-Identifier: BSD-2-Clause
/*
 * links N: N times, by main() -> work(), which have frame pointers
 *
 *   through(ask)                            through() makes a frame, like code that is generated at run time, and
 *                                           has no entry in .eh_frame
 *   interrupted() -> on_signal() -> ask()   a signal handler; interrupted() has no frame, and calls nothing
 *
 * ask() calls getppid(2), and has no frame either.
 *
 *   ready
 *   done
 */
#include <signal.h>
#include <sys/syscall.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define NOIPA __attribute__((noipa))
#define FRAMELESS __attribute__((noipa, optimize("omit-frame-pointer")))

static long n;
static volatile long sink;

void ask(void);
void interrupted(long pid);
void through(void (*call)(void));

FRAMELESS void ask(void)
{
	sink = trigger__call(SYS_getppid, NULL, NULL);
}

FRAMELESS void interrupted(long pid)
{
	sink = trigger__call(SYS_kill, (void *)pid, (void *)SIGUSR1);
}

/* The frame record is not at the lower end of the frame. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl through\n"
	".type through, @function\n"
	"through:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $48, %rsp\n"
	"	call *%rdi\n"
	"	leave\n"
	"	ret\n"
	".size through, . - through\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl through\n"
	".type through, %function\n"
	"through:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	mov x29, sp\n"
	"	sub sp, sp, #48\n"
	"	blr x0\n"
	"	mov sp, x29\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
	".size through, . - through\n");
#endif

static NOIPA void on_signal(int signal)
{
	ask();
	sink = signal;
}

static NOIPA void work(void)
{
	long pid = getpid(), i;

	for (i = 0; i < n; i++) {
		through(ask);
		interrupted(pid);
	}
	sink++;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };

	n = trigger__number(argc, argv, 1);
	trigger__name();
	if (sigaction(SIGUSR1, &action, NULL))
		error(1, errno, "sigaction");
	trigger__say("ready");
	trigger__wait();
	work();
	trigger__say("done");
	trigger__end();
}
