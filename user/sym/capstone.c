// SPDX-License-Identifier: BSD-2-Clause
#include "sym/capstone.h"

#ifdef HAVE_CAPSTONE

#include "base/library.h"

#ifdef TALLY_STATIC

const struct capstone *capstone__load(void)
{
#define LINKED(name) .name = cs_##name,
	static const struct capstone linked = { CAPSTONE_FUNCTIONS(LINKED) };

	return &linked;
}

#else

/* The soname contains the API version, so ids and structs match the header. */
#define TEXT_OF(number) #number
#define SONAME_OF(number) "libcapstone.so." TEXT_OF(number)
#define SONAME SONAME_OF(CS_API_MAJOR)

static struct capstone loaded;

static const struct library_function functions[] = {
#define FUNCTION(name) { "cs_" #name, (void **)&loaded.name },
	CAPSTONE_FUNCTIONS(FUNCTION)
};

const struct capstone *capstone__load(void)
{
	if (!loaded.open && library__load(SONAME, functions, ARRAY_SIZE(functions)))
		loaded.open = NULL;
	return loaded.open ? &loaded : NULL;
}

#endif

#endif /* HAVE_CAPSTONE */
