/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tools of other tracers by name (bcc, libbpf-tools, bpftrace, perf-tools, perf, ...), and what
 * does their work here. Names that a tool of tally's bears too are not in the table.
 */
#ifndef TALLY_CLI_PEERS_H
#define TALLY_CLI_PEERS_H

#include <stddef.h>

struct peer {
	const char *name;       /* "tcpconnect"; of perf also two words: "sched map" */
	const char *suite;      /* whose it is: "bcc" */
	const char *line;       /* what to type behind "tally"; NULL: nothing here does it */
	const char *why;        /* then the reason, and the nearest there is */
};

extern const struct peer peers[];
extern const size_t peer_count;

/* A name of two words, or NULL. second may be NULL. */
const struct peer *peer__find_pair(const char *name, const char *second);

/* The pair, else name alone, else NULL. */
const struct peer *peer__find(const char *name, const char *second);

#endif /* TALLY_CLI_PEERS_H */
