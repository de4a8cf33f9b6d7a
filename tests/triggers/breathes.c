// SPDX-License-Identifier: BSD-2-Clause
/*
 * breathes PAGES: writes to that many pages of new memory, each a page fault, and frees them, which causes no fault.
 *
 *   ready
 *   done       they are written
 *   < one line frees them
 *   done
 */
#include <sys/mman.h>

#include "trigger.h"

#define PAGE 4096

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;
	volatile char *area = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		error(1, errno, "mmap");
	madvise((void *)area, n * PAGE, MADV_NOHUGEPAGE);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++)
		area[i * PAGE] = 1;
	trigger__say("done");
	trigger__wait();
	if (madvise((void *)area, n * PAGE, MADV_DONTNEED))
		error(1, errno, "madvise");
	trigger__say("done");
	trigger__end();
}
