/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel is told of the functions of a program that was put together here (event/splice.h), so that
 * its verifier looks at those that are global once, and not at each of their calls
 * (Documentation/bpf/verifier.rst; since 5.6). In the template they have the mark EVENT_ONCE_MARK.
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
 * Of the splice of a program of this name from obj; put into opts, which borrow it. Without such a function
 * nothing is told, and f->n is 0. To be freed in any case. Returns 0 or a negative errno.
 */
int func_info__tell(struct func_info *f, const struct splice *s, const struct bpf_object *obj,
		    const char *name, struct bpf_prog_load_opts *opts);
void func_info__free(struct func_info *f);

#endif /* TALLY_EVENT_FUNC_INFO_H */
