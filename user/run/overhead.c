// SPDX-License-Identifier: BSD-2-Clause
#include "run/overhead.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "report/diag.h"

/* Cumulative cost of one program. */
struct program_cost {
	u32 id;
	u64 runs, ns;
	char name[BPF_OBJ_NAME_LEN];
};

u64 own_cpu_ns(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used))
		return 0;
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * NSEC_PER_USEC;
}

/*
 * --- descriptors -------------------------------------------------------------------------------
 */

/* Calls visit() for each descriptor of a kind ("bpf-prog") until visit() returns nonzero. */
static int each_descriptor(const char *kind, int (*visit)(void *context, int fd), void *context)
{
	DIR *dir = opendir("/proc/self/fd");
	char wanted[32], path[300], link[64];
	struct dirent *d;
	ssize_t n;
	int err = 0;

	snprintf(wanted, sizeof(wanted), "anon_inode:%s", kind);
	while (dir && !err && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = 0;
		if (!strcmp(link, wanted))
			err = visit(context, atoi(d->d_name));
	}
	if (dir)
		closedir(dir);
	return err;
}

struct snapshot {
	struct program_cost *program;
	size_t n;
};

static const struct program_cost *program_by_id(const struct program_cost *p, size_t n, u32 id)
{
	while (n--)
		if (p[n].id == id)
			return &p[n];
	return NULL;
}

/* Counts a program once, even with several descriptors. */
static int add_program(void *context, int fd)
{
	struct snapshot *s = context;
	struct bpf_prog_info info = {};
	struct program_cost *new;
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) || program_by_id(s->program, s->n, info.id))
		return 0;
	new = ARRAY_ADD(s->program, s->n);
	if (!new)
		return -ENOMEM;
	*new = (struct program_cost){ .id = info.id, .runs = info.run_cnt, .ns = info.run_time_ns };
	memcpy(new->name, info.name, sizeof(info.name));
	return 0;
}

static int add_program_by_id(struct snapshot *s, u32 id)
{
	int fd = bpf_prog_get_fd_by_id(id), err;

	if (fd < 0)
		return 0;
	err = add_program(s, fd);
	close(fd);
	return err;
}

/* For programs whose own descriptor was closed after attaching. */
static int add_program_of_link(void *context, int fd)
{
	struct bpf_link_info info = {};
	u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : add_program_by_id(context, info.prog_id);
}

/* The same for perf events without links (before 5.15). */
static int add_program_of_event(void *context, int fd)
{
	u32 size = 0, id = 0, type;
	u64 offset, address;

	if (bpf_task_fd_query(getpid(), fd, 0, NULL, &size, &id, &type, &offset, &address))
		return 0;
	return add_program_by_id(context, id);
}

static int take_snapshot(struct snapshot *s)
{
	int err;

	*s = (struct snapshot){};
	err = each_descriptor("bpf-prog", add_program, s);
	if (!err)
		err = each_descriptor("bpf_link", add_program_of_link, s);
	if (!err)
		err = each_descriptor("[perf_event]", add_program_of_event, s);
	if (err)
		free(s->program);
	return err;
}

/* The kernel's own figure of what the map is charged. */
static int add_map(void *context, int fd)
{
	char path[64], line[256];
	u64 *bytes = context;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "memlock:", 8))
			*bytes += strtoull(line + 8, NULL, 10);
	if (f)
		fclose(f);
	return 0;
}

/* No slice begins or ends while the snapshot is taken. *on_ns: the time in slices until then. */
static int take_snapshot_between(struct slices *s, struct snapshot *now, u64 *on_ns)
{
	int err;

	*on_ns = 0;
	if (!s)
		return take_snapshot(now);
	*on_ns = slices__hold(s);
	err = take_snapshot(now);
	slices__let_go(s);
	return err;
}

/*
 * --- the cost ----------------------------------------------------------------------------------
 */

int overhead__start(struct overhead *o, struct slices *slices)
{
	struct snapshot now;
	int err;

	o->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (o->stats_fd < 0) {
		err = -errno;
		diag_error("--overhead: the kernel's BPF statistics cannot be turned on: %s",
			   strerror(-err));
		diag_hint("they take CAP_SYS_ADMIN and kernel 5.8");
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	o->slices = slices;
	if (slices) {
		close(o->stats_fd);
		o->stats_fd = -1;
	}
	err = take_snapshot_between(o->slices, &now, &o->on_before_ns);
	if (err)
		return err;
	o->before = now.program;
	o->nbefore = now.n;
	o->own_before_ns = o->own_start_ns = own_cpu_ns();
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct report_program *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * Estimates the whole of a program's figure from that of the slices. Programs that are attached in slices only have no
 * other cost.
 */
static u64 whole_of(const struct overhead *o, const struct report_overhead *cost, u32 id, u64 seen)
{
	u64 attached_ns;

	if (!cost->measured_ns)
		return seen;
	attached_ns = slices__attached_ns(o->slices, id, cost->duration_ns);
	return (unsigned __int128)seen * attached_ns / cost->measured_ns;
}

static int fill_programs(const struct overhead *o, const struct snapshot *now,
			 struct report_overhead *cost)
{
	const struct program_cost *p, *before;
	struct report_program *out;

	out = cost->program = calloc(now->n ?: 1, sizeof(*cost->program));
	if (!out)
		return -ENOMEM;
	for (p = now->program; p < now->program + now->n; p++, out++) {
		before = program_by_id(o->before, o->nbefore, p->id);
		out->runs = whole_of(o, cost, p->id, p->runs - (before ? before->runs : 0));
		out->ns = whole_of(o, cost, p->id, p->ns - (before ? before->ns : 0));
		memcpy(out->name, p->name, sizeof(p->name));
		cost->runs += out->runs;
		cost->ns += out->ns;
	}
	cost->nprograms = now->n;
	qsort(cost->program, cost->nprograms, sizeof(*cost->program), by_time);
	return 0;
}

int overhead__since(struct overhead *o, u64 duration_ns, int cpus)
{
	u64 own = own_cpu_ns(), on_ns;
	struct snapshot now;
	int err = take_snapshot_between(o->slices, &now, &on_ns);

	if (err)
		return err;
	free(o->cost.program);
	o->cost = (struct report_overhead){
		.own_ns = own - o->own_before_ns, .start_ns = o->own_start_ns, .duration_ns = duration_ns, .cpus = cpus,
		.measured_ns = on_ns - o->on_before_ns,
	};
	err = fill_programs(o, &now, &o->cost);
	each_descriptor("bpf-map", add_map, &o->cost.map_bytes);
	free(o->before);
	o->before = now.program;
	o->nbefore = now.n;
	o->own_before_ns = own;
	o->on_before_ns = on_ns;
	return err;
}

u64 overhead__program_ns(void)
{
	struct snapshot now;
	u64 sum = 0;
	size_t i;

	if (take_snapshot(&now))
		return 0;
	for (i = 0; i < now.n; i++)
		sum += now.program[i].ns;
	free(now.program);
	return sum;
}

void overhead__stop(struct overhead *o)
{
	if (o->stats_fd >= 0)
		close(o->stats_fd);
	free(o->cost.program);
	free(o->before);
	*o = (struct overhead){ .stats_fd = -1 };
}
