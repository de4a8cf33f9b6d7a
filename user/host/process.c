// SPDX-License-Identifier: BSD-2-Clause
#include "host/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* /proc/N answers for a thread too; the Tgid in its status tells which process it belongs to. */
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

/* The beginning of a file of /proc/PID, up to a newline or a zero byte. False: it cannot be read. */
static bool read_first(u32 pid, const char *file, char *text, size_t size)
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, size - 1, f);
	fclose(f);
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	return n;
}

static bool is_called(u32 pid, const char *name)
{
	char text[4096], *slash;

	if (read_first(pid, "comm", text, sizeof(text)) && !strcmp(text, name))
		return true;
	if (!read_first(pid, "cmdline", text, sizeof(text)))
		return false;
	slash = strrchr(text, '/');
	return !strcmp(slash ? slash + 1 : text, name);
}

static int append_pid(u32 **pids, size_t *n, u32 pid)
{
	u32 *larger = realloc(*pids, (*n + 1) * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	larger[(*n)++] = pid;
	*pids = larger;
	return 0;
}

int processes_named(const char *name, u32 **pids, size_t *n)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0, found = 0;
	u32 pid;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		pid = strtoul(entry->d_name, NULL, 10);
		if (!pid || pid == (u32)getpid() || !is_called(pid, name))
			continue;
		err = append_pid(pids, n, pid);
		found++;
	}
	closedir(proc);
	return err ?: found;
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
