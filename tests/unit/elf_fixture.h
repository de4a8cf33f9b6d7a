/* SPDX-License-Identifier: BSD-2-Clause */
/* Small ELF files made by the compiler from source in the test, and damaged copies of them. */
#ifndef TALLY_TESTS_ELF_FIXTURE_H
#define TALLY_TESTS_ELF_FIXTURE_H

#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

#define FIXTURE_DIR "/tmp/tally-test-XXXXXX"

struct fixture {
	char dir[sizeof(FIXTURE_DIR)];
	char path[64];          /* DIR/NAME */
};

static inline int __attribute__((format(printf, 1, 2))) run_command(const char *fmt, ...)
{
	char command[1024];
	va_list args;

	va_start(args, fmt);
	assert_true(vsnprintf(command, sizeof(command), fmt, args) < (int)sizeof(command));
	va_end(args);
	return system(command);
}

static inline void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

/* The caller frees it. */
static inline unsigned char *read_whole(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	unsigned char *data;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = ftell(file);
	rewind(file);
	data = malloc(*size ?: 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

static inline void fixture__init(struct fixture *f)
{
	strcpy(f->dir, FIXTURE_DIR);
	assert_non_null(mkdtemp(f->dir));
	f->path[0] = 0;
}

/* Compiles source to DIR/NAME with a command such as "cc -g", and sets f->path to it. */
static inline void fixture__compile(struct fixture *f, const char *name, const char *source,
				    const char *command)
{
	char c[64];

	snprintf(c, sizeof(c), "%s/%s.c", f->dir, name);
	snprintf(f->path, sizeof(f->path), "%s/%s", f->dir, name);
	write_file(c, source, strlen(source));
	assert_int_equal(run_command("%s -w -o %s %s", command, f->path, c), 0);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline void fixture__free(struct fixture *f)
{
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * Calls probe with damaged copies of the fixture: truncated at random, or with a few bytes changed,
 * most of them in numbers that other data depends on.
 */
static inline void damage(struct fixture *f, u32 rounds, void (*probe)(const char *path))
{
	unsigned char *image, *copy;
	struct random r = { 1 };
	char path[80];
	size_t size, n;
	u32 i, k;

	image = read_whole(f->path, &size);
	copy = malloc(size);
	assert_non_null(copy);
	snprintf(path, sizeof(path), "%s.damaged", f->path);
	for (i = 0; i < rounds; i++) {
		n = i % 4 ? size : random__below(&r, size);
		memcpy(copy, image, size);
		for (k = 0; i % 4 && k < 1 + i % 8; k++) {
			static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
			size_t at = random__below(&r, i % 3 ? size : 64 + 13 * 56);

			if (i % 2)
				copy[at] ^= 1 << random__below(&r, 8);
			else
				copy[at] = values[random__below(&r, ARRAY_SIZE(values))];
		}
		write_file(path, copy, n);
		probe(path);
	}
	free(copy);
	free(image);
}

#endif /* TALLY_TESTS_ELF_FIXTURE_H */
