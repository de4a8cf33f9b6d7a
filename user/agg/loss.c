// SPDX-License-Identifier: BSD-2-Clause
#include "agg/loss.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

static const struct {
	const char *name, *sentence;
	enum loss_kind kind;
	bool hidden;
} reasons[LOSS_REASONS] = {
	[LOSS_MAP_FULL] = {"map_full", "no room for new keys"},
	[LOSS_NO_MEMORY] = {"no_memory", "the kernel had no memory for a new key at that moment"},
	[LOSS_MISSED] = {"missed", "no program was run for them", .hidden = true},
	[LOSS_NO_STATE] = {"no_state", "the task's earlier state is unknown: the value may be wrong",
			   LOSS_INEXACT, .hidden = true},
	[LOSS_UNMATCHED] = {"unmatched", "ended, but the start was not seen"},
	[LOSS_READ_FAULT] = {"read_fault", "memory could not be read"},
	[LOSS_NEGATIVE] = {"negative", "negative values, not in histograms or sums of stacks"},
	[LOSS_RECURSION] = {"recursion", "the program was already running on that CPU"},
	[LOSS_STACKS_FULL] = {"stacks_full", "without a stack: no room for a new one", LOSS_INEXACT},
	[LOSS_TRUNCATED] = {"truncated", "with a truncated stack; raise --max-depth", LOSS_INEXACT},
	[LOSS_NESTING] = {"nesting", "without a stack: too many at once on one CPU", LOSS_INEXACT},
	[LOSS_RING_FULL] = {"ring_full", "more events than could be printed; narrow the scope"},
	[LOSS_NO_BUFFER] = {"no_buffer", "too many nested interrupts on one CPU"},
	[LOSS_UNWOUND] = {"unwound", "calls ended without a return: exception, longjmp() or exit"},
	[LOSS_NO_RESULT] = {"no_result", "the result comes from another function; --latency may show it"},
	[LOSS_BAD_ARITHMETIC] = {"bad_arithmetic",
				 "division by zero, shift by 64 or more, or 2^63 or more in a signed sum"},
	[LOSS_TEXT_TOO_LONG] = {"text_too_long", "a string is too long to be examined"},
	[LOSS_NO_STORAGE] = {"no_storage", "the kernel provided no task storage"},
	[LOSS_STACK_MEMORY] = {"stack_memory", "without a stack: the kernel had no memory for it",
			       LOSS_INEXACT},
	[LOSS_NO_END] = {"no_end", "another event with the same key began before the end was seen"},
	[LOSS_TOO_DEEP] = {"too_deep", "calls nested too deeply to be tracked"},
	[LOSS_INCOMPLETE] = {"incomplete", "a part could not be read or kept: a name, a string, the requester",
			     LOSS_INEXACT},
};

enum loss_kind loss_kind(enum loss_reason reason)
{
	return reasons[reason].kind;
}

const char *loss_kind_name(enum loss_kind kind)
{
	return kind == LOSS_LOST ? "lost" : "inexact";
}

bool loss_is_hidden(enum loss_reason reason)
{
	return reasons[reason].hidden;
}

const char *loss_name(enum loss_reason reason)
{
	return reasons[reason].name;
}

const char *loss_sentence(enum loss_reason reason)
{
	return reasons[reason].sentence;
}

bool loss_ends_with_more_keys(enum loss_reason reason)
{
	return reason == LOSS_MAP_FULL || reason == LOSS_STACKS_FULL;
}

static u64 recursion_misses(const struct bpf_object *obj)
{
	struct bpf_program *prog;
	u64 sum = 0;

	bpf_object__for_each_program(prog, obj) {
		struct bpf_prog_info info = {};
		u32 len = sizeof(info);
		int fd = bpf_program__fd(prog);

		/* An older kernel fills in less of info; the other members remain 0. */
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			sum += info.recursion_misses;
	}
	return sum;
}

int loss__read(struct loss_counters *sum, int map_fd, const struct bpf_object *obj)
{
	int ncpus = libbpf_num_possible_cpus(), cpu, err;
	struct loss_counters *per_cpu, total = {};
	u32 zero = 0, i;

	if (ncpus < 0)
		return ncpus;
	per_cpu = calloc(ncpus, sizeof(*per_cpu));
	if (!per_cpu)
		return -ENOMEM;
	err = bpf_map_lookup_elem(map_fd, &zero, per_cpu);
	if (err)
		goto out;
	for (cpu = 0; cpu < ncpus; cpu++) {
		total.filtered += per_cpu[cpu].filtered;
		total.unaccounted += per_cpu[cpu].unaccounted;
		total.corrected += per_cpu[cpu].corrected;
		total.begun_before += per_cpu[cpu].begun_before;
		total.answered += per_cpu[cpu].answered;
		total.summed += per_cpu[cpu].summed;
		for (i = 0; i < LOSS_REASONS; i++)
			total.lost[i] += per_cpu[cpu].lost[i];
	}
	total.lost[LOSS_RECURSION] = recursion_misses(obj);
	*sum = total;
out:
	free(per_cpu);
	return err;
}

struct loss_counters loss__difference(const struct loss_counters *later,
				      const struct loss_counters *earlier)
{
	struct loss_counters d = {
		.filtered = later->filtered - earlier->filtered,
		.unaccounted = later->unaccounted - earlier->unaccounted,
		.corrected = later->corrected - earlier->corrected,
		.begun_before = later->begun_before - earlier->begun_before,
		.answered = later->answered - earlier->answered,
		.summed = later->summed - earlier->summed,
	};
	u32 i;

	for (i = 0; i < LOSS_REASONS; i++)
		d.lost[i] = later->lost[i] - earlier->lost[i];
	return d;
}

int loss__since(struct loss_counters *since, struct loss_counters *last, int map_fd,
		const struct bpf_object *obj)
{
	struct loss_counters now;
	int err = loss__read(&now, map_fd, obj);

	if (err)
		return err;
	*since = loss__difference(&now, last);
	*last = now;
	return 0;
}

u64 loss__of(const struct loss_counters *c, enum loss_kind kind)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < LOSS_REASONS; i++)
		if (reasons[i].kind == kind)
			sum += c->lost[i];
	return sum;
}

bool loss__is_none(const struct loss_counters *c)
{
	u32 i;

	for (i = 0; i < LOSS_REASONS; i++)
		if (c->lost[i])
			return false;
	return true;
}
