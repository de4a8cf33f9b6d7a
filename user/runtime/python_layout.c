// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/python_layout.h"

#include <errno.h>
#include <string.h>

/* A value that no frame has as its owner. */
#define NO_SHIM 0x100

/*
 * FRAME_OWNED_BY_CSTACK in 3.12 and 3.13, but FRAME_OWNED_BY_INTERPRETER since 3.14, where FRAME_OWNED_BY_CSTACK is
 * the next value.
 */
#define SHIM 3

static const struct python_layout python_3_9 = {
	.flags = PYTHON_OBJECTS,
	.interpreters = 32, .next_interpreter = 0, .threads = 8,
	.thread_next = 8, .thread_interpreter = 16, .thread_id = 176, .thread_frame = 24, .thread_size = 184,
	.frame_code = 32, .frame_previous = 24, .frame_instruction = 104, .frame_size = 108, .shim_owner = NO_SHIM,
	.code_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .code_size = 128,
	.text_ascii = 48, .text_other = 72,
	.index_bytes = 1, .line_table = PYTHON_LNOTAB,
};

static const struct python_layout python_3_10 = {
	.flags = PYTHON_OBJECTS,
	.interpreters = 32, .next_interpreter = 0, .threads = 8,
	.thread_next = 8, .thread_interpreter = 16, .thread_id = 176, .thread_frame = 24, .thread_size = 184,
	.frame_code = 32, .frame_previous = 24, .frame_instruction = 96, .frame_size = 100, .shim_owner = NO_SHIM,
	.code_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .code_size = 128,
	.text_ascii = 48, .text_other = 72,
	.index_bytes = 2, .line_table = PYTHON_LINETABLE,
};

static const struct python_layout python_3_11 = {
	.flags = PYTHON_CFRAMES | PYTHON_ENTRY_FLAG,
	.interpreters = 40, .next_interpreter = 0, .threads = 16,
	.thread_next = 8, .thread_interpreter = 16, .thread_id = 152, .thread_frame = 56, .thread_size = 160,
	.cframe_frame = 8, .cframe_previous = 16,
	.frame_code = 32, .frame_previous = 48, .frame_instruction = 56, .frame_owner = 69, .frame_entry = 68,
	.frame_size = 72, .shim_owner = NO_SHIM,
	.code_line = 72, .code_file = 112, .code_name = 128, .code_lines = 136, .code_bytecode = 184,
	.code_size = 144,
	.text_ascii = 48, .text_other = 72,
};

static const struct python_layout python_3_12 = {
	.flags = PYTHON_CFRAMES,
	.interpreters = 40, .next_interpreter = 0, .threads = 72,
	.thread_next = 8, .thread_interpreter = 16, .thread_id = 136, .thread_frame = 56, .thread_size = 144,
	.cframe_frame = 0, .cframe_previous = 8,
	.frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 70, .frame_size = 72,
	.shim_owner = SHIM,
	.code_line = 68, .code_file = 112, .code_name = 128, .code_lines = 136, .code_bytecode = 192,
	.code_size = 144,
	.text_ascii = 40, .text_other = 56,
};

/* --- offsets published since 3.13 -------------------------------------------------------------- */

/* Indexes of 8-byte numbers after the cookie that are the same in all of these releases. */
enum { AT_VERSION = 1, AT_FREE_THREADED, AT_INTERPRETERS = 5, AT_NEXT_INTERPRETER = 8, AT_THREADS };

/* Indexes that differ: every release extends _Py_DebugOffsets in Include/internal. */
struct told {
	__u16 thread_next, thread_interpreter, thread_frame, thread_id;
	__u16 frame_previous, frame_code, frame_instruction, frame_owner;
	__u16 code_file, code_qualname, code_lines, code_line, code_bytecode;
	__u16 bytes, text_state, text_length, ascii_size;
};

static const struct told told_3_13 = {
	.thread_next = 21, .thread_interpreter = 22, .thread_frame = 23, .thread_id = 24,
	.frame_previous = 29, .frame_code = 30, .frame_instruction = 31, .frame_owner = 33,
	.code_file = 35, .code_qualname = 37, .code_lines = 38, .code_line = 39, .code_bytecode = 43,
	.bytes = 66, .text_state = 68, .text_length = 69, .ascii_size = 70,
};

static const struct told told_3_14 = {
	.thread_next = 24, .thread_interpreter = 25, .thread_frame = 26, .thread_id = 27,
	.frame_previous = 32, .frame_code = 33, .frame_instruction = 34, .frame_owner = 36,
	.code_file = 40, .code_qualname = 42, .code_lines = 43, .code_line = 44, .code_bytecode = 48,
	.bytes = 76, .text_state = 78, .text_length = 79, .ascii_size = 80,
};

static const struct told told_3_15 = {
	.thread_next = 24, .thread_interpreter = 25, .thread_frame = 26, .thread_id = 30,
	.frame_previous = 40, .frame_code = 41, .frame_instruction = 42, .frame_owner = 44,
	.code_file = 48, .code_qualname = 50, .code_lines = 51, .code_line = 52, .code_bytecode = 56,
	.bytes = 88, .text_state = 90, .text_length = 91, .ascii_size = 92,
};

#define COOKIE "xdebugpy"

/* A non-ASCII str has two more words: its UTF-8 length and its UTF-8 pointer. */
#define NOT_ASCII_MORE 16

static u64 number_at(const u8 *head, u32 at)
{
	u64 n;

	memcpy(&n, head + 8 * at, sizeof(n));
	return n;
}

/*
 * Takes a member's offset, and checks that its bytes are in the block that is read. Raises *largest to the size
 * that the block needs.
 */
static __u16 take_member(const u8 *head, u32 at, __u16 bytes, __u16 *largest, int *err)
{
	u64 n = number_at(head, at);

	if (n + bytes > PYTHON_BLOCK || n > PYTHON_BLOCK) {
		*err = -EBADMSG;
		return 0;
	}
	if (n + bytes > *largest)
		*largest = n + bytes;
	return n;
}

static u32 take_far(const u8 *head, u32 at, int *err)
{
	u64 n = number_at(head, at);

	if (n > 16 << 20)
		*err = -EBADMSG;
	return n;
}

/* True if str and bytes objects have the layout of struct python_text_head. */
static bool has_known_texts(const struct told *at, const u8 *head)
{
	return number_at(head, at->bytes) == offsetof(struct python_text_head, state) &&
	       number_at(head, at->text_state) == offsetof(struct python_text_head, state) &&
	       number_at(head, at->text_length) == offsetof(struct python_text_head, length);
}

static int take_offsets(struct python_layout *l, const struct told *at, const u8 *head)
{
	__u16 unused = 0;
	int err = 0;

	*l = (struct python_layout){ .shim_owner = SHIM };
	l->interpreters = take_far(head, AT_INTERPRETERS, &err);
	l->next_interpreter = take_far(head, AT_NEXT_INTERPRETER, &err);
	l->threads = take_far(head, AT_THREADS, &err);
	l->thread_next = take_member(head, at->thread_next, 8, &l->thread_size, &err);
	l->thread_interpreter = take_member(head, at->thread_interpreter, 8, &l->thread_size, &err);
	l->thread_frame = take_member(head, at->thread_frame, 8, &l->thread_size, &err);
	l->thread_id = take_member(head, at->thread_id, 8, &l->thread_size, &err);
	l->frame_previous = take_member(head, at->frame_previous, 8, &l->frame_size, &err);
	l->frame_code = take_member(head, at->frame_code, 8, &l->frame_size, &err);
	l->frame_instruction = take_member(head, at->frame_instruction, 8, &l->frame_size, &err);
	l->frame_owner = take_member(head, at->frame_owner, 1, &l->frame_size, &err);
	l->code_file = take_member(head, at->code_file, 8, &l->code_size, &err);
	l->code_name = take_member(head, at->code_qualname, 8, &l->code_size, &err);
	l->code_lines = take_member(head, at->code_lines, 8, &l->code_size, &err);
	l->code_line = take_member(head, at->code_line, 4, &l->code_size, &err);
	l->code_bytecode = take_far(head, at->code_bytecode, &err);
	l->text_ascii = take_member(head, at->ascii_size, 0, &unused, &err);
	l->text_other = l->text_ascii + NOT_ASCII_MORE;
	/* An object's type follows its reference count. */
	if (l->code_size < 16 || !has_known_texts(at, head))
		err = -EBADMSG;
	return err;
}

/* ascii_size has the highest index of all numbers read. */
static int find_told(struct python_layout *l, const struct told *at, u32 version, const u8 *head, size_t size)
{
	if (size < 8 * (at->ascii_size + 1U) || memcmp(head, COOKIE, strlen(COOKIE)) ||
	    number_at(head, AT_VERSION) != version)
		return -EBADMSG;
	/* Without a GIL, a frame may run a thread-local copy of the code. */
	if (number_at(head, AT_FREE_THREADED))
		return -EOPNOTSUPP;
	return take_offsets(l, at, head);
}

/* For 3.14 and later. */
static int find_tagged(struct python_layout *l, const struct told *at, u32 version, const u8 *head, size_t size)
{
	int err = find_told(l, at, version, head, size);

	if (!err)
		l->flags = PYTHON_TAGGED;
	return err;
}

int python_layout__find(struct python_layout *l, u32 version, const u8 *head, size_t size)
{
	switch (version >> 16) {
	case PYTHON_RELEASE(3, 9):
		*l = python_3_9;
		return 0;
	case PYTHON_RELEASE(3, 10):
		*l = python_3_10;
		return 0;
	case PYTHON_RELEASE(3, 11):
		*l = python_3_11;
		return 0;
	case PYTHON_RELEASE(3, 12):
		*l = python_3_12;
		return 0;
	case PYTHON_RELEASE(3, 13):
		return find_told(l, &told_3_13, version, head, size);
	case PYTHON_RELEASE(3, 14):
		return find_tagged(l, &told_3_14, version, head, size);
	case PYTHON_RELEASE(3, 15):
		return find_tagged(l, &told_3_15, version, head, size);
	}
	return -EOPNOTSUPP;
}
