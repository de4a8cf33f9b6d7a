/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C++ and Rust function names as written in the source: ns::K::m, ns::K::m(int), ns::T<int>::m, and globs of such
 * names. A name without parameters matches all overloads; a name without template arguments matches all instances.
 * Blanks are ignored. Go names are written as in its symbols: net/http.(*conn).serve, main.Map[go.shape.int]. Pure.
 */
#ifndef TALLY_EVENT_CODE_NAME_H
#define TALLY_EVENT_CODE_NAME_H

#include "base/types.h"

/*
 * True if a text of len bytes begins with a C++ or Rust name, or what looks like one, rather than with a plain C name.
 */
bool code_name__is_at(const char *text, size_t len);

/* Same, but also true for a Go name with more than letters and dots, and for a glob with a set. */
bool code_name__is_not_c(const char *text, size_t len);

/*
 * Returns the length of the name at the start of the text. The name ends before "%return", "+OFFSET", ":LINE",
 * "@SOURCE" and ";PATTERN".
 */
size_t code_name__length(const char *text, size_t len);

/* Returns the index after the bracket that closes the '(', '<', '[' or '{' at i; i if it is not closed. */
size_t code_name__behind_group(const char *text, size_t len, size_t i);

/*
 * Returns the index after the group of the '{' at i if it is part of a name: {lambda(int)#1}, struct { X int }; else i.
 */
size_t code_name__behind_braces(const char *text, size_t len, size_t i);

/* Returns the index after the symbol that follows the word operator at i: "operator,", "operator()"; i if none does. */
size_t code_name__behind_operator(const char *text, size_t len, size_t i);

/* True if the blank at i, outside of brackets, is part of a name: operator new(int), struct { X int }. */
bool code_name__has_blank(const char *text, size_t len, size_t i);

/* How to print a demangled name. */
enum code_name_form {
	CODE_NAME_FULL,         /* ns::K::m<int>(int): without return type and the compiler's clone suffixes */
	CODE_NAME_SHORT,        /* ns::K::m<int> */
	CODE_NAME_PLAIN,        /* ns::K::m */
};

/* Writes the form to out[size], truncated if it does not fit. Returns out. */
char *code_name__form(char *out, size_t size, const char *demangled, enum code_name_form form);

/* True if the typed name matches this function. False also when out of memory. */
bool code_name__matches(const char *typed, const char *demangled);

/*
 * A cheap test that saves demangling: false if the symbol certainly does not match the typed name, or if it is a part
 * that the compiler split off a function, which has no callers.
 */
bool code_name__may_match(const char *typed, const char *symbol);

/* Writes the last "::" component of the name, globs included, to out[size]: "m", "~K", "operator". */
void code_name__last_word(const char *typed, char *out, size_t size);

#endif /* TALLY_EVENT_CODE_NAME_H */
