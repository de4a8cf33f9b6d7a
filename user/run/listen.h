/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --listen: serves OpenMetrics text over HTTP at GET /metrics. /-/healthy answers 503 if the run's loop has not turned
 * for a minute; /-/ready until the measurements have figures. Clients are bounded in number, memory, silence and
 * lifetime; when connections run short, the oldest one is dropped, so a new client is always served. Each connection
 * serves one request.
 *
 * With an interval clients get the last text published, from a thread, for the loop may need seconds for the reports of
 * a busy machine, and a scraper does not wait for long. Without one a request makes the report: in the loop, without a
 * thread. No call blocks.
 *
 *   listen__open()      takes the ports, before anything else is done
 *   listen__announce()  once there are metrics to ask for
 *   listen__publish()   each report, as text
 *   listen__serve()     whenever listen__fd() is readable or listen__timeout_ms() has passed
 *   listen__close()
 */
#ifndef TALLY_RUN_LISTEN_H
#define TALLY_RUN_LISTEN_H

#include "base/types.h"
#include "cli/address.h"

struct listen;

/*
 * Called for each request for metrics, from listen__serve(); may publish newer text. Returns 0 or a negative errno,
 * which ends the run.
 */
typedef int (*listen_refresh)(void *context);

/*
 * refresh NULL: with a thread. profiles: GET /profile?seconds=N answers with a profile of the machine
 * (run/profiling.h), which takes the thread. Reports errors. Returns 0 or a negative errno.
 */
int listen__open(struct listen **l, const struct listen_addresses *a, bool profiles, listen_refresh refresh,
		 void *context);

/* Sets the OpenMetrics text served from now on. listen is a struct listen. Returns 0 or -ENOMEM. */
int listen__publish(void *listen, const char *text, size_t n);

/* Makes /-/ready answer 200 from the next text on. l may be NULL. */
void listen__set_ready(struct listen *l);

struct listen_counts {
	u64 requests; /* answered requests, whatever the status */
	u64 dropped;  /* connections closed without an answer: too slow, or too many */
};

struct listen_counts listen__counts(struct listen *l);

/* Prints the addresses to standard error. */
void listen__announce(const struct listen *l);

/* Both return -1 if there is nothing to wait for. */
int listen__fd(const struct listen *l);
int listen__timeout_ms(const struct listen *l);

/* Serves, or, with a thread, says that the loop has turned. Returns 0 or a negative errno. */
int listen__serve(struct listen *l);

void listen__close(struct listen *l);

#endif /* TALLY_RUN_LISTEN_H */
