// SPDX-License-Identifier: BSD-2-Clause
#include "run/named_files.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int take(void *context, const void *record, size_t size)
{
	const struct file_record *n = record;
	struct named_files *f = context;
	char *path = file_name__path(&n->name, size - offsetof(struct file_record, name));

	/*
	 * All anonymous inodes (eventfd, epoll, ...) share one inode, so drop the part of the name that distinguishes
	 * them.
	 */
	if (path && !n->name.mode)
		path[strcspn(path, ":")] = 0;
	return file_names__add(&f->names, &n->id, path);
}

int named_files__prepare(struct measurement *m, struct bpf_object *obj)
{
	return ring__prepare_bytes(obj, ring__bytes_of_rare(&m->run->host));
}

int named_files__open(struct named_files *f, struct measurement *m)
{
	const struct bpf_map *records = bpf_object__find_map_by_name(m->obj, "records");
	int err = records ? 0 : -ENOENT;

	if (!err)
		err = ring__open(&f->ring, records, offsetof(struct file_record, name.names), m->writer, take, f);
	if (!err)
		m->watch_fd = ring__fd(f->ring);
	return err;
}

int named_files__drain(struct named_files *f)
{
	return ring__drain(f->ring);
}

int report_row__add_file(struct report_row *row, const struct file_id *id)
{
	const struct field generation = {
		.name = "generation", .number = id->generation, .kind = FIELD_ID, .machine = true,
	};
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%u:%u", id->device >> 20, id->device & ((1U << 20) - 1));
	err = report_row__add_text(row, "dev", text);
	if (!err)
		err = report_row__add_number(row, "inode", id->inode, FIELD_ID);
	if (err)
		return err;
	row->cell[row->ncells - 1].spare = true;
	return report_row__add_field(row, &generation);
}

int report_row__add_path(struct report_row *row, const struct named_files *f, const struct file_id *id)
{
	int err = report_row__add_text(row, "path", file_names__find(&f->names, id) ?: "?");

	if (!err)
		row->cell[row->ncells - 1].role = ROLE_LABEL;
	return err;
}

void named_files__free(struct named_files *f)
{
	ring__close(f->ring);
	f->ring = NULL;
	file_names__free(&f->names);
}
