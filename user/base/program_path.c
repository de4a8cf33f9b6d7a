// SPDX-License-Identifier: BSD-2-Clause
#include "base/program_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/types.h"

/* As the C library has it for programs without PATH. */
#define USUAL_PATH "/bin:/usr/bin"

static bool is_executable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *program_path(const char *name)
{
	const char *at = getenv("PATH") ?: USUAL_PATH, *end;
	char path[PATH_MAX];

	if (!*name)
		return NULL;
	if (strchr(name, '/'))
		return is_executable(name) ? strdup(name) : NULL;
	for (;; at = end + 1) {
		end = strchrnul(at, ':');
		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "", name) <
			    (int)sizeof(path) &&
		    is_executable(path))
			return strdup(path);
		if (!*end)
			return NULL;
	}
}
