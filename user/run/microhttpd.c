// SPDX-License-Identifier: BSD-2-Clause
#include "run/microhttpd.h"

#ifdef HAVE_MICROHTTPD

#include <dlfcn.h>
#include <stddef.h>

#include "report/diag.h"

#ifdef TALLY_STATIC

const struct microhttpd *microhttpd__load(void)
{
#define LINKED(name) .name = MHD_##name,
	static const struct microhttpd linked = { MICROHTTPD_FUNCTIONS(LINKED) };

	return &linked;
}

#else

/* That of libmicrohttpd 0.9.34 to 1.0. */
#define SONAME "libmicrohttpd.so.12"

static struct microhttpd loaded;

static const struct {
	const char *name;
	void **function;
} functions[] = {
#define FUNCTION(name) { "MHD_" #name, (void **)&loaded.name },
	MICROHTTPD_FUNCTIONS(FUNCTION)
};

const struct microhttpd *microhttpd__load(void)
{
	void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	size_t i;

	for (i = 0; library && i < ARRAY_SIZE(functions); i++) {
		*functions[i].function = dlsym(library, functions[i].name);
		if (!*functions[i].function)
			break;
	}
	if (library && i == ARRAY_SIZE(functions))
		return &loaded;
	diag_error("--listen takes libmicrohttpd: %s", dlerror());
	diag_hint("Debian has it as libmicrohttpd12; --format openmetrics -o FILE does without");
	if (library)
		dlclose(library);
	return NULL;
}

#endif

#endif /* HAVE_MICROHTTPD */
