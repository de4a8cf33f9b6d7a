// SPDX-License-Identifier: BSD-2-Clause
#include "host/kernel_btf.h"

#include <bpf/btf.h>
#include <errno.h>

int kernel_btf_arguments(const char *trace_typedef)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t;
	int id, n = -ENOENT;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, trace_typedef, BTF_KIND_TYPEDEF);
	if (id > 0) {
		t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
		if (t && btf_is_ptr(t))
			t = btf__type_by_id(btf, t->type);
		if (t && btf_is_func_proto(t))
			n = btf_vlen(t);
	}
	btf__free(btf);
	return n;
}
