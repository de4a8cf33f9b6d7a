// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files that are created and deleted again, reported at the deletion.
 *
 * System calls that delete a file take a path, and no tracepoint reports which file it named. So programs are attached
 * to the two functions that all such calls use, including io_uring: do_filp_open() (do_file_open() since 7.0), where
 * the kernel marks files that the open has created, and vfs_unlink(). A file is identified by inode and generation,
 * because it may be renamed, or be evicted from memory and return.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "file.h"
#include "file_name.bpf.h"
#include "filelife.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"

/* include/linux/fs.h */
#define FMODE_CREATED (1 << 20)

/*
 * Created files. If there is no room, the least recently created or deleted one is evicted, so files that are never
 * deleted do not accumulate.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 131072);
	__type(key, struct file_id);
	__type(value, struct filelife_birth);
} births SEC(".maps");

/* Numbers of elements created and removed: an element that is neither present nor removed was evicted. */
u64 made = 0;
u64 taken = 0;

/* Keyed by the address of the dentry, on which the deletion holds a reference. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct filelife_leaving);
} leaving SEC(".maps");

/* A record under construction, too large for the stack. */
struct record_room {
	u64 holders;
	struct filelife_record record;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct record_room);
} rooms SEC(".maps");

static __always_inline void id_of(struct file_id *id, const struct inode *inode)
{
	id->inode = BPF_CORE_READ(inode, i_ino);
	id->generation = BPF_CORE_READ(inode, i_generation);
	id->device = BPF_CORE_READ(inode, i_sb, s_dev);
}

/* The result may be an error, which has no mode. */
SEC("fexit/do_filp_open")
int UNPREEMPTED(PREEMPT_FUNCTION, on_opened, u64 *, ctx)
{
	struct file *f = (struct file *)ctx[3];
	struct filelife_birth birth = {};
	struct file_id id;
	long err;

	if (!(BPF_CORE_READ(f, f_mode) & FMODE_CREATED))
		return 0;
	id_of(&id, BPF_CORE_READ(f, f_inode));
	birth.born_ns = bpf_ktime_get_ns();
	birth.mount = (u64)BPF_CORE_READ(f, f_path.mnt);
	birth.pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(birth.comm, sizeof(birth.comm));
	err = bpf_map_update_elem(&births, &id, &birth, BPF_NOEXIST);
	if (!err)
		__sync_fetch_and_add(&made, 1);
	else if ((int)err != -EEXIST)
		count_failed_update(err);
	else                            /* the previous file ended in a way that is not seen */
		bpf_map_update_elem(&births, &id, &birth, BPF_ANY);
	return 0;
}

/* 5.12 added a first argument for idmapped mounts (commit 6521f8917082). */
#define UNLINK_HAS_FOUR KERNEL_VERSION(5, 12, 0)

/* The verifier rejects computed offsets, so the compiler must not merge the two loads. */
static __always_inline u64 argument_of_two(u64 *ctx, u32 old, u32 new)
{
	u64 value;

	if (LINUX_KERNEL_VERSION >= UNLINK_HAS_FOUR) {
		value = ctx[new];
		barrier_var(value);
	} else {
		value = ctx[old];
		barrier_var(value);
	}
	return value;
}

static __always_inline struct dentry *unlinked(u64 *ctx)
{
	return (struct dentry *)argument_of_two(ctx, 1, 2);
}

static __always_inline int unlink_result(u64 *ctx)
{
	return argument_of_two(ctx, 3, 4);
}

/* Attached to the entry, because the dentry may have lost its inode when the call returns. */
SEC("fentry/vfs_unlink")
int UNPREEMPTED(PREEMPT_FUNCTION, on_unlink, u64 *, ctx)
{
	struct dentry *d = unlinked(ctx);
	struct inode *inode = BPF_CORE_READ(d, d_inode);
	struct filelife_leaving l = { .inode = (u64)inode };
	u64 key = (u64)d;
	long err;

	id_of(&l.id, inode);
	if (!bpf_map_lookup_elem(&births, &l.id))
		return 0;
	err = bpf_map_update_elem(&leaving, &key, &l, BPF_ANY);
	if (err)
		count_failed_update(err);
	return 0;
}

static __always_inline void fill(struct filelife_record *r, struct dentry *d,
				 const struct filelife_birth *birth)
{
	struct vfsmount *mount = (struct vfsmount *)birth->mount;
	u64 id = bpf_get_current_pid_tgid();

	r->time_ns = bpf_ktime_get_ns();
	r->age_ns = r->time_ns - birth->born_ns;
	r->pid = id >> 32;
	r->tid = id;
	r->cpu = bpf_get_smp_processor_id();
	r->maker_pid = birth->pid;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	__builtin_memcpy(r->maker_comm, birth->comm, sizeof(r->maker_comm));
	r->name.mode = S_IFREG;
	r->name.inode = 0;
	r->name.size = 0;
	r->name.flags = 0;
	/* The mount may no longer exist. */
	if (BPF_CORE_READ(mount, mnt_sb) == BPF_CORE_READ(d, d_sb))
		file_name_walk(&r->name, d, mount);
	else
		r->name.flags = FILE_NAME_UNKNOWN;
}

static __always_inline void tell(struct dentry *d, const struct filelife_birth *birth)
{
	struct record_room *room;
	u32 zero = 0;
	u64 size;

	room = bpf_map_lookup_elem(&rooms, &zero);
	if (!room)
		return;
	if (!claim_alone(&room->holders)) {
		count_lost(LOSS_NO_BUFFER);
		return;
	}
	fill(&room->record, d, birth);
	size = room->record.name.size;
	barrier_var(size);
	if (size <= sizeof(room->record.name.names))
		ring_output(&room->record,
			    __builtin_offsetof(struct filelife_record, name.names) + size);
	give_up_claim(&room->holders);
}

/* A file that has another name still exists. */
SEC("fexit/vfs_unlink")
int UNPREEMPTED(PREEMPT_FUNCTION, on_unlinked, u64 *, ctx)
{
	struct dentry *d = unlinked(ctx);
	struct filelife_birth *birth;
	struct filelife_leaving *l;
	struct inode *inode;
	struct file_id id;
	u64 key = (u64)d;

	l = bpf_map_lookup_elem(&leaving, &key);
	if (!l)
		return 0;
	id = l->id;
	inode = (struct inode *)l->inode;
	bpf_map_delete_elem(&leaving, &key);
	if (unlink_result(ctx) || BPF_CORE_READ(inode, i_nlink))
		return 0;
	birth = bpf_map_lookup_elem(&births, &id);
	if (birth && armed && in_scope(NULL))
		tell(d, birth);
	if (!bpf_map_delete_elem(&births, &id))
		__sync_fetch_and_add(&taken, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
