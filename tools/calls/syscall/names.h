/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of arguments by the names that the kernel's headers give them. */
#ifndef TALLY_SYSCALL_NAMES_H
#define TALLY_SYSCALL_NAMES_H

#include <stdio.h>

#include "base/types.h"

struct value_name {
	u64 value;
	const char *name;
};

/*
 * The names of one argument. Bits below `mask` are one value, all others flags; a mask of all bits:
 * there are no flags.
 */
struct value_names {
	const struct value_name *name;  /* up to one without a name */
	u64 mask;
};

#define VALUE_ONLY UINT64_MAX

extern const struct value_names access_modes, advices, arch_codes, at_access_flags, at_flags,
	capabilities, capability_versions, child_codes, clock_ids, clone_flags, close_range_flags,
	dumpable, epoll_events, epoll_flags, epoll_ops, event_flags, fallocate_modes,
	fcntl_commands, fd_flags, file_systems, flock_ops, futex_ops, grnd_flags, inotify_flags,
	ioctl_commands, ip_control_types, ip_options, ipv6_options, itimers, level_names,
	lock_types, map_flags, membarrier_commands, memfd_flags, message_flags, mlock_flags,
	mount_flags, mremap_flags, msync_flags, pipe_flags, poll_events, prctl_options,
	priority_whichs, protections, rename_flags, resources, rseq_flags, rw_flags, sa_flags,
	schedulers, shutdown_hows, sigmask_hows, signal_codes, signal_notifications,
	signalfd_flags, socket_control_types, socket_families, socket_options, socket_types,
	splice_flags, stack_flags, statfs_flags, statx_flags, statx_masks, sync_flags,
	tcp_options, timer_flags, timerfd_flags, umount_flags, usages, wait_flags, waitid_types,
	whences, xattr_flags;

/* "PROT_READ|PROT_WRITE", with what has no name as a hex number behind: as C would take it. */
void value_names__put(FILE *f, const struct value_names *names, u64 value);

/* "SIGTERM", "SIGRT_3" or a number. */
void signal_name__put(FILE *f, u64 number);

#endif /* TALLY_SYSCALL_NAMES_H */
