/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File system calls, from entry to return, and their files, which are looked up by the caller's descriptor in the same
 * way as in the kernel. The including file defines file_call_ended(), which receives each call of a task in scope on a
 * regular file or directory (all_kinds: on any file). The loader's side is user/files/.
 *
 * Both hooks run only in the calling task. Where they can be preempted (since 7.0), the kernel skips both for a second
 * task on that CPU and counts this (recursion). The entry hook writes only the task's state, so everything else has one
 * writer at a time.
 *
 * A call whose entry was not seen is not in the numbers. Calls that began before the gate was opened are reported
 * (begun_before), as are calls that the kernel did not run (answered); for all others the entry has already been
 * counted as lost.
 */
#ifndef TALLY_FILE_BPF_H
#define TALLY_FILE_BPF_H

#ifndef SCOPE_UNTYPED
#error "programs of sys_enter have no typed pointer to their task on 5.10: define SCOPE_UNTYPED"
#endif

#include "call.bpf.h"
#include "compat.bpf.h"
#include "file.h"
#include "file_name.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"

const volatile u32 file_ops = ~0;                       /* 1 << enum file_op, ORed */
const volatile bool all_kinds = false;
const volatile bool has_only_fs = false;
const volatile char only_fs[FILE_FS_LEN] = {};          /* file system type */
const volatile bool has_only_mount = false;
const volatile u32 only_mount = 0;                      /* mount id */
/* File properties that the including program needs: each costs one or two reads per call. */
const volatile bool want_ids = false;
const volatile bool want_fs = false;
const volatile bool want_mount = false;

/* A file of a call. */
struct file_side {
	u32 op;                 /* enum file_op; FILE_NOTHING if not traced */
	u32 fd;
	struct file *file;      /* valid while its descriptor is open; NULL if none */
	struct super_block *sb; /* if requested; NULL if none */
	struct file_id id;      /* if requested */
	struct file_mount mount;        /* if requested */
};

/* The call that a task is in. Copying calls have two files. */
struct file_state {
	u64 start_ns;           /* 0 if in no traced call */
	u64 argument;           /* offset, or the path to open */
	u32 number;
	u16 call;               /* enum file_call */
	u16 compat;
	u32 entered;            /* in a call whose entry was seen, traced or not */
	struct file_side side[2];
};

TASK_STATE(file_states, struct file_state)

/*
 * Called at the end of a call, with its result (or a negative errno) and its duration. s->op is the operation; s->file
 * is NULL for a failed open.
 */
static __always_inline void file_call_ended(const struct file_state *st,
					    const struct file_side *s, s64 result, u64 took_ns,
					    u64 now);

/*
 * Reads a member of a kernel structure at an untyped address: by a plain load on kernels that can give such a pointer a
 * type (6.2, commit a35b9af4ec2c), otherwise by a helper call.
 */
extern void *bpf_rdonly_cast(const void *address, u32 type) __weak __ksym;

#define MEMBER(type, address, member)                                                              \
	(bpf_rdonly_cast ?                                                                         \
		 ((type *)bpf_rdonly_cast(address, bpf_core_type_id_kernel(type)))->member :       \
		 BPF_CORE_READ((type *)(address), member))

/* --- files ------------------------------------------------------------------------------------ */

/* As file_of_task(), for the current task, by plain loads if typed pointers are available. */
static __always_inline struct file *file_of_current(u32 fd)
{
	struct file **slot, *f = NULL;
	struct fdtable *fdt;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return file_of_task((struct task_struct *)bpf_get_current_task(), fd);
	fdt = ((struct task_struct *)bpf_get_current_task_btf())->files->fdt;
	if (fd >= fdt->max_fds)
		return NULL;
	slot = fdt->fd + fd;
	if (bpf_rdonly_cast)    /* works with any type whose first member is a pointer */
		return (struct file *)MEMBER(struct hlist_node, slot, next);
	bpf_probe_read_kernel(&f, sizeof(f), slot);
	return f;
}

static __always_inline void file_fs_name(char name[FILE_FS_LEN], const struct super_block *sb)
{
	const char *text = BPF_CORE_READ(sb, s_type, name);

	bpf_probe_read_kernel_str(name, FILE_FS_LEN, text);
}

static __always_inline bool is_only_fs(const struct super_block *sb)
{
	char name[FILE_FS_LEN] = {};
	int i;

	file_fs_name(name, sb);
#pragma unroll
	for (i = 0; i < FILE_FS_LEN; i++)
		if (name[i] != only_fs[i])
			return false;
	return true;
}

static __always_inline struct mount *mount_of_file(struct file *f)
{
	return mount_of(MEMBER(struct file, f, f_path.mnt));
}

static __always_inline void file_mount_of(struct file_mount *to, struct file *f)
{
	struct mount *m = mount_of_file(f);
	struct mnt_namespace *ns = MEMBER(struct mount, m, mnt_ns);

	to->id = MEMBER(struct mount, m, mnt_id);
	/* For the kernel's own mounts, ns is an error value instead of an address. */
	to->ns = ns ? BPF_CORE_READ(ns, ns.inum) : 0;
}

/* Fills in a side and returns true if its file is to be traced. */
static __always_inline bool file_looked_at(struct file_side *s, u32 fd, u32 op)
{
	struct super_block *sb = NULL;
	struct inode *inode;
	struct file *f;
	u32 mode;

	s->op = FILE_NOTHING;
	if (!(file_ops & 1U << op))
		return false;
	f = file_of_current(fd);
	if (!f)
		return false;
	inode = MEMBER(struct file, f, f_inode);
	mode = MEMBER(struct inode, inode, i_mode) & S_IFMT;
	if (!all_kinds && mode != S_IFREG && mode != S_IFDIR)
		return false;
	if (has_only_mount && (u32)MEMBER(struct mount, mount_of_file(f), mnt_id) != only_mount)
		return false;
	if (want_ids || want_fs || want_mount || has_only_fs)
		sb = MEMBER(struct inode, inode, i_sb);
	if (has_only_fs && !is_only_fs(sb))
		return false;
	if (want_ids) {
		s->id.inode = MEMBER(struct inode, inode, i_ino);
		s->id.generation = MEMBER(struct inode, inode, i_generation);
		s->id.device = MEMBER(struct super_block, sb, s_dev);
	}
	if (want_mount) {
		file_mount_of(&s->mount, f);
		s->mount.device = MEMBER(struct super_block, sb, s_dev);
	}
	s->op = op;
	s->fd = fd;
	s->file = f;
	s->sb = sb;
	return true;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The file offset; 32-bit calls pass it in halves. */
static __always_inline u64 file_offset(const struct call *c, const u64 arg[6])
{
	return c->compat ? arg[3] | arg[4] << 32 : arg[3];
}

/* Finds the files of the call. Returns false if none is to be traced. */
static __always_inline bool file_call_begins(struct file_state *st, const struct call *c,
					     const u64 arg[6])
{
	bool first, second;
	u32 call = c->which;

	st->side[1].op = FILE_NOTHING;
	switch (call) {
	case FILE_CALL_OPEN:
	case FILE_CALL_OPENAT:
	case FILE_CALL_OPEN_HANDLE:
		st->side[0].op = FILE_NOTHING;  /* no file exists yet */
		st->side[0].file = NULL;
		st->argument = call == FILE_CALL_OPEN	? arg[0] :
			       call == FILE_CALL_OPENAT ? arg[1] :
							  0;
		return true;
	case FILE_CALL_SENDFILE:
	case FILE_CALL_COPY:
		first = file_looked_at(&st->side[0], call == FILE_CALL_COPY ? arg[0] : arg[1],
				       FILE_READ);
		second = file_looked_at(&st->side[1], call == FILE_CALL_COPY ? arg[2] : arg[0],
					FILE_WRITE);
		return first || second;
	default:
		st->argument = file_offset(c, arg);
		return file_looked_at(&st->side[0], arg[0],
				      call <= FILE_CALL_PREAD  ? FILE_READ :
				      call <= FILE_CALL_PWRITE ? FILE_WRITE :
				      call == FILE_CALL_SYNC   ? FILE_SYNC :
								 FILE_READDIR);
	}
}

static __always_inline int file_enter_outside(void)
{
	struct file_state *st = may_come_into_scope() ? file_states_get(calling_task(), NULL) : NULL;

	if (st) {
		st->start_ns = 0;
		st->entered = 1;
	}
	return 0;
}

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(on_file_enter, struct pt_regs *regs, long number)
{
	struct file_state *st;
	struct call c;
	u64 arg[6];

	if (!call_of(&c, regs) || !armed)
		return 0;
	if (!in_scope(NULL))
		return file_enter_outside();
	st = file_states_get(calling_task(), NULL);
	if (!st) {
		count_lost(LOSS_NO_STORAGE);
		return 0;
	}
	st->entered = 1;
	/* Cleared for untraced calls too, because the end of the previous call may have been missed. */
	st->start_ns = 0;
	if (c.compat)
		compat_syscall_arguments(regs, arg);
	else
		syscall_arguments(regs, arg);
	if (!file_call_begins(st, &c, arg))
		return 0;
	st->number = number;
	st->call = c.which;
	st->compat = c.compat;
	st->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* Handles the end of an opening call, which gave a file or an error. Returns false if it is not to be traced. */
static __always_inline bool file_opened(struct file_side *s, s64 result)
{
	if (result >= 0)
		return file_looked_at(s, result, FILE_OPEN);
	s->op = FILE_OPEN;
	s->file = NULL;
	s->sb = NULL;
	return !has_only_fs && !has_only_mount;
}

static __always_inline bool file_call_opens(u32 call)
{
	return call >= FILE_CALL_OPEN && call <= FILE_CALL_OPEN_HANDLE;
}

/*
 * Handles the end of a call whose entry was not seen, of a task in scope. If it is the first call seen of a task that
 * is older than the run, it began before the run; if the task has a filter or a tracer, the kernel did not run the
 * call. Either case is counted if the call's file is to be traced.
 */
static __always_inline void file_call_unseen(struct file_state *st, struct pt_regs *regs, const struct call *c,
					     s64 result)
{
	bool began_before = !st && is_older_than(calling_task(), began_ns);
	u64 arg[6];

	if (!scope_for_life(NULL) || !scope_now(NULL) || (!began_before && !may_be_answered()))
		return;
	st = st ?: file_states_get(calling_task(), NULL);
	if (!st) {
		count_lost(LOSS_NO_STORAGE);
		return;
	}
	if (c->compat)
		compat_syscall_arguments(regs, arg);
	else
		syscall_arguments(regs, arg);
	if (file_call_begins(st, c, arg) &&
	    (!file_call_opens(c->which) || file_opened(&st->side[0], result))) {
		if (began_before)
			count_begun_before();
		else
			count_answered();
	}
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_file_exit, struct pt_regs *regs, long result)
{
	struct file_state *st;
	u64 now, took_ns;
	struct call c;

	if (!call_of(&c, regs) || !armed)
		return 0;
	now = bpf_ktime_get_ns();
	st = file_states_find(calling_task());
	if (!st || !st->entered) {
		file_call_unseen(st, regs, &c, result);
		return 0;
	}
	st->entered = 0;
	if (!st->start_ns || st->number != (u32)syscall_number(regs) || st->compat != c.compat)
		return 0;
	took_ns = now - st->start_ns;
	st->start_ns = 0;
	if (file_call_opens(st->call) && !file_opened(&st->side[0], result))
		return 0;
	if (st->side[0].op)
		file_call_ended(st, &st->side[0], result, took_ns, now);
	if (st->side[1].op)
		file_call_ended(st, &st->side[1], result, took_ns, now);
	return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

/*
 * Gets the name of a side's file, if the task's descriptor still refers to that file: only the call itself held a
 * reference.
 */
static __always_inline void file_name_of_side(struct file_name *n, struct task_struct *t,
					      const struct file_side *s)
{
	if (s->file && file_of_task(t, s->fd) == s->file) {
		file_name_of(n, s->file);
		return;
	}
	n->flags = FILE_NAME_UNKNOWN;
	n->mode = 0;
	n->size = 0;
}

#endif /* TALLY_FILE_BPF_H */
