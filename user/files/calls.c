// SPDX-License-Identifier: BSD-2-Clause
#include "files/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg/variable.h"
#include "host/syscalls.h"
#include "host/task_state.h"
#include "report/diag.h"

const char file_calls_source[] =
	"system calls, from entry to return (tp_btf/sys_enter, tp_btf/sys_exit)";
const char file_waits_source[] = "context switches, and the call that a task is in (tp_btf/sched_switch)";
const char file_calls_caveat[] =
	"not seen: memory-mapped files, io_uring and aio, the kernel's own";

const char *const file_op_names[FILE_OPS] = {
	[FILE_NOTHING] = "?",   [FILE_READ] = "read",  [FILE_WRITE] = "write",
	[FILE_OPEN] = "open",   [FILE_SYNC] = "fsync", [FILE_READDIR] = "readdir",
};

/*
 * Marked in both system call tables; calls missing in a table (open, on newer architectures) are
 * skipped.
 */
static const struct {
	const char *name;
	enum file_call call;
	u32 ops;
} calls[] = {
#define OP(op) (1U << FILE_##op)
	{ "read", FILE_CALL_READ, OP(READ) },
	{ "readv", FILE_CALL_READ, OP(READ) },
	{ "pread64", FILE_CALL_PREAD, OP(READ) },
	{ "preadv", FILE_CALL_PREAD, OP(READ) },
	{ "preadv2", FILE_CALL_PREAD, OP(READ) },
	{ "write", FILE_CALL_WRITE, OP(WRITE) },
	{ "writev", FILE_CALL_WRITE, OP(WRITE) },
	{ "pwrite64", FILE_CALL_PWRITE, OP(WRITE) },
	{ "pwritev", FILE_CALL_PWRITE, OP(WRITE) },
	{ "pwritev2", FILE_CALL_PWRITE, OP(WRITE) },
	{ "sendfile", FILE_CALL_SENDFILE, OP(READ) | OP(WRITE) },
	{ "sendfile64", FILE_CALL_SENDFILE, OP(READ) | OP(WRITE) },
	{ "copy_file_range", FILE_CALL_COPY, OP(READ) | OP(WRITE) },
	{ "splice", FILE_CALL_COPY, OP(READ) | OP(WRITE) },
	{ "fsync", FILE_CALL_SYNC, OP(SYNC) },
	{ "fdatasync", FILE_CALL_SYNC, OP(SYNC) },
	{ "sync_file_range", FILE_CALL_SYNC, OP(SYNC) },
	{ "readdir", FILE_CALL_READDIR, OP(READDIR) },
	{ "getdents", FILE_CALL_READDIR, OP(READDIR) },
	{ "getdents64", FILE_CALL_READDIR, OP(READDIR) },
	{ "open", FILE_CALL_OPEN, OP(OPEN) },
	{ "creat", FILE_CALL_OPEN, OP(OPEN) },
	{ "openat", FILE_CALL_OPENAT, OP(OPEN) },
	{ "openat2", FILE_CALL_OPENAT, OP(OPEN) },
	{ "open_by_handle_at", FILE_CALL_OPEN_HANDLE, OP(OPEN) },
#undef OP
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_ops(struct file_options *o, const char *text)
{
	size_t len, i;

	for (o->ops = 0;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = FILE_NOTHING + 1; i < FILE_OPS; i++)
			if (strlen(file_op_names[i]) == len &&
			    !strncmp(text, file_op_names[i], len))
				break;
		if (i == FILE_OPS) {
			diag_error("--op: no operation '%.*s'; there are read, write, open, fsync, "
				   "readdir", (int)len, text);
			return EINVAL;
		}
		o->ops |= 1U << i;
		if (!text[len])
			return 0;
	}
}

/* Calls visit with each type until it returns true, and returns whether it did; unknown if the file cannot be read. */
static bool visit_fs(bool (*visit)(void *context, const char *type), void *context, bool unknown)
{
	FILE *f = fopen("/proc/filesystems", "re");
	bool found = false;
	size_t room = 0;
	char *line = NULL, *name;

	if (!f)
		return unknown;
	while (!found && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		name = strrchr(line, '\t');
		found = name && visit(context, name + 1);
	}
	free(line);
	fclose(f);
	return found;
}

static bool is_type(void *type, const char *name)
{
	return !strcmp(type, name);
}

/* Does the kernel know this type now? It does if such a file system is mounted. */
static bool fs_exists(const char *type)
{
	return visit_fs(is_type, (void *)type, true);
}

static bool add_type(void *completion, const char *name)
{
	completion__add(completion, name, "");
	return false;
}

void file_options__complete_fs(struct completion *c)
{
	visit_fs(add_type, c, false);
}

static error_t parse_fs(struct file_options *o, const char *type)
{
	o->fs = type;
	if (strlen(type) < FILE_FS_LEN && fs_exists(type))
		return 0;
	diag_error("--fs: this kernel has no file system type '%s' now", type);
	diag_hint("/proc/filesystems has those there are");
	return EINVAL;
}

/* Sets the mount that contains path, as df(1) resolves it. */
static error_t parse_mount(struct file_options *o, const char *path)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st)) {
		diag_error("--mount: %s: %s", path, strerror(errno));
		diag_hint("a path on the mount that is meant; a container's: /proc/PID/root/PATH");
		return EINVAL;
	}
	o->has_mount = true;
	o->mount = st.stx_mnt_id;
	return 0;
}

error_t file_options__parse(struct file_options *o, int key, char *arg)
{
	switch (key) {
	case KEY_FILE_FS:
		return parse_fs(o, arg);
	case KEY_FILE_MOUNT:
		return parse_mount(o, arg);
	case KEY_FILE_OPS:
		return parse_ops(o, arg);
	case KEY_FILE_ALL_KINDS:
		o->all_kinds = true;
		return 0;
	case KEY_FILE_WAITS:
		o->waits = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * --- the object --------------------------------------------------------------------------------
 */

/* Only the tools with --waits have both kinds of programs. */
static int choose_programs(struct bpf_object *obj, bool waits)
{
	static const struct {
		const char *name;
		bool waits;
	} programs[] = { { "on_file_enter", false }, { "on_file_exit", false }, { "on_wait", true } };
	struct bpf_program *program;
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(programs) && !err; i++) {
		program = bpf_object__find_program_by_name(obj, programs[i].name);
		if (program)
			err = bpf_program__set_autoload(program, programs[i].waits == waits);
	}
	return err;
}

int file_calls__prepare(struct bpf_object *obj, const struct host *host,
			const struct file_options *o)
{
	u8 (*marks)[SYSCALL_NUMBERS] = object_variable(obj, ".rodata", "calls");
	size_t i;
	int err;

	if (!marks)
		return -ENOENT;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].ops & o->ops)
			syscall_mark(marks, calls[i].name, calls[i].call);
	err = choose_programs(obj, o->waits);
	return err ?: task_state__prepare(obj, "file_states", host);
}
