/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that combine several values, as C expressions. */
#ifndef TALLY_SYSCALL_PACKED_H
#define TALLY_SYSCALL_PACKED_H

#include <stdio.h>

#include "calls/syscall/names.h"

/* Puts "S_IFCHR|0600", or "0644" if there is no type. */
void file_mode__put(FILE *f, u32 mode);
bool is_device_mode(u32 mode);

/* Puts "IPPROTO_TCP", "NETLINK_ROUTE" or "htons(ETH_P_ALL)", depending on the socket family. */
void protocol__put(FILE *f, u32 family, u32 protocol);

/* Puts "QCMD(Q_GETQUOTA, USRQUOTA)". */
void quota_command__put(FILE *f, u32 command);

/* Puts flags of mount(2), without the magic number that the call once required. */
void mount_flags__put(FILE *f, u64 flags);

/* Puts "MAP_PRIVATE|MAP_HUGETLB|21<<MAP_HUGE_SHIFT". */
void huge_names__put(FILE *f, const struct value_names *names, u64 flags);

/* Puts "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4)". */
void io_priority__put(FILE *f, u32 priority);

/* Puts "IPC_CREAT|0600". */
void ipc_flags__put(FILE *f, u32 flags);

/* Puts "FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_GT, 2)". */
void futex_wake_op__put(FILE *f, u32 op);

/* Puts a struct ip_mreq. */
void membership__put(FILE *f, const void *data);

/* Puts "[ECONNREFUSED]" for an int that contains an errno. Returns false and puts nothing if the errno has no name. */
bool error_number__put(FILE *f, const void *data);

#endif /* TALLY_SYSCALL_PACKED_H */
