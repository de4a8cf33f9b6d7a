// SPDX-License-Identifier: BSD-2-Clause
/* The first scan of the command line, compared with a table and with getopt_long(3). */
#include "unit.h"

#include <getopt.h>
#include <unistd.h>

#include "cli/prescan.h"

enum {
	KEY_COMM = 0x100,
	KEY_PIDNS,
	KEY_CSV,
	KEY_STRICT,
};

static const struct argp_option more_options[] = {
	{ NULL, 0, NULL, 0, "More:", 2 },
	{ "csv", KEY_CSV, "SEP", OPTION_ARG_OPTIONAL, "", 2 },
	{ "strict", KEY_STRICT, NULL, 0, "", 2 },
	{ NULL, 'P', NULL, 0, "", 2 },
	{ "timestamps", 'T', NULL, 0, "", 2 },
	{ "count", 'c', "N", OPTION_ARG_OPTIONAL, "", 2 },
	{ "verbose", 'v', NULL, 0, "", 2 },
	{},
};

static const struct argp more = { .options = more_options };

static const struct argp_child children[] = { { .argp = &more }, {} };

static const struct argp_option own_options[] = {
	{ NULL, 0, NULL, 0, "Scope:", 1 },
	{ "pid", 'p', "PID", 0, "", 1 },
	{ "pidns", KEY_PIDNS, "PID", OPTION_ARG_OPTIONAL, "", 1 },
	{ "pin", 'i', "N", 0, "", 1 },
	{ "comm", KEY_COMM, "GLOB", 0, "", 1 },
	{ "command-line", 'l', NULL, 0, "", 1 },
	{ "all", 'a', NULL, 0, "", 1 },
	{ "duration", 'd', "S", 0, "", 1 },
	{},
};

static const struct argp root = { .options = own_options, .children = children };

/* The message of the last prescan(). */
static char said[4096];

static int prescan(int argc, char **argv, int *end)
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO), err;
	size_t n;

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	err = cli_prescan(&root, argc, argv, end);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	n = fread(said, 1, sizeof(said) - 1, file);
	said[n] = 0;
	fclose(file);
	return err;
}

#define MOST 8

struct line {
	char *argv[MOST];
	int end;                /* end of the options; -EINVAL: refused */
	const char *says;       /* a part of the message */
};

static void known_lines(void **state)
{
	static const struct line lines[] = {
		{ { NULL }, 1, NULL },
		{ { "1", "10" }, 3, NULL },
		{ { "-" }, 2, NULL },                           /* an argument */
		{ { "-", "-a", "-" }, 4, NULL },
		{ { "" }, 2, NULL },
		{ { "--" }, 1, NULL },
		{ { "--", "ls", "-l" }, 1, NULL },
		{ { "-a", "--", "ls", "--nonsense" }, 2, NULL },
		{ { "1", "--", "--" }, 2, NULL },
		/* short options */
		{ { "-a" }, 2, NULL },
		{ { "-p", "1" }, 3, NULL },
		{ { "-p1" }, 2, NULL },
		{ { "-p=1" }, 2, NULL },                        /* the value is "=1" */
		{ { "-aTv" }, 2, NULL },
		{ { "-aTp", "1" }, 3, NULL },
		{ { "-aTp1" }, 2, NULL },
		{ { "-pa" }, 2, NULL },                         /* the value is "a" */
		{ { "-pz" }, 2, NULL },
		{ { "-c" }, 2, NULL },
		{ { "-c", "5" }, 3, NULL },                     /* 5 is an argument */
		{ { "-cz" }, 2, NULL },
		{ { "-acz" }, 2, NULL },
		{ { "-?" }, 2, NULL },
		{ { "-V" }, 2, NULL },
		{ { "-z" }, -EINVAL, "unknown option '-z'" },
		{ { "-az" }, -EINVAL, "unknown option '-z'" },
		{ { "-za" }, -EINVAL, "unknown option '-z'" },
		{ { "-a-" }, -EINVAL, "unknown option '--'" },
		{ { "-p" }, -EINVAL, "'-p' needs a value" },
		{ { "-ap" }, -EINVAL, "'-p' needs a value" },
		{ { "-\x1b" }, -EINVAL, "unknown option '-\\x1b'" },
		{ { "-\xc3\xa9" }, -EINVAL, "unknown option" },
		/* values that look like something else */
		{ { "-p", "-a" }, 3, NULL },
		{ { "-p", "-z" }, 3, NULL },
		{ { "-p", "--" }, 3, NULL },
		{ { "-p", "--", "--", "ls" }, 3, NULL },
		{ { "--pid", "--" }, 3, NULL },
		{ { "--pid", "--", "-a", "--", "-z" }, 4, NULL },
		{ { "--pid", "--nonsense" }, 3, NULL },
		{ { "-aTp", "--", "-z" }, -EINVAL, "unknown option '-z'" },
		{ { "-c", "--", "-z" }, 2, NULL },              /* -c has no value here, so "--" is the end */
		{ { "--csv", "--", "-z" }, 2, NULL },
		{ { "--comm", "-" }, 3, NULL },
		{ { "--comm", "" }, 3, NULL },
		/* long options */
		{ { "--pid", "1" }, 3, NULL },
		{ { "--pid=1" }, 2, NULL },
		{ { "--pid=" }, 2, NULL },
		{ { "--pid=a=b" }, 2, NULL },
		{ { "--pid=--" }, 2, NULL },
		{ { "--all" }, 2, NULL },
		{ { "--csv" }, 2, NULL },
		{ { "--csv=;" }, 2, NULL },
		{ { "--csv", ";" }, 3, NULL },
		{ { "--help" }, 2, NULL },
		{ { "--usage" }, 2, NULL },
		{ { "--version" }, 2, NULL },
		{ { "--pid" }, -EINVAL, "'--pid' needs a value" },
		{ { "-a", "--comm" }, -EINVAL, "'--comm' needs a value" },
		{ { "--all=1" }, -EINVAL, "'--all' takes no value" },
		{ { "--all=" }, -EINVAL, "'--all' takes no value" },
		{ { "--help=me" }, -EINVAL, "'--help' takes no value" },
		/* abbreviations */
		{ { "--d", "5" }, 3, NULL },
		{ { "--du=5" }, 2, NULL },
		{ { "--pidn" }, 2, NULL },
		{ { "--pin", "1" }, 3, NULL },
		{ { "--al" }, 2, NULL },
		{ { "--str" }, 2, NULL },
		{ { "--ver" }, -EINVAL, "could be --" },
		{ { "--verb" }, 2, NULL },
		{ { "--vers" }, 2, NULL },
		{ { "--pi", "1" }, -EINVAL, "'--pi' could be --pid or --pidns" },
		{ { "--pi=1" }, -EINVAL, "'--pi' could be" },
		{ { "--c" }, -EINVAL, "could be" },
		{ { "--comm", "x" }, 3, NULL },                 /* an exact name, although others begin with it */
		{ { "--comma" }, 2, NULL },
		{ { "--=" }, -EINVAL, "could be" },
		{ { "--al=1" }, -EINVAL, "'--all' takes no value" },
		{ { "--du" }, -EINVAL, "'--duration' needs a value" },
		/* unknown */
		{ { "--pdi", "1" }, -EINVAL, "did you mean '--pid'?" },
		{ { "--pdi=1" }, -EINVAL, "unknown option '--pdi'" },
		{ { "--durration", "1" }, -EINVAL, "did you mean '--duration'?" },
		{ { "--alll" }, -EINVAL, "did you mean '--all'?" },
		{ { "--frobnicate" }, -EINVAL, "--help lists the options" },
		{ { "--PID", "1" }, -EINVAL, "unknown option '--PID'" },
		{ { "---pid", "1" }, -EINVAL, "unknown option '---pid'" },
		{ { "--\x1b[2J" }, -EINVAL, "unknown option '--\\x1b[2J'" },
		{ { "1", "--frobnicate" }, -EINVAL, "unknown option '--frobnicate'" },
		{ { "-a", "1", "--pid", "1", "-z" }, -EINVAL, "unknown option '-z'" },
	};
	char *argv[MOST + 2];
	int argc, end, err;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		const struct line *l = &lines[i];

		argv[0] = "tool";
		for (argc = 1; argc <= MOST && l->argv[argc - 1]; argc++)
			argv[argc] = l->argv[argc - 1];
		argv[argc] = NULL;
		end = 4711;
		err = prescan(argc, argv, &end);
		if (l->end < 0 ? err != l->end || end != 4711 : err || end != l->end) {
			for (k = 1; argv[k]; k++)
				print_message("'%s' ", argv[k]);
			fail_msg("%d, end %d, said: %s", err, end, said);
		}
		if (l->says && !strstr(said, l->says))
			fail_msg("'%s' is not in: %s", l->says, said);
		if (!l->says)
			assert_string_equal(said, "");
	}
}

/* Returns the answer of getopt_long(3) for arguments in order: the index of "--" or argc, or -EINVAL. */
static int by_getopt(int argc, char **argv)
{
	static const struct option words[] = {
		{ "pid", required_argument, NULL, 1000 },
		{ "pidns", optional_argument, NULL, 1001 },
		{ "pin", required_argument, NULL, 1002 },
		{ "comm", required_argument, NULL, 1003 },
		{ "command-line", no_argument, NULL, 1004 },
		{ "all", no_argument, NULL, 1005 },
		{ "duration", required_argument, NULL, 1006 },
		{ "csv", optional_argument, NULL, 1007 },
		{ "strict", no_argument, NULL, 1008 },
		{ "timestamps", no_argument, NULL, 1009 },
		{ "count", optional_argument, NULL, 1010 },
		{ "verbose", no_argument, NULL, 1011 },
		{ "help", no_argument, NULL, 1012 },
		{ "usage", no_argument, NULL, 1013 },
		{ "version", no_argument, NULL, 1014 },
		{},
	};
	int c, before;

	optind = 0;
	opterr = 0;
	for (;;) {
		before = optind;
		c = getopt_long(argc, argv, "-p:i:lad:PTc::vV", words, NULL);
		if (c == -1)
			/* getopt_long() has read "--" if it went past anything that is not an option. */
			return optind > (before ?: 1) ? optind - 1 : argc;
		if (c == '?')
			return -EINVAL;
	}
}

static void random_lines_agree_with_getopt(void **state)
{
	static const char *const words[] = {
		"--", "-", "", "1", "x", "-a", "-p", "-p1", "-ap", "-pa", "-aT", "-c", "-c1",
		"-ac", "-z", "-az", "-P", "-v", "-V", "-d", "--pid", "--pid=1", "--pi", "--pi=1",
		"--pidn", "--pidns", "--pidns=1", "--pin", "--comm", "--comm=*", "--com",
		"--comma", "--comma=1", "--all", "--all=1", "--al", "--a", "--d", "--du", "--csv",
		"--csv=;", "--c", "--co", "--s", "--v", "--ver", "--vers", "--help", "--h", "--u",
		"--nonsense", "--=", "--=x", "---", "-a-", "-=", "-p--", "--p=--", "-l-", "-ip",
		"-iap",
	};
	struct random r = { 17 };
	u32 n, refused = 0, commands = 0;
	int argc, end, err, want, i;
	char *argv[MOST + 2];

	(void)state;
	for (n = 0; n < 20000; n++) {
		argc = 1 + random__below(&r, 6);
		argv[0] = "tool";
		for (i = 1; i < argc; i++)
			argv[i] = (char *)words[random__below(&r, 5) ?
							random__below(&r, ARRAY_SIZE(words)) : 0];
		argv[argc] = NULL;
		want = by_getopt(argc, argv);
		end = -1;
		err = prescan(argc, argv, &end);
		if (want < 0 ? err != want : err || end != want) {
			for (i = 1; i < argc; i++)
				print_message("'%s' ", argv[i]);
			fail_msg("%d, end %d, getopt: %d", err, end, want);
		}
		refused += err != 0;
		commands += !err && end < argc;
	}
	assert_in_range(refused, 5000, 15000);  /* both refused and accepted lines are common */
	assert_true(commands > 1000);
}

static void names_longer_than_any(void **state)
{
	static char word[10000], letters[10000];
	char *argv[] = { "tool", word, NULL };
	int end;

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	memcpy(word, "--", 2);
	assert_int_equal(prescan(2, argv, &end), -EINVAL);
	memcpy(word, "--csv=", 6);
	assert_int_equal(prescan(2, argv, &end), 0);
	memset(letters, 'a', sizeof(letters) - 1);
	letters[0] = '-';
	argv[1] = letters;
	assert_int_equal(prescan(2, argv, &end), 0);
	letters[9998] = 'p';
	assert_int_equal(prescan(2, argv, &end), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_lines),
		cmocka_unit_test(random_lines_agree_with_getopt),
		cmocka_unit_test(names_longer_than_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
