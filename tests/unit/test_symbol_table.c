// SPDX-License-Identifier: BSD-2-Clause
/* The name of an address: compared with a naive search, and in cases that go wrong elsewhere. */
#include "unit.h"

#include <signal.h>

#include "sym/demangle.h"
#include "sym/symbol_table.h"

static void add(struct symbol_list *l, u64 start, u64 size, u64 limit, enum symbol_rank rank,
		const char *name)
{
	struct symbol_candidate c = { .start = start, .size = size, .limit = limit, .rank = rank };

	assert_int_equal(symbol_list__add(l, &c, name, strlen(name)), 0);
}

static void finish(struct symbol_list *l, struct symbol_table *t)
{
	struct symbol_entry *entry;
	size_t names_size;
	char *names;
	u64 n;

	assert_int_equal(symbol_list__finish(l, &entry, &n, &names, &names_size), 0);
	assert_int_equal(symbol_table__adopt(t, entry, n, names, names_size), 0);
}

/* Returns NULL if there is none. */
static const char *name_at(const struct symbol_table *t, u64 address)
{
	u32 i = symbol_table__find(t, address);

	return i == SYMBOL_NONE ? NULL : symbol_table__name(t, i);
}

#define assert_no_name(t, address) assert_null(name_at(t, address))
#define assert_name(t, address, name) assert_string_equal(name_at(t, address) ?: "(none)", name)

static void edges(void **state)
{
	struct symbol_list l = {};
	struct symbol_table t;

	(void)state;
	add(&l, 0x2000, 0x10, 0x9000, SYMBOL_RANK_GLOBAL, "second");
	add(&l, 0x1000, 0x10, 0x9000, SYMBOL_RANK_GLOBAL, "first");
	add(&l, UINT64_MAX - 3, 8, UINT64_MAX, SYMBOL_RANK_GLOBAL, "top");
	finish(&l, &t);
	assert_no_name(&t, 0);
	assert_no_name(&t, 0xfff);
	assert_name(&t, 0x1000, "first");
	assert_name(&t, 0x100f, "first");
	assert_no_name(&t, 0x1010);
	assert_name(&t, 0x2000, "second");
	assert_no_name(&t, 0x2010);
	assert_name(&t, UINT64_MAX - 1, "top");
	symbol_table__free(&t);
}

static void empty(void **state)
{
	struct symbol_list l = {};
	struct symbol_table t;

	(void)state;
	finish(&l, &t);
	assert_no_name(&t, 0);
	assert_no_name(&t, UINT64_MAX);
	symbol_table__free(&t);
}

/* A symbol without a size reaches to the next one, or to the end of its section or of the symbol around it. */
static void without_size(void **state)
{
	struct symbol_list l = {};
	struct symbol_table t;

	(void)state;
	add(&l, 0x1000, 0, 0x9000, SYMBOL_RANK_GLOBAL, "open");
	add(&l, 0x1100, 0x10, 0x9000, SYMBOL_RANK_GLOBAL, "next");
	add(&l, 0x1200, 0x100, 0x9000, SYMBOL_RANK_GLOBAL, "around");
	add(&l, 0x1280, 0, 0x9000, SYMBOL_RANK_LOCAL, "inner");
	add(&l, 0x1290, 0, 0x9000, SYMBOL_RANK_LABEL, "label");
	add(&l, 0x8ff0, 0, 0x9000, SYMBOL_RANK_LABEL, "last");
	finish(&l, &t);
	assert_name(&t, 0x1000, "open");
	assert_name(&t, 0x10ff, "open");
	assert_no_name(&t, 0x1110);
	assert_name(&t, 0x127f, "around");
	assert_name(&t, 0x1280, "inner");
	assert_no_name(&t, 0x1300);
	assert_name(&t, 0x8fff, "last");
	assert_no_name(&t, 0x9000);
	symbol_table__free(&t);
}

static void ends(void **state)
{
	struct symbol_list l = {};
	struct symbol_table t;

	(void)state;
	add(&l, 0x1000, 0, 0x9000, SYMBOL_RANK_GLOBAL, "text");
	add(&l, 0x1100, 0, 0x9000, SYMBOL_RANK_END, "");
	finish(&l, &t);
	assert_name(&t, 0x10ff, "text");
	assert_no_name(&t, 0x1100);
	symbol_table__free(&t);
}

/* The best alias wins, in whatever order they come. */
static void aliases(void **state)
{
	static const struct {
		enum symbol_rank rank;
		const char *name;
	} order[] = {           /* the best first */
		{ SYMBOL_RANK_GLOBAL, "read" },   { SYMBOL_RANK_GLOBAL, "write" },
		{ SYMBOL_RANK_GLOBAL, "_read" },  { SYMBOL_RANK_GLOBAL, "__a" },
		{ SYMBOL_RANK_INDIRECT, "ifunc" }, { SYMBOL_RANK_LOCAL, "a" },
		{ SYMBOL_RANK_LABEL, "b" },
	};
	size_t best, i, turn;

	(void)state;
	for (best = 0; best < ARRAY_SIZE(order); best++) {
		for (turn = 0; turn < ARRAY_SIZE(order); turn++) {
			struct symbol_list l = {};
			struct symbol_table t;

			for (i = 0; i < ARRAY_SIZE(order); i++) {
				size_t k = (i + turn) % ARRAY_SIZE(order);

				if (k >= best)
					add(&l, 0x1000, k == 3 ? 0x20 : 0x10, 0x9000,
					    order[k].rank, order[k].name);
			}
			finish(&l, &t);
			assert_int_equal(t.n, 1);
			assert_name(&t, 0x1000, order[best].name);
			assert_name(&t, best <= 3 ? 0x101f : 0x100f, order[best].name);
			symbol_table__free(&t);
		}
	}
}

/* An address gets the symbol that starts last among those that cover it. */
static void nested(void **state)
{
	struct random r = { 7 };
	u64 size[512], rounds, i;

	(void)state;
	for (rounds = 0; rounds < 200; rounds++) {
		struct symbol_list l = {};
		struct symbol_table t;
		char name[16];

		memset(size, 0, sizeof(size));
		for (i = 0; i < 40; i++) {
			u64 at = random__below(&r, 400);

			if (size[at])
				continue;
			size[at] = 1 + random__below(&r, random__below(&r, 2) ? 5 : 100);
			snprintf(name, sizeof(name), "s%llu", at);
			add(&l, at, size[at], 512, SYMBOL_RANK_LOCAL, name);
		}
		finish(&l, &t);
		for (i = 0; i < 512; i++) {
			s64 k = i;

			while (k >= 0 && k + size[k] <= i)
				k--;
			snprintf(name, sizeof(name), "s%lld", k);
			if (k < 0)
				assert_no_name(&t, i);
			else
				assert_name(&t, i, name);
		}
		symbol_table__free(&t);
	}
}

/* A lookup among a million nested symbols must not take a million steps. */
static void too_deep(void **state)
{
	struct symbol_list l = {};
	struct symbol_table t;
	u64 i;

	(void)state;
	for (i = 0; i < 1000000; i++)
		add(&l, i, 3000000 - 2 * i, 3000000, SYMBOL_RANK_LOCAL, "x");
	finish(&l, &t);
	for (i = 0; i < 100000; i++)
		symbol_table__find(&t, 2999990);
	assert_name(&t, 500000, "x");
	symbol_table__free(&t);
}

static void unsound(void **state)
{
	static const struct {
		u64 n;
		struct symbol_entry entry[2];
		size_t names_size;
		char names[4];
	} bad[] = {
		{ 2, { { 2, 1, 0, 0 }, { 1, 1, 0, 0 } }, 2, "a" },           /* not in order */
		{ 2, { { 1, 1, 0, 0 }, { 1, 1, 0, 0 } }, 2, "a" },           /* twice */
		{ 1, { { 1, 1, 0, 2 } }, 2, "a" },                        /* a name out of bounds */
		{ 1, { { 1, 1, 0, 0 } }, 1, "a" },                        /* no NUL at the end */
		{ 1, { { 1, 1, 0, 0 } }, 0, "" },
	};
	struct symbol_table t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct symbol_entry *entry = malloc(sizeof(bad[i].entry));
		char *names = malloc(4);

		memcpy(entry, bad[i].entry, sizeof(bad[i].entry));
		memcpy(names, bad[i].names, 4);
		assert_int_equal(symbol_table__adopt(&t, entry, bad[i].n, names,
						     bad[i].names_size), -EBADMSG);
	}
}

/* --- demangling ------------------------------------------------------------------------------- */

static const struct {
	const char *symbol, *name;      /* NULL: the symbol stays as it is */
} mangled[] = {
	{ "main", NULL },
	{ "", NULL },
	{ "_Z", NULL },
	{ "_Zebra", NULL },
	{ "_Z3addii", "add(int, int)" },
	{ "_ZN5space5Class6methodEPKc", "space::Class::method(char const*)" },
	{ "_ZN5space5Class6methodEPKc.cold", "space::Class::method(char const*) [clone .cold]" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)" },
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
	{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
	/* Names that rustc 1.95 makes: twice() of a closure, a method of K<[u8; 3]>, and a method of a trait. */
	{ "_RINvCs6GmmlP4bgsG_1r5twiceNCNvB2_4main0EB2_", "r::twice::<r::main::{closure#0}>" },
	{ "_RNvMs_NtCs6GmmlP4bgsG_1r6shapesINtB4_1KAhj3_E5array", "<r::shapes::K<[u8; 3]>>::array" },
	{ "_RNvXNtCs6GmmlP4bgsG_1r6shapesINtB2_1KmENtB2_4Spin4spinB4_",
	  "<r::shapes::K<u32> as r::shapes::Spin>::spin" },
	{ "_RNvXNtCs6GmmlP4bgsG_1r6shapesINtB2_1KmENtB2_4Spin4spinB", NULL },
	{ "_ZN5space5Class6methodEPK", NULL },
};

static void demangled(void **state)
{
	struct demangler d;
	char text[256], asked[256];
	size_t i, len;

	(void)state;
	if (!demangle("_Z3addii", text, sizeof(text)))
		skip();                 /* a build without libiberty */
	demangler__init(&d);
	for (i = 0; i < ARRAY_SIZE(mangled); i++) {
		len = demangle(mangled[i].symbol, text, sizeof(text));
		assert_int_equal(demangler__ask(&d, mangled[i].symbol, asked, sizeof(asked)), len);
		if (!mangled[i].name) {
			assert_int_equal(len, 0);
			continue;
		}
		assert_string_equal(text, mangled[i].name);
		assert_string_equal(asked, mangled[i].name);
	}
	assert_int_equal(demangle("_Z3addii", text, 5), 0);
	assert_int_equal(demangler__ask(&d, "_Z3addii", text, 5), 0);
	assert_int_equal(d.failures, 0);
	demangler__end(&d);
}

/* Substitutions of substitutions, each twice as long as the one before. */
static void exploding(void **state)
{
	static char text[DEMANGLED_MAX];
	struct demangler d;
	static const char seq[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[512] = "_Z1fSt4pairI1A1BE", part[32];
	int i;

	(void)state;
	for (i = 0; i < 40; i++) {
		snprintf(part, sizeof(part), "St4pairIS%c_S%c_E", seq[i % 36], seq[i % 36]);
		if (strlen(symbol) + strlen(part) < sizeof(symbol))
			strcat(symbol, part);
	}
	demangle(symbol, text, sizeof(text));
	demangler__init(&d);
	demangler__ask(&d, symbol, text, sizeof(text));
	assert_int_equal(d.failures, 0);
	demangler__end(&d);
}

static void random_symbols(void **state)
{
	static char text[DEMANGLED_MAX];
	struct random r = { 3 };
	char symbol[256];
	u32 i, k, n;

	(void)state;
	for (i = 0; i < 200000; i++) {
		static const char letters[] = "ZNSKRPIEFvicblmxtaTLs0123456789_CDXJDpOUlAt.$";

		strcpy(symbol, i % 3 ? "_Z" : "_R");
		n = 2 + random__below(&r, i % 100 ? 40 : 250);
		for (k = 2; k < n; k++)
			symbol[k] = letters[random__below(&r, sizeof(letters) - 1)];
		symbol[n] = 0;
		demangle(symbol, text, sizeof(text));
	}
}

/* A killed demangler is started again. */
static void killed(void **state)
{
	struct demangler d;
	char text[64];

	(void)state;
	if (!demangle("_Z3addii", text, sizeof(text)))
		skip();
	demangler__init(&d);
	assert_true(demangler__ask(&d, "_Z3addii", text, sizeof(text)) > 0);
	assert_int_equal(kill(d.pid, SIGKILL), 0);
	assert_int_equal(demangler__ask(&d, "_Z3addii", text, sizeof(text)), 0);
	assert_true(demangler__ask(&d, "_Z3addii", text, sizeof(text)) > 0);
	assert_int_equal(d.failures, 1);
	demangler__end(&d);
}

/* A name at the limit stays whole; a longer one ends before the letter that would be cut. */
static void cut(void **state)
{
	static char name[SYMBOL_SHOWN_MAX + 3], want[SYMBOL_SHOWN_MAX + 4];
	struct symbol_list l = {};
	struct symbol_table t;
	struct demangler d;

	(void)state;
	demangler__init(&d);
	memset(name, 'x', SYMBOL_SHOWN_MAX);
	add(&l, 0x1000, 1, 0x9000, SYMBOL_RANK_GLOBAL, name);
	strcpy(name + SYMBOL_SHOWN_MAX - 1, "\xc3\xa4");
	add(&l, 0x2000, 1, 0x9000, SYMBOL_RANK_GLOBAL, name);
	finish(&l, &t);
	memset(want, 'x', SYMBOL_SHOWN_MAX);
	assert_string_equal(symbol_table__shown(&t, 0, &d), want);
	strcpy(want + SYMBOL_SHOWN_MAX - 1, "...");
	assert_string_equal(symbol_table__shown(&t, 1, &d), want);
	symbol_table__free(&t);
	demangler__end(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges),        cmocka_unit_test(empty),
		cmocka_unit_test(without_size), cmocka_unit_test(ends),
		cmocka_unit_test(aliases),      cmocka_unit_test(nested),
		cmocka_unit_test(too_deep),     cmocka_unit_test(unsound),
		cmocka_unit_test(demangled),    cmocka_unit_test(exploding),
		cmocka_unit_test(random_symbols), cmocka_unit_test(killed),
		cmocka_unit_test(cut),
	};

	return cmocka_run_group_tests_name("symbol table", tests, NULL, NULL);
}
