// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads of known sizes: reads N SIZE [N SIZE...] requests SIZE bytes N times, by pread(2), of a file that has 100
 * bytes, each time from its beginning. SIZE -1 reads a closed descriptor.
 */
#include "trigger.h"

#include <sys/syscall.h>

static int make_file(void)
{
	char bytes[100] = "tally";
	FILE *f = tmpfile();

	if (!f || fwrite(bytes, 1, sizeof(bytes), f) != sizeof(bytes) || fflush(f))
		error(1, errno, "tmpfile");
	return fileno(f);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 20];
	int fd = make_file(), i;
	long n, size, k;

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	for (i = 1; i < argc; i += 2) {
		n = trigger__number(argc, argv, i);
		size = trigger__number(argc, argv, i + 1);
		/* Bypasses the C library, which may make additional calls. */
		for (k = 0; k < n; k++)
			syscall(SYS_pread64, size < 0 ? 99 : fd, buffer, size < 0 ? 1 : size, 0L);
	}
	trigger__say("done");
	trigger__end();
}
