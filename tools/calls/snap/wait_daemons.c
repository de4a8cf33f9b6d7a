// SPDX-License-Identifier: BSD-2-Clause
/* The daemons of FUSE: processes that have /dev/fuse open. */
#include "calls/snap/wait_servers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

/* The kernel tells the connection since 6.16, "fuse_connection:\t45"; 0: it does not, or there is none yet. */
static u32 connection_of(int fds, const char *name)
{
	char path[32], line[256];
	u32 connection = 0;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "../fdinfo/%.15s", name);
	fd = openat(fds, path, O_RDONLY | O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	while (f && !connection && fgets(line, sizeof(line), f))
		if (sscanf(line, "fuse_connection: %u", &connection) != 1)
			connection = 0;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return connection;
}

static int search_directory(struct wait_daemons *d, struct snap_waits *w, DIR *fds, u32 process)
{
	static const char device[] = "/dev/fuse";
	const struct dirent *e;
	char link[sizeof(device) + 1];
	int err = 0;

	while (!err && (e = readdir(fds))) {
		if (!isdigit((unsigned char)*e->d_name))
			continue;
		if (w->descriptors++ >= WAITS_MOST_DESCRIPTORS) {
			w->too_many = true;
			break;
		}
		if (readlinkat(dirfd(fds), e->d_name, link, sizeof(link)) != sizeof(device) - 1 ||
		    memcmp(link, device, sizeof(device) - 1))
			continue;
		err = ARRAY_APPEND(d->daemon, d->n,
				   (struct wait_daemon){ connection_of(dirfd(fds), e->d_name), process });
	}
	return err;
}

static int search_process(struct wait_daemons *d, struct snap_waits *w, u32 process)
{
	const struct wait_thread *t = &w->thread[process];
	char path[WAITS_PATH];
	DIR *fds;
	int err;

	if (t->of->place == SNAP_KERNEL_THREAD || !t->of->relations.seen_pid)
		return 0;
	snap_waits__path(path, t, "fd");
	fds = opendir(path);
	if (!fds)
		return 0;
	err = search_directory(d, w, fds, process);
	closedir(fds);
	return err;
}

static int compare_daemons(const void *a, const void *b)
{
	const struct wait_daemon *x = a, *y = b;

	if (x->connection != y->connection)
		return x->connection < y->connection ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

void wait_daemons__sort(struct wait_daemons *d)
{
	size_t i, n = 0;

	if (d->n)
		qsort(d->daemon, d->n, sizeof(*d->daemon), compare_daemons);
	for (i = 0; i < d->n; i++)
		if (!i || compare_daemons(&d->daemon[i], &d->daemon[i - 1]))
			d->daemon[n++] = d->daemon[i];
	d->n = n;
}

int wait_daemons__search(struct wait_daemons *d, struct snap_waits *w)
{
	u32 i;
	int err = 0;

	for (i = 0; i < w->n && !err; i += w->thread[i].nthreads)
		err = search_process(d, w, i);
	wait_daemons__sort(d);
	return err;
}

static bool is_one_process(const struct wait_daemons *d)
{
	size_t i;

	for (i = 1; i < d->n; i++)
		if (d->daemon[i].process != d->daemon[0].process)
			return false;
	return d->n;
}

size_t wait_daemons__find(const struct wait_daemons *d, u32 connection, size_t *first)
{
	bool tells = d->n && d->daemon[d->n - 1].connection;
	size_t n = 0;

	*first = 0;
	if (!connection || !tells)
		return is_one_process(d);
	while (*first < d->n && d->daemon[*first].connection != connection)
		++*first;
	while (*first + n < d->n && d->daemon[*first + n].connection == connection)
		n++;
	return n;
}

void wait_daemons__free(struct wait_daemons *d)
{
	free(d->daemon);
}
