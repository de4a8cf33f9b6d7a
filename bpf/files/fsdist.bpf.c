// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Duration of file calls (file.bpf.h), by operation. */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "file.bpf.h"
#include "fsdist.h"
#include "hist.bpf.h"
#include "mount.bpf.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"

/* There is always a key: the operation. */
HIST_MAPS(times, struct fsdist_key);

static __always_inline void file_call_ended(const struct file_state *st,
					    const struct file_side *s, s64 result, u64 took_ns,
					    u64 now)
{
	struct fsdist_key key = {};
	struct hist_segment *h;

	key.own.op = s->op | (result < 0 ? FSDIST_FAILED : 0);
	if (by & BY_FILE_FS && s->sb)
		file_fs_name(key.own.fs, s->sb);
	if (by & BY_FILE_MOUNT && s->file) {
		key.own.mount = s->mount;
		if (s->mount.ns)
			name_mount(&s->mount, s->file);
	}
	task_key_of(&key.task, NULL);
	h = hist_add_key(&keyed_times, &key.slot, took_ns);
	if (h)
		task_key_name(h->name, &h->name_stamp, NULL, now);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
