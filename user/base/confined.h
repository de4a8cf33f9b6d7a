/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one way to parse what others control: files that processes have mapped, their debug files,
 * maps of JIT compilers, names. A child process does it that can do nothing else: no user's and no
 * capabilities' rights, no open files but those it is given, system calls for memory and for
 * reading and writing those files, and limits on time, memory and the size of its answer. It is
 * killed when it is late, and left behind where it cannot be (it waits for a disk or a server).
 * What it answers is no more to be trusted than its input.
 *
 * Who waits for it hears signals: SIGINT, SIGTERM and SIGHUP, where they are blocked (as they are
 * from run__init() on), end the wait within 100 ms with -EINTR, and each later one at once, until
 * the signal is taken.
 *
 * Files are to be opened with open_regular() (base/regular.h) or root__open() (sym/root.h), which
 * refuse all that is no regular file.
 */
#ifndef TALLY_BASE_CONFINED_H
#define TALLY_BASE_CONFINED_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/types.h"

/* Where the work's answer goes. Sticky: after an error nothing more is written. */
struct answer {
	int fd;
	int err;
};

void answer__put(struct answer *a, const void *data, size_t size);

/*
 * Runs in the child, with fd[i] as file descriptor i. It may crash, hang or lie; it must not use
 * what needs other system calls (stdio, opening files).
 */
typedef void (*confined_work)(struct answer *answer, void *arg);

#define CONFINED_MAX_FILES 3

/* Built with sanitizers: the exit status of a child in which they found a fault, and of its parent then. */
#define CONFINED_FAULT 86

/*
 * Limits. An answer has at most CONFINED_MAX_ANSWER bytes. Memory is address space on top of what
 * this process has: CONFINED_MEMORY and eight times what is really on disk of the files (a sparse
 * one claims anything), at most CONFINED_MAX_MEMORY; and as much again as is on disk, to map it. Time is on the wall; CPU time is a second more.
 */
#define CONFINED_MEMORY (256ULL << 20)
#define CONFINED_MAX_MEMORY (2ULL << 30)
#define CONFINED_MAX_ANSWER (1ULL << 30)
#define CONFINED_TIME_NS (20 * NSEC_PER_SEC)

/*
 * What a run reads unasked, of processes that happen to be there, takes from an allowance besides:
 * each file that anyone but root can write to, ALLOWANCE_FILE_NS; all of those together,
 * ALLOWANCE_NS, which come back as one part in ALLOWANCE_SHARE of the time that goes by; and
 * ALLOWANCE_BYTES of answers, once. Root's own files take nothing from it.
 */
#define ALLOWANCE_FILE_NS (3 * NSEC_PER_SEC)
#define ALLOWANCE_NS (10 * NSEC_PER_SEC)
#define ALLOWANCE_SHARE 20
#define ALLOWANCE_BYTES (256ULL << 20)

struct allowance {      /* all 0 at first */
	u64 spent_ns, spent_bytes;
	u64 at_ns;      /* when spent_ns was looked at */
};

/*
 * Runs work with arg and these files (at most CONFINED_MAX_FILES) and waits for it. allowance may
 * be NULL. Returns 0 and what was written, to be freed; -EBADMSG: the child did not come to its end
 * or wrote too much; -ETIME; -EDQUOT: the allowance is used up; -EINTR: a signal waits; or what
 * fork(2) and pipe(2) say.
 */
int confined__run(confined_work work, void *arg, const int *fd, size_t nfds,
		  struct allowance *allowance, void **data, size_t *size);

/*
 * The same in pieces, for who has other things to do meanwhile: begun, then taken from whenever
 * answer_fd can be read and when end_ns has come, until that is no longer -EAGAIN.
 */
struct confined_job {
	pid_t pid;              /* 0: there is none */
	int answer_fd;
	u64 began_ns, end_ns;   /* CLOCK_MONOTONIC */
	u64 most;               /* bytes of its answer */
	struct allowance *allowance;
	char *data;             /* what has come of the answer */
	size_t n, room;
};

int confined__begin(struct confined_job *job, confined_work work, void *arg, const int *fd, size_t nfds,
		    struct allowance *allowance);
/* A MiB at a time. -EAGAIN: more is to come; else the job is over, and it is as of confined__run(). */
int confined__take(struct confined_job *job, void **data, size_t *size);
/* Ends it, if there is one. */
void confined__drop(struct confined_job *job);

/*
 * The same without waiting, for work that goes on until confined__end(): ten minutes of CPU time at
 * most. answer_fd is what it writes to, and may be a socket on which it is asked; who waits for an
 * answer sets the time for it. Returns 0 or a negative errno.
 */
int confined__start(confined_work work, void *arg, const int *fd, size_t nfds, int answer_fd,
		    pid_t *pid);

/*
 * For who asks such a one: the time that an answer about these files may take, 0: the allowance is
 * used up; and then the time that it took.
 */
u64 allowance__time(struct allowance *a, const int *fd, size_t nfds);
void allowance__spend(struct allowance *a, const int *fd, size_t nfds, u64 ns);

/* Why nothing was read, for people: of -ETIME, -EDQUOT, -EBADMSG, ... */
const char *confined__why(int err);

/* Does a signal wait that is to end what takes long? */
bool confined__interrupted(void);

/* Waits until there is something to read, or the end. 0, -ETIME: end_ns (monotonic), or -EINTR. */
int confined__wait(int fd, u64 end_ns);

/* Reads so many bytes. -EBADMSG: there are fewer; else as confined__wait(). */
int confined__read(int fd, void *data, size_t size, u64 end_ns);

/*
 * Ends it, or waits a second for its end and then kills it. Did it end by itself and well? One that
 * does not die of SIGKILL within some 100 ms is left behind.
 */
bool confined__end(pid_t pid, bool kill_it);

#endif /* TALLY_BASE_CONFINED_H */
