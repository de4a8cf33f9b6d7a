// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/eh_frame.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfa.h"

/* DWARF, the column of the return address. */
#define RETURN_ADDRESS 16

/* Instructions of a whole section: each is a byte at least, those of CIEs may be run again. */
#define STEPS_PER_BYTE 4

/* "zPLRS" is all there is. */
#define MAX_AUGMENTATION 8

/*
 * --- rules -------------------------------------------------------------------------------------
 */

static u32 hash_rule(const struct unwind_rule *r)
{
	u64 half[2];

	memcpy(half, r, sizeof(half));
	return (half[0] * 0x9e3779b97f4a7c15ULL + half[1] * 0xc2b2ae3d27d4eb4fULL) >> 40;
}

u32 rule_set__number(struct rule_set *s, const struct unwind_rule *r)
{
	u32 i = hash_rule(r) % ARRAY_SIZE(s->bucket);

	while (s->bucket[i]) {
		if (!memcmp(&s->rule[s->bucket[i] - 1], r, sizeof(*r)))
			return s->bucket[i] - 1;
		i = (i + 1) % ARRAY_SIZE(s->bucket);
	}
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
	u32 n;                  /* its rows, from the one with that index on */
	size_t first;
};

struct row {
	u32 offset, rule;       /* from the start of the function */
};

struct reading {
	struct cursor section;
	u64 address;
	const struct elf_segment *segment;
	size_t nsegments;
	u64 steps;
	struct rule_set *rules;
	struct eh_frame_counts *counts;
	struct function *function;
	size_t nfunctions, functions_room;
	struct row *row;
	size_t nrows, rows_room;
	/* The CIE that was read last: most functions have the one of those before. */
	const u8 *common_at;
	struct cfa_common common;
	u8 encoding;
	bool has_length;        /* of more data in the functions */
	bool common_ok;
};

static bool make_room(void **array, size_t *room, size_t n, size_t size)
{
	size_t more = *room ? 2 * *room : 1024;
	void *larger;

	if (n < *room)
		return true;
	larger = reallocarray(*array, more, size);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}

bool eh_frame__take_pointer(struct cursor *c, u8 encoding, const u8 *begin, u64 at, u64 *pointer)
{
	u64 base = 0;

	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		base = at + (c->at - begin);
	else if ((encoding & 0x70) != DW_EH_PE_absptr)
		return false;
	if (encoding & DW_EH_PE_indirect)
		return false;
	switch (encoding & 0xf) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*pointer = cursor__take(c, 8);
		break;
	case DW_EH_PE_udata2:
		*pointer = cursor__take(c, 2);
		break;
	case DW_EH_PE_udata4:
		*pointer = cursor__take(c, 4);
		break;
	case DW_EH_PE_sdata2:
		*pointer = cursor__take_signed(c, 2);
		break;
	case DW_EH_PE_sdata4:
		*pointer = cursor__take_signed(c, 4);
		break;
	default:
		return false;
	}
	*pointer += base;
	return !c->failed;
}

/* Of the handler of exceptions, which is not wanted: wherever it points to. */
static bool skip_pointer(struct cursor *c, u8 encoding)
{
	static const u8 size[8] = { 8, 0, 2, 4, 8 };

	if (encoding == DW_EH_PE_omit)
		return true;
	if ((encoding & 0x70) == DW_EH_PE_aligned || !size[encoding & 7])
		return false;
	cursor__take(c, size[encoding & 7]);
	return !c->failed;
}

/* What the letters behind the 'z' say of the data; text ends with a zero. */
static bool read_augmentation(struct reading *r, const char *text, struct cursor data)
{
	for (; *text; text++) {
		switch (*text) {
		case 'L':
			cursor__take(&data, 1);
			break;
		case 'P':
			if (!skip_pointer(&data, cursor__take(&data, 1)))
				return false;
			break;
		case 'R':
			r->encoding = cursor__take(&data, 1);
			break;
		case 'S':
			r->common.is_signal_frame = true;
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

static bool read_common_body(struct reading *r, struct cursor c)
{
	u8 version = cursor__take(&c, 1);
	const char *text = (const char *)c.at;
	const u8 *end = memchr(c.at, 0, cursor__left(&c));

	if ((version != 1 && version != 3) || !end || end - c.at > MAX_AUGMENTATION)
		return false;
	c.at = end + 1;
	r->common.code_unit = cursor__take_uleb(&c);
	r->common.data_unit = cursor__take_sleb(&c);
	r->common.return_register = version == 1 ? cursor__take(&c, 1) : cursor__take_uleb(&c);
	r->has_length = *text == 'z';
	if (r->common.return_register != RETURN_ADDRESS || (*text && !r->has_length))
		return false;
	if (r->has_length &&
	    !read_augmentation(r, text + 1, cursor__cut(&c, cursor__take_uleb(&c))))
		return false;
	return !c.failed && !cfa__run_initial(&r->common, c, &r->steps);
}

/* An entry's length, and what follows as far as it goes. false: no more entries. */
static bool take_entry(struct cursor *c, struct cursor *entry)
{
	u64 length = cursor__take(c, 4);

	if (length == UINT32_MAX)
		length = cursor__take(c, 8);
	*entry = cursor__cut(c, length);
	return length && !c->failed && !entry->failed;
}

static bool read_common(struct reading *r, const u8 *at)
{
	struct cursor c = { .at = at, .end = r->section.end }, entry;

	if (at == r->common_at)
		return r->common_ok;
	r->common_at = at;
	r->common = (struct cfa_common){};
	r->encoding = DW_EH_PE_absptr;
	r->common_ok = take_entry(&c, &entry) && !cursor__take(&entry, 4) && !entry.failed &&
		       read_common_body(r, entry);
	return r->common_ok;
}

/* Is it in the code of the file, wholly? */
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

	if (!make_room((void **)&r->row, &r->rows_room, r->nrows, sizeof(*r->row)))
		return -ENOMEM;
	r->row[r->nrows++] = (struct row){ offset, rule_set__number(r->rules, rule) };
	return 0;
}

static int add_function(struct reading *r, u64 start, u32 size, struct cursor program)
{
	struct function f = { .start = start, .size = size, .first = r->nrows };
	int err;

	if (!make_room((void **)&r->function, &r->functions_room, r->nfunctions,
		       sizeof(*r->function)))
		return -ENOMEM;
	err = cfa__run(&r->common, program, size, &r->steps, add_row, r);
	if (err)
		return err;
	f.n = r->nrows - f.first;
	r->function[r->nfunctions++] = f;
	return 0;
}

/* An entry behind its length and the pointer to its CIE. */
static int read_function(struct reading *r, struct cursor c)
{
	u64 start, size;

	if (!eh_frame__take_pointer(&c, r->encoding, r->section.at, r->address, &start) ||
	    !eh_frame__take_pointer(&c, r->encoding & 0xf, c.at, 0, &size)) {
		r->counts->damaged++;
		return 0;
	}
	if (r->has_length)
		cursor__cut(&c, cursor__take_uleb(&c));
	if (c.failed) {
		r->counts->damaged++;
		return 0;
	}
	/* A linker that drops a function may leave its entry, at 0 or without a size. */
	if (!size || size > UINT32_MAX || !is_code(r, start, size)) {
		r->counts->outside++;
		return 0;
	}
	r->counts->functions++;
	return add_function(r, start, size, c);
}

static int read_entries(struct reading *r)
{
	struct cursor c = r->section, entry;
	const u8 *id_at;
	int err = 0;
	u64 id;

	while (!err && take_entry(&c, &entry)) {
		id_at = entry.at;
		id = cursor__take(&entry, 4);
		if (entry.failed || id > (u64)(id_at - r->section.at) ||
		    (id && !read_common(r, id_at - id)))
			r->counts->damaged++;
		else if (id)
			err = read_function(r, entry);
		if (!r->steps)
			err = -E2BIG;
	}
	return err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/* Rows of the whole file in the making: the last one is held back, since it may be replaced. */
struct building {
	struct eh_frame_rows *to;
	struct eh_frame_counts *counts;
	u32 *row;
	u32 page;               /* up to this one the index is filled in */
	u64 at;                 /* of the one held back */
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

/* What of a function is at from and behind it, where the one before ends. */
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

/* By start; of those with the same one, the first in the section. */
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
	/* With the byte behind the last one, of which nothing is known. */
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
		   struct cursor section, u64 address, const struct elf_segment *segment,
		   size_t nsegments)
{
	struct reading r = {
		.section = section,
		.address = address,
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
	err = read_entries(&r);
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
