// SPDX-License-Identifier: BSD-2-Clause
#include "host/probing.h"

#include <fcntl.h>
#include <unistd.h>

#include "host/host.h"
#include "report/diag.h"
#include "types/tracefs.h"

bool ftrace_is_off(void)
{
	char line[16];

	return !read_line("/proc/sys/kernel/ftrace_enabled", line, sizeof(line)) && line[0] == '0';
}

/* debugfs need not be mounted. */
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

const char *probing_is_off(bool has_kprobes)
{
	if (ftrace_is_off())
		return "kernel.ftrace_enabled is 0: probes at the start of kernel functions do not run";
	if (has_kprobes && kprobes_are_off())
		return "kprobes are switched off (debugfs: kprobes/enabled): they do not run";
	return NULL;
}

void probing_warn(bool has_kprobes)
{
	const char *why = probing_is_off(has_kprobes);

	if (!why)
		return;
	diag_warn("%s", why);
	diag_hint("%s", ftrace_is_off() ? FTRACE_ON : KPROBES_ON);
}
