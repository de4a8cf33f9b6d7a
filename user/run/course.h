/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The course of a tool that has one skeleton, from its command line to its exit status:
 *
 *   check()     is the command line one that makes sense?
 *   open()      opens the skeleton, says COURSE_SKELETON(), writes its constants, sizes its maps
 *               (-n ends here: it shows what was opened), so that it can be loaded
 *   load()      instead of open(), where there are several things to try: does both, but loads
 *               nothing for -n
 *   attach()    once it is loaded; then the gate is opened
 *   report()    at the end of each interval
 *   end()       after the last one, before anything is said of the run as a whole; in any case
 *
 * All but end() return 0 or a negative errno. What goes wrong is said here, where it has not been said
 * by the hook: check() and load() say all, open() what it returns -EINVAL, -EOPNOTSUPP or -EPERM for, attach()
 * what it sets has_said for.
 */
#ifndef TALLY_RUN_COURSE_H
#define TALLY_RUN_COURSE_H

#include "cli/options.h"
#include "run/run.h"

struct course {
	const char *tool;
	void *context;                  /* the tool's own; run->context, too */
	int (*check)(void *context, struct cli *cli);   /* or NULL */
	int (*open)(struct course *c, struct run *run);
	int (*load)(struct course *c, struct run *run);         /* or NULL: open(), and load that */
	int (*attach)(struct course *c, struct run *run);       /* NULL: course__attach() */
	int (*report)(struct run *run, struct report *r);       /* run.h */
	void (*end)(struct course *c);                          /* or NULL */
	bool has_said;                  /* attach() has said what is wrong */
	const char *source;             /* what is measured, for -n; open() may choose it */

	/* Of the skeleton, which is the tool's to destroy after course__main(). */
	struct bpf_object_skeleton *skeleton;
	struct bpf_object *obj;
	volatile u32 *armed;
};

#define COURSE_SKELETON(c, bpf)                                                                    \
	({                                                                                         \
		(c)->skeleton = (bpf)->skeleton;                                                   \
		(c)->obj = (bpf)->obj;                                                             \
		(c)->armed = &(bpf)->bss->armed;                                                   \
	})

/* Returns the exit status. */
int course__main(struct course *c, const struct cli_spec *spec, int argc, char **argv);

/* Fills the scope's sets and attaches: all that most tools have to do. */
int course__attach(struct course *c, struct run *run);

/*
 * Says why the programs cannot be had: what is "load" or "attach". Returns what the run is to end
 * with.
 */
int course__complain(const struct run *run, const char *what, int err);

#endif /* TALLY_RUN_COURSE_H */
