// SPDX-License-Identifier: BSD-2-Clause
/* Reads the vitals of this machine. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/opener.h"
#include "machine/vitals/vital.h"
#include "report/diag.h"

/* Larger than any of these files. The rest of a larger file is not read. */
#define MOST_BYTES (8U << 20)

char *vital_reader__text(struct vital_reader *v, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t have = 0;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	do {
		have += n;
		if (ARRAY_RESERVE(v->buffer, v->room, have + 4096)) {
			n = -1;
			break;
		}
		n = read(fd, v->buffer + have, v->room - have - 1);
	} while (n > 0 && have < MOST_BYTES);
	close(fd);
	if (n < 0 || !have)
		return NULL;
	v->buffer[have] = 0;
	return v->buffer;
}

/*
 * --- files of one object ------------------------------------------------------------------------
 */

static int read_texts(struct vital_reader *v, struct readings *r)
{
	char *text[VITAL_FILES] = {};
	u64 at_ns[VITAL_FILES];
	int err = 0;
	size_t i;

	for (i = VITAL_NO_FILE + 1; i < VITAL_FILES && !err; i++) {
		char *read = vital_reader__text(v, vital_sources[i].path);

		at_ns[i] = monotonic_ns();
		text[i] = read ? strdup(read) : NULL;
		err = read && !text[i] ? -ENOMEM : 0;
	}
	if (!err)
		err = vital_texts__read(r, text, at_ns);
	for (i = 0; i < VITAL_FILES; i++)
		free(text[i]);
	return err;
}

/*
 * --- disks, interfaces, the clock ---------------------------------------------------------------
 */

static bool is_disk(const char *name)
{
	char path[PATH_MAX], *slash;

	snprintf(path, sizeof(path), "/sys/block/%s", name);
	for (slash = path + strlen("/sys/block/"); *slash; slash++)
		if (*slash == '/')
			*slash = '!';
	return !access(path, F_OK);
}

/*
 * Returns the speed in bytes per second, or 0 if the interface is down or has no speed. Does not use /sys/class/net,
 * which shows the interfaces of the namespace in which it was mounted.
 */
static u64 speed_of(const char *name)
{
	struct ethtool_cmd command = { .cmd = ETHTOOL_GSET };
	struct ifreq request = { .ifr_data = (void *)&command };
	u32 mbits = SPEED_UNKNOWN;
	size_t n = strlen(name);
	int fd = n < sizeof(request.ifr_name) ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

	if (fd < 0)
		return 0;
	memcpy(request.ifr_name, name, n + 1);
	if (!ioctl(fd, SIOCETHTOOL, &request))
		mbits = ethtool_cmd_speed(&command);
	close(fd);
	return mbits == (u32)SPEED_UNKNOWN ? 0 : mbits * 1000000ULL / 8;
}

static int read_clock_source(struct vital_reader *v, struct readings *r)
{
	char *text = vital_reader__text(v, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	const struct reading one = { .vital = VITAL_CLOCK_SOURCE, .value = 1, .at_ns = monotonic_ns() };

	if (!text)
		return 0;
	text[strcspn(text, "\n")] = 0;
	return readings__add(r, &one, text);
}

static int read_lists(struct vital_reader *v, struct readings *r)
{
	char *text = vital_reader__text(v, "/proc/diskstats");
	int err = text ? vital_disks__parse(r, text, monotonic_ns(), is_disk) : 0;

	text = err ? NULL : vital_reader__text(v, "/proc/net/dev");
	if (text)
		err = vital_interfaces__parse(r, text, monotonic_ns(), speed_of);
	text = err ? NULL : vital_reader__text(v, "/proc/net/softnet_stat");
	if (text)
		err = vital_softnet__parse(r, text, monotonic_ns());
	return err ?: read_clock_source(v, r);
}

/*
 * --- file systems -------------------------------------------------------------------------------
 */

/* Adds the used space. The limit also counts the free space for users other than root, as df does. */
static int add_space(struct readings *r, const struct vital_mount *m, u64 id, const struct statfs *s)
{
	u64 used = s->f_blocks - s->f_bfree, unit = s->f_frsize ?: s->f_bsize, at_ns = monotonic_ns();
	const struct reading space = {
		.vital = VITAL_FS_USED, .id = id, .value = used * unit, .at_ns = at_ns,
		.limit = (used + s->f_bavail) * unit, .has_limit = true,
	};
	const struct reading inodes = {
		.vital = VITAL_FS_INODES, .id = id, .value = s->f_files - s->f_ffree, .at_ns = at_ns,
		.limit = s->f_files, .has_limit = true,
	};
	int err = 0;

	if (s->f_blocks && s->f_bfree <= s->f_blocks)
		err = readings__add(r, &space, m->path);
	if (!err && s->f_files && s->f_ffree <= s->f_files)
		err = readings__add(r, &inodes, m->path);
	return err;
}

/* Skips the space of a read-only file system, which cannot fill up. */
static int add_file_system(struct readings *r, const struct vital_mount *m)
{
	u64 id = makedev(m->major, m->minor);
	const struct reading state = {
		.vital = VITAL_FS_READ_ONLY, .id = id, .value = m->is_read_only, .at_ns = monotonic_ns(),
	};
	struct opener_space space;
	int no_space = opener__space(m->path, &space), err;

	if (no_space)
		diag_detail("vitals: %s: %s", m->path, strerror(-no_space));
	else if (space.device != id && strcmp(m->type, "btrfs"))
		return 0;               /* covered by another mount */
	err = readings__add(r, &state, m->path);
	return err || no_space || m->is_read_only ? err : add_space(r, m, id, &space.fs);
}

static bool is_known(const struct readings *r, size_t first, u64 id)
{
	size_t i;

	for (i = first; i < r->n; i++)
		if (r->reading[i].vital == VITAL_FS_READ_ONLY && r->reading[i].id == id)
			return true;
	return false;
}

/* Reads each file system at its first mount. */
int vital_file_systems__read(struct vital_reader *v, struct readings *r)
{
	char *text = vital_reader__text(v, "/proc/self/mountinfo"), *line, *rest = text;
	size_t first = r->n;
	int err = 0;

	while (!err && (line = strsep(&rest, "\n"))) {
		struct vital_mount m;

		if (vital_mount__parse(&m, line) && !is_known(r, first, makedev(m.major, m.minor)))
			err = add_file_system(r, &m);
	}
	return err;
}

/*
 * --- all of it ----------------------------------------------------------------------------------
 */

void vital_reader__open(struct vital_reader *v)
{
	size_t i;

	v->messages_fd = open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (v->messages_fd < 0)
		diag_detail("vitals: no kernel messages: /dev/kmsg: %s", strerror(errno));
	vital_reader__skip_messages(v);
	for (i = VITAL_NO_FILE + 1; i < VITAL_FILES; i++)
		if (!vital_reader__text(v, vital_sources[i].path))
			diag_detail("vitals: this kernel has no %s", vital_sources[i].path);
}

int vital_reader__read(struct vital_reader *v, struct readings *r)
{
	int err = read_texts(v, r) ?: read_lists(v, r) ?: vital_cgroups__read(v, r) ?: vital_messages__read(v, r) ?:
		  vital_file_systems__read(v, r);

	if (!err && !v->leaves_out_levels)
		err = vital_processes__read(&v->nearest, r, vital_processes__have_sizes());
	if (err)
		readings__free(r);
	readings__sort(r);
	return err;
}

void vital_reader__close(struct vital_reader *v)
{
	if (v->messages_fd >= 0)
		close(v->messages_fd);
	vital_cgroups__close(v);
	free(v->buffer);
	*v = (struct vital_reader){ .messages_fd = -1 };
}
