/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only way to parse untrusted data: files that processes have mapped, their debug files, maps of JIT compilers,
 * names. A child process parses it. The child has no user's rights and no capabilities, only the open files passed to
 * it, only the system calls for memory and for reading and writing those files, and limits on time, memory and the size
 * of its answer. A late child is killed, or abandoned if it cannot be killed (blocked on a disk or a server). The
 * answer is as untrusted as the input.
 *
 * Waits respond to signals: SIGINT, SIGTERM or SIGHUP, if blocked (as they are after run__init()), ends a wait within
 * 100 ms with -EINTR, unless the answer arrives within 40 ms, and ends each later wait at once, until the signal has
 * been handled.
 *
 * Open files with opener__open_path() (base/opener.h) or root__open() (sym/root.h). Both accept only regular files, and
 * open them in a process that may wait for a server. Their descriptors are O_PATH: the child opens them for reading.
 */
#ifndef TALLY_BASE_CONFINED_H
#define TALLY_BASE_CONFINED_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/types.h"

/* The stream for the child's answer. Errors are sticky: later calls are no-ops. */
struct answer {
	int fd;
	int err;
};

void answer__put(struct answer *a, const void *data, size_t size);

/*
 * Runs in the child, with fd[i] as file descriptor i. May crash, hang or return wrong data. Must not
 * use other system calls (stdio, opening files).
 */
typedef void (*confined_work)(struct answer *answer, void *arg);

#define CONFINED_MAX_FILES 3

/* Sanitizer builds: exit status of a child with a finding, and then of its parent. */
#define CONFINED_FAULT 86

/*
 * Limits. An answer has at most CONFINED_MAX_ANSWER bytes. The memory limit is on address space, in
 * addition to that of this process: CONFINED_MEMORY plus eight times the disk blocks of the files (a
 * sparse file may claim any size), at most CONFINED_MAX_MEMORY; plus their disk blocks once more, to
 * map them. The time limit is on wall time; the limit on CPU time is one second longer.
 */
#define CONFINED_MEMORY (256ULL << 20)
#define CONFINED_MAX_MEMORY (2ULL << 30)
#define CONFINED_MAX_ANSWER (1ULL << 30)
#define CONFINED_TIME_NS (20 * NSEC_PER_SEC)

/*
 * Files that a run reads unasked, from any process, are also charged to an allowance: ALLOWANCE_FILE_NS per file that a
 * user other than root can write to; ALLOWANCE_NS for all such files together, refilled at 1/ALLOWANCE_SHARE of the
 * elapsed time; and ALLOWANCE_BYTES of answers, never refilled. Files that only root can write to are not charged.
 */
#define ALLOWANCE_FILE_NS (3 * NSEC_PER_SEC)
#define ALLOWANCE_NS (10 * NSEC_PER_SEC)
#define ALLOWANCE_SHARE 20
#define ALLOWANCE_BYTES (256ULL << 20)

struct allowance {      /* initialise to all zeros */
	u64 spent_ns, spent_bytes;
	u64 at_ns;      /* time of the last refill */
};

/*
 * Runs work with arg and these files (at most CONFINED_MAX_FILES) and waits for it. allowance may be
 * NULL. Returns 0 and the answer, which the caller frees; -EBADMSG if the child died or wrote too
 * much; -ETIME; -EDQUOT if the allowance is used up; -EINTR if a signal is pending; or an error of
 * fork(2) or pipe(2).
 */
int confined__run(confined_work work, void *arg, const int *fd, size_t nfds,
		  struct allowance *allowance, void **data, size_t *size);

/*
 * Like confined__run(), without blocking: begin a job, then call confined__take() whenever answer_fd
 * is readable and at end_ns, until it does not return -EAGAIN.
 */
struct confined_job {
	pid_t pid;              /* 0 if no job runs */
	int answer_fd;
	u64 began_ns, end_ns;   /* CLOCK_MONOTONIC */
	u64 most;               /* limit on the bytes of its answer */
	struct allowance *allowance;
	char *data;             /* the answer so far */
	size_t n, room;
};

int confined__begin(struct confined_job *job, confined_work work, void *arg, const int *fd, size_t nfds,
		    struct allowance *allowance);
/* Reads up to 1 MiB. Returns -EAGAIN if the job is not finished. Other results, as of confined__run(), end the job. */
int confined__take(struct confined_job *job, void **data, size_t *size);
/* Ends the job, if any. */
void confined__drop(struct confined_job *job);

/*
 * Starts a service that runs until confined__end(), with at most ten minutes of CPU time. It writes to answer_fd, which
 * may be a socket for requests; the caller sets a time limit per answer. Returns 0 or a negative errno.
 */
int confined__start(confined_work work, void *arg, const int *fd, size_t nfds, int answer_fd,
		    pid_t *pid);

/*
 * For users of such a service. allowance__time() returns the time limit of an answer about these files (0 if the
 * allowance is used up). allowance__spend() charges the time that the answer took.
 */
u64 allowance__time(struct allowance *a, const int *fd, size_t nfds);
void allowance__spend(struct allowance *a, const int *fd, size_t nfds, u64 ns);

/* openat2(2) is not allowed, so a path below another root cannot be followed safely. No file system returns this. */
#define CONFINED_NO_OPENAT2 ENOLINK

/* Returns the reason why nothing was read, as text, for -ETIME, -EDQUOT, -EBADMSG, ... */
const char *confined__why(int err);

/* Whether a signal that should end long operations is pending. */
bool confined__interrupted(void);

/* Waits for input or end of file. Returns 0, -ETIME at end_ns (CLOCK_MONOTONIC), or -EINTR. */
int confined__wait(int fd, u64 end_ns);
/* Like confined__wait(), but ignores signals for the first 40 ms, in which most answers arrive. */
int confined__wait_for_answer(int fd, u64 end_ns);

/* Reads exactly size bytes. Returns -EBADMSG if fewer arrive, otherwise like confined__wait(). */
int confined__read(int fd, void *data, size_t size, u64 end_ns);

/*
 * Kills the child at once if kill_it is set, otherwise if it does not exit within one second. Returns
 * whether it exited successfully by itself. A child that survives SIGKILL for some 100 ms is
 * abandoned.
 */
bool confined__end(pid_t pid, bool kill_it);

#endif /* TALLY_BASE_CONFINED_H */
