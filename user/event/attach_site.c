// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach_site.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/numbers.h"
#include "event/attach_copy.h"
#include "event/attach_way.h"
#include "host/features.h"
#include "host/host.h"
#include "report/diag.h"

/* --- perf events ----------------------------------------------------------------------------- */

/* pid: the process whose code gets the probe; 0 for all */
static int open_event(const struct perf_event_attr *attr, u32 pid)
{
	/*
	 * A program on such an event runs on all CPUs, regardless of the CPU that the event is
	 * opened on: it is attached to the trace event itself (perf_event_attach_bpf_prog()).
	 */
	int fd = syscall(SYS_perf_event_open, attr, pid ? (int)pid : -1, pid ? -1 : 0, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int attach_to_event(struct attachments *a, const struct perf_event_attr *attr, u32 pid,
			   int prog)
{
	int fd = open_event(attr, pid), err = 0;

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return attach__keep(a, fd);
}

static int attach_tracepoint(struct attachments *a, const struct event_site *s, u32 slot,
			     const struct attach_code *code, const struct attach_programs *p)
{
	const struct attach_kind kind = { .type = BPF_PROG_TYPE_TRACEPOINT, .code = code };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = s->tracepoint_id,
		.sample_period = 1, .disabled = 1,
	};
	int prog = attach__copy(a, code && code->by_record ? p->filtered_tracepoint : p->tracepoint,
				&kind, slot),
	    err;

	if (prog < 0)
		return prog;
	err = attach_to_event(a, &attr, 0, prog);
	close(prog);
	return err;
}

/* Returns the PMU's type number for perf_event_open(), or a negative errno. */
static int pmu_type(const char *name)
{
	char path[128], line[32];
	u64 type;
	int err;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	err = read_line(path, line, sizeof(line));
	if (err)
		return err;
	return parse_u64_between(line, 0, INT32_MAX, &type) ? -EINVAL : (int)type;
}

static int attach_probe(struct attachments *a, const struct event_site *s, u32 slot, bool user,
			const struct attach_code *code, const struct attach_programs *p)
{
	const struct attach_kind kind = { .type = BPF_PROG_TYPE_KPROBE, .code = code };
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_period = 1, .disabled = 1 };
	int type = pmu_type(user ? "uprobe" : "kprobe"), prog, err;
	char name[256];

	if (type < 0)
		return -EOPNOTSUPP;
	attr.type = type;
	/* format/retprobe is bit 0 of config, format/ref_ctr_offset is the upper half. */
	attr.config = (s->is_return && !s->is_exit) | s->semaphore << 32;
	if (user) {
		attr.uprobe_path = (uintptr_t)s->path;
		attr.probe_offset = s->file_offset;
	} else if (s->address) {
		attr.kprobe_addr = s->address;
	} else {
		attr.kprobe_func = (uintptr_t)attach_function_name(s, name, sizeof(name));
		attr.probe_offset = s->offset;
	}
	prog = attach__copy(a, p->probe, &kind, slot);
	if (prog < 0)
		return prog;
	err = attach_to_event(a, &attr, user ? p->pid : 0, prog);
	close(prog);
	return err;
}

/* --- tracepoints and functions by themselves ------------------------------------------------- */

static int attach_raw_tracepoint(struct attachments *a, const struct event_site *s, u32 slot,
				 const struct attach_code *code, const struct attach_programs *p)
{
	const struct attach_kind kind = { .type = BPF_PROG_TYPE_RAW_TRACEPOINT, .code = code };
	bool task = !code && tracepoint_has_task(s->name);
	int prog = attach__copy(a, task ? p->raw_tracepoint_task : p->raw_tracepoint, &kind, slot),
	    err;

	if (prog < 0)
		return prog;
	err = attach__keep(a, bpf_raw_tracepoint_open(strchr(s->name, ':') + 1, prog));
	close(prog);
	return err;
}

static int attach_function(struct attachments *a, const struct event_site *s, u32 slot,
			   const struct attach_code *code, const struct attach_programs *p)
{
	struct attach_kind kind = {
		.type = BPF_PROG_TYPE_TRACING,
		.code = code,
		.attach = s->is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
	};
	char name[256];
	int prog, err;

	err = libbpf_find_vmlinux_btf_id(attach_function_name(s, name, sizeof(name)), kind.attach);
	if (err < 0)
		return err;
	kind.btf_id = err;
	prog = attach__copy(a, s->is_return ? p->fexit : p->fentry, &kind, slot);
	if (prog < 0)
		return prog;
	err = attach__keep(a, bpf_raw_tracepoint_open(NULL, prog));
	close(prog);
	return err;
}

/* include/linux/errno.h: returned by arch_uprobe_analyze_insn(). */
#define ENOTSUPP 524

/* --- a site ---------------------------------------------------------------------------------- */

static const char *reason(int err)
{
	switch (err) {
	case -EILSEQ:
		return "no instruction begins there";
	case -ENOENT:
		return "the kernel does not know this place";
	case -EOPNOTSUPP:
	case -ENOTSUPP:
		return "the kernel cannot put a probe on this instruction";
	case -EADDRNOTAVAIL:
	case -EINVAL:
		return "the kernel does not allow a probe there";
	default:
		return strerror(-err);
	}
}

/* True if a machine setting may be the reason: it would affect all sites of a glob. */
static bool is_of_settings(const struct attachments *a, int err)
{
	return a->program_refused && (err == -EINVAL || (err == -EPERM && right_held(RIGHT_SYS_ADMIN)));
}

int attach_course__refuse(struct attach_course *k, size_t i, int err)
{
	const struct event_site *s = &k->sites->site[i];
	const struct event *e = s->event;
	char setting[FEATURE_HINT];

	if (err == -EACCES)
		err = -EPERM;
	if (is_of_settings(k->a, err) && features__describe_setting(setting)) {
		*k->which = i;
		complain(k->c, 0, e->at, e->len, "cannot attach to %s: the kernel refuses the program", s->name);
		return complain_hint(k->c, -EOPNOTSUPP, "%s", setting);
	}
	if (err != -EMFILE && err != -ENOMEM && err != -EPERM && strcmp(e->name, s->name) &&
	    strpbrk(e->name, "*?[")) {
		diag_detail("%s is left out: %s", s->name, reason(err));
		k->a->refused++;
		return 0;
	}
	*k->which = i;
	/* Perf events created by tracers need another program type: perf_event_set_bpf_prog(). */
	if (k->a->way[i] == ATTACH_TRACEPOINT && err == -EINVAL) {
		complain(k->c, 0, e->at, e->len, "%s was made by a tracer (perf probe, kprobe_events, "
						 "uprobe_events): tracepoint programs cannot attach to it", s->name);
		complain_hint(k->c, 0, "name the probed function, with -x if it belongs to a program; `perf probe "
				       "-l` shows it");
		return -EOPNOTSUPP;
	}
	complain(k->c, 0, e->at, e->len, "cannot attach to %s by %s: %s", s->name,
		 attach_way_name(k->a->way[i]), reason(err));
	if (err == -EMFILE)
		complain_hint(k->c, 0,
			      "too many open files: name fewer events, or raise ulimit -n");
	else if (err == -EPERM && !right_held(RIGHT_SYS_ADMIN))
		complain_hint(k->c, 0, "run as root; this needs CAP_SYS_ADMIN");
	else if (k->a->way[i] == ATTACH_KPROBE || k->a->way[i] == ATTACH_KPROBE_MULTI)
		complain_hint(k->c, 0, "some kernel functions cannot be probed (/sys/kernel/debug/kprobes/blacklist)");
	else
		complain_hint(k->c, 0,
			      "-v shows more; `tally doctor` shows what this kernel lacks");
	return err;
}

int attach_course__site(struct attach_course *k, size_t i)
{
	const struct event_site *s = &k->sites->site[i];
	const struct attach_programs *p = k->programs;
	const struct attach_code *code = attach_code_of(k->a, i);
	enum attach_way *way = &k->a->way[i];
	u32 slot = k->slot[i];
	int err = 0;

	switch (*way) {
	case ATTACH_RAW_TRACEPOINT:
		err = attach_raw_tracepoint(k->a, s, slot, code, p);
		/* The compiled code works only with this attach type. */
		if (err != -ENOENT || code)
			break;
		*way = ATTACH_TRACEPOINT;       /* created by a tracer, under its own system name */
		/* fall through */
	case ATTACH_TRACEPOINT:
		err = attach_tracepoint(k->a, s, slot, code, p);
		break;
	case ATTACH_FENTRY:
	case ATTACH_FEXIT:
		err = attach_function(k->a, s, slot, code, p);
		/* The compiled code works only with this attach type. */
		if (!err || code)
			break;
		diag_detail("%s of %s: %s; using a kprobe instead", attach_way_name(*way), s->name,
			    strerror(-err));
		*way = ATTACH_KPROBE;
		/* fall through */
	case ATTACH_KPROBE:
	case ATTACH_KPROBE_MULTI:
		err = attach_probe(k->a, s, slot, false, code, p);
		break;
	case ATTACH_UPROBE:
	case ATTACH_UPROBE_MULTI:
		err = attach_probe(k->a, s, slot, true, code, p);
		break;
	default:
		break;
	}
	if (err)
		return attach_course__refuse(k, i, err);
	k->a->attached[*way]++;
	return 0;
}
