/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPython frames in stacks (bpf/lib/python.h). Gives BPF programs the location of Python's data in each process, and
 * resolves the frames that they found. The programs send a code object's strings with the first stack that contains it,
 * so this code reads nothing from a process, which may have exited. For sleeping threads, the loader walks the frames
 * instead (runtime/python_walk.h), with the same words.
 *
 * Interpreters are found by file name, *python*; an unprivileged process reads each file once.
 */
#ifndef TALLY_RUNTIME_PYTHON_H
#define TALLY_RUNTIME_PYTHON_H

#include <bpf/libbpf.h>

#include "base/confined.h"
#include "base/table.h"
#include "base/types.h"
#include "sym/symbols.h"

#include "bpf/lib/python.h"

struct python_known_file;
struct python_known_code;

/* All zero: no Python frames requested. */
struct python {
	struct symbols *symbols;
	struct ring_buffer *codes;
	int processes_fd;
	u32 *processes_known;           /* the programs' variable: 1 once their map has a process */
	struct python_process process;  /* without programs: that of pid, if it has one */
	bool has_process;
	struct python_known_file *file;
	size_t nfiles;
	struct python_known_code *code;
	u32 ncodes;
	struct table by_number;
	void *texts;                    /* tree of unique strings */
	size_t text_bytes, line_bytes;  /* memory used by both */
	struct allowance allowance;
	u32 pid;                        /* the process being handled */
	u64 unkept;                     /* code objects dropped for lack of room */
	u64 unsupported;                /* processes with interpreters of unsupported releases */
	u32 version;                    /* of the last unsupported one */
	u64 refused;                    /* processes for which the map had no room */
};

/* The meaning of a Python word in a stack. Strings live as long as struct python. */
struct python_frame {
	const char *name;               /* co_qualname, up to 3.10 co_name; NULL: unknown */
	const char *file;               /* as in the code object */
	const char *module;             /* last component of file */
	u32 first_line;
	u32 line;                       /* 0: unknown */
};

/*
 * Call after the object is loaded, with the maps of bpf/lib/python.bpf.h. Returns 0 or a negative
 * errno.
 */
int python__begin(struct python *p, const struct bpf_object *obj, struct symbols *symbols);
/* Same, without programs. */
void python__begin_apart(struct python *p, struct symbols *symbols);
void python__end(struct python *p);

/* Checks a process that symbols__see() has seen for an interpreter. Returns 0 or -ENOMEM. */
int python__see(struct python *p, u32 pid);

/*
 * Without programs: the location of the frames in the process last passed to python__see(). NULL if it has no
 * interpreter with a known layout.
 */
const struct python_process *python__process(const struct python *p);

/* Without programs: adds a code object, in the format that programs send, with a unique number. */
void python__take(struct python *p, const struct python_code *code);

/* Reads the data that programs have sent. Call before resolving words. Returns 0 or a negative errno. */
int python__read(struct python *p);
/* Forgets the code of programs that had ended by that time. Call once their stacks are resolved. */
void python__forget_over(struct python *p, u64 before_ns);
int python__epoll_fd(const struct python *p);

void python__find(struct python *p, u64 word, struct python_frame *found);

/*
 * True if the frame runs in its own call of a C function, and the word does not give the position of that call in the
 * stack. If so, [*runs, *runs_end) are the addresses of that function.
 */
bool python__is_object(const struct python *p, u64 word, u64 *runs, u64 *runs_end);

#endif /* TALLY_RUNTIME_PYTHON_H */
