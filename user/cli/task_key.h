/* SPDX-License-Identifier: BSD-2-Clause */
/* --by: from its text to the parts of bpf/lib/task_key.h, and from a key to the fields of a report. */
#ifndef TALLY_CLI_TASK_KEY_H
#define TALLY_CLI_TASK_KEY_H

#include "agg/hist_set.h"
#include "report/report.h"
#include "base/types.h"

#include "bpf/lib/scope.h"
#include "bpf/lib/task_key.h"

/* "pid", "comm", ...; all of them with commas between, for messages. */
const char *task_key_parts(void);

/*
 * Parts of keys that are a tool's own: the disk of a request, the name of a system call. In maps they
 * stand behind the struct task_key. Their bits follow those of enum task_key_part.
 */
#define BY_OWN(i) (1U << (BY_PARTS + (i)))

struct own_parts {
	const char *const *name;
	u32 n;
	const char *text;       /* the names, for people: "disk, op" */
	/*
	 * Appends the fields of own parts to a row, those in by. own: what follows the struct
	 * task_key, aligned to 8 bytes. Returns 0 or -ENOMEM.
	 */
	int (*add)(void *context, const void *own, u32 by, struct report_row *row);
	void *context;
};

/*
 * Parses pid,comm,... into enum task_key_part bits, and those of own (NULL: none). Returns 0, or
 * -EINVAL with the culprit in bad[bad_size].
 */
int task_key__parse(const char *text, const struct own_parts *own, u32 *by, char *bad,
		    size_t bad_size);

/*
 * Adds a group for each key of the set to the report: the histograms move from the set into the
 * report. own (NULL: none) come first. hierarchy is that of the cgroup ids. Returns 0 or -ENOMEM.
 */
int task_key__report(struct report *r, struct hist_set *set, u32 by, const struct own_parts *own,
		     enum scope_hierarchy hierarchy);

/* Names of cgroups and users, looked up once where neighbours repeat. Zeroed at first. */
struct task_key_names {
	enum scope_hierarchy hierarchy;
	u64 cgroup;
	char *cgroup_path;
	u32 uid;
	char *user;
};

/* Appends the fields of one key to a row. name: of the task, TASK_KEY_COMM_LEN. 0 or -ENOMEM. */
int task_key__add_fields(struct report_row *row, const struct task_key *key, const char *name, u32 by,
			 struct task_key_names *names);
void task_key_names__free(struct task_key_names *names);

#endif /* TALLY_CLI_TASK_KEY_H */
