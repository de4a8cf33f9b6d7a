/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --listen: serves OpenMetrics text over HTTP at GET /metrics. /-/healthy answers 503 if the run's loop has not turned
 * for a minute, /-/ready until the measurements have figures. Clients are bounded in number, memory, idle time and
 * lifetime. When connections run short, the oldest one is dropped, so a new client is always served. Each connection
 * serves one request.
 *
 * With an interval, a thread serves the last published text: reports may keep the loop busy for seconds on a busy
 * machine, and scrapers time out. Without an interval, each request makes a report: in the loop, without a thread. No
 * call blocks.
 *
 *   listen__open()      binds the ports, before anything else is done
 *   listen__announce()  once metrics can be requested
 *   listen__publish()   for each report, as text
 *   listen__serve()     whenever listen__fd() is readable or listen__timeout_ms() has passed
 *   listen__close()
 */
#ifndef TALLY_RUN_LISTEN_H
#define TALLY_RUN_LISTEN_H

#include "base/types.h"
#include "cli/address.h"

struct listen;

/*
 * Called from listen__serve() for each request for metrics; may publish newer text. Returns 0, or a negative errno,
 * which ends the run.
 */
typedef int (*listen_refresh)(void *context);

/*
 * refresh: NULL to serve from a thread. profiles: GET /profile?seconds=N answers with a profile of the machine
 * (run/profiling.h); requires the thread. Reports errors. Returns 0 or a negative errno.
 */
int listen__open(struct listen **l, const struct listen_addresses *a, bool profiles, listen_refresh refresh,
		 void *context);

/* Replaces the OpenMetrics text being served. listen: a struct listen. Returns 0 or -ENOMEM. */
int listen__publish(void *listen, const char *text, size_t n);

/* Makes /-/ready answer 200 once the next text is published. l may be NULL. */
void listen__set_ready(struct listen *l);

struct listen_counts {
	u64 requests; /* answered requests, whatever the status */
	u64 dropped;  /* connections closed without an answer: too slow, or too many */
};

struct listen_counts listen__counts(struct listen *l);

/* Prints the addresses to standard error. */
void listen__announce(const struct listen *l);

/* Both return -1 if the loop has nothing to wait for. */
int listen__fd(const struct listen *l);
int listen__timeout_ms(const struct listen *l);

/* Serves clients; with a thread, only records that the loop has turned. Returns 0 or a negative errno. */
int listen__serve(struct listen *l);

void listen__close(struct listen *l);

#endif /* TALLY_RUN_LISTEN_H */
