// SPDX-License-Identifier: BSD-2-Clause
#include "host/probing.h"

#include <fcntl.h>
#include <unistd.h>

#include "host/host.h"
#include "types/tracefs.h"

bool ftrace_is_off(void)
{
	char line[16];

	return !read_line("/proc/sys/kernel/ftrace_enabled", line, sizeof(line)) && line[0] == '0';
}

/* Opens the file through a private mount, because debugfs may not be mounted. */
bool kprobes_are_off(void)
{
	int directory = open_private("debugfs", "kprobes"), fd;
	char state = 0;

	if (directory < 0)
		return false;
	fd = openat(directory, "enabled", O_RDONLY | O_CLOEXEC);
	close(directory);
	if (fd < 0)
		return false;
	if (read(fd, &state, 1) != 1)
		state = 0;
	close(fd);
	return state == '0';
}

struct probing_refusal probing__refusal(bool needs_ftrace, bool has_kprobes)
{
	if (needs_ftrace && ftrace_is_off())
		return (struct probing_refusal){
			"kernel.ftrace_enabled is 0: probes at the start of kernel functions do not run", FTRACE_ON,
			false };
	if (has_kprobes && kprobes_are_off())
		return (struct probing_refusal){
			"kprobes are disabled (debugfs: kprobes/enabled)", KPROBES_ON, true };
	return (struct probing_refusal){};
}
