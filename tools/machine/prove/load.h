/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads that do a known number of operations, each in a process of its own:
 *
 *   prepare; begin: wait at the gate while the tool attaches; work; end: sleep until killed
 *
 * Between the gate and the end, a load does nothing else that a tool could attribute to it.
 */
#ifndef TALLY_PROVE_LOAD_H
#define TALLY_PROVE_LOAD_H

#include "base/types.h"

enum prove_stage {
	PROVE_PREPARES,
	PROVE_STANDS,
	PROVE_HAS_ENDED
};

/* In memory shared between the load and its creator. */
struct prove_truth {
	volatile u32 stage;	     /* enum prove_stage */
	const char *volatile failed; /* the operation that failed, a constant, or NULL */
	volatile int error;	     /* errno of the failure */
	u64 elapsed_ns;		     /* duration of the work, by the load's clock */
	u64 sum;		     /* sum of arguments, statuses or bytes */
	u64 inode;		     /* inode of the file */
	u64 address;		     /* address of the futex */
};

struct prove_load {
	struct prove_truth *truth;
	int gate; /* the load starts when the other end is closed */
	u64 n;	  /* number of operations */
};

/* Path of the i-th nonexistent file. */
#define PROVE_NO_FILE "/no-such-file.tally/%llu"

/* Each of these runs in a process of its own and does not return. */
_Noreturn void prove_load__calls(struct prove_load *l);
_Noreturn void prove_load__no_files(struct prove_load *l);
_Noreturn void prove_load__files(struct prove_load *l);
_Noreturn void prove_load__exits(struct prove_load *l);
_Noreturn void prove_load__execs(struct prove_load *l);
_Noreturn void prove_load__sleeps(struct prove_load *l);
_Noreturn void prove_load__burn(struct prove_load *l);
_Noreturn void prove_load__burn_alone(struct prove_load *l);
_Noreturn void prove_load__moves(struct prove_load *l);
_Noreturn void prove_load__pipe(struct prove_load *l);
_Noreturn void prove_load__pages(struct prove_load *l);
_Noreturn void prove_load__bytes(struct prove_load *l);
_Noreturn void prove_load__signals(struct prove_load *l);
_Noreturn void prove_load__connections(struct prove_load *l);
_Noreturn void prove_load__futex(struct prove_load *l);
_Noreturn void prove_load__function(struct prove_load *l);

/*
 * The function that the last load calls. Its symbol is dynamic, so that stripped programs keep it, unless they are
 * static.
 */
#define PROVE_CALLED "tally_prove_called"
void tally_prove_called(u64 a, u64 b);

#define PROVE_SLEEP_NS (2 * NSEC_PER_MSEC)
#define PROVE_WAIT_NS NSEC_PER_MSEC /* timeout of a futex wait */
#define PROVE_PIECE 4096	    /* bytes of one read or write */
#define PROVE_SENT 100		    /* bytes that each connecting end sends */

#endif /* TALLY_PROVE_LOAD_H */
