// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and writes of files (file.bpf.h): number, bytes and duration, by file and by task. */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "file.bpf.h"
#include "filetop.h"
#include "mount.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "writer.bpf.h"

SUMS(struct filetop_key, struct filetop_sums)

/* A name under construction: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct file_record);
} name_room SEC(".maps");

static __always_inline void send_name(const struct file_side *s)
{
	struct file_record *n;
	u32 zero = 0;
	u64 size;

	n = bpf_map_lookup_elem(&name_room, &zero);
	if (!n)
		return;
	n->id = s->id;
	file_name_of_side(&n->name, (struct task_struct *)bpf_get_current_task(), s);
	size = n->name.size;
	barrier_var(size);
	if (size <= sizeof(n->name.names))
		ring_output_name(n, __builtin_offsetof(struct file_record, name.names) + size);
}

static __always_inline struct filetop_sums *sums_of_file(const struct file_side *s)
{
	struct filetop_key key = { .writer = this_writer() };
	struct filetop_sums *e;
	bool is_new;

	if (by & BY_FILE)
		key.id = s->id;
	if (by & BY_FILE_FS)
		file_fs_name(key.fs, s->sb);
	if (by & BY_FILE_MOUNT) {
		key.mount = s->mount;
		if (s->mount.ns)
			name_mount(&s->mount, s->file);
	}
	task_key_of(&key.task, NULL);
	e = sums_get(&key, &is_new);
	if (is_new && by & BY_FILE)
		send_name(s);
	return e;
}

static __always_inline void add(struct filetop_way *w, u64 bytes, u64 took_ns)
{
	w->calls++;
	w->bytes += bytes;
	w->ns += took_ns;
}

static __always_inline void file_call_ended(const struct file_state *st,
					    const struct file_side *s, s64 result, u64 took_ns,
					    u64 now)
{
	struct filetop_sums *e = sums_of_file(s);

	if (!e)
		return;
	if (result < 0)
		e->failed++;
	else if (s->op == FILE_READ)
		add(&e->read, result, took_ns);
	else
		add(&e->written, result, took_ns);
	task_key_name(e->name, &e->name_stamp, NULL, now);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
