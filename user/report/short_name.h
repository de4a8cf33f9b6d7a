/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shortens names of C++ and Rust functions: removes parameters and the arguments of templates.
 *
 *   std::vector<int, std::allocator<int> >::push_back(int const&)     std::vector<>::push_back
 *   void ns::run<long>(long)                                          ns::run<>
 *   <alloc::vec::Vec<T> as core::ops::drop::Drop>::drop    <alloc::vec::Vec<> as core::ops::drop::Drop>::drop
 *
 * Operators, "(anonymous namespace)", the numbers of lambdas and receivers in Go (main.(*T).run) are kept. Names may be
 * untrusted: a name that is very long, or whose brackets do not match, is not changed. Has no side effects.
 */
#ifndef TALLY_REPORT_SHORT_NAME_H
#define TALLY_REPORT_SHORT_NAME_H

/* Returns an allocated name, or NULL without memory. */
char *short_name(const char *name);

#endif /* TALLY_REPORT_SHORT_NAME_H */
