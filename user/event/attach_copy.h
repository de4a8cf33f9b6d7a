/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that are loaded from a template (bpf/lib/event.bpf.h), and what keeps them attached. Part of
 * attaching (event/attach.h).
 */
#ifndef TALLY_EVENT_ATTACH_COPY_H
#define TALLY_EVENT_ATTACH_COPY_H

#include "event/attach.h"

/* As what a template's copy is loaded. */
struct attach_kind {
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	u32 btf_id;
	const struct attach_code *code; /* to put into it; NULL: none */
};

/*
 * Loads a copy of a template that knows its slot. Returns its descriptor, the caller's to close, or
 * a negative errno.
 */
int attach__copy(struct attachments *a, struct bpf_program *template,
		 const struct attach_kind *kind, u32 slot);

/*
 * Closes fd when a is released, and at once if that cannot be. A negative fd is an error that is
 * handed on: so attachments can be made in the call. Returns 0 or a negative errno.
 */
int attach__keep(struct attachments *a, int fd);

/* Are the same functions compiled for both? Without any (NULL) nothing tells two sites apart. */
bool attach_code__is_same(const struct attach_code *a, const struct attach_code *b);

#endif /* TALLY_EVENT_ATTACH_COPY_H */
