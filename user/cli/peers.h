/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tools of other tracers (bcc, libbpf-tools, bpftrace, perf-tools, perf, sysstat, ...) and their
 * equivalents here. Names that tally itself uses are not in the table.
 */
#ifndef TALLY_CLI_PEERS_H
#define TALLY_CLI_PEERS_H

#include <stddef.h>

#include "base/types.h"

struct peer {
	const char *name;       /* "tcpconnect"; may have a second word or an option: "sched map", "pidstat -d" */
	const char *suite;      /* its origin: "bcc" */
	const char *line;       /* words to type after "tally"; NULL if it has no equivalent */
	const char *why;        /* why it has no equivalent, and the nearest alternative */
};

extern const struct peer peers[];
extern const size_t peer_count;

/* Whether the line of p probes kernel functions, which not every kernel supports. */
bool peer__is_about_functions(const struct peer *p);

/* Finds a two-word name. NULL if unknown. second may be NULL. */
const struct peer *peer__find_pair(const char *name, const char *second);

/* Finds the words after "perf": a command of perf, or a name as in peer__find(). */
const struct peer *peer__find_perf(const char *command, char *const *words);

/* Finds name together with the first word or option letter that makes it a name in the table, otherwise name alone. */
const struct peer *peer__find(const char *name, char *const *words);

#endif /* TALLY_CLI_PEERS_H */
