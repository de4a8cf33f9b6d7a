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

/* Cumulative cost of one program: since it was loaded, or in windows. */
struct program_cost {
	u32 id;
	int fd;                 /* descriptor in this process; -1: only its link has one */
	u64 runs, ns;
	char name[BPF_OBJ_NAME_LEN];
};

/* A program whose statistics are read in windows. */
struct watched_program {
	struct program_cost cost;       /* in windows that have ended */
	u64 runs, ns;                   /* totals since it was loaded, at the start of the window */
	bool is_seen;                   /* both totals are known */
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
static int add_program_as(struct snapshot *s, int fd, int kept_fd)
{
	struct bpf_prog_info info = {};
	struct program_cost *new;
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) || program_by_id(s->program, s->n, info.id))
		return 0;
	new = ARRAY_ADD(s->program, s->n);
	if (!new)
		return -ENOMEM;
	*new = (struct program_cost){ .id = info.id, .fd = kept_fd, .runs = info.run_cnt, .ns = info.run_time_ns };
	memcpy(new->name, info.name, sizeof(info.name));
	return 0;
}

static int add_program(void *context, int fd)
{
	return add_program_as(context, fd, fd);
}

static int add_program_by_id(struct snapshot *s, u32 id)
{
	int fd = bpf_prog_get_fd_by_id(id), err;

	if (fd < 0)
		return 0;
	err = add_program_as(s, fd, -1);
	close(fd);
	return err;
}

/* Adds the program of a link, whose own descriptor may have been closed after attaching. */
static int add_program_of_link(void *context, int fd)
{
	struct bpf_link_info info = {};
	u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : add_program_by_id(context, info.prog_id);
}

/* Same, for perf events without links (before 5.15). */
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

/* Adds the bytes that the kernel charges for the map. */
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

/*
 * --- windows -----------------------------------------------------------------------------------
 *
 * Other users may enable the kernel's BPF statistics, too. So a program's statistics are read at both ends of each
 * window: its total at the end would include runs outside of windows.
 */

/* If the program's measurement has ended, its descriptor may now refer to another file. */
static bool read_cost(struct program_cost *p, struct bpf_prog_info *info)
{
	u32 size = sizeof(*info);
	bool is_there;
	int fd;

	*info = (struct bpf_prog_info){};
	if (p->fd >= 0 && !bpf_obj_get_info_by_fd(p->fd, info, &size) && info->id == p->id)
		return true;
	p->fd = -1;
	fd = bpf_prog_get_fd_by_id(p->id);
	if (fd < 0)
		return false;
	*info = (struct bpf_prog_info){};
	size = sizeof(*info);
	is_there = !bpf_obj_get_info_by_fd(fd, info, &size);
	close(fd);
	return is_there;
}

static void look(void *context, bool begins)
{
	struct overhead *o = context;
	struct watched_program *p;
	struct bpf_prog_info now;

	for (p = o->watched; p < o->watched + o->nwatched; p++) {
		bool is_there = read_cost(&p->cost, &now);

		if (!begins && is_there && p->is_seen) {
			p->cost.runs += now.run_cnt - p->runs;
			p->cost.ns += now.run_time_ns - p->ns;
		}
		p->is_seen = begins && is_there;
		p->runs = now.run_cnt;
		p->ns = now.run_time_ns;
	}
}

static bool is_watched(const struct overhead *o, u32 id)
{
	size_t i;

	for (i = 0; i < o->nwatched; i++)
		if (o->watched[i].cost.id == id)
			return true;
	return false;
}

/* Starts watching new programs, and stops watching removed ones. Call while slices are held. */
static int watch_programs(struct overhead *o)
{
	struct watched_program *new;
	struct snapshot now;
	size_t i, n = 0;
	int err = take_snapshot(&now);

	if (err)
		return err;
	for (i = 0; i < o->nwatched; i++)
		if (program_by_id(now.program, now.n, o->watched[i].cost.id))
			o->watched[n++] = o->watched[i];
	o->nwatched = n;
	for (i = 0; i < now.n && !err; i++) {
		if (is_watched(o, now.program[i].id))
			continue;
		new = ARRAY_ADD(o->watched, o->nwatched);
		if (!new) {
			err = -ENOMEM;
			break;
		}
		*new = (struct watched_program){ .cost = now.program[i] };
		new->cost.runs = new->cost.ns = 0;
	}
	free(now.program);
	return err;
}

static int take_watched(const struct overhead *o, struct snapshot *now)
{
	struct program_cost *out = calloc(o->nwatched ?: 1, sizeof(*out));
	size_t i;

	if (!out)
		return -ENOMEM;
	for (i = 0; i < o->nwatched; i++)
		out[i] = o->watched[i].cost;
	*now = (struct snapshot){ out, o->nwatched };
	return 0;
}

/* Reads the costs of all programs. *on_ns: total time of all windows so far; 0 without slices. */
static int take_costs(struct overhead *o, struct snapshot *now, u64 *on_ns)
{
	int err;

	*on_ns = 0;
	if (!o->slices)
		return take_snapshot(now);
	*on_ns = slices__hold(o->slices);
	err = watch_programs(o) ?: take_watched(o, now);
	slices__let_go(o->slices);
	return err;
}

static void watch_windows(struct overhead *o, slices_look *look_at)
{
	if (!o->slices)
		return;
	slices__hold(o->slices);
	slices__watch(o->slices, look_at, o);
	slices__let_go(o->slices);
}

int overhead__watch_new(struct overhead *o)
{
	int err;

	if (!o->slices)
		return 0;
	slices__hold(o->slices);
	err = watch_programs(o);
	slices__let_go(o->slices);
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
		diag_hint("they need CAP_SYS_ADMIN and kernel 5.8");
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	o->slices = slices;
	if (slices) {
		close(o->stats_fd);
		o->stats_fd = -1;
	}
	watch_windows(o, look);
	err = take_costs(o, &now, &o->on_before_ns);
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
 * Extrapolates a program's figure from the windows to the whole time that it was attached. Programs that are attached
 * only in slices have no other cost.
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
	int err = take_costs(o, &now, &on_ns);

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
	watch_windows(o, NULL);
	free(o->watched);
	free(o->cost.program);
	free(o->before);
	*o = (struct overhead){ .stats_fd = -1 };
}
