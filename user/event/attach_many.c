// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach_many.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event/attach_copy.h"
#include "event/attach_way.h"

#include "bpf/lib/syscalls.h"

/* --- multi links ----------------------------------------------------------------------------- */

/* union bpf_attr's link_create for kprobe (5.18) and uprobe (6.6) multi links; libbpf 1.1 has only the former. */
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

/* The sites of one link, as parallel arrays in the kernel's format. */
struct batch {
	bool user, is_return;
	const struct attach_code *code;
	const char *path;
	u64 *place, *semaphore, *cookie;
	size_t *site;
	size_t n;
};

static int link_batch(const struct attach_course *k, const struct batch *b, size_t from, size_t n,
		      int prog)
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
		attr.uprobe.pid = k->programs->pid;
		attr.uprobe.flags = b->is_return ? MULTI_RETURN : 0;
	} else {
		attr.attach_type = BPF_TRACE_KPROBE_MULTI;
		attr.kprobe.flags = b->is_return ? MULTI_RETURN : 0;
		attr.kprobe.cnt = n;
		attr.kprobe.addrs = (uintptr_t)(b->place + from);
		attr.kprobe.cookies = (uintptr_t)(b->cookie + from);
	}
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return attach__keep(k->a, fd < 0 ? -errno : fd);
}

/*
 * Attaches the batch with one link. The kernel attaches all sites or none: we find the refused ones
 * by bisection and retry them as single probes, which the kernel accepts in more places.
 */
static int attach_batch(struct attach_course *k, const struct batch *b, size_t from, size_t n,
			int prog)
{
	size_t i = b->site[from];
	int err;

	err = link_batch(k, b, from, n, prog);
	if (!err) {
		k->a->attached[k->a->way[i]] += n;
		return 0;
	}
	if (err == -EMFILE || err == -ENOMEM)
		return attach_course__refuse(k, i, err);
	if (n == 1) {
		k->a->way[i] = b->user ? ATTACH_UPROBE : ATTACH_KPROBE;
		return attach_course__site(k, i);
	}
	err = attach_batch(k, b, from, n / 2, prog);
	return err ?: attach_batch(k, b, from + n / 2, n - n / 2, prog);
}

/* True if the probe replaces the return address on the stack instead of probing the returning instructions. */
static bool is_return_probe(const struct event_site *s)
{
	return s->is_return && !s->is_exit;
}

/* True if the site can share the link: same kind, same file, same code. */
static bool belongs(const struct batch *b, const struct event_site *s, enum attach_way way,
		    const struct attach_code *code)
{
	return (way == ATTACH_UPROBE_MULTI) == b->user && is_return_probe(s) == b->is_return &&
	       (!b->user || !strcmp(s->path, b->path)) && attach_code__is_same(b->code, code);
}

/* A link runs its program once per place, so duplicate sites go into another link. */
static bool has_place(const struct batch *b, u64 place)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->place[i] == place)
			return true;
	return false;
}

int attach_course__multi(struct attach_course *k, size_t first, bool *done)
{
	const struct event_site *s = &k->sites->site[first];
	size_t n = k->sites->n, i;
	struct batch b = {
		.user = k->a->way[first] == ATTACH_UPROBE_MULTI,
		.is_return = is_return_probe(s),
		.code = attach_code_of(k->a, first),
		.path = s->path,
		.place = calloc(n, sizeof(*b.place)),
		.semaphore = calloc(n, sizeof(*b.semaphore)),
		.cookie = calloc(n, sizeof(*b.cookie)),
		.site = calloc(n, sizeof(*b.site)),
	};
	const struct attach_kind kind = {
		.type = BPF_PROG_TYPE_KPROBE,
		.attach = b.user ? TRACE_UPROBE_MULTI : BPF_TRACE_KPROBE_MULTI,
		.code = b.code,
	};
	int prog = -1, err = b.place && b.semaphore && b.cookie && b.site ? 0 : -ENOMEM;
	u64 place;

	for (i = first; i < n && !err; i++) {
		s = &k->sites->site[i];
		if (done[i] || !attach_is_place(s) ||
		    !belongs(&b, s, k->a->way[i], attach_code_of(k->a, i)) ||
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
		prog = attach__copy(k->a, k->programs->probes, &kind, 0);
		err = prog < 0 ? attach_course__refuse(k, first, prog) :
				 attach_batch(k, &b, 0, b.n, prog);
	}
	if (prog >= 0)
		close(prog);
	free(b.place);
	free(b.semaphore);
	free(b.cookie);
	free(b.site);
	return err;
}

/* --- system calls ---------------------------------------------------------------------------- */

/* Sets the slots of the calls that the next pair of copies serves, from site `first`, and marks the sites done. */
static int put_syscall_slots(struct attach_course *k, size_t first, bool *done)
{
	const struct event_site *s = k->sites->site, *b = &s[first];
	int slots = bpf_map__fd(k->programs->syscall_slots), err = 0;
	bool served[SYSCALL_NUMBERS] = {};
	u32 at, slot;
	size_t i;

	for (i = first; i < k->sites->n && !err; i++) {
		/* Duplicate sites go into another copy. */
		if (done[i] || !attach_is_place(&s[i]) || k->a->way[i] != ATTACH_SYSCALL ||
		    s[i].syscall_exit != b->syscall_exit || served[s[i].syscall] ||
		    !attach_code__is_same(attach_code_of(k->a, first), attach_code_of(k->a, i)))
			continue;
		at = k->a->syscall_copies * SYSCALL_NUMBERS + s[i].syscall;
		slot = k->slot[i] + 1;
		err = bpf_map_update_elem(slots, &at, &slot, BPF_ANY);
		served[s[i].syscall] = done[i] = true;
		k->a->attached[ATTACH_SYSCALL]++;
	}
	return err;
}

/* Attaches all calls that have the same code with one copy of the template. */
int attach_course__syscalls(struct attach_course *k, size_t first, bool *done)
{
	const struct attach_programs *p = k->programs;
	bool exit = k->sites->site[first].syscall_exit;
	struct attach_kind kind = {
		.type = BPF_PROG_TYPE_TRACING, .attach = BPF_TRACE_RAW_TP,
		.code = attach_code_of(k->a, first),
	};
	int prog, err;

	err = libbpf_find_vmlinux_btf_id(exit ? "sys_exit" : "sys_enter", kind.attach);
	if (err < 0)
		return attach_course__refuse(k, first, err);
	kind.btf_id = err;
	err = put_syscall_slots(k, first, done);
	if (err)
		return attach_course__refuse(k, first, err);
	prog = attach__copy(k->a, exit ? p->syscall_exit : p->syscall_enter, &kind,
			    k->a->syscall_copies++);
	if (prog < 0)
		return attach_course__refuse(k, first, prog);
	err = attach__keep(k->a, bpf_raw_tracepoint_open(NULL, prog));
	close(prog);
	return err ? attach_course__refuse(k, first, err) : 0;
}

int attach_course__all_syscalls(struct attachments *a, const struct attach_programs *p)
{
	int enter = bpf_program__fd(p->sys_enter), exit = bpf_program__fd(p->sys_exit), err = 0;

	if (enter >= 0)
		err = attach__keep(a, bpf_raw_tracepoint_open("sys_enter", enter));
	if (!err && exit >= 0)
		err = attach__keep(a, bpf_raw_tracepoint_open("sys_exit", exit));
	return err;
}
