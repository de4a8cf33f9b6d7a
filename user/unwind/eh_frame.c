// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/eh_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unwind/cfa.h"
#include "types/cie.h"

#define WORD_BYTES 8

/*
 * Limit on instructions per byte of the section. Each instruction takes at least one byte, but the instructions of
 * CIEs run again for each function.
 */
#define STEPS_PER_BYTE 4

/*
 * --- rules -------------------------------------------------------------------------------------
 */

static u32 hash_rule(const struct unwind_rule *r)
{
	u64 half[2];

	memcpy(half, r, sizeof(half));
	return (half[0] * 0x9e3779b97f4a7c15ULL + half[1] * 0xc2b2ae3d27d4eb4fULL) >> 40;
}

/* Returns the rule's bucket, or the empty bucket where it belongs. */
static u32 find_bucket(const struct rule_set *s, const struct unwind_rule *r)
{
	u32 i = hash_rule(r) % ARRAY_SIZE(s->bucket);

	while (s->bucket[i] && memcmp(&s->rule[s->bucket[i] - 1], r, sizeof(*r)))
		i = (i + 1) % ARRAY_SIZE(s->bucket);
	return i;
}

bool rule_set__has(const struct rule_set *s, const struct unwind_rule *r)
{
	return s->bucket[find_bucket(s, r)];
}

u32 rule_set__number(struct rule_set *s, const struct unwind_rule *r)
{
	u32 i = find_bucket(s, r);

	if (s->bucket[i])
		return s->bucket[i] - 1;
	if (s->n == UNWIND_RULES)
		return RULE_UNSUPPORTED;
	s->rule[s->n] = *r;
	s->bucket[i] = ++s->n;
	return s->n - 1;
}

void rule_set__init(struct rule_set *s)
{
	static const struct unwind_rule fixed[RULES_FIXED] = {
		[RULE_UNKNOWN] = { .cfa = UNWIND_UNKNOWN },
		[RULE_UNSUPPORTED] = { .cfa = UNWIND_UNSUPPORTED },
	};
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		rule_set__number(s, &fixed[i]);
}

/*
 * --- the section -------------------------------------------------------------------------------
 */

struct function {
	u64 start;
	u32 size;
	u32 n;                  /* number of its rows, which start at index `first` */
	size_t first;
};

struct row {
	u32 offset, rule;       /* from the start of the function */
};

struct reading {
	struct eh_walk walk;
	const struct unwind_machine *machine;
	const struct elf_segment *segment;
	size_t nsegments;
	u64 steps;
	struct rule_set *rules;
	struct eh_frame_counts *counts;
	struct function *function;
	size_t nfunctions;
	struct row *row;
	size_t nrows;
	const u8 *common_at;    /* the CIE that `common` holds */
	struct cfa_common common;
	bool common_ok;
};

/* Prepares to run the programs of the walk's CIE. */
static bool find_common(struct reading *r)
{
	const struct cie *cie = &r->walk.cie;

	if (r->common_at == r->walk.cie_at)
		return r->common_ok;
	r->common_at = r->walk.cie_at;
	r->common = (struct cfa_common){
		.machine = r->machine,
		.code_unit = cie->code_unit,
		.data_unit = cie->data_unit,
		.is_signal_frame = cie->is_signal_frame,
		.has_other_ra = cie->return_register != r->machine->ra,
		.tracks_base = r->rules->tracks_base,
		.needs_base = &r->rules->needs_base,
	};
	r->common_ok = !cfa__run_initial(&r->common, cie->program, &r->steps);
	return r->common_ok;
}

/* True if the range is completely within the file's code. */
static bool is_code(const struct reading *r, u64 start, u64 size)
{
	const struct elf_segment *s;

	for (s = r->segment; s < r->segment + r->nsegments; s++)
		if (s->executable && start >= s->address && start - s->address < s->size &&
		    size <= s->size - (start - s->address))
			return true;
	return false;
}

static int add_row(void *arg, u32 offset, const struct unwind_rule *rule)
{
	struct reading *r = arg;

	if (ARRAY_ROOM(r->row, r->nrows))
		return -ENOMEM;
	r->row[r->nrows++] = (struct row){ offset, rule_set__number(r->rules, rule) };
	return 0;
}

static int add_function(struct reading *r, u64 start, u32 size, struct cursor program)
{
	struct function f = { .start = start, .size = size, .first = r->nrows };
	int err;

	if (ARRAY_ROOM(r->function, r->nfunctions))
		return -ENOMEM;
	err = cfa__run(&r->common, program, size, &r->steps, add_row, r);
	if (err)
		return err;
	f.n = r->nrows - f.first;
	r->function[r->nfunctions++] = f;
	return 0;
}

/* Takes the start and size of an FDE, and moves c past its augmentation data. */
static bool take_extent(const struct eh_walk *w, struct cursor *c, u64 *start, u64 *size)
{
	if (!eh_take_pointer(c, w->cie.encoding, &w->section, start))
		return false;
	*size = cursor__take(c, eh_pointer_bytes(w->cie.encoding, w->section.word_bytes));
	if (w->cie.has_data)
		cursor__cut(c, cursor__take_uleb(c));
	return !c->failed;
}

static int read_function(struct reading *r, struct cursor c)
{
	u64 start, size;

	if (!take_extent(&r->walk, &c, &start, &size)) {
		r->counts->damaged++;
		return 0;
	}
	/* Linkers may keep the entry of a removed function, at address 0 or with size 0. */
	if (!size || size > UINT32_MAX || !is_code(r, start, size)) {
		r->counts->outside++;
		return 0;
	}
	r->counts->functions++;
	return add_function(r, start, size, c);
}

static int read_functions(struct reading *r)
{
	struct cursor fde;
	int err = 0, found;

	while (!err && (found = eh_walk__next(&r->walk, &fde))) {
		if (found < 0 || !find_common(r))
			r->counts->damaged++;
		else
			err = read_function(r, fde);
		if (!r->steps)
			err = -E2BIG;
	}
	return err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/* The file's rows under construction. The last row is held back, since it may still be replaced. */
struct building {
	struct eh_frame_rows *to;
	struct eh_frame_counts *counts;
	u32 *row;
	u32 page;               /* the index is filled up to this page */
	u64 at;                 /* address of the row that is held back */
	u32 rule, told_rule;
};

static void let_go(struct building *b)
{
	struct eh_frame_rows *to = b->to;
	u32 page = (b->at - to->start) / UNWIND_PAGE;

	if (to->nrows && b->rule == b->told_rule)
		return;
	while (b->page <= page)
		to->word[b->page++] = to->nrows;
	b->row[to->nrows++] = b->rule << UNWIND_PAGE_BITS | (b->at - to->start) % UNWIND_PAGE;
	b->told_rule = b->rule;
	b->counts->unsupported += b->rule == RULE_UNSUPPORTED;
}

static void put(struct building *b, u64 at, u32 rule)
{
	if (at != b->at)
		let_go(b);
	b->at = at;
	b->rule = rule;
}

/* Adds the part of a function that starts at address `from`, where the previous function ends. */
static void put_function(struct building *b, const struct reading *r, const struct function *f,
			 u64 from)
{
	u32 skip = from - f->start, i;
	const struct row *row;

	for (i = 0; i < f->n; i++) {
		row = &r->row[f->first + i];
		put(b, row->offset > skip ? f->start + row->offset : from, row->rule);
	}
	put(b, f->start + f->size, RULE_UNKNOWN);
}

static void put_functions(struct building *b, const struct reading *r)
{
	const struct function *f;
	u64 end = b->to->start;

	for (f = r->function; f < r->function + r->nfunctions; f++) {
		if (f->start < end) {
			b->counts->overlapping++;
			if (f->start + f->size <= end)
				continue;
		}
		put_function(b, r, f, f->start < end ? end : f->start);
		end = f->start + f->size;
	}
	let_go(b);
	while (b->page <= b->to->pages)
		b->to->word[b->page++] = b->to->nrows;
}

/* Sorts by start. Functions with the same start keep their order in the section. */
static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static u64 last_byte(const struct reading *r)
{
	u64 last = 0, end;
	size_t i;

	for (i = 0; i < r->nfunctions; i++) {
		end = r->function[i].start + r->function[i].size;
		last = end > last ? end : last;
	}
	return last;
}

static int build(struct eh_frame_rows *rows, const struct reading *r)
{
	struct building b = { .to = rows, .counts = r->counts, .rule = RULE_UNKNOWN };
	size_t most = r->nrows + r->nfunctions + 2;
	u64 pages;

	if (!r->nfunctions)
		return 0;
	qsort(r->function, r->nfunctions, sizeof(*r->function), by_start);
	rows->start = b.at = r->function->start / UNWIND_PAGE * UNWIND_PAGE;
	/* Include the byte after the last function, whose rule is unknown. */
	pages = (last_byte(r) - rows->start) / UNWIND_PAGE + 1;
	if (pages > EH_FRAME_MAX_PAGES || most > UINT32_MAX - pages)
		return -E2BIG;
	rows->pages = pages;
	rows->word = calloc(pages + 1 + most, sizeof(*rows->word));
	if (!rows->word)
		return -ENOMEM;
	b.row = rows->word + pages + 1;
	put_functions(&b, r);
	return 0;
}

int eh_frame__read(struct eh_frame_rows *rows, struct rule_set *rules, struct eh_frame_counts *counts,
		   const struct unwind_machine *machine, struct cursor section, u64 address,
		   const struct elf_segment *segment, size_t nsegments)
{
	struct reading r = {
		.machine = machine,
		.segment = segment,
		.nsegments = nsegments,
		.steps = STEPS_PER_BYTE * cursor__left(&section) + 1024,
		.rules = rules,
		.counts = counts,
	};
	int err;

	memset(rows, 0, sizeof(*rows));
	if (cursor__left(&section) > EH_FRAME_MAX_SIZE)
		return -E2BIG;
	eh_walk__init(&r.walk, (struct eh_bytes){ section.at, section.end, address, WORD_BYTES });
	err = read_functions(&r);
	if (!err)
		err = build(rows, &r);
	free(r.function);
	free(r.row);
	return err;
}

void eh_frame_rows__free(struct eh_frame_rows *rows)
{
	free(rows->word);
	memset(rows, 0, sizeof(*rows));
}
