// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/numbers.h"
#include "event/func_info.h"
#include "event/splice.h"
#include "host/features.h"
#include "host/host.h"
#include "out/diag.h"

#include "bpf/syscalls.h"

/*
 * Attaching by fentry is cheap to run but dear to set up: a trampoline and a grace period for
 * each function.
 */
#define FENTRY_MOST 8

/* include/uapi/linux/bpf.h since 6.6; older headers lack it. */
#define TRACE_UPROBE_MULTI 48

const char *attach_way_name(enum attach_way way)
{
	static const char *const names[ATTACH_WAYS] = {
		[ATTACH_SYSCALL] = "raw tracepoints sys_enter, sys_exit",
		[ATTACH_RAW_TRACEPOINT] = "raw tracepoint",
		[ATTACH_TRACEPOINT] = "perf tracepoint",
		[ATTACH_FENTRY] = "fentry",
		[ATTACH_FEXIT] = "fexit",
		[ATTACH_KPROBE_MULTI] = "kprobe.multi",
		[ATTACH_KPROBE] = "kprobe",
		[ATTACH_UPROBE_MULTI] = "uprobe.multi",
		[ATTACH_UPROBE] = "uprobe",
	};

	return names[way];
}

bool tracepoint_has_task(const char *name)
{
	static const char *const names[] = {
		"sched:sched_wakeup", "sched:sched_wakeup_new", "sched:sched_waking",
		"sched:sched_migrate_task", "sched:sched_process_free", "sched:sched_stat_wait",
		"sched:sched_stat_sleep", "sched:sched_stat_iowait", "sched:sched_stat_blocked",
		"sched:sched_stat_runtime", "sched:sched_pi_setprio", "sched:sched_wait_task",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * --- the ladder --------------------------------------------------------------------------------
 */

/* What this kernel offers for functions, found out when the first is met. */
struct ladder {
	bool known;
	bool fentry, kprobe_multi, uprobe_multi;
	size_t functions;       /* sites that fentry could serve */
	bool perf_syscalls;     /* by perf events, where there are compiled functions */
};

static void find_out(struct ladder *l, const struct event_sites *sites,
		     const struct attach_programs *p)
{
	size_t i;

	for (i = 0; i < sites->n; i++) {
		const struct event_site *s = &sites->site[i];

		l->functions += s->event->type == EVENT_KERNEL_FUNCTION || s->address;
	}
	l->fentry = p->fentry && p->fexit && l->functions <= FENTRY_MOST &&
		    feature__probe("fentry") == FEATURE_OK;
	l->kprobe_multi = feature__probe("kprobe.multi") == FEATURE_OK;
	l->uprobe_multi = feature__probe("uprobe.multi") == FEATURE_OK;
	l->known = true;
}

/* Static functions of one name are several; BTF and fentry know only one of them. */
static bool is_only_one(const struct event_sites *sites, size_t i)
{
	size_t k;

	for (k = 0; k < sites->n; k++)
		if (k != i && !strcmp(sites->site[k].name, sites->site[i].name) &&
		    sites->site[k].address != sites->site[i].address)
			return false;
	return true;
}

/* The name of a function's site without %return and +OFFSET, in name[size]. */
static const char *function_name(const struct event_site *s, char *name, size_t size)
{
	const char *from = s->name, *colon = strchr(s->name, ':');

	if (colon)
		from = colon + 1;
	snprintf(name, size, "%.*s", (int)strcspn(from, "%+"), from);
	return name;
}

static enum attach_way way_into_kernel(struct ladder *l, const struct event_sites *sites, size_t i)
{
	const struct event_site *s = &sites->site[i];
	enum bpf_attach_type type = s->is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	char name[256];

	if (s->offset)
		return ATTACH_KPROBE;
	if (l->fentry && !s->module && is_only_one(sites, i) &&
	    libbpf_find_vmlinux_btf_id(function_name(s, name, sizeof(name)), type) > 0)
		return s->is_return ? ATTACH_FEXIT : ATTACH_FENTRY;
	return l->kprobe_multi && s->address ? ATTACH_KPROBE_MULTI : ATTACH_KPROBE;
}

static enum attach_way choose(struct ladder *l, const struct event_sites *sites, size_t i,
			      const struct attach_programs *p)
{
	const struct event_site *s = &sites->site[i];

	/* MODULE:FUNCTION is spelled like a tracepoint: the site tells which it is. */
	if (s->event->type == EVENT_TRACEPOINT && s->tracepoint_id) {
		if (s->syscall >= 0)
			return ATTACH_SYSCALL;
		return s->is_raw ? ATTACH_RAW_TRACEPOINT : ATTACH_TRACEPOINT;
	}
	if (!l->known)
		find_out(l, sites, p);
	if (s->event->type == EVENT_USER_FUNCTION || s->event->type == EVENT_USDT)
		return l->uprobe_multi ? ATTACH_UPROBE_MULTI : ATTACH_UPROBE;
	return way_into_kernel(l, sites, i);
}

static bool is_place(const struct event_site *s)
{
	return s->event->type >= EVENT_TRACEPOINT && s->attr.type != PERF_TYPE_TRACEPOINT;
}

static void want(struct bpf_program *template, bool load)
{
	if (template)
		bpf_program__set_autoload(template, load);
}

/* Is there something compiled for it? */
static const struct attach_code *code_of(const struct attachments *a, size_t i)
{
	return a->code ? &a->code[i] : NULL;
}

/* Fields are those of the record, which raw tracepoints do not make. */
static bool is_by_record(const struct attachments *a, size_t i)
{
	return a->code && a->code[i].by_record;
}

/*
 * Since 7.0 a program on a system call can be preempted, and is then run for no other task on that
 * CPU, which is counted. On a perf event it is preempted less often than on the raw tracepoint (two
 * loops of reads on one CPU: 10 % missed, not 20 %), but each perf event takes long to close.
 */
#define PERF_SYSCALLS_MOST 8

static bool has_few_perf(const struct attachments *a, const struct event_sites *sites)
{
	struct host host;
	size_t n = 0, i;

	for (i = 0; i < sites->n; i++)
		n += sites->site[i].syscall >= 0 && is_by_record(a, i);
	return n <= PERF_SYSCALLS_MOST && !host__read(&host) &&
	       host.version >= KERNEL_VERSION(7, 0, 0);
}

/* Is there a template for a system call with compiled functions? */
static bool has_syscall(const struct event_site *s, const struct attach_programs *p)
{
	return s->tracepoint_id && s->syscall >= 0 && s->syscall < SYSCALL_NUMBERS &&
	       (s->syscall_exit ? p->syscall_exit : p->syscall_enter);
}

static enum attach_way way_of(const struct attachments *a, struct ladder *l,
			      const struct event_sites *sites, size_t i,
			      const struct attach_programs *p)
{
	if (!is_by_record(a, i))
		return choose(l, sites, i, p);
	return !l->perf_syscalls && has_syscall(&sites->site[i], p) ? ATTACH_SYSCALL :
								     ATTACH_TRACEPOINT;
}

/* Sites of system calls: by direction, without and with compiled functions. */
struct syscall_sites {
	size_t enter, exit, coded_enter, coded_exit;
};

static void count_syscall(struct syscall_sites *n, const struct event_site *s, bool coded)
{
	if (s->syscall_exit)
		*(coded ? &n->coded_exit : &n->exit) += 1;
	else
		*(coded ? &n->coded_enter : &n->enter) += 1;
}

/* Each may need a copy of its own. */
static int want_syscalls(const struct syscall_sites *n, const struct attach_programs *p)
{
	size_t coded = n->coded_enter + n->coded_exit;

	want(p->sys_enter, n->enter);
	want(p->sys_exit, n->exit);
	want(p->syscall_enter, n->coded_enter);
	want(p->syscall_exit, n->coded_exit);
	return coded ? bpf_map__set_max_entries(p->syscall_slots, coded * SYSCALL_NUMBERS) : 0;
}

int attach__plan(struct attachments *a, const struct event_sites *sites,
		 const struct attach_code *code, const struct attach_programs *p)
{
	size_t wanted[ATTACH_WAYS] = {}, task = 0, filtered = 0, i;
	struct syscall_sites syscalls = {};
	struct ladder ladder = {};
	bool probes;

	*a = (struct attachments){ .nsites = sites->n, .code = code, .object = p->object };
	ladder.perf_syscalls = code && has_few_perf(a, sites);
	a->way = calloc(sites->n ?: 1, sizeof(*a->way));
	if (!a->way)
		return -ENOMEM;
	for (i = 0; i < sites->n; i++) {
		const struct event_site *s = &sites->site[i];

		if (!is_place(s))
			continue;
		a->way[i] = way_of(a, &ladder, sites, i, p);
		wanted[a->way[i]]++;
		filtered += is_by_record(a, i) && a->way[i] == ATTACH_TRACEPOINT;
		if (a->way[i] == ATTACH_SYSCALL)
			count_syscall(&syscalls, s, is_by_record(a, i));
		task += a->way[i] == ATTACH_RAW_TRACEPOINT && tracepoint_has_task(s->name);
	}
	probes = wanted[ATTACH_KPROBE_MULTI] || wanted[ATTACH_UPROBE_MULTI];
	want(p->raw_tracepoint_task, task);
	want(p->raw_tracepoint, wanted[ATTACH_RAW_TRACEPOINT] > task);
	/* What has no raw tracepoint after all has a perf event. */
	want(p->tracepoint, wanted[ATTACH_TRACEPOINT] > filtered || wanted[ATTACH_RAW_TRACEPOINT]);
	want(p->filtered_tracepoint, filtered);
	want(p->probe, probes || wanted[ATTACH_KPROBE] || wanted[ATTACH_UPROBE]);
	want(p->probes, probes);
	want(p->fentry, false);
	want(p->fexit, false);
	for (i = 0; i < sites->n; i++) {
		char name[256];

		/* A template needs some target to be loaded: its first site. */
		if (is_place(&sites->site[i]) &&
		    (a->way[i] == ATTACH_FENTRY || a->way[i] == ATTACH_FEXIT)) {
			struct bpf_program *t = a->way[i] == ATTACH_FENTRY ? p->fentry : p->fexit;

			bpf_program__set_autoload(t, true);
			bpf_program__set_attach_target(t, 0, function_name(&sites->site[i], name,
									   sizeof(name)));
		}
	}
	return want_syscalls(&syscalls, p);
}

/*
 * --- programs and links ------------------------------------------------------------------------
 */

/* As what a template's copy is loaded. */
struct program_kind {
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	u32 btf_id;
	const struct attach_code *code;         /* to put into it; NULL: none */
};

/* To ask it later what it missed, without holding its descriptor. Not to know is no failure. */
static void remember(struct attachments *a, int fd)
{
	struct bpf_prog_info info = {};
	u32 len = sizeof(info), *larger;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	if (!(a->nprograms & (a->nprograms - 1))) {
		larger = realloc(a->program,
				 (a->nprograms ? 2 * a->nprograms : 1) * sizeof(*larger));
		if (!larger)
			return;
		a->program = larger;
	}
	a->program[a->nprograms++] = info.id;
}

u64 attach__misses(const struct attachments *a)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < a->nprograms; i++) {
		struct bpf_prog_info info = {};
		int fd = bpf_prog_get_fd_by_id(a->program[i]);
		u32 len = sizeof(info);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len))
			sum += info.recursion_misses;
		close(fd);
	}
	return sum;
}

/*
 * --- programs ----------------------------------------------------------------------------------
 */

/*
 * Loads a copy of a template that knows its slot. Returns its descriptor or a negative errno. The
 * template's instructions are those libbpf gave the kernel: relocated, with the descriptors of
 * maps.
 */
static int load_copy(struct attachments *a, struct bpf_program *template,
		     const struct program_kind *kind, u32 slot)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = kind->attach,
		    .attach_btf_id = kind->btf_id);
	const struct attach_code *code = kind->code;
	struct func_info functions;
	struct splice copy;
	int fd, err;
	size_t i;

	err = splice__begin(&copy, bpf_program__insns(template), bpf_program__insn_cnt(template));
	for (i = 0; i < EVENT_BODIES && code && !err; i++)
		if (code->body[i].n)
			err = splice__put_body(&copy, EVENT_BODY_MARK + i, code->body[i].insn,
					       code->body[i].n);
	if (err) {
		splice__free(&copy);
		return err;
	}
	splice__put_number(&copy, EVENT_SLOT_MARK, slot);
	err = func_info__tell(&functions, &copy, a->object, bpf_program__name(template), &opts);
	fd = err ?: bpf_prog_load(kind->type, bpf_program__name(template), "Dual BSD/GPL", copy.insn,
			   copy.n, &opts);
	if (fd < 0)
		splice__explain(&copy, kind->type, &opts);
	func_info__free(&functions);
	splice__free(&copy);
	if (fd >= 0)
		remember(a, fd);
	return fd;
}

static int keep(struct attachments *a, int fd)
{
	int *larger;

	if (fd < 0)
		return fd;
	if (!(a->nfds & (a->nfds - 1))) {
		larger = realloc(a->fd, (a->nfds ? 2 * a->nfds : 1) * sizeof(*larger));
		if (!larger) {
			close(fd);
			return -ENOMEM;
		}
		a->fd = larger;
	}
	a->fd[a->nfds++] = fd;
	return 0;
}

static int open_event(const struct perf_event_attr *attr)
{
	/*
	 * A program on such an event runs on all CPUs whichever the event is opened on: it hangs
	 * on the trace event itself (perf_event_attach_bpf_prog()).
	 */
	int fd = syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int attach_to_event(struct attachments *a, const struct perf_event_attr *attr, int prog)
{
	int fd = open_event(attr), err = 0;

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return keep(a, fd);
}

static int attach_tracepoint(struct attachments *a, const struct event_site *s, u32 slot,
			     const struct attach_code *code, const struct attach_programs *p)
{
	const struct program_kind kind = { .type = BPF_PROG_TYPE_TRACEPOINT, .code = code };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = s->tracepoint_id,
		.sample_period = 1, .disabled = 1,
	};
	int prog = load_copy(a, code && code->by_record ? p->filtered_tracepoint : p->tracepoint,
			     &kind, slot),
	    err;

	if (prog < 0)
		return prog;
	err = attach_to_event(a, &attr, prog);
	close(prog);
	return err;
}

static int attach_raw_tracepoint(struct attachments *a, const struct event_site *s, u32 slot,
				 const struct attach_programs *p)
{
	const struct program_kind kind = { .type = BPF_PROG_TYPE_RAW_TRACEPOINT };
	bool task = tracepoint_has_task(s->name);
	int prog = load_copy(a, task ? p->raw_tracepoint_task : p->raw_tracepoint, &kind, slot),
	    err;

	if (prog < 0)
		return prog;
	err = keep(a, bpf_raw_tracepoint_open(strchr(s->name, ':') + 1, prog));
	close(prog);
	return err;
}

static int attach_function(struct attachments *a, const struct event_site *s, u32 slot,
			   const struct attach_code *code, const struct attach_programs *p)
{
	struct program_kind kind = {
		.type = BPF_PROG_TYPE_TRACING,
		.code = code,
		.attach = s->is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
	};
	char name[256];
	int prog, err;

	err = libbpf_find_vmlinux_btf_id(function_name(s, name, sizeof(name)), kind.attach);
	if (err < 0)
		return err;
	kind.btf_id = err;
	prog = load_copy(a, s->is_return ? p->fexit : p->fentry, &kind, slot);
	if (prog < 0)
		return prog;
	err = keep(a, bpf_raw_tracepoint_open(NULL, prog));
	close(prog);
	return err;
}

/* The number by which perf_event_open() knows a PMU. */
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
	const struct program_kind kind = { .type = BPF_PROG_TYPE_KPROBE, .code = code };
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_period = 1, .disabled = 1 };
	int type = pmu_type(user ? "uprobe" : "kprobe"), prog, err;
	char name[256];

	if (type < 0)
		return -EOPNOTSUPP;
	attr.type = type;
	/* format/retprobe is bit 0 of config, format/ref_ctr_offset its upper half. */
	attr.config = s->is_return | s->semaphore << 32;
	if (user) {
		attr.uprobe_path = (uintptr_t)s->path;
		attr.probe_offset = s->file_offset;
	} else if (s->address) {
		attr.kprobe_addr = s->address;
	} else {
		attr.kprobe_func = (uintptr_t)function_name(s, name, sizeof(name));
		attr.probe_offset = s->offset;
	}
	prog = load_copy(a, p->probe, &kind, slot);
	if (prog < 0)
		return prog;
	err = attach_to_event(a, &attr, prog);
	close(prog);
	return err;
}

/*
 * --- many sites at once ------------------------------------------------------------------------
 */

/* union bpf_attr's link_create for the multi links, of which libbpf 1.1 knows one (5.18, 6.6). */
struct link_create {
	u32 prog_fd;
	u32 target;
	u32 attach_type;
	u32 flags;
	union {
		struct {
			u32 flags;
			u32 cnt;
			u64 syms;
			u64 addrs;
			u64 cookies;
		} kprobe;
		struct {
			u64 path;
			u64 offsets;
			u64 semaphores;
			u64 cookies;
			u32 cnt;
			u32 flags;
			u32 pid;
		} uprobe;
	};
};

#define MULTI_RETURN 1          /* BPF_F_KPROBE_MULTI_RETURN, BPF_F_UPROBE_MULTI_RETURN */

/* The sites of one link: their places as the kernel wants them, and what stands beside. */
struct batch {
	bool user, is_return;
	const struct attach_code *code;
	const char *path;
	u64 *place, *semaphore, *cookie;
	size_t *site;
	size_t n;
};

static int link_batch(struct attachments *a, const struct batch *b, size_t from, size_t n, int prog)
{
	struct link_create attr = { .prog_fd = prog };
	int fd;

	if (b->user) {
		attr.attach_type = TRACE_UPROBE_MULTI;
		attr.uprobe.path = (uintptr_t)b->path;
		attr.uprobe.offsets = (uintptr_t)(b->place + from);
		attr.uprobe.semaphores = (uintptr_t)(b->semaphore + from);
		attr.uprobe.cookies = (uintptr_t)(b->cookie + from);
		attr.uprobe.cnt = n;
		attr.uprobe.flags = b->is_return ? MULTI_RETURN : 0;
	} else {
		attr.attach_type = BPF_TRACE_KPROBE_MULTI;
		attr.kprobe.flags = b->is_return ? MULTI_RETURN : 0;
		attr.kprobe.cnt = n;
		attr.kprobe.addrs = (uintptr_t)(b->place + from);
		attr.kprobe.cookies = (uintptr_t)(b->cookie + from);
	}
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return keep(a, fd < 0 ? -errno : fd);
}

struct course {
	struct attachments *a;
	const struct event_sites *sites;
	const u32 *slot;
	const struct attach_programs *programs;
	struct complaint *c;
	size_t *which;
};

static const char *reason(int err)
{
	switch (err) {
	case -EILSEQ:
		return "no instruction begins there";
	case -ENOENT:
		return "the kernel knows no such place";
	case -EADDRNOTAVAIL:
	case -EINVAL:
		return "the kernel does not let that place be probed";
	default:
		return strerror(-err);
	}
}

/* A site that the kernel will not have: of a glob that is said, of a name it is an error. */
static int refuse(struct course *k, size_t i, int err)
{
	const struct event_site *s = &k->sites->site[i];
	const struct event *e = s->event;

	if (err != -EMFILE && err != -ENOMEM && err != -EPERM && strcmp(e->name, s->name) &&
	    strpbrk(e->name, "*?[")) {
		diag_detail("%s is left out: %s", s->name, reason(err));
		k->a->refused++;
		return 0;
	}
	*k->which = i;
	complain(k->c, 0, e->at, e->len, "cannot attach to %s by %s: %s", s->name,
		 attach_way_name(k->a->way[i]), reason(err));
	if (err == -EMFILE)
		complain_hint(k->c, 0,
			      "too many files are open: name fewer events, or raise ulimit -n");
	else if (k->a->way[i] == ATTACH_KPROBE || k->a->way[i] == ATTACH_KPROBE_MULTI)
		complain_hint(k->c, 0, "the kernel does not let everything be probed "
			      "(/sys/kernel/debug/kprobes/blacklist)");
	else
		complain_hint(k->c, 0,
			      "-v shows more; `tally doctor` shows what this kernel lacks");
	return err;
}

static int attach_one(struct course *k, size_t i)
{
	const struct event_site *s = &k->sites->site[i];
	const struct attach_programs *p = k->programs;
	const struct attach_code *code = code_of(k->a, i);
	enum attach_way *way = &k->a->way[i];
	u32 slot = k->slot[i];
	int err = 0;

	switch (*way) {
	case ATTACH_RAW_TRACEPOINT:
		err = attach_raw_tracepoint(k->a, s, slot, p);
		if (err != -ENOENT)
			break;
		*way = ATTACH_TRACEPOINT;       /* made by a tracer, under a system of its own */
		/* fall through */
	case ATTACH_TRACEPOINT:
		err = attach_tracepoint(k->a, s, slot, code, p);
		break;
	case ATTACH_FENTRY:
	case ATTACH_FEXIT:
		err = attach_function(k->a, s, slot, code, p);
		/* What is compiled is compiled for this way. */
		if (!err || code)
			break;
		diag_detail("%s of %s: %s; a kprobe instead", attach_way_name(*way), s->name,
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
		return refuse(k, i, err);
	k->a->attached[*way]++;
	return 0;
}

/*
 * One link for all of the batch. The kernel takes all or none: what it refuses is found by halving,
 * and tried as a single probe, which can do more.
 */
static int attach_batch(struct course *k, const struct batch *b, size_t from, size_t n, int prog)
{
	size_t i = b->site[from];
	int err;

	err = link_batch(k->a, b, from, n, prog);
	if (!err) {
		k->a->attached[k->a->way[i]] += n;
		return 0;
	}
	if (err == -EMFILE || err == -ENOMEM)
		return refuse(k, i, err);
	if (n == 1) {
		k->a->way[i] = b->user ? ATTACH_UPROBE : ATTACH_KPROBE;
		return attach_one(k, i);
	}
	err = attach_batch(k, b, from, n / 2, prog);
	return err ?: attach_batch(k, b, from + n / 2, n - n / 2, prog);
}

static bool is_same_code(const struct attach_code *a, const struct attach_code *b)
{
	size_t i;

	for (i = 0; a && b && i < EVENT_BODIES; i++)
		if (a->body[i].n != b->body[i].n || memcmp(a->body[i].insn, b->body[i].insn,
							   a->body[i].n * sizeof(*a->body[i].insn)))
			return false;
	return true;
}

/* The same kind of site in the same file, with the same code, goes into the same link. */
static bool belongs(const struct batch *b, const struct event_site *s, enum attach_way way,
		    const struct attach_code *code)
{
	return (way == ATTACH_UPROBE_MULTI) == b->user && s->is_return == b->is_return &&
	       (!b->user || !strcmp(s->path, b->path)) && is_same_code(b->code, code);
}

/* A link runs its program once at each place: what is asked for twice goes into another link. */
static bool has_place(const struct batch *b, u64 place)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->place[i] == place)
			return true;
	return false;
}

static int attach_like(struct course *k, size_t first, bool *done)
{
	const struct event_site *s = &k->sites->site[first];
	size_t n = k->sites->n, i;
	struct batch b = {
		.user = k->a->way[first] == ATTACH_UPROBE_MULTI,
		.is_return = s->is_return,
		.code = code_of(k->a, first),
		.path = s->path,
		.place = calloc(n, sizeof(*b.place)),
		.semaphore = calloc(n, sizeof(*b.semaphore)),
		.cookie = calloc(n, sizeof(*b.cookie)),
		.site = calloc(n, sizeof(*b.site)),
	};
	const struct program_kind kind = {
		.type = BPF_PROG_TYPE_KPROBE,
		.attach = b.user ? TRACE_UPROBE_MULTI : BPF_TRACE_KPROBE_MULTI,
		.code = b.code,
	};
	int prog = -1, err = b.place && b.semaphore && b.cookie && b.site ? 0 : -ENOMEM;
	u64 place;

	for (i = first; i < n && !err; i++) {
		s = &k->sites->site[i];
		if (done[i] || !is_place(s) || !belongs(&b, s, k->a->way[i], code_of(k->a, i)) ||
		    (k->a->way[i] != ATTACH_UPROBE_MULTI && k->a->way[i] != ATTACH_KPROBE_MULTI))
			continue;
		place = b.user ? s->file_offset : s->address;
		if (has_place(&b, place))
			continue;
		b.place[b.n] = place;
		b.semaphore[b.n] = s->semaphore;
		b.cookie[b.n] = k->slot[i];
		b.site[b.n++] = i;
		done[i] = true;
	}
	if (!err) {
		prog = load_copy(k->a, k->programs->probes, &kind, 0);
		err = prog < 0 ? refuse(k, first, prog) : attach_batch(k, &b, 0, b.n, prog);
	}
	if (prog >= 0)
		close(prog);
	free(b.place);
	free(b.semaphore);
	free(b.cookie);
	free(b.site);
	return err;
}

/* The slots of the calls that copy number copies is to serve, from the first on; those are done. */
static int put_syscall_slots(struct course *k, size_t first, bool *done)
{
	const struct event_site *s = k->sites->site, *b = &s[first];
	int slots = bpf_map__fd(k->programs->syscall_slots), err = 0;
	bool served[SYSCALL_NUMBERS] = {};
	u32 at, slot;
	size_t i;

	for (i = first; i < k->sites->n && !err; i++) {
		/* What is asked for twice goes into another copy. */
		if (done[i] || !is_place(&s[i]) || k->a->way[i] != ATTACH_SYSCALL ||
		    s[i].syscall_exit != b->syscall_exit || served[s[i].syscall] ||
		    !is_same_code(code_of(k->a, first), code_of(k->a, i)))
			continue;
		at = k->a->syscall_copies * SYSCALL_NUMBERS + s[i].syscall;
		slot = k->slot[i] + 1;
		err = bpf_map_update_elem(slots, &at, &slot, BPF_ANY);
		served[s[i].syscall] = done[i] = true;
		k->a->attached[ATTACH_SYSCALL]++;
	}
	return err;
}

/* All calls with the same code by one copy of the template. */
static int attach_syscalls_like(struct course *k, size_t first, bool *done)
{
	const struct attach_programs *p = k->programs;
	bool exit = k->sites->site[first].syscall_exit;
	struct program_kind kind = {
		.type = BPF_PROG_TYPE_TRACING, .attach = BPF_TRACE_RAW_TP,
		.code = code_of(k->a, first),
	};
	int prog, err;

	err = libbpf_find_vmlinux_btf_id(exit ? "sys_exit" : "sys_enter", kind.attach);
	if (err < 0)
		return refuse(k, first, err);
	kind.btf_id = err;
	err = put_syscall_slots(k, first, done);
	if (err)
		return refuse(k, first, err);
	prog = load_copy(k->a, exit ? p->syscall_exit : p->syscall_enter, &kind,
			 k->a->syscall_copies++);
	if (prog < 0)
		return refuse(k, first, prog);
	err = keep(k->a, bpf_raw_tracepoint_open(NULL, prog));
	close(prog);
	return err ? refuse(k, first, err) : 0;
}

/* sys_enter and sys_exit, once each, whatever the number of system calls. */
static int attach_syscalls(struct attachments *a, const struct attach_programs *p)
{
	int err = 0;

	if (bpf_program__fd(p->sys_enter) >= 0)
		err = keep(a, bpf_raw_tracepoint_open("sys_enter", bpf_program__fd(p->sys_enter)));
	if (!err && bpf_program__fd(p->sys_exit) >= 0)
		err = keep(a, bpf_raw_tracepoint_open("sys_exit", bpf_program__fd(p->sys_exit)));
	return err;
}

int attach__sites(struct attachments *a, const struct event_sites *sites, const u32 *slot,
		  const struct attach_programs *p, struct complaint *c, size_t *which)
{
	struct course k = { a, sites, slot, p, c, which };
	bool *done = calloc(sites->n ?: 1, sizeof(*done));
	bool syscalls = false;
	int err = 0;
	size_t i;

	if (!done)
		return -ENOMEM;
	host__allow_files(sites->n + 64);
	for (i = 0; i < sites->n && !err; i++) {
		if (done[i] || !is_place(&sites->site[i]))
			continue;
		switch (a->way[i]) {
		case ATTACH_SYSCALL:
			if (is_by_record(a, i)) {
				err = attach_syscalls_like(&k, i, done);
				break;
			}
			if (!syscalls)
				err = attach_syscalls(a, p);
			if (err)
				err = refuse(&k, i, err);
			syscalls = true;
			a->attached[ATTACH_SYSCALL]++;
			break;
		case ATTACH_KPROBE_MULTI:
		case ATTACH_UPROBE_MULTI:
			err = attach_like(&k, i, done);
			break;
		default:
			err = attach_one(&k, i);
		}
	}
	free(done);
	return err;
}

void attach__describe(const struct attachments *a, char *text, size_t size)
{
	size_t n = 0;
	int way;

	text[0] = 0;
	for (way = 0; way < ATTACH_WAYS && n < size; way++)
		if (a->attached[way])
			n += snprintf(text + n, size - n, "%s%s (%zu)", n ? ", " : "",
				      attach_way_name(way), a->attached[way]);
	if (a->refused && n < size)
		snprintf(text + n, size - n, "; %zu left out, the kernel refuses them", a->refused);
}

void attach__release(struct attachments *a)
{
	size_t i;

	for (i = 0; i < a->nfds; i++)
		close(a->fd[i]);
	free(a->fd);
	free(a->program);
	free(a->way);
	*a = (struct attachments){};
}
