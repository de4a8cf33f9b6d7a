// SPDX-License-Identifier: BSD-2-Clause
#include "base/roomy_stack.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/types.h"

#define ROOM (1UL << 20)

/* makecontext(3) passes integers only. */
static struct {
	int (*fn)(int argc, char **argv);
	int argc, result;
	char **argv;
} call;

static void make_call(void)
{
	call.result = call.fn(call.argc, call.argv);
}

static bool is_small(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < ROOM;
}

/* Maps a stack. A guard page below it makes an overflow fault, instead of corrupting another mapping. */
static void *map_stack(void)
{
	const size_t guard = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, ROOM + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	mprotect(map, guard, PROT_NONE);
	return map + guard;
}

int roomy_stack__run(int (*fn)(int argc, char **argv), int argc, char **argv)
{
	ucontext_t here, there;

	if (!is_small() || getcontext(&there))
		return fn(argc, argv);
	there.uc_stack.ss_sp = map_stack();
	there.uc_stack.ss_size = ROOM;
	there.uc_link = &here;
	if (!there.uc_stack.ss_sp)
		return fn(argc, argv);
	call.fn = fn;
	call.argc = argc;
	call.argv = argv;
	makecontext(&there, make_call, 0);
	swapcontext(&here, &there);
	return call.result;
}
