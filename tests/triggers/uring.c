// SPDX-License-Identifier: BSD-2-Clause
/*
 * uring N MS: requests of one ring, of each kind N, one after the other:
 *
 *   nop        completes at submission
 *   recv       of a byte that has arrived at a socket
 *   bad        a read from a descriptor that is not open
 *   recv       from that socket without data; a thread sends MS ms later
 *   fsync      of a file, which a worker thread has to do (IOSQE_ASYNC)
 *   timeout    of MS ms, without a count
 *   invalid    an operation that does not exist
 *
 * Reports for each kind the sum of the times between the submission and its completion by its clock (CLOCK_MONOTONIC),
 * in ns, in this order.
 *
 * uring same N MS: N timeouts of MS ms at once, all with the same user_data.
 * uring accepts N: one multishot accept of N connections, which stays active.
 * uring opens N PATH: N times: openat of PATH, openat with O_CREAT and mode 0640 of PATH/no/such, openat2 of / with
 *   O_DIRECTORY, and openat without a path. Reports the results of the last time.
 * uring rests N: N reads of an empty pipe, which never complete.
 *
 * It uses the system calls without a library, as in io_uring(7).
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "trigger.h"

#define ENTRIES 64
#define KINDS 7
#define INVALID_OP 250

static struct {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
} ring;

static struct __kernel_timespec patience;
static int file, bad, ends[2];
static long ms;
static char data[64];
static uint64_t next_id = 1;

static void *map(size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, offset);

	if (p == MAP_FAILED)
		error(1, errno, "mmap of a ring");
	return p;
}

static void make_ring(void)
{
	struct io_uring_params p = {};
	char *sq, *cq;

	ring.fd = syscall(SYS_io_uring_setup, ENTRIES, &p);
	if (ring.fd < 0)
		error(1, errno, "io_uring_setup");
	sq = map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring.sqe = map(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
	ring.sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (unsigned *)(sq + p.sq_off.array);
	ring.cq_head = (unsigned *)(cq + p.cq_off.head);
	ring.cq_tail = (unsigned *)(cq + p.cq_off.tail);
	ring.cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
	ring.cqe = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
}

static void submit(struct io_uring_sqe sqe)
{
	unsigned tail = *ring.sq_tail, i = tail & *ring.sq_mask;

	if (!sqe.user_data)
		sqe.user_data = next_id++;
	ring.sqe[i] = sqe;
	ring.sq_array[i] = i;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) != 1)
		error(1, errno, "io_uring_enter");
}

static int wait_for_completion(void)
{
	unsigned head = *ring.cq_head;
	int result;

	while (__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) == head)
		if (syscall(SYS_io_uring_enter, ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			error(1, errno, "io_uring_enter");
	result = ring.cqe[head & *ring.cq_mask].res;
	__atomic_store_n(ring.cq_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

static struct io_uring_sqe transfer(int op, int fd, int flags)
{
	return (struct io_uring_sqe){
		.opcode = op,
		.flags = flags,
		.fd = fd,
		.addr = (uint64_t)data,
		.len = sizeof(data),
	};
}

static struct io_uring_sqe timeout(uint64_t user_data)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_TIMEOUT,
		.fd = -1,
		.addr = (uint64_t)&patience,
		.len = 1,
		.user_data = user_data,
	};
}

static void *send_later(void *arg)
{
	(void)arg;
	usleep(ms * 1000);
	if (write(ends[1], "x", 1) != 1)
		error(1, errno, "write");
	return NULL;
}

static void expect(int result, int wanted)
{
	if (result != wanted)
		error(1, 0, "a result of %d, not %d", result, wanted);
}

/* Returns the ns that the request took. */
static uint64_t request(struct io_uring_sqe sqe, int result)
{
	uint64_t began = trigger__now(CLOCK_MONOTONIC), took;

	submit(sqe);
	expect(wait_for_completion(), result);
	took = trigger__now(CLOCK_MONOTONIC) - began;
	return took;
}

static uint64_t receive(void)
{
	pthread_t sender;
	uint64_t took;

	if (pthread_create(&sender, NULL, send_later, NULL))
		error(1, 0, "pthread_create");
	took = request(transfer(IORING_OP_RECV, ends[0], 0), 1);
	pthread_join(sender, NULL);
	return took;
}

static uint64_t one_of(int kind)
{
	switch (kind) {
	case 0:
		return request((struct io_uring_sqe){ .opcode = IORING_OP_NOP, .fd = -1 }, 0);
	case 1:
		if (write(ends[1], "x", 1) != 1)
			error(1, errno, "write");
		return request(transfer(IORING_OP_RECV, ends[0], 0), 1);
	case 2:
		return request(transfer(IORING_OP_READ, bad, 0), -EBADF);
	case 3:
		return receive();
	case 4:
		return request((struct io_uring_sqe){ .opcode = IORING_OP_FSYNC, .flags = IOSQE_ASYNC, .fd = file }, 0);
	case 5:
		return request(timeout(0), -ETIME);
	default:
		return request((struct io_uring_sqe){ .opcode = INVALID_OP, .fd = -1 }, -EINVAL);
	}
}

static void do_each(long n)
{
	uint64_t took[KINDS] = {};
	long i;
	int kind;

	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < n; i++)
			took[kind] += one_of(kind);
	trigger__say("done %lu %lu %lu %lu %lu %lu %lu", took[0], took[1], took[2], took[3], took[4], took[5], took[6]);
}

static void do_the_same(long n)
{
	long i;

	for (i = 0; i < n; i++)
		submit(timeout(4711));
	for (i = 0; i < n; i++)
		expect(wait_for_completion(), -ETIME);
	trigger__say("done");
}

static void accept_all(long n)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM, 0), result;
	socklen_t len = sizeof(at);

	if (bind(server, (struct sockaddr *)&at, len) || listen(server, n) ||
	    getsockname(server, (struct sockaddr *)&at, &len))
		error(1, errno, "listen");
	submit((struct io_uring_sqe){ .opcode = IORING_OP_ACCEPT, .fd = server, .ioprio = IORING_ACCEPT_MULTISHOT });
	for (; n; n--) {
		if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&at, sizeof(at)))
			error(1, errno, "connect");
		result = wait_for_completion();
		if (result < 0)
			error(1, -result, "accept");
	}
	trigger__say("done");
}

static void rest(long n)
{
	if (pipe(ends))
		error(1, errno, "pipe");
	while (n--)
		submit(transfer(IORING_OP_READ, ends[0], 0));
	trigger__say("done");
}

static struct io_uring_sqe open_at(int op, const char *path, int flags, int mode)
{
	return (struct io_uring_sqe){
		.opcode = op,
		.fd = AT_FDCWD,
		.addr = (uint64_t)path,
		.open_flags = flags,
		.len = mode,
	};
}

static void open_all(long n, const char *path)
{
	struct open_how how = { .flags = O_DIRECTORY };
	struct io_uring_sqe entry[4];
	int result[4], i;
	char missing[4200];

	snprintf(missing, sizeof(missing), "%s/no/such", path);
	entry[0] = open_at(IORING_OP_OPENAT, path, O_CLOEXEC, 0);
	entry[1] = open_at(IORING_OP_OPENAT, missing, O_CREAT | O_WRONLY, 0640);
	entry[2] = open_at(IORING_OP_OPENAT2, "/", 0, sizeof(how));
	entry[2].off = (uint64_t)&how;
	entry[3] = open_at(IORING_OP_OPENAT, NULL, 0, 0);
	while (n--)
		for (i = 0; i < 4; i++) {
			submit(entry[i]);
			result[i] = wait_for_completion();
			if (result[i] >= 0)
				close(result[i]);
		}
	trigger__say("done %d %d %d %d", result[0], result[1], result[2], result[3]);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	bool is_named = argc > 2 && (*kind < '0' || *kind > '9');
	long n = trigger__number(argc, argv, 1 + is_named);
	char path[] = "/tmp/uring-XXXXXX";

	ms = argc > 2 + is_named && strcmp(kind, "opens") ? trigger__number(argc, argv, 2 + is_named) : 0;
	patience = (struct __kernel_timespec){ .tv_nsec = ms * 1000000 };
	trigger__name();
	make_ring();
	file = mkstemp(path);
	if (file < 0 || unlink(path) || write(file, data, sizeof(data)) != sizeof(data) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		error(1, errno, "files");
	bad = dup(file);
	close(bad);
	trigger__say("ready");
	trigger__wait();
	if (!strcmp(kind, "same"))
		do_the_same(n);
	else if (!strcmp(kind, "accepts"))
		accept_all(n);
	else if (!strcmp(kind, "opens"))
		open_all(n, argv[3]);
	else if (!strcmp(kind, "rests"))
		rest(n);
	else
		do_each(n);
	trigger__end();
}
