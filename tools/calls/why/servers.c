// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/servers.h"

#include <stdio.h>
#include <string.h>

#include "calls/wait_stack.h"
#include "sym/kallsyms.h"

/* "nodev\tfuse": reading the names of all functions takes a tenth of a second, so only where some may be found. */
static bool has_servers(void)
{
	FILE *f = fopen("/proc/filesystems", "re");
	char line[64];
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f))
		has = !strcmp(line, "nodev\tfuse\n") || !strcmp(line, "nodev\tnfs\n") || !strcmp(line, "nodev\tnfs4\n");
	if (f)
		fclose(f);
	return has;
}

u32 why_find_servers(struct why_code code[WHY_SERVER_CODE])
{
	struct kernel_functions all = {};
	enum wait_frame frame;
	u32 n = 0;
	size_t i;

	if (!has_servers() || kernel_functions__find(&all, NULL, NULL))
		return 0;
	for (i = 0; i < all.n && n < WHY_SERVER_CODE; i++) {
		frame = wait_frame_of(all.function[i].name);
		if ((frame != FRAME_FUSE_WAIT && frame != FRAME_NFS_WAIT) || !all.function[i].address)
			continue;
		code[n].start = all.function[i].address;
		code[n++].end = all.function[i].address + (all.function[i].size ?: 1);
	}
	kernel_functions__free(&all);
	return n;
}
