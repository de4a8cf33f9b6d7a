/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of TCP (bpf/net/tcp.h) as text, and the options that choose some of them. */
#ifndef TALLY_NET_TCP_H
#define TALLY_NET_TCP_H

#include <argp.h>

#include "base/address.h"
#include "base/types.h"
#include "cli/options.h"

#include "bpf/net/tcp.h"

/* "127.0.0.1:80", "[::1]:80": text, or NULL where the family is not known. */
const char *tcp_flow__local(const struct tcp_flow *f, char text[IP_END_SPACE]);
const char *tcp_flow__remote(const struct tcp_flow *f, char text[IP_END_SPACE]);

/* "established", "syn-sent": as ss(8) says; "?" for a number that is no state. */
const char *tcp_state_name(u32 state);

/*
 * --by local, remote, lport, rport: parts of a struct tcp_flow, which stands behind the struct
 * task_key in a map's key (cli/task_key.h).
 */
extern const struct own_parts tcp_own_parts;
int tcp_flow__add_parts(void *context, const void *flow, __u32 by, struct report_row *row);

/*
 * A connection is no task's: refuses keys that are parts of one, but for those in may. Returns 0,
 * or -EINVAL after saying so.
 */
int tcp_keys__check(const struct cli *cli, __u32 may);

/*
 * --lport and --rport, a child of the tool's own argp. Its input is a struct tcp_ports, which the
 * tool's parser hands to it at ARGP_KEY_INIT.
 */
extern const struct argp tcp_ports_argp;

#endif /* TALLY_NET_TCP_H */
