// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits for locks of files, from /proc/locks: a line for each lock, followed by lines of its waiters. A waiter is
 * indented by one more level than the lock or waiter it waits for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls/snap/waits.h"

/* The kernel lets waiters queue behind waiters. Deeper levels are treated as the last level. */
#define LEVELS 8

struct lock_line {
	u32 pid; /* 0 if unknown: the lock of an open file, or of a process that we do not see */
	u64 inode;
	bool is_flock;
	u32 level;    /* 0: a holder */
	size_t above; /* the line that it waits for */
};

struct locks {
	struct lock_line *line;
	size_t n;
	size_t last[LEVELS]; /* line of each level */
};

/* "7: -> FLOCK  ADVISORY  WRITE 812 08:01:1234 0 EOF"; deeper levels are indented by one more place each. */
static bool parse(const char *text, struct lock_line *line)
{
	const char *at = strchr(text, ':'), *arrow = at ? strstr(at, "-> ") : NULL;
	char type[16];
	int pid;

	if (!at)
		return false;
	*line = (struct lock_line){};
	if (arrow) {
		line->level = arrow - at - 1;
		at = arrow + 2;
	}
	if (sscanf(at + 1, "%15s %*s %*s %d %*x:%*x:%llu", type, &pid, &line->inode) != 3)
		return false;
	line->is_flock = !strcmp(type, "FLOCK");
	line->pid = pid > 0 ? pid : 0;
	return line->is_flock || !strcmp(type, "POSIX") || !strcmp(type, "OFDLCK");
}

static int add_line(struct locks *l, struct lock_line line)
{
	u32 level = line.level < LEVELS ? line.level : LEVELS - 1;

	if (level)
		line.above = l->last[level - 1];
	l->last[level] = l->n;
	return ARRAY_APPEND(l->line, l->n, line);
}

static int read_locks(struct locks *l)
{
	FILE *f = fopen("/proc/locks", "re");
	struct lock_line line;
	char text[256];
	int err = 0;

	if (!f)
		return -errno;
	while (!err && fgets(text, sizeof(text), f))
		if (parse(text, &line))
			err = add_line(l, line);
	fclose(f);
	return err;
}

static int of_lock(struct snap_waits *w, struct wait_thread *t, const struct locks *l, const struct file_name *file)
{
	const struct lock_line *line, *above;
	u32 holder;
	size_t i;
	int err = 0;

	for (i = 0; i < l->n && !err; i++) {
		line = &l->line[i];
		if (!line->level || line->inode != file->inode || line->is_flock != (t->why == WAIT_FLOCK) ||
		    line->pid != t->of->relations.seen_pid)
			continue;
		above = &l->line[line->above];
		holder = above->pid ? snap_waits__find(w, WAITS_BY_SEEN_PID, above->pid) : WAITS_NOBODY;
		if (holder != WAITS_NOBODY)
			err = snap_waits__add(w, t, holder, true);
	}
	return err;
}

enum wait_why snap_waits__lock_kind(const struct snap_thread *t)
{
	if (t->place != SNAP_IN_CALL)
		return WAIT_NONE;
	if (snap_thread__is_call(t, "flock"))
		return WAIT_FLOCK;
	if (snap_thread__is_call(t, "fcntl") && (t->value[1] == F_SETLKW || t->value[1] == F_OFD_SETLKW))
		return WAIT_FCNTL;
	return WAIT_NONE;
}

static int of_thread(struct snap_waits *w, struct wait_thread *t, struct locks *l)
{
	const struct file_name *file;
	struct trace_record r;
	enum wait_why why = snap_waits__lock_kind(t->of);
	u32 fd;
	int err;

	if (!why || t->why || t->of->state == 'R')
		return 0;
	/* A flock(2) lock belongs to all processes that have the open file: see wait_files.c. */
	snap_waits__begin(w, t, why, why == WAIT_FCNTL);
	file = snap_waits__file(t, &r, &fd);
	if (!l->n) {
		err = read_locks(l);
		if (err == -ENOMEM)
			return err;
		w->unread += err != 0;
	}
	return file ? of_lock(w, t, l, file) : 0;
}

int snap_waits__of_locks(struct snap_waits *w)
{
	struct locks l = {};
	u32 i;
	int err = 0;

	for (i = 0; i < w->n && !err; i++)
		err = of_thread(w, &w->thread[i], &l);
	free(l.line);
	return err;
}
