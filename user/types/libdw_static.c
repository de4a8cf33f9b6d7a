// SPDX-License-Identifier: BSD-2-Clause
/*
 * For static builds. libdw.a can download debug information (debuginfod) through a shared library that it loads at
 * run time, which a static program must not do. tally never uses this feature. The stubs below find nothing, and keep
 * the linker from pulling in that part of libdw.a. They are weak: if a libdw.a needs more of that part, its own
 * functions take precedence.
 */
#if defined(TALLY_STATIC) && defined(HAVE_LIBDW)

#include <elfutils/libdwfl.h>
#include <errno.h>

/* Internal to libdw (libdwfl/libdwflP.h). */
void __libdwfl_debuginfod_end(void *client);
int __libdwfl_debuginfod_find_executable(Dwfl *dwfl, const unsigned char *id, size_t size);
int __libdwfl_debuginfod_find_debuginfo(Dwfl *dwfl, const unsigned char *id, size_t size);

__attribute__((weak)) void __libdwfl_debuginfod_end(void *client)
{
	(void)client;
}

__attribute__((weak)) int __libdwfl_debuginfod_find_executable(Dwfl *dwfl, const unsigned char *id, size_t size)
{
	(void)dwfl, (void)id, (void)size;
	return -ENOSYS;
}

__attribute__((weak)) int __libdwfl_debuginfod_find_debuginfo(Dwfl *dwfl, const unsigned char *id, size_t size)
{
	(void)dwfl, (void)id, (void)size;
	return -ENOSYS;
}

#else

/* ISO C requires a declaration in every file. */
struct dwarf;

#endif
