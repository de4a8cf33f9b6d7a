/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is wrong with a machine, looked for in what several tools have measured over the same time.
 *
 * A rule is a row of a table: which rows of which tool it looks at, what of them is added up by what, how much of
 * that is worth a word and how much is a problem, and what to say then. struct triage holds the rules and
 * is fed with reports and single events, in any order; its findings are what came of them.
 */
#ifndef TALLY_TRIAGE_RULE_H
#define TALLY_TRIAGE_RULE_H

#include "base/types.h"
#include "report/report.h"

enum triage_per {
	TRIAGE_COUNT,           /* the figures' sum */
	TRIAGE_PER_SECOND,
	TRIAGE_BYTES_PER_SECOND,
	TRIAGE_OF_CPU,          /* of times in ns: how many CPUs have as much */
	TRIAGE_TASKS,           /* likewise, how many tasks that is on average */
	TRIAGE_OF_MACHINE,      /* and its share of all CPUs' time, 0..1 */
	TRIAGE_PERCENT,         /* the figures are in per cent of a report's time */
	TRIAGE_LONGEST,         /* the largest figure; in ns */
};

/*
 * Which rows: the cell is one of the texts, or another text than these (what is not known is neither), or a number of
 * at least so much.
 */
struct triage_condition {
	const char *cell;       /* NULL: the end of the conditions */
	const char *is;         /* "ENOENT|ENOTDIR" */
	const char *is_not;
	double least;           /* where neither is given */
};

#define TRIAGE_CONDITIONS 4

/*
 * sentence and next are texts with {names} of the row's cells between them, of the key whose figure is the
 * largest; {value} is that figure, {all} that of all keys. In next, texts are words for a shell.
 */
struct triage_rule {
	const char *name;       /* "forks" */
	const char *tool;       /* whose report */
	struct triage_condition where[TRIAGE_CONDITIONS];
	const char *by;         /* cells with '|' between them whose rows are added up; NULL: all of them */
	const char *figure;     /* the cell; of a histogram "p99" too; NULL: how many rows (single events) */
	enum triage_per per;
	const char *beside;     /* speaks only where all of that rule is at most so much; NULL: always */
	double at_most;
	bool whole;             /* the limits are about the sum over all keys */
	double notice, problem; /* from here on; 0: never */
	u32 weight;             /* of two findings of a level, what stands first: causes before symptoms */
	const char *why;        /* the reason of the limits */
	const char *sentence;
	const char *next;       /* the command to type then */
};

enum triage_level { TRIAGE_FINE, TRIAGE_NOTICE, TRIAGE_PROBLEM };

/* One key of a rule. */
struct triage_key {
	struct report_row row;  /* the cells of the row with the largest figure */
	double figure;
};

#define TRIAGE_EVIDENCE 3

/*
 * Of a rule, at most so many keys are told apart: what makes keys (commands, paths, addresses) may be an attacker's.
 * Beyond that the smaller half is added to the others, which are in the sum of all keys and not the largest of them.
 */
#define TRIAGE_KEYS 16384

struct triage_finding {
	const struct triage_rule *rule;
	enum triage_level level;
	bool looked;            /* the tool has reported */
	double value, all;      /* of the largest key and of all, in the rule's unit */
	const struct triage_key *key[TRIAGE_EVIDENCE];  /* the largest first; the triage's */
	double key_value[TRIAGE_EVIDENCE];
	size_t nkeys;
	u64 nothers;            /* keys that were added to the others, again each time one comes back */
	double others;          /* what they have, in the rule's unit; in all, too */
};

struct triage;

/* rule: the caller's, n of them. NULL without memory. */
struct triage *triage__new(const struct triage_rule *rule, size_t n);
void triage__free(struct triage *t);

/* Forgets what it was given: another interval begins. */
void triage__reset(struct triage *t);

/* Rows of this process are left out: what has a cell pid of that number. 0: of none. */
void triage__leave_out(struct triage *t, u32 pid);

/* A report, and a single event. Texts are copied. 0 or -ENOMEM. */
struct stream_line;
int triage__take(struct triage *t, const struct report *r);
int triage__take_line(struct triage *t, const char *tool, const struct stream_line *line);

/*
 * What came of all rules, in new memory that the caller frees: n of them, problems first, then what is worth
 * a word, then what is fine and what was not looked at. NULL without memory. cpus: of the machine.
 */
struct triage_finding *triage__findings(struct triage *t, int cpus);

/* Is it one of a list's words, "A|B|C"? */
bool triage_word_is_in(const char *word, const char *list);

/* What a rule's value is for people: "352 a second", "1.94 CPUs". space: UNITS_SPACE. */
const char *triage_value(char *text, const struct triage_rule *rule, double value);

/* The sentence, and the command, of a finding that has keys; new memory for the caller, or NULL. Not escaped. */
char *triage_sentence(const struct triage_finding *f);
char *triage_next(const struct triage_finding *f);

#endif /* TALLY_TRIAGE_RULE_H */
