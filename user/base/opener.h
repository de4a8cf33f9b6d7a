/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens, stats and reads files of traced processes in a child process. A file system may have a server that never
 * answers (FUSE, NFS). A process that waits for it may not even be killable, and its BPF programs remain attached. The
 * tracer therefore never accesses file systems other than its own. The child has the tracer's rights, since it opens
 * files, but it parses nothing (see base/confined.h for that).
 *
 * If an answer takes too long, the result is -ETIME. The child is then killed, or abandoned if it cannot be killed, and
 * the next request starts another one. At most OPENER_MOST_LOST children are abandoned. A place (directory or device)
 * that did not answer is not accessed for OPENER_REST_NS. Waits respond to signals as in base/confined.h: -EINTR.
 *
 * Must be used by one thread only; the child ends with it.
 *
 * Descriptors are O_PATH: they refer to the file, but cannot read it, and closing them does not involve a server. To
 * read, pass them to confined__run(), whose child opens them, or to opener__read().
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
	const char *root;       /* directory in which openat2(2) looks path up; NULL: like open(2) */
	const char *path;
	u64 resolve;            /* RESOLVE_ flags, only with a root */
	u64 place;              /* place not to be accessed again if there is no answer; 0 if none */
};

/*
 * Opens a readable regular file. Rejects anything else (a FIFO, a device), since opening it may have side effects or
 * block. Returns an O_PATH descriptor and fills in *st (may be NULL); -EISDIR or -ENOEXEC if it is not a regular file;
 * -ETIME or -EDQUOT if there is no answer, now or before; or an error of open(2).
 */
int opener__open(const struct opener_path *what, struct stat *st);
/* Like opener__open(), for a path of the tracer itself. */
int opener__open_path(const char *path, struct stat *st);

/* Like pread(2) of a regular file, in pieces of at most 64 KiB. Reads less only at the end of the file. */
ssize_t opener__read(int fd, u64 offset, void *to, size_t size);
/* Like opener__read(), for a path: the memory of a process may be mapped files. */
ssize_t opener__read_path(const char *path, u64 offset, void *to, size_t size);

/* Like stat(2), access(2) with R_OK, and realpath(3), which returns allocated memory or NULL. */
int opener__stat(const char *path, struct stat *st);
int opener__may_read(const char *path);
char *opener__real_path(const char *path);

/* Stores f_type of fstatfs(2). place: as in struct opener_path. Returns 0 or a negative errno. */
int opener__file_system(int fd, u64 place, u64 *type);

/*
 * Stores statfs(2) of the mount at a path, which is also its place, and its device, which shows whether another mount
 * covers it. Returns 0 or a negative errno.
 */
struct opener_space {
	struct statfs fs;
	u64 device;             /* st_dev */
};

int opener__space(const char *path, struct opener_space *space);

/*
 * Whether an error means that there was no answer (-ETIME, -EINTR, -EDQUOT) or no child (-EAGAIN, -EBADMSG), or that a
 * path below another root cannot be followed safely because openat2(2) is not allowed (-CONFINED_NO_OPENAT2).
 */
bool opener__is_unanswered(int err);

/*
 * Returns the place of a file: derived from the directory in its path, or from the whole path in /proc/PID/map_files,
 * as seen from a mount namespace (0: ours).
 */
u64 opener__place(u64 mounts, const char *path);

/* Starts the child unless it runs. Returns 0, or a negative errno, with which all requests fail. */
int opener__start(void);

/*
 * Returns the pid of the child, which is started if necessary; 0 if it cannot be started. If the child ends, it is
 * replaced by another one with another pid; its own pid is not reused until opener__end().
 */
pid_t opener__pid(void);

/* Ends the child, if any. Call it at exit, so that the reaper of orphans need not wait for the child. */
void opener__end(void);

#endif /* TALLY_BASE_OPENER_H */
