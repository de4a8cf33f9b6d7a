/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of functions as their authors wrote them, in C++ and Rust: ns::K::m, ns::K::m(int), ns::T<int>::m, and
 * globs of these. One without parameters is that of all its overloads, one without template arguments that of all
 * instances. Blanks do not count. Pure.
 */
#ifndef TALLY_EVENT_CODE_NAME_H
#define TALLY_EVENT_CODE_NAME_H

#include "base/types.h"

/* Does a text of len bytes begin with such a name, and not with a plain one of C? */
bool code_name__is_at(const char *text, size_t len);

/* Where the name ends that begins there: in front of "%return", "+OFFSET", ":LINE", "@SOURCE" and ";PATTERN". */
size_t code_name__length(const char *text, size_t len);

/* Behind the bracket that belongs to the '(' or '<' at i; i if none does. */
size_t code_name__behind_group(const char *text, size_t len, size_t i);

/* How a demangled name is told. */
enum code_name_form {
	CODE_NAME_FULL,         /* ns::K::m<int>(int): without what it returns, and copies the compiler made */
	CODE_NAME_SHORT,        /* ns::K::m<int> */
	CODE_NAME_PLAIN,        /* ns::K::m */
};

/* In out[size], cut off where it does not fit. Returns out. */
char *code_name__form(char *out, size_t size, const char *demangled, enum code_name_form form);

/* Is it one of the names meant by what was typed? Without memory it is not. */
bool code_name__matches(const char *typed, const char *demangled);

/*
 * May a symbol be of such a function? False only of those that for certain are not, so that few need be
 * demangled; and of parts that the compiler has cut off a function, which nobody calls.
 */
bool code_name__may_match(const char *typed, const char *symbol);

/* The last of the words joined by "::", with the globs in it, in out[size]: "m", "~K", "operator". */
void code_name__last_word(const char *typed, char *out, size_t size);

#endif /* TALLY_EVENT_CODE_NAME_H */
