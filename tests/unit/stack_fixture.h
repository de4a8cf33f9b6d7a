/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports with stacks, made by hand. */
#ifndef TALLY_TESTS_STACK_FIXTURE_H
#define TALLY_TESTS_STACK_FIXTURE_H

#include "unit.h"

#include "report/tree.h"

/* Room for as many frames, keys and stacks as a test wants to add. */
struct stacks_fixture {
	struct report report;
	struct report_frame *frame;
	size_t most;
};

static inline void fixture__make(struct stacks_fixture *f, size_t most)
{
	*f = (struct stacks_fixture){
		.report = { .tool = "profile", .command = "profile -F 99", .value = "CPU time",
			    .source = "a timer", .duration_ns = 1500000000, .has_events = true },
		.frame = calloc(most, sizeof(*f->frame)), .most = most,
	};
	f->report.stacks = calloc(1, sizeof(*f->report.stacks));
	assert_non_null(f->frame);
	assert_non_null(f->report.stacks);
	f->report.stacks->unit = "samples";
	f->report.stacks->frame = f->frame;
	f->report.stacks->key = calloc(most, sizeof(*f->report.stacks->key));
	f->report.stacks->stack = calloc(most, sizeof(*f->report.stacks->stack));
	assert_non_null(f->report.stacks->key);
	assert_non_null(f->report.stacks->stack);
}

static inline void fixture__free(struct stacks_fixture *f)
{
	report__free(&f->report);
	free(f->frame);
}

static inline u32 add_frame(struct stacks_fixture *f, const char *name, const char *module,
			    u64 offset, enum frame_kind kind)
{
	assert_true(f->report.stacks->nframes < f->most);
	f->frame[f->report.stacks->nframes] = (struct report_frame){
		.name = name, .module = module, .offset = offset, .kind = kind,
	};
	return f->report.stacks->nframes++;
}

/* comm NULL: a key without parts. */
static inline u32 add_key(struct stacks_fixture *f, const char *comm)
{
	struct report_stacks *s = f->report.stacks;

	assert_true(s->nkeys < f->most);
	if (comm)
		assert_int_equal(report_row__add_text(&s->key[s->nkeys], "comm", comm), 0);
	return s->nkeys++;
}

static inline void add_stack(struct stacks_fixture *f, u32 key, const u32 *frame, u32 n, u64 value)
{
	struct report_stacks *s = f->report.stacks;
	struct report_stack *stack = &s->stack[s->n++];
	u32 i;

	assert_true(s->n <= f->most);
	*stack = (struct report_stack){
		.key = key, .nframes = n, .frame = calloc(n ?: 1, sizeof(*stack->frame)),
		.place = calloc(n ?: 1, sizeof(*stack->place)), .value = value,
	};
	assert_non_null(stack->frame);
	assert_non_null(stack->place);
	for (i = 0; i < n; i++) {
		stack->frame[i] = frame[i];
		stack->place[i] = (struct report_place){ 0x1000 + frame[i], frame[i] };
	}
	s->total += value;
	f->report.events += value;
}

#define STACK(f, key, value, ...) \
	add_stack(f, key, (const u32[]){ __VA_ARGS__ }, ARRAY_SIZE(((const u32[]){ __VA_ARGS__ })), value)

/* 5 of 8 samples are incomplete, and 1 of 4 in the first run of a comparison. */
static inline void fixture__make_broken(struct stacks_fixture *f)
{
	u32 key, note, a;

	fixture__make(f, 4);
	key = add_key(f, NULL);
	note = add_frame(f, "[incomplete]", NULL, 0, FRAME_NOTE);
	a = add_frame(f, "main", "m", 0, FRAME_USER);
	STACK(f, key, 3, a);
	STACK(f, key, 5, note, a);
	f->report.stacks->stack[0].before = 3;
	f->report.stacks->stack[1].before = 1;
	f->report.stacks->before = 4;
}

#endif /* TALLY_TESTS_STACK_FIXTURE_H */
