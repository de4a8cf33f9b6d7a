// SPDX-License-Identifier: BSD-2-Clause
#include "base/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "base/regular.h"

enum task { TASK_OPEN, TASK_READ, TASK_STAT, TASK_MAY_READ, TASK_REAL_PATH, TASK_FILE_SYSTEM, TASK_SPACE };

#define MOST_READ (64U << 10)

/*
 * Header of a datagram; root and path follow, each with its NUL. To read a descriptor, the datagram carries the
 * descriptor, and path is "".
 */
struct request {
	u32 task;
	u32 has_root;
	u32 size;
	u64 resolve, offset;
};

struct reply {
	s64 result;             /* a negative errno, or the number of bytes that follow */
	struct stat st;
};

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int))];
};

static ssize_t send_with(int socket, const struct iovec *part, size_t n, int fd)
{
	struct msghdr m = { .msg_iov = (struct iovec *)part, .msg_iovlen = n };
	union control control = {};
	struct cmsghdr *c;
	ssize_t sent;

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	while ((sent = sendmsg(socket, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	return sent;
}

/* Receives a message. *fd becomes -1 if no descriptor arrived. */
static ssize_t receive_with(int socket, struct iovec *part, size_t n, int *fd)
{
	union control control = {};
	struct msghdr m = {
		.msg_iov = part, .msg_iovlen = n, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	ssize_t got;

	while ((got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	c = got >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
	*fd = -1;
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return got;
}

/*
 * --- the child ---------------------------------------------------------------------------------
 */

/* True if dir is this process's root, below which a path has its usual meaning. */
static bool is_own_root(int dir)
{
	struct stat own, st;

	return !stat("/", &own) && !fstat(dir, &st) && own.st_dev == st.st_dev && own.st_ino == st.st_ino;
}

/*
 * For seccomp filters of older container runtimes, which refuse openat2(2). Below our own root, plain openat(2) finds
 * the same file, except that it also follows magic links.
 */
static int find_without_openat2(const struct request *r, int dir, const char *path)
{
	int fd;

	if (r->resolve & ~(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) || !is_own_root(dir))
		return -CONFINED_NO_OPENAT2;
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Finds a file. O_PATH does not open the file itself, so a device is not affected. */
static int find(const struct request *r, const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = r->resolve };
	int dir, fd;

	if (!r->has_root) {
		fd = open(path, O_PATH | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = errno == ENOSYS || errno == EPERM ? find_without_openat2(r, dir, path) : -errno;
	close(dir);
	return fd;
}

/* Checks that the file may be opened and its server answers. Returns 0 or a negative errno. */
static int try_open(int found, struct stat *st)
{
	int fd = dup(found);

	fd = fd < 0 ? -errno : open_found(fd, st);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int do_open(const struct request *r, const char *root, const char *path, struct reply *reply)
{
	int found = find(r, root, path);

	reply->result = found < 0 ? found : try_open(found, &reply->st);
	if (reply->result && found >= 0) {
		close(found);
		found = -1;
	}
	return found;
}

static s64 do_read(const struct request *r, const char *path, int given, char *to)
{
	char own[32];
	ssize_t n;
	int fd;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", given);
	fd = open(given >= 0 ? own : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	n = pread(fd, to, r->size < MOST_READ ? r->size : MOST_READ, r->offset);
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

static s64 do_real_path(const char *path, char *to)
{
	char *real = realpath(path, NULL);
	s64 n = real ? (s64)strlen(real) + 1 : -errno;

	if (real)
		memcpy(to, real, n);
	free(real);
	return n;
}

static s64 do_file_system(int given, char *to)
{
	struct statfs fs;
	u64 type;

	if (fstatfs(given, &fs))
		return -errno;
	type = fs.f_type;
	memcpy(to, &type, sizeof(type));
	return sizeof(type);
}

static s64 do_space(const char *path, char *to)
{
	int fd = open(path, O_PATH | O_CLOEXEC), err;
	struct opener_space space = {};
	struct stat st;

	if (fd < 0)
		return -errno;
	err = fstatfs(fd, &space.fs) ? -errno : stat_known(fd, &st);
	close(fd);
	if (err)
		return err;
	space.device = st.st_dev;
	memcpy(to, &space, sizeof(space));
	return sizeof(space);
}

/* Returns a descriptor to send, or -1. */
static int do_task(const struct request *r, const char *text, int given, struct reply *reply, char *data)
{
	const char *path = r->has_root ? text + strlen(text) + 1 : text;

	switch (r->task) {
	case TASK_OPEN:
		return do_open(r, text, path, reply);
	case TASK_READ:
		reply->result = do_read(r, path, given, data);
		break;
	case TASK_STAT:
		reply->result = stat(path, &reply->st) ? -errno : 0;
		break;
	case TASK_MAY_READ:
		reply->result = access(path, R_OK) ? -errno : 0;
		break;
	case TASK_REAL_PATH:
		reply->result = do_real_path(path, data);
		break;
	case TASK_FILE_SYSTEM:
		reply->result = do_file_system(given, data);
		break;
	case TASK_SPACE:
		reply->result = do_space(path, data);
		break;
	}
	return -1;
}

/*
 * Serves requests until the tracer closes its end, or until an answer cannot be sent, which the tracer notices at once.
 */
static void serve(int socket)
{
	static char text[2 * PATH_MAX], data[MOST_READ];
	struct request request;
	int given, fd;
	bool sent;

	for (;;) {
		struct iovec asked[] = { { &request, sizeof(request) }, { text, sizeof(text) } };
		struct reply reply = {};
		struct iovec answer[] = { { &reply, sizeof(reply) }, { data, 0 } };

		if (receive_with(socket, asked, 2, &given) <= (ssize_t)sizeof(request))
			return;
		fd = do_task(&request, text, given, &reply, data);
		answer[1].iov_len = reply.result > 0 ? reply.result : 0;
		sent = send_with(socket, answer, 2, fd) >= 0;
		if (fd >= 0)
			close(fd);
		if (given >= 0)
			close(given);
		if (!sent)
			return;
	}
}

/*
 * Closes all other files (outputs, links of BPF programs), which would otherwise remain open if the child is abandoned.
 */
static void __attribute__((noreturn)) run_child(int socket, pid_t parent)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "tally-opener", 0, 0, 0);
	if (dup2(socket, 0) < 0 || syscall(SYS_close_range, 1, ~0U, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ||
	    getppid() != parent)
		_exit(1);
	serve(0);
	_exit(0);
}

/*
 * --- the tracer --------------------------------------------------------------------------------
 */

/* Time limit of an answer after earlier answers have used up the allowance. */
#define SHORT_NS (NSEC_PER_SEC / 2)
/* Time to exit after SIGKILL. */
#define DEATH_NS (200 * NSEC_PER_MSEC)
#define MOST_PLACES 64

/* One opener for the whole process: a server that hangs does so for all measurements. */
static struct {
	pid_t owner;            /* a forked child starts its own */
	pid_t pid;
	bool is_told;           /* opener__pid() returned it */
	int socket;
	struct allowance allowance;
	struct {
		pid_t pid;      /* 0: a free place */
		bool is_told;   /* kept as a zombie until opener__end(), so that its pid is not reused */
	} lost[OPENER_MOST_LOST];
	struct {
		u64 place, until_ns;
	} silent[MOST_PLACES];
	u32 next;               /* the oldest place */
} opener;

/*
 * Reaps abandoned children that have ended, because their server answered or was unmounted. True if another child may
 * be started.
 */
static bool may_start(void)
{
	size_t i, n = 0;

	for (i = 0; i < OPENER_MOST_LOST; i++) {
		if (opener.lost[i].pid && !opener.lost[i].is_told && waitpid(opener.lost[i].pid, NULL, WNOHANG))
			opener.lost[i].pid = 0;
		n += opener.lost[i].pid != 0;
	}
	return n < OPENER_MOST_LOST;
}

static int start(void)
{
	pid_t self = getpid(), pid;
	int ends[2], err;

	if (opener.owner != self) {
		memset(&opener, 0, sizeof(opener));
		opener.owner = self;
	}
	if (opener.pid)
		return 0;
	if (!may_start())
		return -EDQUOT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	err = -errno;
	if (!pid)
		run_child(ends[1], self);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err;
	}
	opener.pid = pid;
	opener.is_told = false;
	opener.socket = ends[0];
	return 0;
}

/* Waits for a child after SIGKILL, and leaves it as a zombie. True if it has died. */
static bool has_died(pid_t pid)
{
	u64 until_ns = monotonic_ns() + DEATH_NS;
	struct timespec pause = { .tv_nsec = 20000 };
	siginfo_t info = {};

	while (!waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid) {
		if (monotonic_ns() >= until_ns)
			return false;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 2000000)
			pause.tv_nsec *= 2;
	}
	return true;
}

/* Kills the child. Returns true if it died; otherwise it still waits for a server. */
static bool abandon(void)
{
	size_t i = 0;
	bool died;

	close(opener.socket);
	kill(opener.pid, SIGKILL);
	died = has_died(opener.pid);
	if (died && !opener.is_told) {
		waitpid(opener.pid, NULL, 0);
	} else {
		while (i < OPENER_MOST_LOST - 1 && opener.lost[i].pid)
			i++;
		opener.lost[i].pid = opener.pid;
		opener.lost[i].is_told = opener.is_told;
	}
	opener.pid = 0;
	return died;
}

static bool is_silent(u64 place)
{
	size_t i;

	for (i = 0; place && i < MOST_PLACES; i++)
		if (opener.silent[i].place == place && monotonic_ns() < opener.silent[i].until_ns)
			return true;
	return false;
}

static void note_silence(u64 place)
{
	if (!place)
		return;
	opener.silent[opener.next].place = place;
	opener.silent[opener.next].until_ns = monotonic_ns() + OPENER_REST_NS;
	opener.next = (opener.next + 1) % MOST_PLACES;
}

static int await_reply(u64 place)
{
	u64 began_ns = monotonic_ns(), time_ns = allowance__time(&opener.allowance, NULL, 0) ?: SHORT_NS;
	int err = confined__wait_for_answer(opener.socket, began_ns + time_ns);
	struct pollfd p = { .fd = opener.socket, .events = POLLIN };

	/* The answer may have arrived while this process was stopped. */
	if (err == -ETIME && poll(&p, 1, 0) > 0)
		err = 0;
	/* After a signal, the child may only be slow. */
	if (err && (!abandon() || err == -ETIME))
		note_silence(place);
	if (err == -ETIME)
		allowance__spend(&opener.allowance, NULL, 0, monotonic_ns() - began_ns);
	return err;
}

struct question {
	struct request head;
	const char *root, *path;        /* root: may be NULL */
	u64 place;
	int given;                      /* a descriptor, or -1 */
	void *to;                       /* data of the reply */
	size_t room;
};

static int send_question(const struct question *q)
{
	size_t first = q->root ? strlen(q->root) + 1 : 0, second = strlen(q->path) + 1;
	const struct iovec part[] = {
		{ (void *)&q->head, sizeof(q->head) }, { (void *)q->root, first }, { (void *)q->path, second },
	};

	if (first > PATH_MAX || second > PATH_MAX)
		return -ENAMETOOLONG;
	return send_with(opener.socket, part, ARRAY_SIZE(part), q->given) < 0 ? -EBADMSG : 0;
}

/* Receives the reply, and returns its result. *got becomes a descriptor that came with the reply, or -1. */
static s64 take_reply(const struct question *q, struct reply *reply, int *got)
{
	struct iovec part[] = { { reply, sizeof(*reply) }, { q->to, q->room } };
	ssize_t n = receive_with(opener.socket, part, ARRAY_SIZE(part), got);

	if (n >= (ssize_t)sizeof(*reply) && n == (ssize_t)sizeof(*reply) + (reply->result > 0 ? reply->result : 0))
		return reply->result;
	if (*got >= 0)
		close(*got);
	*got = -1;
	abandon();
	return -EBADMSG;
}

static s64 ask(struct question *q, struct reply *reply, int *got)
{
	int err = start();

	*got = -1;
	q->head.has_root = q->root != NULL;
	if (!err && is_silent(q->place))
		err = confined__interrupted() ? -EINTR : -ETIME;
	if (!err)
		err = send_question(q);
	if (err == -EBADMSG)
		abandon();
	if (!err)
		err = await_reply(q->place);
	return err ?: take_reply(q, reply, got);
}

int opener__open(const struct opener_path *what, struct stat *st)
{
	struct question q = {
		.head = { .task = TASK_OPEN, .resolve = what->resolve },
		.root = what->root, .path = what->path, .place = what->place, .given = -1,
	};
	struct reply reply;
	int fd, err = ask(&q, &reply, &fd);

	if (!err && fd < 0)
		return -EMFILE;         /* this process may not open another file */
	if (err)
		return err;
	if (st)
		*st = reply.st;
	return fd;
}

int opener__open_path(const char *path, struct stat *st)
{
	const struct opener_path what = { .path = path, .place = opener__place(0, path) };

	return opener__open(&what, st);
}

static ssize_t read_all(int fd, const char *path, u64 offset, void *to, size_t size)
{
	struct question q = { .head = { .task = TASK_READ }, .path = path, .given = fd };
	struct reply reply;
	size_t at = 0;
	s64 n = 1;
	int got;

	for (; at < size && n > 0; at += n) {
		q.to = (char *)to + at;
		q.room = size - at < MOST_READ ? size - at : MOST_READ;
		q.head.offset = offset + at;
		q.head.size = q.room;
		n = ask(&q, &reply, &got);
		if (n < 0)
			return at ? (ssize_t)at : n;
	}
	return at;
}

ssize_t opener__read(int fd, u64 offset, void *to, size_t size)
{
	return read_all(fd, "", offset, to, size);
}

ssize_t opener__read_path(const char *path, u64 offset, void *to, size_t size)
{
	return read_all(-1, path, offset, to, size);
}

static s64 ask_of_path(enum task task, const char *path, struct reply *reply, void *to, size_t room)
{
	struct question q = {
		.head = { .task = task }, .path = path, .place = opener__place(0, path), .given = -1,
		.to = to, .room = room,
	};
	int got;

	return ask(&q, reply, &got);
}

int opener__stat(const char *path, struct stat *st)
{
	struct reply reply;
	int err = ask_of_path(TASK_STAT, path, &reply, NULL, 0);

	if (!err)
		*st = reply.st;
	return err;
}

int opener__may_read(const char *path)
{
	struct reply reply;

	return ask_of_path(TASK_MAY_READ, path, &reply, NULL, 0);
}

char *opener__real_path(const char *path)
{
	struct reply reply;
	char *real = malloc(PATH_MAX);
	s64 n = real ? ask_of_path(TASK_REAL_PATH, path, &reply, real, PATH_MAX) : -ENOMEM;

	if (n > 0)
		return real;
	free(real);
	errno = -n;
	return NULL;
}

int opener__file_system(int fd, u64 place, u64 *type)
{
	struct question q = {
		.head = { .task = TASK_FILE_SYSTEM }, .path = "", .place = place, .given = fd, .to = type,
		.room = sizeof(*type),
	};
	struct reply reply;
	int got;
	s64 n = ask(&q, &reply, &got);

	return n < 0 ? n : n == sizeof(*type) ? 0 : -EBADMSG;
}

/* Reads the space of a file system. Each mount is a separate place, even in the same directory as others. */
int opener__space(const char *path, struct opener_space *space)
{
	struct question q = {
		.head = { .task = TASK_SPACE }, .path = path, .given = -1, .to = space, .room = sizeof(*space),
	};
	char inside[PATH_MAX + 2];
	struct reply reply;
	int got;
	s64 n;

	if (snprintf(inside, sizeof(inside), "%s/.", path) >= (int)sizeof(inside))
		return -ENAMETOOLONG;
	q.place = opener__place(0, inside);
	n = ask(&q, &reply, &got);
	return n < 0 ? n : n == sizeof(*space) ? 0 : -EBADMSG;
}

/*
 * Hashes the directory of a path (FNV-1a). /proc/PID/map_files mixes files of all file systems, so there the whole path
 * is hashed.
 */
u64 opener__place(u64 mounts, const char *path)
{
	bool is_mapped = !strncmp(path, "/proc/", 6) && strstr(path, "/map_files/");
	const char *end = is_mapped ? path + strlen(path) : strrchr(path, '/') ?: path;
	u64 hash = 0xcbf29ce484222325ULL ^ mounts;

	for (; path < end; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3ULL;
	return hash ?: 1;
}

void opener__end(void)
{
	size_t i;

	if (opener.owner != getpid())
		return;
	opener.is_told = false;
	if (opener.pid)
		abandon();
	for (i = 0; i < OPENER_MOST_LOST; i++)
		opener.lost[i].is_told = false;
	may_start();
}

int opener__start(void)
{
	return start();
}

pid_t opener__pid(void)
{
	if (start())
		return 0;
	opener.is_told = true;
	return opener.pid;
}

bool opener__is_unanswered(int err)
{
	return err == -ETIME || err == -EINTR || err == -EDQUOT || err == -EBADMSG || err == -EAGAIN ||
	       err == -CONFINED_NO_OPENAT2;
}
