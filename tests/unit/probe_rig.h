/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the programs of probe in the kernel with hand-written bodies, on two system calls that the
 * test makes: getpriority(value, key) is the event or the begin of a span, getpgid(key) its end.
 */
#ifndef TALLY_TESTS_PROBE_RIG_H
#define TALLY_TESTS_PROBE_RIG_H

#include "unit.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event/splice.h"
#include "jit/code.h"
#include "report/diag.h"
#include "types/tracefs.h"

#include "bpf/lib/event.h"
#include "bpf/lib/loss.h"
#include "bpf/lib/probe.h"
#include "bpf/lib/scope.h"
#include "bpf/lib/stack.h"
#include "probe.skel.h"

#define FRAME(member) ((int)offsetof(struct probe_frame, member))

/* Offsets of the arguments in the records of sys_enter_getpriority and sys_enter_getpgid. */
#define ARG0 16
#define ARG1 24

/* --- bodies ------------------------------------------------------------------------------------ */

enum { CTX = BPF_REG_6, F = BPF_REG_7 };

static inline void begin_body(struct code *c)
{
	*c = (struct code){};
	code__move(c, CTX, BPF_REG_1);
	code__move(c, F, BPF_REG_2);
}

/* Touches all of the stack that a body may use. */
static inline void end_body(struct code *c, int result)
{
	code__set(c, BPF_REG_0, result);
	code__store(c, BPF_DW, BPF_REG_10, BPF_REG_0, -256);
	code__exit(c);
	assert_int_equal(code__finish(c), 0);
}

/* The filter returns 1 unless the first argument is 13. */
static inline void make_filter(struct code *c, bool has_record)
{
	int label;

	begin_body(c);
	label = code__label(c);
	if (has_record) {
		code__load(c, BPF_W, BPF_REG_0, CTX, ARG0);
		code__jump_if_number(c, BPF_JNE, BPF_REG_0, 13, label);
		code__set(c, BPF_REG_0, 0);
		code__exit(c);
	}
	code__place(c, label);
	end_body(c, 1);
}

/* Stores the first argument, sign-extended, in value. With bounds, stores it in order, and its parity in value. */
static inline void make_value(struct code *c, bool has_record, bool bounds)
{
	begin_body(c);
	if (has_record)
		code__load(c, BPF_W, BPF_REG_0, CTX, ARG0);
	else
		code__set(c, BPF_REG_0, 7);
	code__op_number(c, BPF_LSH, BPF_REG_0, 32);
	code__op_number(c, BPF_ARSH, BPF_REG_0, 32);
	if (bounds) {
		code__store(c, BPF_DW, F, BPF_REG_0, FRAME(order));
		code__op_number(c, BPF_AND, BPF_REG_0, 1);
	}
	code__store(c, BPF_DW, F, BPF_REG_0, FRAME(value));
	end_body(c, 0);
}

/* Makes a key of size bytes: an argument at from, and zeroes after it. */
static inline void make_key(struct code *c, bool has_record, int arg, u32 from, u32 size)
{
	u32 i;

	begin_body(c);
	if (has_record)
		code__load(c, BPF_W, BPF_REG_0, CTX, arg);
	else
		code__set(c, BPF_REG_0, 9);
	for (i = from; i < size; i += 4) {
		code__store(c, BPF_W, F, BPF_REG_0, FRAME(key) + i);
		code__set(c, BPF_REG_0, 0);
	}
	code__set(c, BPF_REG_0, size);
	code__store(c, BPF_W, F, BPF_REG_0, FRAME(size));
	end_body(c, 0);
}

static inline void make_match(struct code *c, bool has_record, int arg)
{
	begin_body(c);
	if (has_record)
		code__load(c, BPF_W, BPF_REG_0, CTX, arg);
	else
		code__set(c, BPF_REG_0, 1);
	code__store(c, BPF_DW, F, BPF_REG_0, FRAME(match));
	end_body(c, 0);
}

/* --- the object -------------------------------------------------------------------------------- */

struct setting {
	u32 what;
	bool keyed, span;
	u32 key_size, begin_key;
	bool begin_value, in_thread, count_unmatched, only_tracepoints;
	bool counts_ends, ignores_left;
	u32 uid;                /* uid of the scope; 0: all */
	u32 named;
	u64 bias;
	u32 room;               /* elements of keyed maps; 0: 1000 */
	u32 ring;               /* bytes of the ring buffer; 0: 4096 */
	void (*make_key)(struct code *c);       /* replaces the default make_key() */
};

struct rig {
	struct setting set;
	struct probe_bpf *bpf;
	int fd[32];
	size_t nfds;
};

static inline bool is_large(const struct setting *s)
{
	return s->span || s->what == PROBE_STREAM || (s->keyed && s->key_size > PROBE_KEY_SMALL);
}

static inline void size_maps(struct rig *r)
{
	const struct setting *s = &r->set;
	u32 key = sizeof(struct hist_slot) + (s->keyed ? s->key_size : 8), room = s->room ?: 1000;

	bpf_map__set_max_entries(r->bpf->maps.sums, 8);
	bpf_map__set_key_size(r->bpf->maps.keyed_sums, key);
	bpf_map__set_max_entries(r->bpf->maps.keyed_sums, room);
	bpf_map__set_key_size(r->bpf->maps.keyed_values, key);
	bpf_map__set_max_entries(r->bpf->maps.keyed_values, room);
	bpf_map__set_key_size(r->bpf->maps.starts, 8);
	bpf_map__set_value_size(r->bpf->maps.starts, sizeof(struct probe_begin) + s->begin_key);
	bpf_map__set_max_entries(r->bpf->maps.starts, room);
	bpf_map__set_max_entries(r->bpf->maps.records, s->ring ?: 4096);
}

/* Opens the object and loads the templates that are wanted by name ("": all that need no target). */
static inline void load(struct rig *r, const char *const *wanted, size_t n)
{
	struct bpf_program *prog;
	size_t i;
	int err;

	libbpf_set_print(NULL);
	r->bpf = probe_bpf__open();
	assert_non_null(r->bpf);
	r->bpf->rodata->what = r->set.what;
	r->bpf->rodata->keyed = r->set.keyed;
	r->bpf->rodata->key_size = r->set.key_size;
	r->bpf->rodata->large = is_large(&r->set);
	r->bpf->rodata->bias = r->set.bias;
	r->bpf->rodata->named = r->set.named;
	r->bpf->rodata->begin_key = r->set.begin_key;
	r->bpf->rodata->begin_value = r->set.begin_value;
	r->bpf->rodata->span_in_thread = r->set.in_thread;
	r->bpf->rodata->count_unmatched = r->set.count_unmatched;
	r->bpf->rodata->only_tracepoints = r->set.only_tracepoints;
	r->bpf->rodata->counts_ends = r->set.counts_ends;
	r->bpf->rodata->ignores_left = r->set.ignores_left;
	memcpy((void *)&r->bpf->rodata->scope, &(struct scope_config){ .has_uid = r->set.uid, .uid = r->set.uid },
	       sizeof(r->bpf->rodata->scope));
	size_maps(r);
	bpf_object__for_each_program(prog, r->bpf->obj) {
		bpf_program__set_autoload(prog, false);
		for (i = 0; i < n; i++)
			if (!strcmp(bpf_program__name(prog), wanted[i]))
				bpf_program__set_autoload(prog, true);
		if (strstr(bpf_program__section_name(prog), "fe"))
			bpf_program__set_attach_target(prog, 0, "vfs_read");
	}
	err = probe_bpf__load(r->bpf);
	if (err == -EPERM || err == -EACCES) {
		print_message("programs cannot be loaded here (%s)\n", strerror(-err));
		probe_bpf__destroy(r->bpf);
		skip();
	}
	assert_int_equal(err, 0);
}

/*
 * Loads a copy of a template with its bodies. has_record: the context is the record of a system
 * call, whose argument at arg is both the key and the match.
 */
static inline int load_copy(struct rig *r, const char *name, u32 slot, bool has_record, int arg)
{
	struct bpf_program *template = bpf_object__find_program_by_name(r->bpf->obj, name);
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	bool begin = !strncmp(name, "begin", 5);
	struct code code[EVENT_BODIES];
	struct splice copy;
	size_t i;
	int fd;

	make_filter(&code[EVENT_FILTER], has_record);
	make_value(&code[EVENT_VALUE], has_record, r->set.what == PROBE_BOUNDS);
	if (r->set.make_key)
		r->set.make_key(&code[EVENT_KEY]);
	else
		make_key(&code[EVENT_KEY], has_record, arg, begin ? 0 : r->set.begin_key,
			 begin ? r->set.begin_key : r->set.key_size);
	make_match(&code[EVENT_MATCH], has_record, arg);
	assert_int_equal(splice__begin(&copy, bpf_program__insns(template),
				       bpf_program__insn_cnt(template)), 0);
	for (i = 0; i < EVENT_BODIES; i++) {
		assert_int_equal(splice__put_body(&copy, EVENT_BODY_MARK + i, code[i].insn, code[i].n), 0);
		code__free(&code[i]);
	}
	splice__put_number(&copy, EVENT_SLOT_MARK, slot);
	opts.expected_attach_type = bpf_program__expected_attach_type(template);
	if (bpf_program__type(template) == BPF_PROG_TYPE_TRACING)
		opts.attach_btf_id = libbpf_find_vmlinux_btf_id("vfs_read", opts.expected_attach_type);
	fd = bpf_prog_load(bpf_program__type(template), name, "Dual BSD/GPL", copy.insn, copy.n, &opts);
	if (fd < 0) {
		diag_verbose(true);
		splice__explain(&copy, bpf_program__type(template), &opts);
		fail_msg("%s is refused: %s", name, strerror(-fd));
	}
	splice__free(&copy);
	r->fd[r->nfds++] = fd;
	assert_true(r->nfds < ARRAY_SIZE(r->fd) - 1);
	return fd;
}

static inline u32 tracepoint_id(const char *name)
{
	int dir = tracefs__open(), err;
	u32 id = 0;

	err = dir < 0 ? dir : tracepoint__id(dir, "syscalls", name, &id);
	if (err) {
		print_message("%s cannot be had here (%s)\n", name, strerror(-err));
		skip();
	}
	close(dir);
	return id;
}

static inline void attach(struct rig *r, const char *template, const char *event, u32 slot, int arg)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1,
		.config = tracepoint_id(event),
	};
	int prog = load_copy(r, template, slot, true, arg);
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog), 0);
	r->fd[r->nfds++] = fd;
}

static inline void start(struct rig *r, const struct setting *s)
{
	static const char *const templates[] = { "on_tracepoint", "begin_tracepoint", "end_tracepoint" };

	*r = (struct rig){ .set = *s };
	load(r, templates, ARRAY_SIZE(templates));
	if (s->span) {
		attach(r, "begin_tracepoint", "sys_enter_getpriority", 0, ARG1);
		attach(r, "end_tracepoint", "sys_enter_getpgid", 0, ARG0);
	} else {
		attach(r, "on_tracepoint", "sys_enter_getpriority", 2, ARG1);
	}
	r->bpf->bss->armed = 1;
}

static inline void stop(struct rig *r)
{
	while (r->nfds)
		close(r->fd[--r->nfds]);
	probe_bpf__destroy(r->bpf);
}

static inline void event(int value, u32 key)
{
	syscall(SYS_getpriority, value, key);
}

static inline void end_event(u32 match)
{
	syscall(SYS_getpgid, match);
}

/* Returns how many runs the kernel skipped: since 7.0 a program can be preempted, and then no other one runs there. */
static inline u64 misses(const struct rig *r)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < r->nfds; i++) {
		struct bpf_prog_info info = {};
		u32 len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(r->fd[i], &info, &len))
			sum += info.recursion_misses;
	}
	return sum;
}

static inline struct loss_counters losses(const struct rig *r)
{
	int cpus = libbpf_num_possible_cpus(), cpu, fd = bpf_map__fd(r->bpf->maps.losses);
	struct loss_counters each[cpus], all = {};
	u32 zero = 0, i;

	assert_int_equal(bpf_map_lookup_elem(fd, &zero, each), 0);
	for (cpu = 0; cpu < cpus; cpu++) {
		all.filtered += each[cpu].filtered;
		for (i = 0; i < LOSS_REASONS; i++)
			all.lost[i] += each[cpu].lost[i];
	}
	return all;
}

/* Adds one element to another. */
static inline void add_up(struct probe_sum *all, const struct probe_sum *one)
{
	all->count += one->count;
	all->sum += one->sum;
	if (one->max > all->max)
		all->max = one->max;
	if (one->min_inv > all->min_inv)
		all->min_inv = one->min_inv;
	memcpy(all->name, one->name, sizeof(all->name));
}

/* Returns the sum of all elements whose keys begin with key. */
static inline struct probe_sum sum_of(const struct rig *r, u32 key)
{
	int fd = bpf_map__fd(r->bpf->maps.keyed_sums);
	struct probe_sum all = {}, one;
	u8 at[sizeof(struct hist_slot) + PROBE_KEY_MOST], *from = NULL;

	while (!bpf_map_get_next_key(fd, from, at)) {
		from = at;
		if (memcmp(at + sizeof(struct hist_slot), &key, sizeof(key)))
			continue;
		assert_int_equal(bpf_map_lookup_elem(fd, at, &one), 0);
		add_up(&all, &one);
	}
	return all;
}

/* Returns the sum in the first interval. */
static inline struct probe_sum plain_sum(const struct rig *r, u32 event_number)
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	struct probe_sum each[cpus], all = {};

	if (probe_sum__in_turns(r->set.what, 0))
		event_number *= 2;
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(r->bpf->maps.sums), &event_number, each), 0);
	for (cpu = 0; cpu < cpus; cpu++)
		add_up(&all, &each[cpu]);
	return all;
}

#endif /* TALLY_TESTS_PROBE_RIG_H */
