// SPDX-License-Identifier: BSD-2-Clause
/*
 * usdt N: passes each of these probes of provider tally_test N times
 *
 *   plain(i, -i)           in one place
 *   twice(i)               in two places, N times in all
 *   guarded(i, "text")     with semaphores (usdt_semaphore.c): only while a tracer is attached
 *
 *   ready PID
 *   done PLAIN TWICE GUARDED       how often it passed each
 */
#include <sys/sdt.h>

#include "trigger.h"

#ifdef _SDT_HAS_SEMAPHORES
/* The macros of sys/sdt.h refer to these; the kernel counts listeners in them. */
#define SEMAPHORE(name) \
	extern volatile unsigned short tally_test_##name##_semaphore; \
	volatile unsigned short tally_test_##name##_semaphore \
		__attribute__((used, section(".probes")))

SEMAPHORE(plain);
SEMAPHORE(twice);
SEMAPHORE(guarded);
#define IS_LISTENED_TO(name) (tally_test_##name##_semaphore != 0)
#else
#define IS_LISTENED_TO(name) true
#endif

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), guarded = 0, i;

	trigger__name();
	trigger__say("ready %d", getpid());
	trigger__wait();
	for (i = 0; i < n; i++) {
		STAP_PROBE2(tally_test, plain, (int)i, -i);
		if (i % 3)
			STAP_PROBE1(tally_test, twice, i);
		else
			STAP_PROBE1(tally_test, twice, (unsigned char)i);
		if (IS_LISTENED_TO(guarded)) {
			STAP_PROBE2(tally_test, guarded, i, "text");
			guarded++;
		}
	}
	trigger__say("done %ld %ld %ld", n, n, guarded);
	trigger__end();
}
