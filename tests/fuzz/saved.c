// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer's entry: whatever is in a file, diff reads it as a saved run, and compares it with
 * itself and, on the other side, with the part behind an empty line.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/diff/diff.h"

static void write_file(int fd, const u8 *data, size_t size)
{
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
}

static void compare(const char *before, const char *after, enum report_format format)
{
	static FILE *null;
	struct saved a, b = {};
	struct writer w;

	if (!null)
		null = fopen("/dev/null", "w");
	w = (struct writer){ .file = null, .format = format, .separator = ',' };
	if (!saved__read(&a, before) && !saved__read(&b, after))
		diff__write(&w, &a, &b, 3);
	saved__free(&a);
	saved__free(&b);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static int fd[2];
	static char path[2][32];
	const u8 *half = memmem(data, size, "\n\n", 2);
	int i;

	for (i = 0; i < 2 && !path[i][0]; i++) {
		fd[i] = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path[i], sizeof(path[i]), "/proc/self/fd/%d", fd[i]);
	}
	write_file(fd[0], data, half ? (size_t)(half - data) : size);
	write_file(fd[1], half ? half : data, half ? size - (half - data) : size);
	compare(path[0], path[1], FORMAT_TEXT);
	compare(path[1], path[0], FORMAT_JSON);
	compare(path[0], path[0], FORMAT_FLAME);
	return 0;
}
