// SPDX-License-Identifier: BSD-2-Clause
#include "base/library.h"

#ifndef TALLY_STATIC            /* static builds contain the libraries */

#include <dlfcn.h>

const char *library__load(const char *soname, const struct library_function *function, size_t n)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	size_t i;

	if (!library)
		return dlerror();
	for (i = 0; i < n; i++) {
		*function[i].function = dlsym(library, function[i].name);
		if (!*function[i].function)
			return dlerror();
	}
	return NULL;
}

#endif
