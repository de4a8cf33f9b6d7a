// SPDX-License-Identifier: BSD-2-Clause
/*
 * For static builds: libdw.a can ask the network for debug information (debuginfod), for which it
 * loads a shared library at run time, which a static program must not. We never ask; so that the
 * linker leaves that part of libdw.a out, its functions are here, and find nothing. These are
 * weak: should a libdw.a need more of that part, its own win.
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

__attribute__((weak)) int __libdwfl_debuginfod_find_executable(Dwfl *dwfl, const unsigned char *id,
							       size_t size)
{
	(void)dwfl, (void)id, (void)size;
	return -ENOSYS;
}

__attribute__((weak)) int __libdwfl_debuginfod_find_debuginfo(Dwfl *dwfl, const unsigned char *id,
							      size_t size)
{
	(void)dwfl, (void)id, (void)size;
	return -ENOSYS;
}

#else

/* ISO C wants a declaration in every file. */
struct dwarf;

#endif
