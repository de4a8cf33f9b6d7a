// SPDX-License-Identifier: BSD-2-Clause
#include "calls/wait_stack.h"

#include <string.h>

/* Prefixes; the first that fits counts. Compilers add suffixes: "request_wait_answer.isra.0". */
static const struct {
	const char *prefix;
	enum wait_frame frame;
} prefixes[] = {
	/* A daemon that waits for requests. */
	{ "fuse_dev_", FRAME_OTHER },
	{ "request_wait_answer", FRAME_FUSE_WAIT },
	{ "__fuse_request_send", FRAME_FUSE_WAIT },
	{ "__fuse_simple_request", FRAME_FUSE_WAIT },
	{ "fuse_simple_request", FRAME_FUSE_WAIT },
	/* Too many requests have no answer yet. */
	{ "fuse_get_req", FRAME_FUSE_WAIT },
	{ "fuse_", FRAME_FUSE },
	{ "__fuse_", FRAME_FUSE },
	{ "rpc_wait_bit_killable", FRAME_NFS_WAIT },
	{ "nfs_wait_bit_killable", FRAME_NFS_WAIT },
	{ "nfs_wait_bit_uninterruptible", FRAME_NFS_WAIT },
	{ "nfs_wait_client_init_complete", FRAME_NFS_WAIT },
	{ "nfs4_wait_clnt_recover", FRAME_NFS_WAIT },
	{ "nfs4_delay", FRAME_NFS_WAIT },
	{ "nfs_", FRAME_NFS },
	{ "nfs3_", FRAME_NFS },
	{ "nfs4_", FRAME_NFS },
	{ "folio_wait_bit", FRAME_PAGE },
	{ "folio_wait_writeback", FRAME_PAGE },
	{ "folio_put_wait_locked", FRAME_PAGE },
	{ "__folio_lock", FRAME_PAGE },
	{ "wait_on_page_", FRAME_PAGE },
	{ "put_and_wait_on_page_locked", FRAME_PAGE },
	{ "__lock_page", FRAME_PAGE },
};

enum wait_frame wait_frame_of(const char *name)
{
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix)))
			return prefixes[i].frame;
	return FRAME_OTHER;
}

static bool has(const enum wait_frame *frame, size_t n, enum wait_frame sought)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (frame[i] == sought)
			return true;
	return false;
}

/*
 * A thread in other functions of these file systems may wait for a lock, and the one that holds it for the server. The
 * file system that waits is the innermost one: a daemon of FUSE may itself use files of NFS.
 */
enum wait_stack wait_stack_of(const enum wait_frame *frame, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (frame[i] == FRAME_FUSE_WAIT)
			return STACK_FUSE;
		if (frame[i] == FRAME_NFS_WAIT)
			return STACK_NFS;
	}
	if (!n || frame[0] != FRAME_PAGE)
		return STACK_OTHER;
	if (has(frame, n, FRAME_FUSE))
		return STACK_FUSE;
	return has(frame, n, FRAME_NFS) ? STACK_NFS : STACK_PAGE;
}
