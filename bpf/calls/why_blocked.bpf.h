/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a thread that leaves its CPU is blocked: the phase by its state and the flags that the kernel sets around its
 * waits, the system call that it is in, what the call's descriptor is, and functions that wait for file servers.
 */
#ifndef TALLY_WHY_BLOCKED_BPF_H
#define TALLY_WHY_BLOCKED_BPF_H

#include "compat.bpf.h"
#include "file_name.bpf.h"
#include "socket.bpf.h"
#include "why.h"

/* include/uapi/linux/stat.h; include/uapi/linux/in.h */
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define IPPROTO_UDP 17

/* The argument of each call that is a descriptor, plus 1, and WHY_TAKES_PATH. Set by the loader. */
const volatile u8 descriptor[TRACE_SLOTS] = {};

/* Set by the loader. */
const volatile struct why_code server_code[WHY_SERVER_CODE] = {};
const volatile u32 server_codes = 0;

/* Frames of a stack that are looked at: those of a BPF program come before them. */
#define SERVER_FRAMES 24

struct blocked_call {
	u32 slot;
	u16 kind;
};

static const struct blocked_call no_call = { .slot = WHY_ANYWHERE, .kind = KIND_NONE };

static __always_inline u32 blocked_phase(struct task_struct *t, u64 lock, u32 state)
{
	if (state & TASK_STOPPED_OR_TRACED)
		return state & TASK_TRACED_BIT ? WHY_TRACED : WHY_STOPPED;
	if (bpf_core_field_exists(t->in_memstall) && BPF_CORE_READ_BITFIELD(t, in_memstall))
		return WHY_MEMORY;
	if (BPF_CORE_READ_BITFIELD(t, in_iowait))
		return WHY_IO;
	if (lock)
		return WHY_LOCK;
	if (state & TASK_INTERRUPTIBLE)
		return WHY_SLEEP;
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? WHY_IDLE : WHY_DISK;
	return WHY_OTHER;
}

static __always_inline u32 socket_kind(struct file *f)
{
	struct socket *socket = BPF_CORE_READ(f, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family), protocol;

	if (family == AF_UNIX)
		return KIND_UNIX;
	protocol = BPF_CORE_READ(sk, sk_protocol);
	if (family != AF_INET && family != AF_INET6)
		return KIND_SOCKET;
	return protocol == IPPROTO_TCP ? KIND_TCP : protocol == IPPROTO_UDP ? KIND_UDP : KIND_SOCKET;
}

static __always_inline u32 kind_of(struct file *f)
{
	switch (BPF_CORE_READ(f, f_inode, i_mode) & S_IFMT) {
	case S_IFREG:
		return KIND_FILE;
	case S_IFDIR:
		return KIND_DIRECTORY;
	case S_IFBLK:
		return KIND_BLOCK;
	case S_IFCHR:
		return KIND_CHARACTER;
	case S_IFIFO:
		return KIND_PIPE;
	case S_IFSOCK:
		return socket_kind(f);
	default:
		return KIND_ANONYMOUS;
	}
}

/*
 * Determines the system call that a blocked thread is in, and the kind of its descriptor. The caller must initialize
 * *call with no_call. Returns the file of the descriptor, or NULL.
 */
static __always_inline struct file *find_call(struct task_struct *t, struct blocked_call *call)
{
	struct pt_regs *regs = task_user_regs(t);
	u64 slot, argument;
	struct file *f;
	u32 number, fd;

	call->slot = WHY_KERNEL_THREAD;
	if (t->flags & PF_KTHREAD || !regs_are_users(regs))
		return NULL;
	call->slot = WHY_NO_CALL;
	number = task_syscall_number(t);
	if ((s32)number < 0)
		return NULL;
	slot = number < SYSCALL_NUMBERS ? number : SYSCALL_NUMBERS - 1;
	if (task_syscall_abi(t) != SYSCALL_NATIVE)
		slot += SYSCALL_NUMBERS;
	call->slot = slot;
	barrier_var(slot);
	if (slot >= TRACE_SLOTS)
		return NULL;
	argument = descriptor[slot] & ~WHY_TAKES_PATH;
	if (!argument)
		return NULL;
	fd = slot < SYSCALL_NUMBERS ? syscall_argument(regs, argument - 1) :
				      compat_syscall_argument(regs, argument - 1);
	f = file_of_task(t, fd);
	if (f)
		call->kind = kind_of(f);
	return f;
}

static __always_inline bool is_server_code(u64 address)
{
	u32 i;

	for (i = 0; i < WHY_SERVER_CODE; i++) {
		if (i >= server_codes)
			return false;
		/* A return address may be that after the last instruction. */
		if (address > server_code[i].start && address <= server_code[i].end)
			return true;
	}
	return false;
}

static __noinline int waits_for_server(struct task_struct *t)
{
	u64 frame[SERVER_FRAMES] = {};
	long bytes = bpf_get_task_stack(t, frame, sizeof(frame), 0);
	u32 i;

	if (bytes <= 0)
		return 0;
	for (i = 0; i < SERVER_FRAMES; i++)
		if (frame[i] && is_server_code(frame[i]))
			return 1;
	return 0;
}

/*
 * A call without an open descriptor (of a path, or that closes its file), and a page fault: the functions tell whether
 * it waits for a file. They are looked at only there, because most sleeps are in other calls.
 */
static __always_inline void find_server(struct task_struct *t, u32 phase, struct blocked_call *call)
{
	u64 slot = call->slot;

	if (!server_codes || call->kind != KIND_NONE || (phase != WHY_SLEEP && phase != WHY_DISK))
		return;
	barrier_var(slot);
	if (slot != WHY_NO_CALL && (slot >= TRACE_SLOTS || !descriptor[slot]))
		return;
	if (waits_for_server(t))
		call->kind = KIND_FILE;
}

#endif /* TALLY_WHY_BLOCKED_BPF_H */
