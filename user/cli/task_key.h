/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --by: converts its text to the parts of bpf/lib/task_key.h, and keys to the fields of a report.
 */
#ifndef TALLY_CLI_TASK_KEY_H
#define TALLY_CLI_TASK_KEY_H

#include "agg/hist_set.h"
#include "report/report.h"
#include "base/types.h"

#include "bpf/lib/scope.h"
#include "bpf/lib/task_key.h"

/* The names of all parts, separated by commas, for messages. */
#define TASK_KEY_PARTS "pid, tid, comm, cgroup, container, unit, cpu, pidns, uid"
const char *task_key_parts(void);

/*
 * Key parts of one tool, like the disk of a request or the name of a system call. In maps they follow
 * the struct task_key, and their bits follow those of enum task_key_part.
 */
#define BY_OWN(i) (1U << (BY_PARTS + (i)))

struct own_parts {
	const char *const *name;
	u32 n;
	const char *text;       /* the names, for messages: "disk, op" */
	/*
	 * Appends the fields of the tool's own parts that are set in by to a row. own: the bytes
	 * after the struct task_key, aligned to 8. Returns 0 or -ENOMEM.
	 */
	int (*add)(void *context, const void *own, u32 by, struct report_row *row);
	void *context;
};

/*
 * Forms of a task's cgroup in reports. Programs count by cgroup (BY_CGROUP is set with each of these bits). Reports add
 * up the cgroups that have the same name (cli/key_view.h).
 */
#define BY_CGROUP_PATH (1U << 29)
#define BY_CONTAINER (1U << 30)
#define BY_UNIT (1U << 31)

/*
 * Parses pid,comm,... into bits of enum task_key_part and of own (NULL: none). Returns 0, or
 * -EINVAL with the invalid word in bad[bad_size].
 */
int task_key__parse(const char *text, const struct own_parts *own, u32 *by, char *bad,
		    size_t bad_size);

/* Number of bytes of a struct task_key up to the end of the last part in by: a multiple of 8, not 0. */
size_t task_key__size(u32 by);

struct cgroup_names;

/* Names of cgroups and users. Initialise to all zeros, except cgroups, which is owned by the measurement. */
struct task_key_names {
	struct cgroup_names *cgroups;   /* host/cgroup_names.h */
	int err;                /* -ENOMEM if a cgroup could not be named: no more fields are added */
	u32 uid;                /* last uid looked up: neighbouring keys often have the same one */
	char *user;
};

/*
 * Adds a group to the report for each key of the set, and moves the histograms from the set into the
 * report. The tool's own parts (own, or NULL) come first. Returns 0 or -ENOMEM.
 */
int task_key__report(struct report *r, struct hist_set *set, u32 by, const struct own_parts *own,
		     struct cgroup_names *cgroups);

/*
 * Appends the fields of a key to a row; existing cells also belong to the key. name: of the task, TASK_KEY_COMM_LEN
 * bytes. Returns 0 or -ENOMEM.
 */
int task_key__add_fields(struct report_row *row, const struct task_key *key, const char *name, u32 by,
			 struct task_key_names *names);
void task_key_names__free(struct task_key_names *names);

#endif /* TALLY_CLI_TASK_KEY_H */
