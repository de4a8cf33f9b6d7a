/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scope of a run: converts options to the constants and sets that bpf/lib/scope.bpf.h tests. Call
 * scope__resolve() before the object is loaded (its result becomes rodata), scope__prepare() on the
 * opened object, scope__fill() after loading.
 */
#ifndef TALLY_HOST_SCOPE_H
#define TALLY_HOST_SCOPE_H

#include <bpf/libbpf.h>

#include "base/types.h"

#include "bpf/lib/scope.h"

/* The requested scope. Members are NULL, 0 or false if not requested. */
struct scope_options {
	u32 *pids;
	size_t npids;
	u32 *tids;
	size_t ntids;
	const char *user;       /* name or number */
	const char *cgroup;     /* path or name */
	const char *cpus;       /* list */
	const char *comm;       /* glob */
	bool pidns;             /* restricts to the pid namespace of pidns_of */
	u32 pidns_of;           /* a pid; 0 for our own */
	bool all;               /* -a */
	bool follow;            /* includes children that the -p processes create during the run */
	bool command_alone;     /* without the children of the command */
	u32 command_pid;        /* process of the command; 0 if none */
	u32 command_apart;      /* process of a command that only determines the duration; 0 if none */
	bool command_joins_at_exec;     /* until its exec, the command is a child of the tracer */
};

/*
 * Checks that every named object exists and fills in *config. Reports errors. Returns 0, -EINVAL for invalid text,
 * -ESRCH or -ENOENT if an object does not exist, or another negative errno.
 */
int scope__resolve(struct scope_config *config, const struct scope_options *options);

/* Sizes the sets and disables programs that this scope does not need. */
int scope__prepare(struct bpf_object *obj, const struct scope_config *config,
		   const struct scope_options *options);

/* Fills the sets and passes the tracer's own ids to the programs. Must be called before anything is attached. */
int scope__fill(const struct bpf_object *obj, const struct scope_options *options);

/* Whether events on this CPU are in scope (-C). */
bool scope__has_cpu(const struct scope_config *config, int cpu);

void scope_options__free(struct scope_options *options);

/*
 * Compiles a shell glob (*, ?, [set], [!set], backslash quotes the next) into the automaton of
 * bpf/lib/scope.h. Returns 0, -EINVAL (unclosed set) or -E2BIG (more than SCOPE_GLOB_MAX elements).
 */
int scope_glob__compile(struct scope_glob *glob, const char *pattern);

/* Matches like the BPF side. For tests, and for lists that are filtered in user space. */
bool scope_glob__matches(const struct scope_glob *glob, const char *text);

#endif /* TALLY_HOST_SCOPE_H */
