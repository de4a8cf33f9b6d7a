// SPDX-License-Identifier: BSD-2-Clause
/*
 * The entry point. tally NAME ... and a link called NAME run the same tool; tally alone lists the
 * tools, tally help NAME shows the manual page of one.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child_signal.h"
#include "base/nearest.h"
#include "base/opener.h"
#include "base/roomy_stack.h"
#include "cli/bt_program.h"
#include "cli/complete.h"
#include "cli/habits.h"
#include "cli/options.h"
#include "cli/peers.h"
#include "cli/prescan.h"
#include "cli/tools.h"
#include "event/attach_template.h"
#include "event/complete.h"
#include "host/features.h"
#include "run/run.h"
#include "manual.h"
#include "report/diag.h"
#include "report/pager.h"
#include "run/measurement.h"
#include "tools.h"
#include "version.h"

extern const struct tool *const __start_tally_tools[];
extern const struct tool *const __stop_tally_tools[];

static size_t tool_count(void)
{
	return __stop_tally_tools - __start_tally_tools;
}

const struct tool *find_tool(const char *name)
{
	size_t i;

	for (i = 0; i < tool_count(); i++)
		if (!strcmp(__start_tally_tools[i]->name, name))
			return __start_tally_tools[i];
	return NULL;
}

const struct tool *tool_at(size_t i)
{
	return i < tool_count() ? __start_tally_tools[i] : NULL;
}

const struct tool_spec *find_tool_spec(const char *name)
{
	const struct tool *tool = find_tool(name);

	return tool ? tool->spec : NULL;
}

static int show_peer(const struct peer *p)
{
	if (p->line)
		diag_error("'%s' (%s) is available as: tally %s", p->name, p->suite, p->line);
	else
		diag_error("no '%s' (%s): %s", p->name, p->suite, p->why);
	if (peer__is_about_functions(p) && features__lack_functions())
		diag_hint("this kernel does not allow probes on its functions: it has no kprobes and refuses fentry");
	return EXIT_USAGE;
}

/*
 * Strips the suffix that a suite or a distribution adds to the name of a peer's program: "opensnoop-bpfcc",
 * "tcplife.bt".
 */
static void strip_suffix(char *name)
{
	static const char *const suffix[] = { ".bt", ".py", "-bpfcc", "-perf" };
	size_t len = strlen(name), i;

	for (i = 0; i < ARRAY_SIZE(suffix); i++)
		if (len > strlen(suffix[i]) && !strcmp(name + len - strlen(suffix[i]), suffix[i])) {
			name[len - strlen(suffix[i])] = 0;
			return;
		}
}

/* `bpftrace -e PROGRAM`: shows the tally command line that corresponds to PROGRAM. */
static int show_bpftrace(const struct peer *p, char **words)
{
	struct peer peer = *p;
	bool drops_filter = false;
	char *line = NULL;
	int status;

	for (; *words && strcmp(*words, "-e"); words++)
		;
	if (*words && words[1])
		line = bt_program__here(words[1], &drops_filter);
	peer.line = line ?: p->line;
	status = show_peer(&peer);
	if (drops_filter)
		diag_hint("the line lacks the program's filter: add -p, --comm or --filter EXPR");
	free(line);
	return status;
}

/* The tool, or "help", with the name nearest to a mistyped one; NULL: none is near, or no memory. */
static const char *nearest_tool(const char *typed)
{
	const char **names = calloc(tool_count() + 1, sizeof(*names)), *near = NULL;
	size_t i;

	for (i = 0; names && i < tool_count(); i++)
		names[i] = __start_tally_tools[i]->name;
	if (names) {
		names[i++] = "help";
		near = nearest(typed, names, i);
	}
	free(names);
	return near;
}

/* word: the typed words from the name on, followed by NULL. "perf" may precede the name. */
static int unknown_tool(char **word)
{
	bool perf = !strcmp(word[0], "perf") && word[1];
	char **named = perf ? word + 1 : word;
	const struct peer *peer = perf ? peer__find_perf(named[0], named + 1) : peer__find(named[0], named + 1);
	char stem[64];
	const char *near;

	snprintf(stem, sizeof(stem), "%s", named[0]);
	strip_suffix(stem);
	if (!peer)
		peer = peer__find(stem, NULL);
	if (peer && !strcmp(peer->name, "bpftrace"))
		return show_bpftrace(peer, named + 1);
	if (peer)
		return show_peer(peer);
	near = find_tool(stem) ? stem : nearest_tool(named[0]);
	diag_error("no tool '%s'", word[0]);
	if (near)
		diag_hint("did you mean '%s'?", near);
	else
		diag_hint("`tally` lists the tools");
	return EXIT_USAGE;
}

static bool tools_with_option(const char *name, size_t len, char tools[TOOLS_WITH_OPTION])
{
	char *end = tools, *most = tools + TOOLS_WITH_OPTION - sizeof(" and others");
	size_t i, n = 0;

	for (i = 0; i < tool_count(); i++) {
		const struct tool *t = __start_tally_tools[i];

		if (!t->spec || !cli__has_option(&t->spec->cli, name, len))
			continue;
		if (!tools)
			return true;
		if (n++ == 2 || end + strlen(t->name) + 2 > most) {
			strcpy(end, " and others");
			break;
		}
		end = stpcpy(stpcpy(end, n > 1 ? ", " : ""), t->name);
	}
	return n;
}

static void complete_measuring_tools(struct completion *c)
{
	size_t i;

	for (i = 0; i < tool_count(); i++)
		if (__start_tally_tools[i]->spec)
			completion__add(c, __start_tally_tools[i]->name, __start_tally_tools[i]->summary);
}

/* manual_page() returns the text of these documents; the Makefile lists their files. */
static const struct {
	const char *name, *summary;
} documents[] = {
	{ "accuracy", "where the numbers come from, and how exact they are" },
	{ "cookbook", "lines of perf, bcc, bpftrace and strace, and their equivalents here" },
	{ "json", "the members of JSON output" },
	{ "recordings", "the tables of a recording" },
	{ "symptoms", "from a symptom to its cause" },
	{ "troubleshooting", "error messages, their causes and remedies" },
};

/* Candidates for TOOL, or help TOOL. */
static void complete_front(struct completion *c)
{
	size_t i;

	if (c->position > 1 || (c->position && strcmp(c->first, "help")))
		return;
	for (i = 0; i < tool_count(); i++)
		completion__add(c, __start_tally_tools[i]->name, __start_tally_tools[i]->summary);
	if (!c->position)
		completion__add(c, "help", "the manual page of a tool, or a document");
	for (i = 0; c->position && i < ARRAY_SIZE(documents); i++)
		completion__add(c, documents[i].name, documents[i].summary);
}

/* profile -e TRACEPOINT --filter EXPR is passed on to stackcount. */
static const struct tool *tool_for(const struct tool *tool, int argc, char **argv)
{
	const char *name = NULL;

	if (tool->spec && !complete__is_asked(argc, argv))
		name = cli__other_tool(&tool->spec->cli, argc, argv);
	if (!name)
		return tool;
	diag_warn("tracepoints with a filter need %s: running it instead", name);
	return find_tool(name);
}

static void become(const struct tool *tool, char **argv)
{
	/* Diagnostics, argp's help and reports show the tool's name. */
	diag_speaker(tool->name);
	program_invocation_name = (char *)tool->name;
	argv[0] = (char *)tool->name;
}

/* syscount -l, probe -l */
static int run_list(const char *shown)
{
	char *argv[] = { "list", (char *)shown, NULL };
	const struct tool *tool = find_tool(argv[0]);

	diag_hint("meant as: %s %s", argv[0], argv[1]);
	become(tool, argv);
	return tool->main(2, argv);
}

static int run_tool(const struct tool *tool, int argc, char **argv)
{
	const char *listed;
	int status;

	become(tool, argv);
	listed = habits__listing(argc, argv);
	if (listed)
		return run_list(listed);
	tool = tool_for(tool, argc, argv);
	become(tool, argv);
	status = tool->spec ? measurement__main(tool->spec, argc, argv) : tool->main(argc, argv);
	opener__end();
	return status;
}

/* Printed above and below the list. A terminal still shows the lower part after a long list. */
static const char first_screen[] =
	"tally TOOL [OPTION...] measures this machine until ^C, or for -d SECONDS\n\n";
static const char next_steps[] =
	"\n"
	"tally triage         what is wrong with this machine, in ten seconds\n"
	"tally help symptoms  from a symptom to the tool and the options\n"
	"tally help cookbook  lines of perf, bcc, bpftrace and strace, and their equivalents here\n"
	"tally help TOOL      the manual page of a tool; tally TOOL --help: its options\n"
	"tally doctor         what works on this kernel, and what is missing\n";

static int write_texts_around(struct writer *w, const struct report *list)
{
	int err;

	if (w->format != FORMAT_TEXT)
		return writer__write(w, list);
	err = writer__emit(w, first_screen, strlen(first_screen));
	if (!err)
		err = writer__write(w, list);
	return err ?: writer__emit(w, next_steps, strlen(next_steps));
}

static int list_tools(int argc, char **argv)
{
	static const char *const areas[AREAS] = {
		[AREA_SCHEDULER] = "scheduler",
		[AREA_EVENTS] = "events",
		[AREA_CALLS] = "system calls",
		[AREA_FILES] = "files",
		[AREA_DISKS] = "disks",
		[AREA_PROCESSES] = "processes",
		[AREA_MEMORY] = "memory",
		[AREA_LOCKS] = "locks",
		[AREA_NETWORK] = "network",
		[AREA_INTERRUPTS] = "interrupts",
		[AREA_MACHINE] = "machine",
	};
	static const char *const names[] = { "area", "tool", "answers" };
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT,
		.doc = "Answers from summaries built in the kernel. Without arguments, lists the tools.\vtally TOOL "
		       "[ARG...] runs a tool: tally triage finds what is wrong with a machine, tally profile shows "
		       "where CPU time goes, tally runqlat who waits for a CPU, tally biolatency how slow disks are. "
		       "tally help TOOL shows a manual page, tally help symptoms leads from a symptom to the tool.",
		.arguments = complete_front,
	};
	struct report r = { .tool = "tally" };
	struct writer w = {};
	struct cli cli;
	int area, err;
	size_t i;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	err = cli__open_writer(&cli, &w);
	for (area = 0; area < AREAS; area++) {
		for (i = 0; i < tool_count() && !err; i++) {
			const struct tool *t = __start_tally_tools[i];

			if ((int)t->area == area)
				err = report__add_texts(
					&r, names,
					(const char *const[]){ areas[area], t->name, t->summary },
					ARRAY_SIZE(names));
		}
	}
	if (!err)
		err = write_texts_around(&w, &r);
	err = cli__close_writer(&w, err);
	report__free(&r);
	cli__free(&cli);
	return err ? EXIT_FAILED : EXIT_DONE;
}

/* The tool answers tally --complete TOOL [WORD...] CURRENT. */
static int complete_line(int argc, char **argv)
{
	const struct tool *tool = argc > 3 ? find_tool(argv[2]) : NULL;

	if (!tool)
		return list_tools(argc, argv);
	argv[2] = argv[1];
	return run_tool(tool, argc - 1, argv + 1);
}

static int help(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "tally";
	const char *text = manual_page(name);
	struct writer w;
	struct cli cli = { .ready_fd = -1 };
	struct pager pager;
	int err;

	if (argc > 2) {
		diag_error("help takes the name of one tool or document");
		return EXIT_USAGE;
	}
	if (!text)
		return argc > 1 ? unknown_tool(argv + 1) : EXIT_FAILED;
	pager__begin(&pager);
	err = cli__open_writer(&cli, &w);
	if (!err)
		err = cli__close_writer(&w, writer__emit(&w, text, strlen(text)));
	pager__end(&pager);
	return err ? EXIT_FAILED : EXIT_DONE;
}

/*
 * A descriptor opened later (a BPF map) must not take the place of a closed standard output, and get the reports.
 * Writing to these placeholders fails like writing to a closed descriptor: /dev/null is opened read-only, and if it
 * does not exist, the root directory is opened with O_PATH.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Descriptors needed in addition to the inherited ones: for libraries, tracefs, nested directories. */
#define FEWEST_FILES 10

static int run_main(int argc, char **argv)
{
	const char *called = argc ? basename(argv[0]) : "tally";
	const struct tool *tool = find_tool(called);
	const struct peer *pair;        /* `kmem stat` is perf's, kmem alone is ours */

	cli_tools = (struct cli_tools){ tools_with_option, complete_measuring_tools, complete_events };
	argp_program_version = "tally " TALLY_VERSION;
	argp_err_exit_status = EXIT_USAGE;
	fill_standard_descriptors();
	/* A write beyond RLIMIT_FSIZE then fails with EFBIG, and is reported. */
	signal(SIGXFSZ, SIG_IGN);
	child_signal__take();
	diag_verbose(false);
	attach_template__set_up();
	/* With fewer descriptors, errors would appear in various places and for misleading reasons. */
	if (host__check_files(FEWEST_FILES))
		return EXIT_FAILED;
	if (tool)
		return run_tool(tool, argc, argv);
	if (complete__is_asked(argc, argv))
		return complete_line(argc, argv);
	if (argc < 2 || argv[1][0] == '-')
		return list_tools(argc, argv);
	if (!strcmp(argv[1], "help"))
		return help(argc - 1, argv + 1);
	tool = find_tool(argv[1]);
	pair = tool ? peer__find_pair(argv[1], argv[2]) : NULL;
	if (pair)
		return show_peer(pair);
	if (!tool)
		return unknown_tool(argv + 1);
	return run_tool(tool, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return roomy_stack__run(run_main, argc, argv);
}
