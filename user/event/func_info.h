/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF function info for a spliced program (event/splice.h), so that the verifier checks its global
 * functions once, not at each call (Documentation/bpf/verifier.rst; since 5.6). The template marks
 * them with EVENT_ONCE_MARK.
 */
#ifndef TALLY_EVENT_FUNC_INFO_H
#define TALLY_EVENT_FUNC_INFO_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "event/splice.h"

struct func_info {
	struct bpf_func_info *info;
	size_t n;
};

/*
 * Fills in opts with the function info for a splice of obj's program of this name; opts borrows it.
 * If no function is marked, opts is unchanged and f->n is 0. Always free *f. Returns 0 or a
 * negative errno.
 */
int func_info__tell(struct func_info *f, const struct splice *s, const struct bpf_object *obj,
		    const char *name, struct bpf_prog_load_opts *opts);
void func_info__free(struct func_info *f);

#endif /* TALLY_EVENT_FUNC_INFO_H */
