// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"

static int find_inode(const char *name, u64 *inode)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	if (stat(path, &st))
		return -errno;
	*inode = st.st_ino;
	return 0;
}

int attach_modules__add(struct attach_modules *m, const char *name)
{
	struct attach_module new;
	size_t i;
	int err;

	for (i = 0; i < m->n; i++)
		if (!strcmp(m->module[i].name, name))
			return 0;
	err = find_inode(name, &new.inode);
	if (err)
		return err;
	if (ARRAY_ROOM(m->module, m->n))
		return -ENOMEM;
	new.name = strdup(name);
	if (!new.name)
		return -ENOMEM;
	m->module[m->n++] = new;
	return 0;
}

static bool is_removed(const struct attach_module *m)
{
	u64 inode;
	int err = find_inode(m->name, &inode);

	return err ? err == -ENOENT : inode != m->inode;
}

void attach_modules__describe_removed(const struct attach_modules *m, char *text, size_t size)
{
	size_t n = 0, i;

	text[0] = 0;
	for (i = 0; i < m->n && n < size; i++)
		if (is_removed(&m->module[i]))
			n += snprintf(text + n, size - n, "; module %s was removed and is no longer probed",
				      m->module[i].name);
}

void attach_modules__free(struct attach_modules *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->module[i].name);
	free(m->module);
	*m = (struct attach_modules){};
}
