// SPDX-License-Identifier: BSD-2-Clause
/* Chooses how each site is attached, and which templates that needs. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/attach_template.h"
#include "event/attach_way.h"
#include "host/features.h"
#include "host/host.h"

#include "bpf/lib/syscalls.h"

/* fentry is cheap to run but expensive to set up: a trampoline and a grace period per function. */
#define FENTRY_MOST 8

/* --- the ladder ------------------------------------------------------------------------------ */

/* Function probes that this kernel supports, detected at the first function. */
struct ladder {
	bool known;
	bool fentry, kprobe_multi, uprobe_multi;
	size_t functions;       /* sites that could use fentry */
	bool perf_syscalls;     /* compiled functions use perf events */
};

/* Before 6.10 (commit 46ba0e49b642), a link for one process ran its programs for only one thread. */
static bool picks_processes(void)
{
	struct host host;

	return !host__read(&host) && host.version >= KERNEL_VERSION(6, 10, 0);
}

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
	l->uprobe_multi = feature__probe("uprobe.multi") == FEATURE_OK &&
			  (!p->pid || picks_processes());
	l->known = true;
}

/* Several static functions can share a name, but BTF and fentry know only one of them. */
static bool is_only_one(const struct event_sites *sites, size_t i)
{
	size_t k;

	for (k = 0; k < sites->n; k++)
		if (k != i && !strcmp(sites->site[k].name, sites->site[i].name) &&
		    sites->site[k].address != sites->site[i].address)
			return false;
	return true;
}

static enum attach_way way_into_kernel(struct ladder *l, const struct event_sites *sites, size_t i)
{
	const struct event_site *s = &sites->site[i];
	enum bpf_attach_type type = s->is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	char name[256];

	if (s->offset)
		return ATTACH_KPROBE;
	if (l->fentry && !s->module && is_only_one(sites, i) &&
	    libbpf_find_vmlinux_btf_id(attach_function_name(s, name, sizeof(name)), type) > 0)
		return s->is_return ? ATTACH_FEXIT : ATTACH_FENTRY;
	return l->kprobe_multi && s->address ? ATTACH_KPROBE_MULTI : ATTACH_KPROBE;
}

static enum attach_way choose(struct ladder *l, const struct event_sites *sites, size_t i,
			      const struct attach_programs *p)
{
	const struct event_site *s = &sites->site[i];

	/* MODULE:FUNCTION is spelled like a tracepoint, so the site has to distinguish them. */
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

/* --- system calls ---------------------------------------------------------------------------- */

/*
 * Since 7.0 a program on a system call can be preempted. Until it resumes, the kernel does not run
 * it for other tasks on that CPU and counts those runs as missed. On a perf event it is preempted
 * less often than on the raw tracepoint (two loops of reads on one CPU: 10 % missed instead of
 * 20 %), but each perf event takes long to close.
 */
#define PERF_SYSCALLS_MOST 8

static bool has_few_perf(const struct attachments *a, const struct event_sites *sites)
{
	struct host host;
	size_t n = 0, i;

	for (i = 0; i < sites->n; i++)
		n += sites->site[i].syscall >= 0 && attach_is_by_record(a, i);
	return n <= PERF_SYSCALLS_MOST && !host__read(&host) &&
	       host.version >= KERNEL_VERSION(7, 0, 0);
}

/* True if there is a template for this system call with compiled functions. */
static bool has_syscall(const struct event_site *s, const struct attach_programs *p)
{
	return s->tracepoint_id && s->syscall >= 0 && s->syscall < SYSCALL_NUMBERS &&
	       (s->syscall_exit ? p->syscall_exit : p->syscall_enter);
}

static enum attach_way way_of(const struct attachments *a, struct ladder *l,
			      const struct event_sites *sites, size_t i,
			      const struct attach_programs *p)
{
	if (!attach_is_by_record(a, i))
		return choose(l, sites, i, p);
	return !l->perf_syscalls && has_syscall(&sites->site[i], p) ? ATTACH_SYSCALL :
								     ATTACH_TRACEPOINT;
}

/* System call sites by direction, without and with compiled functions. */
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

/* --- templates ------------------------------------------------------------------------------- */

/* Requests the system call templates: each site may need its own copy. */
static int want_syscalls(const struct attachments *a, const struct syscall_sites *n, const struct attach_programs *p)
{
	size_t coded = n->coded_enter + n->coded_exit;

	attach_template__want(p->sys_enter, n->enter, a);
	attach_template__want(p->sys_exit, n->exit, a);
	attach_template__want(p->syscall_enter, n->coded_enter, a);
	attach_template__want(p->syscall_exit, n->coded_exit, a);
	return coded ? bpf_map__set_max_entries(p->syscall_slots, coded * SYSCALL_NUMBERS) : 0;
}

/* A template needs an attach target to be loaded: use its first site. */
static void want_functions(const struct attachments *a, const struct event_sites *sites,
			   const struct attach_programs *p)
{
	char name[256];
	size_t i;

	attach_template__want(p->fentry, false, a);
	attach_template__want(p->fexit, false, a);
	for (i = 0; i < sites->n; i++) {
		const struct event_site *s = &sites->site[i];
		bool is_entry = a->way[i] == ATTACH_FENTRY;

		if (!attach_is_place(s) || (!is_entry && a->way[i] != ATTACH_FEXIT))
			continue;
		attach_template__want(is_entry ? p->fentry : p->fexit, true, a);
		bpf_program__set_attach_target(is_entry ? p->fentry : p->fexit, 0,
					       attach_function_name(s, name, sizeof(name)));
	}
}

int attach__plan(struct attachments *a, const struct event_sites *sites,
		 const struct attach_code *code, const struct attach_programs *p)
{
	size_t wanted[ATTACH_WAYS] = {}, task = 0, filtered = 0, i;
	struct syscall_sites syscalls = {};
	struct ladder ladder = {};
	bool probes;

	*a = (struct attachments){ .nsites = sites->n, .left_out = sites->left_out,
				   .untold = sites->untold,
				   .elsewhere = sites->elsewhere, .several = sites->several,
				   .code = code, .object = p->object };
	ladder.perf_syscalls = code && has_few_perf(a, sites);
	a->way = calloc(sites->n ?: 1, sizeof(*a->way));
	if (!a->way)
		return -ENOMEM;
	for (i = 0; i < sites->n; i++) {
		const struct event_site *s = &sites->site[i];

		if (!attach_is_place(s))
			continue;
		a->way[i] = way_of(a, &ladder, sites, i, p);
		wanted[a->way[i]]++;
		filtered += attach_is_by_record(a, i) && a->way[i] == ATTACH_TRACEPOINT;
		if (a->way[i] == ATTACH_SYSCALL)
			count_syscall(&syscalls, s, attach_is_by_record(a, i));
		task += a->way[i] == ATTACH_RAW_TRACEPOINT && !code && tracepoint_has_task(s->name);
	}
	probes = wanted[ATTACH_KPROBE_MULTI] || wanted[ATTACH_UPROBE_MULTI];
	attach_template__want(p->raw_tracepoint_task, task, a);
	attach_template__want(p->raw_tracepoint, wanted[ATTACH_RAW_TRACEPOINT] > task, a);
	/* Sites without a raw tracepoint fall back to a perf event. */
	attach_template__want(p->tracepoint, wanted[ATTACH_TRACEPOINT] > filtered || wanted[ATTACH_RAW_TRACEPOINT], a);
	attach_template__want(p->filtered_tracepoint, filtered, a);
	/* Functions without fentry fall back to a kprobe. */
	attach_template__want(p->probe, probes || wanted[ATTACH_KPROBE] || wanted[ATTACH_UPROBE] ||
			      wanted[ATTACH_FENTRY] || wanted[ATTACH_FEXIT], a);
	if (p->probes != p->probe)
		attach_template__want(p->probes, probes, a);
	/* With only one kind of link, the template itself can be attached. */
	if (probes && !(wanted[ATTACH_KPROBE_MULTI] && wanted[ATTACH_UPROBE_MULTI]))
		bpf_program__set_expected_attach_type(p->probes, wanted[ATTACH_UPROBE_MULTI] ?
						      TRACE_UPROBE_MULTI : BPF_TRACE_KPROBE_MULTI);
	want_functions(a, sites, p);
	return want_syscalls(a, &syscalls, p);
}
