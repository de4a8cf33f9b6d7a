// SPDX-License-Identifier: BSD-2-Clause
#include "cli/habits.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ends_with.h"
#include "base/program_path.h"
#include "cli/foreign_event.h"
#include "cli/habits_table.h"
#include "cli/option_table.h"
#include "report/diag.h"

/*
 * --- the table ---------------------------------------------------------------------------------
 */

/* True if name is one of names, which blanks separate. */
static bool is_among(const char *name, const char *names)
{
	size_t len = strlen(name), n;

	for (; *names; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		if (n == len && !memcmp(name, names, n))
			return true;
	}
	return false;
}

static bool is_call_graph(const char *value)
{
	return !strcmp(value, "fp") || !strcmp(value, "lbr") || !strncmp(value, "dwarf", 5);
}

static bool is_one_of(const char *value, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(value, words[i]))
			return true;
	return false;
}

/* True for a value of strace's --interruptible. */
static bool is_interruptible(const char *value)
{
	static const char *const words[] = { "anywhere", "waiting", "never", "never_tstp" };

	return is_one_of(value, words, ARRAY_SIZE(words));
}

static bool is_faults(const char *value)
{
	static const char *const words[] = { "all", "min", "maj" };

	value += *value == '=';
	return is_one_of(value, words, ARRAY_SIZE(words));
}

/* True for branch filters of perf record -j. */
static bool is_branches(const char *value)
{
	static const char *const words[] = {
		"any", "any_call", "any_ret", "ind_call", "ind_jmp", "call", "cond", "in_tx", "no_tx", "abort_tx",
		"save_type", "stack", "u", "k", "hv",
	};
	char first[16];
	size_t n = strcspn(value, ",");

	if (n >= sizeof(first))
		return false;
	memcpy(first, value, n);
	first[n] = 0;
	return is_one_of(first, words, ARRAY_SIZE(words));
}

/* True for a number of from to to digits, with nothing after it. */
static bool has_digits(const char *value, size_t from, size_t to)
{
	size_t n = strspn(value, "0123456789");

	return !value[n] && n >= from && n <= to;
}

static bool is_name(const char *value)
{
	while (isalnum((unsigned char)*value) || *value == '_' || (*value == '-' && value[1]))
		value++;
	return !*value;
}

static bool is_error(const char *value)
{
	return isdigit((unsigned char)*value) || (*value == 'E' && isupper((unsigned char)value[1]));
}

/* value: rest of the option's word (is_joined), the next word, or NULL. */
static bool fits(enum habit_when when, bool is_own, const char *value, bool is_joined)
{
	switch (when) {
	case WHEN_ANY_OWN:
		return true;
	case WHEN_NUMBER:
		return value && isdigit((unsigned char)*value);
	case WHEN_SMALL_NUMBER:
		return value && isdigit((unsigned char)*value) && strtoul(value, NULL, 10) - 1 < 999;
	case WHEN_NO_NUMBER:
		return !value || (!isdigit((unsigned char)*value) && *value != '.');
	case WHEN_ALONE:
		return !value || *value == '-';
	case WHEN_WORD:
		return value && *value != '-';
	case WHEN_PERF_DATA:
		return value && ends_with(value, ".data");
	case WHEN_SEPARATOR:
		return value && ispunct((unsigned char)*value) && !value[1];
	case WHEN_CALL_GRAPH:
		return value && is_call_graph(value);
	case WHEN_ERROR:
		return value && is_error(value);
	case WHEN_FOLDED:
		return value && !strcmp(value, "f");
	case WHEN_STRACE_I:
		return value && *value >= '1' && *value <= '4' && !value[1];
	case WHEN_STRACE_WORD:
		return value && is_interruptible(value);
	case WHEN_COLUMN:
		return value && has_digits(value, 2, 3);
	case WHEN_HUNDREDS:
		return value && has_digits(value, 3, 20);
	case WHEN_FEW:
		return value && has_digits(value, 1, 2);
	case WHEN_NAME:
		return value && is_name(value);
	case WHEN_FAULTS:
		return value && is_faults(value);
	case WHEN_BRANCHES:
		return value && is_branches(value);
	case WHEN_PIPE:
		return value && (*value == '|' || *value == '!');
	case WHEN_VALUE:
		return is_joined;
	case WHEN_ONCE_MORE:
		return is_joined && value[0] == value[-1];
	case WHEN_TWICE_MORE:
		return is_joined && value[0] == value[-1] && value[1] == value[0];
	case WHEN_UNIX:
		return is_joined && strstr(value, "unix");
	default:
		return !is_own;
	}
}

static const struct habit *find_habit(const char *tool, const char *option, size_t len, bool is_own,
				      const char *value, bool is_joined)
{
	const struct habit *h;

	for (h = habits; h < habits + habit_count; h++)
		if (!strncmp(h->option, option, len) && !h->option[len] &&
		    (!h->tools || is_among(tool, h->tools)) && fits(h->when, is_own, value, is_joined))
			return h;
	return NULL;
}

/*
 * --- commands ----------------------------------------------------------------------------------
 */

/* True if execvp(3) will find the word. */
static bool is_program(const char *word)
{
	char *path = isdigit((unsigned char)*word) ? NULL : program_path(word);
	bool found = path;

	free(path);
	return found;
}

/*
 * --- translation -------------------------------------------------------------------------------
 */

struct translation {
	struct option_table table;
	const char *tool;
	const struct cli_spec *spec;
	int argc;
	char **argv;
	int i;                  /* current word of argv */
	char **word;            /* the new argv */
	int n;
	char *text;             /* storage of new words, after word[] */
	const char *command;    /* value of an option that holds a command in one word */
	size_t narguments;
	int argument;           /* index in word[] of the first argument */
	bool has_events;        /* -e */
	bool has_min;           /* --min */
	bool has_end;           /* -d, --reports, or --live, which ^C ends */
	bool has_warned;        /* warned of an option that means something else in a peer */
	bool has_all;           /* -a */
	bool has_command;
	const struct habit *no_command; /* option with VALUE_NO_COMMAND, or NULL */
	char narrowed;          /* -C or -u, whichever comes last; 0 without either */
};

static void put(struct translation *t, const char *word)
{
	t->word[t->n++] = (char *)word;
}

/* Returns the unit of a value, or "" if it needs none. */
static const char *unit_of(enum habit_value value)
{
	return value == VALUE_MS ? "ms" : value == VALUE_US ? "us" : "";
}

/* Adds a and b as one word. */
static void put_joined(struct translation *t, const char *a, const char *b)
{
	put(t, t->text);
	t->text = stpcpy(stpcpy(t->text, a), b) + 1;
}

static const char *next_word(const struct translation *t)
{
	return t->i + 1 < t->argc ? t->argv[t->i + 1] : NULL;
}

/* Returns the habit to apply, or NULL. Warns of a tool's own option that means something else in the peer. */
static const struct habit *unless_own(struct translation *t, const struct habit *h)
{
	if (h && h->value == VALUE_NO_COMMAND) {
		t->no_command = h;
		return h->becomes[0] ? h : NULL;
	}
	if (!h || h->value != VALUE_OWN)
		return h;
	diag_warn("%s: %s", h->option, h->say);
	t->has_warned = true;
	return NULL;
}

static bool habit_takes(const struct habit *h)
{
	return h->value != VALUE_NONE && h->value != VALUE_WARNED;
}

static int refuse(const struct habit *h)
{
	diag_error("%s: %s", h->option, h->say);
	return -EINVAL;
}

static int put_habit(struct translation *t, const struct habit *h, const char *value)
{
	const char *last = h->becomes[1] ?: h->becomes[0];

	if (h->value == VALUE_WARNED)
		diag_warn("%s: %s", h->option, h->say);
	else if (h->say && h->value != VALUE_NO_COMMAND)
		return refuse(h);
	if (habit_takes(h) && !value) {
		diag_error("'%s' needs a value", h->option);
		return -EINVAL;
	}
	if (h->value == VALUE_COMMAND) {
		t->command = value;
		return 0;
	}
	if (habit_takes(h) && last && last[strlen(last) - 1] == '=') {
		put_joined(t, last, value);
		if (isdigit((unsigned char)t->text[-2]))
			t->text = stpcpy(t->text - 1, unit_of(h->value)) + 1;
		return 0;
	}
	if (h->becomes[0])
		put(t, h->becomes[0]);
	if (h->becomes[1])
		put(t, h->becomes[1]);
	if (h->value == VALUE_KEPT && !last)
		t->argument = t->narguments++ ? t->argument : t->n;
	if (h->value == VALUE_KEPT || h->value == VALUE_NO_COMMAND)
		put(t, value);
	return 0;
}

/*
 * Refuses an event in the syntax of bcc, bpftrace or kprobe_events. The event is an argument or the value of an option.
 */
static int refuse_foreign_event(const struct translation *t, const char *event)
{
	char *line = NULL;

	if (event && is_among(t->tool, "probe stackcount stat profile funcgraph"))
		line = foreign_event__here(t->tool, event);
	if (!line)
		return 0;
	diag_error("this is the syntax of bcc or bpftrace; use: %s", line);
	free(line);
	return -EINVAL;
}

static int note_own(struct translation *t, int k, const char *value)
{
	t->has_events |= t->table.letter[k] == 'e';
	t->has_min |= !strcmp(t->table.name[k], "min");
	t->has_end |= t->table.letter[k] == 'd' || is_among(t->table.name[k], "reports live");
	t->has_all |= t->table.letter[k] == 'a';
	if (t->table.letter[k] == 'C' || t->table.letter[k] == 'u')
		t->narrowed = t->table.letter[k];
	return t->table.letter[k] == 'e' ? refuse_foreign_event(t, value) : 0;
}

/* Translates the long option argv[i] and advances past it and its value. */
static int translate_long(struct translation *t)
{
	const char *word = t->argv[t->i], *name = word + 2;
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : next_word(t);
	int first, other, k = option_table__name(&t->table, name, len, &first, &other);
	bool is_own = k >= 0 && option_table__is_whole(&t->table, k, len), takes;
	const struct habit *h = unless_own(t, find_habit(t->tool, word, len + 2, is_own, value, name[len]));
	int err = 0;

	if (h) {
		takes = habit_takes(h);
		err = put_habit(t, h, takes ? value : NULL);
	} else {
		takes = k >= 0 && t->table.takes[k] == TAKES_VALUE;
		put(t, word);
		if (k >= 0)
			err = note_own(t, k, value);
		if (takes && !name[len] && value)
			put(t, value);
	}
	t->i += takes && !name[len] && value ? 2 : 1;
	return err;
}

/*
 * Translates one of the letters in argv[i], at p. Returns 1 if the word and its value are done, 0 if another letter may
 * follow, or -EINVAL.
 */
static int translate_letter(struct translation *t, const char *p, bool *took_next)
{
	const char option[] = { '-', *p, 0 }, *value = p[1] ? p + 1 : next_word(t);
	int k = option_table__letter(&t->table, *p);
	const struct habit *h = unless_own(t, find_habit(t->tool, option, 2, k >= 0, value, p[1]));
	bool takes = h ? habit_takes(h) : k >= 0 && t->table.takes[k] == TAKES_VALUE;

	*took_next = takes && !p[1] && value;
	if (h)
		return put_habit(t, h, takes ? value : NULL) ?: takes;
	if (k >= 0 && note_own(t, k, value))
		return -EINVAL;
	if (k >= 0 && t->table.takes[k] == TAKES_NOTHING) {
		put_joined(t, option, "");
		return 0;
	}
	/* Keep the rest of the word with the letter: it is a value, or unknown letters. */
	put_joined(t, "-", p);
	if (*took_next)
		put(t, value);
	return 1;
}

static int translate_letters(struct translation *t)
{
	const char *p = t->argv[t->i] + 1;
	bool took_next = false;
	int done = 0;

	while (*p && !done)
		done = translate_letter(t, p++, &took_next);
	t->i += took_next ? 2 : 1;
	return done < 0 ? done : 0;
}

/*
 * True if the word begins a command: perf runs commands without "--". In tools that take events as arguments, a command
 * can only follow -e.
 */
static bool begins_command(const struct translation *t, const char *word)
{
	const struct cli_spec *spec = t->spec;

	if (!(spec->groups & CLI_COMMAND) || t->narguments)
		return false;
	if (spec->takes ? !t->has_events : spec->args_doc != NULL)
		return false;
	return is_program(word);
}

static void put_rest(struct translation *t)
{
	t->has_command = t->i + !strcmp(t->argv[t->i], "--") < t->argc;
	while (t->i < t->argc)
		put(t, t->argv[t->i++]);
}

/* Splits the command at blanks, without quoting, as bcc does. */
static void put_command(struct translation *t)
{
	const char *word = t->command;
	size_t len;

	put(t, "--");
	for (word += strspn(word, " "); *word; word += strspn(word, " ")) {
		len = strcspn(word, " ");
		put(t, t->text);
		t->text = mempcpy(t->text, word, len);
		*t->text++ = 0;
		word += len;
	}
}

static int translate_word(struct translation *t)
{
	const char *word = t->argv[t->i];

	if (!strncmp(word, "--", 2) && word[2])
		return translate_long(t);
	if (word[0] == '-' && word[1] && strcmp(word, "--"))
		return translate_letters(t);
	if (begins_command(t, word))
		put(t, "--");
	else if (strcmp(word, "--")) {
		t->argument = t->narguments++ ? t->argument : t->n;
		put(t, word);
		t->i++;
		return refuse_foreign_event(t, word);
	}
	put_rest(t);
	return 0;
}

/*
 * In bcc's runqslower and fileslower, a single number is the threshold. Here it would be the interval: users who want
 * an interval must add --min or a count, or use -I.
 */
static void take_threshold(struct translation *t)
{
	static const struct {
		const char *tool, *unit;
	} thresholds[] = { { "runqslower", "us" }, { "fileslower", "ms" } };
	const char *number = t->word[t->argument], *said;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(thresholds); i++)
		if (!strcmp(t->tool, thresholds[i].tool))
			break;
	if (i == ARRAY_SIZE(thresholds) || t->has_min)
		return;
	said = t->text;
	t->text = stpcpy(stpcpy(stpcpy(t->text, "--min="), number), thresholds[i].unit) + 1;
	t->word[t->argument] = (char *)said;
	diag_warn("%s is taken as the minimum time, %s; an interval is -I MS", number, said);
}

/*
 * In these tools of bcc and libbpf-tools, a single number is the duration. Here it is the interval, and the reports
 * continue until ^C.
 */
static void warn_of_duration(const struct translation *t)
{
	const char *number = t->word[t->argument];

	if (t->has_end || t->has_command || t->has_warned ||
	    !is_among(t->tool, "profile offcputime offwaketime wakeuptime kvmstat biosnoop"))
		return;
	diag_warn("%s is the interval, and reports continue until ^C; to measure for %s seconds as bcc does, use -d %s",
		  number, number, number);
}

static bool is_one_number(const struct translation *t)
{
	const char *number = t->narguments == 1 ? t->word[t->argument] : "";

	return *number && !number[strspn(number, "0123456789")];
}

/* With -C or -u, perf measures all tasks, and the command only sets the duration. */
static void warn_of_scope(const struct translation *t)
{
	if (t->has_command && t->narrowed && !t->has_all && is_among(t->tool, "profile stat stackcount"))
		diag_warn("-%c: limited to the command's tasks; %s", t->narrowed,
			  t->narrowed == 'C' ? "-a measures all tasks, as perf does" :
					       "use -d SECONDS instead of the command for all tasks of that user");
}

/* Allocates room: a letter becomes at most two words and a value, with three bytes of new text. */
static int make_room(struct translation *t)
{
	size_t letters = 0, longest = 0, i;

	for (i = 0; i < habit_count; i++)
		if (habits[i].becomes[0] && strlen(habits[i].becomes[0]) > longest)
			longest = strlen(habits[i].becomes[0]);
	for (i = 0; i < (size_t)t->argc; i++)
		letters += strlen(t->argv[i]) + 1;
	t->word = malloc((3 * letters + 3) * sizeof(*t->word) + (4 + longest) * letters + 64);
	t->text = (char *)(t->word + 3 * letters + 3);
	return t->word ? 0 : -ENOMEM;
}

int habits__translate(const struct argp *argp, const struct cli_spec *spec, int argc, char **argv,
		      char ***translated, int *n)
{
	struct translation t = {
		.tool = argc ? argv[0] : "", .spec = spec, .argc = argc, .argv = argv,
	};
	int err = make_room(&t);

	*translated = t.word;
	if (err)
		return err;
	option_table__fill(&t.table, argp);
	if (argc)
		put(&t, argv[t.i++]);
	while (!err && t.i < argc)
		err = translate_word(&t);
	if (!err && is_one_number(&t)) {
		take_threshold(&t);
		warn_of_duration(&t);
	}
	if (!err && t.has_command && t.no_command)
		err = refuse(t.no_command);
	if (!err)
		warn_of_scope(&t);
	if (!err && t.command)
		put_command(&t);
	t.word[t.n] = NULL;
	*n = t.n;
	return err;
}

/*
 * --- another tool ------------------------------------------------------------------------------
 */

/* Events requested from profile. stackcount handles tracepoints with a filter. */
struct wanted {
	size_t events, tracepoints;
	bool filter;
};

/* True for "block:block_rq_issue", but not for "cycles:u" or "mem:0x1000:w". */
static bool is_tracepoint(const char *event)
{
	const char *name = strchrnul(event, ':');

	return *name && name[1 + strspn(name + 1, "ukhGHIpPSDWe")] && strncmp(event, "mem:", 4);
}

static void want_event(struct wanted *w, const char *event)
{
	w->events++;
	w->tracepoints += event && is_tracepoint(event);
}

/* Counts the events of an option. True if the option's value is next, the word after this one. */
static bool look_at_option(const struct option_table *table, struct wanted *w, const char *word,
			   const char *next)
{
	const char *name = word + 2;
	size_t len = strcspn(name, "=");
	int first, other, k;

	if (!strncmp(word, "--", 2)) {
		w->filter |= len == 6 && !memcmp(name, "filter", 6);
		k = option_table__name(table, name, len, &first, &other);
		if (k >= 0 && table->letter[k] == 'e')
			want_event(w, name[len] ? name + len + 1 : next);
		return !name[len] && (w->filter || (k >= 0 && table->takes[k] == TAKES_VALUE));
	}
	for (name = word + 1; *name; name++) {
		k = option_table__letter(table, *name);
		if (*name == 'e')
			want_event(w, name[1] ? name + 1 : next);
		if (k >= 0 && table->takes[k] == TAKES_VALUE)
			return !name[1];
	}
	return false;
}

const char *habits__other_tool(const struct argp *argp, int argc, char **argv)
{
	struct option_table table;
	struct wanted w = {};
	int i;

	if (strcmp(argv[0], "profile"))
		return NULL;
	option_table__fill(&table, argp);
	for (i = 1; i < argc && strcmp(argv[i], "--") && !is_program(argv[i]); i++)
		if (argv[i][0] == '-' && look_at_option(&table, &w, argv[i], argv[i + 1]))
			i++;
	return w.events && w.events == w.tracepoints && w.filter ? "stackcount" : NULL;
}

const char *habits__listing(int argc, char **argv)
{
	static const struct {
		const char *tool, *shown;
	} listings[] = { { "syscount", "syscalls:*" }, { "probe", "probe*:*" } };
	size_t at;
	int i;

	for (at = 0; at < ARRAY_SIZE(listings); at++)
		if (!strcmp(argv[0], listings[at].tool))
			break;
	if (at == ARRAY_SIZE(listings))
		return NULL;
	for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "-l") || !strcmp(argv[i], "--list"))
			return listings[at].shown;
	return NULL;
}
