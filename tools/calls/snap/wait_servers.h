/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File servers as members of the graph of waits. A server is a thread in snap_waits.thread behind all others, with
 * wait_thread.server: threads wait for it, and it waits for the processes that serve its mount, if they are known.
 *
 * Functions of type int return 0 or a negative errno.
 */
#ifndef TALLY_SNAP_WAIT_SERVERS_H
#define TALLY_SNAP_WAIT_SERVERS_H

#include "base/mount_line.h"
#include "calls/snap/waits.h"

struct wait_server {
	enum wait_why why;
	u32 major, minor;
	/* The mount, in the namespace of the first thread that waits; NULL: the mount is not known. */
	char *point, *type, *source;
	struct snap_thread of; /* its time is that of the thread that has waited for the longest time */
};

void wait_server__free(struct wait_server *server);

/* Handles all threads in one call. */
int snap_waits__of_servers(struct snap_waits *w);

/* After it is known which threads have run meanwhile. */
void snap_waits__time_servers(struct snap_waits *w);

/* --- wait_daemons.c ---------------------------------------------------------------------------- */

/* A process that has /dev/fuse open. */
struct wait_daemon {
	u32 connection; /* 0: unknown */
	u32 process;
};

/* Initialise to all zeros. */
struct wait_daemons {
	struct wait_daemon *daemon; /* sorted, each once */
	size_t n;
};

/* Looks at the descriptors of all processes. */
int wait_daemons__search(struct wait_daemons *d, struct snap_waits *w);

/* Sorts daemon[n], which may have a daemon several times. */
void wait_daemons__sort(struct wait_daemons *d);

/*
 * The daemons of a connection (0: unknown): returns their number, *first is the first of them. If the kernel tells no
 * connections, or this one is not known, the daemon is known only if there is just one process.
 */
size_t wait_daemons__find(const struct wait_daemons *d, u32 connection, size_t *first);
void wait_daemons__free(struct wait_daemons *d);

#endif /* TALLY_SNAP_WAIT_SERVERS_H */
