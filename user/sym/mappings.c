// SPDX-License-Identifier: BSD-2-Clause
#include "sym/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "base/process_thread.h"

/*
 * --- lines -------------------------------------------------------------------------------------
 */

/* Takes a number and the required character after it. */
static bool take_number(char **at, int base, char behind, u64 *out)
{
	char *end;

	if (!**at || strchr(" \t-+", **at))
		return false;
	*out = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* The kernel escapes only newlines, as \012. */
static void unescape(char *name)
{
	char *to = name;

	while (*name) {
		if (!strncmp(name, "\\012", 4)) {
			*to++ = '\n';
			name += 4;
		} else {
			*to++ = *name++;
		}
	}
	*to = 0;
}

static bool cut_suffix(char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	if (len <= n || strcmp(name + len - n, suffix))
		return false;
	name[len - n] = 0;
	return true;
}

bool mapping__parse(struct mapping_line *m, char *line)
{
	u64 major, minor;
	char *name;

	line[strcspn(line, "\n")] = 0;
	if (!take_number(&line, 16, '-', &m->start) || !take_number(&line, 16, ' ', &m->end) ||
	    m->start >= m->end || strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	m->executable = line[2] == 'x';
	m->shared = line[3] == 's';
	line += 5;
	if (!take_number(&line, 16, ' ', &m->offset) || !take_number(&line, 16, ':', &major) ||
	    !take_number(&line, 16, ' ', &minor))
		return false;
	m->device = major << 32 | minor;
	/* If a mapping has no name, some kernels end the line directly after the inode. */
	m->inode = strtoull(line, &name, 10);
	if (name == line || (*name && *name != ' '))
		return false;
	name += strspn(name, " ");
	unescape(name);
	m->deleted = m->inode && cut_suffix(name, " (deleted)");
	m->name = name;
	return true;
}

/* Reads the process's root as a path in our root; "" if it is our own. */
static void read_root(u32 pid, char *root, size_t size)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/root", process_thread(pid));
	n = readlink(link, root, size - 1);
	if (n <= 1 || (size_t)n >= size - 1)
		n = 0;
	root[n] = 0;
}

/* Returns the name without the path of a chroot: names are relative to our root. */
static const char *below_root(const char *name, const char *root, size_t len)
{
	return len && !strncmp(name, root, len) && name[len] == '/' ? name + len : name;
}

/* The kernel returns a page per read, which exceeds stdio's buffer. */
#define MAPS_BUFFER 4096
/* Short lines between two checks of the clock and of signals. A single long line may take long. */
#define LINES_AT_ONCE 64
#define LONG_LINE 512

/*
 * A pending signal ends only long reads: the first signal requests a final report, which needs the
 * names of processes just seen.
 */
#define PATIENCE_NS (50 * NSEC_PER_MSEC)
/* Wall-clock limit, for a machine too busy to give us much CPU time. */
#define LAST_NS (5 * MAPPINGS_TIME_NS)

struct reading {
	FILE *file;
	char *line;
	size_t size;
	u64 patient_ns, last_ns;        /* CLOCK_MONOTONIC */
	u64 end_ns;     /* CLOCK_THREAD_CPUTIME_ID */
	u32 since;      /* lines since the last check */
};

/* Returns 1 if there is a line, 0 at the end, or a negative errno. */
static int next_line(struct reading *r)
{
	ssize_t n;

	if (!(r->since++ % LINES_AT_ONCE)) {
		u64 now_ns = monotonic_ns();

		if (now_ns >= r->last_ns || clock_ns(CLOCK_THREAD_CPUTIME_ID) >= r->end_ns)
			return -ETIME;
		if (now_ns >= r->patient_ns && confined__interrupted())
			return -EINTR;
	}
	n = getline(&r->line, &r->size, r->file);
	if (n > LONG_LINE)
		r->since = 0;
	return n >= 0;
}

static int visit_lines(struct reading *r, u32 pid, mapping_visit visit, void *arg)
{
	char root[PATH_MAX];
	struct mapping_line m;
	bool any = false;
	size_t len;
	int err = 0, more = 0;

	read_root(pid, root, sizeof(root));
	len = strlen(root);
	while (!err && (more = next_line(r)) > 0) {
		if (!mapping__parse(&m, r->line))
			continue;
		any = true;
		m.name = below_root(m.name, root, len);
		err = visit(arg, &m);
	}
	if (!err && more < 0)
		err = more;
	return err || any ? err : -ESRCH;
}

int mappings__each_until(u32 pid, u64 end_ns, mapping_visit visit, void *arg)
{
	char path[32], buffer[MAPS_BUFFER];
	u64 now_ns = monotonic_ns();
	struct reading r = {
		.patient_ns = now_ns + PATIENCE_NS, .last_ns = now_ns + LAST_NS, .end_ns = end_ns,
	};
	int err;

	snprintf(path, sizeof(path), "/proc/%u/maps", process_thread(pid));
	r.file = fopen(path, "re");
	if (!r.file)
		return errno == ENOENT ? -ESRCH : -errno;
	setvbuf(r.file, buffer, _IOFBF, sizeof(buffer));
	err = visit_lines(&r, pid, visit, arg);
	free(r.line);
	fclose(r.file);
	return err;
}

int mappings__each(u32 pid, mapping_visit visit, void *arg)
{
	return mappings__each_until(pid, clock_ns(CLOCK_THREAD_CPUTIME_ID) + MAPPINGS_TIME_NS, visit, arg);
}

int mappings__program(u32 pid, char *name, size_t size)
{
	char link[32], root[PATH_MAX], whole[PATH_MAX];
	const char *below;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", process_thread(pid));
	n = readlink(link, whole, sizeof(whole) - 1);
	if (n < 0)
		return -errno;
	whole[n] = 0;
	cut_suffix(whole, " (deleted)");
	read_root(pid, root, sizeof(root));
	below = below_root(whole, root, strlen(root));
	if (strlen(below) >= size)
		return -ENAMETOOLONG;
	strcpy(name, below);
	return 0;
}

void mapping__path(char path[MAPPED_PATH], u32 pid, u64 start, u64 end)
{
	snprintf(path, MAPPED_PATH, "/proc/%u/map_files/%llx-%llx", process_thread(pid), start, end);
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

/* Reads the start of a process's file as a string. */
static int read_file(u32 pid, const char *name, char *text, size_t size)
{
	char path[48];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	text[n] = 0;
	return 0;
}

/* Fields of proc_pid_stat(5), counted from 1. */
enum stat_field {
	STAT_STATE = 3, STAT_USER = 14, STAT_SYSTEM = 15, STAT_START_TIME = 22, STAT_SIZE = 23,
	STAT_CODE = 26, STAT_STACK = 28, STAT_FIELDS
};

/* Sets *ended if the thread is a zombie. */
static int read_thread(u64 field[STAT_FIELDS], u32 tid, bool *ended)
{
	char text[1024], *at;
	int err, i;

	err = read_file(tid, "stat", text, sizeof(text));
	if (err)
		return err;
	/* Field 2 is a name in parentheses. It may contain any bytes, including parentheses. */
	at = strrchr(text, ')');
	if (!at || strnlen(at, 4) < 4)
		return -ESRCH;
	*ended = at[2] == 'Z' || at[2] == 'X';
	at += 3;
	for (i = STAT_STATE + 1; i < STAT_FIELDS; i++)
		field[i] = strtoull(at, &at, 10);
	return 0;
}

/* If the first thread has exited, reads the fields of another thread, except for the process's start time. */
static int read_fields(u64 field[STAT_FIELDS], u32 pid)
{
	u64 start_time;
	bool ended;
	u32 tid;
	int err = read_thread(field, pid, &ended);

	if (err || !ended)
		return err;
	start_time = field[STAT_START_TIME];
	tid = process_thread(pid);
	err = tid == pid ? -ESRCH : read_thread(field, tid, &ended);
	field[STAT_START_TIME] = start_time;
	return err ?: ended ? -ESRCH : 0;
}

static int read_stat(struct process_stamp *p, u32 pid)
{
	u64 field[STAT_FIELDS] = {};
	int err = read_fields(field, pid);

	if (err)
		return err;
	p->start_time = field[STAT_START_TIME];
	p->size = field[STAT_SIZE];
	p->code = field[STAT_CODE];
	p->stack = field[STAT_STACK];
	return 0;
}

/* Prevents a single tick of a process that has just started from becoming a large share. */
#define YOUNG_TICKS 10

int process_cpu_share(u32 pid, u64 *share)
{
	u64 tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK), now = clock_ns(CLOCK_BOOTTIME) / tick_ns, age;
	u64 field[STAT_FIELDS] = {};
	int err = read_fields(field, pid);

	if (err)
		return err;
	age = now > field[STAT_START_TIME] ? now - field[STAT_START_TIME] : 0;
	*share = (field[STAT_USER] + field[STAT_SYSTEM]) * 1000000 / (age + YOUNG_TICKS);
	return field[STAT_SIZE] ? 0 : -ESRCH;
}

int process_began(u32 pid, s64 *real_ns)
{
	u64 tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK), field[STAT_FIELDS] = {};
	s64 now_ns = clock_ns(CLOCK_REALTIME), up_ns = clock_ns(CLOCK_BOOTTIME);
	int err = read_fields(field, pid);

	if (!err)
		*real_ns = now_ns - up_ns + (s64)(field[STAT_START_TIME] * tick_ns);
	return err;
}

/* Fields of proc_pid_statm(5): size resident shared text lib data dirty */
static int read_statm(struct process_stamp *p, u32 pid)
{
	char text[256], *at = text;
	int err, i;

	err = read_file(process_thread(pid), "statm", text, sizeof(text));
	for (i = 0; !err && i < 6; i++)
		p->data = strtoull(at, &at, 10);
	return err;
}

int process_stamp__read(struct process_stamp *p, u32 pid)
{
	struct process_stamp new = {};
	int err;

	err = read_stat(&new, pid);
	if (!err)
		err = read_statm(&new, pid);
	if (!err)
		*p = new;
	return err;
}

/* Sets *out to the number at an index, or to the last number if there are fewer. Returns false if there is none. */
static bool number_at(const char *text, int index, u32 *out)
{
	char *end;
	int i;

	for (i = 0; i <= index; i++) {
		text += strspn(text, " \t");
		if (*text < '0' || *text > '9')
			break;
		*out = strtoull(text, &end, 10);
		text = end;
	}
	return i > 0;
}

int process_self__read(struct process_self *p, u32 pid)
{
	enum { EFFECTIVE = 1, LAST = INT_MAX - 1 };
	bool uid = false, own = false;
	char path[32], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	/* Newlines in the name are escaped, so the name cannot imitate another line. */
	while (!(uid && own) && getline(&line, &size, file) >= 0) {
		if (!strncmp(line, "Uid:", 4))
			uid = number_at(line + 4, EFFECTIVE, &p->uid);
		if (!strncmp(line, "NSpid:", 6))
			own = number_at(line + 6, LAST, &p->pid);
	}
	free(line);
	fclose(file);
	return uid && own ? 0 : -ESRCH;
}
