// SPDX-License-Identifier: BSD-2-Clause
#include "event/func_info.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/lib/event.h"

/*
 * Returns a type of a function with that linkage, or 0 if there is none. The verifier needs only a
 * function's linkage and, for a global one, its parameter types, so any such type in the object
 * will do. Programs never match, since they take a pointer.
 */
static u32 find_function_type(const struct btf *btf, u32 linkage)
{
	u32 n = btf__type_cnt(btf), i;

	for (i = 1; i < n; i++) {
		const struct btf_type *t = btf__type_by_id(btf, i), *proto, *param;

		if (!btf_is_func(t) || btf_vlen(t) != linkage)
			continue;
		proto = btf__type_by_id(btf, t->type);
		if (linkage != BTF_FUNC_GLOBAL)
			return i;
		if (btf_vlen(proto) != 1)
			continue;
		param = btf__type_by_id(btf, btf__resolve_type(btf, btf_params(proto)->type));
		if (btf_is_int(param))
			return i;
	}
	return 0;
}

int func_info__tell(struct func_info *f, const struct splice *s, const struct bpf_object *obj,
		    const char *name, struct bpf_prog_load_opts *opts)
{
	const struct btf *btf = obj ? bpf_object__btf(obj) : NULL;
	u32 once, other;
	int program;
	size_t i;

	*f = (struct func_info){};
	if (!btf || !splice__has(s, 0, s->n, EVENT_ONCE_MARK))
		return 0;
	once = find_function_type(btf, BTF_FUNC_GLOBAL);
	other = find_function_type(btf, BTF_FUNC_STATIC);
	program = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	if (!once || !other || program < 0)
		return -ENOENT;
	f->info = calloc(s->n, sizeof(*f->info));
	if (!f->info)
		return -ENOMEM;
	for (i = 0; i < s->n; i = splice__function_end(s, i)) {
		bool is_once = splice__has(s, i, splice__function_end(s, i), EVENT_ONCE_MARK);

		f->info[f->n++] = (struct bpf_func_info){ i, !i ? (u32)program : is_once ? once : other };
	}
	opts->prog_btf_fd = bpf_object__btf_fd(obj);
	opts->func_info = f->info;
	opts->func_info_cnt = f->n;
	opts->func_info_rec_size = sizeof(*f->info);
	return 0;
}

void func_info__free(struct func_info *f)
{
	free(f->info);
	*f = (struct func_info){};
}
