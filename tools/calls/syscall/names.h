/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of argument values, from the kernel's headers. */
#ifndef TALLY_SYSCALL_NAMES_H
#define TALLY_SYSCALL_NAMES_H

#include <stdio.h>

#include "base/types.h"

struct value_name {
	u64 value;
	const char *name;
};

/*
 * The names of one argument. The bits of `mask` form one value, and all other bits are flags. A
 * mask of all bits means that there are no flags.
 */
struct value_names {
	const struct value_name *name;  /* ends with an entry without a name */
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
	tcp_options, timer_flags, timerfd_flags, told_socket_options, umount_flags, usages, wait_flags, waitid_types,
	whences, xattr_flags;

/* names_kernel.c */
extern const struct value_names ambient_commands, attach_flags, bpf_attach_types,
	bpf_commands, bpf_element_flags, bpf_map_flags, bpf_map_types, bpf_program_flags,
	bpf_program_types, clock_states, clock_status, ethernet_protocols, fanotify_events,
	fanotify_flags, fanotify_marks, faults_features, faults_flags, faults_modes,
	file_advices, fsconfig_commands, fsmount_flags, fsopen_flags, fspick_flags,
	futex2_flags, futex_compares, futex_wake_ops, handle_flags, inode_flags, inotify_events,
	interface_flags_set, internet_protocols, ipc_flags, ipc_get_flags, ipc_keys, kcmp_types,
	key_commands, key_rights, keyrings, landlock_files, landlock_flags, landlock_ports,
	landlock_rules, landlock_scopes, log_actions, mbind_flags, membarrier_flags,
	membarrier_supported, memory_policies, mlock2_flags, module_deletion, module_flags,
	mount_attributes,
	mount_propagations, move_mount_flags, msg_commands, namespaces, netlink_change_flags,
	netlink_deletion_flags, netlink_error_flags, netlink_flags, netlink_messages, netlink_options,
	netlink_protocols, netlink_query_flags, netlink_route_messages, notifications,
	open_tree_flags, owner_types, packet_options,
	packet_types, perf_flags, perf_hardware, perf_reads, perf_samples, perf_software,
	perf_types, personalities, pidfd_flags, policy_flags, priority_classes, priority_of,
	quota_commands, quota_types, reboot_commands, reboot_magic, resolve_flags,
	ring_enter_flags, ring_features, ring_flags, ring_registers, scheduling_flags, seals,
	seccomp_actions, seccomp_flags, seccomp_modes, seccomp_operations, secure_bits,
	sem_commands, semaphore_flags, shm_commands, statx_attributes, swap_flags, tcp_congestion_states,
	tcp_info_options, tcp_states, terminal_control, terminal_input, terminal_local,
	terminal_output, timerfd_settings, timex_modes, trace_options, trace_requests,
	udp_options, vma_names, waitid_flags, write_hints;

/* Returns the name of a value, or NULL. */
const char *value_names__find(const struct value_names *names, u64 value);

/* Puts "PROT_READ|PROT_WRITE", a C expression. Bits without a name follow as a hex number. */
void value_names__put(FILE *f, const struct value_names *names, u64 value);

/* Puts "SIGTERM", "SIGRT_3" or a number. */
void signal_name__put(FILE *f, u64 number);

#endif /* TALLY_SYSCALL_NAMES_H */
