/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --listen: OpenMetrics text over HTTP, for whoever scrapes it: GET /metrics. Made for the run's
 * loop: no threads, and nothing that waits. What a client can take is bounded: the number of
 * connections, their memory, and how long they may be silent, or last at all. A connection is for
 * one request.
 *
 *   listen__open()      takes the ports, before anything else is done
 *   listen__announce()  once there is something to ask for
 *   listen__publish()   each report, as text
 *   listen__serve()     whenever listen__fd() can be read or listen__timeout_ms() has passed
 *   listen__close()
 */
#ifndef TALLY_RUN_LISTEN_H
#define TALLY_RUN_LISTEN_H

#include "base/types.h"
#include "cli/address.h"

struct listen;

/*
 * Called when somebody asks, and may publish something newer. Returns 0 or a negative errno, which
 * ends the run.
 */
typedef int (*listen_refresh)(void *context);

/* Says what is wrong. Returns 0 or a negative errno. */
int listen__open(struct listen **l, const struct listen_addresses *a, listen_refresh refresh,
		 void *context);

/* What is answered from now on: OpenMetrics text. Of struct listen. Returns 0 or -ENOMEM. */
int listen__publish(void *listen, const char *text, size_t n);

/* Tells on standard error where to ask. */
void listen__announce(const struct listen *l);

/* -1 if there is none, and so the other one: nothing is to be waited for. */
int listen__fd(const struct listen *l);
int listen__timeout_ms(const struct listen *l);

/* Returns 0 or a negative errno. */
int listen__serve(struct listen *l);

void listen__close(struct listen *l);

#endif /* TALLY_RUN_LISTEN_H */
