// SPDX-License-Identifier: BSD-2-Clause
/*
 * pages HEAP STACK ANON SHARED PRIVATE COLD COPIED [FILE]: writes to that many pages of new memory: from sbrk(2), of
 * its stack, anonymous memory, shared anonymous memory, and a private mapping of FILE. Reads COLD pages of FILE, none
 * of which is in the page cache, and has a child write to COPIED pages that both share. Each is a page fault.
 * Everything else it does has been done once before, so it causes no faults.
 *
 *   ready
 *   done MINOR MAJOR CHILD_MINOR CHILD_MAJOR CHILD     since the start: getrusage(2); the child
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "trigger.h"

#define PAGE 4096

static void __attribute__((noinline)) write_pages(volatile char *area, long n)
{
	long i;

	for (i = 0; i < n; i++)
		area[i * PAGE] = 1;
}

static void __attribute__((noinline)) read_pages(const volatile char *area, long n)
{
	long i;

	for (i = 0; i < n; i++)
		(void)area[i * PAGE];
}

/* Writes downwards, as a stack grows. */
static void __attribute__((noinline)) write_stack(long n)
{
	volatile char *top = __builtin_frame_address(0);
	volatile char *area = __builtin_alloca(n * PAGE + PAGE);
	long i;

	for (i = 1; i <= n && top - i * PAGE > area; i++)
		top[-i * PAGE] = 1;
}

static char *map(long n, int flags, int fd)
{
	char *area = mmap(NULL, n * PAGE + PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (area == MAP_FAILED)
		error(1, errno, "mmap");
	/* One fault for each page rather than one for 512 pages, and no readahead. */
	madvise(area, n * PAGE + PAGE, MADV_NOHUGEPAGE);
	madvise(area, n * PAGE + PAGE, MADV_RANDOM);
	return area;
}

/* Is any of the file's first n pages in the page cache? */
static bool is_cached(int fd, long n)
{
	char *area = mmap(NULL, n * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	unsigned char *cached = calloc(n, 1);
	bool is = false;
	long i;

	if (area == MAP_FAILED || !cached || mincore(area, n * PAGE, cached))
		error(1, errno, "mincore");
	munmap(area, n * PAGE);
	for (i = 0; i < n; i++)
		is |= cached[i] & 1;
	free(cached);
	return is;
}

/*
 * Pages that are locked or being moved stay in the cache, and if cached pages are present, one fault maps more than its
 * own page. Files that exist only in memory keep their pages (so do files of an overlay whose upper layer is in memory,
 * as in the guests).
 */
static void drop_cache(int fd, long n)
{
	struct statfs fs;
	bool on_disk = !fstatfs(fd, &fs) && fs.f_type != TMPFS_MAGIC && fs.f_type != OVERLAYFS_SUPER_MAGIC;
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (!on_disk || !is_cached(fd, n))
			return;
		usleep(1000);
	}
	error(1, 0, "pages of the file stay in the page cache");
}

/*
 * Makes a file of n pages that are on the disk and not in the cache. The file is new, since pages mapped by another
 * process cannot be dropped.
 */
static int make_file(const char *path, long n)
{
	static char page[PAGE] = "x";
	long i;
	int fd;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		error(1, errno, "%s", path);
	for (i = 0; i <= n; i++)
		if (write(fd, page, PAGE) != PAGE)
			error(1, errno, "%s", path);
	fsync(fd);
	drop_cache(fd, n + 1);
	return fd;
}

static pid_t write_copies(char *area, long n)
{
	pid_t pid = fork();

	if (pid < 0)
		error(1, errno, "fork");
	if (!pid) {
		write_pages(area, n);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

int main(int argc, char **argv)
{
	long n[7], i, most = 0;
	char *anon, *shared, *private, *cold, *copied;
	struct rusage own, child;
	pid_t pid = 0;
	int fd;

	for (i = 0; i < 7; i++)
		n[i] = trigger__number(argc, argv, i + 1);
	trigger__name();
	most = n[4] > n[5] ? n[4] : n[5];
	fd = argc > 8 ? make_file(argv[8], most) : -1;
	anon = map(n[2], MAP_PRIVATE | MAP_ANONYMOUS, -1);
	shared = map(n[3], MAP_SHARED | MAP_ANONYMOUS, -1);
	copied = map(n[6], MAP_PRIVATE | MAP_ANONYMOUS, -1);
	private = fd < 0 ? anon : map(n[4], MAP_PRIVATE, fd);
	cold = fd < 0 ? anon : map(n[5], MAP_SHARED, fd);
	write_pages(copied, n[6]);
	write_stack(0);
	write_pages(sbrk(0), 0);
	read_pages(cold, 0);
	getrusage(RUSAGE_SELF, &own);
	trigger__say("ready");
	trigger__wait();
	write_pages(sbrk(n[0] * PAGE), n[0]);
	write_stack(n[1]);
	write_pages(anon, n[2]);
	write_pages(shared, n[3]);
	read_pages(cold, n[5]);
	write_pages(private, n[4]);
	if (n[6])
		pid = write_copies(copied, n[6]);
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &child);
	trigger__say("done %ld %ld %ld %ld %d", own.ru_minflt, own.ru_majflt, child.ru_minflt,
		     child.ru_majflt, (int)pid);
	trigger__end();
}
