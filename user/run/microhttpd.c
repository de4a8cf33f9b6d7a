// SPDX-License-Identifier: BSD-2-Clause
#include "run/microhttpd.h"

#ifdef HAVE_MICROHTTPD

#include "base/library.h"
#include "report/diag.h"

#ifdef TALLY_STATIC

const struct microhttpd *microhttpd__load(void)
{
#define LINKED(name) .name = MHD_##name,
	static const struct microhttpd linked = { MICROHTTPD_FUNCTIONS(LINKED) };

	return &linked;
}

#else

/* The soname of libmicrohttpd 0.9.34 to 1.0. */
#define SONAME "libmicrohttpd.so.12"

static struct microhttpd loaded;

static const struct library_function functions[] = {
#define FUNCTION(name) { "MHD_" #name, (void **)&loaded.name },
	MICROHTTPD_FUNCTIONS(FUNCTION)
};

const struct microhttpd *microhttpd__load(void)
{
	const char *why = library__load(SONAME, functions, ARRAY_SIZE(functions));

	if (!why)
		return &loaded;
	diag_error("--listen needs libmicrohttpd: %s", why);
	diag_hint("on Debian, install libmicrohttpd12; --format openmetrics -o FILE works without it");
	return NULL;
}

#endif

#endif /* HAVE_MICROHTTPD */
