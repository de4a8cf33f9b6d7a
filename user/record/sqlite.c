// SPDX-License-Identifier: BSD-2-Clause
#include "record/sqlite.h"

#include "report/diag.h"

#ifdef HAVE_SQLITE

#include "base/library.h"

#ifdef TALLY_STATIC

const struct sqlite *sqlite__load(void)
{
#define LINKED(name) .name = sqlite3_##name,
	static const struct sqlite linked = { SQLITE_FUNCTIONS(LINKED) };

	return &linked;
}

#else

#define SONAME "libsqlite3.so.0"        /* the same for all of version 3 */

static struct sqlite loaded;

static const struct library_function functions[] = {
#define FUNCTION(name) { "sqlite3_" #name, (void **)&loaded.name },
	SQLITE_FUNCTIONS(FUNCTION)
};

const struct sqlite *sqlite__load(void)
{
	const char *why = library__load(SONAME, functions, ARRAY_SIZE(functions));

	if (!why)
		return &loaded;
	diag_error("recordings need SQLite: %s", why);
	diag_hint("on Debian, install libsqlite3-0");
	return NULL;
}

#endif

#endif /* HAVE_SQLITE */
