/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads that do a known number of things, each in a process of its own:
 *
 *   prepares; begins: waits at the gate while the tool attaches; does it; ends: sleeps until it is killed
 *
 * Between the gate and the end it does nothing else that a tool could take for the load.
 */
#ifndef TALLY_PROVE_LOAD_H
#define TALLY_PROVE_LOAD_H

#include "base/types.h"

enum prove_stage {
	PROVE_PREPARES,
	PROVE_STANDS,
	PROVE_HAS_ENDED
};

/* In memory that the load shares with its creator. */
struct prove_truth {
	volatile u32 stage;	     /* enum prove_stage */
	const char *volatile failed; /* what failed, constant; NULL: nothing */
	volatile int error;	     /* its errno */
	u64 elapsed_ns;		     /* of what was done, by the load's clock */
	u64 sum;		     /* of arguments, statuses, bytes */
	u64 inode;		     /* of the file */
	u64 address;		     /* of the futex */
};

struct prove_load {
	struct prove_truth *truth;
	int gate; /* hung up: go */
	u64 n;	  /* how often */
};

/* Path of the i-th file that is not there. */
#define PROVE_NO_FILE "/no-such-file.tally/%llu"

/* These run in a process of their own and do not return. */
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

/* The function that the last one calls. Its symbol is a dynamic one: stripped programs keep it, but static ones. */
#define PROVE_CALLED "tally_prove_called"
void tally_prove_called(u64 a, u64 b);

#define PROVE_SLEEP_NS (2 * NSEC_PER_MSEC)
#define PROVE_WAIT_NS NSEC_PER_MSEC /* of a futex */
#define PROVE_PIECE 4096	    /* bytes of one read or write */
#define PROVE_SENT 100		    /* bytes sent by each end that connects */

#endif /* TALLY_PROVE_LOAD_H */
