// SPDX-License-Identifier: BSD-2-Clause
#include "machine/prove/books.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/small_file.h"

#define ROOM 4096

/* The number that follows a name at the beginning of a line. */
static u64 number_of(const char *text, const char *name)
{
	const char *found = strstr(text, name);

	return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

/* Parses the fields after the comm, which may contain any characters. */
static bool read_stat(int dir, const char *path, char *state, u64 *faults)
{
	char text[ROOM], *rest;
	unsigned long long minor, major;

	if (!small_file__read(dir, path, text, sizeof(text)))
		return false;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %llu %*u %llu", state, &minor, &major) != 3)
		return false;
	*faults = minor + major;
	return true;
}

static bool add_thread(struct prove_books *books, int tasks, const char *tid, bool *asleep)
{
	char path[NAME_MAX + 32], text[ROOM], state;
	unsigned long long run, wait, slices;
	u64 faults, preemptions;

	snprintf(path, sizeof(path), "%s/stat", tid);
	if (!read_stat(tasks, path, &state, &faults))
		return false;
	if (state != 'S')
		*asleep = false;
	snprintf(path, sizeof(path), "%s/schedstat", tid);
	/* Without CONFIG_SCHED_INFO, there is no such file; features.c checks this. */
	if (small_file__read(tasks, path, text, sizeof(text)) &&
	    sscanf(text, "%llu %llu %llu", &run, &wait, &slices) == 3) {
		books->run_ns += run;
		books->wait_ns += wait;
		books->slices += slices;
	}
	snprintf(path, sizeof(path), "%s/status", tid);
	if (!small_file__read(tasks, path, text, sizeof(text)))
		return false;
	preemptions = number_of(text, "\nnonvoluntary_ctxt_switches:");
	books->switches += number_of(text, "\nvoluntary_ctxt_switches:") + preemptions;
	books->preemptions += preemptions;
	return true;
}

int prove_books__read(struct prove_books *books, pid_t pid, bool *asleep)
{
	struct dirent *entry;
	char path[64], state;
	bool read_all;
	DIR *tasks;

	*books = (struct prove_books){};
	*asleep = true;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_all = read_stat(AT_FDCWD, path, &state, &books->faults);
	while (read_all && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			read_all = add_thread(books, dirfd(tasks), entry->d_name, asleep);
	closedir(tasks);
	return read_all ? 0 : -ESRCH;
}

struct prove_books prove_books__difference(const struct prove_books *later, const struct prove_books *earlier)
{
	return (struct prove_books){
		.run_ns = later->run_ns - earlier->run_ns,
		.wait_ns = later->wait_ns - earlier->wait_ns,
		.slices = later->slices - earlier->slices,
		.switches = later->switches - earlier->switches,
		.preemptions = later->preemptions - earlier->preemptions,
		.faults = later->faults - earlier->faults,
	};
}
