// SPDX-License-Identifier: BSD-2-Clause
/*
 * The other ends of sockets. The kernel knows the peer of a UNIX socket. The other end of a TCP socket is the socket of
 * this host that has the same addresses and ports in the other order: in the same network namespace, or else in any
 * other one if there is only one.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/iterator.h"
#include "calls/snap/waits.h"

/* Ends the reading. */
#define TOO_MANY 1

static int compare_inodes(const void *a, const void *b)
{
	const struct snap_socket *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

/* A socket has a record for each process that holds it. */
static void keep_one_of_each(struct wait_sockets *s)
{
	size_t i, n = 0;

	if (s->n)
		qsort(s->socket, s->n, sizeof(*s->socket), compare_inodes);
	for (i = 0; i < s->n; i++)
		if (!n || s->socket[n - 1].inode != s->socket[i].inode)
			s->socket[n++] = s->socket[i];
	s->n = n;
}

static int compare_ends(const struct snap_end *local, const struct snap_end *remote, const struct snap_socket *s)
{
	return memcmp(local, &s->local, sizeof(*local)) ?: memcmp(remote, &s->remote, sizeof(*remote));
}

static int compare_both_ends(const void *a, const void *b)
{
	const struct snap_socket *const *x = a, *const *y = b;

	return compare_ends(&(*x)->local, &(*x)->remote, *y);
}

static int sort_by_ends(struct wait_sockets *s)
{
	size_t i;

	s->by_ends = calloc(s->n ?: 1, sizeof(*s->by_ends));
	if (!s->by_ends)
		return -ENOMEM;
	for (i = 0; i < s->n; i++)
		s->by_ends[i] = &s->socket[i];
	qsort(s->by_ends, s->n, sizeof(*s->by_ends), compare_both_ends);
	return 0;
}

int wait_sockets__sort(struct wait_sockets *s)
{
	keep_one_of_each(s);
	return sort_by_ends(s);
}

static int take(void *context, const void *record)
{
	struct wait_sockets *s = context;

	s->is_cut = s->n == WAITS_MOST_DESCRIPTORS;
	return s->is_cut ? TOO_MANY : ARRAY_APPEND(s->socket, s->n, *(const struct snap_socket *)record);
}

int wait_sockets__read(struct wait_sockets *s, const struct bpf_program *visitor)
{
	struct bpf_link *link = bpf_program__attach_iter(visitor, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno, err;

	err = fd < 0 ? fd : iterator__each(fd, sizeof(*s->socket), take, s);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err && err != TOO_MANY ? err : wait_sockets__sort(s);
}

/*
 * --- the other end -----------------------------------------------------------------------------
 */

static size_t first_with_ends(const struct wait_sockets *s, const struct snap_end *local, const struct snap_end *remote)
{
	size_t from = 0, to = s->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (compare_ends(local, remote, s->by_ends[middle]) > 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static u64 find_tcp_peer(const struct wait_sockets *s, const struct snap_socket *of, bool *is_sure)
{
	size_t i = first_with_ends(s, &of->remote, &of->local), elsewhere = 0;
	u64 inode = 0;

	for (; i < s->n && !compare_ends(&of->remote, &of->local, s->by_ends[i]); i++) {
		if (!s->by_ends[i]->is_tcp)
			continue;
		inode = s->by_ends[i]->inode;
		if (s->by_ends[i]->netns == of->netns)
			return inode;
		elsewhere++;
	}
	*is_sure = false;
	return elsewhere == 1 ? inode : 0;
}

u64 wait_sockets__peer(const struct wait_sockets *s, u64 inode, bool *is_sure)
{
	const struct snap_socket key = { .inode = inode };
	const struct snap_socket *of = s->n ? bsearch(&key, s->socket, s->n, sizeof(key), compare_inodes) : NULL;

	/* Any process may send datagrams, and a socket that was not read may be nearer. */
	*is_sure = of && of->type != SOCK_DGRAM && !s->is_cut;
	if (!of || !of->is_tcp)
		return of ? of->peer : 0;
	return find_tcp_peer(s, of, is_sure);
}

void wait_sockets__free(struct wait_sockets *s)
{
	free(s->socket);
	free(s->by_ends);
}
