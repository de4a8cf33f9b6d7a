// SPDX-License-Identifier: BSD-2-Clause
/*
 * disk PATH [OP N SIZE FROM STEP]...: does OP N times with SIZE bytes of a block device, starting at FROM and advancing
 * by STEP bytes, one after the other. Each is one request, unless it is too large for one.
 *   0 read    1 write    2 flush (fsync)    3 discard    past the page cache
 *   4 write   through the page cache    5 write   past it, and to the medium (O_DSYNC: FUA)
 * done ELAPSED FAILED: ns for all, and how many failed.
 */
#include "trigger.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

/* One descriptor for each access path. */
static int direct, cached, durable;

static int open_disk(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags);

	if (fd < 0)
		error(1, errno, "%s", path);
	return fd;
}

static bool succeeds(long op, char *buffer, long size, long at)
{
	uint64_t range[2] = { at, size };

	switch (op) {
	case 0:
		return pread(direct, buffer, size, at) == size;
	case 1:
		return pwrite(direct, buffer, size, at) == size;
	case 2:
		return !fsync(direct);
	case 3:
		return !ioctl(direct, BLKDISCARD, range);
	case 4:
		return pwrite(cached, buffer, size, at) == size;
	case 5:
		return pwrite(durable, buffer, size, at) == size;
	default:
		error(2, 0, "there is no operation %ld", op);
		return false;
	}
}

int main(int argc, char **argv)
{
	uint64_t began, failed = 0;
	char *buffer;
	long k;
	int i;

	if (argc < 2)
		error(2, 0, "PATH is missing");
	direct = open_disk(argv[1], O_DIRECT);
	cached = open_disk(argv[1], 0);
	durable = open_disk(argv[1], O_DIRECT | O_DSYNC);
	buffer = aligned_alloc(4096, 4 << 20);
	memset(buffer, 1, 4 << 20);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	began = trigger__now(CLOCK_MONOTONIC);
	for (i = 2; i < argc; i += 5)
		for (k = 0; k < trigger__number(argc, argv, i + 1); k++)
			failed += !succeeds(trigger__number(argc, argv, i), buffer,
					    trigger__number(argc, argv, i + 2),
					    trigger__number(argc, argv, i + 3) +
						    k * trigger__number(argc, argv, i + 4));
	trigger__say("done %lu %lu", trigger__now(CLOCK_MONOTONIC) - began, failed);
	trigger__end();
}
