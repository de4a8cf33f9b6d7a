// SPDX-License-Identifier: BSD-2-Clause
/* Files of others are opened, examined and read by a child that can be abandoned. The tests stop it to make it hang. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/opener.h"
#include "base/regular.h"

static char dir[] = "/tmp/opener-XXXXXX", file[64], other[64], fifo[64];
static const char text[] = "the contents";

static void put_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int make_files(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	snprintf(other, sizeof(other), "%s.other", dir);
	put_file(file);
	put_file(other);
	return mkfifo(fifo, 0644);
}

static int remove_files(void **state)
{
	(void)state;
	unlink(file);
	unlink(fifo);
	unlink(other);
	return rmdir(dir);
}

static void copy(struct answer *to, void *arg)
{
	char part[64];
	ssize_t n;

	(void)arg;
	while ((n = read(0, part, sizeof(part))) > 0)
		answer__put(to, part, n);
}

/* The descriptor cannot be read here. A confined process can open it, and the child can read for us. */
static void opened(void **state)
{
	int fd = opener__open_path(file, NULL);
	struct stat want, st;
	char part[64];
	void *answer;
	size_t size;

	(void)state;
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_PATH);
	assert_int_equal(pread(fd, part, sizeof(part), 0), -1);
	assert_int_equal(stat(file, &want), 0);
	assert_int_equal(stat_known(fd, &st), 0);
	assert_true(st.st_dev == want.st_dev && st.st_ino == want.st_ino && st.st_size == want.st_size &&
		    st.st_mode == want.st_mode && st.st_mtim.tv_nsec == want.st_mtim.tv_nsec);
	assert_int_equal(confined__run(copy, NULL, &fd, 1, NULL, &answer, &size), 0);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(answer, text, size);
	free(answer);
	assert_int_equal(opener__read(fd, 4, part, sizeof(part)), strlen(text) - 4);
	assert_memory_equal(part, text + 4, strlen(text) - 4);
	assert_int_equal(opener__read(fd, sizeof(text), part, sizeof(part)), 0);
	close(fd);
}

static void refused(void **state)
{
	const struct opener_path above = { .root = dir, .path = "../../etc/passwd", .resolve = 0x08 /* BENEATH */ };
	char long_path[5000];

	(void)state;
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = 0;
	assert_int_equal(opener__open_path(dir, NULL), -EISDIR);
	assert_int_equal(opener__open_path(fifo, NULL), -ENOEXEC);
	assert_int_equal(opener__open_path("/dev/null", NULL), -ENOEXEC);
	assert_int_equal(opener__open_path("/there/is/no/such", NULL), -ENOENT);
	assert_int_equal(opener__open_path(long_path, NULL), -ENAMETOOLONG);
	assert_int_equal(opener__open(&above, NULL), -EXDEV);
}

static void looked_at(void **state)
{
	static char large[200000];
	char path[64], *real, *got = malloc(sizeof(large));
	struct stat want, st;
	size_t i;

	(void)state;
	assert_non_null(got);
	for (i = 0; i < sizeof(large); i++)
		large[i] = i * 7 + i / 1000;
	assert_int_equal(stat(fifo, &want), 0);
	assert_int_equal(opener__stat(fifo, &st), 0);
	assert_memory_equal(&st, &want, sizeof(st));
	assert_int_equal(opener__may_read(file), 0);
	assert_int_equal(opener__may_read("/there/is/no/such"), -ENOENT);
	snprintf(path, sizeof(path), "%s/../%s", dir, dir + strlen("/tmp/"));
	real = opener__real_path(path);
	assert_string_equal(real, dir);
	free(real);
	/* The memory of this process takes more than one piece. */
	snprintf(path, sizeof(path), "/proc/%d/mem", getpid());
	assert_int_equal(opener__read_path(path, (u64)large, got, sizeof(large)), sizeof(large));
	assert_memory_equal(got, large, sizeof(large));
	free(got);
}

/* If a child does not answer, it and its place are given up, and another child answers about other places. */
static void silent(void **state)
{
	pid_t first = opener__pid(), second;
	int fd;

	(void)state;
	assert_true(first > 0);
	assert_int_equal(kill(first, SIGSTOP), 0);
	assert_int_equal(opener__open_path(file, NULL), -ETIME);
	second = opener__pid();
	assert_true(second > 0 && second != first);
	assert_int_equal(kill(second, SIGSTOP), 0);
	assert_int_equal(opener__open_path(file, NULL), -ETIME);
	assert_int_equal(kill(second, SIGCONT), 0);
	assert_int_equal(opener__pid(), second);
	fd = opener__open_path(other, NULL);
	assert_true(fd >= 0);
	close(fd);
}

/* A place is a directory, except that each mapping of a process is a place, since their file systems differ. */
static void places(void **state)
{
	(void)state;
	assert_true(opener__place(0, "/a/b") == opener__place(0, "/a/c"));
	assert_true(opener__place(0, "/a/b") != opener__place(0, "/b/b"));
	assert_true(opener__place(0, "/a/b") != opener__place(1, "/a/b"));
	assert_true(opener__place(0, "/proc/1/map_files/1-2") != opener__place(0, "/proc/1/map_files/2-3"));
}

/* The answers of statfs(2) and stat(2) for a mount. */
static void space(void **state)
{
	struct opener_space found;
	struct statfs fs;
	struct stat st;

	(void)state;
	assert_int_equal(statfs("/", &fs), 0);
	assert_int_equal(stat("/", &st), 0);
	assert_int_equal(opener__space("/", &found), 0);
	assert_int_equal(found.fs.f_type, fs.f_type);
	assert_int_equal(found.fs.f_blocks, fs.f_blocks);
	assert_int_equal(found.device, st.st_dev);
	assert_int_equal(opener__space("/no/such/mount", &found), -ENOENT);
}

/* A signal ends the wait. */
static void interrupted(void **state)
{
	sigset_t set, old;
	int taken;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &old), 0);
	assert_int_equal(kill(opener__pid(), SIGSTOP), 0);
	assert_int_equal(raise(SIGINT), 0);
	assert_int_equal(opener__open_path(other, NULL), -EINTR);
	assert_int_equal(sigwait(&set, &taken), 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	opener__end();
	while (waitpid(-1, NULL, WNOHANG) >= 0)
		;               /* a child that took long to die */
	assert_int_equal(errno, ECHILD);
}

/* If the child dies, the next request starts another. */
static void gone(void **state)
{
	pid_t pid = opener__pid();
	struct stat st;

	(void)state;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(opener__stat(other, &st), -EBADMSG);
	assert_int_equal(opener__stat(other, &st), 0);
	assert_int_not_equal(opener__pid(), pid);
	/* Tools leave out its pid, so no other process may get it. */
	assert_int_equal(kill(pid, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opened),
		cmocka_unit_test(refused),
		cmocka_unit_test(looked_at),
		cmocka_unit_test(silent),
		cmocka_unit_test(places),
		cmocka_unit_test(space),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(gone),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
