// SPDX-License-Identifier: BSD-2-Clause
/*
 * forged HOW N: says of itself that it is CPython 3.11, with one frame, in a function forged() of forged.py, and calls
 * getppid() N times. HOW is what is wrong with it: nothing, or a lie. Beyond that as in tests/triggers/trigger.h.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef unsigned long word;
typedef struct { word at[64]; } object;

/* Where 3.11 has them, in words. */
enum { INTERPRETERS = 5, THREADS = 2, NEXT = 1, INTERPRETER, THREAD_ID = 19, CFRAME = 7,
       CFRAME_FRAME = 1, CFRAME_PREVIOUS, FRAME_CODE = 4, FRAME_PREVIOUS = 6, FRAME_INSTRUCTION, FRAME_OWNER,
       TYPE = 1, LENGTH, HASH, STATE, ASCII = 6, FIRST_LINE = 9, FILE_NAME = 14, QUALNAME = 16, LINES, BYTECODE = 23 };
#define IS_ENTRY (1UL << 32)
#define COMPACT_ASCII (1 << 2 | 1 << 5 | 1 << 6)

const unsigned int Py_Version = 0x030b02f0;
object _PyRuntime = { { 1 } }, PyCode_Type, PyUnicode_Type, PyBytes_Type;
static object interpreter, thread, cframe, outer, frame, code, name, file, lines;

static void set_text(object *text, const char *s)
{
	text->at[TYPE] = (word)&PyUnicode_Type;
	text->at[LENGTH] = strlen(s);
	text->at[HASH] = 1;
	text->at[STATE] = COMPACT_ASCII;
	strcpy((char *)&text->at[ASCII], s);
}

static void forge(void)
{
	/* A line of its own, no columns: it is line 7, for 8 instructions. */
	static const unsigned char table[] = { 0x80 | 13 << 3 | 7, 0 };

	_PyRuntime.at[INTERPRETERS] = (word)&interpreter;
	interpreter.at[THREADS] = (word)&thread;
	thread.at[INTERPRETER] = (word)&interpreter;
	thread.at[THREAD_ID] = pthread_self();
	thread.at[CFRAME] = (word)&cframe;
	cframe.at[CFRAME_FRAME] = (word)&frame;
	cframe.at[CFRAME_PREVIOUS] = (word)&outer;
	frame.at[FRAME_CODE] = (word)&code;
	frame.at[FRAME_INSTRUCTION] = (word)&code.at[BYTECODE];
	frame.at[FRAME_OWNER] = IS_ENTRY;
	code.at[TYPE] = (word)&PyCode_Type;
	code.at[FIRST_LINE] = 7;
	code.at[FILE_NAME] = (word)&file;
	code.at[QUALNAME] = (word)&name;
	code.at[LINES] = (word)&lines;
	set_text(&name, "forged");
	set_text(&file, "forged.py");
	lines.at[TYPE] = (word)&PyBytes_Type;
	lines.at[LENGTH] = sizeof(table);
	memcpy(&lines.at[STATE], table, sizeof(table));
}

static int lie(const char *how)
{
	const struct { const char *how; word *at, value; } lies[] = {
		{ "nothing", &outer.at[0], 0 },
		{ "no interpreter", &_PyRuntime.at[INTERPRETERS], 0 },
		{ "interpreter in the kernel", &_PyRuntime.at[INTERPRETERS], 0xffffffff81000000 },
		{ "interpreter nowhere", &_PyRuntime.at[INTERPRETERS], 0x123456789abcd000 },
		{ "interpreters in a circle", &interpreter.at[0], (word)&interpreter },
		{ "threads in a circle", &thread.at[NEXT], (word)&thread },
		{ "thread of another", &thread.at[INTERPRETER], 1 },
		{ "nobody's thread", &thread.at[THREAD_ID], 1 },
		{ "record nowhere", &thread.at[CFRAME], 0x123456 },
		{ "frame in the kernel", &cframe.at[CFRAME_FRAME], 0xffff888000000000 },
		{ "frames in a circle", &frame.at[FRAME_PREVIOUS], (word)&frame },
		{ "record of another caller", &outer.at[CFRAME_FRAME], 0x1000 },
		{ "no code", &frame.at[FRAME_CODE], 0 },
		{ "code of no type", &code.at[TYPE], 1 },
		{ "name of no type", &name.at[TYPE], 1 },
		{ "name nowhere", &code.at[QUALNAME], ~0UL },
		{ "name without end", &name.at[LENGTH], ~0UL >> 1 },
		{ "name of -1", &name.at[LENGTH], ~0UL },
		{ "name beyond belief", &name.at[LENGTH], 1 << 21 },
		{ "name of no kind", &name.at[STATE], 0 },
		{ "name of kind 7", &name.at[STATE], COMPACT_ASCII | 7 << 2 },
		{ "file nowhere", &code.at[FILE_NAME], 0x10 },
		{ "lines without end", &lines.at[LENGTH], ~0UL >> 1 },
		{ "lines of -1", &lines.at[LENGTH], ~0UL },
		{ "lines of no form", &lines.at[STATE], 0x7f7f },
		{ "instruction nowhere", &frame.at[FRAME_INSTRUCTION], ~0UL },
	};
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		if (strcmp(how, lies[i].how))
			continue;
		*lies[i].at = lies[i].value;
		/* For some of them there has to be more than one state, or no end of a run. */
		if (strstr(how, "circle"))
			frame.at[FRAME_OWNER] = 0;
		if (!strcmp(how, "threads in a circle"))
			thread.at[THREAD_ID] = 1;
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;

	forge();
	if (!n || lie(argv[1]))
		return 2;
	puts("ready");
	fflush(stdout);
	getchar();
	while (n--)
		syscall(SYS_getppid);
	puts("[]");
	return 0;
}
