// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits for file servers: a FUSE daemon or an NFS server. No file system is asked anything, because its server may
 * never answer: the descriptor of a call leads by /proc/PID/fdinfo and /proc/PID/mountinfo to the mount.
 */
#include "calls/snap/wait_servers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "calls/syscall/text.h"
#include "calls/wait_stack.h"

/* Most mounts of one thread's namespace that are read. */
#define MOST_MOUNTS 100000

/* A direct-mapped cache of functions by their address: most threads sleep in few places. */
#define CACHED_FRAMES 1024

struct cached_frame {
	u64 address;
	enum wait_frame frame;
};

struct search {
	struct snap_waits *w;
	struct cached_frame *cached;
	size_t nthreads; /* without servers */
};

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

static int frame_at(struct search *s, u64 address, enum wait_frame *frame)
{
	struct cached_frame *c = &s->cached[(address ^ address >> 10) % CACHED_FRAMES];
	struct symbol found = {};
	int err;

	if (c->address != address) {
		err = symbols__kernel(s->w->snap->names.symbols, address - 1, &found);
		if (err)
			return err;
		*c = (struct cached_frame){ address, wait_frame_of(found.name) };
	}
	*frame = c->frame;
	return 0;
}

static int stack_of(struct search *s, const struct snap_thread *t, enum wait_stack *stack)
{
	const u64 *address = (const u64 *)(t + 1);
	enum wait_frame frame[SNAP_FRAMES];
	size_t n = t->frames < SNAP_FRAMES ? t->frames : SNAP_FRAMES, i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = frame_at(s, address[i], &frame[i]);
	*stack = err ? STACK_OTHER : wait_stack_of(frame, n);
	return err;
}

/*
 * --- mounts ------------------------------------------------------------------------------------
 */

static enum wait_why why_of_type(const char *type)
{
	if (!strcmp(type, "fuse") || !strcmp(type, "fuseblk") || !strncmp(type, "fuse.", 5) ||
	    !strncmp(type, "fuseblk.", 8) || !strcmp(type, "virtiofs"))
		return WAIT_FUSE;
	return !strcmp(type, "nfs") || !strcmp(type, "nfs4") ? WAIT_NFS : WAIT_NONE;
}

/* Takes the place of an earlier mount. Returns 0 or -ENOMEM. */
static int take_mount(struct wait_server *server, const struct mount_line *m)
{
	free(server->point);
	free(server->type);
	free(server->source);
	server->major = m->major;
	server->minor = m->minor;
	server->point = strdup(m->point);
	server->type = strdup(m->type);
	server->source = strdup(m->source);
	return server->point && server->type && server->source ? 0 : -ENOMEM;
}

/* The mounts to look for. */
struct wanted_mount {
	enum wait_why why; /* WAIT_NONE: any */
	bool by_id;
	u32 id;
	u32 systems; /* different file systems that were found */
};

static int look_at_mount(struct wanted_mount *wanted, struct wait_server *server, const struct mount_line *m)
{
	enum wait_why why = why_of_type(m->type);

	if (!why || (wanted->why && why != wanted->why) || (wanted->by_id && m->id != wanted->id))
		return 0;
	if (wanted->systems && server->major == m->major && server->minor == m->minor)
		return 0;
	wanted->systems++;
	server->why = why;
	return take_mount(server, m);
}

/* Finds mounts of the thread's namespace; server is that of the last one. */
static int find_mounts(const struct wait_thread *t, struct wanted_mount *wanted, struct wait_server *server)
{
	char path[WAITS_PATH], *line = NULL;
	size_t room = 0, lines = 0;
	struct mount_line m;
	FILE *f;
	int err = 0;

	if (!t->of->relations.seen_pid)
		return 0;
	snap_waits__path(path, t, "mountinfo");
	f = fopen(path, "re");
	if (!f)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (!err && lines++ < MOST_MOUNTS && getline(&line, &room, f) > 0)
		if (mount_line__parse(&m, line))
			err = look_at_mount(wanted, server, &m);
	free(line);
	fclose(f);
	return err;
}

static bool mount_of_descriptor(const struct wait_thread *t, u32 fd, u32 *id)
{
	char path[WAITS_PATH], name[24], line[256];
	bool found = false;
	FILE *f;

	snprintf(name, sizeof(name), "fdinfo/%u", fd);
	snap_waits__path(path, t, name);
	f = t->of->relations.seen_pid ? fopen(path, "re") : NULL;
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "mnt_id: %u", id) == 1;
	if (f)
		fclose(f);
	return found;
}

/*
 * Whether the call is about the file of this argument, a descriptor: where a path follows, it may lead anywhere.
 * An empty path with AT_EMPTY_PATH names the descriptor: fstat(3) of glibc.
 */
static bool is_about_descriptor(struct snap_waits *w, const struct snap_thread *t, u32 argument)
{
	const struct signature *s = call_signature(&w->snap->names.signatures, t->slot % TRACE_SLOTS);

	if (argument + 1 >= TRACE_ARGUMENTS || s->arg[argument].kind != ARG_DIRFD)
		return true;
	if (s->arg[argument + 1].kind != ARG_STRING || !t->value[argument + 1])
		return true;
	if (snap_thread__is_call(t, "newfstatat"))
		return t->value[3] & AT_EMPTY_PATH;
	return snap_thread__is_call(t, "statx") && t->value[2] & AT_EMPTY_PATH;
}

/* The server of the files that the call has descriptors of. *n: how many different ones there are. */
static int of_descriptors(struct search *s, const struct wait_thread *t, enum wait_why why, struct wait_server *server,
			  u32 *n)
{
	struct wanted_mount wanted = { .why = why, .by_id = true };
	struct trace_record r;
	size_t size = snap_thread__record(&r, t->of), at = 0;
	const struct trace_chunk *c;
	int err = 0;

	while (!err && t->of->place == SNAP_IN_CALL && (c = trace_chunk__next(&r, size, &at)))
		if (is_about_descriptor(s->w, t->of, c->id & 7) && mount_of_descriptor(t, c->element, &wanted.id))
			err = find_mounts(t, &wanted, server);
	*n = wanted.systems;
	return err;
}

/*
 * --- servers -----------------------------------------------------------------------------------
 */

static void forget_mount(struct wait_server *server)
{
	free(server->point);
	free(server->type);
	free(server->source);
	server->point = server->type = server->source = NULL;
	server->major = server->minor = 0;
}

/* Which server the thread waits for. server->why is WAIT_NONE if it waits for none. */
static int find_server(struct search *s, const struct wait_thread *t, enum wait_stack stack, struct wait_server *server)
{
	enum wait_why why = stack == STACK_FUSE ? WAIT_FUSE : stack == STACK_NFS ? WAIT_NFS : WAIT_NONE;
	struct wanted_mount only = { .why = why };
	u32 n;
	int err = of_descriptors(s, t, why, server, &n);

	if (err || n == 1)
		return err;
	if (!n && why)
		err = find_mounts(t, &only, server);
	/* Several: which one is not known. */
	if (only.systems != 1)
		forget_mount(server);
	server->why = why;
	return err;
}

static bool is_same(const struct wait_server *a, const struct wait_server *b)
{
	return a->why == b->why && !a->point == !b->point && a->major == b->major && a->minor == b->minor;
}

/* Adds a server unless it is there, and takes ownership. *number: its place. */
static int add_server(struct snap_waits *w, struct wait_server *server, size_t *number)
{
	int err = 0;

	for (*number = 0; *number < w->nservers; ++*number)
		if (is_same(w->server[*number], server))
			break;
	if (*number == w->nservers)
		err = ARRAY_APPEND(w->server, w->nservers, server);
	if (err || w->server[*number] != server)
		wait_server__free(server);
	return err;
}

/* Calls without a descriptor or a path that may use files, or close some. */
static bool may_use_any_file(const struct snap_thread *t)
{
	static const char *const names[] = { "munmap", "msync", "sync",	      "close_range",
					     "dup2",   "dup3",	"exit_group", "exit" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (snap_thread__is_call(t, names[i]))
			return true;
	return false;
}

/* A descriptor that is not open may be that of a file which the call closes. */
static bool has_file(const struct snap_thread *t, u32 descriptors)
{
	struct trace_record r;
	size_t size = snap_thread__record(&r, t), at = 0;
	const struct trace_chunk *c;
	u32 mode, open = 0;

	while ((c = trace_chunk__next(&r, size, &at))) {
		mode = ((const struct file_name *)c->data)->mode;
		if (S_ISREG(mode) || S_ISDIR(mode))
			return true;
		open++;
	}
	return open < descriptors;
}

/* Most threads sleep in other calls, and the names of the kernel's functions are read only for these. */
static bool may_ask_server(struct snap_waits *w, const struct snap_thread *t)
{
	const struct signature *s = call_signature(&w->snap->names.signatures, t->slot % TRACE_SLOTS);
	u32 descriptors = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->arg); i++) {
		if (s->arg[i].kind == ARG_STRING && !s->arg[i].out)
			return true;
		descriptors += s->arg[i].kind == ARG_FD || s->arg[i].kind == ARG_DIRFD;
	}
	return has_file(t, descriptors) || may_use_any_file(t);
}

static bool may_wait(struct snap_waits *w, const struct wait_thread *t)
{
	if ((t->of->state != 'S' && t->of->state != 'D') || t->of->relations.lock.kind)
		return false;
	if (t->why == WAIT_FLOCK || t->why == WAIT_FCNTL || snap_waits__lock_kind(t->of))
		return false;
	return t->of->place == SNAP_OUTSIDE || (t->of->place == SNAP_IN_CALL && may_ask_server(w, t->of));
}

static int of_thread(struct search *s, u32 thread)
{
	struct wait_thread *t = &s->w->thread[thread];
	struct wait_server *server;
	enum wait_stack stack;
	size_t number;
	int err = stack_of(s, t->of, &stack);

	if (err || stack == STACK_OTHER)
		return err;
	server = calloc(1, sizeof(*server));
	err = server ? find_server(s, t, stack, server) : -ENOMEM;
	if (!err && server->why) {
		snap_waits__begin(s->w, t, server->why, false);
		err = add_server(s->w, server, &number);
		return err ?: snap_waits__add(s->w, t, s->nthreads + number, false);
	}
	if (server)
		wait_server__free(server);
	return err;
}

/* A server is a thread of its own, behind all others, that waits for the process of its daemon. */
static int add_threads(struct search *s)
{
	struct snap_waits *w = s->w;
	struct wait_server *server;
	struct wait_thread t;
	size_t i;

	for (i = 0; i < w->nservers; i++) {
		server = w->server[i];
		server->of.place = SNAP_ENDED;
		server->of.state = 'S';
		server->of.flags = SNAP_OUT_OF_SCOPE;
		server->of.task.pid = UINT32_MAX;
		server->of.task.tid = i;
		t = (struct wait_thread){
			.of = &server->of,
			.process = w->n,
			.nthreads = 1,
			.next = WAITS_NOBODY,
			.server = server,
		};
		if (ARRAY_APPEND(w->thread, w->n, t))
			return -ENOMEM;
	}
	return 0;
}

/* The host serves virtiofs. */
static bool has_daemon(const struct wait_server *server)
{
	return server->why == WAIT_FUSE && !(server->type && !strcmp(server->type, "virtiofs"));
}

static bool has_fuse(const struct snap_waits *w)
{
	size_t i;

	for (i = 0; i < w->nservers; i++)
		if (has_daemon(w->server[i]))
			return true;
	return false;
}

/* The number of the connection is the device of its file system, as the kernel itself encodes it. */
static u32 connection_of(const struct wait_server *server)
{
	return server->major << 20 | server->minor;
}

static int add_daemons(struct search *s, const struct wait_daemons *d)
{
	struct snap_waits *w = s->w;
	struct wait_thread *t;
	size_t i, k, n;
	int err = 0;

	for (i = 0; i < w->nservers && !err; i++) {
		t = &w->thread[s->nthreads + i];
		snap_waits__begin(w, t, w->server[i]->why, false);
		if (!has_daemon(w->server[i]))
			continue;
		n = wait_daemons__find(d, w->server[i]->point ? connection_of(w->server[i]) : 0, &k);
		while (n-- && !err)
			err = snap_waits__add(w, t, d->daemon[k++].process, true);
	}
	return err;
}

int snap_waits__of_servers(struct snap_waits *w)
{
	struct search s = { .w = w, .nthreads = w->n, .cached = calloc(CACHED_FRAMES, sizeof(*s.cached)) };
	struct wait_daemons daemons = {};
	int err = s.cached ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < s.nthreads && !err; i++)
		if (may_wait(w, &w->thread[i]))
			err = of_thread(&s, i);
	if (!err && has_fuse(w))
		err = wait_daemons__search(&daemons, w);
	err = err ?: add_threads(&s) ?: add_daemons(&s, &daemons);
	wait_daemons__free(&daemons);
	free(s.cached);
	return err;
}

void snap_waits__time_servers(struct snap_waits *w)
{
	const struct wait_thread *t;
	struct wait_server *server;
	u32 i;

	for (i = 0; i < w->n; i++) {
		t = &w->thread[i];
		if (t->server || (t->why != WAIT_FUSE && t->why != WAIT_NFS) || !t->n || t->moved ||
		    t->of->flags & SNAP_OUT_OF_SCOPE || !t->of->since)
			continue;
		server = w->server[w->target[t->first].thread - (w->n - w->nservers)];
		if (server->of.since && server->of.since <= t->of->since)
			continue;
		server->of.since = t->of->since;
		server->of.at_ns = t->of->at_ns;
	}
}
