// SPDX-License-Identifier: BSD-2-Clause
#include "files/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg/variable.h"
#include "cli/complete.h"
#include "host/syscalls.h"
#include "host/task_state.h"
#include "report/diag.h"

const char file_calls_source[] =
	"system calls, from entry to return (tp_btf/sys_enter, tp_btf/sys_exit)";
const char file_waits_source[] = "context switches, and the task's current call (tp_btf/sched_switch)";
const char file_calls_caveat[] =
	"not seen: memory-mapped files, io_uring and aio, the kernel's own I/O";

#define OP_NAMES                                                                                   \
	[FILE_READ] = "read", [FILE_WRITE] = "write", [FILE_OPEN] = "open", [FILE_SYNC] = "fsync", \
	[FILE_READDIR] = "readdir"

const char *const file_op_names[FILE_OPS] = { [FILE_NOTHING] = "?", OP_NAMES };
static const char *const op_words[FILE_OPS] = { OP_NAMES };

/* Marked in both system call tables. Calls missing from a table (open, on newer architectures) are skipped. */
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

/* Calls visit with each type until it returns true. Returns whether it did, or `unknown` if the file cannot be read. */
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

/* True if the kernel knows this type now. It does if such a file system is mounted. */
static bool fs_exists(const char *type)
{
	return visit_fs(is_type, (void *)type, true);
}

static bool add_type(void *completion, const char *name)
{
	completion__add(completion, name, "");
	return false;
}

static void complete_fs(struct completion *c)
{
	visit_fs(add_type, c, false);
}

static int parse_fs(void *own, char *type)
{
	struct file_options *o = own;

	o->fs = type;
	if (strlen(type) < FILE_FS_LEN && fs_exists(type))
		return 0;
	diag_error("--fs: this kernel has no file system type '%s'", type);
	diag_hint("/proc/filesystems lists the types");
	return -EINVAL;
}

/* Sets the mount that contains path, resolved like in df(1). */
static int parse_mount(void *own, char *path)
{
	struct file_options *o = own;
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st)) {
		diag_error("--mount: %s: %s", path, strerror(errno));
		diag_hint("give a path on the mount; in a container: /proc/PID/root/PATH");
		return -EINVAL;
	}
	o->has_mount = true;
	o->mount = st.stx_mnt_id;
	return 0;
}

const struct option_row file_rows[] = {
	{ "fs", 0, "TYPE", ROW_OWN, "Only file systems of this type: ext4, xfs, nfs4", 1,
	  .parse = parse_fs, .complete = complete_fs },
	{ "mount", 0, "PATH", ROW_OWN, "Only the mount of PATH", 1, .parse = parse_mount },
	{ "all-kinds", 0, NULL, ROW_FLAG,
	  "Also pipes, sockets, terminals and devices, not only files and directories", 1,
	  FIELD(struct file_options, all_kinds) },
	{},
};

const struct option_row file_call_rows[] = {
	{ "op", 0, "OP,...", ROW_WORDS, "Only these operations: read, write, open, fsync, readdir", 1,
	  FIELD(struct file_options, ops), WORDS(op_words), .noun = "operation" },
	{ "waits", 0, NULL, ROW_FLAG, "Each wait in a call, without a hook at every system call", 1,
	  FIELD(struct file_options, waits) },
	{},
};

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
