// SPDX-License-Identifier: BSD-2-Clause
/*
 * shapes N: calls seen(shape, number) for i = 0 .. N - 1, and after every third i also seen(NULL, i)
 *
 *   ready
 *   done
 *
 * make() defines the contents of shape for each i.
 */
#include "trigger.h"

#define NOINLINE __attribute__((noinline, noclone))

enum colour { RED, GREEN = 7, BLUE = -3 };

struct unknown;

typedef struct {
	short x, y;
} point;

struct shape {
	point corner[3];                /* an array of structures in a structure */
	union {
		unsigned int number;
		unsigned char byte[4];
	};                              /* without a name */
	signed int slope : 5;           /* bit-fields, with and without a sign */
	unsigned int flags : 11, : 3, odd : 1;
	unsigned long wide : 40;
	_Bool visible;
	enum colour colour;
	int grid[2][3];
	char name[8];                   /* not always NUL-terminated */
	char empty[8];
	const char *label;
	const struct shape *const *up;  /* two pointers to another shape */
	struct unknown *opaque;
	void (*draw)(void);
	double size;
};

static volatile long sink;

long seen(const struct shape *shape, long number);

NOINLINE long seen(const struct shape *shape, long number)
{
	struct shape copy = {};
	point middle = { number, -number };

	if (shape)
		copy = *shape;
	__asm__ volatile("" : : "m"(copy), "m"(middle) : "memory");
	sink = copy.number;             /* both are in memory here */
	sink = middle.x;
	return sink;
}

static struct shape make(long i, const struct shape *const *up)
{
	struct shape s = {
		.number = 0x01020300 + i,
		.slope = i % 32 - 16,
		.flags = i % 2048,
		.odd = i & 1,
		.wide = (1UL << 39) + i,
		.visible = !(i & 1),
		.colour = i % 3 == 0 ? RED : i % 3 == 1 ? GREEN : BLUE,
		.up = up,
		.label = i % 2 ? "odd" : "even",
		.size = i / 2.0,
	};
	long k;

	for (k = 0; k < 3; k++)
		s.corner[k] = (point){ i + k, -i - k };
	for (k = 0; k < 6; k++)
		s.grid[k / 3][k % 3] = 10 * i + k;
	memcpy(s.name, "shape 00", sizeof(s.name));
	s.name[6] += i / 10 % 10;
	s.name[7] += i % 10;
	return s;
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1), i;
	struct shape above = make(99, NULL), shape;
	const struct shape *up = &above;

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; i < n; i++) {
		shape = make(i, &up);
		sink = seen(&shape, i);
	}
	for (i = 0; i < n; i += 3)
		sink = seen(NULL, i);
	trigger__say("done");
	trigger__end();
}
