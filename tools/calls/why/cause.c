// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/cause.h"

#include <string.h>

#include "base/array.h"
#include "calls/syscall/calls.h"
#include "calls/syscall/decode.h"
#include "calls/syscall/text.h"
#include "host/syscalls.h"
#include "report/report.h"
#include "types/tracefs.h"

const char *const why_state_names[WHY_STATES] = {
	[STATE_CPU] = "cpu",   [STATE_RUNNABLE] = "runnable", [STATE_BLOCKED] = "blocked",
	[STATE_IDLE] = "idle", [STATE_UNKNOWN] = "unknown",
};

static const char *const kind_names[WHY_KINDS] = {
	[KIND_FILE] = "file",
	[KIND_DIRECTORY] = "directory",
	[KIND_BLOCK] = "block device",
	[KIND_CHARACTER] = "character device",
	[KIND_PIPE] = "pipe",
	[KIND_UNIX] = "unix",
	[KIND_TCP] = "tcp",
	[KIND_UDP] = "udp",
	[KIND_SOCKET] = "socket",
	[KIND_ANONYMOUS] = "anonymous",
};

const struct why_cause_text why_causes[WHY_CAUSES] = {
	[CAUSE_UNKNOWN] = { "unknown", STATE_UNKNOWN, "doctor" },
	[CAUSE_MODE_UNKNOWN] = { "mode unknown", STATE_CPU, "profile" },
	[CAUSE_USER] = { "user", STATE_CPU, "profile -U" },
	[CAUSE_SYSTEM] = { "system", STATE_CPU, "profile -K" },
	[CAUSE_RUN_QUEUE] = { "run queue", STATE_RUNNABLE, "runqlat" },
	[CAUSE_PREEMPTED] = { "preempted", STATE_RUNNABLE, "runqlat --by cpu" },
	[CAUSE_THROTTLED] = { "throttled", STATE_RUNNABLE, "cputhrottle" },
	[CAUSE_STARTING] = { "starting", STATE_BLOCKED, "execsnoop" },
	[CAUSE_MEMORY] = { "memory", STATE_BLOCKED, "reclaim" },
	[CAUSE_DISK] = { "disk", STATE_BLOCKED, "fileslower" },
	[CAUSE_KERNEL_LOCK] = { "kernel lock", STATE_BLOCKED, "lockstat", .by_threads = true },
	[CAUSE_UNINTERRUPTIBLE] = { "uninterruptible", STATE_BLOCKED, "offcputime --state disk" },
	[CAUSE_FILE_SYSTEM] = { "file system", STATE_BLOCKED, "fileslower" },
	[CAUSE_FUTEX] = { "futex", STATE_BLOCKED, "futexstat --waits", .by_threads = true },
	[CAUSE_TIMER] = { "timer", STATE_BLOCKED, "offcputime" },
	[CAUSE_CHILD] = { "child", STATE_BLOCKED, "snap --waits", .by_threads = true },
	[CAUSE_FILE_LOCK] = { "file lock", STATE_BLOCKED, "snap --waits", .by_threads = true },
	[CAUSE_PIPE] = { "pipe", STATE_BLOCKED, "snap --waits", .by_threads = true },
	[CAUSE_SOCKET] = { "socket", STATE_BLOCKED, "snap --waits", .by_threads = true },
	[CAUSE_IPC] = { "ipc", STATE_BLOCKED, "snap", .by_threads = true },
	[CAUSE_IO_URING] = { "io_uring", STATE_BLOCKED, "uringstat" },
	[CAUSE_AIO] = { "aio", STATE_BLOCKED, "biolatency" },
	[CAUSE_STOPPED] = { "stopped", STATE_BLOCKED, "signals" },
	[CAUSE_TRACED] = { "traced", STATE_BLOCKED, "snap --waits" },
	[CAUSE_OTHER] = { "other", STATE_BLOCKED, "offcputime" },
	[CAUSE_EVENTS] = { "events", STATE_IDLE, NULL, .by_threads = true },
	[CAUSE_ACCEPT] = { "accept", STATE_IDLE, NULL },
	[CAUSE_SIGNAL] = { "signal", STATE_IDLE, NULL },
	[CAUSE_TERMINAL] = { "terminal", STATE_IDLE, NULL },
	[CAUSE_DESCRIPTOR] = { "descriptor", STATE_IDLE, NULL },
	[CAUSE_KERNEL_THREAD] = { "kernel thread", STATE_IDLE, NULL },
};

static const u8 of_phase[WHY_PHASES] = {
	[WHY_UNKNOWN] = CAUSE_UNKNOWN,
	[WHY_ON_CPU] = CAUSE_MODE_UNKNOWN,
	[WHY_USER] = CAUSE_USER,
	[WHY_SYSTEM] = CAUSE_SYSTEM,
	[WHY_WOKEN] = CAUSE_RUN_QUEUE,
	[WHY_PREEMPTED] = CAUSE_PREEMPTED,
	[WHY_THROTTLED] = CAUSE_THROTTLED,
	[WHY_STARTING] = CAUSE_STARTING,
	[WHY_MEMORY] = CAUSE_MEMORY,
	[WHY_IO] = CAUSE_DISK,
	[WHY_LOCK] = CAUSE_KERNEL_LOCK,
	[WHY_SLEEP] = CAUSE_OTHER,
	[WHY_DISK] = CAUSE_UNINTERRUPTIBLE,
	[WHY_IDLE] = CAUSE_KERNEL_THREAD,
	[WHY_STOPPED] = CAUSE_STOPPED,
	[WHY_TRACED] = CAUSE_TRACED,
	[WHY_OTHER] = CAUSE_OTHER,
};

/*
 * Causes of sleeps in these calls, regardless of the file. The names include those of all architectures and of 32-bit
 * calls.
 */
static const struct {
	const char *call;
	enum why_cause cause;
} of_call[] = {
	{ "futex", CAUSE_FUTEX },
	{ "futex_wait", CAUSE_FUTEX },
	{ "futex_waitv", CAUSE_FUTEX },
	{ "futex_time64", CAUSE_FUTEX },
	{ "nanosleep", CAUSE_TIMER },
	{ "clock_nanosleep", CAUSE_TIMER },
	{ "clock_nanosleep_time64", CAUSE_TIMER },
	{ "wait4", CAUSE_CHILD },
	{ "waitid", CAUSE_CHILD },
	{ "waitpid", CAUSE_CHILD },
	{ "vfork", CAUSE_CHILD },
	{ "clone", CAUSE_CHILD },
	{ "clone3", CAUSE_CHILD },
	{ "poll", CAUSE_EVENTS },
	{ "ppoll", CAUSE_EVENTS },
	{ "ppoll_time64", CAUSE_EVENTS },
	{ "select", CAUSE_EVENTS },
	{ "_newselect", CAUSE_EVENTS },
	{ "pselect6", CAUSE_EVENTS },
	{ "pselect6_time64", CAUSE_EVENTS },
	{ "epoll_wait", CAUSE_EVENTS },
	{ "epoll_pwait", CAUSE_EVENTS },
	{ "epoll_pwait2", CAUSE_EVENTS },
	{ "accept", CAUSE_ACCEPT },
	{ "accept4", CAUSE_ACCEPT },
	{ "pause", CAUSE_SIGNAL },
	{ "rt_sigsuspend", CAUSE_SIGNAL },
	{ "sigsuspend", CAUSE_SIGNAL },
	{ "rt_sigtimedwait", CAUSE_SIGNAL },
	{ "rt_sigtimedwait_time64", CAUSE_SIGNAL },
	{ "flock", CAUSE_FILE_LOCK },
	{ "fcntl", CAUSE_FILE_LOCK },
	{ "fcntl64", CAUSE_FILE_LOCK },
	{ "semop", CAUSE_IPC },
	{ "semtimedop", CAUSE_IPC },
	{ "semtimedop_time64", CAUSE_IPC },
	{ "msgrcv", CAUSE_IPC },
	{ "msgsnd", CAUSE_IPC },
	{ "mq_timedsend", CAUSE_IPC },
	{ "mq_timedreceive", CAUSE_IPC },
	{ "mq_timedsend_time64", CAUSE_IPC },
	{ "mq_timedreceive_time64", CAUSE_IPC },
	{ "ipc", CAUSE_IPC },
	{ "io_uring_enter", CAUSE_IO_URING },
	{ "io_getevents", CAUSE_AIO },
	{ "io_pgetevents", CAUSE_AIO },
};

/* Causes of sleeps in other calls, by their file. */
static const u8 of_kind[WHY_KINDS] = {
	[KIND_FILE] = CAUSE_FILE_SYSTEM, [KIND_DIRECTORY] = CAUSE_FILE_SYSTEM,
	[KIND_BLOCK] = CAUSE_DISK,	 [KIND_CHARACTER] = CAUSE_TERMINAL,
	[KIND_PIPE] = CAUSE_PIPE,	 [KIND_UNIX] = CAUSE_SOCKET,
	[KIND_TCP] = CAUSE_SOCKET,	 [KIND_UDP] = CAUSE_SOCKET,
	[KIND_SOCKET] = CAUSE_SOCKET,	 [KIND_ANONYMOUS] = CAUSE_DESCRIPTOR,
};

/* Returns CAUSE_UNKNOWN if the call alone does not determine the cause. */
static enum why_cause cause_of_call(const struct why_key *key)
{
	const char *name = NULL;
	size_t i;

	if (key->slot < TRACE_SLOTS)
		name = syscall_name(key->slot / SYSCALL_NUMBERS, key->slot % SYSCALL_NUMBERS);
	for (i = 0; name && i < ARRAY_SIZE(of_call); i++)
		if (!strcmp(of_call[i].call, name))
			return of_call[i].cause;
	return CAUSE_UNKNOWN;
}

static enum why_cause asleep(const struct why_key *key)
{
	enum why_cause call = cause_of_call(key);

	if (key->slot == WHY_KERNEL_THREAD)
		return CAUSE_KERNEL_THREAD;
	if (call)
		return call;
	return key->kind < WHY_KINDS && of_kind[key->kind] ? of_kind[key->kind] : CAUSE_OTHER;
}

/* vfork() and network file systems wait uninterruptibly. */
static enum why_cause uninterruptible(const struct why_key *key)
{
	enum why_cause call = cause_of_call(key);

	if (call == CAUSE_CHILD || call == CAUSE_FUTEX)
		return call;
	if (key->kind == KIND_FILE || key->kind == KIND_DIRECTORY || key->kind == KIND_BLOCK)
		return of_kind[key->kind];
	return CAUSE_UNINTERRUPTIBLE;
}

enum why_cause why_cause_of(const struct why_key *key)
{
	if (key->phase == WHY_SLEEP)
		return asleep(key);
	if (key->phase == WHY_DISK)
		return uninterruptible(key);
	/* A futex with priority inheritance is also a kernel lock. */
	if (key->phase == WHY_LOCK && cause_of_call(key) == CAUSE_FUTEX)
		return CAUSE_FUTEX;
	return key->phase < WHY_PHASES ? of_phase[key->phase] : CAUSE_UNKNOWN;
}

void why_name_cause(struct why_key *key)
{
	key->phase = why_cause_of(key);
	if (why_causes[key->phase].state == STATE_IDLE)
		key->whole = 0;
}

const char *why_call_name(char text[64], const struct why_key *key)
{
	if (key->slot < TRACE_SLOTS)
		return call_name(text, key->slot, key->slot % SYSCALL_NUMBERS);
	return key->slot == WHY_NO_CALL ? "[page fault]" : key->slot == WHY_KERNEL_THREAD ? "[kernel]" : NULL;
}

const char *why_kind_name(u32 kind)
{
	return kind < WHY_KINDS ? kind_names[kind] : NULL;
}

static bool takes_path(const struct signature *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->arg); i++)
		if (s->arg[i].kind == ARG_STRING && !s->arg[i].out)
			return true;
	return false;
}

void why_describe_calls(u8 descriptor[TRACE_SLOTS], struct call_signatures *signatures)
{
	struct trace_call c;
	u32 slot;

	signatures->tracefs = tracefs__open();
	for (slot = 0; slot < TRACE_SLOTS; slot++) {
		c = (struct trace_call){};
		syscall_fetches(&c, call_signature(signatures, slot), slot / SYSCALL_NUMBERS, 0);
		descriptor[slot] = c.fds ? c.fd[0] + 1 : 0;
		if (takes_path(call_signature(signatures, slot)))
			descriptor[slot] |= WHY_TAKES_PATH;
	}
}

int why_add_next(struct report_row *row, const char *next)
{
	static const struct field cell = { .name = "next", .kind = FIELD_NONE, .role = ROLE_REMARK, .spare = true };

	return report_row__add_text_as(row, &cell, next);
}
