// SPDX-License-Identifier: BSD-2-Clause
/*
 * execs chain N: executes itself N times, one after the other. ready, done
 * execs threads N: the same, each time from a new thread, which becomes the process.
 * execs fail: makes execs that fail, in the order of the array below. ready, done -RESULT...
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "trigger.h"

#define MANY 100
#define LONG 5000

static char *self, *left;
static bool by_thread;

static void *execute(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", self, by_thread ? "threads" : "chain", left, "on", NULL);
	error(1, errno, "exec");
	return NULL;
}

static void next(void)
{
	pthread_t thread;

	if (!by_thread)
		execute(NULL);
	if (pthread_create(&thread, NULL, execute, NULL))
		error(1, errno, "pthread_create");
	pthread_join(thread, NULL);
}

static void chain(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 2);
	char text[24];

	self = argv[0];
	left = text;
	by_thread = !strcmp(argv[1], "threads");
	if (argc == 3) {
		trigger__name();
		trigger__say("ready");
		trigger__wait();
	}
	snprintf(text, sizeof(text), "%ld", n - 1);
	if (n)
		next();
	trigger__say("done");
	trigger__end();
}

static void *page(void)
{
	void *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (p == MAP_FAILED)
		error(1, errno, "mmap");
	return p;
}

static long execute_32(const char *path, char **argv)
{
	uint32_t *pointers = page();
	char *texts = page();
	int i;

	path = strcpy(texts, path);
	for (i = 0; argv[i]; i++) {
		texts += strlen(texts) + 1;
		pointers[i] = (uint32_t)(uintptr_t)strcpy(texts, argv[i]);
	}
	return -trigger__call_32(11, (long)path, (long)pointers, 0, 0, 0);
}

static long execute_at(int fd, const char *path, char **argv)
{
	syscall(SYS_execveat, fd, path, argv, NULL, 0);
	return errno;
}

/* path and argv may be invalid pointers. */
static long execute_native(const char *path, char **argv)
{
	syscall(SYS_execve, path, argv, NULL);
	return errno;
}

static void fail(void)
{
	char *none[] = { NULL }, *two[] = { "a", "b c", NULL };
	char *odd[] = { "", "it's", "\x1b[1m\\", NULL };
	char *many[MANY + 1] = {}, *wild[] = { "a", (char *)8, NULL }, lengthy[LONG + 1] = "";
	char *one[] = { "x", lengthy, "y", NULL };
	int i, fd = open("/proc", O_RDONLY | O_DIRECTORY);

	memset(lengthy, 'l', LONG);
	for (i = 0; i < MANY; i++)
		many[i] = "m";
	trigger__prepare_32();
	trigger__say("ready");
	trigger__wait();
	printf("done");
	printf(" %ld", execute_native("/nonexistent/a", two));
	printf(" %ld", execute_native("/proc", odd));
	printf(" %ld", execute_native("/nonexistent/none", none));
	printf(" %ld", execute_native("/nonexistent/null", NULL));
	printf(" %ld", execute_native("/nonexistent/wild", wild));
	printf(" %ld", execute_native("/nonexistent/many", many));
	printf(" %ld", execute_native("/nonexistent/long", one));
	printf(" %ld", execute_native((char *)8, two));
	printf(" %ld", execute_native("", two));
	printf(" %ld", execute_at(fd, "nonexistent", two));
	printf(" %ld", execute_32("/nonexistent/32", two));
	trigger__say("%s", "");
	trigger__end();
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "fail"))
		fail();
	chain(argc, argv);
}
