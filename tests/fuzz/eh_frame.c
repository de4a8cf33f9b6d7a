// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer's entry: whatever .eh_frame holds, of a file with two pieces of code, it is read, and the
 * rule at any byte can be looked up; its functions are found, as in words of 4 and of 8 bytes. Two
 * bytes in front say where it is.
 */
#include <stdlib.h>
#include <string.h>

#include "types/extents.h"
#include "unwind/cfi.h"

static const struct elf_segment segments[] = {
	{ .address = 0x1000, .size = 0x8000, .executable = true },
	{ .address = 0x9000, .size = 0x1000 },
	{ .address = 0x20000, .size = 0x4000, .executable = true },
};

static void look_up(const struct cfi_table *t)
{
	u64 at, end = t->rows.start + (u64)t->rows.pages * UNWIND_PAGE;
	const struct unwind_rule *r;

	for (at = t->rows.start; t->rows.nrows && at < end; at++) {
		r = cfi_table__find(t, at);
		if (!r || r->cfa > UNWIND_SIGNAL || r->fp > UNWIND_FP_LOST || r->base_at > UNWIND_BASE_SAME)
			abort();
	}
}

static void find_extents(const struct cursor *c, u64 address, u32 word_bytes)
{
	struct code_extents e;
	size_t i;

	if (code_extents__parse(&e, c->at, cursor__left(c), address, word_bytes))
		abort();
	for (i = 0; i < e.n; i++)
		if (!e.extent[i].size || (i && e.extent[i].start < e.extent[i - 1].start))
			abort();
	code_extents__free(&e);
}

static void make_table(const struct unwind_machine *machine, struct cursor c, u64 address, bool tracks_base)
{
	static struct rule_set rules;
	struct cfi_table t = { .rule = rules.rule };

	rule_set__init(&rules);
	rules.tracks_base = tracks_base;
	eh_frame__read(&t.rows, &rules, &t.counts, machine, c, address, segments, 3);
	t.nrules = rules.n;
	look_up(&t);
	eh_frame_rows__free(&t.rows);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct cursor c = cursor__of(data, size);
	u64 address = cursor__take(&c, 2);

	make_table(&unwind_x86, c, address, false);
	make_table(&unwind_x86, c, address, true);
	make_table(&unwind_arm64, c, address, false);
	find_extents(&c, address, 4);
	find_extents(&c, address, 8);
	return 0;
}
