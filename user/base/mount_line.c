// SPDX-License-Identifier: BSD-2-Clause
#include "base/mount_line.h"

#include <stdio.h>
#include <string.h>

/* Blanks, backslashes and similar characters are escaped as \ooo. */
static bool is_escape(const char *s)
{
	return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7';
}

static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (is_escape(s)) {
			*out++ = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = 0;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
bool mount_line__parse(struct mount_line *m, char *line)
{
	char *tail = strstr(line, " - "), *rest = line, *root = NULL, *point = NULL, *type, *source, *options;
	struct mount_line parsed = {};
	int i;

	if (!tail || sscanf(line, "%u %*u %u:%u ", &parsed.id, &parsed.major, &parsed.minor) != 3)
		return false;
	*tail = 0;
	for (i = 0; i < 4; i++)
		root = strsep(&rest, " ");
	point = strsep(&rest, " ");
	rest = tail + 3;
	type = strsep(&rest, " ");
	source = strsep(&rest, " ");
	options = strsep(&rest, " \n");
	if (!point || !*point || !source || !options)
		return false;
	unescape(root);
	unescape(point);
	unescape(type);
	unescape(source);
	parsed.root = root;
	parsed.point = point;
	parsed.type = type;
	parsed.source = source;
	parsed.options = options;
	*m = parsed;
	return true;
}
