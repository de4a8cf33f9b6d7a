// SPDX-License-Identifier: BSD-2-Clause
/* Processes near a limit of their own: open files and RLIMIT_NOFILE. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine/vitals/vital.h"

/* Limits of processes with fewer open files, which are most, are not read. */
#define LEAST_OPEN 16

/* Interval between scans of all processes. A scan takes 10 us per process. */
#define ALL_NS (10 * NSEC_PER_SEC)

struct process {
	u32 pid;
	u64 open, limit;
};

/* Processes near their limits, nearest first. */
struct nearest {
	struct process process[VITAL_PROCESSES];
	size_t n;
};

bool vital_processes__have_sizes(void)
{
	struct stat st;

	return !stat("/proc/self/fd", &st) && st.st_size;
}

/* Returns false if /proc belongs to another PID namespace, so that its pids are not those of prlimit(2). */
static bool is_own_proc(int proc)
{
	char self[16] = "";

	return readlinkat(proc, "self", self, sizeof(self) - 1) > 0 && (pid_t)strtoul(self, NULL, 10) == getpid();
}

static u64 size_of(int proc, u32 pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "%u/fd", pid);
	return fstatat(proc, path, &st, 0) ? 0 : st.st_size;
}

/* Reads a small file of a process. Returns its length, or 0 if it cannot be read. */
static size_t read_file(int proc, u32 pid, const char *name, char *text, size_t room)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%u/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0 ? n : 0;
}

static u64 list_files(int proc, u32 pid)
{
	const struct dirent *e;
	char path[32];
	u64 n = 0;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "%u/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

/* Listing is slow, so it is done only for processes whose descriptor table has room for half of the limit. */
static u64 count_files(int proc, u32 pid, u64 limit)
{
	const struct vital_figure room_of_table = { .key = "FDSize" };
	char text[4096];
	u64 room;

	if (!read_file(proc, pid, "status", text, sizeof(text)) ||
	    !vital_text__number(text, VITAL_LINES, &room_of_table, VITAL_NUMBER, &room) || room < limit / 2)
		return 0;
	return list_files(proc, pid);
}

/*
 * Returns 0 if there is no limit, or the process has exited. For a process of another user, prlimit(2) needs
 * CAP_SYS_RESOURCE.
 */
static u64 limit_of(int proc, u32 pid)
{
	static const char line[] = "\nMax open files ";
	struct rlimit limit;
	char text[4096];
	const char *at;

	if (!prlimit(pid, RLIMIT_NOFILE, NULL, &limit))
		return limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur;
	read_file(proc, pid, "limits", text, sizeof(text));
	at = strstr(text, line);
	return at ? strtoull(at + sizeof(line) - 1, NULL, 10) : 0;
}

/* Reads the open files and the limit of a process. Returns false if it is far from its limit, or has exited. */
static bool look_at(struct process *p, int proc, bool sizes)
{
	if (sizes) {
		p->open = size_of(proc, p->pid);
		if (p->open < LEAST_OPEN)
			return false;
	}
	p->limit = limit_of(proc, p->pid);
	if (!p->limit)
		return false;
	if (!sizes)
		p->open = count_files(proc, p->pid, p->limit);
	/* Sandboxes keep themselves from opening files by a limit below the number that they have open. */
	return p->open >= LEAST_OPEN && p->open <= p->limit;
}

static bool is_nearer(const struct process *a, const struct process *b)
{
	return (double)a->open / a->limit > (double)b->open / b->limit;
}

static void insert(struct nearest *found, const struct process *p)
{
	size_t i;

	for (i = found->n; i && is_nearer(p, &found->process[i - 1]); i--)
		if (i < VITAL_PROCESSES)
			found->process[i] = found->process[i - 1];
	if (i == VITAL_PROCESSES)
		return;
	found->process[i] = *p;
	found->n += found->n < VITAL_PROCESSES;
}

static int add(struct readings *r, int proc, const struct process *p)
{
	const struct reading one = {
		.vital = VITAL_PROCESS_FILES, .id = p->pid, .value = p->open, .at_ns = monotonic_ns(),
		.limit = p->limit, .has_limit = true,
	};
	char name[64], object[sizeof(name) + 16];
	size_t n;

	n = read_file(proc, p->pid, "comm", name, sizeof(name));
	if (!n)
		return 0;
	if (name[n - 1] == '\n')
		name[n - 1] = 0;
	snprintf(object, sizeof(object), "%s (%u)", name, p->pid);
	return readings__add(r, &one, object);
}

static void look_at_all(struct nearest *found, DIR *proc, bool sizes)
{
	const struct dirent *e;

	while ((e = readdir(proc))) {
		struct process p = { .pid = isdigit((unsigned char)*e->d_name) ? strtoul(e->d_name, NULL, 10) : 0 };

		/* Excludes this process, which opens files only to measure. */
		if (p.pid && p.pid != (u32)getpid() && look_at(&p, dirfd(proc), sizes))
			insert(found, &p);
	}
}

static void look_again(struct nearest *found, const struct vital_processes *before, int proc, bool sizes)
{
	size_t i;

	for (i = 0; i < before->n; i++) {
		struct process p = { .pid = before->pid[i] };

		if (look_at(&p, proc, sizes))
			insert(found, &p);
	}
}

int vital_processes__read(struct vital_processes *nearest, struct readings *r, bool sizes)
{
	DIR *proc = opendir("/proc");
	u64 now = monotonic_ns();
	struct nearest found = {};
	int err = 0;
	size_t i;

	if (proc && is_own_proc(dirfd(proc))) {
		if (nearest->looked_ns && now - nearest->looked_ns < ALL_NS) {
			look_again(&found, nearest, dirfd(proc), sizes);
		} else {
			look_at_all(&found, proc, sizes);
			nearest->looked_ns = now;
		}
	}
	nearest->n = found.n;
	for (i = 0; i < found.n && !err; i++) {
		nearest->pid[i] = found.process[i].pid;
		err = add(r, dirfd(proc), &found.process[i]);
	}
	if (proc)
		closedir(proc);
	return err;
}
