/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: one or more measurements (run/measurement.h) that begin and end together. It owns their
 * shared state: the host, the command, signals, the clock, the writer, --listen, --overhead.
 *
 *   run__init()       sets up host, rights, output and signals; forks the command, which waits
 *   run__add()        for each measurement: sets up its scope and its heat map
 *   ... each is loaded and attached ...
 *   run__loop()       opens all gates, starts the command, calls each report() at the end of each interval
 *   run__release()
 *
 * A run ends with a last report on SIGINT, SIGTERM or SIGHUP (unless reload is set), or at the end
 * of the command, of all processes of -p, of the duration or of the count. A second signal ends the
 * process at once. All functions report errors and return 0 or a negative errno; run__exit_code()
 * converts it to the exit status.
 */
#ifndef TALLY_RUN_RUN_H
#define TALLY_RUN_RUN_H

#include <bpf/libbpf.h>

#include "run/command.h"
#include "run/exit_code.h"
#include "run/listen.h"
#include "run/live.h"
#include "run/metrics.h"
#include "run/overhead.h"
#include "cli/options.h"
#include "host/host.h"
#include "report/report.h"
#include "base/types.h"

struct measurement;

#define RUN_MOST 64             /* measurements a run may hold */

struct run {
	struct cli *cli;        /* times, output, command; in a run of one, the measurement's own */
	struct host host;
	struct writer writer;
	struct listen *listen;  /* --listen, or NULL */
	struct live *live;      /* --live, or NULL */
	u32 rows;               /* of the terminal; 0 if none, or if --top is given for all */
	struct command command;
	struct command_setting setting;
	int signal_fd;
	u64 ended_ns;           /* CLOCK_MONOTONIC when all measurements had stopped; 0 while they count */
	bool has_reported;
	u64 trimmed_ns;         /* CLOCK_MONOTONIC when free memory was last returned to the kernel */
	struct measurement *measurement[RUN_MOST];      /* in report order */
	size_t n;
	bool several;           /* consists of lines (run/several.h), even if only one */
	struct run_absent absent[RUN_MOST];     /* lines that cannot be measured here */
	size_t nabsent;
	struct run_metrics metrics;     /* FORMAT_OPENMETRICS */
	void (*reload)(void *reloader); /* on SIGHUP; may change the measurements. NULL: SIGHUP ends the run */
	void *reloader;
	bool lost;              /* some report had losses */
	bool measuring;         /* it has begun: errors are no longer usage errors */
	bool usage;             /* the error is a usage error all the same */
	int unwritten;          /* error writing reports, set by run__release() */
	bool interrupted;       /* by a signal, after the last report */
	int command_status;     /* as in shells; the first nonzero one if the command ran several times (stat -r) */
	struct slices *slices;          /* NULL if nothing is sliced */
	struct overhead overhead;       /* --overhead */
	double over_budget;     /* --budget: the share that ended the run, in percent; 0 if none did */
};

int run__init(struct run *run, struct cli *cli);

/*
 * Borrows m until run__release(). Returns -E2BIG, without a message, if the run already has RUN_MOST.
 */
int run__add(struct run *run, struct measurement *m);

/* Arms all measurements, and measures until the run ends. */
int run__loop(struct run *run);

/*
 * Writes the text of all metrics if the format is FORMAT_OPENMETRICS. Call it after the reports.
 * Returns 0 or a negative errno.
 */
int run__end_metrics(struct run *run);

/* Arms a measurement that was added while the others run, and begins its first interval. */
int run__arm_late(struct measurement *m);

/*
 * Starts the command again, for another run__loop(), with the scope set to the new process. For
 * runs of one measurement only.
 */
int run__again(struct run *run);

void run__release(struct run *run);

#endif /* TALLY_RUN_RUN_H */
