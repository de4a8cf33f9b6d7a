// SPDX-License-Identifier: BSD-2-Clause
/* Names and numbers of system calls, and the sets that -e takes. */
#include "unit.h"

#include <sys/syscall.h>

#include "host/syscall_set.h"
#include "host/syscalls.h"

static void names_and_numbers_agree(void **state)
{
	const char *name;
	u32 abi, i, n = 0;

	(void)state;
	for (abi = 0; abi < SYSCALL_ABIS; abi++) {
		for (i = 0; i < SYSCALL_NUMBERS; i++) {
			name = syscall_name(abi, i);
			if (!name)
				continue;
			n++;
			assert_int_equal(syscall_number_in(abi, name), i);
		}
	}
	assert_true(n > 350);
	assert_int_equal(syscall_number("read"), SYS_read);
	assert_int_equal(syscall_number("clone3"), SYS_clone3);
	assert_int_equal(syscall_number_of_entry("newstat"), syscall_number("stat"));
	assert_int_equal(syscall_number("cachestat"), 451);     /* newer than some headers */
	assert_int_equal(syscall_number("nonsense"), -ENOENT);
	assert_null(syscall_name(SYSCALL_NATIVE, 1023));
	assert_null(syscall_name(SYSCALL_NATIVE, SYSCALL_NUMBERS));
	assert_null(syscall_name(SYSCALL_NATIVE, UINT32_MAX));
}

/* arch/x86/entry/syscalls/syscall_32.tbl */
static void numbers_of_32_bit_programs(void **state)
{
	(void)state;
#ifdef __x86_64__
	assert_string_equal(syscall_name(SYSCALL_COMPAT, 3), "read");
	assert_string_equal(syscall_name(SYSCALL_COMPAT, 102), "socketcall");
	assert_int_equal(syscall_number_in(SYSCALL_COMPAT, "mmap2"), 192);
	assert_int_equal(syscall_number_in(SYSCALL_COMPAT, "cachestat"), 451);
	assert_int_equal(syscall_number_in(SYSCALL_COMPAT, "uprobe"), -ENOENT);
	assert_int_equal(syscall_number_in(SYSCALL_NATIVE, "mmap2"), -ENOENT);
#else
	assert_null(syscall_name(SYSCALL_COMPAT, 3));
#endif
}

static bool in(const struct syscall_set *set, const char *name)
{
	int number = syscall_number(name);

	assert_true(number >= 0);
	return syscall_set__has(set, SYSCALL_NATIVE, number);
}

static u32 size(const struct syscall_set *set)
{
	u32 abi, i, n = 0;

	for (abi = 0; abi < SYSCALL_ABIS; abi++)
		for (i = 0; i < SYSCALL_NUMBERS; i++)
			n += syscall_set__has(set, abi, i);
	return n;
}

static struct syscall_set parsed(const char *text)
{
	struct syscall_set set;
	struct complaint c;

	assert_int_equal(syscall_set__parse(&set, text, &c), 0);
	return set;
}

static void names_globs_and_classes(void **state)
{
	struct syscall_set set = parsed("read,openat");

	(void)state;
	assert_true(in(&set, "read") && in(&set, "openat"));
	assert_false(in(&set, "write"));
#ifdef __x86_64__
	assert_int_equal(size(&set), 4);        /* of both tables */
	assert_true(syscall_set__has(&set, SYSCALL_COMPAT, 3));
	assert_false(syscall_set__has(&set, SYSCALL_COMPAT, SYS_read));
#endif
	set = parsed("*stat*");
	assert_true(in(&set, "newfstatat") && in(&set, "statx") && in(&set, "fstat"));
	assert_false(in(&set, "read"));
	set = parsed("%network");
	assert_true(in(&set, "connect") && in(&set, "sendmmsg"));
	assert_false(in(&set, "read"));
	set = parsed("network");
	assert_true(in(&set, "connect"));
	set = parsed("%net,read");
	assert_true(in(&set, "connect") && in(&set, "read"));
	set = parsed("all");
	assert_int_equal(size(&set), SYSCALL_ABIS * SYSCALL_NUMBERS);
}

static void sets_are_added(void **state)
{
	struct syscall_set set = parsed("read"), more = parsed("write,openat");
	u32 before = size(&set);

	(void)state;
	syscall_set__add(&set, &more);
	assert_true(in(&set, "read") && in(&set, "write") && in(&set, "openat"));
	assert_int_equal(size(&set), before + size(&more));
}

static void negation(void **state)
{
	struct syscall_set set = parsed("!read,write");

	(void)state;
	assert_false(in(&set, "read") || in(&set, "write"));
	assert_true(in(&set, "close"));
	set = parsed("!read,!write");
	assert_false(in(&set, "read") || in(&set, "write"));
	set = parsed("!%file");
	assert_false(in(&set, "openat"));
	assert_true(in(&set, "read"));
	set = parsed("%file,!openat");
	assert_false(in(&set, "openat"));
	assert_true(in(&set, "unlink"));
	set = parsed("%file,!*");
	assert_int_equal(size(&set), 0);
	set = parsed("all,!%desc");
	assert_false(in(&set, "read"));
	assert_true(in(&set, "getpid"));
}

static void complaints(void **state)
{
	static const struct {
		const char *text;
		int err;
		size_t at, len;
		const char *hint;
	} cases[] = {
		{ "raed", -ENOENT, 0, 4, "read" },
		{ "read,opneat", -ENOENT, 5, 6, "openat" },
		{ "!conect", -ENOENT, 1, 6, "connect" },
		{ "%netwrok", -ENOENT, 0, 8, "%network" },
		{ "%read", -ENOENT, 0, 5, "classes" },
		{ "xyz*", -ENOENT, 0, 4, "classes" },
		{ "", -EINVAL, 0, 0, "" },
		{ "read,", -EINVAL, 5, 0, "" },
		{ ",read", -EINVAL, 0, 0, "" },
		{ "!", -EINVAL, 1, 0, "" },
		{ "%", -ENOENT, 0, 1, "" },
	};
	struct syscall_set set;
	struct complaint c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		c = (struct complaint){};
		assert_int_equal(syscall_set__parse(&set, cases[i].text, &c), cases[i].err);
		assert_int_equal(c.at, cases[i].at);
		assert_int_equal(c.len, cases[i].len);
		assert_non_null(strstr(c.hint, cases[i].hint));
	}
}

/*
 * The classes are those of strace(1): calls that take a path are in file, calls that take or make a
 * descriptor in desc, and calls that make sockets in neither.
 */
static void classes_are_those_of_strace(void **state)
{
	static const struct {
		const char *class_name, *call;
		bool in;
	} cases[] = {
		{ "file", "execve", true },     { "file", "getcwd", true },
		{ "file", "fstat", false },     { "file", "mount", true },
		{ "file", "newfstatat", true }, { "file", "read", false },
		{ "desc", "read", true },       { "desc", "mmap", true },
		{ "desc", "munmap", false },    { "desc", "openat", true },
		{ "desc", "epoll_wait", true }, { "desc", "socket", false },
		{ "desc", "poll", true },       { "desc", "getpid", false },
		{ "process", "clone", true },   { "process", "exit_group", true },
		{ "process", "kill", true },    { "process", "getpid", false },
		{ "network", "sendfile", true }, { "network", "socket", true },
		{ "network", "read", false },   { "memory", "brk", true },
		{ "memory", "shmat", true },    { "memory", "io_setup", true },
		{ "memory", "read", false },    { "signal", "rt_sigreturn", true },
		{ "signal", "pause", true },    { "signal", "alarm", false },
		{ "ipc", "semop", true },       { "ipc", "mq_open", false },
		{ "creds", "prctl", true },     { "creds", "setgroups", true },
		{ "creds", "setpgid", false },  { "clock", "adjtimex", true },
		{ "clock", "clock_nanosleep", false }, { "clock", "times", false },
		{ "nonsense", "read", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (syscall_is_in_class(cases[i].class_name, cases[i].call) != cases[i].in)
			fail_msg("%s in %s", cases[i].call, cases[i].class_name);
}

/* Each word of the classes must match: -e %class would leave out the call of a mistyped word. */
static void every_word_of_a_class_is_a_call(void **state)
{
	struct syscall_set set;
	struct complaint c;
	char text[4096], *word, *rest;
	const char *classes = syscall_classes(), *words;
	char name[16];
	int n;

	(void)state;
#ifndef __x86_64__
	skip();         /* some words are calls of 32-bit x86 only */
#endif
	for (; sscanf(classes, " %15[a-z]%n", name, &n) == 1; classes += n + (classes[n] == ',')) {
		words = syscall_class_words(name);
		assert_non_null(words);
		assert_true(strlen(words) < sizeof(text));
		strcpy(text, words);
		for (rest = text; (word = strtok_r(NULL, " ", &rest));)
			if (syscall_set__parse(&set, word, &c))
				fail_msg("%s: '%s' is no system call", name, word);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_numbers_agree),
		cmocka_unit_test(numbers_of_32_bit_programs),
		cmocka_unit_test(names_globs_and_classes),
		cmocka_unit_test(sets_are_added),
		cmocka_unit_test(negation),
		cmocka_unit_test(complaints),
		cmocka_unit_test(classes_are_those_of_strace),
		cmocka_unit_test(every_word_of_a_class_is_a_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
