// SPDX-License-Identifier: BSD-2-Clause
#include "host/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/opener.h"
#include "base/process_thread.h"
#include "host/scope.h"

/* /proc/N exists for threads, too. Tgid in its status is the pid of the process. */
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

/*
 * Reads the start of a /proc/PID file, up to a newline or NUL. Returns false if it cannot be read.
 */
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

/* comm: the process's name in the kernel. */
static bool is_called(u32 pid, const char *comm, const char *name)
{
	char path[32], text[4096], *slash;
	ssize_t n;

	if (!strcmp(comm, name))
		return true;
	/* cmdline is memory of the process, which may map a file there. */
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	n = opener__read_path(path, 0, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	slash = strrchr(text, '/');
	return !strcmp(slash ? slash + 1 : text, name);
}

static int append_pid(u32 **pids, size_t *n, u32 pid)
{
	return ARRAY_APPEND(*pids, *n, pid);
}

int processes__visit(int (*visit)(void *context, u32 pid, const char *name), void *context)
{
	char name[PROCESS_NAME_SPACE];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;
	u32 pid;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		pid = strtoul(entry->d_name, NULL, 10);
		if (pid && pid != (u32)getpid() && read_first(pid, "comm", name, sizeof(name)))
			err = visit(context, pid, name);
	}
	closedir(proc);
	return err;
}

bool process_has_thread_named(u32 pid, const struct scope_glob *names)
{
	char name[PROCESS_NAME_SPACE], path[64];
	struct dirent *entry;
	bool found = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		u32 tid = strtoul(entry->d_name, NULL, 10);

		found = tid && read_first(tid, "comm", name, sizeof(name)) && scope_glob__matches(names, name);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

struct named {
	const char *name;
	u32 **pids;
	size_t *n;
};

static int append_named(void *context, u32 pid, const char *comm)
{
	const struct named *named = context;

	if (!is_called(pid, comm, named->name) || pid == (u32)opener__pid())
		return 0;
	return append_pid(named->pids, named->n, pid);
}

int processes_named(const char *name, u32 **pids, size_t *n)
{
	struct named named = { name, pids, n };
	size_t before = *n;
	int err = processes__visit(append_named, &named);

	return err ?: (int)(*n - before);
}

int process_pidns(u32 pid, u32 *inode)
{
	char path[64] = "/proc/self/ns/pid";
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/ns/pid", process_thread(pid));
	if (stat(path, &st))
		return -errno;
	*inode = st.st_ino;
	return 0;
}
