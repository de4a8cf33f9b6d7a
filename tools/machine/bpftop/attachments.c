// SPDX-License-Identifier: BSD-2-Clause
/* Places that programs are attached to: links by id, and without links, cgroups and network interfaces. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "host/cgroup.h"
#include "machine/bpftop/program.h"
#include "types/kernel_btf.h"

/*
 * struct bpf_link_info of kernels newer than the header that this is built with. Members that the running kernel does
 * not know stay 0.
 */
struct link_details {
	u32 type, id, prog_id, pad;
	union {
		struct {
			u64 text;       /* buffer for the name of a raw tracepoint or an iterator */
			u32 size;
		} name;
		struct {
			u32 attach_type, target_object, target_type;
		} tracing;
		struct {
			u64 id;
			u32 attach_type;
		} cgroup;
		u32 number;             /* an interface, a network namespace, a map */
		struct {
			u64 text;       /* buffer for the path of multi-uprobes */
			u64 offsets, ref_ctr_offsets, cookies;
			u32 size, count;
		} uprobes;
		struct {
			u64 addresses;
			u32 count;
		} kprobes;
		struct {
			u32 type, pad;
			union {
				struct {
					u64 text;
					u32 size, offset;
				} name;
				struct {
					u64 config;
					u32 type;
				} event;
			};
		} perf;
		u64 room[16];
	};
};

enum link_type {
	LINK_RAW_TRACEPOINT = 1, LINK_TRACING, LINK_CGROUP, LINK_ITER, LINK_NETNS, LINK_XDP, LINK_PERF, LINK_KPROBES,
	LINK_STRUCT_OPS, LINK_NETFILTER, LINK_TCX, LINK_UPROBES, LINK_NETKIT, LINK_SOCKMAP,
};

/* enum bpf_perf_event_type */
enum perf_kind { PERF_UNKNOWN, PERF_UPROBE, PERF_URETPROBE, PERF_KPROBE, PERF_KRETPROBE, PERF_TRACEPOINT, PERF_EVENT };

/*
 * --- names in the kernel's types ---------------------------------------------------------------
 */

struct kernel_types {
	struct btf *kernel, *module;
	u32 kernel_id, module_id;       /* BTF ids of the objects; 0: unknown */
};

static bool is_kernel_itself(u32 id)
{
	char name[64] = "";
	struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
	u32 size = sizeof(info);
	int fd = bpf_btf_get_fd_by_id(id);
	bool is = fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) && info.kernel_btf && !strcmp(name, "vmlinux");

	if (fd >= 0)
		close(fd);
	return is;
}

static const struct btf *types_of(struct kernel_types *t, u32 object)
{
	if (!t->kernel)
		t->kernel = btf__load_vmlinux_btf();
	if (!t->kernel || t->kernel_id == object)
		return t->kernel;
	if (!t->kernel_id && is_kernel_itself(object)) {
		t->kernel_id = object;
		return t->kernel;
	}
	if (t->module_id != object) {
		if (t->module)
			btf__free(t->module);
		t->module = btf__load_from_kernel_by_id_split(object, t->kernel);
		t->module_id = object;
	}
	return t->module;
}

/* Returns NULL if the type is unknown. */
static const char *type_name(struct kernel_types *t, u32 object, u32 id)
{
	const struct btf *btf = object && id ? types_of(t, object) : NULL;
	const struct btf_type *type = btf ? btf__type_by_id(btf, id) : NULL;

	return type ? btf__name_by_offset(btf, type->name_off) : NULL;
}

static void kernel_types__free(struct kernel_types *t)
{
	if (t->module)
		btf__free(t->module);
	if (!t->kernel)
		return;
	btf__free(t->kernel);
	kernel_btf__drop();
}

static const char *without(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) ? name : name + len;
}

/*
 * --- links -------------------------------------------------------------------------------------
 */

/* "kind:name", or the kind alone if there is no name. */
static char *place(const char *kind, const char *name)
{
	return name && *name ? program_text("%s:%s", kind, name) : program_text("%s", kind);
}

static char *attach_type_place(u32 attach_type, const char *name)
{
	const char *kind = libbpf_bpf_attach_type_str(attach_type);

	return place(kind ?: "tracing", name);
}

static char *tracing_place(const struct link_details *l, const struct bpf_program_seen *p, struct kernel_types *types)
{
	u32 object = l->tracing.target_object ?: p->target_object, type = l->tracing.target_type ?: p->target_type;
	const char *name;

	if (p->type == BPF_PROG_TYPE_EXT)
		return l->tracing.target_object ? program_text("freplace:program %u", l->tracing.target_object) :
						  program_text("freplace");
	name = type_name(types, object, type);
	if (l->tracing.attach_type == BPF_TRACE_RAW_TP)
		return place("tp_btf", name ? without(name, "btf_trace_") : NULL);
	if (l->tracing.attach_type == BPF_TRACE_FENTRY)
		return place("fentry", name);
	if (l->tracing.attach_type == BPF_TRACE_FEXIT)
		return place("fexit", name);
	if (l->tracing.attach_type == BPF_MODIFY_RETURN)
		return place("fmod_ret", name);
	if (l->tracing.attach_type == BPF_LSM_MAC)
		return place("lsm", name ? without(name, "bpf_lsm_") : NULL);
	return attach_type_place(l->tracing.attach_type, name);
}

static char *cgroup_place(u64 id, u32 attach_type)
{
	char *path = cgroup__path(SCOPE_CGROUP_V2, id), *text;
	const char *kind = libbpf_bpf_attach_type_str(attach_type);

	text = program_text("%s:%s", kind ?: "cgroup", path ?: "(removed)");
	free(path);
	return text;
}

static char *interface_place(const char *kind, u32 index)
{
	char name[IF_NAMESIZE];

	if (!index)
		return program_text("%s", kind);
	return if_indextoname(index, name) ? program_text("%s:%s", kind, name) :
					     program_text("%s:interface %u", kind, index);
}

static char *perf_place(const struct link_details *l, const char *name)
{
	static const char *const kinds[] = {
		[PERF_UNKNOWN] = "perf_event", [PERF_UPROBE] = "uprobe", [PERF_URETPROBE] = "uretprobe",
		[PERF_KPROBE] = "kprobe", [PERF_KRETPROBE] = "kretprobe", [PERF_TRACEPOINT] = "tracepoint",
	};
	u32 kind = l->perf.type;

	if (kind == PERF_EVENT)
		return program_text("perf_event:%u/%#llx", l->perf.event.type, l->perf.event.config);
	if (kind > PERF_TRACEPOINT)
		kind = PERF_UNKNOWN;
	if (*name && kind >= PERF_UPROBE && kind <= PERF_KRETPROBE && (l->perf.name.offset || kind <= PERF_URETPROBE))
		return program_text("%s:%s+%#x", kinds[kind], name, l->perf.name.offset);
	return place(kinds[kind], name);
}

/* Returns the text for a link with known details and name, or NULL without memory. */
static char *place_of(const struct link_details *l, const char *name, const struct bpf_program_seen *p,
		      struct kernel_types *types)
{
	switch (l->type) {
	case LINK_RAW_TRACEPOINT:
		return place(p->type == BPF_PROG_TYPE_TRACING ? "tp_btf" : "raw_tp", name);
	case LINK_TRACING:
		return tracing_place(l, p, types);
	case LINK_CGROUP:
		return cgroup_place(l->cgroup.id, l->cgroup.attach_type);
	case LINK_ITER:
		return place("iter", name);
	case LINK_NETNS:
		return program_text("netns:%u", l->number);
	case LINK_XDP:
		return interface_place("xdp", l->number);
	case LINK_PERF:
		return perf_place(l, name);
	case LINK_KPROBES:
		return l->kprobes.count ? program_text("kprobe.multi:%u functions", l->kprobes.count) :
					  program_text("kprobe.multi");
	case LINK_STRUCT_OPS:
		return program_text("struct_ops:map %u", l->number);
	case LINK_NETFILTER:
		return program_text("netfilter");
	case LINK_TCX:
		return interface_place("tcx", l->number);
	case LINK_UPROBES:
		return *name ? program_text("uprobe.multi:%s", name) : program_text("uprobe.multi");
	case LINK_NETKIT:
		return interface_place("netkit", l->number);
	case LINK_SOCKMAP:
		return program_text("sockmap:map %u", l->number);
	default:
		return program_text("link of type %u", l->type);
	}
}

#define LINK_NAME_SPACE PATH_MAX

/* Provides a buffer for the name of a link. Returns false if links of this type have no name. */
static bool ask_for_name(struct link_details *named, const struct link_details *l, char name[LINK_NAME_SPACE])
{
	u64 text = (uintptr_t)name;

	switch (l->type) {
	case LINK_RAW_TRACEPOINT:
	case LINK_ITER:
		named->name.text = text;
		named->name.size = LINK_NAME_SPACE;
		return true;
	case LINK_PERF:
		named->perf.name.text = text;
		named->perf.name.size = LINK_NAME_SPACE;
		return l->perf.type >= PERF_UPROBE && l->perf.type <= PERF_TRACEPOINT;
	case LINK_UPROBES:
		named->uprobes.text = text;
		named->uprobes.size = LINK_NAME_SPACE;
		return true;
	default:
		return false;
	}
}

static int read_link_of(struct bpf_programs *all, int fd, struct kernel_types *types)
{
	struct link_details l = {}, named = {};
	struct bpf_program_seen *p;
	char name[LINK_NAME_SPACE] = "";
	u32 size = sizeof(l);

	if (bpf_obj_get_info_by_fd(fd, (struct bpf_link_info *)&l, &size))
		return 0;
	p = bpf_programs__find(all, l.prog_id);
	if (!p)
		return 0;
	size = sizeof(named);
	if (ask_for_name(&named, &l, name) && !bpf_obj_get_info_by_fd(fd, (struct bpf_link_info *)&named, &size))
		l = named;
	else
		name[0] = 0;
	p->by_link = true;
	return bpf_program__add_place(p, place_of(&l, name, p, types));
}

static int read_links(struct bpf_programs *all, struct kernel_types *types)
{
	u32 id = 0;
	int err = 0, fd;

	while (!err && !bpf_link_get_next_id(id, &id)) {
		fd = bpf_link_get_fd_by_id(id);
		if (fd < 0)
			continue;
		err = read_link_of(all, fd, types);
		close(fd);
	}
	return err;
}

/*
 * --- without links -----------------------------------------------------------------------------
 */

/* Programs of these types are attached to cgroups. */
static const struct {
	u32 program;
	enum bpf_attach_type first, last;
} cgroup_types[] = {
	{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, BPF_CGROUP_INET_EGRESS },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, BPF_CGROUP_INET_SOCK_CREATE },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET4_POST_BIND, BPF_CGROUP_INET6_POST_BIND },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_RELEASE, BPF_CGROUP_INET_SOCK_RELEASE },
	{ BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, BPF_CGROUP_SOCK_OPS },
	{ BPF_PROG_TYPE_CGROUP_DEVICE, BPF_CGROUP_DEVICE, BPF_CGROUP_DEVICE },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_BIND, BPF_CGROUP_INET6_CONNECT },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_SENDMSG, BPF_CGROUP_UDP6_SENDMSG },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_RECVMSG, BPF_CGROUP_UDP6_RECVMSG },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_GETPEERNAME, BPF_CGROUP_INET6_GETSOCKNAME },
	{ BPF_PROG_TYPE_CGROUP_SYSCTL, BPF_CGROUP_SYSCTL, BPF_CGROUP_SYSCTL },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_GETSOCKOPT, BPF_CGROUP_SETSOCKOPT },
};

/* Whether there are programs of this type that no link attaches. */
static bool has_unattached(const struct bpf_programs *all, u32 type)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->program[i].type == type && !all->program[i].attached && !all->program[i].ended)
			return true;
	return false;
}

struct cgroup_walk {
	struct bpf_programs *all;
	const char *mount;
	bool wanted[ARRAY_SIZE(cgroup_types)];
};

#define CGROUP_PROGRAMS 64      /* the maximum that the kernel allows at one place */

static int read_cgroup_type(struct cgroup_walk *w, int fd, const char *path, enum bpf_attach_type type)
{
	u32 id[CGROUP_PROGRAMS], n = CGROUP_PROGRAMS, i;
	const char *kind = libbpf_bpf_attach_type_str(type);
	int err = 0;

	if (bpf_prog_query(fd, type, 0, NULL, id, &n))
		return 0;
	for (i = 0; i < n && !err; i++) {
		struct bpf_program_seen *p = bpf_programs__find(w->all, id[i]);

		if (p && !p->by_link)
			err = bpf_program__add_place(p, program_text("%s:%s", kind ?: "cgroup", path));
	}
	return err;
}

static int read_cgroup(void *context, const char *path)
{
	struct cgroup_walk *w = context;
	char full[PATH_MAX];
	size_t i;
	int err = 0, fd, type;

	snprintf(full, sizeof(full), "%s%s", w->mount, path);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	for (i = 0; i < ARRAY_SIZE(cgroup_types) && !err; i++)
		for (type = cgroup_types[i].first; w->wanted[i] && type <= (int)cgroup_types[i].last && !err; type++)
			err = read_cgroup_type(w, fd, path, type);
	close(fd);
	return err;
}

static int read_cgroups(struct bpf_programs *all)
{
	char *mount = cgroup__mount(SCOPE_CGROUP_V2);
	struct cgroup_walk w = { .all = all, .mount = mount };
	bool any = false;
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(cgroup_types); i++)
		any |= w.wanted[i] = has_unattached(all, cgroup_types[i].program);
	if (any && mount)
		err = read_cgroup(&w, "/") ?: cgroups__visit("", read_cgroup, &w);
	free(mount);
	return err == -ENOMEM ? err : 0;
}

static int read_interfaces(struct bpf_programs *all)
{
	struct if_nameindex *interfaces, *i;
	struct bpf_program_seen *p;
	int err = 0;
	u32 id;

	if (!has_unattached(all, BPF_PROG_TYPE_XDP))
		return 0;
	interfaces = if_nameindex();
	for (i = interfaces; i && i->if_index && !err; i++) {
		if (bpf_xdp_query_id(i->if_index, 0, &id) || !id)
			continue;
		p = bpf_programs__find(all, id);
		if (p && !p->by_link)
			err = bpf_program__add_place(p, program_text("xdp:%s", i->if_name));
	}
	if (interfaces)
		if_freenameindex(interfaces);
	return err;
}

/* Programs that have ended keep the places that were known. */
int program_attachments__read(struct bpf_programs *all)
{
	struct kernel_types types = {};
	size_t i;
	int err;

	for (i = 0; i < all->n; i++) {
		struct bpf_program_seen *p = &all->program[i];

		if (p->ended)
			continue;
		free(p->attached);
		p->attached = NULL;
		p->attachments = 0;
		p->by_link = false;
	}
	err = read_links(all, &types) ?: read_cgroups(all) ?: read_interfaces(all);
	kernel_types__free(&types);
	return err;
}
