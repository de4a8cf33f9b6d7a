/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tool is, and one use of it.
 *
 *   struct tool_spec     what a tool is: constant, its hooks and its command line
 *   struct measurement   one instance of it with its options and its programs
 *   struct run           one or more measurements that begin and end together (run/run.h)
 *
 * `runqlat` is a run of one measurement, `tally run 'runqlat' 'biolatency'` one of two. A measurement
 * keeps its state in m->own: nothing of it is global, so a run may hold the same tool twice.
 *
 * The hooks of a measurement, in order; all may be NULL but report() of a tool without a histogram. All return 0 or a negative errno:
 *
 *   init()      the defaults of m->own, which is all zeros
 *   parts()     the parts of keys that are the tool's own, where they have state of m->own: instead of
 *               cli.own_parts
 *   expand()    argv as it is to be parsed: an array that free() frees, or NULL without memory
 *   check()     do the options make sense together? Says what is wrong
 *   alone()     the option, if there is one, that makes it unfit to be one of several in a run: "--live"
 *   instead()   does something else than measure (--read FILE) and returns the exit status, or -1:
 *               measure
 *   open()      m->bpf is opened: writes the tool's own constants, sizes its maps, so that it can be
 *               loaded (-n ends here: it shows what was opened). Without spec->skeleton it opens one
 *   load()      instead of open(), where there is more than one object or way: opens, and loads
 *               unless m->cli->explain. Says what is wrong
 *   explain()   for -n; NULL: measurement__explain() of m->obj and m->source
 *   attach()    attaches what was loaded; NULL: measurement__attach()
 *   arm()       opens the gate; NULL: *m->armed = 1. Short: all of a run are armed at one instant.
 *               began_ns of the object, if there is one, is set just before
 *   disarm()    behind *m->armed = 0: stops what does not look at the gate (counters, timers). Of runs of
 *               several, which are read one after the other but end at one instant
 *   measure()   instead of attach(), arm() and the loop, where it is done several times (stat -r).
 *               Such a tool runs alone
 *   report()    at the end of each interval; value, unit, source and caveat are filled in. NULL: the
 *               histogram
 *   end()       after the last report, in any case; gets what the run came to and returns it, or
 *               what went wrong since
 *   free()      gives back what m->own has; the skeleton is still there
 *
 * open() and attach() may leave the message to measurement__complain(): what open() returns -EINVAL,
 * -EOPNOTSUPP or -EPERM for it has said itself, and attach() where it sets m->has_said.
 */
#ifndef TALLY_RUN_MEASUREMENT_H
#define TALLY_RUN_MEASUREMENT_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "cli/options.h"
#include "host/scope.h"
#include "report/heat.h"
#include "report/report.h"
#include "run/measure.h"
#include "run/run.h"

/*
 * A skeleton that bpftool has made, for code that does not know its type: SKELETON(runqlat) behind the
 * #include of runqlat.skel.h declares runqlat_skeleton.
 */
struct skeleton_type {
	void *(*open)(void);            /* NULL: errno says why */
	void (*destroy)(void *bpf);     /* of NULL: nothing */
};

#define SKELETON(name) SKELETON_FUNCTIONS(name) static SKELETON_TYPE(name)

/* The same for several tools: a header declares name_skeleton extern. */
#define SHARED_SKELETON(name) SKELETON_FUNCTIONS(name) SKELETON_TYPE(name)

#define SKELETON_FUNCTIONS(name)                                                                   \
	static void *name##_skeleton_open(void)                                                    \
	{                                                                                          \
		return name##_bpf__open();                                                         \
	}                                                                                          \
	static void name##_skeleton_destroy(void *bpf)                                             \
	{                                                                                          \
		name##_bpf__destroy(bpf);                                                          \
	}

#define SKELETON_TYPE(name)                                                                        \
	const struct skeleton_type name##_skeleton = {                                             \
		name##_skeleton_open, name##_skeleton_destroy,                                     \
	}

/*
 * What a tool is. What most tools do needs no hook: with a skeleton, it is opened; scope and by, if
 * there are such constants, are written; it is attached once the scope's sets are filled; programs
 * seed_* of iter/task are run over all tasks then. With a histogram, that is reported.
 */
struct tool_spec {
	const char *name;
	struct cli_spec cli;            /* own_input is m->own */
	size_t own_size;                /* of m->own */
	const struct skeleton_type *skeleton;
	bool stays_attached;            /* to what is not the skeleton's: --budget cannot end it early */
	struct {
		const char *name;       /* of its maps: run/measure.h */
		size_t key_size;
	} hist;                         /* m->measure; no name: there is none */
	const char *value;              /* what is measured, in reports of hist: "wait for a CPU" */
	enum unit unit;
	const char *source;             /* where the numbers come from; m->source */
	const char *caveat;             /* what the reader has to know, or NULL; m->caveat */
	void (*init)(void *own);
	const struct own_parts *(*parts)(void *own);
	char **(*expand)(void *own, int argc, char **argv);
	int (*check)(void *own, struct cli *cli);
	const char *(*alone)(const void *own);
	int (*instead)(const struct tool_spec *spec, void *own, struct cli *cli);
	int (*open)(struct measurement *m);
	int (*load)(struct measurement *m);
	int (*explain)(struct measurement *m);
	int (*attach)(struct measurement *m);
	int (*arm)(struct measurement *m);
	void (*disarm)(struct measurement *m);
	int (*measure)(struct measurement *m);
	int (*report)(struct measurement *m, struct report *r);
	int (*end)(struct measurement *m, int err);
	void (*free)(void *own);
};

struct measurement {
	const struct tool_spec *spec;
	const char *tool;               /* spec->name */
	struct run *run;
	struct cli *cli;
	void *own;
	struct scope_config scope;
	struct writer *writer;          /* the run's */
	u64 began_ns, start_ns;         /* the current interval: CLOCK_MONOTONIC, CLOCK_REALTIME */
	bool header;                    /* of several: this one's has been written */
	struct heat *heat;              /* --heat: takes the reports; NULL: they are written */
	bool hold;                      /* report() is called as ever, but its report is not written */
	bool has_said;                  /* attach() has said what is wrong */
	const char *source, *caveat;    /* the spec's, unless a hook knows better */
	struct measure measure;         /* of spec->hist */
	void *bpf;                      /* of spec->skeleton, a struct NAME_bpf; the measurement's */
	/*
	 * Called whenever watch_fd (a ring buffer's; -1: none) can be read, and before each report.
	 * Returns 0, 1 to end the run with a last report, or a negative errno.
	 */
	int (*watch)(struct measurement *m);
	int watch_fd;
	/* Of the skeleton (bpf is that of its type). NULL without spec->skeleton. */
	struct bpf_object_skeleton *skeleton;
	struct bpf_object *obj;
	volatile u32 *armed;
	volatile u64 *armed_ns;         /* began_ns of the object, if it has one: what began before is told by it */
};

/* The main() of a tool: a run of one. Returns the exit status. */
int measurement__main(const struct tool_spec *spec, int argc, char **argv);

/*
 * Opens the skeleton, another time too, and writes what every measurement has: scope, by, the room of
 * the histogram. For load() of what is tried in several ways.
 */
int measurement__open(struct measurement *m);

/*
 * Runs a program of iter/task over all tasks. Returns 0, or a negative errno where the kernel has no
 * such iterator.
 */
int tasks__visit(struct bpf_program *prog);

/*
 * The parts of measurement__main(), for runs of several. init() makes own, with its defaults; release() in any
 * case gives back what own, the skeleton and the others have.
 */
int measurement__init(struct measurement *m, const struct tool_spec *spec);
void measurement__release(struct measurement *m);

/*
 * The tool's command line, without these groups of options, into *cli, which becomes m->cli and is the
 * caller's to free if this returns 0. -EINVAL after saying what is wrong, or -ENOMEM.
 */
int measurement__parse(struct measurement *m, struct cli *cli, u32 without, int argc, char **argv);

/* Opens and loads, or opens for -n. Says what is wrong. */
int measurement__load(struct measurement *m);
int measurement__tell(struct measurement *m);           /* -n: what was opened */
int measurement__report(struct measurement *m, struct report *r);
int measurement__begin(struct measurement *m);          /* attaches; says what is wrong */
int measurement__arm(struct measurement *m);
void measurement__disarm(struct measurement *m);

/* Whether it costs nothing once it is disarmed and its skeleton detached, while its command goes on. */
bool measurement__can_stop(const struct measurement *m);


/*
 * What the user asked for, in an object: between open and load its constants scope and by, if it has them,
 * and room for the scope's sets; once it is loaded, the sets filled, with what -v says of the memory that
 * its maps take. measurement__open() and measurement__attach() do both for m->obj.
 */
int measurement__configure(const struct measurement *m, struct bpf_object *obj);
int measurement__fill_scope(const struct measurement *m, const struct bpf_object *obj);

/* Prints what -v says of a loaded object: its maps and the memory they take now and at most. */
void measurement__describe_memory(const struct measurement *m, const struct bpf_object *obj);

/* Fills the scope's sets, attaches the skeleton and has seed_* look at all tasks. */
int measurement__attach(struct measurement *m);

/*
 * Its second half, for a tool that has filled the scope otherwise (measure__begin(), stacks__begin()): all
 * programs but those of iterators, then seed_* run over all tasks.
 */
int measurement__attach_programs(struct measurement *m);

/*
 * Says why the programs cannot be had: what is "load" or "attach". Returns what the run is to end
 * with.
 */
int measurement__complain(const struct measurement *m, const char *what, int err);

/* Writes a report that the tool has made by itself; only what it has set is in it. */
int MUST_CHECK measurement__write(struct measurement *m, const struct report *r);

#endif /* TALLY_RUN_MEASUREMENT_H */
