// SPDX-License-Identifier: BSD-2-Clause
/*
 * kvmstat: exits of virtual CPUs from their guests, and their times. See bpf/machine/kvmstat.bpf.c.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/task_state.h"
#include "machine/exit_names.h"
#include "report/diag.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/tabulate.h"
#include "tools.h"
#include "types/tracefs.h"

#include "bpf/machine/kvmstat.h"
#include "kvmstat.skel.h"

SKELETON(kvmstat);

#define SOURCE "tracepoint/kvm:kvm_exit, raw_tp/kvm_entry"

/* Default limit of keys, and segments per key, by CPU and range of times. */
#define USUAL_MAX_KEYS 4096
#define SEGMENTS_PER_KEY 8

struct kvmstat {
	u32 exit_id;            /* id of the tracepoint */
	struct kvmstat_bpf *bpf;
	bool ended;
};

/* Times in the guest are never added to times outside the guest. */
static int check(void *context, struct cli *cli)
{
	(void)context;
	if (!cli->by)
		cli->by = BY_EXIT_REASON;
	cli->by |= BY_VCPU_STATE;
	if (!cli->asked_keys)
		cli->max_keys = USUAL_MAX_KEYS;
	return 0;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/*
 * Adds unfinished times at the end, except if the CPU matters: an iterator runs on any CPU, so it does not know the CPU
 * of these times.
 */
static void end_measurement(struct kvmstat *k, const struct measurement *m)
{
	if (k->ended || !m->writer->is_last)
		return;
	k->ended = true;
	k->bpf->bss->ended_ns = m->ended_ns ?: m->run->ended_ns ?: monotonic_ns();
	if (m->cli->scope.cpus || m->cli->by & BY_CPU)
		return;
	if (tasks__visit(k->bpf->progs.show_running))
		diag_detail("no task iterator: events in progress at the end are not in the report");
}

/* Commit 791a089861fc (6.5) moved the tracepoint of SVM to the point right after the exit. */
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
		r->caveat = "on AMD before Linux 6.5, guest time includes the interrupts and preemptions that end it";
	r->nothing = "no virtual CPU in scope entered or left its guest";
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

/* Checks that KVM is present, and that exits are reported in a known format. */
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
	diag_error("kvm:kvm_exit of this kernel does not have the x86 format");
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
	err = task_state__prepare(bpf->obj, "vcpus", &m->run->host);
	bpf->rodata->began_ns = monotonic_ns();
	if (!err)
		err = measure__prepare(&m->measure, m, bpf->obj, "times",
				       sizeof(struct kvmstat_key));
	/* Exits run with interrupts off, where allocation may fail. */
	return err ?: map__preallocate(bpf->maps.keyed_times,
				      (u64)SEGMENTS_PER_KEY * m->cli->max_keys);
}

/* Attaches by number, since libbpf would need tracefs to be mounted. Attaching to one CPU attaches to all. */
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

	if (!err)
		err = attach_exits(k);
	return err ?: measurement__attach_programs(m);
}

static const struct tool_spec spec = {
	.name = "kvmstat",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.usual_keys = USUAL_MAX_KEYS,
		.doc = "Why virtual CPUs (KVM) leave their guests and for how long; how long they "
		       "run in them. --by pid: machines, --by tid: virtual CPUs.",
		.own_parts = &kvm_parts,
	},
	.own_size = sizeof(struct kvmstat), .skeleton = &kvmstat_skeleton,
	.check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = SOURCE,
};

TOOL_MEASURING(kvmstat, spec, AREA_MACHINE,
	       "virtual machines: why their CPUs exit, for how long, guest and host");
