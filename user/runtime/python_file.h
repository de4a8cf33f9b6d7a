/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the file that contains CPython, a program or a library, in an unprivileged process (base/confined.h). */
#ifndef TALLY_RUNTIME_PYTHON_FILE_H
#define TALLY_RUNTIME_PYTHON_FILE_H

#include "base/confined.h"
#include "types/elf_file.h"

#include "bpf/lib/python.h"

#define PYTHON_FILE_SEGMENTS 16

/* All addresses are virtual, in the file's own numbering. */
struct python_file {
	u64 runtime, code_type, text_type, bytes_type;
	u64 runs, runs_end;             /* _PyEval_EvalFrameDefault() */
	struct python_layout layout;
	u32 version;                    /* Py_Version; before 3.11 only the release */
	u32 nsegments;
	struct elf_segment segment[PYTHON_FILE_SEGMENTS];
};

/*
 * Reads the file fd. Returns 0; -ENOENT: not an interpreter; -EOPNOTSUPP: unsupported layout, with
 * version filled in; else an error of confined__run().
 */
int python_file__read(struct python_file *f, int fd, struct allowance *allowance);

/* A part of python_file__read(): parses the answer, of size bytes, which is untrusted. */
int python_file__take(struct python_file *f, const void *answer, size_t size);

#endif /* TALLY_RUNTIME_PYTHON_FILE_H */
