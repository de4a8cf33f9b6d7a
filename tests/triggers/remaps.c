// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that comes and goes. Each kind calls getppid(2) a known number of times, from functions with known names.
 *
 * remaps libraries N FILE...: opens these libraries one after the other, has each call it N times (run()), and
 *     closes it again. ready, done ADDRESS... of each run()
 * remaps fixed N FILE...: the same, but maps the code of each FILE (its first page of code, at OFFSET as in
 *     FILE:OFFSET) over that of the previous one, at one address. ready, done
 * remaps children N [PROGRAM]: N children, one after the other, call it 3 times each (child_calls()), and exit, or
 *     execute PROGRAM. ready, done
 * remaps many N FILE [named]: maps the first page of FILE N times, as code. With "named" each time by a different
 *     name (FILE and a number), which is deleted afterwards. ready, done
 * remaps storm SECONDS: maps code as often as it can, up to 30,000 pages of it. ready, done HOW-OFTEN
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

static void say_done(const unsigned long *number, int n)
{
	int i;

	printf("done");
	for (i = 0; i < n; i++)
		printf(" %lu", number[i]);
	putchar('\n');
	fflush(stdout);
}

static unsigned long call_library(const char *path, long n)
{
	void *library = dlopen(path, RTLD_NOW);
	long (*run)(long n) = library ? (long (*)(long))dlsym(library, "run") : NULL;

	if (!run)
		error(1, 0, "%s", dlerror());
	run(n);
	dlclose(library);
	return (unsigned long)run;
}

static void libraries(int argc, char **argv)
{
	unsigned long at[16];
	int i;

	for (i = 3; i < argc && i < 3 + 16; i++)
		at[i - 3] = call_library(argv[i], trigger__number(argc, argv, 2));
	say_done(at, i - 3);
}

/* FILE:OFFSET is the position of code that does not need the rest of its file. */
static void fixed(int argc, char **argv)
{
	void *at = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 3; i < argc; i++) {
		char *colon = strrchr(argv[i], ':');
		unsigned long offset = strtoul(colon + 1, NULL, 0);
		int fd;

		*colon = 0;
		fd = open(argv[i], O_RDONLY);
		if (fd < 0 || mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
				   offset & ~4095UL) != at)
			error(1, errno, "%s", argv[i]);
		close(fd);
		((long (*)(long))((char *)at + offset % 4096))(trigger__number(argc, argv, 2));
	}
	say_done(NULL, 0);
}

static __attribute__((noinline)) void child_calls(void)
{
	int i;

	for (i = 0; i < 3; i++)
		trigger__call(SYS_getppid, NULL, NULL);
}

static void children(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 2);
	pid_t pid;

	while (n--) {
		pid = fork();
		if (!pid) {
			child_calls();
			if (argc > 3)
				execl(argv[3], argv[3], NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	say_done(NULL, 0);
}

static int open_named(const char *path, int n)
{
	char *name;
	int fd;

	if (asprintf(&name, "%s%d", path, n) < 0 || link(path, name))
		error(1, errno, "link");
	fd = open(name, O_RDONLY);
	if (fd < 0 || unlink(name))
		error(1, errno, "%s", name);
	free(name);
	return fd;
}

/* Maps every second page, so that adjacent mappings are not merged. */
static void many(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 2), i;
	char *room = mmap(NULL, 8192UL * n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool named = argc > 4;
	int fd = open(argv[3], O_RDONLY);

	if (room == MAP_FAILED || fd < 0 || munmap(room, 8192UL * n))
		error(1, errno, "many");
	for (i = 0; i < n; i++) {
		int from = named ? open_named(argv[3], i) : fd;

		if (mmap(room + i * 8192, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, from,
			 0) == MAP_FAILED)
			error(1, errno, "mapping %ld", i);
		if (named)
			close(from);
	}
	say_done(NULL, 0);
}

#define STORM_PAGES 30000

static void storm(int argc, char **argv)
{
	uint64_t end = trigger__now(CLOCK_MONOTONIC) + trigger__number(argc, argv, 2) * 1000000000ULL;
	char *room = mmap(NULL, 8192UL * STORM_PAGES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY);
	unsigned long n = 0;

	if (room == MAP_FAILED || fd < 0)
		error(1, errno, "storm");
	while (trigger__now(CLOCK_MONOTONIC) < end) {
		if (mmap(room + n % STORM_PAGES * 8192, 4096, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			error(1, errno, "storm");
		n++;
	}
	close(fd);
	munmap(room, 8192UL * STORM_PAGES);
	say_done(&n, 1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(int argc, char **argv);
	} works[] = {
		{ "libraries", libraries }, { "fixed", fixed }, { "children", children },
		{ "many", many }, { "storm", storm },
	};
	size_t i;

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 0; argc > 1 && i < sizeof(works) / sizeof(*works); i++)
		if (!strcmp(argv[1], works[i].name))
			works[i].work(argc, argv);
	trigger__end();
}
