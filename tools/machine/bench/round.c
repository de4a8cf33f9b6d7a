// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/diag.h"

static void add_up(struct round *round, const struct crew *crew)
{
	u64 begin = UINT64_MAX, end = 0;
	u32 i;

	*round = (struct round){};
	for (i = 0; i < crew->n; i++) {
		const struct crew_task *t = &crew->task[i];

		begin = t->begin_ns < begin ? t->begin_ns : begin;
		end = t->end_ns > end ? t->end_ns : end;
		round->operations += t->operations;
		round->user_ns += t->user_ns;
		round->system_ns += t->system_ns;
		round->switches += t->switches;
	}
	round->elapsed_ns = end > begin ? end - begin : 1;
}

static int say_failure(const struct load *load, const struct crew *crew)
{
	diag_error("%s: %s%s%s", load->name, crew->failed ?: "its processes were killed",
		   crew->error ? ": " : "", crew->error ? strerror(crew->error) : "");
	return -EIO;
}

static int check(const struct load_run *run, const struct round *round)
{
	u64 wanted = run->loops * run->load->operations(run->o);

	if (round->operations == wanted)
		return 0;
	diag_error("%s: %llu operations done, expected %llu", run->load->name,
		   round->operations, wanted);
	return -EIO;
}

int round__run(struct round *round, const struct load *load, const struct load_options *o,
	       u64 loops, const struct child_signals *signals)
{
	struct load_run run = {
		.load = load, .o = o, .loops = loops,
		.crew = crew__new(load->name, load->tasks(o)),
	};
	struct child child;
	bool interrupted;
	int err, failed;

	if (!run.crew)
		return -ENOMEM;
	err = child__start(&child, signals, SIGKILL);
	if (!err) {
		load__run(&run);
		_exit(EXIT_SUCCESS);
	}
	if (err > 0) {
		interrupted = child__await(&child, signals, -1, UINT64_MAX) == CHILD_SIGNAL;
		failed = child__end(&child);
		err = interrupted ? -EINTR : failed ? say_failure(load, run.crew) : 0;
	} else {
		diag_error("cannot start the load: %s", strerror(-err));
	}
	if (!err) {
		add_up(round, run.crew);
		err = check(&run, round);
	}
	crew__free(run.crew);
	return err;
}

int round__find_loops(u64 *loops, u64 target_ns, const struct load *load,
		      const struct load_options *o, const struct child_signals *signals)
{
	struct round round;
	double more;
	u64 n = 1;
	int err;

	for (;;) {
		err = round__run(&round, load, o, n, signals);
		if (err)
			return err;
		more = (double)target_ns / round.elapsed_ns;
		if (more < 2 || n > UINT64_MAX >> 24)
			break;
		/* Short runs are dominated by their start-up, so the number grows step by step. */
		n *= more > 100 ? 50 : more;
	}
	*loops = n * more < 1 ? 1 : n * more;
	return 0;
}
