/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices: 100 ms of each second. Work that the observed pay dearly for is done in slices only, and the whole is
 * estimated:
 *
 *   - The kernel's BPF statistics (run/overhead.h): in the first 25 ms of each slice, or of each third one. Turning
 *     them on and off patches the kernel's code in many places, with interrupts of all CPUs: 24 ms of CPU time on a
 *     virtual machine with two CPUs.
 *   - Programs that run at each system call, softirq or interrupt, of measurements that ask for it (--slices). They
 *     stay attached while that costs less than a hundredth of the machine, by these statistics; numbers are
 *     exact then. Else they are detached between slices, or do nothing (gated). While they stay attached, the next
 *     slice begins early when CPUs become busier, by /proc/uptime. Attaching and detaching sys_enter and sys_exit takes
 *     0.3 ms.
 *
 * The cost: the run time of the programs by the kernel's statistics, and 200 ns for each system call, whose slow path a
 * hook at sys_enter or sys_exit turns on for all tasks. nginx lost 15 % of its throughput at 600,000 calls a second to
 * one program of 80 ns.
 *
 *   slices__begin()   starts a thread: the first slice begins
 *   slices__add()     a measurement whose programs are attached
 *   slices__stop()    before the last reports; what is attached stays
 *   slices__free()
 */
#ifndef TALLY_RUN_SLICES_H
#define TALLY_RUN_SLICES_H

#include <bpf/libbpf.h>

#include "base/types.h"

struct measurement;
struct slices;

#define SLICED_PROGRAMS 32

/* Programs of a measurement that are attached in slices; set by its attach(). */
struct sliced {
	struct bpf_program *program[SLICED_PROGRAMS];
	size_t n;               /* 0: it is not sliced */
	/*
	 * They stay attached between slices, and do nothing but look at since_ns: for many programs at rarer events,
	 * which would take longer to attach and to detach than they cost.
	 */
	bool gated;
	bool at_calls;          /* they are at sys_enter or sys_exit, and cost the slow path of each system call, too */
	/*
	 * Variable of the object, or NULL: the start of the slice, CLOCK_MONOTONIC, set before they are attached;
	 * 2^64 - 1 while they are detached; 0 as long as they have not been. State from before it may be stale.
	 */
	volatile u64 *since_ns;

	/* For slices.c. */
	struct slices *slices;  /* NULL: not added */
	u64 detached_ns;        /* CLOCK_MONOTONIC; 0: attached */
	u64 rest_ns;            /* detached before, in this interval */
	u64 last_rest_ns;       /* detached in the last interval */
	u32 id[SLICED_PROGRAMS];        /* the kernel's, of the programs */
};

/*
 * cpus: of the machine. every: statistics are on in each slice of so many. NULL without memory or a thread.
 */
struct slices *slices__begin(int cpus, u32 every);
void slices__stop(struct slices *s);
void slices__free(struct slices *s);

/* No-ops without slices, or for a measurement that is not sliced. A measurement may be removed at any time. */
void slices__add(struct slices *s, struct measurement *m);
void slices__remove(struct measurement *m);

/*
 * Time in the interval that ends at now_ns in which the measurement's programs were detached. The next interval begins
 * there.
 */
u64 slices__rest_ns(struct measurement *m, u64 now_ns);

/*
 * Time in the last interval, of duration_ns, in which the kernel's program of that id was attached: all of it unless
 * it is sliced.
 */
u64 slices__attached_ns(struct slices *s, u32 id, u64 duration_ns);

/*
 * No slice begins or ends before slices__let_go(). Returns the time of all windows: that of a slice in which statistics
 * are on, until now. The next window begins at slices__let_go() if they are on then.
 */
u64 slices__hold(struct slices *s);
void slices__let_go(struct slices *s);

/*
 * Call while held. look() is called at the start (begins) and at the end of each window, while statistics are on, by
 * any thread, but by one at a time, and not while held. NULL: nobody looks any more.
 */
typedef void slices_look(void *context, bool begins);
void slices__watch(struct slices *s, slices_look *look, void *context);

#endif /* TALLY_RUN_SLICES_H */
