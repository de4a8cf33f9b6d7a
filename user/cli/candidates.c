// SPDX-License-Identifier: BSD-2-Clause
/* Candidates from this machine: processes, cgroups, system calls, names of errors and signals. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/complete.h"
#include "host/cgroup.h"
#include "host/errno_name.h"
#include "host/process.h"
#include "host/signal_name.h"
#include "host/syscall_set.h"

void complete_files(struct completion *c)
{
	completion__leave(c, "files");
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

struct found {
	struct one {
		u32 pid;
		char name[PROCESS_NAME_SPACE];
	} *process;
	size_t n;
};

static int find(void *context, u32 pid, const char *name)
{
	struct found *f = context;
	struct one *new = ARRAY_ADD(f->process, f->n);

	if (!new)
		return -ENOMEM;
	new->pid = pid;
	snprintf(new->name, PROCESS_NAME_SPACE, "%s", name);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return strcmp(x->name, y->name) ?: x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Finds the processes, sorted by name and then by pid. The list is incomplete if memory runs out. */
static void find_processes(struct found *f)
{
	*f = (struct found){};
	(void)processes__visit(find, f);
	if (f->n)
		qsort(f->process, f->n, sizeof(*f->process), compare);
}

static void add_pids(struct completion *c, const struct found *f)
{
	char pid[16];
	size_t i;

	for (i = 0; i < f->n; i++) {
		snprintf(pid, sizeof(pid), "%u", f->process[i].pid);
		completion__add(c, pid, f->process[i].name);
	}
}

/* alphabetic: adds only names that begin with a letter, as -p requires. */
static void add_names(struct completion *c, const struct found *f, bool alphabetic)
{
	const char *name;
	char help[32];
	size_t i, same;

	for (i = 0; i < f->n; i += same) {
		name = f->process[i].name;
		for (same = 1; i + same < f->n && !strcmp(f->process[i + same].name, name);)
			same++;
		if (alphabetic && !begins_process_name(name))
			continue;
		if (same == 1)
			snprintf(help, sizeof(help), "process %u", f->process[i].pid);
		else
			snprintf(help, sizeof(help), "%zu processes", same);
		completion__add(c, name, help);
	}
}

void complete_processes(struct completion *c)
{
	struct found f;

	find_processes(&f);
	add_names(c, &f, true);
	add_pids(c, &f);
	free(f.process);
}

void complete_pids(struct completion *c)
{
	struct found f;

	find_processes(&f);
	add_pids(c, &f);
	free(f.process);
}

void complete_task_names(struct completion *c)
{
	struct found f;

	find_processes(&f);
	add_names(c, &f, false);
	free(f.process);
}

/*
 * --- cgroups -----------------------------------------------------------------------------------
 */

/* The user may type the leading slash or omit it. */
static int add_cgroup(void *context, const char *name)
{
	struct completion *c = context;

	completion__add(c, name + (*c->typed && *c->typed != '/'), "");
	return 0;
}

static bool is_below_mount(const char *typed, enum scope_hierarchy hierarchy)
{
	char *mount = cgroup__mount(hierarchy);
	bool is = mount && !strncmp(typed, mount, strlen(mount));

	free(mount);
	return is;
}

/* -G also takes a directory below the mount point. The shell completes directories. */
void complete_cgroups(struct completion *c)
{
	if (is_below_mount(c->typed, cgroup__default_hierarchy()) || is_below_mount(c->typed, SCOPE_CGROUP_V2))
		completion__leave(c, "files");
	else
		(void)cgroups__visit(c->typed, add_cgroup, c);
}

/*
 * --- errors, signals, system calls -------------------------------------------------------------
 */

void complete_errors(struct completion *c)
{
	const char *name;
	int i;

	for (i = 1; i <= MOST_ERRNO; i++) {
		name = errno_name(i);
		if (name)
			completion__add(c, name, strerrordesc_np(i) ?: "");
	}
}

/* Adds "SIGTERM" if "SIG" is typed, otherwise "TERM". */
void complete_signals(struct completion *c)
{
	size_t skip = strncmp(c->typed, "SIG", 3) ? 3 : 0;
	char name[SIGNAL_NAME_SPACE];
	int i;

	for (i = 1; i <= SIGNALS; i++)
		if (isalpha((unsigned char)*signal_name(name, i)))
			completion__add(c, name + skip, sigdescr_np(i) ?: "");
}

void complete_syscalls(struct completion *c)
{
	const char *name;
	char text[32];
	size_t i;
	u32 number;

	for (i = 0; (name = syscall_class_name(i)); i++) {
		snprintf(text, sizeof(text), "%%%s", name);
		completion__add(c, text, "class of system calls");
	}
	for (number = 0; number < SYSCALL_NUMBERS; number++) {
		name = syscall_name(SYSCALL_NATIVE, number);
		if (name)
			completion__add(c, name, "");
	}
}
