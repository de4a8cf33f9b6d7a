// SPDX-License-Identifier: BSD-2-Clause
#include "base/program_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/types.h"

/* The C library's default for an unset PATH. */
#define USUAL_PATH "/bin:/usr/bin"

/* Returns 0 if this is the file, -ENOENT if not, or the error of a server that did not answer. */
typedef int (*file_test)(const char *path);

static int test(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK) ? 0 : -ENOENT;
}

/* For root, which may execute a file if any execute bit is set. */
static int ask(const char *path)
{
	struct stat st;
	int err = opener__stat(path, &st);

	if (opener__is_unanswered(err))
		return err;
	return !err && S_ISREG(st.st_mode) && st.st_mode & 0111 ? 0 : -ENOENT;
}

static char *search(const char *name, file_test is_it, int *err)
{
	const char *at = getenv("PATH") ?: USUAL_PATH, *end;
	char path[PATH_MAX];

	*err = -ENOENT;
	if (!*name)
		return NULL;
	if (strchr(name, '/')) {
		*err = is_it(name);
		return *err ? NULL : strdup(name);
	}
	for (;; at = end + 1) {
		end = strchrnul(at, ':');
		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "", name) <
		    (int)sizeof(path))
			*err = is_it(path);
		if (!*err)
			return strdup(path);
		if (*err != -ENOENT || !*end)
			return NULL;
	}
}

char *program_path(const char *name)
{
	int err;

	return search(name, test, &err);
}

char *program_path_asked(const char *name, int *err)
{
	return search(name, ask, err);
}
