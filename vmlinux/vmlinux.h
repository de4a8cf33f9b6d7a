/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that tally's BPF programs may touch: hand-kept, CO-RE.
 *
 * Only the members that some program reads are listed; the loader relocates each access to the
 * layout of the running kernel, so order and offsets here mean nothing. Rules:
 *  - a struct or member that some kernel between 5.10 and the newest lacks carries the word
 *    "optional" and the versions in its comment, and every use of it stands behind
 *    bpf_core_field_exists() or bpf_core_type_exists();
 *  - an older or newer layout of a struct is a flavour, struct NAME___WHAT, always optional;
 *  - tests/live/test_vmlinux.py holds every line without "optional" against the running kernel.
 */
#ifndef TALLY_VMLINUX_H
#define TALLY_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;

typedef __u16 __le16;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;

typedef _Bool bool;
enum { false = 0, true = 1 };

/* Kernel ABI (include/uapi/linux/bpf.h): the values never change. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29, /* optional: 5.11 */
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
};

enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
};

enum {
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

/* Helpers whose presence is asked for; the number of a helper never changes. */
enum bpf_func_id {
	BPF_FUNC_get_current_task_btf = 158, /* optional: 5.11 */
	BPF_FUNC_task_pt_regs = 175, /* optional: 5.15 */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	unsigned int val;
} kuid_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	unsigned int level;
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	int level;
	struct cgroup_root *root;
	struct kernfs_node *kn;
	struct cgroup *ancestors[1]; /* optional: 6.1, commit 7f203bc89eb6 */
};

/* Before 6.1 a cgroup kept the ids of its ancestors instead of pointers to them. */
struct cgroup___ids {
	u64 ancestor_ids[1]; /* optional: until 6.0 */
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct cred {
	kuid_t uid;
};

struct sched_info { /* optional: CONFIG_SCHED_INFO */
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct task_group {
	struct cfs_rq **cfs_rq; /* optional: CONFIG_FAIR_GROUP_SCHED */
};

struct cfs_rq {
	unsigned int h_nr_queued; /* optional: 6.14, commit 7b8a702d9438 */
	unsigned int h_nr_runnable; /* optional: 6.14, commit c2a295bffeaf */
	struct sched_entity *curr;
	int throttle_count; /* optional: CONFIG_CFS_BANDWIDTH */
	struct rq *rq; /* optional: CONFIG_FAIR_GROUP_SCHED */
};

/* h_nr_queued had another name; Debian's 6.12 has the new ones already. */
struct cfs_rq___running {
	unsigned int h_nr_running; /* optional: until 6.11 */
	unsigned int h_nr_delayed; /* optional: some of 6.12 and 6.13, commit 76f2f783294d */
};

typedef struct {
	int counter;
} atomic_t;

/* The addresses of these alone are taken; but clang 19 crashes at members of no size. */
struct qspinlock {
	atomic_t val;
};

struct raw_spinlock {
	struct qspinlock raw_lock;
};

struct spinlock {
	struct raw_spinlock rlock; /* optional: not with CONFIG_PREEMPT_RT */
};

struct rq {
	struct raw_spinlock __lock; /* optional: 5.14, commit 5cb9eaa3d274 */
	unsigned int nr_running;
	struct cfs_rq cfs;
	int cpu; /* optional: CONFIG_SMP */
	u64 clock;
	u64 clock_task;
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* optional: CONFIG_FAIR_GROUP_SCHED */
	unsigned char sched_delayed; /* optional: 6.12, commit 152e11f6df29 */
	u64 exec_start;
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
	u64 nr_migrations;
};

struct file_system_type {
	const char *name;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct super_block {
	unsigned long s_magic;
	unsigned int s_dev;
	struct file_system_type *s_type;
};

struct timespec64 {
	long long tv_sec;
	long tv_nsec;
};

struct io_kiocb { /* optional: CONFIG_IO_URING */
	u8 opcode;
	void *ctx;
};

struct filename {
	const char *name;
};

struct open_how {
	u64 flags;
	u64 mode;
};

/* The begin of the memory of a request that opens; optional: CONFIG_IO_URING. */
struct io_open {
	int dfd;
	u32 file_slot;
	struct filename *filename;
	struct open_how how;
};

struct delayed_filename { /* optional: since 7.0 */
	struct filename *__incomplete_filename;
};

struct io_open___delayed { /* optional: since 7.0 */
	struct delayed_filename filename;
};

struct io_kiocb___data { /* optional: until 5.18 */
	u64 user_data;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_rdev;
	unsigned long i_ino;
	unsigned int i_generation;
	unsigned int i_nlink;
	long long i_size;
	long long i_mtime_sec; /* optional: 6.11 */
	unsigned int i_mtime_nsec; /* optional: 6.11 */
	struct super_block *i_sb;
	struct hlist_head i_dentry;
};

/* Times of a file until 6.6 (renamed by commit 12cd44023651), and until 6.10 (commit 3aa63a569c64). */
struct inode___old { /* optional: until 6.6 */
	struct timespec64 i_mtime; /* optional: until 6.6 */
};

struct inode___renamed { /* optional: from 6.7 until 6.10 */
	struct timespec64 __i_mtime; /* optional: from 6.7 until 6.10 */
};

struct address_space {
	struct inode *host;
};

/* Memory is managed by folios since 5.16. */
struct folio { /* optional: 5.16 */
	struct address_space *mapping; /* optional: 5.16 */
	unsigned long index; /* optional: 5.16 */
	unsigned int _nr_pages; /* optional: 6.15, in the second page of a large one */
};

struct folio___old { /* optional: from 5.19 until 6.14 */
	unsigned int _folio_nr_pages; /* optional: from 5.19 until 6.14, on 64 bits */
};

/* What mapping and index stood in until then. */
struct page {
	struct address_space *mapping; /* optional: in later kernels by another name */
	unsigned long index; /* optional: in later kernels by another name */
};

enum pageflags {
	PG_head,
};

struct qstr {
	u64 hash_len;
	const unsigned char *name;
};

struct nameidata {
	struct qstr last;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct dentry_u { /* optional: a union without a name in the kernel */
	struct hlist_node d_alias;
};

/* Another layout, should there be one without d_u. */
struct dentry___alias {
	struct hlist_node d_alias; /* optional: not known of any version */
};

struct dentry {
	struct dentry_u d_u; /* optional: as far as is known */
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	int mnt_id;
	struct mnt_namespace *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	const struct file_operations *f_op;
	unsigned int f_mode;
	long long f_pos;
	void *private_data;
	struct address_space *f_mapping;
};

struct kiocb {
	struct file *ki_filp;
	long long ki_pos;
};

struct fs_struct {
	struct path pwd;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* Its address alone is taken. */
struct in6_addr {
};

typedef struct {
	struct net *net; /* optional: CONFIG_NET_NS */
} possible_net_t;

struct sock_common {
	unsigned short skc_family;
	volatile unsigned char skc_state;
	unsigned long skc_flags;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	u16 skc_num;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr; /* optional: CONFIG_IPV6 */
	struct in6_addr skc_v6_rcv_saddr; /* optional: CONFIG_IPV6 */
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	u16 sk_type;
	int sk_err;
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
	struct socket *sk_socket;
};

struct socket {
	short type;
	struct file *file;
	struct sock *sk;
};

struct inet_sock {
	struct sock sk;
	__be16 inet_sport;
};

/* Its addresses and ports are those of a socket. */
struct request_sock {
	struct sock_common __req_common;
	struct request_sock *dl_next;
	struct sock *sk;
};

struct request_sock_queue {
	struct request_sock *rskq_accept_head;
};

/* icsk_ca_state is a bit-field. */
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct request_sock_queue icsk_accept_queue;
	u8 icsk_ca_state;
	u8 icsk_pending;
};

struct minmax_sample {
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 srtt_us;
	struct minmax rtt_min;
	u64 bytes_sent;
	u64 bytes_acked;
	u64 bytes_received;
	u64 bytes_retrans;
	u32 total_retrans;
};

struct tcp_skb_cb {
	u16 tcp_gso_segs;
};

struct netdev_name_node {
	struct net_device *dev;
};

struct net {
	struct ns_common ns;
};

struct net_device {
	char name[16];
	struct netdev_name_node *name_node;
	possible_net_t nd_net;
};

struct napi_struct {
	struct net_device *dev;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	char cb[48];
	unsigned int len;
	unsigned int data_len;
	__be16 protocol;
	u16 network_header;
	unsigned char *head;
	unsigned char *data;
	int skb_iif;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[1];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

/* x86: flags of the entry code (arch/x86/include/asm/thread_info.h). */
/* struct thread_info, thread_struct, pt_regs */
#if defined(__TARGET_ARCH_x86)
#include "vmlinux_x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "vmlinux_arm64.h"
#else
#error "the registers of this machine have to be described in a file beside this one"
#endif

typedef struct {
	s64 counter;
} atomic64_t;

/* owner: its task, whose address leaves the lowest bits for flags. */
struct mutex {
	atomic64_t owner; /* optional: not with CONFIG_PREEMPT_RT */
};

struct rw_semaphore {
	atomic64_t owner; /* optional: not with CONFIG_PREEMPT_RT */
};

struct sighand_struct {
	struct spinlock siglock;
};

/* Where the mappings of a process are since 6.1 (commit d4af56c5c7c6). */
struct maple_tree { /* optional: 6.1 */
	void *ma_root; /* optional: 6.1 */
};

struct maple_range_64 { /* optional: 6.1 */
	unsigned long pivot[15]; /* optional: 6.1 */
	void *slot[16]; /* optional: 6.1 */
};

struct maple_arange_64 { /* optional: 6.1 */
	unsigned long pivot[9]; /* optional: 6.1 */
	void *slot[10]; /* optional: 6.1 */
};

struct xol_area { /* optional: CONFIG_UPROBES */
	unsigned long vaddr; /* optional: CONFIG_UPROBES */
};

struct uprobes_state { /* optional: CONFIG_UPROBES */
	struct xol_area *xol_area; /* optional: CONFIG_UPROBES */
};

/* And before. */
struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct vm_area_struct___rb { /* optional: until 6.0 */
	struct rb_node vm_rb; /* optional: until 6.0 */
};

struct mm_struct___rb { /* optional: until 6.0 */
	struct rb_root mm_rb; /* optional: until 6.0 */
};

struct mm_struct {
	struct maple_tree mm_mt; /* optional: 6.1 */
	struct uprobes_state uprobes_state; /* optional: CONFIG_UPROBES */
	unsigned long start_brk;
	unsigned long brk;
	unsigned long start_code;
	unsigned long start_stack;
	struct rw_semaphore mmap_lock;
	unsigned long exec_vm;
	unsigned long arg_start;
	unsigned long arg_end;
};

struct vm_area_struct {
	struct mm_struct *vm_mm;
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff;
};

/* Until 6.0 a task remembered the mappings it was last looked up in (commit 7964cf8caa4d). */
struct vmacache { /* optional: until 6.0 */
	struct vm_area_struct *vmas[4]; /* optional: until 6.0 */
};

struct kmem_cache {
	unsigned int size;
	unsigned int object_size;
	const char *name;
};

struct arch_uprobe { /* optional: CONFIG_UPROBES */
	u8 insn[16];
};

struct return_instance { /* optional: CONFIG_UPROBES */
	unsigned long stack; /* optional: CONFIG_UPROBES */
	unsigned long orig_ret_vaddr; /* optional: CONFIG_UPROBES */
	struct return_instance *next; /* optional: CONFIG_UPROBES */
};

struct uprobe_task { /* optional: CONFIG_UPROBES */
	struct return_instance *return_instances; /* optional: CONFIG_UPROBES */
	struct arch_uprobe *auprobe; /* optional: 6.11, CONFIG_UPROBES */
};

struct linux_binprm {
	const char *filename;
};

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigpending {
	sigset_t signal;
};

struct signal_struct {
	struct sigpending shared_pending;
	atomic_t live;
	int nr_threads;
	int group_exit_code;
	unsigned int flags;
	unsigned long long sum_sched_runtime;
	struct pid *pids[4]; /* by enum pid_type */
};

/* 5.5 split what the kernel keeps of a siginfo from what user space sees (commit 4ce5f9c9e754). */
struct kernel_siginfo {
	int si_signo;
	int si_errno;
	int si_code;
};

struct task_io_accounting {
	u64 syscr; /* optional: CONFIG_TASK_XACCT */
};

/* on_cpu, on_rq: an int each, in 7.2 a byte. CO-RE resizes loads of what is unsigned. */
struct seccomp {
	int mode; /* optional: CONFIG_SECCOMP */
};

struct restart_futex { /* optional: without a name in the kernel */
	u32 *uaddr;
};

struct restart_block {
	struct restart_futex futex;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* optional: 5.14, commit 2f064a59a11f */
	void *stack;
	unsigned int flags;
	unsigned int ptrace;
	unsigned int on_cpu; /* optional: CONFIG_SMP */
	unsigned int on_rq;
	int prio;
	bool throttled; /* optional: 6.18, with CONFIG_CFS_BANDWIDTH */
	int pid;
	int tgid;
	char comm[16];
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct task_struct *parent;
	struct completion *vfork_done;
	int *clear_child_tid;
	unsigned long blocker; /* optional: 6.16, with CONFIG_DETECT_HUNG_TASK_BLOCKER */
	struct mm_struct *mm;
	u64 self_exec_id;
	struct uprobe_task *utask; /* optional: CONFIG_UPROBES */
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	sigset_t blocked;
	struct sigpending pending;
	unsigned long jobctl;
	struct restart_block restart_block;
	int exit_state;
	int exit_code;
	unsigned int in_iowait : 1;
	unsigned int in_memstall : 1; /* optional: CONFIG_PSI */
	unsigned int memcg_nr_pages_over_high; /* optional: CONFIG_MEMCG */
	u64 utime;
	u64 stime;
	u64 start_time;
	struct sched_entity se;
	struct sched_info sched_info; /* optional: CONFIG_SCHED_INFO */
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct task_io_accounting ioac; /* optional: CONFIG_TASK_XACCT */
	const struct cred *cred;
	struct seccomp seccomp; /* optional: CONFIG_SECCOMP */
	struct pid *thread_pid;
	struct fs_struct *fs;
	struct files_struct *files;
	struct css_set *cgroups;
	int pagefault_disabled;
	struct thread_struct thread;
};

/* Until 5.13 the state was a signed long with another name. */
struct task_struct___state {
	volatile long state; /* optional: until 5.13 */
};

/* Until 5.15 the CPU of a task stood beside its thread_info. */
struct task_struct___cpu {
	unsigned int cpu; /* optional: until 5.15 */
};

struct task_struct___vmacache {
	struct vmacache vmacache; /* optional: until 6.0 */
};

struct gendisk {
	int major;
	int first_minor;
	struct request_queue *queue;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct blkcg { /* optional: CONFIG_BLK_CGROUP */
	struct cgroup_subsys_state css;
};

struct blkcg_gq { /* optional: CONFIG_BLK_CGROUP */
	struct blkcg *blkcg;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev; /* optional: 5.12 */
	unsigned int bi_opf;
	struct blkcg_gq *bi_blkg; /* optional: CONFIG_BLK_CGROUP */
};

/* Until 5.11 a bio named the disk itself. */
struct bio___disk {
	struct gendisk *bi_disk; /* optional: until 5.11 */
};

struct request_queue {
	struct gendisk *disk; /* optional: 5.15 */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	unsigned long __sector;
	struct bio *bio;
	u64 start_time_ns;
};

/* Until 5.16 a request named its disk itself. */
struct request___disk {
	struct gendisk *rq_disk; /* optional: until 5.16 */
};

/* The context of iter/task programs (5.8, kernel/bpf/task_iter.c). */
struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* 5.9, kernel/bpf/map_iter.c */
struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
};

/* CONFIG_CGROUPS controllers: numbers differ between configurations, so only the names count. */
enum cgroup_subsys_id {
	cpuset_cgrp_id,     /* optional: CONFIG_CPUSETS */
	cpu_cgrp_id,        /* optional: CONFIG_CGROUP_SCHED */
	cpuacct_cgrp_id,    /* optional: CONFIG_CGROUP_CPUACCT */
	io_cgrp_id,         /* optional: CONFIG_BLK_CGROUP */
	memory_cgrp_id,     /* optional: CONFIG_MEMCG */
	devices_cgrp_id,    /* optional: CONFIG_CGROUP_DEVICE */
	freezer_cgrp_id,    /* optional: CONFIG_CGROUP_FREEZER */
	net_cls_cgrp_id,    /* optional: CONFIG_CGROUP_NET_CLASSID */
	perf_event_cgrp_id, /* optional: CONFIG_CGROUP_PERF */
	net_prio_cgrp_id,   /* optional: CONFIG_CGROUP_NET_PRIO */
	hugetlb_cgrp_id,    /* optional: CONFIG_CGROUP_HUGETLB */
	pids_cgrp_id,       /* optional: CONFIG_CGROUP_PIDS */
	rdma_cgrp_id,       /* optional: CONFIG_CGROUP_RDMA */
	misc_cgrp_id,       /* optional: CONFIG_CGROUP_MISC, 5.13 */
};

struct irqaction {
	const char *name;
};

struct hrtimer_clock_base {
	s64 offset;
};

struct hrtimer {
	s64 _softexpires;
	struct hrtimer_clock_base *base;
	u8 is_soft;
	void *function;
};

struct timer_list {
	unsigned long expires;
	void *function;
};

struct workqueue_struct {
	char name[24];
};

struct pool_workqueue {
	struct workqueue_struct *wq;
};

struct work_struct {
	void *func;
};

/* Bits of request.cmd_flags: some have moved, so only the names count. */
enum req_flag_bits {
	__REQ_SYNC,
	__REQ_META,
	__REQ_PRIO,
	__REQ_FUA,
	__REQ_PREFLUSH,
	__REQ_RAHEAD,
	__REQ_BACKGROUND,
	__REQ_NOWAIT,
};

#pragma clang attribute pop

/* Kernel ABI (include/uapi/linux/bpf.h): contexts and results of helpers. */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

#endif /* TALLY_VMLINUX_H */
