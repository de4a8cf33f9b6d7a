// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/layouts.h"

#include <string.h>

#include "calls/syscall/signals.h"
#include "calls/syscall/text.h"

enum member_kind {
	MEMBER_INT,
	MEMBER_UINT,
	MEMBER_HEX,
	MEMBER_OCTAL,
	MEMBER_POINTER,
	MEMBER_NAMES,
	MEMBER_PERF_PERIOD,
	MEMBER_PERF_CONFIG,     /* depends on the first member, the type */
	MEMBER_TEXT,            /* within the struct, up to a NUL */
	MEMBER_SIGNALS,
	MEMBER_ADDRESS,         /* struct sockaddr */
	MEMBER_TIME,            /* two s64: seconds, and fractions of a second */
};

struct member {
	const char *name;
	u8 at, size, kind;
	u8 if_set;              /* shown only if nonzero */
	u8 from_bit, bits;      /* a bit field within the number; 0 bits: all of it */
	const struct value_names *names;
};

#define INT(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_INT }
#define UINT(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_UINT }
#define HEX(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_HEX }
#define OCTAL(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_OCTAL }
#define PTR(n, a) { .name = #n, .at = (a), .size = 8, .kind = MEMBER_POINTER }
#define NAMED(n, a, s, set) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_NAMES, .names = &(set) }
#define TEXT(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_TEXT }
#define TIME(n, a) { .name = #n, .at = (a), .size = 16, .kind = MEMBER_TIME }
/* The same, but shown only if nonzero. */
#define INT_IF(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_INT, .if_set = 1 }
#define UINT_IF(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_UINT, .if_set = 1 }
#define HEX_IF(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_HEX, .if_set = 1 }
#define PTR_IF(n, a) { .name = #n, .at = (a), .size = 8, .kind = MEMBER_POINTER, .if_set = 1 }
#define TEXT_IF(n, a, s) { .name = #n, .at = (a), .size = (s), .kind = MEMBER_TEXT, .if_set = 1 }
#define NAMED_IF(n, a, s, set)                                                                     \
	{ .name = #n, .at = (a), .size = (s), .kind = MEMBER_NAMES, .if_set = 1, .names = &(set) }
#define BIT(n, a, bit)                                                                             \
	{ .name = #n, .at = (a), .size = 8, .kind = MEMBER_UINT, .if_set = 1, .from_bit = (bit), .bits = 1 }
#define BITS(n, a, bit, count)                                                                     \
	{ .name = #n, .at = (a), .size = 8, .kind = MEMBER_UINT, .if_set = 1, .from_bit = (bit),   \
	  .bits = (count) }

#define MEMBERS(name, ...) static const struct member name[] = { __VA_ARGS__, {} }

/* include/uapi/asm-generic/termbits.h, termios.h */
MEMBERS(termios, NAMED(c_iflag, 0, 4, terminal_input), NAMED(c_oflag, 4, 4, terminal_output),
	NAMED(c_cflag, 8, 4, terminal_control),
	NAMED(c_lflag, 12, 4, terminal_local));
MEMBERS(winsize, UINT(ws_row, 0, 2), UINT(ws_col, 2, 2), UINT(ws_xpixel, 4, 2), UINT(ws_ypixel, 6, 2));
/* fcntl.h */
MEMBERS(owner, NAMED(type, 0, 4, owner_types), INT(pid, 4, 4));
/* filter.h: struct sock_fprog */
MEMBERS(filter, UINT(len, 0, 2), PTR(filter, 8));
MEMBERS(iovec, PTR(iov_base, 0), UINT(iov_len, 8, 8));
MEMBERS(waiter, HEX(val, 0, 8), PTR(uaddr, 8), NAMED(flags, 16, 4, futex2_flags));
MEMBERS(utimes, INT(actime, 0, 8), INT(modtime, 8, 8));
MEMBERS(mq_attr, HEX(mq_flags, 0, 8), INT(mq_maxmsg, 8, 8), INT(mq_msgsize, 16, 8),
	INT(mq_curmsgs, 24, 8));
MEMBERS(sembuf, UINT(sem_num, 0, 2), INT(sem_op, 2, 2), NAMED(sem_flg, 4, 2, semaphore_flags));
/* perf_event.h */
MEMBERS(perf_attr, NAMED(type, 0, 4, perf_types), UINT(size, 4, 4),
	{ .name = "config", .at = 8, .size = 8, .kind = MEMBER_PERF_CONFIG },
	{ .name = "sample_period", .at = 16, .size = 8, .kind = MEMBER_PERF_PERIOD },
	NAMED(sample_type, 24, 8, perf_samples),
	NAMED(read_format, 32, 8, perf_reads), BIT(disabled, 40, 0), BIT(inherit, 40, 1),
	BIT(pinned, 40, 2), BIT(exclusive, 40, 3), BIT(exclude_user, 40, 4),
	BIT(exclude_kernel, 40, 5), BIT(exclude_hv, 40, 6), BIT(exclude_idle, 40, 7),
	BIT(mmap, 40, 8), BIT(comm, 40, 9), BIT(freq, 40, 10), BIT(inherit_stat, 40, 11),
	BIT(enable_on_exec, 40, 12), BIT(task, 40, 13), BIT(watermark, 40, 14),
	BITS(precise_ip, 40, 15, 2), BIT(mmap_data, 40, 17), BIT(sample_id_all, 40, 18),
	BIT(exclude_host, 40, 19), BIT(exclude_guest, 40, 20), BIT(exclude_callchain_kernel, 40, 21),
	BIT(exclude_callchain_user, 40, 22), BIT(mmap2, 40, 23), BIT(comm_exec, 40, 24),
	BIT(use_clockid, 40, 25), BIT(context_switch, 40, 26), BIT(write_backward, 40, 27),
	BIT(namespaces, 40, 28), BIT(ksymbol, 40, 29), BIT(bpf_event, 40, 30), BIT(aux_output, 40, 31),
	BIT(cgroup, 40, 32), BIT(text_poke, 40, 33), BIT(build_id, 40, 34),
	BIT(inherit_thread, 40, 35), BIT(remove_on_exec, 40, 36), BIT(sigtrap, 40, 37),
	UINT(wakeup_events, 48, 4), HEX_IF(bp_type, 52, 4), HEX_IF(config1, 56, 8));
/* io_uring.h: struct io_uring_params; the ring offsets are not shown */
MEMBERS(ring, UINT(sq_entries, 0, 4), UINT(cq_entries, 4, 4), NAMED(flags, 8, 4, ring_flags),
	UINT_IF(sq_thread_cpu, 12, 4), UINT_IF(sq_thread_idle, 16, 4),
	NAMED(features, 20, 4, ring_features), INT_IF(wq_fd, 24, 4));
MEMBERS(mount_attr, NAMED(attr_set, 0, 8, mount_attributes), NAMED(attr_clr, 8, 8, mount_attributes),
	NAMED(propagation, 16, 8, mount_propagations), INT(userns_fd, 24, 8));
/* landlock.h */
MEMBERS(ruleset, NAMED(handled_access_fs, 0, 8, landlock_files),
	NAMED(handled_access_net, 8, 8, landlock_ports), NAMED(scoped, 16, 8, landlock_scopes));
MEMBERS(path_beneath, NAMED(allowed_access, 0, 8, landlock_files), INT(parent_fd, 8, 4));
MEMBERS(net_port, NAMED(allowed_access, 0, 8, landlock_ports), UINT(port, 8, 8));
/* fs/fhandle.c */
MEMBERS(handle, UINT(handle_bytes, 0, 4), INT(handle_type, 4, 4));
/* timex.h: its first members */
MEMBERS(timex, NAMED(modes, 0, 4, timex_modes), INT(offset, 8, 8), INT(freq, 16, 8),
	INT(maxerror, 24, 8), INT(esterror, 32, 8), NAMED(status, 40, 4, clock_status),
	INT(constant, 48, 8), INT(precision, 56, 8), INT(tolerance, 64, 8), TIME(time, 72),
	INT(tick, 88, 8));
/* userfaultfd.h: struct uffdio_api */
MEMBERS(faults_api, HEX(api, 0, 8), NAMED(features, 8, 8, faults_features), HEX(ioctls, 16, 8));
/* bpf.h: union bpf_attr by command */
MEMBERS(bpf_map, NAMED(map_type, 0, 4, bpf_map_types), UINT(key_size, 4, 4), UINT(value_size, 8, 4),
	UINT(max_entries, 12, 4), NAMED(map_flags, 16, 4, bpf_map_flags), INT_IF(inner_map_fd, 20, 4),
	INT_IF(numa_node, 24, 4), TEXT_IF(map_name, 28, 16), UINT_IF(map_ifindex, 44, 4),
	INT_IF(btf_fd, 48, 4), UINT_IF(btf_key_type_id, 52, 4), UINT_IF(btf_value_type_id, 56, 4),
	UINT_IF(btf_vmlinux_value_type_id, 60, 4), HEX_IF(map_extra, 64, 8));
MEMBERS(bpf_element, INT(map_fd, 0, 4), PTR(key, 8), PTR(value, 16),
	NAMED(flags, 24, 8, bpf_element_flags));
MEMBERS(bpf_next_key, INT(map_fd, 0, 4), PTR(key, 8), PTR(next_key, 16));
MEMBERS(bpf_program, NAMED(prog_type, 0, 4, bpf_program_types), UINT(insn_cnt, 4, 4), PTR(insns, 8),
	PTR(license, 16), UINT_IF(log_level, 24, 4), UINT_IF(log_size, 28, 4), PTR_IF(log_buf, 32),
	HEX_IF(kern_version, 40, 4), NAMED_IF(prog_flags, 44, 4, bpf_program_flags),
	TEXT_IF(prog_name, 48, 16), UINT_IF(prog_ifindex, 64, 4),
	NAMED(expected_attach_type, 68, 4, bpf_attach_types), INT_IF(prog_btf_fd, 72, 4),
	UINT_IF(func_info_rec_size, 76, 4), PTR_IF(func_info, 80), UINT_IF(func_info_cnt, 88, 4),
	UINT_IF(line_info_rec_size, 92, 4), PTR_IF(line_info, 96), UINT_IF(line_info_cnt, 104, 4),
	UINT_IF(attach_btf_id, 108, 4), INT_IF(attach_prog_fd, 112, 4));
MEMBERS(bpf_object, PTR(pathname, 0), INT(bpf_fd, 8, 4), HEX(file_flags, 12, 4));
MEMBERS(bpf_attach, INT(target_fd, 0, 4), INT(attach_bpf_fd, 4, 4),
	NAMED(attach_type, 8, 4, bpf_attach_types), HEX(attach_flags, 12, 4));
MEMBERS(bpf_next_id, UINT(start_id, 0, 4), UINT(next_id, 4, 4), HEX_IF(open_flags, 8, 4));
MEMBERS(bpf_id, UINT(id, 0, 4), UINT_IF(next_id, 4, 4), HEX_IF(open_flags, 8, 4));
MEMBERS(bpf_info, INT(bpf_fd, 0, 4), UINT(info_len, 4, 4), PTR(info, 8));
MEMBERS(bpf_tracepoint, PTR(name, 0), INT(prog_fd, 8, 4));
MEMBERS(bpf_btf, PTR(btf, 0), PTR(btf_log_buf, 8), UINT(btf_size, 16, 4), UINT(btf_log_size, 20, 4),
	UINT(btf_log_level, 24, 4));
MEMBERS(bpf_link, INT(prog_fd, 0, 4), INT(target_fd, 4, 4), NAMED(attach_type, 8, 4, bpf_attach_types),
	HEX(flags, 12, 4));
MEMBERS(bpf_map_fd, INT(map_fd, 0, 4));
MEMBERS(bpf_link_fd, INT(link_fd, 0, 4));
MEMBERS(bpf_stats, HEX(type, 0, 4));
MEMBERS(bpf_iterator, INT(link_fd, 0, 4), HEX(flags, 4, 4));
MEMBERS(bpf_bind, INT(prog_fd, 0, 4), INT(map_fd, 4, 4), HEX(flags, 8, 4));
MEMBERS(hint, NAMED(, 0, 8, write_hints));
MEMBERS(seccomp_action, NAMED(, 0, 4, seccomp_actions));
MEMBERS(inode_flags_alone, NAMED(, 0, 4, inode_flags));
/* tcp.h: struct tcp_info; bit fields are left out */
MEMBERS(tcp_info, NAMED(tcpi_state, 0, 1, tcp_states), NAMED(tcpi_ca_state, 1, 1, tcp_congestion_states),
	UINT(tcpi_retransmits, 2, 1), UINT(tcpi_probes, 3, 1), UINT(tcpi_backoff, 4, 1),
	NAMED(tcpi_options, 5, 1, tcp_info_options), UINT(tcpi_rto, 8, 4), UINT(tcpi_ato, 12, 4),
	UINT(tcpi_snd_mss, 16, 4), UINT(tcpi_rcv_mss, 20, 4), UINT(tcpi_unacked, 24, 4),
	UINT(tcpi_sacked, 28, 4), UINT(tcpi_lost, 32, 4), UINT(tcpi_retrans, 36, 4),
	UINT(tcpi_fackets, 40, 4), UINT(tcpi_last_data_sent, 44, 4), UINT(tcpi_last_ack_sent, 48, 4),
	UINT(tcpi_last_data_recv, 52, 4), UINT(tcpi_last_ack_recv, 56, 4), UINT(tcpi_pmtu, 60, 4),
	UINT(tcpi_rcv_ssthresh, 64, 4), UINT(tcpi_rtt, 68, 4), UINT(tcpi_rttvar, 72, 4),
	UINT(tcpi_snd_ssthresh, 76, 4), UINT(tcpi_snd_cwnd, 80, 4), UINT(tcpi_advmss, 84, 4),
	UINT(tcpi_reordering, 88, 4), UINT(tcpi_rcv_rtt, 92, 4), UINT(tcpi_rcv_space, 96, 4),
	UINT(tcpi_total_retrans, 100, 4));
/* ipcbuf.h, shmbuf.h, sembuf.h, msgbuf.h of x86-64 */
#define IPC_MEMBERS(p)                                                                             \
	HEX(p##_perm.key, 0, 4), UINT(p##_perm.uid, 4, 4), UINT(p##_perm.gid, 8, 4),               \
		UINT(p##_perm.cuid, 12, 4), UINT(p##_perm.cgid, 16, 4), OCTAL(p##_perm.mode, 20, 4)
MEMBERS(shm_status, IPC_MEMBERS(shm), UINT(shm_segsz, 48, 8), INT(shm_atime, 56, 8),
	INT(shm_dtime, 64, 8), INT(shm_ctime, 72, 8), INT(shm_cpid, 80, 4), INT(shm_lpid, 84, 4),
	UINT(shm_nattch, 88, 8));
MEMBERS(sem_status, IPC_MEMBERS(sem), INT(sem_otime, 48, 8), INT(sem_ctime, 64, 8),
	UINT(sem_nsems, 80, 8));
MEMBERS(msg_status, IPC_MEMBERS(msg), INT(msg_stime, 48, 8), INT(msg_rtime, 56, 8),
	INT(msg_ctime, 64, 8), UINT(msg_cbytes, 72, 8), UINT(msg_qnum, 80, 8), UINT(msg_qbytes, 88, 8),
	INT(msg_lspid, 96, 4), INT(msg_lrpid, 100, 4));
/* mman.h: struct cachestat_range, cachestat */
MEMBERS(cache_range, UINT(off, 0, 8), UINT(len, 8, 8));
MEMBERS(cache_pages, UINT(nr_cache, 0, 8), UINT(nr_dirty, 8, 8), UINT(nr_writeback, 16, 8),
	UINT(nr_evicted, 24, 8), UINT(nr_recently_evicted, 32, 8));
/* if.h: struct ifreq, by request */
MEMBERS(interface_index, TEXT(ifr_name, 0, 16), INT(ifr_ifindex, 16, 4));
MEMBERS(interface_mtu, TEXT(ifr_name, 0, 16), INT(ifr_mtu, 16, 4));
MEMBERS(interface_flags, TEXT(ifr_name, 0, 16), NAMED(ifr_flags, 16, 2, interface_flags_set));
MEMBERS(interface_address, TEXT(ifr_name, 0, 16),
	{ .name = "ifr_addr", .at = 16, .size = 16, .kind = MEMBER_ADDRESS });
/* fs.h, fiemap.h */
MEMBERS(clone_range, INT(src_fd, 0, 8), UINT(src_offset, 8, 8), UINT(src_length, 16, 8),
	UINT(dest_offset, 24, 8));
MEMBERS(trim, UINT(start, 0, 8), UINT(len, 8, 8), UINT(minlen, 16, 8));
MEMBERS(extents, UINT(fm_start, 0, 8), UINT(fm_length, 8, 8), HEX(fm_flags, 16, 4),
	UINT(fm_mapped_extents, 20, 4), UINT(fm_extent_count, 24, 4));
/* userfaultfd.h */
MEMBERS(faults_register, PTR(range.start, 0), UINT(range.len, 8, 8), NAMED(mode, 16, 8, faults_modes),
	HEX(ioctls, 24, 8));
MEMBERS(faults_range, PTR(start, 0), UINT(len, 8, 8));
MEMBERS(faults_copy, PTR(dst, 0), PTR(src, 8), UINT(len, 16, 8), HEX(mode, 24, 8), INT(copy, 32, 8));
MEMBERS(faults_zero, PTR(range.start, 0), UINT(range.len, 8, 8), HEX(mode, 16, 8), INT(zeropage, 24, 8));
MEMBERS(bpf_query, INT(target_fd, 0, 4), NAMED(attach_type, 4, 4, bpf_attach_types),
	HEX(query_flags, 8, 4), HEX(attach_flags, 12, 4), PTR(prog_ids, 16), UINT(prog_cnt, 24, 4));
MEMBERS(bpf_link_update, INT(link_fd, 0, 4), INT(new_prog_fd, 4, 4), HEX(flags, 8, 4),
	INT_IF(old_prog_fd, 12, 4));
MEMBERS(bpf_batch, PTR(in_batch, 0), PTR(out_batch, 8), PTR(keys, 16), PTR(values, 24),
	UINT(count, 32, 4), INT(map_fd, 36, 4), NAMED(elem_flags, 40, 8, bpf_element_flags),
	HEX(flags, 48, 8));
MEMBERS(bpf_run, INT(prog_fd, 0, 4), UINT(retval, 4, 4), UINT(data_size_in, 8, 4),
	UINT(data_size_out, 12, 4), PTR(data_in, 16), PTR(data_out, 24), UINT(repeat, 32, 4),
	UINT(duration, 36, 4));
MEMBERS(signal_frame, { .name = "mask", .at = 0, .size = 8, .kind = MEMBER_SIGNALS });
MEMBERS(u64_alone, HEX(, 0, 8));

/* A longer struct of which only the beginning is read. */
#define HEAD(name, bytes, same)                                                                    \
	{ .size = (bytes), .least = (bytes), .alike = (same), .more = 1, .members = (name) }
#define LAYOUT(name, bytes, fewest, same) { .size = (bytes), .least = (fewest), .alike = (same), .members = (name) }

static const struct layout layouts[STRUCTS - STRUCT_OF_MEMBERS] = {
#define AT(name) [STRUCT_##name - STRUCT_OF_MEMBERS]
	AT(TERMIOS) = HEAD(termios, 16, 1),
	AT(WINSIZE) = LAYOUT(winsize, 8, 8, 1),
	AT(OWNER) = LAYOUT(owner, 8, 8, 1),
	AT(U64) = LAYOUT(u64_alone, 8, 8, 0),
	AT(FILTER) = LAYOUT(filter, 16, 16, 0),
	AT(IOVEC) = LAYOUT(iovec, 16, 16, 0),
	AT(WAITER) = LAYOUT(waiter, 24, 24, 1),
	AT(UTIMES) = LAYOUT(utimes, 16, 16, 0),
	AT(MQ_ATTR) = LAYOUT(mq_attr, 32, 32, 0),
	AT(SEMBUF) = LAYOUT(sembuf, 6, 6, 1),
	AT(PERF_ATTR) = HEAD(perf_attr, 64, 1),
	AT(RING) = HEAD(ring, 28, 1),
	AT(MOUNT_ATTR) = LAYOUT(mount_attr, 32, 32, 1),
	AT(RULESET) = LAYOUT(ruleset, 24, 8, 1),
	AT(PATH_BENEATH) = LAYOUT(path_beneath, 12, 12, 1),
	AT(NET_PORT) = LAYOUT(net_port, 16, 16, 1),
	AT(HANDLE) = HEAD(handle, 8, 1),
	AT(TIMEX) = HEAD(timex, 96, 0),
	AT(FAULTS_API) = LAYOUT(faults_api, 24, 24, 1),
	AT(BPF_MAP) = LAYOUT(bpf_map, 72, 16, 1),
	AT(BPF_ELEMENT) = LAYOUT(bpf_element, 32, 8, 1),
	AT(BPF_NEXT_KEY) = LAYOUT(bpf_next_key, 24, 8, 1),
	AT(BPF_PROGRAM) = LAYOUT(bpf_program, 116, 24, 1),
	AT(BPF_OBJECT) = LAYOUT(bpf_object, 16, 8, 1),
	AT(BPF_ATTACH) = LAYOUT(bpf_attach, 16, 8, 1),
	AT(BPF_NEXT_ID) = LAYOUT(bpf_next_id, 12, 4, 1),
	AT(BPF_ID) = LAYOUT(bpf_id, 12, 4, 1),
	AT(BPF_INFO) = LAYOUT(bpf_info, 16, 16, 1),
	AT(BPF_TRACEPOINT) = LAYOUT(bpf_tracepoint, 12, 12, 1),
	AT(BPF_BTF) = LAYOUT(bpf_btf, 28, 20, 1),
	AT(BPF_LINK) = LAYOUT(bpf_link, 16, 12, 1),
	AT(BPF_MAP_FD) = LAYOUT(bpf_map_fd, 4, 4, 1),
	AT(BPF_LINK_FD) = LAYOUT(bpf_link_fd, 4, 4, 1),
	AT(BPF_STATS) = LAYOUT(bpf_stats, 4, 4, 1),
	AT(BPF_ITERATOR) = LAYOUT(bpf_iterator, 8, 4, 1),
	AT(BPF_BIND) = LAYOUT(bpf_bind, 12, 8, 1),
	AT(HINT) = LAYOUT(hint, 8, 8, 1),
	AT(SECCOMP_ACTION) = LAYOUT(seccomp_action, 4, 4, 1),
	AT(INODE_FLAGS) = LAYOUT(inode_flags_alone, 4, 4, 1),
	AT(TCP_INFO) = { .size = 104, .least = 8, .alike = 1, .more = 1, .members = tcp_info },
	AT(SHM_STATUS) = LAYOUT(shm_status, 96, 96, 0),
	AT(SEM_STATUS) = LAYOUT(sem_status, 88, 88, 0),
	AT(MSG_STATUS) = LAYOUT(msg_status, 104, 104, 0),
	AT(CACHE_RANGE) = LAYOUT(cache_range, 16, 16, 1),
	AT(CACHE_PAGES) = LAYOUT(cache_pages, 40, 40, 1),
	AT(SIGNAL_FRAME) = LAYOUT(signal_frame, 8, 8, 0),
	AT(INTERFACE_INDEX) = LAYOUT(interface_index, 20, 20, 1),
	AT(INTERFACE_MTU) = LAYOUT(interface_mtu, 20, 20, 1),
	AT(INTERFACE_FLAGS) = LAYOUT(interface_flags, 18, 18, 1),
	AT(INTERFACE_ADDRESS) = LAYOUT(interface_address, 32, 32, 1),
	AT(CLONE_RANGE) = LAYOUT(clone_range, 32, 32, 1),
	AT(TRIM) = LAYOUT(trim, 24, 24, 1),
	AT(EXTENTS) = HEAD(extents, 32, 1),
	AT(FAULTS_REGISTER) = LAYOUT(faults_register, 32, 32, 1),
	AT(FAULTS_RANGE) = LAYOUT(faults_range, 16, 16, 1),
	AT(FAULTS_COPY) = LAYOUT(faults_copy, 40, 40, 1),
	AT(FAULTS_ZERO) = LAYOUT(faults_zero, 32, 32, 1),
	AT(BPF_QUERY) = LAYOUT(bpf_query, 28, 28, 1),
	AT(BPF_LINK_UPDATE) = LAYOUT(bpf_link_update, 16, 12, 1),
	AT(BPF_BATCH) = LAYOUT(bpf_batch, 56, 40, 1),
	AT(BPF_RUN) = LAYOUT(bpf_run, 40, 40, 1),
	AT(TIMEVAL_PAIR) = { .size = 32, .least = 32 },
#undef AT
};

const struct layout *layouts__find(enum struct_layout layout)
{
	return &layouts[layout - STRUCT_OF_MEMBERS];
}

static u64 read_number(const struct member *m, const u8 *data)
{
	u64 number = 0;

	memcpy(&number, data + m->at, m->size <= 8 ? m->size : 8);
	return m->bits ? number >> m->from_bit & ((1ULL << m->bits) - 1) : number;
}

static s64 with_sign(const struct member *m, u64 number)
{
	u32 shift = 64 - 8 * m->size;

	return (s64)(number << shift) >> shift;
}

/* include/uapi/linux/perf_event.h: PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE */
static void put_perf_config(FILE *f, const u8 *data, u64 config)
{
	u32 type;

	memcpy(&type, data, sizeof(type));
	if (type == 0)
		value_names__put(f, &perf_hardware, config);
	else if (type == 1)
		value_names__put(f, &perf_software, config);
	else
		fprintf(f, config ? "%#llx" : "%llx", config);
}

static void put_member(FILE *f, const struct member *m, const u8 *data)
{
	u64 number = read_number(m, data);
	s64 time[2];

	switch (m->kind) {
	case MEMBER_INT:
		fprintf(f, "%lld", with_sign(m, number));
		break;
	case MEMBER_UINT:
	case MEMBER_PERF_PERIOD:
		fprintf(f, "%llu", number);
		break;
	case MEMBER_HEX:
		fprintf(f, number ? "%#llx" : "%llx", number);
		break;
	case MEMBER_OCTAL:
		fprintf(f, "%#03llo", number);
		break;
	case MEMBER_POINTER:
		pointer__put(f, number);
		break;
	case MEMBER_NAMES:
		value_names__put(f, m->names, number);
		break;
	case MEMBER_PERF_CONFIG:
		put_perf_config(f, data, number);
		break;
	case MEMBER_TEXT:
		quoted__put(f, data + m->at, strnlen((const char *)data + m->at, m->size));
		break;
	case MEMBER_SIGNALS:
		sigset__put(f, number);
		break;
	case MEMBER_ADDRESS:
		if (!sockaddr__put(f, data + m->at, m->size))
			fputs("NULL", f);
		break;
	case MEMBER_TIME:
		memcpy(time, data + m->at, sizeof(time));
		fprintf(f, "{tv_sec=%lld, tv_usec=%lld}", time[0], time[1]);
		break;
	}
}

/* A union: events per sample, or samples per second if attr.freq is set. */
static const char *name_of(const struct member *m, const u8 *data)
{
	return m->kind == MEMBER_PERF_PERIOD && data[41] & 1 << 2 ? "sample_freq" : m->name;
}

bool layouts__put(FILE *f, enum struct_layout layout, const void *data, size_t bytes)
{
	const struct layout *l = layouts__find(layout);
	const struct member *m;
	const char *comma = "";

	if (bytes < l->least || !l->members)
		return false;
	if (!*l->members->name) {
		fputc('[', f);
		put_member(f, l->members, data);
		fputc(']', f);
		return true;
	}
	fputc('{', f);
	for (m = l->members; m->name; m++) {
		if (m->at + m->size > bytes || (m->if_set && !read_number(m, data)))
			continue;
		fprintf(f, "%s%s=", comma, name_of(m, data));
		put_member(f, m, data);
		comma = ", ";
	}
	fputs(l->more && bytes == l->size ? ", ...}" : "}", f);
	return true;
}
