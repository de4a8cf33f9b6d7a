// SPDX-License-Identifier: BSD-2-Clause
/* kvmstat: why virtual CPUs leave their guests, and for how long. See bpf/machine/kvmstat.bpf.c. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/task_state.h"
#include "machine/exit_names.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/last.h"
#include "run/tabulate.h"
#include "tools.h"
#include "types/tracefs.h"

#include "bpf/machine/kvmstat.h"
#include "kvmstat.skel.h"

SKELETON(kvmstat);

#define SOURCE "tracepoint/kvm:kvm_exit, raw_tp/kvm_entry"
#define KEY_HIST 0x1000

/* How many keys there is room for, and how many segments a key fills, by CPU and size of times. */
#define USUAL_MAX_KEYS 4096
#define SEGMENTS_PER_KEY 8

struct kvmstat {
	bool hist;
	u32 exit_id;            /* of the tracepoint */
	struct kvmstat_bpf *bpf;
	struct last_report last;
	bool ended;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct kvmstat *k = state->input;

	(void)arg;
	if (key != KEY_HIST)
		return ARGP_ERR_UNKNOWN;
	k->hist = true;
	return 0;
}

/* Times in the guest are never added to times out of it. */
static int check(void *context, struct cli *cli)
{
	struct kvmstat *k = context;

	if (!cli->by)
		cli->by = BY_EXIT_REASON;
	cli->by |= BY_VCPU_STATE;
	if (!cli->asked_keys)
		cli->max_keys = USUAL_MAX_KEYS;
	k->hist |= cli->heat;
	return 0;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/*
 * Adds what goes on at the end. Where the CPU matters, an iterator, which runs on any of them,
 * cannot say on which that is.
 */
static void end_measurement(struct kvmstat *k, const struct measurement *m)
{
	if (k->ended || !last_report__is_now(&k->last, m))
		return;
	k->ended = true;
	k->bpf->bss->ended_ns = monotonic_ns();
	if (m->cli->scope.cpus || m->cli->by & BY_CPU)
		return;
	if (tasks__visit(k->bpf->progs.show_running))
		diag_detail("no task iterator: what goes on at the end is not in the report");
}

/* Commit 791a089861fc (6.5) moved SVM's tracepoint to where the guest has just been left. */
static bool tells_late(const struct measurement *m)
{
	return m->run->host.version < KERNEL_VERSION(6, 5, 0) && !access("/sys/module/kvm_amd", F_OK);
}

static int report(struct measurement *m, struct report *r)
{
	static const struct tabulation columns = { .share = "vcpu_percent", .subtotals = true };
	struct kvmstat *k = m->own;

	end_measurement(k, m);
	r->value = "time of virtual CPUs in and out of their guests";
	r->unit = UNIT_NS;
	r->source = SOURCE;
	if (tells_late(m))
		r->caveat = "before Linux 6.5, interrupts and preemption that end a stretch in the "
			    "guest are still part of it (AMD)";
	r->nothing = "no virtual CPU in scope entered or left its guest";
	if (k->hist)
		return measure__report(&m->measure, m, r);
	return measure__tabulate(&m->measure, m, r, &columns);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static bool has_field(const struct tracepoint_format *f, const char *name, size_t offset)
{
	size_t i;

	for (i = 0; i < f->nfields; i++)
		if (!strcmp(f->field[i].name, name))
			return f->field[i].offset == offset && f->field[i].size == sizeof(u32);
	return false;
}

/* Are there machines to look at, and are exits told of in the way we know? */
static int find_tracepoint(u32 *id)
{
	struct tracepoint_format format = {};
	int tracefs = tracefs__open(), err = tracefs;
	bool known;

	if (tracefs >= 0) {
		err = tracepoint_format__read(&format, tracefs, "kvm", "kvm_exit");
		close(tracefs);
	}
	if (tracefs >= 0 && err == -ENOENT) {
		diag_error("KVM is not loaded: the kernel has no tracepoint kvm:kvm_exit");
		diag_hint("modprobe kvm_intel or kvm_amd; they need a CPU with vmx or svm in "
			  "/proc/cpuinfo");
		return -EOPNOTSUPP;
	}
	if (err)
		return err;
	*id = format.id;
	known = has_field(&format, "exit_reason", offsetof(struct kvm_exit_record, exit_reason)) &&
		has_field(&format, "isa", offsetof(struct kvm_exit_record, isa));
	tracepoint_format__free(&format);
	if (known)
		return 0;
	diag_error("kvm:kvm_exit of this kernel is not the one of x86");
	diag_hint("stat -e kvm:kvm_exit,kvm:kvm_entry counts exits");
	return -EOPNOTSUPP;
}

static int open_skeleton(struct measurement *m)
{
	struct kvmstat *k = m->own;
	struct kvmstat_bpf *bpf;
	int err = find_tracepoint(&k->exit_id);

	if (err)
		return err;
	bpf = m->bpf;
	k->bpf = bpf;
	bpf_program__set_autoattach(bpf->progs.on_exit, false);
	err = task_state__prepare(bpf->obj, "vcpus", &m->run->host);
	bpf->rodata->began_ns = monotonic_ns();
	if (!err)
		err = measure__prepare(&m->measure, m, bpf->obj, "times",
				       sizeof(struct kvmstat_key));
	/* Guests are left with interrupts off: memory may not be had at that moment. */
	return err ?: map__preallocate(bpf->maps.keyed_times,
				      (u64)SEGMENTS_PER_KEY * m->cli->max_keys);
}

/* By number: libbpf would want tracefs to be mounted. On one CPU it is attached to all. */
static int attach_exits(struct kvmstat *k)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = k->exit_id,
		.sample_period = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	k->bpf->links.on_exit = bpf_program__attach_perf_event(k->bpf->progs.on_exit, fd);
	if (k->bpf->links.on_exit)
		return 0;
	err = -errno;
	close(fd);
	return err;
}

static int attach(struct measurement *m)
{
	struct kvmstat *k = m->own;
	int err = measure__begin(&m->measure, m, "times");

	k->last.began_ns = monotonic_ns();
	if (!err)
		err = attach_exits(k);
	return err ?: measurement__attach_programs(m);
}

static const struct argp_option option_list[] = {
	{ "hist", KEY_HIST, NULL, 0, "A histogram for each key, not a table", 1 },
	{},
};
static const struct argp own_argp = { .options = option_list, .parser = parse_own };

static const struct tool_spec spec = {
	.name = "kvmstat",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.usual_keys = USUAL_MAX_KEYS,
		.doc = "Why virtual CPUs (KVM) leave their guests and for how long; how long they "
		       "run in them. --by pid: machines, --by tid: virtual CPUs.",
		.own = &own_argp,
		.own_parts = &kvm_parts,
	},
	.own_size = sizeof(struct kvmstat), .skeleton = &kvmstat_skeleton,
	.check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = SOURCE,
};

TOOL_MEASURING(kvmstat, spec, AREA_MACHINE,
	       "virtual machines: why their CPUs exit, for how long, guest and host");
