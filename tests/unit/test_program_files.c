// SPDX-License-Identifier: BSD-2-Clause
/* The files that a program will map, compared with those that the dynamic linker has mapped for this test. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "types/program_files.h"

struct files {
	ino_t inode[PROGRAM_FILES_MOST];
	size_t n;
	int answer;
};

static int note(void *arg, const struct program_file *file)
{
	struct files *f = arg;

	assert_true(f->n < PROGRAM_FILES_MOST);
	f->inode[f->n++] = file->st.st_ino;
	close(file->fd);
	return f->answer;
}

static struct files found(const char *name)
{
	struct files f = {};

	assert_int_equal(program_files__each(name, UINT64_MAX, note, &f), 0);
	return f;
}

static int by_inode(const void *a, const void *b)
{
	ino_t x = *(const ino_t *)a, y = *(const ino_t *)b;

	return x < y ? -1 : x > y;
}

static ino_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* In this list, the program itself has no name, and the vdso has no file. */
static int note_linked(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct files *f = arg;

	(void)size;
	if (info->dlpi_name[0] == '/')
		f->inode[f->n++] = inode_of(info->dlpi_name);
	return 0;
}

static void of_this_program(void **state)
{
	struct files linked = { .inode = { inode_of("/proc/self/exe") }, .n = 1 }, f;

	(void)state;
	dl_iterate_phdr(note_linked, &linked);
	f = found("/proc/self/exe");
	assert_int_equal(f.inode[0], linked.inode[0]);
	assert_int_equal(f.n, linked.n);
	qsort(f.inode, f.n, sizeof(*f.inode), by_inode);
	qsort(linked.inode, linked.n, sizeof(*linked.inode), by_inode);
	assert_memory_equal(f.inode, linked.inode, f.n * sizeof(*f.inode));
}

static void write_file(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
}

/* Nobody vouches for these files: the search leaves each of them out, and ends. */
static void of_hostile_files(void **state)
{
	char directory[] = "/tmp/tally-unit-XXXXXX", path[64], text[80];
	int n;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	assert_int_equal(found(path).n, 0);
	n = snprintf(text, sizeof(text), "#!%s\n", path);
	write_file(path, text, n);
	assert_int_equal(found(path).n, 0);
	n = snprintf(text, sizeof(text), "#! /proc/self/exe -x\n");
	write_file(path, text, n);
	assert_int_equal(found(path).inode[0], inode_of("/proc/self/exe"));
	write_file(path, "\177ELF\2\1\1 and no more", 20);
	assert_int_equal(found(path).n, 1);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(found(path).n, 0);
	unlink(path);
	rmdir(directory);
	assert_int_equal(found("no such program").n, 0);
	assert_int_equal(found("").n, 0);
}

static void ends(void **state)
{
	struct files f = { .answer = -ENOMEM };

	(void)state;
	assert_int_equal(program_files__each("/proc/self/exe", 0, note, &f), 0);
	assert_int_equal(f.n, 0);
	assert_int_equal(program_files__each("/proc/self/exe", UINT64_MAX, note, &f), -ENOMEM);
	assert_int_equal(f.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_this_program),
		cmocka_unit_test(of_hostile_files),
		cmocka_unit_test(ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
