// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define STACK_BYTES (256 << 10)

struct job {
	struct crew *crew;
	u64 (*work)(void *context, u32 task);
	void *context;
	u32 task;
	bool threads;
	pthread_t thread;
};

struct crew *crew__new(const char *name, u32 n)
{
	size_t bytes = sizeof(struct crew) + n * sizeof(struct crew_task);
	pthread_barrierattr_t attr;
	struct crew *crew;

	crew = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew == MAP_FAILED)
		return NULL;
	crew->bytes = bytes;
	crew->name = name;
	crew->n = n;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&crew->ready, &attr, n);
	pthread_barrierattr_destroy(&attr);
	return crew;
}

/* Tasks may have been killed at the barrier, so it is not destroyed but freed with its memory. */
void crew__free(struct crew *crew)
{
	if (crew)
		munmap(crew, crew->bytes);
}

_Noreturn void crew__fail(struct crew *crew, const char *what, int error)
{
	if (__sync_bool_compare_and_swap(&crew->failed, NULL, what))
		crew->error = error;
	_exit(EXIT_FAILURE);
}

static u64 timeval_ns(const struct timeval *t)
{
	return t->tv_sec * NSEC_PER_SEC + t->tv_usec * NSEC_PER_USEC;
}

/* Adds the resource usage of `who` so far, multiplied by sign. */
static void add_usage(struct crew_task *t, int who, int sign)
{
	struct rusage usage;

	getrusage(who, &usage);
	t->user_ns += sign * timeval_ns(&usage.ru_utime);
	t->system_ns += sign * timeval_ns(&usage.ru_stime);
	t->switches += sign * (usage.ru_nvcsw + usage.ru_nivcsw);
}

static void count_usage(const struct job *job, struct crew_task *t, int sign)
{
	add_usage(t, RUSAGE_THREAD, sign);
	if (!job->threads)              /* for threads, it would cover the whole process */
		add_usage(t, RUSAGE_CHILDREN, sign);
}

static void *do_job(void *arg)
{
	struct job *job = arg;
	struct crew_task t = {};

	prctl(PR_SET_NAME, job->crew->name);
	pthread_barrier_wait(&job->crew->ready);
	count_usage(job, &t, -1);
	t.begin_ns = monotonic_ns();
	t.operations = job->work(job->context, job->task);
	t.end_ns = monotonic_ns();
	count_usage(job, &t, 1);
	job->crew->task[job->task] = t;
	return NULL;
}

static void run_threads(struct job *jobs, u32 n)
{
	pthread_attr_t attr;
	int err;
	u32 i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (i = 0; i < n; i++) {
		err = pthread_create(&jobs[i].thread, &attr, do_job, &jobs[i]);
		if (err)
			crew__fail(jobs[i].crew, "cannot create one thread per task", err);
	}
	for (i = 0; i < n; i++)
		pthread_join(jobs[i].thread, NULL);
}

static void run_processes(struct job *jobs, u32 n)
{
	pid_t parent = getpid(), pid;
	int status;
	u32 i;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (pid < 0)
			crew__fail(jobs[i].crew, "cannot create one process per task", errno);
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_FAILURE);
		do_job(&jobs[i]);
		_exit(EXIT_SUCCESS);
	}
	for (i = 0; i < n; i++)
		if (wait(&status) < 0 || status)
			crew__fail(jobs->crew, "a task was killed", 0);
}

void crew__run(struct crew *crew, bool threads, u64 (*work)(void *context, u32 task), void *context)
{
	struct job *jobs = calloc(crew->n, sizeof(*jobs));
	u32 i;

	if (!jobs)
		crew__fail(crew, "cannot create the tasks", ENOMEM);
	for (i = 0; i < crew->n; i++)
		jobs[i] = (struct job){
			.crew = crew, .work = work, .context = context, .task = i,
			.threads = threads,
		};
	if (threads)
		run_threads(jobs, crew->n);
	else
		run_processes(jobs, crew->n);
	free(jobs);
}
