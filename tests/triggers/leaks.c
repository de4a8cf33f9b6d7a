// SPDX-License-Identifier: BSD-2-Clause
/*
 * leaks N [fork]: allocates memory in every possible way, N times each, and frees some of it, so that the memory left
 * by each function is known. ready, done ALLOCATIONS BYTES FREES OUTSTANDING OUTSTANDING-BYTES FREES-OF-EARLIER. With
 * "fork" a child first frees its copies of all of it.
 */
#include <malloc.h>
#include <sys/wait.h>

#include "trigger.h"

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define HUGE (1UL << 62)

static struct {
	long allocs, bytes, frees, left, left_bytes, earlier;
} sum;

static long n;
static void **earlier, **kept;
static long nkept;
/* Through pointers: the compiler knows these functions, and optimizes unused results away. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void *(*volatile do_reallocarray)(void *, size_t, size_t) = reallocarray;
static void *(*volatile do_aligned_alloc)(size_t, size_t) = aligned_alloc;
static int (*volatile do_posix_memalign)(void **, size_t, size_t) = posix_memalign;
static void *(*volatile do_memalign)(size_t, size_t) = memalign;
static void *(*volatile do_valloc)(size_t) = valloc;

#define FUNCTION __attribute__((noinline, noipa))

static void made(void *p, long bytes)
{
	if (!p)
		error(1, errno, "no memory");
	sum.allocs++;
	sum.bytes += bytes;
}

static void stays(void *p, long bytes)
{
	made(p, bytes);
	kept[nkept++] = p;
	sum.left++;
	sum.left_bytes += bytes;
}

static FUNCTION void leak_malloc(void)
{
	stays(do_malloc(100), 100);
}

static FUNCTION void leak_calloc(void)
{
	stays(do_calloc(7, 11), 77);
}

static FUNCTION void leak_grown(void)
{
	void *p = do_malloc(10);

	made(p, 10);
	p = do_realloc(p, 5000);
	sum.frees++;
	stays(p, 5000);
}

static FUNCTION void leak_array(void)
{
	stays(do_reallocarray(NULL, 3, 50), 150);
}

static FUNCTION void leak_aligned(void)
{
	void *p = NULL;

	stays(do_aligned_alloc(64, 128), 128);
	if (do_posix_memalign(&p, 64, 256))
		error(1, 0, "no memory");
	stays(p, 256);
	stays(do_memalign(32, 320), 320);
	stays(do_valloc(4000), 4000);
}

/* A failed realloc() leaves the old block unchanged. */
static FUNCTION void leak_unmoved(void)
{
	void *p = do_malloc(33);

	if (do_realloc(p, HUGE) || do_malloc(HUGE) || do_calloc(HUGE, 16) ||
	    !do_posix_memalign(&(void *){ NULL }, 3, 10))
		error(1, 0, "this should have failed");
	stays(p, 33);
}

static FUNCTION void no_leak(void)
{
	void *p = do_malloc(1000);

	made(p, 1000);
	free(p);
	sum.frees++;
	p = do_calloc(10, 100);
	made(p, 1000);
	if (do_realloc(p, 0))
		error(1, 0, "realloc(p, 0) does not free");
	sum.frees++;
	free(NULL);
}

static FUNCTION void free_earlier(long i)
{
	free(earlier[i]);
	sum.earlier++;
}

static void free_copies(void)
{
	pid_t pid = fork();
	long i;

	if (pid < 0)
		error(1, errno, "fork");
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	for (i = 0; i < nkept; i++)
		free(kept[i]);
	_exit(0);
}

int main(int argc, char **argv)
{
	long i;

	n = trigger__number(argc, argv, 1);
	trigger__name();
	earlier = malloc(n * sizeof(*earlier));
	kept = malloc(n * 9 * sizeof(*kept));
	for (i = 0; i < n; i++)
		earlier[i] = do_malloc(200);
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++) {
		leak_malloc();
		leak_calloc();
		leak_grown();
		leak_array();
		leak_aligned();
		leak_unmoved();
		no_leak();
		free_earlier(i);
	}
	if (argc > 2)
		free_copies();
	trigger__say("done %ld %ld %ld %ld %ld %ld", sum.allocs, sum.bytes, sum.frees, sum.left, sum.left_bytes,
		     sum.earlier);
	trigger__end();
}
