/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The course of a run that all measuring tools share: signals, the command, intervals, reports.
 *
 *   run__init()       host, rights, output, signals; forks the command, which waits
 *   ... the tool resolves its scope (run.scope), loads and attaches, says run__attached() ...
 *   run__loop()       lets the command go and calls report() at the end of each interval
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
#include "out/heat.h"
#include "out/report.h"
#include "base/types.h"

/* The exit status of every tool. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LOST = 3,          /* --strict, and something was lost */
	EXIT_UNABLE = 4,        /* this kernel cannot do it, or this user may not */
};

struct run {
	const char *tool;
	struct cli *cli;
	struct host host;
	struct writer writer;
	struct listen *listen;  /* --listen, or NULL */
	struct heat *heat;      /* --heat: takes the reports; NULL: they are written */
	struct scope_config scope;
	struct command command;
	u64 began_ns, start_ns; /* the interval that goes on: CLOCK_MONOTONIC, CLOCK_REALTIME */
	bool has_reported;
	int signal_fd;
	struct command_setting setting;
	bool lost;              /* some report had losses */
	bool measuring;         /* what goes wrong from here on is no wrong command line */
	bool usage;             /* except this */
	int unwritten;          /* run__release(): what has gone wrong with the reports */
	bool interrupted;       /* by a signal: the last report has been made */
	struct overhead overhead;       /* --overhead */
	double over_budget;     /* --budget: the share that ended the run; 0: none did */
	/* The gate and the hooks of the programs, to stop them with; NULL: they cannot be. */
	volatile u32 *armed;
	struct bpf_object_skeleton *skeleton;
	bool hold; /* report() is called as ever, but what it fills in is not written */

	/* Fills in what happened since the last call (or since the run began). Set by the tool. */
	int (*report)(struct run *run, struct report *r);
	/*
	 * Called whenever watch_fd (a ring buffer's; -1: none) can be read, and before each report.
	 * Returns 0, 1 to end the run with a last report, or a negative errno.
	 */
	int (*watch)(struct run *run);
	int watch_fd;
	void *context;          /* the tool's own */
};

int run__init(struct run *run, const char *tool, struct cli *cli);

/*
 * The scope of the run in an object: written into its constant and its sets sized, between open and
 * load; the sets filled once it is loaded, with what -v says of the memory that its maps take. 0 or
 * a negative errno.
 */
int run__set_scope(const struct run *run, struct bpf_object *obj,
		   const volatile struct scope_config *scope);
int run__fill_scope(const struct run *run, const struct bpf_object *obj);

/*
 * Loads what was opened. Not enough open files are an answer of their own (-EMFILE, which has been
 * said): libbpf, which asks the kernel what it can do by opening some, takes that for a no.
 */
int run__load(struct bpf_object_skeleton *skeleton);

/* Prints what -v says of a loaded object: its maps and the memory they take now and at most. */
void run__describe_memory(const struct run *run, const struct bpf_object *obj);

int run__loop(struct run *run);

/* Starts the command once more, for another run__loop(); the scope is about the new process. */
int run__again(struct run *run);

/* Writes a report that the tool has made by itself; only what it has set is in it. */
int MUST_CHECK run__write(struct run *run, const struct report *r);
void run__release(struct run *run);

/* After run__release(): what to exit with after err, from any of these functions or from libbpf. */
int run__exit_code(const struct run *run, int err);

#endif /* TALLY_RUN_RUN_H */
