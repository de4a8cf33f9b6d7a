// SPDX-License-Identifier: BSD-2-Clause
#include "host/process.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/numbers.h"

/* /proc/N answers for a thread too; only a process stands under its own task directory as N/task/N
 * with the same number as its thread group, which Tgid in status tells. */
bool process_exists(u32 pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (getline(&line, &room, f) > 0) {
		if (!strncmp(line, "Tgid:", 5)) {
			found = strtoul(line + 5, NULL, 10) == pid;
			break;
		}
	}
	free(line);
	fclose(f);
	return found;
}

bool thread_exists(u32 tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	return !access(path, F_OK);
}

int process_pidns(u32 pid, u32 *inode)
{
	char path[64] = "/proc/self/ns/pid";
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/ns/pid", pid);
	if (stat(path, &st))
		return -errno;
	*inode = st.st_ino;
	return 0;
}

int user_id(const char *text, u32 *uid)
{
	struct passwd pw, *found = NULL;
	char buf[4096];
	u64 number;

	if (!parse_u64_between(text, 0, UINT32_MAX - 1, &number)) {
		*uid = number;
		return 0;
	}
	if (getpwnam_r(text, &pw, buf, sizeof(buf), &found) || !found)
		return -ENOENT;
	*uid = pw.pw_uid;
	return 0;
}

char *user_name(u32 uid)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (getpwuid_r(uid, &pw, buf, sizeof(buf), &found) || !found)
		return NULL;
	return strdup(pw.pw_name);
}
