// SPDX-License-Identifier: BSD-2-Clause
#include "host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mount_line.h"
#include "report/diag.h"

/* include/linux/exportfs.h: the file handle is a 64-bit kernfs id. */
#define FILEID_KERNFS 0xfe

/* Controllers by the names of their v1 mount options. */
static const char *const controllers[SCOPE_CGROUP_HIERARCHIES] = {
	[SCOPE_CGROUP_CPUSET] = "cpuset",         [SCOPE_CGROUP_CPU] = "cpu",
	[SCOPE_CGROUP_CPUACCT] = "cpuacct",       [SCOPE_CGROUP_BLKIO] = "blkio",
	[SCOPE_CGROUP_MEMORY] = "memory",         [SCOPE_CGROUP_DEVICES] = "devices",
	[SCOPE_CGROUP_FREEZER] = "freezer",       [SCOPE_CGROUP_NET_CLS] = "net_cls",
	[SCOPE_CGROUP_PERF_EVENT] = "perf_event", [SCOPE_CGROUP_NET_PRIO] = "net_prio",
	[SCOPE_CGROUP_HUGETLB] = "hugetlb",       [SCOPE_CGROUP_PIDS] = "pids",
	[SCOPE_CGROUP_RDMA] = "rdma",             [SCOPE_CGROUP_MISC] = "misc",
};

static const char *const names[SCOPE_CGROUP_HIERARCHIES] = {
	[SCOPE_CGROUP_V2] = "v2",
	[SCOPE_CGROUP_CPUSET] = "v1 cpuset",         [SCOPE_CGROUP_CPU] = "v1 cpu",
	[SCOPE_CGROUP_CPUACCT] = "v1 cpuacct",       [SCOPE_CGROUP_BLKIO] = "v1 blkio",
	[SCOPE_CGROUP_MEMORY] = "v1 memory",         [SCOPE_CGROUP_DEVICES] = "v1 devices",
	[SCOPE_CGROUP_FREEZER] = "v1 freezer",       [SCOPE_CGROUP_NET_CLS] = "v1 net_cls",
	[SCOPE_CGROUP_PERF_EVENT] = "v1 perf_event", [SCOPE_CGROUP_NET_PRIO] = "v1 net_prio",
	[SCOPE_CGROUP_HUGETLB] = "v1 hugetlb",       [SCOPE_CGROUP_PIDS] = "v1 pids",
	[SCOPE_CGROUP_RDMA] = "v1 rdma",             [SCOPE_CGROUP_MISC] = "v1 misc",
};

/* A mount of a cgroup file system. */
struct mount {
	enum scope_hierarchy hierarchy;
	char point[PATH_MAX];   /* mount point */
	char root[PATH_MAX];    /* the cgroup mounted there */
};

const char *cgroup_hierarchy_name(enum scope_hierarchy hierarchy)
{
	return names[hierarchy];
}

/* Returns the v1 hierarchy with these mount options, or 0 (v2) if none of them is a controller. */
static enum scope_hierarchy v1_hierarchy(char *options)
{
	char *option, *rest;
	int i;

	for (option = strtok_r(options, ",", &rest); option; option = strtok_r(NULL, ",", &rest))
		for (i = 1; i < SCOPE_CGROUP_HIERARCHIES; i++)
			if (!strcmp(option, controllers[i]))
				return i;
	return SCOPE_CGROUP_V2;
}

/* Parses a line of /proc/self/mountinfo, proc(5). True for a cgroup mount that we support. */
static bool parse_mount(char *line, struct mount *m)
{
	struct mount_line parsed;

	if (!mount_line__parse(&parsed, line))
		return false;
	if (!strcmp(parsed.type, "cgroup2")) {
		m->hierarchy = SCOPE_CGROUP_V2;
	} else if (!strcmp(parsed.type, "cgroup")) {
		m->hierarchy = v1_hierarchy(parsed.options);
		if (m->hierarchy == SCOPE_CGROUP_V2)
			return false;   /* a named hierarchy without a controller */
	} else {
		return false;
	}
	snprintf(m->root, sizeof(m->root), "%s", parsed.root);
	snprintf(m->point, sizeof(m->point), "%s", parsed.point);
	return true;
}

/*
 * Finds the mount of a hierarchy (below == NULL), or the mount that contains the path below. With several, takes the
 * mount nearest to the root of the hierarchy, or nearest to the path.
 */
static bool find_mount(struct mount *found, enum scope_hierarchy hierarchy, const char *below)
{
	struct mount m;
	char *line = NULL;
	size_t room = 0, len, best = 0;
	bool any = false;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	if (!f)
		return false;
	while (getline(&line, &room, f) > 0) {
		if (!parse_mount(line, &m))
			continue;
		len = strlen(m.point);
		if (below) {
			if (strncmp(below, m.point, len) || (below[len] && below[len] != '/'))
				continue;
			if (any && len < best)
				continue;
			best = len;
		} else {
			len = strlen(m.root);
			if (m.hierarchy != hierarchy || (any && len >= best))
				continue;
			best = len;
		}
		*found = m;
		any = true;
	}
	free(line);
	fclose(f);
	return any;
}

enum scope_hierarchy cgroup__default_hierarchy(void)
{
	struct mount m;

	return find_mount(&m, SCOPE_CGROUP_CPU, NULL) ? SCOPE_CGROUP_CPU : SCOPE_CGROUP_V2;
}

static u32 components(const char *path)
{
	u32 n = 0;

	for (; *path; path++)
		n += path[0] == '/' && path[1] && path[1] != '/';
	return n;
}

/* Finds the directory of a name in a hierarchy. Returns 0 or a negative errno. */
static int path_in(char real[PATH_MAX], enum scope_hierarchy hierarchy, const char *name)
{
	struct mount m;
	char *path;
	int err;

	if (!find_mount(&m, hierarchy, NULL))
		return -ENOENT;
	if (asprintf(&path, "%s/%s", m.point, name) < 0)
		return -ENOMEM;
	err = realpath(path, real) ? 0 : -errno;
	free(path);
	return err;
}

/*
 * Finds the directory of a name: in the default hierarchy, or else in the first other one that has it. In systemd's
 * hybrid layout, services are in v2 beside v1 controllers.
 */
static int path_of_name(char real[PATH_MAX], const char *option, const char *name)
{
	enum scope_hierarchy usual = cgroup__default_hierarchy();
	int err = path_in(real, usual, name), i;

	for (i = 0; err == -ENOENT && i < SCOPE_CGROUP_HIERARCHIES; i++) {
		if (i == (int)usual)
			continue;
		err = path_in(real, i, name);
		if (!err)
			diag_warn("%s: '%s' is not in the %s hierarchy; using %s", option, name, names[usual],
				  names[i]);
	}
	return err;
}

/* Finds the directory of a path, which is absolute or relative to the root of a hierarchy. */
static int absolute_path(char real[PATH_MAX], const char *option, const char *path)
{
	struct statfs fs;

	if (path[0] == '/' && realpath(path, real) && !statfs(real, &fs) &&
	    (fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC))
		return 0;
	return path_of_name(real, option, path);
}

int cgroup__find(struct cgroup_ref *ref, const char *option, const char *path)
{
	char real[PATH_MAX];
	struct mount m;
	struct stat st;
	int err;

	err = absolute_path(real, option, path);
	if (err) {
		diag_error("%s: no cgroup '%s': %s", option, path, strerror(-err));
		diag_hint("give the directory of a cgroup, or its name as in /proc/PID/cgroup");
		return err;
	}
	if (stat(real, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode)) {
		diag_error("%s: '%s' is not a cgroup directory", option, path);
		return -ENOTDIR;
	}
	if (!find_mount(&m, 0, real)) {
		diag_error("%s: '%s' is in a hierarchy without a controller; BPF programs cannot test whether a task "
			   "is in it", option, path);
		return -ENOENT;
	}
	ref->hierarchy = m.hierarchy;
	ref->id = st.st_ino;
	ref->level = components(m.root) + components(real + strlen(m.point));
	return 0;
}

char *cgroup__path(enum scope_hierarchy hierarchy, u64 id)
{
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + sizeof(u64)];
	} h = { .handle = { .handle_bytes = sizeof(u64), .handle_type = FILEID_KERNFS } };
	char link[64], path[PATH_MAX], *name = NULL;
	struct mount m;
	ssize_t n;
	int mount_fd, fd;

	if (!find_mount(&m, hierarchy, NULL))
		return NULL;
	mount_fd = open(m.point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount_fd < 0)
		return NULL;
	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount_fd, &h.handle, O_PATH | O_CLOEXEC);
	close(mount_fd);
	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n >= (ssize_t)strlen(m.point)) {
		path[n] = 0;
		name = strdup(path[strlen(m.point)] ? path + strlen(m.point) : "/");
	}
	close(fd);
	return name;
}

char *cgroup__mount(enum scope_hierarchy hierarchy)
{
	struct mount m;

	return find_mount(&m, hierarchy, NULL) ? strdup(m.point) : NULL;
}

struct cgroup_visit {
	const char *begins;     /* without a leading slash */
	int (*visit)(void *context, const char *name);
	void *context;
	char name[PATH_MAX];
};

/* True if one begins with the other. Otherwise, no name below this one can match. */
static bool is_on_the_way(const char *name, const char *begins)
{
	size_t n = strlen(name), m = strlen(begins);

	return !strncmp(name, begins, n < m ? n : m);
}

/* Visits the cgroups below v->name, which has len bytes. fd: its directory, which is closed here. */
static int visit_below(struct cgroup_visit *v, int fd, size_t len)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int err = 0, below;
	size_t n;

	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (entry = readdir(dir))) {
		n = strlen(entry->d_name);
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    len + n + 2 > sizeof(v->name))
			continue;
		snprintf(v->name + len, sizeof(v->name) - len, "/%s", entry->d_name);
		if (!is_on_the_way(v->name + 1, v->begins))
			continue;
		if (len + n >= strlen(v->begins))
			err = v->visit(v->context, v->name);
		below = err ? -1 : openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			err = visit_below(v, below, len + n + 1);
	}
	closedir(dir);
	return err;
}

static int visit_hierarchy(const char *begins, enum scope_hierarchy hierarchy,
			   int (*visit)(void *context, const char *name), void *context)
{
	struct cgroup_visit v = { begins + (*begins == '/'), visit, context, "" };
	struct mount m;
	int fd;

	if (!find_mount(&m, hierarchy, NULL))
		return -ENOENT;
	fd = open(m.point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : visit_below(&v, fd, 0);
}

struct rest_visit {
	int (*visit)(void *context, const char *name);
	void *context;
};

/* Visits only names that the default hierarchy lacks. */
static int visit_rest(void *context, const char *name)
{
	const struct rest_visit *rest = context;
	char real[PATH_MAX];

	return path_in(real, cgroup__default_hierarchy(), name) ? rest->visit(rest->context, name) : 0;
}

int cgroups__visit(const char *begins, int (*visit)(void *context, const char *name), void *context)
{
	enum scope_hierarchy usual = cgroup__default_hierarchy();
	struct rest_visit rest = { visit, context };
	int err = visit_hierarchy(begins, usual, visit, context);

	if (!err && usual != SCOPE_CGROUP_V2)
		err = visit_hierarchy(begins, SCOPE_CGROUP_V2, visit_rest, &rest);
	return err == -ENOENT && usual != SCOPE_CGROUP_V2 ? 0 : err;
}
