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
	const char *name;       /* "tcpconnect"; also with a second word or an option: "sched map", "pidstat -d" */
	const char *suite;      /* its origin: "bcc" */
	const char *line;       /* what to type after "tally"; NULL: no equivalent */
	const char *why;        /* if there is no equivalent: the reason, and the nearest alternative */
};

extern const struct peer peers[];
extern const size_t peer_count;

/* Whether its line is about functions of the kernel, which not every kernel lets programs probe. */
bool peer__is_about_functions(const struct peer *p);

/* Finds a two-word name; NULL: unknown. second may be NULL. */
const struct peer *peer__find_pair(const char *name, const char *second);

/* Finds the words behind "perf": a command of perf, or a name as by peer__find(). */
const struct peer *peer__find_perf(const char *command, char *const *words);

/* Finds name with the first of the words, or letters of options, that makes a name of the table, else name alone. */
const struct peer *peer__find(const char *name, char *const *words);

#endif /* TALLY_CLI_PEERS_H */
