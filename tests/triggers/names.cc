// SPDX-License-Identifier: BSD-2-Clause
// Functions of C++ that are called so often as their names say in tests/live/test_probe_names.py.
#define NOINLINE __attribute__((noinline, noclone, noipa))

static volatile long sink;

namespace ns {

struct K {
	int base;
	NOINLINE explicit K(int b) : base(b) { sink++; }
	NOINLINE ~K() { sink++; }
	NOINLINE int m(int n) { return sink = base + n; }
	NOINLINE int m(const char *text, unsigned int n) const { return sink = *text + n + base; }
	NOINLINE int only(long n) { return sink = base + n; }
	NOINLINE int operator()(int n) { return sink = base - n; }
	NOINLINE int operator+(int n) { return sink = base + n; }
};

struct V {
	int n;
	NOINLINE int operator,(int m) { return sink = n + m; }
	NOINLINE int operator/(int m) { return sink = n / m; }
	NOINLINE explicit operator unsigned long() { return sink = n; }
	NOINLINE void *operator new(unsigned long size) { return __builtin_malloc(size); }
};

template <typename X> struct T {
	X kept;
	NOINLINE X m(X x) { return sink = kept + x; }
};

template <typename X> NOINLINE X twice(X x)
{
	return sink = 2 * x;
}

} // namespace ns

namespace {
NOINLINE int hidden(int n)
{
	return sink = n + 1;
}
}

NOINLINE int plain(int n)
{
	return sink = n;
}

int main()
{
	for (int i = 0; i < 3; i++) {
		ns::K k(100);

		k.m(i);
		for (int j = 0; j < 2; j++)
			k.m("a", j);
		for (int j = 0; j < 4; j++)
			k.only(j);
		k(i);
		k + i;
	}
	ns::T<int> ints = { 1 };
	ns::T<long> longs = { 2 };

	for (int i = 0; i < 5; i++)
		ints.m(i);
	for (int i = 0; i < 7; i++)
		longs.m(i);
	ns::V *v = new ns::V{ 4 };
	auto add = [v](int a, char b) NOINLINE { return sink = v->n + a + b; };

	for (int i = 0; i < 2; i++) {
		sink += ((*v, i), (*v, 2 * i));
		sink += *v / 3 + (unsigned long)*v;
		add(i, 'a');
	}
	ns::twice(1);
	ns::twice(1L);
	ns::twice(2L);
	for (int i = 0; i < 11; i++)
		hidden(i);
	for (int i = 0; i < 13; i++)
		plain(i);
	return 0;
}
