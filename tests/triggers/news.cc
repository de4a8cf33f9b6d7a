// SPDX-License-Identifier: BSD-2-Clause
/*
 * news N: keeps N objects, allocated by operator new of the C++ library, which has no frame pointers
 *
 *   main() -> caller() -> maker() -> operator new
 *
 *   ready
 *   done
 */
#include <cstdio>
#include <cstdlib>

#define NOIPA __attribute__((noipa))

struct object {
	char bytes[100];
};

static object *kept;

static NOIPA void maker(int n)
{
	kept = new object;
	kept->bytes[0] = n;
}

static NOIPA void caller(int n)
{
	maker(n);
	kept->bytes[1] = n;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	setvbuf(stdout, nullptr, _IONBF, 0);
	puts("ready");
	getchar();
	for (long i = 0; i < n; i++)
		caller(i);
	puts("done");
	while (getchar() != EOF)
		;
	return 0;
}
