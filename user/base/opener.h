/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens, stats and reads files of traced processes in a child process. A file system may have a server that never
 * answers (FUSE, NFS): a process that waits for it may not even be killable, and its BPF programs stay attached. The
 * tracer therefore never asks a file system that is not its own. The child has the tracer's rights, since it opens
 * files, but it parses nothing (see base/confined.h for that).
 *
 * An answer that takes too long is -ETIME. The child is then killed, or abandoned if it cannot be killed, and the next
 * request starts another one. At most OPENER_MOST_LOST children are abandoned, and a place (directory or device) that
 * did not answer is left alone for OPENER_REST_NS. Waits respond to signals as in base/confined.h: -EINTR.
 *
 * For use by one thread; the child ends with it.
 *
 * Descriptors are O_PATH: they hold the file, but cannot read it, and closing them asks no server. To read, pass them
 * to confined__run(), whose child opens them, or to opener__read().
 */
#ifndef TALLY_BASE_OPENER_H
#define TALLY_BASE_OPENER_H

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>

#include "base/types.h"

#define OPENER_MOST_LOST 16
#define OPENER_REST_NS (60 * NSEC_PER_SEC)

struct opener_path {
	const char *root;       /* directory in which openat2(2) looks path up; NULL: none, as open(2) */
	const char *path;
	u64 resolve;            /* RESOLVE_ flags, with a root only */
	u64 place;              /* what to leave alone if there is no answer; 0: nothing */
};

/*
 * Opens a regular file that can be read. Opening anything else (a FIFO, a device) may have side effects or block, so it
 * is refused. Returns an O_PATH descriptor and fills in *st (may be NULL); -EISDIR, -ENOEXEC: not a regular file;
 * -ETIME, -EDQUOT: no answer, now or before; or an error of open(2).
 */
int opener__open(const struct opener_path *what, struct stat *st);
/* The same for a path of the tracer's own. */
int opener__open_path(const char *path, struct stat *st);

/* As pread(2) of a descriptor of a regular file, in pieces of at most 64 KiB. Short only at the end of the file. */
ssize_t opener__read(int fd, u64 offset, void *to, size_t size);
/* The same for a path: memory of processes can be mapped files. */
ssize_t opener__read_path(const char *path, u64 offset, void *to, size_t size);

/* As stat(2); access(2) with R_OK; realpath(3), which returns allocated memory or NULL. */
int opener__stat(const char *path, struct stat *st);
int opener__may_read(const char *path);
char *opener__real_path(const char *path);

/* f_type of fstatfs(2). place: as in struct opener_path. Returns 0 or a negative errno. */
int opener__file_system(int fd, u64 place, u64 *type);

/*
 * statfs(2) of the mount at a path, which is also its place, and its device, which shows whether another mount covers
 * it. Returns 0 or a negative errno.
 */
struct opener_space {
	struct statfs fs;
	u64 device;             /* st_dev */
};

int opener__space(const char *path, struct opener_space *space);

/*
 * Whether an error says that there was no answer (-ETIME, -EINTR, -EDQUOT), no child to ask (-EAGAIN, -EBADMSG), or
 * that a path below another root cannot be followed safely, since openat2(2) is refused (-CONFINED_NO_OPENAT2).
 */
bool opener__is_unanswered(int err);

/*
 * The place of a file: derived from the directory in its path, or from the whole path in /proc/PID/map_files, as seen
 * from a mount namespace (0: ours).
 */
u64 opener__place(u64 mounts, const char *path);

/* Starts the child unless it runs. Returns 0, or the negative errno that all requests fail with. */
int opener__start(void);

/*
 * The pid of the child, which is started if necessary; 0 if it cannot be started. If the child ends, another one with
 * another pid takes its place; its own pid is not reused until opener__end().
 */
pid_t opener__pid(void);

/* Ends the child, if there is one. Call at exit, so that the reaper of orphans need not wait for it. */
void opener__end(void);

#endif /* TALLY_BASE_OPENER_H */
