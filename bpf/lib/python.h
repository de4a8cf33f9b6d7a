/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPython frames: what a program must know about a process to find its frames (filled in by user/runtime/python.h), and
 * what it sends about each code object, once. Walked by python.bpf.h.
 *
 * A thread's frames are a linked list in process memory that only the thread itself changes. While the thread is
 * interrupted or in the kernel, the list is stable, no matter which thread holds the GIL.
 */
#ifndef TALLY_PYTHON_H
#define TALLY_PYTHON_H

/* How the frames of an interpreter are linked and distinguished. */
enum python_flags {
	PYTHON_CFRAMES = 1,     /* 3.11, 3.12: a record on the C stack (_PyCFrame) points to the current frame */
	PYTHON_ENTRY_FLAG = 2,  /* 3.11: a flag marks the outermost frame of a run */
	PYTHON_TAGGED = 4,      /* since 3.14: the low bits of a frame's code pointer are a tag */
	PYTHON_OBJECTS = 8,     /* up to 3.10: frames are objects, each run by its own call of a C function */
};

/* How a code object maps its instructions to lines. */
enum python_lines {
	PYTHON_LOCATIONS,       /* since 3.11: co_linetable, Objects/locations.md */
	PYTHON_LINETABLE,       /* 3.10: co_linetable, Objects/lnotab_notes.txt */
	PYTHON_LNOTAB,          /* up to 3.9: co_lnotab */
};

/* Offsets of members, in bytes. Members of frames, code objects and thread states are below PYTHON_BLOCK. */
#define PYTHON_BLOCK 256

struct python_layout {
	__u32 flags;                    /* enum python_flags */
	__u32 interpreters;             /* in _PyRuntime: the first interpreter */
	__u32 next_interpreter, threads;        /* in an interpreter: the next one, its first thread */
	__u16 thread_next, thread_interpreter, thread_id, thread_frame, thread_size;
	__u16 cframe_frame, cframe_previous;
	__u16 frame_code, frame_previous, frame_instruction, frame_owner, frame_entry, frame_size;
	__u16 shim_owner;               /* this owner or above: a shim frame, which marks a call from C code */
	__u16 code_line, code_file, code_name, code_lines, code_size;
	__u16 code_bytecode;            /* offset of the first instruction */
	__u16 text_ascii, text_other;   /* offsets of a str's characters, by its kind */
	__u16 index_bytes;              /* frame_instruction is an index of this many bytes; 0: an address */
	__u16 line_table;               /* enum python_lines */
};

/* Keyed by tgid. code and stack: see struct unwind_space. */
struct python_process {
	__u64 code, stack;
	__u64 runtime;                  /* addresses of _PyRuntime, and of the types that objects must have */
	__u64 code_type, text_type, bytes_type;
	__u64 runs, runs_end;           /* _PyEval_EvalFrameDefault(), which runs frames */
	struct python_layout layout;
};

#define PYTHON_PROCESSES 1024
#define PYTHON_CPUS (1 << 11)
#define PYTHON_SEQUENCE ((1 << 18) - 1) /* numbers have 32 bits; three of them are the nesting level of programs */
#define PYTHON_CODES (1 << 14)          /* of all processes; least recently used ones are evicted */
#define PYTHON_MOST_STATES 256          /* thread states searched for the thread's own */

/*
 * A frame is one word of a stack (struct stack). It contains the number with which its code object was sent, the
 * position in the code object in two-byte instructions, and, for the outermost frame of a run, the index of the native
 * frame from which C code called it. With PYTHON_OBJECTS no frame records this index: the loader finds it by counting
 * calls.
 */
#define PYTHON_NATIVE_BITS 11
#define PYTHON_INSTRUCTION_BITS 21
#define PYTHON_IN_RUN ((1U << PYTHON_NATIVE_BITS) - 1)          /* not the outermost frame of a run */
#define PYTHON_NO_INSTRUCTION ((1U << PYTHON_INSTRUCTION_BITS) - 1)

static inline __attribute__((always_inline)) __u64 python_word(__u32 code, __u32 instruction, __u32 native)
{
	return (__u64)code << 32 | instruction << PYTHON_NATIVE_BITS | native;
}

static inline __u32 python_code_of(__u64 word)
{
	return word >> 32;
}

static inline __u32 python_instruction_of(__u64 word)
{
	return (__u32)word >> PYTHON_NATIVE_BITS;
}

static inline __u32 python_native_of(__u64 word)
{
	return word & PYTHON_IN_RUN;
}

/* How the Python frames of a stack end. */
enum python_end {
	PYTHON_NONE,            /* no interpreter is known in the process */
	PYTHON_NO_STATE,        /* the thread has no state in any interpreter */
	PYTHON_WHOLE,
	PYTHON_DEEPER,          /* more frames than were requested */
	PYTHON_UNREADABLE,      /* memory was not present, or had implausible contents */
	PYTHON_CROWDED,         /* more threads than the search covers */
	PYTHON_AMBIGUOUS,       /* the thread is in several interpreters; the running one is unknown */
	PYTHON_ENDS,
};

/* The head of a str since CPython 3.3; state shows where its characters are. */
struct python_text_head {
	__u64 references, type;
	__s64 length;                   /* in characters */
	__u64 hash;
	__u32 state;
	__u32 pad;
};

#define PYTHON_NAME_BYTES 512
#define PYTHON_FILE_BYTES 1024
#define PYTHON_LINES_BYTES 8192
#define PYTHON_HEAD_BYTES 64            /* of each string that identifies a code object */

/* A string as stored in the process: characters of 1, 2 or 4 bytes, depending on state. */
struct python_text {
	__u64 length;
	__u32 state;
	__u32 bytes;                    /* bytes read */
};

/* Sent once per code object; lines[] has nlines bytes. */
struct python_code {
	__u32 number;
	__u32 pid;                      /* in the loader's pid namespace */
	__u64 at_ns;                    /* CLOCK_MONOTONIC */
	__u32 first_line;
	__u32 nlines;                   /* size of the whole line table in bytes */
	__u32 sequence;                 /* per CPU */
	__u32 pad;
	__u64 runs, runs_end;           /* as in struct python_process */
	struct python_layout layout;
	struct python_text name, file;
	__u8 name_bytes[PYTHON_NAME_BYTES];
	__u8 file_bytes[PYTHON_FILE_BYTES];
	__u8 lines[PYTHON_LINES_BYTES];
};

/* State of a walk, stored in a slot. */
struct python_walk {
	struct python_process process;
	__u64 frame, cframe;            /* current position; 0: at the end */
	__u64 thread;                   /* pthread_self() */
	__u64 state;                    /* the next thread state to examine */
	__u64 first_interpreter, interpreter, next_interpreter;
	__u32 base, n, most;            /* indexes of words */
	__u32 native, nnative;          /* native frames: first index and number */
	__u32 run;                      /* frames of the current run kept so far */
	__u8 end;                       /* enum python_end */
	__u8 pad[3];
	__u32 nnone;                    /* always 0, which the verifier does not know */
	__u32 pid;                      /* in the loader's pid namespace */
	__u64 entry;                    /* the position on the C stack that identifies the caller of the run */
	__u64 code;                     /* address of the current code object */
	__u64 identity;                 /* hash that identifies the code object */
	__u64 instruction;              /* the frame's position in the code object */
	__u64 outer, outer_frame;       /* used by python_leave_cframe(): BPF stacks have no room for them */
	__u64 name, file, lines;        /* addresses of the code object's strings */
	__u32 first_line;
	__u32 pad2;
	struct python_text_head head;
	__u64 text[PYTHON_HEAD_BYTES / 8];
	__u8 block[PYTHON_BLOCK + 8];
};

_Static_assert(sizeof(struct python_layout) == 64, "python_layout has padding");

#endif /* TALLY_PYTHON_H */
