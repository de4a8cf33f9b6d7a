/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds problems of a machine in the measurements of several tools over the same time.
 *
 * A rule is a row of a table: the tool and its rows, the figure and the grouping, the limits of a
 * notice and of a problem, and the sentence. struct triage contains the rules, receives reports and
 * single events in any order, and computes the findings.
 */
#ifndef TALLY_TRIAGE_RULE_H
#define TALLY_TRIAGE_RULE_H

#include <stdio.h>

#include "base/types.h"
#include "report/report.h"

enum triage_per {
	TRIAGE_COUNT,           /* sum of the figures */
	TRIAGE_PER_SECOND,
	TRIAGE_BYTES_PER_SECOND,
	TRIAGE_OF_CPU,          /* for times in ns: number of CPUs */
	TRIAGE_TASKS,           /* for times in ns: average number of tasks */
	TRIAGE_OF_TIME,         /* for times in ns: percent of the time */
	TRIAGE_OF_MACHINE,      /* for times in ns: share of all CPUs, 0..1 */
	TRIAGE_PERCENT,         /* the figures are percentages of the report's duration */
	TRIAGE_LONGEST,         /* largest figure, in ns */
	TRIAGE_LEVEL,           /* largest figure, in percent of a limit */
	TRIAGE_LARGEST,         /* largest figure, a number */
};

/*
 * Selects rows whose cell is one of the texts, or is known and none of the texts, or has another text than a second
 * cell, or is a time below this share of the report's duration, or is a number of at least least.
 */
struct triage_condition {
	const char *cell;       /* NULL at the end of the conditions */
	const char *is;         /* "ENOENT|ENOTDIR" */
	const char *is_not;
	const char *differs_from;       /* the second cell */
	double below;           /* 0.3: less than 30 % of the time */
	double least;           /* used if the others are NULL */
};

#define TRIAGE_CONDITIONS 4

/*
 * sentence and next are texts with {names} of cells, which are taken from the row of the key with the
 * largest figure. {value} is that figure, {times} that figure of a count in words ("once", "7 times"),
 * {all} the total of all keys, {beside} the total of the rule beside, {beside.value} and {beside.CELL}
 * its largest figure and the cells of that row. In next, cell texts are shell-quoted.
 */
struct triage_rule {
	const char *name;       /* "forks" */
	const char *tool;       /* tool whose reports are checked */
	const char *option;     /* only command lines of the tool that contain this text, "--state disk"; NULL: all */
	struct triage_condition where[TRIAGE_CONDITIONS];
	const char *by;         /* grouping cells, separated by '|'; NULL: a single group */
	const char *figure;     /* figure cell; for histograms also "p99"; NULL: number of rows (single events) */
	enum triage_per per;
	/*
	 * Name of another rule: this one applies only if the total of that rule is at most at_most, and its largest
	 * key at least one_at_least, both in its unit; 0: any. NULL: always.
	 */
	const char *beside;
	double at_most, one_at_least;
	bool whole;             /* the limits apply to the sum over all keys */
	double notice, problem; /* limits; 0: none */
	bool each_cpu;          /* problem is multiplied by the number of CPUs: the share of the machine matters */
	u32 weight;             /* order of findings of the same level: causes before symptoms */
	bool rises;             /* TRIAGE_LEVEL: a fault may raise it soon, so it may be nearest to a limit */
	bool zeros;             /* also count rows whose figure is 0, to distinguish 0 from unknown */
	bool cpu_use;           /* about why a program uses CPUs or waits for them: see triage__findings() */
	const char *why;        /* reason for the limits */
	const char *sentence;
	const char *next;       /* suggested next command */
};

enum triage_level { TRIAGE_FINE, TRIAGE_NOTICE, TRIAGE_PROBLEM };

/* One key of a rule. */
struct triage_key {
	struct report_row row;  /* cells of the row with the largest figure */
	double figure;
};

#define TRIAGE_EVIDENCE 3

/*
 * Maximum number of keys per rule: an attacker may control the contents of keys (commands, paths,
 * addresses). If it is exceeded, the smaller half is moved to the others, which count in the sum of
 * all keys but not as the largest.
 */
#define TRIAGE_KEYS 16384

struct triage_finding {
	const struct triage_rule *rule;
	enum triage_level level;
	bool looked;            /* the tool has reported */
	u64 duration_ns;        /* of the tool's reports: rates are over this time */
	enum triage_level rank; /* level used for sorting, see triage__findings() */
	double value, all;      /* largest key and total, in the rule's unit */
	double problem;         /* limit on this machine; 0 if none */
	const struct triage_rule *beside;       /* NULL if the rule has none */
	double beside_all;      /* total of beside, in its unit */
	const struct triage_key *beside_key;    /* largest key of beside, or NULL */
	double beside_value;
	/*
	 * Largest first, owned by the triage. If the limits do not apply to the sum, only rows of a finding that
	 * exceed them by themselves.
	 */
	const struct triage_key *key[TRIAGE_EVIDENCE];
	double key_value[TRIAGE_EVIDENCE];
	size_t nkeys;
	/* The largest key below the limit, if others are above it. NULL if none, or if the limits apply to the sum. */
	const struct triage_key *below;
	double below_value;
	u64 nothers;            /* number of keys moved to the others; a key that reappears counts again */
	double others;          /* total of the others in the rule's unit; included in all */
};

struct triage;

/* Borrows the n rules. Returns NULL without memory. */
struct triage *triage__new(const struct triage_rule *rule, size_t n);
void triage__free(struct triage *t);

/* Drops all input, for the next interval. */
void triage__reset(struct triage *t);

/* Excludes rows with this number in the cell pid. 0: none. */
void triage__leave_out(struct triage *t, u32 pid);

/* Add a report or a single event. Texts are copied. Return 0 or -ENOMEM. */
struct stream_line;
int triage__take(struct triage *t, const struct report *r);
int triage__take_line(struct triage *t, const char *tool, const struct stream_line *line);

/*
 * Returns the findings of all n rules, allocated, which the caller frees: problems first, then
 * notices, then rules that found nothing or had no data. Among the rules with cpu_use, a notice is
 * ranked as a problem if a problem of a smaller weight names the same program: the notice is the
 * cause, whichever of the two limits a faster or smaller machine reaches first. NULL without memory.
 * cpus: of the machine.
 */
struct triage_finding *triage__findings(struct triage *t, int cpus);

/* Whether word is in the list "A|B|C". */
bool triage_word_is_in(const char *word, const char *list);

/* Whether evidence shows this cell of a key: the grouping cells, and comm if pid is one of them. */
bool triage_shows_cell(const struct triage_rule *rule, const char *cell);

/* Formats a rule's value: "352 a second", "1.94 CPUs". text has room for UNITS_SPACE. */
const char *triage_value(char *text, const struct triage_rule *rule, double value);

/* Writes a cell of a row in its unit. name: n bytes. */
void triage_put_cell(FILE *f, const struct report_row *row, const char *name, size_t n);

/* Returns the figure that is compared with the limits. */
static inline double triage_finding__judged(const struct triage_finding *f)
{
	return f->rule->whole ? f->all : f->value;
}

/* Whether the largest key of a rule has a name and a figure, even if the rule finds nothing. */
static inline bool triage_finding__names_largest(const struct triage_finding *f)
{
	return f->rule->by && f->nkeys && f->key_value[0] > 0;
}

/* Return the sentence and the next command of a finding that has keys; allocated, or NULL. Not escaped. */
char *triage_sentence(const struct triage_finding *f);
char *triage_next(const struct triage_finding *f);

#endif /* TALLY_TRIAGE_RULE_H */
