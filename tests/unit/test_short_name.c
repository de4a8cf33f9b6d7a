// SPDX-License-Identifier: BSD-2-Clause
/* Function names without parameters and template arguments. */
#include "unit.h"

#include "report/short_name.h"

static void names_become_short(void **state)
{
	static const struct { const char *name, *wanted;
	} cases[] = {
		{ "main", "main" },
		{ "do_syscall_64", "do_syscall_64" },
		{ "std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<>::push_back" },
		{ "void ns::run<long>(long)", "ns::run<>" },
		{ "cc1_main(llvm::ArrayRef<char const*>, char const*, void*)", "cc1_main" },
		{ "clang::ExecuteCompilerInvocation(clang::CompilerInstance*)", "clang::ExecuteCompilerInvocation" },
		{ "llvm::BasicBlock::getTerminator() const", "llvm::BasicBlock::getTerminator" },
		{ "ns::K::m() const &", "ns::K::m" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "ns::(anonymous namespace)::K<int>::f(int)", "ns::(anonymous namespace)::K<>::f" },
		{ "std::function<void (int)>::operator()(int) const", "std::function<>::operator()" },
		{ "f(int)::{lambda(bool)#1}::operator()(bool) const", "f::{lambda#1}::operator()" },
		{ "std::ostream& std::operator<< <char>(std::ostream&, char)", "std::ostream& std::operator<< <>" },
		{ "ns::operator<(ns::K const&, ns::K const&)", "ns::operator<" },
		{ "ns::operator<=>(ns::K const&, ns::K const&)", "ns::operator<=>" },
		{ "std::unique_ptr<K>::operator->() const", "std::unique_ptr<>::operator->" },
		{ "operator new(unsigned long)", "operator new" },
		{ "operator delete[](void*)", "operator delete[]" },
		{ "K::operator bool() const", "K::operator bool" },
		{ "K::operator[](int)", "K::operator[]" },
		{ "operators::f(int)", "operators::f" },
		{ "non-virtual thunk to ns::K::m(int)", "non-virtual thunk to ns::K::m" },
		{ "f<int>(int) [clone .cold]", "f<> [clone .cold]" },
		{ "f<(ns::E)1>(int)", "f<>" },
		{ "f<&ns::K::operator->>(int)", "f<>" },
		/* Rust, in both manglings. */
		{ "core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<>" },
		{ "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
		  "<alloc::vec::Vec<> as core::ops::drop::Drop>::drop" },
		{ "core::ptr::drop_in_place::<alloc::string::String>", "core::ptr::drop_in_place::<>" },
		{ "core::imp::<impl core::fmt::Display for u32>::fmt",
		  "core::imp::<impl core::fmt::Display for u32>::fmt" },
		{ "std::rt::lang_start::{{closure}}", "std::rt::lang_start::{{closure}}" },
		{ "core::ops::FnOnce::call_once{{vtable.shim}}", "core::ops::FnOnce::call_once{{vtable.shim}}" },
		/* Go, and other texts. */
		{ "main.(*T).run", "main.(*T).run" },
		{ "main.Map[go.shape.int].put", "main.Map[go.shape.int].put" },
		{ "net/http.(*conn).serve.func1", "net/http.(*conn).serve.func1" },
		{ "handler (app.py:12)", "handler (app.py:12)" },
		{ "[incomplete]", "[incomplete]" },
		/* Hostile. */
		{ "", "" },
		{ "(", "(" },
		{ "<", "<" },
		{ "f(", "f(" },
		{ "f<", "f<" },
		{ "a::b(((", "a::b(((" },
		{ "::<>::<", "::<>::<" },
		{ "a::f)>(", "a::f)>(" },
		{ "()", "()" },
		{ "(a)::", "(a)::" },
		{ "operator", "operator" },
		{ "a::operator(", "a::operator(" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = short_name(cases[i].name);

		assert_non_null(text);
		if (strcmp(text, cases[i].wanted))
			print_error("%s is %s\n", cases[i].name, text);
		assert_string_equal(text, cases[i].wanted);
		free(text);
	}
}

/* The short name is never longer than the name, whatever is in it. */
static void nothing_grows(void **state)
{
	static const char letters[] = "a:<>()-= *&operator";
	char name[40], *text;
	unsigned int seed = 1, i, k;

	(void)state;
	for (i = 0; i < 200000; i++) {
		size_t n = rand_r(&seed) % sizeof(name);

		for (k = 0; k < n; k++)
			name[k] = letters[rand_r(&seed) % (sizeof(letters) - 1)];
		name[n] = 0;
		text = short_name(name);
		assert_non_null(text);
		assert_true(strlen(text) <= n);
		free(text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_short), cmocka_unit_test(nothing_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
