// SPDX-License-Identifier: BSD-2-Clause
/*
 * arguments N TEXT...: calls each of these functions N times, for i = 0 .. N - 1
 *
 *   many(i, -i, "text", i & 255, -i, 2^40 + i, 7 * i, -8 * i), which returns 3 - i
 *   of_pair(pair), whose members are those of pair_of(i), which returns -i
 *   with_locals(i), in which a local variable is i * i, and the static variable passed is i
 *
 * and read_text(TEXT) once for each TEXT. @null and @unmapped stand for addresses without memory, @edge for 5
 * characters without a terminating zero at the end of a mapping, and @SIZE for a text of that many characters.
 *
 *   ready
 *   done
 */
#include <sys/mman.h>

#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

struct pair {
	int left;
	unsigned short right;
	char name[8];
	unsigned int low : 3, high : 5;
	struct pair *next;
};

static volatile long sink;
static volatile long passed;
volatile int exported = 4711;

long many(int a, long b, const char *c, unsigned char d, short e, unsigned long f, int g, long h);
long of_pair(const struct pair *pair);
long with_locals(long n);
long read_text(const char *text);

NOINLINE long many(int a, long b, const char *c, unsigned char d, short e, unsigned long f, int g,
		   long h)
{
	sink = a + b + *c + d + e + f + g + h;
	return 3L - a;
}

NOINLINE long of_pair(const struct pair *pair)
{
	sink = pair->right;
	return pair->left;
}

NOINLINE long with_locals(long n)
{
	long squared = n * n;

	passed = n;
	sink = squared;
	sink = squared + n;
	return sink;
}

NOINLINE long read_text(const char *text)
{
	sink = (long)text;
	return sink;
}

static struct pair pair_of(long i)
{
	static struct pair next;
	struct pair p = {
		.left = -i, .right = 2 * i, .low = i, .high = i, .next = &next,
	};

	next.left = 100 + i;
	snprintf(p.name, sizeof(p.name), "n%ld", i % 10);
	return p;
}

/* A text of that many characters, all x. */
static const char *text_of_size(long size)
{
	char *text = calloc(1, size + 1);

	return memset(text, 'x', size);
}

static const char *text_at_edge(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);

	if (two == MAP_FAILED || mprotect(two + page, page, PROT_NONE))
		error(1, errno, "mmap");
	return memcpy(two + page - 5, "fives", 5);
}

static const char *text_of(const char *word)
{
	if (!strcmp(word, "@null"))
		return NULL;
	if (!strcmp(word, "@unmapped"))
		return (const char *)0x1230;
	if (!strcmp(word, "@edge"))
		return text_at_edge();
	return *word == '@' ? text_of_size(atol(word + 1)) : word;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;
	struct pair pair;

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++) {
		pair = pair_of(i);
		sink = many(i, -i, "text", i & 255, -i, (1UL << 40) + i, 7 * i, -8 * i);
		sink = of_pair(&pair);
		sink = with_locals(i);
	}
	for (i = 2; i < argc; i++)
		sink = read_text(text_of(argv[i]));
	trigger__say("done");
	trigger__end();
}
