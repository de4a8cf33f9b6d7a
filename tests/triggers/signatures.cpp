// SPDX-License-Identifier: BSD-2-Clause
/*
 * signatures N: calls each of its functions N times. All have a parameter named target with the value TARGET, wherever
 * the calling convention puts it after the others, and a parameter named second with the value SECOND. Functions named
 * ref_* have a reference to a number, referred, with the value REFERRED. Functions named neg_* return -1 in their type.
 * Compiled as C (gcc -x c), it has only the functions that C supports.
 *
 *   ready
 *   done
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TARGET 4242
#define SECOND (-77)
#define REFERRED (-5)

#ifdef __cplusplus
extern "C" {
#endif

#define FUNCTION __attribute__((noipa, used))

volatile long sink;

typedef __int128 wide;
struct empty_c { char nothing[0]; };
struct one { int a; };
struct two { long a, b; };
struct three { long a, b, c; };
struct mixed { long a; double b; };
struct mixed2 { double a; int b; };
struct floats { float a, b, c; };
struct odd { char a[3]; };
struct nine { char a[9]; };
struct packed { char a; long b; } __attribute__((packed));
struct aligned { long a, b, c, d; } __attribute__((aligned(32)));
struct inner { struct one o; float f; };
struct nested { struct inner i; struct one o[2]; };
struct bits { unsigned a : 5, b : 9; long c : 40; };
struct fat { long double x; };
struct wrapped { wide w; };
union either { double d; long l; };
union only_double { double d; float f; };
typedef float vector __attribute__((vector_size(16)));
typedef int (*callback)(int);
enum colour { RED, BLUE = 7 };

#define BODY { sink += target + second; }

#define CASE(NAME, ...) \
	FUNCTION void s_##NAME(__VA_ARGS__, int target, short second) BODY
#define CASES                                                                                   \
	CASE(int, int a)                                                                        \
	CASE(wide, wide a)                                                                      \
	CASE(wide_odd, int a, wide b)                                                           \
	CASE(wide_last, int a, int b, int c, wide d)                                            \
	CASE(wide_split, int a, int b, int c, int d, int e, wide f)                             \
	CASE(wide_stack, int a, int b, int c, int d, int e, int f, int g, wide h)               \
	CASE(double, double a)                                                                  \
	CASE(doubles, double a, int b, float c, double d, double e, double f, double g, double h, \
	     double i, double j)                                                                \
	CASE(long_double, long double a)                                                        \
	CASE(long_double_stack, int a, int b, int c, int d, int e, int f, int g, long double h) \
	CASE(one, struct one a)                                                                 \
	CASE(two, struct two a)                                                                 \
	CASE(two_last, int a, int b, struct two c)                                              \
	CASE(two_split, int a, int b, int c, int d, int e, struct two f)                        \
	CASE(three, struct three a)                                                             \
	CASE(three_stack, int a, int b, int c, int d, int e, int f, struct three g)             \
	CASE(mixed, struct mixed a)                                                             \
	CASE(mixed2, struct mixed2 a, struct mixed2 b)                                          \
	CASE(floats, struct floats a)                                                           \
	CASE(odd, struct odd a, struct nine b)                                                  \
	CASE(packed, struct packed a)                                                           \
	CASE(aligned, int a, int b, int c, int d, int e, int f, int g, struct aligned h)        \
	CASE(nested, struct nested a)                                                           \
	CASE(bits, struct bits a)                                                               \
	CASE(fat, struct fat a)                                                                 \
	CASE(wrapped, int a, int b, int c, int d, int e, int f, int g, struct wrapped h)        \
	CASE(either, union either a, union only_double b)                                       \
	CASE(vector, vector a)                                                                  \
	CASE(complex, _Complex double a, _Complex float b, _Complex long double c)              \
	CASE(callback, callback a, enum colour b, bool c, char d)                               \
	CASE(pointers, const char *a, void *b, struct three *c)

CASES

/* Results in memory: the first register holds their address. */
#define RETURNS(NAME, TYPE, ...) \
	FUNCTION TYPE r_##NAME(int target, short second) \
	{                                                \
		TYPE result = __VA_ARGS__;               \
		sink += target + second;                 \
		return result;                           \
	}
#define RESULTS                                 \
	RETURNS(two, struct two, { 1, 2 })      \
	RETURNS(three, struct three, { 1, 2, 3 }) \
	RETURNS(packed, struct packed, { 1, 2 }) \
	RETURNS(fat, struct fat, { 1 })         \
	RETURNS(nested, struct nested, { { { 1 }, 2 }, { { 3 }, { 4 } } }) \
	RETURNS(floats, struct floats, { 1, 2, 3 }) \
	RETURNS(double, double, 1)              \
	RETURNS(long_double, long double, 1)    \
	RETURNS(complex, _Complex double, 1)    \
	RETURNS(complex_long, _Complex long double, 1) \
	RETURNS(wide, wide, 1)
RESULTS

#define NEGATIVE(NAME, TYPE, VALUE) \
	FUNCTION TYPE neg_##NAME(int target, short second) { sink += target + second; return (TYPE)VALUE; }
#define NEGATIVES                           \
	NEGATIVE(int, int, -1)              \
	NEGATIVE(short, short, -1)          \
	NEGATIVE(char, signed char, -1)     \
	NEGATIVE(long, long, -1)            \
	NEGATIVE(unsigned, unsigned, -1)    \
	NEGATIVE(ushort, unsigned short, -1) \
	NEGATIVE(bool, bool, 1)
NEGATIVES

#ifdef __cplusplus
}

struct plain { int a; };
struct owner { int a; owner() : a(3) {} owner(const owner &o) : a(o.a) {} ~owner() { sink++; } };
struct defaulted { int a; ~defaulted() = default; };
struct holder { owner o; };
struct derived : owner { int b; };
struct virt { int a; virt() : a(1) {} virtual int f() { return a; } };
struct nothing {};
struct moved { int a; moved() : a(1) {} moved(moved &&m) : a(m.a) {} moved(const moved &) = delete; };

FUNCTION void cc_plain(plain a, int target, short second) BODY
FUNCTION void cc_owner(owner a, int target, short second) BODY
FUNCTION void cc_defaulted(defaulted a, int target, short second) BODY
FUNCTION void cc_holder(holder a, int target, short second) BODY
FUNCTION void cc_derived(derived a, int target, short second) BODY
FUNCTION void cc_virt(virt a, int target, short second) BODY
FUNCTION void cc_nothing(nothing a, int target, short second) BODY
FUNCTION void cc_moved(moved a, int target, short second) BODY
FUNCTION void cc_nameless(int, long, int target, short second) BODY
FUNCTION owner cc_returns_owner(int target, short second) { sink += target + second; return owner(); }
FUNCTION plain cc_returns_plain(int target, short second) { sink += target + second; return plain(); }
FUNCTION defaulted cc_returns_defaulted(int target, short second) { sink += target + second; return defaulted(); }
FUNCTION holder cc_returns_holder(int target, short second) { sink += target + second; return holder(); }
FUNCTION derived cc_returns_derived(int target, short second) { sink += target + second; return derived(); }
FUNCTION virt cc_returns_virt(int target, short second) { sink += target + second; return virt(); }
FUNCTION moved cc_returns_moved(int target, short second) { sink += target + second; return moved(); }
FUNCTION void ref_first(const int &referred, int target, short second) { sink += target + second + referred; }
FUNCTION void ref_stack(int a, int b, int c, int d, int e, int f, const short &referred, int target, short second)
{
	sink += target + second + referred;
}
FUNCTION void ref_moved(int &&referred, int target, short second) { sink += target + second + referred; }
FUNCTION long refs_array(long (&grid)[3], int target, short second) { sink += target + second; return grid[1]; }

struct thing {
	int own;
	int &other;
	FUNCTION void method(int target, short second) { sink += target + second + own; }
	FUNCTION owner returns(int target, short second) { sink += target + second; return owner(); }
	static FUNCTION void still(int target, short second) { sink += target + second; }
};
FUNCTION void refs_member(thing &t, int target, short second) { sink += target + second + t.other; }
FUNCTION int &refs_result(int &referred, int target, short second) { sink += target + second; return referred; }
#endif

static void work(void)
{
	vector v = { 1, 2, 3, 4 };
	struct one one = { 1 };
	struct two two = { 1, 2 };
	struct three three = { 1, 2, 3 };
	struct mixed mixed = { 1, 2 };
	struct mixed2 mixed2 = { 1, 2 };
	struct floats floats = { 1, 2, 3 };
	struct odd odd = { "a" };
	struct nine nine = { "b" };
	struct packed packed = { 1, 2 };
	struct aligned aligned = { 1, 2, 3, 4 };
	struct nested nested = { { { 1 }, 2 }, { { 3 }, { 4 } } };
	struct bits bits = { 1, 2, 3 };
	struct fat fat = { 1 };
	struct wrapped wrapped = { 1 };
	union either either = { 1 };
	union only_double only = { 1 };

#define T TARGET, SECOND
	s_int(1, T); s_wide(1, T); s_wide_odd(1, 2, T); s_wide_last(1, 2, 3, 4, T);
	s_wide_split(1, 2, 3, 4, 5, 6, T); s_wide_stack(1, 2, 3, 4, 5, 6, 7, 8, T);
	s_double(1, T); s_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, T); s_long_double(1, T);
	s_long_double_stack(1, 2, 3, 4, 5, 6, 7, 8, T); s_one(one, T); s_two(two, T);
	s_two_last(1, 2, two, T); s_two_split(1, 2, 3, 4, 5, two, T); s_three(three, T);
	s_three_stack(1, 2, 3, 4, 5, 6, three, T); s_mixed(mixed, T); s_mixed2(mixed2, mixed2, T);
	s_floats(floats, T); s_odd(odd, nine, T); s_packed(packed, T);
	s_aligned(1, 2, 3, 4, 5, 6, 7, aligned, T); s_nested(nested, T); s_bits(bits, T); s_fat(fat, T);
	s_wrapped(1, 2, 3, 4, 5, 6, 7, wrapped, T); s_either(either, only, T); s_vector(v, T);
	s_complex(1, 2, 3, T); s_callback(NULL, BLUE, true, 'x', T); s_pointers("a", NULL, &three, T);
	r_two(T); r_three(T); r_packed(T); r_fat(T); r_nested(T); r_floats(T); r_double(T);
	r_long_double(T); r_complex(T); r_complex_long(T); r_wide(T);
	neg_int(T); neg_short(T); neg_char(T); neg_long(T); neg_unsigned(T); neg_ushort(T); neg_bool(T);
#ifdef __cplusplus
	int number = REFERRED;
	short small = REFERRED;
	long grid[3] = { 10, 20, 30 };
	thing t = { 6, number };

	cc_plain(plain(), T); cc_owner(owner(), T); cc_defaulted(defaulted(), T); cc_holder(holder(), T);
	cc_derived(derived(), T); cc_virt(virt(), T); cc_nothing(nothing(), T); cc_moved(moved(), T);
	cc_nameless(1, 2, T); cc_returns_owner(T); cc_returns_plain(T); cc_returns_defaulted(T);
	cc_returns_holder(T); cc_returns_derived(T); cc_returns_virt(T); cc_returns_moved(T);
	ref_first(number, T); ref_stack(1, 2, 3, 4, 5, 6, small, T); ref_moved(REFERRED, T);
	refs_array(grid, T); t.method(T); t.returns(T); thing::still(T); refs_member(t, T);
	refs_result(number, T);
#endif
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, i;

	puts("ready");
	fflush(stdout);
	getchar();
	for (i = 0; i < n; i++)
		work();
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
