// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits that end when another process acts on an open file: the other end of a pipe or socket, or a file that is locked
 * by flock(2). Scans the descriptors of all processes once if any thread waits for a file. File systems are not
 * accessed: a link below /proc/PID/fd names the file, and the mode of the link says how it is open.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "calls/snap/waits.h"
#include "calls/syscall/text.h"

/* How the descriptor must be open: to read, to write, both or either; or its open file must hold a lock. */
enum how {
	TO_READ = S_IRUSR,
	TO_WRITE = S_IWUSR,
	OPEN = S_IRUSR | S_IWUSR,
	LOCKED = 1
};

/* An open file to look for. */
struct wanted {
	char *link;
	enum how how;
	u32 first, n; /* its holders, as wait targets */
};

struct holder {
	u32 wanted, process;
};

struct waiter {
	u32 thread, wanted;
};

struct search {
	struct snap_waits *w;
	struct wanted *wanted;
	size_t nwanted;
	struct table by_link;
	struct holder *holder;
	size_t nholders;
	struct waiter *waiter;
	size_t nwaiters;
	struct wait_sockets sockets;
	bool has_sockets; /* they were read */
	bool cut;	  /* not all descriptors were scanned */
};

/*
 * --- waiters -----------------------------------------------------------------------------------
 */

const struct file_name *snap_waits__file(const struct wait_thread *t, struct trace_record *r, u32 *fd)
{
	size_t size = snap_thread__record(r, t->of), at = 0;
	const struct trace_chunk *c = t->of->place == SNAP_IN_CALL ? trace_chunk__next(r, size, &at) : NULL;

	if (!c)
		return NULL;
	*fd = c->element;
	return (const struct file_name *)c->data;
}

static bool is_any_of(const struct snap_thread *t, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (snap_thread__is_call(t, names[i]))
			return true;
	return false;
}

static bool is_read(const struct snap_thread *t)
{
	static const char *const names[] = { "read", "readv", "recvfrom", "recvmsg", "recv" };

	return is_any_of(t, names, ARRAY_SIZE(names));
}

static bool is_write(const struct snap_thread *t)
{
	static const char *const names[] = { "write", "writev", "sendto", "sendmsg", "send" };

	return is_any_of(t, names, ARRAY_SIZE(names));
}

static bool same_wanted(const void *array, u32 index, const void *key)
{
	const struct wanted *is = &((const struct wanted *)array)[index], *sought = key;

	return is->how == sought->how && !strcmp(is->link, sought->link);
}

static u64 hash_of(const struct wanted *sought)
{
	return table_hash(sought->how, sought->link, strlen(sought->link));
}

static int want(struct search *s, const char *link, enum how how, u32 thread)
{
	struct wanted sought = { .link = (char *)link, .how = how };
	s64 known = table__find(&s->by_link, hash_of(&sought), same_wanted, s->wanted, &sought);
	int err;

	if (known < 0) {
		known = s->nwanted;
		sought.link = strdup(link);
		err = !sought.link			? -ENOMEM :
		      ARRAY_ROOM(s->wanted, s->nwanted) ?:
							  table__add(&s->by_link, hash_of(&sought), known);
		if (err) {
			free(sought.link);
			return err;
		}
		s->wanted[s->nwanted++] = sought;
	}
	return ARRAY_APPEND(s->waiter, s->nwaiters, (struct waiter){ thread, known });
}

/* The name of the thread's own descriptor, which is the same for all processes that have the file open. */
static bool read_link(struct search *s, const struct wait_thread *t, u32 fd, char link[PATH_MAX])
{
	char path[WAITS_PATH], name[24];
	ssize_t n;

	snprintf(name, sizeof(name), "fd/%u", fd);
	snap_waits__path(path, t, name);
	n = t->of->relations.seen_pid ? readlink(path, link, PATH_MAX - 1) : -1;
	if (n < 0) {
		s->w->unread++;
		return false;
	}
	link[n] = 0;
	return true;
}

static int read_sockets(struct search *s)
{
	int err;

	if (s->has_sockets)
		return 0;
	s->has_sockets = true;
	err = wait_sockets__read(&s->sockets, s->w->snap->socket_visitor);
	s->w->too_many |= s->sockets.is_cut;
	return err;
}

/* inode: of the thread's own socket. */
static int want_peer(struct search *s, struct wait_thread *t, u64 inode, bool complete)
{
	int err = read_sockets(s);
	char link[32];
	bool is_sure;
	u64 peer;

	if (err)
		return err;
	peer = wait_sockets__peer(&s->sockets, inode, &is_sure);
	if (!peer)
		return 0;
	snap_waits__begin(s->w, t, WAIT_SOCKET, complete && is_sure);
	snprintf(link, sizeof(link), "socket:[%llu]", peer);
	return want(s, link, OPEN, t - s->w->thread);
}

/* The end of a pipe or socket that the thread wants to read or write. */
struct file_wait {
	u32 fd;
	bool is_fifo; /* known from its mode */
	bool reads;
	bool complete; /* it waits for nothing else */
};

static int want_end(struct search *s, struct wait_thread *t, const struct file_wait *wait)
{
	char link[PATH_MAX];
	u64 inode;

	if (!read_link(s, t, wait->fd, link))
		return 0;
	if (sscanf(link, "socket:[%llu]", &inode) == 1)
		return want_peer(s, t, inode, wait->complete);
	if (!wait->is_fifo && strncmp(link, "pipe:[", 6))
		return 0;
	snap_waits__begin(s->w, t, WAIT_PIPE, wait->complete);
	return want(s, link, wait->reads ? TO_WRITE : TO_READ, t - s->w->thread);
}

static int want_lock(struct search *s, struct wait_thread *t)
{
	char link[PATH_MAX];
	struct trace_record r;
	u32 fd;

	if (!snap_waits__file(t, &r, &fd) || !read_link(s, t, fd, link))
		return 0;
	return want(s, link, LOCKED, t - s->w->thread);
}

static int of_thread(struct search *s, struct wait_thread *t)
{
	bool reads = is_read(t->of), writes = is_write(t->of);
	const struct file_name *file;
	struct file_wait wait = {};
	struct wait_poll poll;
	struct trace_record r;

	if (t->why == WAIT_FLOCK)
		return want_lock(s, t);
	if (t->why || t->of->place != SNAP_IN_CALL || t->of->state == 'R')
		return 0;
	if (snap_waits__poll(s->w, t, &poll)) {
		wait = (struct file_wait){ .fd = poll.fd, .reads = poll.reads };
		wait.complete = !poll.has_timeout && poll.reads != poll.writes;
		return want_end(s, t, &wait);
	}
	file = reads || writes ? snap_waits__file(t, &r, &wait.fd) : NULL;
	if (!file || (!S_ISSOCK(file->mode) && !S_ISFIFO(file->mode)))
		return 0;
	wait.is_fifo = S_ISFIFO(file->mode);
	wait.reads = reads;
	wait.complete = true;
	return want_end(s, t, &wait);
}

/*
 * --- holders -----------------------------------------------------------------------------------
 */

static bool has_lock(int fds, const char *name)
{
	char path[32], line[256];
	bool has = false;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "../fdinfo/%.15s", name);
	fd = openat(fds, path, O_RDONLY | O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!has && fgets(line, sizeof(line), f))
		has = !strncmp(line, "lock:", 5) && strstr(line, "FLOCK");
	fclose(f);
	return has;
}

static int add_holder(struct search *s, u32 wanted, u32 process)
{
	const struct holder *last = s->nholders ? &s->holder[s->nholders - 1] : NULL;

	if (last && last->wanted == wanted && last->process == process)
		return 0;
	return ARRAY_APPEND(s->holder, s->nholders, (struct holder){ wanted, process });
}

static int look_up(struct search *s, int fds, const char *name, char *link, u32 process)
{
	static const enum how all[] = { TO_READ, TO_WRITE, OPEN, LOCKED };
	struct wanted sought = { .link = link };
	struct stat st;
	size_t i;
	s64 found;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(all) && !err; i++) {
		sought.how = all[i];
		found = table__find(&s->by_link, hash_of(&sought), same_wanted, s->wanted, &sought);
		if (found < 0)
			continue;
		if (all[i] == LOCKED ? !has_lock(fds, name) :
				       fstatat(fds, name, &st, AT_SYMLINK_NOFOLLOW) || !(st.st_mode & all[i]))
			continue;
		err = add_holder(s, found, process);
	}
	return err;
}

static int search_directory(struct search *s, DIR *fds, u32 process)
{
	const struct dirent *d;
	char link[PATH_MAX];
	ssize_t n;
	int err = 0;

	while (!err && (d = readdir(fds))) {
		if (!isdigit((unsigned char)*d->d_name))
			continue;
		if (s->w->descriptors++ >= WAITS_MOST_DESCRIPTORS) {
			s->w->too_many = s->cut = true;
			break;
		}
		n = readlinkat(dirfd(fds), d->d_name, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = 0;
		err = look_up(s, dirfd(fds), d->d_name, link, process);
	}
	return err;
}

static int search_process(struct search *s, u32 process)
{
	const struct wait_thread *t = &s->w->thread[process];
	char path[WAITS_PATH];
	DIR *fds;
	int err;

	/* A kernel thread has no descriptors, and the descriptors of an ended process are closed. */
	if (t->of->place == SNAP_KERNEL_THREAD || (t->of->place == SNAP_ENDED && t->nthreads == 1))
		return 0;
	snap_waits__path(path, t, "fd");
	fds = t->of->relations.seen_pid ? opendir(path) : NULL;
	if (!fds) {
		s->cut |= errno != ENOENT;
		return 0;
	}
	err = search_directory(s, fds, process);
	closedir(fds);
	return err;
}

/*
 * --- together ----------------------------------------------------------------------------------
 */

static int compare_holders(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->wanted != y->wanted)
		return x->wanted < y->wanted ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int add_targets(struct search *s)
{
	struct wanted *of;
	size_t i, before;
	int err = 0;

	if (s->nholders)
		qsort(s->holder, s->nholders, sizeof(*s->holder), compare_holders);
	for (i = 0; i < s->nholders && !err; i++) {
		if (i && !compare_holders(&s->holder[i - 1], &s->holder[i]))
			continue;
		of = &s->wanted[s->holder[i].wanted];
		before = s->w->ntargets;
		err = snap_waits__add_target(s->w, s->holder[i].process, true);
		if (!of->n)
			of->first = before;
		of->n += s->w->ntargets - before;
	}
	return err;
}

/*
 * The waiter's own process may be a target: another thread or a signal handler may end the wait, so this is not a
 * deadlock. A lock is held until the process releases it.
 */
static void give_targets(struct search *s, const struct waiter *of)
{
	struct wait_thread *t = &s->w->thread[of->thread];
	const struct wanted *wanted = &s->wanted[of->wanted];
	u32 i;

	if (wanted->how == LOCKED && !wanted->n)
		return;
	t->first = wanted->first;
	t->n = wanted->n;
	t->complete = !s->cut && (t->complete || wanted->how == LOCKED);
	for (i = 0; i < t->n && wanted->how != LOCKED; i++)
		if (s->w->target[t->first + i].thread == t->process)
			t->complete = false;
}

static void search__free(struct search *s)
{
	size_t i;

	for (i = 0; i < s->nwanted; i++)
		free(s->wanted[i].link);
	free(s->wanted);
	free(s->holder);
	free(s->waiter);
	wait_sockets__free(&s->sockets);
	table__free(&s->by_link);
}

int snap_waits__of_files(struct snap_waits *w)
{
	struct search s = { .w = w };
	u32 i;
	int err = 0;

	for (i = 0; i < w->n && !err; i++)
		err = of_thread(&s, &w->thread[i]);
	for (i = 0; i < w->n && !err && s.nwaiters; i += w->thread[i].nthreads)
		err = search_process(&s, i);
	if (!err)
		err = add_targets(&s);
	for (i = 0; i < s.nwaiters && !err; i++)
		give_targets(&s, &s.waiter[i]);
	search__free(&s);
	return err;
}
