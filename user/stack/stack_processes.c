// SPDX-License-Identifier: BSD-2-Clause
#include "stack/stack_processes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "agg/variable.h"
#include "base/clock.h"
#include "host/process.h"
#include "report/diag.h"
#include "types/command_programs.h"
#include "types/program_files.h"

/* Ignores most errors: a process that has exited gets no names. */
static int see(void *ctx, void *data, size_t size)
{
	struct stacks *s = ctx;
	const struct stack_process *p = data;
	int err;

	if (size < sizeof(*p) || !p->pid)
		return 0;
	if (s->unwind)
		err = unwinder__see(&s->unwinder, p->pid);
	else
		err = symbols__see_again(s->names.symbols, p->pid, s->told.n && !s->told.lost);
	if (err != -ENOMEM)
		err = python__see(&s->interpreters, p->pid);
	return err == -ENOMEM ? err : 0;
}

/* Reads records first, since the data of live processes, read next, overrides them. */
int stacks__watch(struct stacks *s)
{
	int n = told__read(&s->told, s->names.symbols);

	if (!n)
		n = ring_buffer__consume(s->processes);
	if (n >= 0 && s->unwind)
		n = unwinder__work(&s->unwinder);
	if (n >= 0)
		n = python__read(&s->interpreters);
	return n < 0 ? n : 0;
}

static int watch_all(struct stacks *s)
{
	struct epoll_event event = { .events = EPOLLIN };

	s->watch_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->watch_fd < 0 ||
	    epoll_ctl(s->watch_fd, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->processes), &event) ||
	    (s->told.epoll_fd >= 0 &&
	     epoll_ctl(s->watch_fd, EPOLL_CTL_ADD, s->told.epoll_fd, &event)) ||
	    (s->python && epoll_ctl(s->watch_fd, EPOLL_CTL_ADD, python__epoll_fd(&s->interpreters), &event)) ||
	    (s->unwind && epoll_ctl(s->watch_fd, EPOLL_CTL_ADD, s->unwinder.epoll_fd, &event)))
		return -errno;
	return 0;
}

/* Limit on the delay of a system-wide run to load tables. */
#define HEAD_START_NS (60 * NSEC_PER_MSEC)

/* Loads the tables of the busiest processes now and others during the run, or all tables now if requested. */
static int see_all(struct stacks *s)
{
	int err;

	if (s->unwinds_all)
		return unwinder__see_all(&s->unwinder);
	err = unwinder__sweep_all(&s->unwinder);
	return err ?: unwinder__finish(&s->unwinder, monotonic_ns() + HEAD_START_NS);
}

static int see_now(struct stacks *s, u32 pid)
{
	int err = s->unwind ? unwinder__see(&s->unwinder, pid) : symbols__see(s->names.symbols, pid);

	return err == -ENOMEM ? err : python__see(&s->interpreters, pid);
}

static int see_pids(struct stacks *s, const struct scope_options *scope)
{
	size_t i;
	int err = 0;

	for (i = 0; i < scope->npids && err != -ENOMEM; i++)
		err = see_now(s, scope->pids[i]);
	return err == -ENOMEM ? err : 0;
}

static int see_wanted(void *stacks, u32 pid, const char *name)
{
	struct stacks *s = stacks;

	(void)name;
	return told__wants(&s->told, pid) && see_now(s, pid) == -ENOMEM ? -ENOMEM : 0;
}

/* Limits on the delay of a command: to find the files that it will map, and to load their tables. */
#define FIND_FILES_NS NSEC_PER_SEC
#define COMMAND_START_NS (5 * NSEC_PER_SEC)

static int expect_file(void *stacks, const struct program_file *file)
{
	struct stacks *s = stacks;
	int err = unwinder__expect(&s->unwinder, file->fd, &file->st);

	/* Read tables while the search for files continues. */
	return err ?: unwinder__work(&s->unwinder);
}

struct expecting {
	struct stacks *stacks;
	u64 end_ns;
};

static int expect_program(void *expecting, const char *path)
{
	struct expecting *e = expecting;

	return monotonic_ns() < e->end_ns ? program_files__each(path, e->end_ns, expect_file, e->stacks) : 1;
}

/* Loads tables in advance, since a short command, and the programs it starts, may end before their files are read. */
static int expect_command(struct stacks *s, const struct measurement *m)
{
	char **command = m->run->cli->command;
	u64 now = monotonic_ns();
	struct expecting e = { s, now + FIND_FILES_NS };
	int err;

	if (!command || !(m->cli->scope.command_pid || m->cli->scope.all))
		return 0;
	err = command_programs__each(command, expect_program, &e);
	return err ?: unwinder__finish(&s->unwinder, now + COMMAND_START_NS);
}

/* Sees the running processes in scope. Records report later ones. */
static int see_processes(struct stacks *s, const struct scope_options *scope)
{
	int err = 0;

	if (s->told.names) {
		err = processes__visit(see_wanted, s);
		return err == -ENOMEM ? err : unwinder__finish(&s->unwinder, UINT64_MAX);
	}
	if (scope->all || (!scope->npids && !scope->command_pid))
		return see_all(s);
	unwinder__follow(&s->unwinder, scope->command_pid);
	/* The child still runs this program, whose libraries the command will share. */
	if (scope->command_pid)
		err = unwinder__see(&s->unwinder, scope->command_pid);
	if (err != -ENOMEM)
		err = see_pids(s, scope);
	return err == -ENOMEM ? err : unwinder__finish(&s->unwinder, UINT64_MAX);
}

static int want_named(void *stacks, u32 pid, const char *name)
{
	struct stacks *s = stacks;

	if (scope_glob__matches(s->told.names, name) || process_has_thread_named(pid, s->told.names))
		return told__want(&s->told, pid);
	return 0;
}

/* Wants only matching programs: loading the tables of every new program would cost far more than their stacks. */
static int want_names(struct stacks *s, const char *pattern)
{
	struct scope_glob names;
	int err = scope_glob__compile(&names, pattern);

	if (!err)
		err = told__want_names(&s->told, &names);
	if (!err)
		err = processes__visit(want_named, s);
	return err == -ENOMEM ? err : 0;
}

/* Restricts the records to processes in scope. */
static int want_processes(struct stacks *s, const struct scope_options *scope)
{
	size_t i;
	int err = 0;

	if (scope->comm && s->unwind && !scope->ntids && !scope->npids && !scope->command_pid)
		return want_names(s, scope->comm);
	if (scope->ntids || (!scope->npids && !scope->command_pid))
		return 0;
	for (i = 0; i < scope->npids && !err; i++)
		err = told__want(&s->told, scope->pids[i]);
	if (!err && scope->command_pid)
		err = told__want(&s->told, scope->command_pid);
	s->told.with_children = scope->command_pid || scope->follow;
	return err;
}

static int begin_told(struct stacks *s, const struct measurement *m)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(s->obj, "stack_on_mapping");
	int err = told__open(&s->told, s->unwind ? &s->unwinder : NULL);

	if (!err)
		err = want_processes(s, &m->cli->scope);
	if (err)
		return err;
	if (m->run->host.initial_pidns)
		s->told.codes = object_variable(s->obj, ".bss", "stack_codes");
	s->mappings = bpf_program__attach(prog);
	if (!s->mappings)
		diag_detail("no tracepoint for new mappings (vm_unmapped_area): %s", strerror(errno));
	return 0;
}

static int begin_unwinding(struct stacks *s, const struct measurement *m)
{
	int err = unwinder__begin(&s->unwinder, s->obj, s->names.symbols);

	/* Open the rings first, so that no process is missed in between. */
	if (!err)
		err = begin_told(s, m);
	if (!err)
		err = expect_command(s, m);
	return err ?: see_processes(s, &m->cli->scope);
}

int stack_processes__begin(struct stacks *s, const struct measurement *m)
{
	int fd = bpf_object__find_map_fd_by_name(s->obj, "stack_processes"), err = 0;

	if (fd < 0)
		return -ENOENT;
	s->processes = ring_buffer__new(fd, see, s, NULL);
	if (!s->processes)
		return -errno;
	s->told.epoll_fd = -1;
	if (s->unwind)
		err = begin_unwinding(s, m);
	else if (s->user)
		err = begin_told(s, m);
	/* Children inherit their parent's code, and the parent may have exited when its fork is reported. */
	if (!err && s->user && !s->unwind)
		err = see_pids(s, &m->cli->scope);
	return err ?: watch_all(s);
}
