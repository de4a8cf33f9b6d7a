// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes the file operations that its arguments list, by direct system calls, and no others:
 *
 *   open FLAGS PATH    FLAGS is open(2)'s number; the file becomes the current one, and the previous file
 *                      the other one, which is closed when a third is opened
 *   eventfd            the same for a descriptor that is not a file
 *   read|write|pread|pwrite|readv|writev|preadv2|pwritev2 N SIZE
 *                      N times, vectors in two halves; calls with an offset at 0, 1 * SIZE, ...
 *   readv2|writev2 N SIZE            preadv2 and pwritev2 with the offset -1: at the file position
 *   sendfile|copy|splice N SIZE      from the current file to the other one, splice to a pipe
 *   fsync|fdatasync|readdir N        N times
 *   badfd|fault N      reads of a closed descriptor, writes from unmapped memory
 *   iopen, iread, iwrite, ipread, ipwrite, isendfile, ifsync, ireaddir
 *                      the same by 32-bit calls; calls with an offset at 4 GiB, 4 GiB + SIZE, ...
 *   seek OFFSET
 *   unlink PATH  chroot PATH  chdir PATH  rename PATH PATH
 */
#include "old_calls.h"
#include "trigger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define CLOSED 999

#define LARGE_FILE_32 0100000
#define BEYOND_32_BITS 1        /* the upper half of an offset of 4 GiB */

static char buffer[1 << 20];
static char *low;               /* the buffer of 32-bit calls, below 4 GiB */
static int current = -1, other = -1;
static int ends[2];

struct act {
	const char *name;
	int arguments;
	void (*run)(const struct act *act, char **arg);
	long number;            /* of the system call, if several acts share run() */
};

static void do_open(const struct act *act, char **arg)
{
	(void)act;
	if (other >= 0)
		close(other);
	other = current;
	current = syscall(SYS_openat, AT_FDCWD, arg[1], atoi(arg[0]), 0644);
}

static void do_eventfd(const struct act *act, char **arg)
{
	(void)arg;
	other = current;
	current = syscall(act->number, 1, 0);
}

static void do_moves(const struct act *act, char **arg)
{
	long n = atol(arg[0]), size = atol(arg[1]), i;
	struct iovec halves[2] = {
		{ buffer, size / 2 },
		{ buffer + size / 2, size - size / 2 },
	};

	for (i = 0; i < n; i++) {
		switch (act->number) {
		case SYS_readv:
		case SYS_writev:
			syscall(act->number, current, halves, 2);
			break;
		case SYS_preadv2:
		case SYS_pwritev2:
			syscall(act->number, current, halves, 2, i * size, 0L, 0);
			break;
		case SYS_sendfile:
			syscall(act->number, other, current, NULL, size);
			break;
		case SYS_copy_file_range:
			syscall(act->number, current, NULL, other, NULL, size, 0);
			break;
		case SYS_splice:
			syscall(act->number, current, NULL, ends[1], NULL, size, 0);
			break;
		default:
			syscall(act->number, current, buffer, size, i * size);
		}
	}
}

static void do_moves_at_position(const struct act *act, char **arg)
{
	struct iovec all = { buffer, atol(arg[1]) };
	long n = atol(arg[0]), i;

	for (i = 0; i < n; i++)
		syscall(act->number, current, &all, 1, -1L, -1L, 0);
}

/* arch/x86/entry/syscalls/syscall_32.tbl */
enum {
	READ_32 = 3, WRITE_32 = 4, OPEN_32 = 5, FSYNC_32 = 118, PREAD_32 = 180, PWRITE_32 = 181,
	GETDENTS_32 = 220, SENDFILE_32 = 239,
};

static void do_open_32(const struct act *act, char **arg)
{
	if (other >= 0)
		close(other);
	other = current;
	strcpy(low, arg[1]);
	current = trigger__call_32(act->number, (long)low, atoi(arg[0]) | LARGE_FILE_32, 0644, 0,
				   0);
}

static void do_moves_32(const struct act *act, char **arg)
{
	long n = atol(arg[0]), size = atol(arg[1]), i;

	for (i = 0; i < n; i++) {
		if (act->number == SENDFILE_32)
			trigger__call_32(act->number, other, current, 0, size, 0);
		else
			trigger__call_32(act->number, current, (long)low, size, i * size,
					 BEYOND_32_BITS);
	}
}

static void do_times_32(const struct act *act, char **arg)
{
	long n = atol(arg[0]), i;

	for (i = 0; i < n; i++)
		trigger__call_32(act->number, current, (long)low, sizeof(buffer), 0, 0);
}

static void do_times(const struct act *act, char **arg)
{
	long n = atol(arg[0]), i;

	for (i = 0; i < n; i++)
		syscall(act->number, current, buffer, sizeof(buffer), 0L);
}

static void do_seek(const struct act *act, char **arg)
{
	(void)act;
	lseek(current, atol(arg[0]), SEEK_SET);
}

static void do_wrong(const struct act *act, char **arg)
{
	long n = atol(arg[0]), i;

	for (i = 0; i < n; i++)
		syscall(act->number, act->number == SYS_read ? CLOSED : current, 1L, 100L);
}

static void do_path(const struct act *act, char **arg)
{
	if (syscall(act->number, arg[0], arg[1]))
		error(1, errno, "%s %s", act->name, arg[0]);
}

static void do_unlink(const struct act *act, char **arg)
{
	if (old__unlink(arg[0]))
		error(1, errno, "%s %s", act->name, arg[0]);
}

static void do_rename(const struct act *act, char **arg)
{
	if (old__rename(arg[0], arg[1]))
		error(1, errno, "%s %s", act->name, arg[0]);
}

static const struct act acts[] = {
	{ "open", 2, do_open, 0 },
	{ "eventfd", 0, do_eventfd, SYS_eventfd2 },
	{ "read", 2, do_moves, SYS_read },
	{ "write", 2, do_moves, SYS_write },
	{ "pread", 2, do_moves, SYS_pread64 },
	{ "pwrite", 2, do_moves, SYS_pwrite64 },
	{ "readv", 2, do_moves, SYS_readv },
	{ "writev", 2, do_moves, SYS_writev },
	{ "preadv2", 2, do_moves, SYS_preadv2 },
	{ "pwritev2", 2, do_moves, SYS_pwritev2 },
	{ "readv2", 2, do_moves_at_position, SYS_preadv2 },
	{ "writev2", 2, do_moves_at_position, SYS_pwritev2 },
	{ "sendfile", 2, do_moves, SYS_sendfile },
	{ "copy", 2, do_moves, SYS_copy_file_range },
	{ "splice", 2, do_moves, SYS_splice },
	{ "fsync", 1, do_times, SYS_fsync },
	{ "fdatasync", 1, do_times, SYS_fdatasync },
	{ "readdir", 1, do_times, SYS_getdents64 },
	{ "iopen", 2, do_open_32, OPEN_32 },
	{ "iread", 2, do_moves_32, READ_32 },
	{ "iwrite", 2, do_moves_32, WRITE_32 },
	{ "ipread", 2, do_moves_32, PREAD_32 },
	{ "ipwrite", 2, do_moves_32, PWRITE_32 },
	{ "isendfile", 2, do_moves_32, SENDFILE_32 },
	{ "ifsync", 1, do_times_32, FSYNC_32 },
	{ "ireaddir", 1, do_times_32, GETDENTS_32 },
	{ "seek", 1, do_seek, 0 },
	{ "badfd", 1, do_wrong, SYS_read },
	{ "fault", 1, do_wrong, SYS_write },
	{ "unlink", 1, do_unlink, 0 },
	{ "chroot", 1, do_path, SYS_chroot },
	{ "chdir", 1, do_path, SYS_chdir },
	{ "rename", 2, do_rename, 0 },
};
#define ACTS (sizeof(acts) / sizeof(*acts))

int main(int argc, char **argv)
{
	size_t a;
	int i;

	trigger__name();
	trigger__prepare_32();
	if (pipe(ends))
		error(1, errno, "pipe");
	low = mmap(NULL, sizeof(buffer), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED)
		error(1, errno, "mmap");
	trigger__say("ready");
	trigger__wait();
	for (i = 1; i < argc; i += acts[a].arguments + 1) {
		for (a = 0; a < ACTS && strcmp(acts[a].name, argv[i]); a++)
			;
		if (a == ACTS || i + acts[a].arguments >= argc)
			error(2, 0, "'%s' and its arguments?", argv[i]);
		acts[a].run(&acts[a], argv + i + 1);
	}
	trigger__say("done");
	trigger__end();
}
