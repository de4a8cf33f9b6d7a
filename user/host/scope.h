/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scope of a run: from what the options name to the constants and sets that
 * bpf/lib/scope.bpf.h tests. Order: scope__resolve() before the programs are loaded (its result goes
 * into their rodata), scope__prepare() on the opened object, scope__fill() after loading.
 */
#ifndef TALLY_HOST_SCOPE_H
#define TALLY_HOST_SCOPE_H

#include <bpf/libbpf.h>

#include "base/types.h"

#include "bpf/lib/scope.h"

/* What was asked for; NULL, 0 or false where nothing was. */
struct scope_options {
	u32 *pids;
	size_t npids;
	u32 *tids;
	size_t ntids;
	const char *user;       /* name or number */
	const char *cgroup;     /* path or name */
	const char *cpus;       /* list */
	const char *comm;       /* glob */
	bool pidns;             /* only the pid namespace of pidns_of */
	u32 pidns_of;           /* a pid; 0: our own */
	bool all;               /* -a */
	bool follow;            /* the children that -p's processes make during the run, too */
	u32 command_pid;        /* the process that runs the command; 0: none */
	bool command_joins_at_exec;     /* not before: what runs until then is the tracer's child */
};

/*
 * Checks that what is named exists and makes *config of it. Says what is wrong. Returns 0, or a
 * negative errno: -EINVAL for text that means nothing, -ESRCH, -ENOENT for what is not there.
 */
int scope__resolve(struct scope_config *config, const struct scope_options *options);

/* Sizes the sets and leaves out the programs that this scope does not need. */
int scope__prepare(struct bpf_object *obj, const struct scope_config *config,
		   const struct scope_options *options);

/* Puts the members into the sets, before anything is attached. Nothing to do without any. */
int scope__fill(const struct bpf_object *obj, const struct scope_options *options);

/* Are events on this CPU in scope (-C)? */
bool scope__has_cpu(const struct scope_config *config, int cpu);

void scope_options__free(struct scope_options *options);

/*
 * Compiles a shell glob (*, ?, [set], [!set], backslash quotes the next) into the automaton of
 * bpf/lib/scope.h. Returns 0, -EINVAL (unclosed set) or -E2BIG (more than SCOPE_GLOB_MAX elements).
 */
int scope_glob__compile(struct scope_glob *glob, const char *pattern);

/* The same steps as the kernel side takes; for tests and for lists that are filtered here. */
bool scope_glob__matches(const struct scope_glob *glob, const char *text);

#endif /* TALLY_HOST_SCOPE_H */
