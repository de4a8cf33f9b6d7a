// SPDX-License-Identifier: BSD-2-Clause
#include "run/budget.h"

#include <bpf/bpf.h>

#include "base/clock.h"
#include "report/diag.h"
#include "run/measurement.h"

static u64 program_ns(const struct measurement *m)
{
	struct bpf_program *prog;
	u64 sum = 0;

	if (!m->obj)
		return 0;
	bpf_object__for_each_program(prog, m->obj) {
		struct bpf_prog_info info = {};
		u32 size = sizeof(info);

		if (bpf_program__fd(prog) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
			sum += info.run_time_ns;
	}
	return sum;
}

/* Returns the run time of a measurement's programs since the last call. */
static u64 spend(struct measurement *m)
{
	u64 now = program_ns(m), spent = now - m->spent_ns;

	m->spent_ns = now;
	return spent;
}

/* Finds the most expensive measurement that can be stopped. NULL if it is the only one still running. */
static struct measurement *dearest(struct run *run, u64 *spent_ns)
{
	struct measurement *found = NULL;
	size_t i, open = 0;

	*spent_ns = 0;
	for (i = 0; i < run->n; i++) {
		struct measurement *m = run->measurement[i];
		u64 ns = spend(m);

		if (m->ended_ns)
			continue;
		open++;
		if (ns <= *spent_ns || !measurement__can_stop(m))
			continue;
		*spent_ns = ns;
		found = m;
	}
	return open > 1 ? found : NULL;
}

static void stop(struct measurement *m)
{
	slices__remove(m);
	measurement__disarm(m);
	m->ended_ns = monotonic_ns();
	bpf_object__detach_skeleton(m->skeleton);
}

void budget__begin(struct budget *b, struct run *run)
{
	size_t i;

	if (!run->cli->budget)
		return;
	for (i = 0; i < run->n; i++)
		spend(run->measurement[i]);
	*b = (struct budget){ overhead__program_ns(), monotonic_ns() };
}

static double share_of_machine(const struct run *run, double ns, u64 window_ns)
{
	return 100 * ns / window_ns / run->host.cpus_online;
}

bool budget__is_over(struct budget *b, struct run *run)
{
	struct budget now = { overhead__program_ns(), monotonic_ns() };
	u64 window_ns = now.time_ns - b->time_ns, spent_ns;
	/* The sum decreases if programs were unloaded: no cost. */
	double share = share_of_machine(run, (double)now.program_ns - b->program_ns, window_ns);
	struct measurement *m = dearest(run, &spent_ns);

	*b = now;
	if (share <= run->cli->budget)
		return false;
	run->lost = true;
	if (m) {
		diag_warn(
			"the programs took %.3g%% of the machine's CPU time, --budget is %g%%: '%s', which took "
			"%.3g%%, is left out from now on",
			share, run->cli->budget, m->cli->command_line ?: m->tool,
			share_of_machine(run, spent_ns, window_ns));
		stop(m);
		return false;
	}
	run->over_budget = share;
	diag_warn("the programs took %.3g%% of the machine's CPU time, --budget is %g%%: stopped",
		  share, run->cli->budget);
	return true;
}

bool budget__take_out(struct run *run)
{
	size_t i, n = 0, before = run->n;

	for (i = 0; i < before; i++) {
		struct measurement *m = run->measurement[i];

		/* If its next interval would begin at its end, its last report has been written. */
		if (!m->ended_ns || m->began_ns != m->ended_ns)
			run->measurement[n++] = m;
		else if (run->nabsent < RUN_MOST)
			run->absent[run->nabsent++] = (struct run_absent){ m->tool, m->cli->command_line };
	}
	run->n = n;
	return n < before;
}
