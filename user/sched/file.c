// SPDX-License-Identifier: BSD-2-Clause
#include "sched/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/scope.h"

struct switches_file {
	FILE *file;
	u64 records;
};

/*
 * --- writing -----------------------------------------------------------------------------------
 */

static int create(const char *path)
{
	struct stat st;
	int fd;

	if (!lstat(path, &st)) {
		if (!S_ISREG(st.st_mode))
			return -EEXIST;
		if (unlink(path))
			return -errno;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int put(struct switches_file *f, const void *data, size_t size)
{
	errno = 0;
	if (fwrite(data, size, 1, f->file) == 1)
		return 0;
	return errno ? -errno : -EIO;
}

int switches_file__create(struct switches_file **out, const char *path,
			  const struct switches_file_head *given)
{
	struct switches_file_head head = *given;
	struct switches_file *f;
	int fd = create(path), err;

	if (fd < 0)
		return fd;
	f = calloc(1, sizeof(*f));
	if (f)
		f->file = fdopen(fd, "w");
	if (!f || !f->file) {
		free(f);
		close(fd);
		return -ENOMEM;
	}
	memcpy(head.magic, SWITCHES_FILE_MAGIC, sizeof(head.magic));
	head.version = SWITCHES_FILE_VERSION;
	head.order = SWITCHES_FILE_ORDER;
	head.record_size = sizeof(struct switches_record);
	err = put(f, &head, sizeof(head));
	if (err) {
		switches_file__close(f);
		return err;
	}
	*out = f;
	return 0;
}

int switches_file__add(struct switches_file *f, const struct switches_record *r)
{
	int err;

	if (f->records == SWITCHES_FILE_MOST)
		return -EFBIG;
	err = put(f, r, sizeof(*r));
	if (!err)
		f->records++;
	return err;
}

int switches_file__finish(struct switches_file *f, const struct loss_counters *counters)
{
	const struct switches_record end = {
		.kind = SWITCHES_FILE_END, .off_ns = f->records, .wait_ns = LOSS_REASONS,
	};
	int err = put(f, &end, sizeof(end));

	if (!err)
		err = put(f, counters->lost, sizeof(counters->lost));
	errno = 0;
	if (fclose(f->file) && !err)
		err = errno ? -errno : -EIO;
	free(f);
	return err;
}

void switches_file__close(struct switches_file *f)
{
	if (!f)
		return;
	fclose(f->file);
	free(f);
}

/*
 * --- reading -----------------------------------------------------------------------------------
 */

static int refuse(const char **why, const char *reason)
{
	*why = reason;
	return -EBADMSG;
}

static int read_head(struct switches_file_head *head, FILE *file, const char **why)
{
	if (fread(head, sizeof(*head), 1, file) != 1)
		return ferror(file) ? -EIO : refuse(why, "it is too short");
	if (memcmp(head->magic, SWITCHES_FILE_MAGIC, sizeof(head->magic)))
		return refuse(why, "it was not made by --record");
	if (head->order != SWITCHES_FILE_ORDER)
		return refuse(why, "it was made on a machine with another byte order");
	if (head->version != SWITCHES_FILE_VERSION ||
	    head->record_size != sizeof(struct switches_record))
		return refuse(why, "it was made by another version");
	if (!head->cpus || head->cpus > SCOPE_MAX_CPUS ||
	    !memchr(head->kernel, 0, sizeof(head->kernel)))
		return refuse(why, "its head is damaged");
	return 0;
}

/* Any name and any time will do: they are only shown. CPUs are columns. */
static bool is_sound(const struct switches_record *r)
{
	return r->kind < SWITCHES_KINDS && r->kind != SWITCHES_WAIT && r->cpu < SCOPE_MAX_CPUS &&
	       r->from < SCOPE_MAX_CPUS && r->to < SCOPE_MAX_CPUS;
}

static int read_end(struct switches_file_text *text, const struct switches_record *end, FILE *file,
		    const char **why)
{
	u64 n = end->wait_ns;

	if (end->off_ns != text->records)
		return refuse(why, "records are missing");
	if (n > LOSS_REASONS)
		return refuse(why, "it was made by a later version");
	if (fread(text->counters.lost, sizeof(u64), n, file) != n || fgetc(file) != EOF)
		return ferror(file) ? -EIO : refuse(why, "its end is damaged");
	text->whole = true;
	return 0;
}

static int read_records(struct switches_file_text *text, FILE *file,
			int (*take)(void *context, const struct switches_record *r), void *context,
			const char **why)
{
	struct switches_record r;
	size_t got;
	int err;

	for (;;) {
		got = fread(&r, 1, sizeof(r), file);
		if (got != sizeof(r))
			return ferror(file) ? -EIO : 0;
		if (r.kind == SWITCHES_FILE_END)
			return read_end(text, &r, file, why);
		if (text->records == SWITCHES_FILE_MOST)
			return refuse(why, "it is too long");
		if (!is_sound(&r))
			return refuse(why, "a record is damaged");
		text->records++;
		err = take(context, &r);
		if (err)
			return err;
	}
}

/* Without waiting for the other end of what turns out to be a pipe. */
static int open_regular(FILE **file, const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return refuse(why, "it is not a regular file");
	}
	*file = fdopen(fd, "r");
	if (*file)
		return 0;
	close(fd);
	return -ENOMEM;
}

int switches_file__read(struct switches_file_text *text, const char *path,
			int (*begin)(void *context, const struct switches_file_head *head),
			int (*take)(void *context, const struct switches_record *r), void *context,
			const char **why)
{
	FILE *file = NULL;
	int err;

	*text = (struct switches_file_text){};
	*why = NULL;
	err = open_regular(&file, path, why);
	if (err)
		return err;
	err = read_head(&text->head, file, why);
	if (!err)
		err = begin(context, &text->head);
	if (!err)
		err = read_records(text, file, take, context, why);
	fclose(file);
	return err;
}
