// SPDX-License-Identifier: BSD-2-Clause
#include "base/file_owner.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/local.h"
#include "base/opener.h"
#include "base/regular.h"

u32 file_owner(int fd)
{
	struct stat st;
	u64 device, type;

	if (stat_known(fd, &st))
		return OWNER_UNKNOWN;
	device = (u64)major(st.st_dev) << 32 | minor(st.st_dev);
	if (st.st_uid || is_local_device(device))
		return st.st_uid;
	return opener__file_system(fd, device, &type) || type == FUSE_SUPER_MAGIC ? OWNER_UNKNOWN : 0;
}
