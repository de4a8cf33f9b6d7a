// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls functions with structures whose contents tests/live/test_probe_values.py knows. It is compiled as C and as C++.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

#ifdef __cplusplus
extern "C" {
#endif

enum color { RED, GREEN = 5, BLUE };
enum sign { MINUS = -3, PLUS = 3 };

struct inner {
	short x;
	unsigned char bytes[3];
};

struct value {
	int a;
	long b;
	char name[8];
	unsigned low : 3;
	int high : 5;
	struct value *self;
	void *nothing;
	enum color color;
	enum sign sign;
	struct inner in[2];
	double real;
	float small;
	bool yes;
	union {
		unsigned u;
		unsigned short halves[2];
	};
	struct { signed char c; } last;
};

typedef struct { unsigned short port; unsigned char address[4]; } endpoint;

/* Two bytes of padding, and bytes after the end of a text. They differ even where the shown values do not. */
struct padded {
	char text[5];
	unsigned bits : 3;
	short number;
	long long wide;
};

struct vast {
	int first;
	struct value many[100];
	int behind;
};

struct endless {
	struct endless *next[2];
	char open[];
};

NOINLINE long take(void *any, long n);
NOINLINE long take_value(struct value *v, endpoint *e);
NOINLINE long take_padded(struct padded *p);
NOINLINE long take_vast(struct vast *v, struct endless *e);
NOINLINE long take_numbers(int (*grid)[3], unsigned char narrow);

long take(void *any, long n)
{
	__asm__ volatile("" : "+r"(any), "+r"(n) :: "memory");
	return n;
}

long take_value(struct value *v, endpoint *e)
{
	__asm__ volatile("" : "+r"(v), "+r"(e) :: "memory");
	return v->b + e->port;
}

long take_padded(struct padded *p)
{
	__asm__ volatile("" : "+r"(p) :: "memory");
	return p->wide;
}

long take_vast(struct vast *v, struct endless *e)
{
	__asm__ volatile("" : "+r"(v), "+r"(e) :: "memory");
	return v->first;
}

long take_numbers(int (*grid)[3], unsigned char narrow)
{
	__asm__ volatile("" : "+r"(grid) :: "memory");
	return grid[0][0] + narrow;
}

#ifdef __cplusplus
}

namespace ns {
struct base { int id; };
template <class T> struct box : base { T what; };
enum class kind : unsigned char { small = 1, large = 200 };
}

NOINLINE void take_boxes(void *numbers, ns::box<long> *box, ns::kind *kind);
void take_boxes(void *numbers, ns::box<long> *box, ns::kind *kind)
{
	__asm__ volatile("" : "+r"(numbers), "+r"(box), "+r"(kind) :: "memory");
}

static void work_with_classes(void)
{
	ns::box<int> small = { { 7 }, -8 };
	ns::box<long> large = { { 9 }, -10 };
	ns::kind kind = ns::kind::large;

	take_boxes(&small, &large, &kind);
}
#else
static void work_with_classes(void) {}
#endif

static struct value value;
static endpoint end = { 8080, { 127, 0, 0, 1 } };
static struct vast vast;
static int grid[2][3] = { { 1, -2, 3 }, { 4, 5, -6 } };

static void fill(void)
{
	value.a = -1;
	value.b = 1L << 40;
	memcpy(value.name, "x\"y", 4);
	value.low = 5;
	value.high = -3;
	value.self = (struct value *)0x1234;
	value.color = GREEN;
	value.sign = MINUS;
	value.in[0].x = -7;
	memcpy(value.in[0].bytes, "\1\2\xff", 3);
	value.in[1].x = 8;
	value.real = 2.5;
	value.small = -0.5f;
	value.yes = true;
	value.u = 0x00020001;
	value.last.c = -128;
	vast.first = 1;
	vast.behind = 2;
}

static void work(long i)
{
	struct padded padded;
	struct endless endless = {};

	/* The bytes that are not shown are different each time. */
	memset(&padded, (int)i * 13 + 1, sizeof(padded));
	strcpy(padded.text, i % 3 ? "ab" : "");
	padded.bits = 2;
	padded.number = -4;
	padded.wide = 1;
	take(&value, -1);
	take_value(&value, &end);
	take_padded(&padded);
	take_vast(&vast, &endless);
	take_numbers(grid, 200);
	work_with_classes();
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, i;

	fill();
	for (i = 0; i < n; i++)
		work(i);
	return 0;
}
