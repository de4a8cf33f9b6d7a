// SPDX-License-Identifier: BSD-2-Clause
/* Notes below a report of stacks: incomplete stacks and missing names, with the reasons. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/incomplete.h"
#include "stack/stacks.h"

/* Maximum number of files without debug information listed in a note. */
#define MOST_SOURCELESS 4

/*
 * Lists the first files without source information, with the reason unless they only lack debug
 * information. Returns the number of all such files.
 */
static size_t put_sourceless(FILE *f, const struct symbols *symbols)
{
	const char *name, *slash;
	size_t at = 0, n = 0;
	int why;

	while ((name = symbols__sourceless(symbols, &at, &why))) {
		slash = strrchr(name, '/');
		if (n++ < MOST_SOURCELESS)
			fprintf(f, "%s%s%s", n > 1 ? ", " : "", slash ? slash + 1 : name,
				why == -EBADMSG	 ? " (cannot be read)"
				: why == -EMFILE ? " (too many files)"
						 : "");
	}
	if (n > MOST_SOURCELESS)
		fprintf(f, " and %zu more", n - MOST_SOURCELESS);
	return n;
}

/* Lists the first unreadable files, with the reason. Returns the number of all such files. */
static size_t put_unread(FILE *f, const struct symbols *symbols)
{
	const char *name, *slash, *why;
	size_t at = 0, n = 0;

	while ((name = symbols__unread(symbols, &at, &why))) {
		slash = strrchr(name, '/');
		if (n++ < MOST_SOURCELESS)
			fprintf(f, "%s%s (%s)", n > 1 ? ", " : "", slash ? slash + 1 : name, why);
	}
	if (n > MOST_SOURCELESS)
		fprintf(f, " and %zu more", n - MOST_SOURCELESS);
	return n;
}

/*
 * Adds a note with title and put()'s list, unless the list is empty. The note begins with "; "
 * after other notes. Returns the number of items.
 */
static size_t add_list(FILE *f, const char *title, bool others, const struct symbols *symbols,
		       size_t (*put)(FILE *f, const struct symbols *symbols))
{
	char *text = NULL;
	size_t size, n = 0;
	FILE *list = open_memstream(&text, &size);

	if (!list)
		return 0;
	n = put(list, symbols);
	if (!fclose(list) && n)
		fprintf(f, "%s%s: %s", others ? "; " : "", title, text);
	free(text);
	return n != 0;
}

/* Minimum percentage of events of unknown processes that gets a note. */
#define UNKNOWN_TO_NOTE 1

/* Returns the total; with several events, that of the first. */
static u64 total_of(const struct report_stacks *stacks)
{
	return stacks->nevents ? stacks->event[0].total : stacks->total;
}

static const char *separator(const struct report *r, size_t n)
{
	return r->caveat || n ? "; " : "";
}

/* Minimum share, per thousand, that gets a note: trees do not show smaller branches. */
#define GENERATED_TO_NOTE 5

static bool is_generated_shown(const struct stacks *s, const struct report_stacks *stacks)
{
	return s->generated.n &&
	       (stacks->nevents > 1 || s->generated.value >= total_of(stacks) * (GENERATED_TO_NOTE / 1000.0));
}

/* Adds notes on missing and wrong names caused by events in the processes. */
static size_t put_process_notes(FILE *f, const struct stacks *s, const struct report *r)
{
	size_t n = 0;

	if (s->unknown * 100 >= r->stacks->total * UNKNOWN_TO_NOTE && s->unknown)
		fprintf(f, "%s%llu without names, from processes with unknown mappings%s",
			separator(r, n++), s->unknown,
			s->told.n || !s->processes ? "" : " (no records of mappings: perf_event_open)");
	if (s->mixed)
		fprintf(f, "%sup to %llu may have the names of code that has been mapped over",
			separator(r, n++), s->mixed);
	else if (s->told.unnoticed && !s->counts_doubts)
		fprintf(f, "%scode was mapped over other code %llu times: frames from that time may have the wrong "
			   "names", separator(r, n++), s->told.unnoticed);
	return n;
}

static size_t put_notes(FILE *f, struct stacks *s, const struct report *r)
{
	u32 share = s->user && !s->unwind && !s->hides_callers ? report_stacks__incomplete_percent(r->stacks, 0) : 0;
	size_t n = put_process_notes(f, s, r);

	if (r->stacks->total == UINT64_MAX)
		fprintf(f, "%ssums of 2^64 and more are shown as 2^64 - 1", separator(r, n++));
	if (share >= INCOMPLETE_TO_NOTE) {
		fprintf(f, "%s%u %% by [incomplete] stacks: their code has no frame pointers; use --call-graph dwarf",
			separator(r, n), share);
		n++;
	}
	if (s->unwind && s->user && !s->hides_callers && broken__is_much(&s->broken)) {
		fputs(separator(r, n++), f);
		broken__say(&s->broken, f);
	}
	if (s->unwind && s->unwinder.tables.counts.refused) {
		fprintf(f, "%sstacks may be [incomplete] in code of files whose unwind tables were refused: ",
			separator(r, n++));
		unwind_tables__say_refused(&s->unwinder.tables, f);
	}
	if (is_generated_shown(s, r->stacks)) {
		fputs(separator(r, n++), f);
		generated__say(&s->generated, s->names.symbols, total_of(r->stacks), f);
	}
	if (s->lines || s->inlined)
		n += add_list(f, "without debug information", r->caveat || n, s->names.symbols,
			      put_sourceless);
	return n + add_list(f, "names missing from", r->caveat || n, s->names.symbols, put_unread);
}

int stacks__add_notes(struct stacks *s, struct report *r)
{
	char *text = NULL;
	size_t size, n;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	if (r->caveat)
		fputs(r->caveat, f);
	n = put_notes(f, s, r);
	s->generated = (struct generated){};
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	free(s->note);
	s->note = text;
	if (n)
		r->caveat = text;
	return 0;
}
