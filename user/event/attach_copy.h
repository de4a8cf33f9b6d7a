/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs loaded from a template (bpf/lib/event.bpf.h), and the descriptors that keep them
 * attached. Part of attaching (event/attach.h).
 */
#ifndef TALLY_EVENT_ATTACH_COPY_H
#define TALLY_EVENT_ATTACH_COPY_H

#include "event/attach.h"

/* How to load a copy of a template. */
struct attach_kind {
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	u32 btf_id;
	const struct attach_code *code; /* to splice in; NULL: none */
};

/*
 * Loads a copy of a template with its slot built in, or reuses the last copy if it is the same.
 * Returns its descriptor, which the caller closes, or a negative errno.
 */
int attach__copy(struct attachments *a, struct bpf_program *template,
		 const struct attach_kind *kind, u32 slot);

/* Closes the last copy, which attach__copy() keeps for the next site. */
void attach__forget_copy(struct attachments *a);

/*
 * Keeps fd open until a is released; closes it at once on failure. A negative fd is an error and is
 * returned as is, so that calls can be nested. Returns 0 or a negative errno.
 */
int attach__keep(struct attachments *a, int fd);

/* True if both sites have the same compiled functions. Also true if either is NULL: then no site has any. */
bool attach_code__is_same(const struct attach_code *a, const struct attach_code *b);

#endif /* TALLY_EVENT_ATTACH_COPY_H */
