/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP connections (bpf/net/tcp.h) as text, and the options that filter them by port. */
#ifndef TALLY_NET_TCP_H
#define TALLY_NET_TCP_H

#include "base/address.h"
#include "base/types.h"
#include "cli/options.h"

#include "bpf/net/tcp.h"

/* Return "127.0.0.1:80" or "[::1]:80" in text, or NULL if the address family is unknown. */
const char *tcp_flow__local(const struct tcp_flow *f, char text[IP_END_SPACE]);
const char *tcp_flow__remote(const struct tcp_flow *f, char text[IP_END_SPACE]);

/* Returns "established", "syn-sent", as in ss(8), or "?" for an unknown number. */
const char *tcp_state_name(u32 state);

/*
 * --by local, remote, lport, rport: parts of a struct tcp_flow, which follows the struct task_key
 * in the key of a map (cli/task_key.h).
 */
extern const struct own_parts tcp_own_parts;
int tcp_flow__add_parts(void *context, const void *flow, __u32 by, struct report_row *row);

/*
 * Connections have no task: rejects task keys, except those in `may`. Returns 0, or -EINVAL after
 * reporting the error.
 */
int tcp_keys__check(const struct cli *cli, __u32 may);

/* --lport and --rport: options of a struct tcp_ports. */
extern const struct option_row tcp_port_rows[];

#endif /* TALLY_NET_TCP_H */
