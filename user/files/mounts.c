// SPDX-License-Identifier: BSD-2-Clause
#include "files/mounts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/name.h"

/* Returns NULL if unknown. The root of a namespace has an empty path. */
static char *mount_point(int map_fd, const struct file_mount *mount)
{
	struct file_name *name = malloc(sizeof(*name));
	char *point = NULL;

	if (name && !bpf_map_lookup_elem(map_fd, mount, name) && name->mode)
		point = name->size ? file_name__path(name, sizeof(*name)) : strdup("/");
	free(name);
	return point;
}

static bool is_ours(u32 ns)
{
	struct stat st;

	return !stat("/proc/self/ns/mnt", &st) && st.st_ino == ns;
}

/* Returns an allocated string, or NULL if out of memory. */
static char *mount_name(int map_fd, const struct file_mount *mount)
{
	char *point, *text = NULL;
	int len;

	if (!mount->ns)
		return strdup("-");
	point = mount_point(map_fd, mount);
	if (!point)
		len = asprintf(&text, "? (mount %u, device %u:%u)", mount->id,
			       mount->device >> 20, mount->device & ((1U << 20) - 1));
	else if (is_ours(mount->ns))
		return point;
	else
		len = asprintf(&text, "%s (mnt:[%u])", point, mount->ns);
	free(point);
	return len < 0 ? NULL : text;
}

int report_row__add_mount(struct report_row *row, const struct bpf_map *mounts,
			  const struct file_mount *mount)
{
	char *text = mount_name(bpf_map__fd(mounts), mount);
	int err = text ? report_row__add_text(row, "mount", text) : -ENOMEM;

	free(text);
	return err;
}
