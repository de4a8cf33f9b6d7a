/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: one or more measurements (run/measurement.h) that begin and end together. What they
 * share is here: the host, the command, signals, the clock, the writer, --listen, --overhead.
 *
 *   run__init()       host, rights, output, signals; forks the command, which waits
 *   run__add()        for each measurement: its scope, its heat map
 *   ... each is loaded and attached ...
 *   run__loop()       opens all gates, lets the command go, has each report at the end of each interval
 *   run__release()
 *
 * SIGINT, SIGTERM, SIGHUP, the end of the command, of all processes of -p, of the duration or of
 * the count end the run with a last report; a second signal ends the process at once. All functions
 * say what is wrong and return 0 or a negative errno; run__exit_code() makes the exit status of
 * that.
 */
#ifndef TALLY_RUN_RUN_H
#define TALLY_RUN_RUN_H

#include <bpf/libbpf.h>

#include "run/command.h"
#include "run/listen.h"
#include "run/overhead.h"
#include "cli/options.h"
#include "host/host.h"
#include "report/report.h"
#include "base/types.h"

/* The exit status of every tool. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LOST = 3,          /* --strict, and something was lost */
	EXIT_UNABLE = 4,        /* this kernel cannot do it, or this user may not */
};

struct measurement;

#define RUN_MOST 64             /* measurements a run may hold */

struct run {
	struct cli *cli;        /* how long, where to, with which command: of a run of one its own */
	struct host host;
	struct writer writer;
	struct listen *listen;  /* --listen, or NULL */
	struct command command;
	struct command_setting setting;
	int signal_fd;
	u64 ended_ns;           /* all gates were closed: CLOCK_MONOTONIC; 0: they are open */
	bool has_reported;
	struct measurement *measurement[RUN_MOST];      /* in the order in which they report */
	size_t n;
	bool lost;              /* some report had losses */
	bool measuring;         /* errors from here on are not the command line's */
	bool usage;             /* except this one */
	int unwritten;          /* run__release(): what went wrong with writing reports */
	bool interrupted;       /* by a signal: the last report has been made */
	struct overhead overhead;       /* --overhead */
	double over_budget;     /* --budget: the share that ended the run; 0: none did */
};

int run__init(struct run *run, struct cli *cli);

/* Borrows it until run__release(). -E2BIG, without a word: there are RUN_MOST already. */
int run__add(struct run *run, struct measurement *m);

/*
 * Loads what was opened. Not enough open files are an answer of their own (-EMFILE, which has been
 * said): libbpf, which asks the kernel what it can do by opening some, takes that for a no.
 */
int run__load(struct bpf_object_skeleton *skeleton);

/* Arms all measurements and measures until the run ends. */
int run__loop(struct run *run);

/*
 * Starts the command once more, for another run__loop(); the scope is about the new process. Of runs
 * of one measurement.
 */
int run__again(struct run *run);

void run__release(struct run *run);

/* After run__release(): what to exit with after err, from any of these functions or from libbpf. */
int run__exit_code(const struct run *run, int err);

#endif /* TALLY_RUN_RUN_H */
