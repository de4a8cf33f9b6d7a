// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "event/code_name.h"

static void forms(void **state)
{
	/* The name as c++filt(1) prints it, then its full, short and plain forms. */
	static const char *const cases[][4] = {
		{ "ns::K::m(int)", "ns::K::m(int)", "ns::K::m", "ns::K::m" },
		{ "ns::K::m(int, char const*) const", "ns::K::m(int, char const*)", "ns::K::m", "ns::K::m" },
		{ "ns::K::m() const &", "ns::K::m()", "ns::K::m", "ns::K::m" },
		{ "ns::K::K(int)", "ns::K::K(int)", "ns::K::K", "ns::K::K" },
		{ "ns::K::~K()", "ns::K::~K()", "ns::K::~K", "ns::K::~K" },
		{ "ns::K::m(int) [clone .constprop.0]", "ns::K::m(int)", "ns::K::m", "ns::K::m" },
		{ "ns::K::m(int) [clone .isra.0] [clone .constprop.1]", "ns::K::m(int)", "ns::K::m", "ns::K::m" },
		{ "ns::T<int>::m(int)", "ns::T<int>::m(int)", "ns::T<int>::m", "ns::T::m" },
		{ "int ns::t<int, char>(int)", "ns::t<int, char>(int)", "ns::t<int, char>", "ns::t" },
		{ "std::vector<int, std::allocator<int> > ns::t<int>(int)", "ns::t<int>(int)", "ns::t<int>", "ns::t" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)", "(anonymous namespace)::f",
		  "(anonymous namespace)::f" },
		{ "K::operator()(int) const", "K::operator()(int)", "K::operator()", "K::operator()" },
		{ "K::operator<(K const&) const", "K::operator<(K const&)", "K::operator<", "K::operator<" },
		{ "K::operator unsigned long() const", "K::operator unsigned long()", "K::operator unsigned long",
		  "K::operator unsigned long" },
		{ "operator<<(std::ostream&, K const&)", "operator<<(std::ostream&, K const&)", "operator<<",
		  "operator<<" },
		{ "ns::T<int>::operator->()", "ns::T<int>::operator->()", "ns::T<int>::operator->",
		  "ns::T::operator->" },
		{ "ns::f[abi:cxx11](int)", "ns::f(int)", "ns::f", "ns::f" },
		{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()(int)",
		  "main::{lambda(int)#1}::operator()", "main::{lambda(int)#1}::operator()" },
		{ "ns::f(int)::{lambda()#1}::operator()() const", "ns::f(int)::{lambda()#1}::operator()()",
		  "ns::f(int)::{lambda()#1}::operator()", "ns::f(int)::{lambda()#1}::operator()" },
		{ "ns::K::m(int) const::L::n()", "ns::K::m(int) const::L::n()", "ns::K::m(int) const::L::n",
		  "ns::K::m(int) const::L::n" },
		{ "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt",
		  "core::fmt::Write::write_fmt" },
		{ "<a::T as b::U>::f", "f" },
		{ "<ns::K>::m", "<ns::K>::m", "<ns::K>::m", "ns::K::m" },
		{ "<ns::K<u32>>::m::<u8>", "<ns::K<u32>>::m::<u8>", "<ns::K<u32>>::m::<u8>", "ns::K::m" },
		{ "<ns::K as core::ops::arith::Add<i32>>::add", "<ns::K as core::ops::arith::Add<i32>>::add",
		  "<ns::K as core::ops::arith::Add<i32>>::add", "<ns::K as core::ops::arith::Add>::add" },
		{ "krate::f::<u32>", "krate::f::<u32>", "krate::f::<u32>", "krate::f" },
		{ "f", "f", "f", "f" },
		{ "", "", "", "" },
	};
	enum code_name_form form;
	char out[200];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (form = CODE_NAME_FULL; form <= CODE_NAME_PLAIN && cases[i][2]; form++) {
			code_name__form(out, sizeof(out), cases[i][0], form);
			assert_string_equal(out, cases[i][1 + form]);
			code_name__form(out, 4, cases[i][0], form);
			assert_true(strlen(out) <= 3 && !strncmp(out, cases[i][1 + form], strlen(out)));
		}
}

static void matches(void **state)
{
	static const struct {
		const char *typed, *demangled;
		bool is;
	} cases[] = {
		{ "ns::K::m", "ns::K::m(int)", true },
		{ "ns::K::m(int)", "ns::K::m(int) const", true },
		{ "ns::K::m(int,char const*)", "ns::K::m(int, char const*)", true },
		{ "ns::K::m(unsigned int)", "ns::K::m(unsigned int)", true },
		{ "ns::K::m(long)", "ns::K::m(int)", false },
		{ "ns::K::m()", "ns::K::m(int)", false },
		{ "K::m", "ns::K::m(int)", false },
		{ "ns::K::mm", "ns::K::m(int)", false },
		{ "ns::K::*", "ns::K::m(int)", true },
		{ "*::m", "ns::K::m(int)", true },
		{ "ns::T::m", "ns::T<int>::m(int)", true },
		{ "ns::T<int>::m", "ns::T<int>::m(int)", true },
		{ "ns::T<char>::m", "ns::T<int>::m(int)", false },
		{ "ns::t", "int ns::t<int>(int)", true },
		{ "ns::t<int>", "int ns::t<int>(int)", true },
		{ "V::operator[]", "V::operator[](unsigned long)", true },
		{ "f(int)", "f(int)", true },
		{ "ns::f", "ns::f(int)::{lambda()#1}::operator()() const", false },
		{ "<a::T as b::U>::f", "<a::T as b::U>::f", true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (code_name__matches(cases[i].typed, cases[i].demangled) != cases[i].is)
			fail_msg("%s %s %s", cases[i].typed, cases[i].is ? "is not" : "is", cases[i].demangled);
}

static void lengths(void **state)
{
	/* The text that the user types, and the C++ name in it; NULL: the name is plain. */
	static const char *const cases[][2] = {
		{ "ns::K::m", "ns::K::m" }, { "ns::K::m%return", "ns::K::m" }, { "ns::K::m+0x12", "ns::K::m" },
		{ "ns::K::m:12", "ns::K::m" }, { "ns::K::m(int, char)%return", "ns::K::m(int, char)" },
		{ "ns::K::m@file.cc:3", "ns::K::m" }, { "ns::K::m;len*", "ns::K::m" }, { "f(int)", "f(int)" },
		{ "ns::T<int, ns::U<3> >::m:3", "ns::T<int, ns::U<3> >::m" }, { "K::operator+", "K::operator+" },
		{ "K::operator()(int)%return", "K::operator()(int)" }, { "K::operator<<(int)", "K::operator<<(int)" },
		{ "K::operator%(int)%return", "K::operator%(int)" }, { "K::~K", "K::~K" }, { "~K", "~K" },
		{ "(anonymous namespace)::f", "(anonymous namespace)::f" },
		{ "main", NULL }, { "main:12", NULL }, { "main%return", NULL }, { "main;f(a<b)", NULL },
		{ "main@a::b", NULL }, { "", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i][0];
		size_t len = strlen(text);

		assert_int_equal(code_name__is_at(text, len), cases[i][1] != NULL);
		if (cases[i][1] && (code_name__length(text, len) != strlen(cases[i][1]) ||
				    strncmp(text, cases[i][1], strlen(cases[i][1]))))
			fail_msg("%s: %zu", text, code_name__length(text, len));
	}
}

static void few_are_demangled(void **state)
{
	(void)state;
	assert_true(code_name__may_match("ns::K::m", "_ZN2ns1K1mEi"));
	assert_true(code_name__may_match("ns::K::*", "_ZN2ns1K1mEi"));
	assert_true(code_name__may_match("ns::K::name(int)", "_ZN2ns1K4nameEi.constprop.0"));
	assert_true(code_name__may_match("ns::T<int>::m", "_ZN2ns1TIiE1mEi"));
	assert_true(code_name__may_match("K::operator+", "_ZN1KplEi"));
	assert_true(code_name__may_match("K::~K", "_ZN1KD1Ev"));
	assert_false(code_name__may_match("ns::K::other", "_ZN2ns1K4nameEi"));
	assert_false(code_name__may_match("ns::K::name", "_ZN2ns1K4nameEi.cold"));
	assert_false(code_name__may_match("ns::K::name", "_ZN2ns1K4nameEi.part.0"));
	assert_false(code_name__may_match("name", "name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(matches),
		cmocka_unit_test(lengths),
		cmocka_unit_test(few_are_demangled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
