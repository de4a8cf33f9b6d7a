// SPDX-License-Identifier: BSD-2-Clause
/*
 * critical MS FILE: a chain of threads that is known, in processes and threads named by their part in it:
 *   first     spins for 2 MS of CPU time, then writes to a pipe
 *   second    reads it, spins for MS, sleeps for MS, and exits
 *   main      waits for second, then for a thread
 *   third     that thread: spins for MS, and exits
 *   decoy     spins all the while, and nobody waits for it
 * For "-- critical": takes no orders. Writes to FILE a line for each of first, second and third:
 *   NAME CPU BEGUN_AFTER BEGUN_BEFORE ENDED_AFTER ENDED_BEFORE SLEPT
 * all in ns: its CPU time on the path; CLOCK_MONOTONIC before and after what began and what ended its part; how long it
 * slept.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "trigger.h"

/* A moment that lies between two readings of the clock. */
struct moment {
	uint64_t after, before;
};

struct part {
	uint64_t cpu, slept;
	struct moment begun, ended;
};

static struct shared {
	struct part first, second, third;
} * shared;

static uint64_t ms;

static void must(bool ok, const char *what)
{
	if (!ok)
		error(1, errno, "%s", what);
}

static void name(const char *text)
{
	must(!prctl(PR_SET_NAME, text), "PR_SET_NAME");
}

static uint64_t cpu(void)
{
	return trigger__now(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t now(void)
{
	return trigger__now(CLOCK_MONOTONIC);
}

/* A part begins with its name: before, a child is called like its parent. Returns its CPU time until then. */
static uint64_t begin(struct part *p, const char *text)
{
	p->begun.after = now();
	name(text);
	p->begun.before = now();
	return cpu();
}

static pid_t must_fork(void)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	return pid;
}

static void run_decoy(pid_t parent)
{
	name("decoy");
	trigger__end_with(parent);
	for (;;)
		trigger__spin(1000000);
}

static void run_first(int fd)
{
	struct part *p = &shared->first;
	uint64_t before = begin(p, "first");

	trigger__spin(2 * ms);
	p->cpu = cpu() - before;
	p->ended.after = now();
	must(write(fd, "", 1) == 1, "write");
	p->ended.before = now();
}

static void run_second(int fd)
{
	struct part *p = &shared->second;
	struct timespec nap = { ms / 1000000000, ms % 1000000000 };
	uint64_t before, begun;
	char c;

	name("second");
	before = cpu();
	must(read(fd, &c, 1) == 1, "read");
	trigger__spin(ms);
	begun = now();
	must(!nanosleep(&nap, NULL), "nanosleep");
	p->slept = now() - begun;
	p->cpu = cpu() - before;
	p->ended.after = now();
}

static void *run_third(void *arg)
{
	struct part *p = &shared->third;
	uint64_t before = begin(p, "third");

	(void)arg;
	trigger__spin(ms);
	p->cpu = cpu() - before;
	p->ended.after = now();
	return NULL;
}

static void run_processes(void)
{
	pid_t first, second;
	int fd[2];

	must(!pipe(fd), "pipe");
	second = must_fork();
	if (!second) {
		run_second(fd[0]);
		_exit(0);
	}
	first = must_fork();
	if (!first) {
		run_first(fd[1]);
		_exit(0);
	}
	must(waitpid(second, NULL, 0) == second, "waitpid");
	shared->second.ended.before = now();
	shared->second.begun = shared->first.ended;
	must(waitpid(first, NULL, 0) == first, "waitpid");
}

static void run_thread(void)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run_third, NULL);
	must(!errno, "pthread_create");
	pthread_join(thread, NULL);
	shared->third.ended.before = now();
}

static void write_part(FILE *f, const char *text, const struct part *p)
{
	fprintf(f, "%s %lu %lu %lu %lu %lu %lu\n", text, p->cpu, p->begun.after, p->begun.before, p->ended.after,
		p->ended.before, p->slept);
}

int main(int argc, char **argv)
{
	pid_t self = getpid();
	FILE *f;

	ms = trigger__number(argc, argv, 1) * 1000000ULL;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	f = fopen(argv[2], "w");
	must(f, argv[2]);
	name("main");
	if (!must_fork())
		run_decoy(self);
	run_processes();
	run_thread();
	write_part(f, "first", &shared->first);
	write_part(f, "second", &shared->second);
	write_part(f, "third", &shared->third);
	must(!fclose(f), "fclose");
	return 0;
}
