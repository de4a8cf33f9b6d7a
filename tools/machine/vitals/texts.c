// SPDX-License-Identifier: BSD-2-Clause
/* Parsers of the kernel's files. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mount_line.h"
#include "host/disk_name.h"
#include "machine/vitals/vital.h"

/*
 * --- words and numbers -------------------------------------------------------------------------
 */

/* A part of a text. */
struct word {
	const char *at;
	size_t n;
};

static bool separates(char c)
{
	return c == ' ' || c == '\t' || c == ':' || c == '/' || c == '=';
}

/* Returns the next word of a line, and advances the line. The word is empty at the end of the line. */
static struct word next_word(const char **line)
{
	struct word w;

	while (separates(**line))
		++*line;
	w.at = *line;
	while (**line && **line != '\n' && !separates(**line))
		++*line;
	w.n = *line - w.at;
	return w;
}

static bool is_word(struct word w, struct word other)
{
	return w.n && w.n == other.n && !memcmp(w.at, other.at, w.n);
}

/* Parses digits. VITAL_HUNDREDTHS also requires a point, followed by exactly two digits. */
static bool take_number(struct word w, enum vital_unit unit, u64 *value)
{
	int decimals = -1;
	u64 sum = 0;
	size_t i;

	for (i = 0; i < w.n; i++) {
		if (unit == VITAL_HUNDREDTHS && w.at[i] == '.' && decimals < 0 && i) {
			decimals = 0;
			continue;
		}
		if (!isdigit((unsigned char)w.at[i]) || decimals == 2 || __builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (u64)(w.at[i] - '0'), &sum))
			return false;
		decimals += decimals >= 0;
	}
	if (!w.n || (unit == VITAL_HUNDREDTHS && decimals != 2))
		return false;
	*value = sum;
	return true;
}

/* Rejects a number at the end of the text, which may have been cut off. */
static bool take_whole(struct word w, enum vital_unit unit, u64 *value)
{
	return w.n && w.at[w.n] && take_number(w, unit, value);
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line && line[1] ? line + 1 : NULL;
}

/*
 * Finds the first line that begins with this word, or the first line if the word is empty. Returns the text after the
 * word, or NULL.
 */
static const char *find_line(const char *text, struct word first)
{
	const char *rest;

	for (; text; text = next_line(text)) {
		rest = text;
		if (!first.n || is_word(next_word(&rest), first))
			return rest;
	}
	return NULL;
}

static bool in_lines(const char *text, const char *key, const struct vital_figure *f, enum vital_unit unit, u64 *value)
{
	struct word first = next_word(&key), second = next_word(&key), w;
	const char *line = find_line(text, first);
	u32 i;

	if (!line)
		return false;
	while (second.n && !is_word(w = next_word(&line), second))
		if (!w.n)
			return false;
	for (i = 0; i < f->nth; i++)
		next_word(&line);
	return take_whole(next_word(&line), unit, value);
}

static bool in_pairs(const char *text, const char *key, enum vital_unit unit, u64 *value)
{
	struct word first = next_word(&key), second = next_word(&key), w;
	const char *names = find_line(text, first), *below = names ? next_line(names) : NULL;
	const char *numbers = below ? find_line(below, first) : NULL;

	if (!numbers)
		return false;
	while (!is_word(w = next_word(&names), second))
		if (!w.n || !next_word(&numbers).n)
			return false;
	return take_whole(next_word(&numbers), unit, value);
}

bool vital_text__number(const char *text, enum vital_form form, const struct vital_figure *f, enum vital_unit unit,
			u64 *value)
{
	return form == VITAL_PAIRS ? in_pairs(text, f->key ?: "", unit, value) :
				     in_lines(text, f->key ?: "", f, unit, value);
}

/*
 * --- files of one object ------------------------------------------------------------------------
 */

/* The texts of one reading. */
struct texts {
	char *const *text;
	const u64 *at_ns;
};

static bool scale(enum vital_scale scale, u64 *value)
{
	static const u64 factors[] = { [VITAL_ONE] = 1, [VITAL_KIB] = 1024, [VITAL_US] = 1000 };
	u64 factor = scale == VITAL_PAGES ? (u64)sysconf(_SC_PAGESIZE) :
		     scale == VITAL_TICKS ? NSEC_PER_SEC / sysconf(_SC_CLK_TCK) : factors[scale];

	return !__builtin_mul_overflow(*value, factor, value);
}

static bool read_figure(const struct texts *t, const struct vital *v, const struct vital_figure *f, u64 *value)
{
	return f->file && t->text[f->file] &&
	       vital_text__number(t->text[f->file], vital_sources[f->file].form, f, v->unit, value) &&
	       scale(v->scale, value);
}

/* The time of all CPUs: the sum of the first eight columns. The column user includes the time of guests. */
static bool read_cpu_time(const struct texts *t, const struct vital *v, u64 *whole)
{
	struct vital_figure column = v->value;
	u64 one, sum = 0;

	for (column.nth = 0; column.nth < 8; column.nth++) {
		if (!read_figure(t, v, &column, &one))
			return false;
		sum += one;
	}
	*whole = sum;
	return true;
}

static void read_whole(const struct texts *t, const struct vital *v, struct reading *r)
{
	switch (v->whole) {
	case VITAL_ELAPSED:
		r->whole = r->at_ns;
		r->has_whole = true;
		break;
	case VITAL_CPU_TIME:
		r->has_whole = read_cpu_time(t, v, &r->whole);
		break;
	case VITAL_OF_FIGURE:
		r->has_whole = read_figure(t, v, &v->of, &r->whole);
		break;
	default:
		break;
	}
}

/* Returns false if the files lack a figure, or the figures contradict each other. */
static bool read_vital(const struct texts *t, const struct vital *v, struct reading *r)
{
	u64 minus = 0;

	if (!read_figure(t, v, &v->value, &r->value))
		return false;
	r->at_ns = t->at_ns[v->value.file];
	r->has_limit = v->limit.file && read_figure(t, v, &v->limit, &r->limit);
	if (v->minus.file && (!read_figure(t, v, &v->minus, &minus) || minus > r->value))
		return false;
	r->value -= minus;
	if (v->from_limit) {
		if (!r->has_limit || r->limit < r->value)
			return false;
		r->value = r->limit - r->value;
	}
	read_whole(t, v, r);
	return true;
}

int vital_texts__read(struct readings *r, char *const text[VITAL_FILES], const u64 at_ns[VITAL_FILES])
{
	const struct texts t = { text, at_ns };
	int err = 0;
	u32 i;

	for (i = 0; i < vital_count && !err; i++) {
		struct reading one = { .vital = i };

		if (vitals[i].value.file && read_vital(&t, &vitals[i], &one))
			err = readings__add(r, &one, NULL);
	}
	return err;
}

/*
 * --- lists of objects ---------------------------------------------------------------------------
 */

#define NAME_ROOM 64

/* Parses the next n numbers of a line. Returns false if there is anything else. */
static bool take_numbers(const char **line, u64 *number, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!take_whole(next_word(line), VITAL_NUMBER, &number[i]))
			return false;
	return true;
}

/* Copies the next word between blanks, because a name may contain characters that separate words. */
static bool take_name(const char **line, char name[NAME_ROOM])
{
	size_t n;

	*line += strspn(*line, " \t");
	n = strcspn(*line, " \t\n");
	if (!n || n >= NAME_ROOM)
		return false;
	memcpy(name, *line, n);
	name[n] = 0;
	*line += n;
	return true;
}

static int add(struct readings *r, enum vital_id vital, u64 id, const char *object, u64 value, u64 at_ns)
{
	const struct reading one = { .vital = vital, .id = id, .value = value, .at_ns = at_ns };

	return readings__add(r, &one, object);
}

/* Numbers after the name: reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, ms busy. */
static int add_disk(struct readings *r, const char *name, u64 id, const u64 *number, u64 at_ns)
{
	const struct reading busy = {
		.vital = VITAL_DISK_BUSY, .id = id, .value = number[9] * NSEC_PER_MSEC, .at_ns = at_ns,
		.whole = at_ns, .has_whole = true,
	};

	return readings__add(r, &busy, name) ?:
	       add(r, VITAL_DISK_IN_FLIGHT, id, name, number[8], at_ns) ?:
	       add(r, VITAL_DISK_READ, id, name, number[2] * 512, at_ns) ?:
	       add(r, VITAL_DISK_WRITTEN, id, name, number[6] * 512, at_ns);
}

int vital_disks__parse(struct readings *r, const char *text, u64 at_ns, bool (*is_disk)(const char *name))
{
	const char *line;
	int err = 0;

	for (line = text; line && !err; line = next_line(line)) {
		u64 device[2], number[11];
		const char *rest = line;
		char name[NAME_ROOM];

		if (!take_numbers(&rest, device, 2) || !take_name(&rest, name) ||
		    !take_numbers(&rest, number, ARRAY_SIZE(number)))
			continue;
		/* Skips disks that were never used, since there are many: /dev/loop*, /dev/ram*. */
		if ((number[0] || number[4]) && is_disk(name))
			err = add_disk(r, name, device[0] << 32 | device[1], number, at_ns);
	}
	return err;
}

static int add_bytes(struct readings *r, enum vital_id vital, const char *name, u64 bytes, u64 speed, u64 at_ns)
{
	const struct reading one = {
		.vital = vital, .value = bytes, .at_ns = at_ns, .limit = speed, .has_limit = speed != 0,
		.whole = (u64)((unsigned __int128)speed * at_ns / NSEC_PER_SEC), .has_whole = speed != 0,
	};

	return readings__add(r, &one, name);
}

/* Numbers: received bytes, packets, errors, drops, and four others; then the same for sent ones. */
static int add_interface(struct readings *r, const char *name, const u64 *number, u64 speed, u64 at_ns)
{
	return add_bytes(r, VITAL_NET_RX, name, number[0], speed, at_ns) ?:
	       add_bytes(r, VITAL_NET_TX, name, number[8], speed, at_ns) ?:
	       add(r, VITAL_NET_RX_ERRORS, 0, name, number[2], at_ns) ?:
	       add(r, VITAL_NET_RX_DROPS, 0, name, number[3], at_ns) ?:
	       add(r, VITAL_NET_TX_ERRORS, 0, name, number[10], at_ns) ?:
	       add(r, VITAL_NET_TX_DROPS, 0, name, number[11], at_ns);
}

/* "  eth0: 12 34". The name of an alias contains another ':'. */
int vital_interfaces__parse(struct readings *r, const char *text, u64 at_ns, u64 (*speed)(const char *name))
{
	const char *line;
	int err = 0;

	for (line = text; line && !err; line = next_line(line)) {
		const char *rest = line;
		char name[NAME_ROOM];
		u64 number[16];
		size_t n;

		if (!take_name(&rest, name))
			continue;
		n = strlen(name);
		if (n < 2 || name[n - 1] != ':' || !take_numbers(&rest, number, ARRAY_SIZE(number)))
			continue;
		name[n - 1] = 0;
		err = add_interface(r, name, number, speed(name), at_ns);
	}
	return err;
}

/* One line per CPU, hexadecimal: packets, drops, squeezes. */
int vital_softnet__parse(struct readings *r, const char *text, u64 at_ns)
{
	u64 drops = 0, squeezes = 0;
	bool any = false;
	const char *line;

	for (line = text; line; line = next_line(line)) {
		u32 packets, dropped, squeezed;

		if (!strchr(line, '\n') || sscanf(line, "%8x %8x %8x", &packets, &dropped, &squeezed) != 3)
			continue;
		drops += dropped;
		squeezes += squeezed;
		any = true;
	}
	if (!any)
		return 0;
	return add(r, VITAL_SOFTNET_DROPS, 0, NULL, drops, at_ns) ?:
	       add(r, VITAL_SOFTNET_SQUEEZES, 0, NULL, squeezes, at_ns);
}

/*
 * --- mounts -------------------------------------------------------------------------------------
 */

/* Local file systems without a device of their own. */
static bool is_local_without_device(const char *type)
{
	return !strcmp(type, "tmpfs") || !strcmp(type, "btrfs") || !strcmp(type, "zfs") || !strcmp(type, "bcachefs");
}

static bool has_option(const char *options, const char *option)
{
	size_t n = strlen(option);

	for (; options; options = strchr(options, ','), options += options != NULL)
		if (!strncmp(options, option, n) && (!options[n] || options[n] == ','))
			return true;
	return false;
}

/* "27 1 254:0 / /mnt rw,relatime shared:1 - ext4 /dev/vda rw,discard" */
bool vital_mount__parse(struct vital_mount *m, char *line)
{
	struct mount_line parsed;

	if (!mount_line__parse(&parsed, line) || *parsed.point != '/' || !strncmp(parsed.type, "fuse", 4) ||
	    (!parsed.major && !is_local_without_device(parsed.type)))
		return false;
	m->major = parsed.major;
	m->minor = parsed.minor;
	m->path = parsed.point;
	m->type = parsed.type;
	m->is_read_only = has_option(parsed.options, "ro");
	return true;
}

/*
 * --- messages of the kernel ---------------------------------------------------------------------
 */

const char *const vital_message_names[MESSAGES] = {
	[MESSAGE_OTHER] = "other",	     [MESSAGE_OOM] = "oom",
	[MESSAGE_IO] = "io_error",	     [MESSAGE_FS] = "file_system_error",
	[MESSAGE_READ_ONLY] = "read_only",   [MESSAGE_HUNG] = "hung_task",
	[MESSAGE_LOCKUP] = "lockup",	     [MESSAGE_STALL] = "rcu_stall",
	[MESSAGE_MCE] = "hardware_error",    [MESSAGE_BUG] = "bug",
	[MESSAGE_CLOCK] = "clock_unstable",
};

/* Each event is recognized by one of its lines. */
static const struct {
	enum vital_message kind;
	const char *begins;     /* never NULL */
	const char *has;        /* NULL: anything */
} patterns[] = {
	{ MESSAGE_OOM, "Out of memory: Killed process ", NULL },
	{ MESSAGE_OOM, "Out of memory (oom_kill_allocating_task): Killed process ", NULL },
	{ MESSAGE_OOM, "Memory cgroup out of memory: Killed process ", NULL },
	{ MESSAGE_READ_ONLY, "EXT4-fs ", "Remounting filesystem read-only" },
	{ MESSAGE_READ_ONLY, "BTRFS info ", "forced readonly" },
	{ MESSAGE_FS, "EXT4-fs error ", NULL },
	{ MESSAGE_FS, "BTRFS error ", NULL },
	{ MESSAGE_FS, "BTRFS critical ", NULL },
	{ MESSAGE_FS, "XFS ", "orruption" },
	/* Before 5.16, the name of blk_update_request() preceded the message. */
	{ MESSAGE_IO, "blk_update_request: ", " error, dev " },
	{ MESSAGE_IO, "I/O error, dev ", NULL },
	{ MESSAGE_IO, "critical medium error, dev ", NULL },
	{ MESSAGE_IO, "critical target error, dev ", NULL },
	{ MESSAGE_IO, "critical space allocation error, dev ", NULL },
	{ MESSAGE_IO, "critical nexus error, dev ", NULL },
	{ MESSAGE_IO, "recoverable transport error, dev ", NULL },
	{ MESSAGE_IO, "timeout error, dev ", NULL },
	{ MESSAGE_IO, "protection error, dev ", NULL },
	{ MESSAGE_IO, "print_req_error: ", " error, dev " },
	{ MESSAGE_HUNG, "INFO: task ", " blocked for more than " },
	{ MESSAGE_LOCKUP, "watchdog: BUG: soft lockup ", NULL },
	{ MESSAGE_LOCKUP, "watchdog: ", "hard LOCKUP" },
	{ MESSAGE_LOCKUP, "NMI watchdog: ", "hard LOCKUP" },
	{ MESSAGE_STALL, "rcu: INFO: ", "detected stall" },
	{ MESSAGE_STALL, "rcu: INFO: ", "self-detected stall" },
	{ MESSAGE_STALL, "rcu: INFO: ", "detected expedited stalls" },
	{ MESSAGE_MCE, "mce: [Hardware Error]: Machine check events logged", NULL },
	{ MESSAGE_MCE, "EDAC ", " CE " },
	{ MESSAGE_MCE, "EDAC ", " UE " },
	{ MESSAGE_BUG, "BUG: ", NULL },
	{ MESSAGE_BUG, "kernel BUG at ", NULL },
	{ MESSAGE_BUG, "general protection fault", NULL },
	{ MESSAGE_CLOCK, "clocksource: ", "Marking clocksource " },
	{ MESSAGE_CLOCK, "tsc: Marking TSC unstable", NULL },
};

static bool matches(const char *text, const char *begins, const char *has)
{
	return !strncmp(text, begins, strlen(begins)) && (!has || strstr(text, has));
}

/* The kernel's own messages have facility 0. The kernel gives messages of processes another facility. */
enum vital_message vital_message__parse(const char *record)
{
	const char *text = strchr(record, ';'), *end;
	unsigned int priority;
	char line[512];
	size_t i, n;

	if (!text++ || sscanf(record, "%u,", &priority) != 1 || priority >> 3)
		return MESSAGE_OTHER;
	end = strchrnul(text, '\n');
	n = (size_t)(end - text) < sizeof(line) - 1 ? (size_t)(end - text) : sizeof(line) - 1;
	memcpy(line, text, n);
	line[n] = 0;
	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		if (matches(line, patterns[i].begins, patterns[i].has))
			return patterns[i].kind;
	return MESSAGE_OTHER;
}

/*
 * --- io.max of a cgroup -------------------------------------------------------------------------
 */

static const struct {
	enum vital_id vital;
	const char *limit, *used;
} io_limits[] = {
	{ VITAL_CGROUP_IO_RBPS, "rbps", "rbytes" },
	{ VITAL_CGROUP_IO_WBPS, "wbps", "wbytes" },
	{ VITAL_CGROUP_IO_RIOPS, "riops", "rios" },
	{ VITAL_CGROUP_IO_WIOPS, "wiops", "wios" },
};

/* "rbytes=12": the number of a key in a line without its device. False: it is not there, or is no number ("max"). */
static bool number_of_key(const char *line, const char *key, u64 *number)
{
	const struct word wanted = { key, strlen(key) };

	for (;;) {
		struct word name = next_word(&line), value = next_word(&line);

		if (!value.n)
			return false;
		if (is_word(name, wanted))
			return take_whole(value, VITAL_NUMBER, number);
	}
}

/* The line of a device, behind its number; NULL: there is none. */
static const char *line_of_device(const char *text, const u64 device[2])
{
	const char *line;
	u64 number[2];

	for (line = text; line; line = next_line(line)) {
		const char *rest = line;

		if (take_numbers(&rest, number, 2) && number[0] == device[0] && number[1] == device[1])
			return rest;
	}
	return NULL;
}

static int add_io_limit(struct readings *r, size_t which, const struct vital_io *io, const char *limits,
			const char *used, const char *object)
{
	struct reading one = { .vital = io_limits[which].vital, .id = io->cgroup, .at_ns = io->at_ns };

	if (!number_of_key(limits, io_limits[which].limit, &one.limit) || !one.limit)
		return 0;
	if (!number_of_key(used, io_limits[which].used, &one.value))
		return 0;
	one.has_limit = one.has_whole = true;
	one.whole = (u64)((unsigned __int128)one.limit * io->at_ns / NSEC_PER_SEC);
	return readings__add(r, &one, object);
}

int vital_io_limits__parse(struct readings *r, const struct vital_io *io)
{
	const char *line;
	int err = 0;

	for (line = io->limits; line && !err; line = next_line(line)) {
		char object[PATH_MAX + DISK_NAME_SPACE + 1], disk[DISK_NAME_SPACE];
		const char *limits = line, *used;
		u64 device[2];
		size_t i;

		if (!take_numbers(&limits, device, 2))
			continue;
		used = line_of_device(io->stat, device);
		if (!used)
			continue;
		snprintf(object, sizeof(object), "%s %s", io->path,
			 io->name_disk(device[0] << DISK_MINOR_BITS | device[1], disk));
		for (i = 0; i < ARRAY_SIZE(io_limits) && !err; i++)
			err = add_io_limit(r, i, io, limits, used, object);
	}
	return err;
}
