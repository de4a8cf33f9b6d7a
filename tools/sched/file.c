// SPDX-License-Identifier: BSD-2-Clause
#include "sched/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/replace.h"

#include "bpf/lib/scope.h"

struct switches_file {
	FILE *file;
	struct replacement replacement;
	u64 records;
};

/*
 * --- writing -----------------------------------------------------------------------------------
 */

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
	struct replacement replacement;
	struct switches_file *f;
	int fd = replacement__open(&replacement, path, 0600), err;

	if (fd < 0)
		return fd;
	f = calloc(1, sizeof(*f));
	if (f)
		f->file = fdopen(fd, "w");
	if (!f || !f->file) {
		free(f);
		close(fd);
		replacement__release(&replacement);
		return -ENOMEM;
	}
	f->replacement = replacement;
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
	if (err)
		return err;
	return f->records++ ? 0 : replacement__commit(&f->replacement);
}

static __u16 text_size(const char *text)
{
	size_t size = text ? strlen(text) : 0;

	return size < UINT16_MAX ? size : UINT16_MAX;
}

static int put_frame(struct switches_file *f, const struct report_frame *frame)
{
	const struct switches_file_frame head = {
		.offset = frame->offset, .kind = frame->kind,
		.name = text_size(frame->name), .module = text_size(frame->module),
	};
	int err = put(f, &head, sizeof(head));

	if (!err && head.name)
		err = put(f, frame->name, head.name);
	if (!err && head.module)
		err = put(f, frame->module, head.module);
	return err;
}

int switches_file__add_stack(struct switches_file *f, const struct call_stack *stack)
{
	const struct switches_record head = { .kind = SWITCHES_FILE_STACK, .off_ns = stack->n };
	int err = put(f, &head, sizeof(head));
	u32 i;

	for (i = 0; i < stack->n && !err; i++)
		err = put_frame(f, &stack->frame[i]);
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
	if (!err)
		err = replacement__commit(&f->replacement);
	replacement__release(&f->replacement);
	free(f);
	return err;
}

void switches_file__close(struct switches_file *f)
{
	if (!f)
		return;
	fclose(f->file);
	replacement__release(&f->replacement);
	free(f);
}

bool switches_file__has_records(const struct switches_file *f)
{
	return f->records;
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
	if (!head->version || head->version > SWITCHES_FILE_VERSION ||
	    head->record_size != sizeof(struct switches_record))
		return refuse(why, "it was made by another version");
	if (!head->cpus || head->cpus > SCOPE_MAX_CPUS ||
	    !memchr(head->kernel, 0, sizeof(head->kernel)))
		return refuse(why, "its header is damaged");
	return 0;
}

/*
 * Any name and any time is acceptable, since both are only shown. CPU numbers are checked, because CPUs become columns.
 */
static bool is_sound(const struct switches_file_text *text, const struct switches_record *r)
{
	bool named = r->kind == SWITCHES_SWITCH ? r->stack <= text->stacks.n :
						  r->from < SCOPE_MAX_CPUS;

	return r->kind < SWITCHES_KINDS && r->kind != SWITCHES_WAIT && r->cpu < SCOPE_MAX_CPUS &&
	       named && r->to < SCOPE_MAX_CPUS;
}

/* Returns 1, 0 at an early end of the file, or -ENOMEM. */
static int read_text(char **text, __u16 size, FILE *file)
{
	if (!size)
		return 1;
	*text = calloc(1, size + 1);
	if (!*text)
		return -ENOMEM;
	return fread(*text, size, 1, file);
}

/* Returns the same as read_text(), or -EBADMSG if the file is damaged. */
static int read_frame(struct report_frame *frame, FILE *file)
{
	struct switches_file_frame head;
	int got = fread(&head, sizeof(head), 1, file);

	if (got == 1 && head.kind >= FRAME_KINDS)
		return -EBADMSG;
	if (got == 1) {
		frame->offset = head.offset;
		frame->kind = head.kind;
		got = read_text((char **)&frame->name, head.name, file);
	}
	return got == 1 ? read_text((char **)&frame->module, head.module, file) : got;
}

static int read_stack(struct switches_file_text *text, const struct switches_record *head,
		      FILE *file, const char **why)
{
	struct report_frame *frame;
	int err, got = 1;
	u64 n = head->off_ns, i;

	if (n > SWITCHES_FILE_FRAMES || text->stacks.n == SWITCHES_FILE_MOST)
		return refuse(why, "a stack is damaged");
	frame = calloc(n ?: 1, sizeof(*frame));
	if (!frame)
		return -ENOMEM;
	for (i = 0; i < n && got == 1; i++)
		got = read_frame(&frame[i], file);
	err = got == 1 ? call_stacks__add(&text->stacks, frame, n) : got;
	for (i = 0; i < n; i++) {
		free((char *)frame[i].name);
		free((char *)frame[i].module);
	}
	free(frame);
	return err == -EBADMSG ? refuse(why, "a stack is damaged") : err;
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
		if (r.kind == SWITCHES_FILE_STACK) {
			err = read_stack(text, &r, file, why);
			if (err)
				return err;
			continue;
		}
		if (text->records == SWITCHES_FILE_MOST)
			return refuse(why, "it is too long");
		if (!is_sound(text, &r))
			return refuse(why, "a record is damaged");
		text->records++;
		err = take(context, &r);
		if (err)
			return err;
	}
}

/* Opens without blocking, in case the file turns out to be a pipe. */
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

void switches_file_text__free(struct switches_file_text *text)
{
	call_stacks__free(&text->stacks);
}
