// SPDX-License-Identifier: BSD-2-Clause
#include "memory/fault_events.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/memory/faults.h"

static int read_taken(const struct fault_events *e, const struct measurement *m,
		      u64 taken[FAULT_EVENTS])
{
	struct faults_taken *each = calloc(m->run->host.cpus_possible, sizeof(*each));
	int err = each ? 0 : -ENOMEM, cpu;
	u32 zero = 0;

	if (!err && bpf_map_lookup_elem(e->taken_fd, &zero, each))
		err = -errno;
	taken[0] = taken[1] = 0;
	for (cpu = 0; !err && cpu < m->run->host.cpus_possible; cpu++) {
		taken[0] += each[cpu].n[0];
		taken[1] += each[cpu].n[1];
	}
	free(each);
	return err;
}

int fault_events__start(struct fault_events *e, const struct measurement *m,
			const struct bpf_program *const program[FAULT_EVENTS], int taken_fd)
{
	static const char *const names[FAULT_EVENTS] = { "minor-faults", "major-faults" };
	int err = 0, i;

	e->taken_fd = taken_fd;
	for (i = e->only_major; i < FAULT_EVENTS && !err; i++) {
		e->event[i].every = 1;
		err = sampled_event__find(&e->event[i], names[i], 0);
		if (!err)
			err = sampled_event__start(&e->event[i], bpf_program__fd(program[i]), &m->scope);
	}
	/* Reads the programs' counts first, so that the number of missed events is never too high. */
	if (!err)
		err = read_taken(e, m, e->taken);
	for (i = 0; i < FAULT_EVENTS && !err; i++)
		err = sampled_event__count(&e->event[i], &e->counted[i]);
	return err;
}

int fault_events__missed(struct fault_events *e, const struct measurement *m, u64 *missed)
{
	u64 counted[FAULT_EVENTS], taken[FAULT_EVENTS];
	int err = 0, i;

	*missed = 0;
	/* Reads the kernel's count first: all these events will have reached the programs by the next read. */
	for (i = 0; i < FAULT_EVENTS && !err; i++)
		err = sampled_event__count(&e->event[i], &counted[i]);
	if (!err)
		err = read_taken(e, m, taken);
	for (i = 0; i < FAULT_EVENTS && !err; i++) {
		e->behind[i] += (s64)(counted[i] - e->counted[i]) - (s64)(taken[i] - e->taken[i]);
		e->counted[i] = counted[i];
		e->taken[i] = taken[i];
		if (e->behind[i] <= 0)
			continue;
		*missed += e->behind[i];
		e->behind[i] = 0;
	}
	return err;
}

void fault_events__free(struct fault_events *e)
{
	int i;

	for (i = 0; i < FAULT_EVENTS; i++)
		sampled_event__free(&e->event[i]);
}
