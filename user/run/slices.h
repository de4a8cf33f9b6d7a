/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices: 100 ms of each second. Work that slows the observed system a lot is done in slices only, and the whole is
 * estimated:
 *
 *   - The kernel's BPF statistics (run/overhead.h) are on in the first 25 ms of each slice, or of every third one.
 *     Turning them on and off patches the kernel's code in many places, with IPIs to all CPUs: 24 ms of CPU time on a
 *     virtual machine with two CPUs.
 *   - Programs that run at each system call, softirq or interrupt, of measurements that request it (--slices). They
 *     remain attached while their cost, according to these statistics, is at most a hundredth of the machine; counts
 *     are exact then. Otherwise they are detached between slices, or do nothing (gated). While they remain attached,
 *     the next slice begins early if CPUs become busier, according to /proc/uptime. Attaching and detaching sys_enter
 *     and sys_exit takes 0.3 ms.
 *
 * The cost is the run time of the programs in the kernel's statistics, plus 200 ns per system call: a program at
 * sys_enter or sys_exit makes all tasks take the slow path of system calls. A program of 80 ns cost nginx 15 % of its
 * throughput at 600,000 calls per second.
 *
 *   slices__begin()   starts a thread, and with it the first slice
 *   slices__add()     adds a measurement whose programs are attached
 *   slices__stop()    before the last reports; attached programs remain attached
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
	size_t n;               /* 0 if it is not sliced */
	/*
	 * The programs remain attached between slices, and only check since_ns: for many programs at rarer events,
	 * which would take longer to attach and detach than they cost.
	 */
	bool gated;
	bool at_calls;          /* at sys_enter or sys_exit: they also cost the slow path of each system call */
	/*
	 * A variable of the object, or NULL. Start of the slice, CLOCK_MONOTONIC, set before the programs are
	 * attached; 2^64 - 1 while they are detached; 0 before they were first detached. State from before since_ns
	 * may be stale.
	 */
	volatile u64 *since_ns;

	/* Private to slices.c. */
	struct slices *slices;  /* NULL if not added */
	u64 detached_ns;        /* when they were detached, CLOCK_MONOTONIC; 0 while attached */
	u64 rest_ns;            /* time detached in this interval, before detached_ns */
	u64 last_rest_ns;       /* time detached in the last interval */
	u32 id[SLICED_PROGRAMS];        /* BPF program ids */
};

/*
 * cpus: of the machine. every: statistics are on in one of this many slices. Returns NULL if memory or a thread cannot
 * be had.
 */
struct slices *slices__begin(int cpus, u32 every);
void slices__stop(struct slices *s);
void slices__free(struct slices *s);

/* No-ops if s is NULL, or if the measurement is not sliced. A measurement may be removed at any time. */
void slices__add(struct slices *s, struct measurement *m);
void slices__remove(struct measurement *m);

/*
 * Returns the time for which the measurement's programs were detached in the interval that ends at now_ns. The next
 * interval begins at now_ns.
 */
u64 slices__rest_ns(struct measurement *m, u64 now_ns);

/*
 * Returns the time for which the program with this kernel id was attached in the last interval of duration_ns: all of
 * it unless the program is sliced.
 */
u64 slices__attached_ns(struct slices *s, u32 id, u64 duration_ns);

/*
 * Prevents slices from beginning or ending until slices__let_go(). Returns the total time of all windows so far, a
 * window being the time of a slice in which statistics are on. Ends the current window, if any; slices__let_go() then
 * begins the next one.
 */
u64 slices__hold(struct slices *s);
void slices__let_go(struct slices *s);

/*
 * Sets the function called at the start (begins) and at the end of each window, while statistics are on; NULL for none.
 * Must be called while held. look() may run on any thread, but on one at a time, and never between slices__hold() and
 * slices__let_go().
 */
typedef void slices_look(void *context, bool begins);
void slices__watch(struct slices *s, slices_look *look, void *context);

#endif /* TALLY_RUN_SLICES_H */
