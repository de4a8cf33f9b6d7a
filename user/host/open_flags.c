// SPDX-License-Identifier: BSD-2-Clause
#include "host/open_flags.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/arch.h"

/* Flags with several bits come before flags that are parts of them. */
static const struct {
	u64 bits;
	const char *name;
} names[] = {
	{ O_CREAT, "O_CREAT" }, { O_EXCL, "O_EXCL" }, { O_NOCTTY, "O_NOCTTY" },
	{ O_TRUNC, "O_TRUNC" }, { O_APPEND, "O_APPEND" }, { O_NONBLOCK, "O_NONBLOCK" },
	{ O_SYNC, "O_SYNC" }, { O_DSYNC, "O_DSYNC" }, { O_ASYNC, "O_ASYNC" },
	{ O_DIRECT, "O_DIRECT" }, { ARCH_O_LARGEFILE, "O_LARGEFILE" }, { O_TMPFILE, "O_TMPFILE" },
	{ O_DIRECTORY, "O_DIRECTORY" }, { O_NOFOLLOW, "O_NOFOLLOW" }, { O_NOATIME, "O_NOATIME" },
	{ O_CLOEXEC, "O_CLOEXEC" }, { O_PATH, "O_PATH" },
};

char *open_flags(char text[OPEN_FLAGS_SPACE], u64 flags)
{
	static const char *const access[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
	char *end = stpcpy(text, access[flags & O_ACCMODE]);
	size_t i;

	flags &= ~(u64)O_ACCMODE;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if ((flags & names[i].bits) != names[i].bits)
			continue;
		end = stpcpy(stpcpy(end, "|"), names[i].name);
		flags &= ~names[i].bits;
	}
	if (flags)
		snprintf(end, text + OPEN_FLAGS_SPACE - end, "|0x%llx", flags);
	return text;
}

bool open_flags_create(u64 flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}
