// SPDX-License-Identifier: BSD-2-Clause
#include "record/sqlite.h"

#include "report/diag.h"

#ifdef HAVE_SQLITE

#include <dlfcn.h>
#include <stddef.h>

#include "base/types.h"

#ifdef TALLY_STATIC

const struct sqlite *sqlite__load(void)
{
#define LINKED(name) .name = sqlite3_##name,
	static const struct sqlite linked = { SQLITE_FUNCTIONS(LINKED) };

	return &linked;
}

#else

#define SONAME "libsqlite3.so.0"        /* of all of version 3 */

static struct sqlite loaded;

static const struct {
	const char *name;
	void **function;
} functions[] = {
#define FUNCTION(name) { "sqlite3_" #name, (void **)&loaded.name },
	SQLITE_FUNCTIONS(FUNCTION)
};

const struct sqlite *sqlite__load(void)
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
	diag_error("recordings take SQLite: %s", dlerror());
	diag_hint("Debian has it as libsqlite3-0");
	if (library)
		dlclose(library);
	return NULL;
}

#endif

#endif /* HAVE_SQLITE */
