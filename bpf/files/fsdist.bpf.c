// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Duration of file calls (file.bpf.h), or of the waits in them (file_waits.bpf.h), by operation. */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "file.bpf.h"
#include "file_waits.bpf.h"
#include "fsdist.h"
#include "hist.bpf.h"
#include "mount.bpf.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"

/* Results always have a key: the operation. */
HIST_MAPS(times, struct fsdist_key);

/* t is the task; NULL is the current one. */
static __always_inline void add_time(const struct file_side *s, u32 op, struct task_struct *t, u64 time_ns, u64 now)
{
	struct fsdist_key key = {};
	struct hist_segment *h;

	key.own.op = op;
	if (by & BY_FILE_FS && s->sb)
		file_fs_name(key.own.fs, s->sb);
	if (by & BY_FILE_MOUNT && s->file) {
		key.own.mount = s->mount;
		if (s->mount.ns)
			name_mount(&s->mount, s->file);
	}
	task_key_of(&key.task, t);
	h = hist_add_key(&keyed_times, &key.slot, time_ns);
	if (h)
		task_key_name(h->name, &h->name_stamp, t, now);
}

static __always_inline void file_call_ended(const struct file_state *st,
					    const struct file_side *s, s64 result, u64 took_ns,
					    u64 now)
{
	add_time(s, s->op | (result < 0 ? FSDIST_FAILED : 0), NULL, took_ns, now);
}

static __always_inline void file_waited(struct task_struct *t, const struct file_state *st, u64 since, u64 now)
{
	add_time(file_side_of(st), file_op_of(st), t, now - since, now);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
