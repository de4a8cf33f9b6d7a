/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets of members in CPython's structures. Since 3.13 the interpreter publishes them itself
 * (_Py_DebugOffsets, at the start of _PyRuntime); in earlier releases, all patch versions of a
 * release share one layout.
 */
#ifndef TALLY_RUNTIME_PYTHON_LAYOUT_H
#define TALLY_RUNTIME_PYTHON_LAYOUT_H

#include "base/types.h"

#include "bpf/lib/python.h"

/* Number of bytes of _PyRuntime to read; _Py_DebugOffsets has 584 in 3.13, 888 in 3.15. */
#define PYTHON_HEAD 1024

/* 3.11 is 0x030b. */
#define PYTHON_RELEASE(major, minor) ((major) << 8 | (minor))

/*
 * Finds the layout of an interpreter. version: Py_Version, 0x030b02f0 for 3.11.2; before 3.11 only the release. head:
 * the first bytes of _PyRuntime in the file. Returns 0; -EOPNOTSUPP: unknown layout; -EBADMSG: its published offsets
 * are invalid.
 */
int python_layout__find(struct python_layout *l, u32 version, const u8 *head, size_t size);

#endif /* TALLY_RUNTIME_PYTHON_LAYOUT_H */
