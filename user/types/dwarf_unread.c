// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stddef.h>

#include "types/dwarf.h"

const struct dwarf_unread *dwarf__unread(const struct dwarf *d, int err)
{
	static const struct dwarf_unread split = {
		"has split debug information (-gsplit-dwarf); .dwo and .dwp files are not read",
		"build it with -g -gno-split-dwarf",
	};
	static const struct dwarf_unread packed = {
		"has debug information compressed with zstd, which needs a build with elfutils 0.189 or newer",
		"build it with -gz=zlib, or run objcopy --decompress-debug-sections on it",
	};

	if (err == -EPROTONOSUPPORT)
		return &packed;
	return d && dwarf__is_split(d) ? &split : NULL;
}
