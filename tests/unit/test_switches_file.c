// SPDX-License-Identifier: BSD-2-Clause
/* Files of records: the reader returns the records that were written, and trusts no file. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sched/file.h"

struct seen {
	struct switches_file_head head;
	struct switches_record last;
	u64 n;
	size_t stacks;
	char line[128];         /* the stack of the last record with a stack */
	const struct switches_file_text *text;
	int err;                /* what take() returns */
};

static int begin(void *context, const struct switches_file_head *head)
{
	struct seen *seen = context;

	seen->head = *head;
	return 0;
}

static int take(void *context, const struct switches_record *r)
{
	struct seen *seen = context;
	const struct call_stack *stack = NULL;
	char *line;

	if (seen->text && r->kind == SWITCHES_SWITCH)
		stack = call_stacks__find(&seen->text->stacks, r->stack);
	if (stack) {
		line = call_stack__line(stack, 2);
		assert_non_null(line);
		snprintf(seen->line, sizeof(seen->line), "%s", line);
		free(line);
	}
	seen->last = *r;
	seen->n++;
	return seen->err;
}

/* Makes a new name in a directory of our own. */
static void make_path(char path[64])
{
	strcpy(path, "/tmp/tally-unit-XXXXXX");
	assert_non_null(mkdtemp(path));
	strcat(path, "/file");
}

static void remove_path(char path[64])
{
	unlink(path);
	*strrchr(path, '/') = 0;
	assert_int_equal(rmdir(path), 0);
}

static struct switches_record record_of(u32 i)
{
	return (struct switches_record){
		.kind = i % SWITCHES_WAIT, .cpu = i % 128, .time_ns = i,
		.task = { .pid = i, .tid = i, .comm = "task" },
	};
}

/* Adds a stack of number frames, of which every other one has no name. */
static void add_stack(struct switches_file *f, u32 number)
{
	struct report_frame frame[300];
	const struct call_stack stack = { frame, number };
	u32 i;

	for (i = 0; i < number; i++)
		frame[i] = (struct report_frame){
			.name = i % 2 ? NULL : "a\033b", .module = i % 4 == 3 ? NULL : "libx.so",
			.offset = 0x10 + i, .kind = i % FRAME_KINDS,
		};
	assert_int_equal(switches_file__add_stack(f, &stack), 0);
}

static void write_file(const char *path, u32 n)
{
	struct switches_file_head head = { .cpus = 128, .kernel = "6.1" };
	struct loss_counters counters = { .lost[LOSS_RING_FULL] = 7 };
	struct switches_file *f;
	u32 i;

	assert_int_equal(switches_file__create(&f, path, &head), 0);
	for (i = 0; i < n; i++) {
		struct switches_record r = record_of(i);

		if (i % 4 == 0) {
			add_stack(f, i / 4);
			r.stack = i / 4 + 1;
		}
		assert_int_equal(switches_file__add(f, &r), 0);
	}
	assert_int_equal(switches_file__finish(f, &counters), 0);
}

static int read_file(const char *path, struct seen *seen, struct switches_file_text *text,
		     const char **why)
{
	int err;

	*seen = (struct seen){ .text = text };
	err = switches_file__read(text, path, begin, take, seen, why);
	seen->stacks = text->stacks.n;
	switches_file_text__free(text);
	return err;
}

static void what_is_written_is_read(void **state)
{
	struct switches_file_text text;
	struct switches_record last = record_of(999);
	struct seen seen;
	const char *why;
	struct stat st;
	char path[64];

	(void)state;
	make_path(path);
	write_file(path, 10);
	write_file(path, 1000);         /* replaces the first one */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(read_file(path, &seen, &text, &why), 0);
	assert_int_equal(seen.n, 1000);
	assert_int_equal(seen.head.cpus, 128);
	assert_memory_equal(&seen.last, &last, sizeof(last));
	assert_true(text.whole);
	assert_int_equal(text.records, 1000);
	assert_int_equal(text.counters.lost[LOSS_RING_FULL], 7);
	assert_int_equal(seen.stacks, 250);
	assert_string_equal(seen.line, "a\\x1bb <- libx.so+0x11 <- ...");
	remove_path(path);
}

static void links_and_others_are_refused(void **state)
{
	struct switches_file_head head = { .cpus = 1 };
	struct switches_file_text text;
	struct switches_file *f;
	struct seen seen;
	const char *why;
	char path[64];

	(void)state;
	make_path(path);
	assert_int_equal(read_file(path, &seen, &text, &why), -ENOENT);
	assert_null(why);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(switches_file__create(&f, path, &head), -EEXIST);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(switches_file__create(&f, path, &head), -EEXIST);
	assert_int_equal(read_file(path, &seen, &text, &why), -EBADMSG);
	assert_non_null(why);
	remove_path(path);
}

static void the_reader_may_stop(void **state)
{
	struct switches_file_text text;
	struct seen seen = { .err = -EPIPE };
	const char *why;
	char path[64];

	(void)state;
	make_path(path);
	write_file(path, 10);
	assert_int_equal(switches_file__read(&text, path, begin, take, &seen, &why), -EPIPE);
	switches_file_text__free(&text);
	assert_int_equal(seen.n, 1);
	remove_path(path);
}

/* A truncated file is read in part or refused, never read beyond its end, and never taken for a whole one. */
static void cut_files(void **state)
{
	struct switches_file_text text;
	struct seen seen;
	const char *why;
	struct stat st;
	char path[64];
	off_t size;
	int err;

	(void)state;
	make_path(path);
	write_file(path, 5);
	assert_int_equal(stat(path, &st), 0);
	for (size = st.st_size - 1; size >= 0; size--) {
		assert_int_equal(truncate(path, size), 0);
		err = read_file(path, &seen, &text, &why);
		assert_true(!err || (err == -EBADMSG && why));
		assert_false(text.whole);
		assert_true(err || size >= (off_t)sizeof(text.head));
	}
	remove_path(path);
}

/* Bytes are changed at random: all values that are read stay within bounds. */
static void damaged_files(void **state)
{
	struct random random = { 42 };
	struct switches_file_text text;
	struct seen seen;
	const char *why;
	struct stat st;
	char path[64], byte;
	int fd, i, err;

	(void)state;
	make_path(path);
	for (i = 0; i < 2000; i++) {
		if (i % 20 == 0)
			write_file(path, 8);
		assert_int_equal(stat(path, &st), 0);
		fd = open(path, O_WRONLY);
		byte = random__next(&random);
		assert_int_equal(pwrite(fd, &byte, 1, random__below(&random, st.st_size)), 1);
		close(fd);
		err = read_file(path, &seen, &text, &why);
		assert_true(!err || (err == -EBADMSG && why));
		assert_true(seen.n <= st.st_size / sizeof(struct switches_record));
		if (seen.n) {
			assert_in_range(seen.head.cpus, 1, 8192);
			assert_in_range(seen.last.kind, 0, SWITCHES_KINDS - 1);
			assert_true(seen.last.cpu < 8192 && seen.last.to < 8192);
		}
	}
	remove_path(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(links_and_others_are_refused),
		cmocka_unit_test(the_reader_may_stop),
		cmocka_unit_test(cut_files),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
