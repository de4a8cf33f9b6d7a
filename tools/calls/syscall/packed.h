/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that combine several values, as C expressions. */
#ifndef TALLY_SYSCALL_PACKED_H
#define TALLY_SYSCALL_PACKED_H

#include <stdio.h>

#include "calls/syscall/names.h"

/* "S_IFCHR|0600"; "0644" without a type. */
void file_mode__put(FILE *f, u32 mode);
bool is_device_mode(u32 mode);

/* "IPPROTO_TCP", "NETLINK_ROUTE", "htons(ETH_P_ALL)", depending on the socket family. */
void protocol__put(FILE *f, u32 family, u32 protocol);

/* "QCMD(Q_GETQUOTA, USRQUOTA)" */
void quota_command__put(FILE *f, u32 command);

/* Leaves out the magic number that mount(2) once required. */
void mount_flags__put(FILE *f, u64 flags);

/* "MAP_PRIVATE|MAP_HUGETLB|21<<MAP_HUGE_SHIFT" */
void huge_names__put(FILE *f, const struct value_names *names, u64 flags);

/* "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4)" */
void io_priority__put(FILE *f, u32 priority);

/* "IPC_CREAT|0600" */
void ipc_flags__put(FILE *f, u32 flags);

/* "FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_GT, 2)" */
void futex_wake_op__put(FILE *f, u32 op);

/* struct ip_mreq */
void membership__put(FILE *f, const void *data);

/* "[ECONNREFUSED]", for an int with an errno. Returns false and puts nothing if it has no name. */
bool error_number__put(FILE *f, const void *data);

#endif /* TALLY_SYSCALL_PACKED_H */
