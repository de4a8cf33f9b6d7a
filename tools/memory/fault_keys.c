// SPDX-License-Identifier: BSD-2-Clause
#include "memory/fault_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/named_files.h"

const char *const fault_kind_names[FAULT_KINDS] = {
	[FAULT_UNKNOWN] = "unknown", [FAULT_HEAP] = "heap",   [FAULT_STACK] = "stack",
	[FAULT_ANON] = "anon",	     [FAULT_SHMEM] = "shmem", [FAULT_TEXT] = "text",
	[FAULT_DATA] = "data",	     [FAULT_HUGETLB] = "hugetlb", [FAULT_SPECIAL] = "special",
};

static const char *const accesses[FAULT_ACCESSES] = {
	[FAULT_ACCESS_UNKNOWN] = NULL, [FAULT_READ] = "read",
	[FAULT_WRITE] = "write",       [FAULT_EXEC] = "exec",
};

static const char *const modes[FAULT_MODES] = {
	[FAULT_BY_USER] = "user", [FAULT_BY_KERNEL] = "kernel",
};

static const char *const part_names[] = { "kind", "file", "access", "mode" };

const struct own_parts fault_own_parts = {
	.name = part_names, .n = ARRAY_SIZE(part_names), .text = "kind, file, access, mode",
};

/* Like report_row__add_file(), with an empty name. */
static int add_no_file(struct report_row *row)
{
	static const char *const names[] = { "dev", "inode", "generation" };
	struct field none = { .kind = FIELD_NONE };
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(names) && !err; i++) {
		none.name = names[i];
		err = report_row__add_field(row, &none);
	}
	return err;
}

/* Adds the path for text output, and the identity of the file for other formats. */
static int add_file(struct report_row *row, const struct file_id *id,
		    const struct file_names *files)
{
	const char *path = id->inode ? file_names__find(files, id) ?: "?" : NULL;
	int err = report_row__add_text(row, "file", path);
	size_t first = row->ncells;

	if (!err)
		err = id->inode ? report_row__add_file(row, id) : add_no_file(row);
	for (; !err && first < row->ncells; first++)
		row->cell[first].machine = true;
	return err;
}

int fault_parts__add(struct report_row *row, const struct faults_parts *parts, u32 by,
		     const struct file_names *files)
{
	int err = 0;

	if (by & BY_FAULT_KIND)
		err = report_row__add_text(row, "kind", fault_kind_names[parts->kind % FAULT_KINDS]);
	if (!err && by & BY_FAULT_FILE)
		err = add_file(row, &parts->file, files);
	if (!err && by & BY_FAULT_ACCESS)
		err = report_row__add_text(row, "access", accesses[parts->access % FAULT_ACCESSES]);
	if (!err && by & BY_FAULT_MODE)
		err = report_row__add_text(row, "mode", modes[parts->mode % FAULT_MODES]);
	return err;
}
