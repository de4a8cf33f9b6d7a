// SPDX-License-Identifier: BSD-2-Clause
#include "event/hardware_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

#define ALIASES 5

static const struct {
	const char *name, *alias;
	u32 config;
	const char *description;
} counters[] = {
	{ "cycles", "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES,
	  "CPU cycles, at the current frequency" },
	{ "instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, "instructions retired" },
	{ "cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES,
	  "last-level cache accesses, mostly" },
	{ "cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES,
	  "last-level cache misses, mostly" },
	{ "branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  "branch instructions retired" },
	{ "branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, "mispredicted branches" },
	{ "bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, "bus cycles" },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  "cycles in which no instructions were ready to be issued" },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  "cycles in which instructions waited for units or memory" },
	{ "ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES,
	  "cycles of a clock with a constant frequency" },
};

/* A part of a cache event's name; its array index is its value in the config. */
struct part {
	const char *alias[ALIASES];     /* the first one is displayed */
	u32 number;
	u32 operations;                 /* caches only: bit mask of the valid operations */
	const char *description;
};

#define READ (1 << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE (1 << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1 << PERF_COUNT_HW_CACHE_OP_PREFETCH)

static const struct part caches[] = {
	{ { "L1-dcache", "L1-data", "L1-d", "L1d" }, PERF_COUNT_HW_CACHE_L1D,
	  READ | WRITE | PREFETCH, "L1 data cache" },
	{ { "L1-icache", "L1-instruction", "L1-i", "L1i" }, PERF_COUNT_HW_CACHE_L1I,
	  READ | PREFETCH, "L1 instruction cache" },
	{ { "LLC", "L2" }, PERF_COUNT_HW_CACHE_LL, READ | WRITE | PREFETCH, "last-level cache" },
	{ { "dTLB", "d-TLB", "Data-TLB" }, PERF_COUNT_HW_CACHE_DTLB, READ | WRITE | PREFETCH,
	  "data TLB" },
	{ { "iTLB", "i-TLB", "Instruction-TLB" }, PERF_COUNT_HW_CACHE_ITLB, READ,
	  "instruction TLB" },
	{ { "branch", "branches", "bpu", "btb", "bpc" }, PERF_COUNT_HW_CACHE_BPU, READ,
	  "branch predictor" },
	{ { "node" }, PERF_COUNT_HW_CACHE_NODE, READ | WRITE | PREFETCH,
	  "memory of the NUMA node" },
};

static const struct part operations[] = {
	{ { "loads", "load", "read" }, PERF_COUNT_HW_CACHE_OP_READ, READ, "reads" },
	{ { "stores", "store", "write" }, PERF_COUNT_HW_CACHE_OP_WRITE, WRITE, "writes" },
	{ { "prefetches", "prefetch", "speculative-read", "speculative-load" },
	  PERF_COUNT_HW_CACHE_OP_PREFETCH, PREFETCH, "prefetches" },
};

static const struct part results[] = {
	{ { "refs", "Reference", "ops", "access" }, PERF_COUNT_HW_CACHE_RESULT_ACCESS, 0, "" },
	{ { "misses", "miss" }, PERF_COUNT_HW_CACHE_RESULT_MISS, 0, " that missed" },
};

static bool is(const char *name, const struct event_word *w, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, w->text, len);
}

static size_t find_counter(const struct event_word *w, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (is(counters[i].name, w, len) || is(counters[i].alias, w, len))
			break;
	return i;
}

/*
 * Finds the longest part name at bytes *at..len of the word, up to a '-' or the end. Moves *at past
 * it.
 */
static const struct part *take_part(const struct part *parts, size_t n,
				    const struct event_word *w, size_t *at, size_t len)
{
	const struct part *found = NULL;
	size_t i, k, size, best = 0;
	const char *name;

	for (i = 0; i < n; i++) {
		for (k = 0; k < ALIASES && parts[i].alias[k]; k++) {
			name = parts[i].alias[k];
			size = strlen(name);
			if (size <= best || size > len - *at ||
			    strncasecmp(name, w->text + *at, size) ||
			    (*at + size < len && w->text[*at + size] != '-'))
				continue;
			best = size;
			found = &parts[i];
		}
	}
	*at += best;
	return found;
}

static const struct part *take_cache(const struct event_word *w, size_t *at, size_t len)
{
	return take_part(caches, ARRAY_SIZE(caches), w, at, len);
}

bool hardware_name__is(const struct event_word *w, size_t len)
{
	size_t at = 0;

	return find_counter(w, len) < ARRAY_SIZE(counters) || take_cache(w, &at, len);
}

/* Parses "-PART" at bytes *at..len: an operation or a result, each at most once. */
static int take_suffix(const struct part **operation, const struct part **result,
		       const struct event_word *w, size_t *at, size_t len, struct complaint *c)
{
	static const char *const words[] = {
		"loads", "stores", "prefetches", "refs", "misses", "load", "store", "prefetch",
	};
	size_t start = *at + 1, end = start;
	const struct part *op = take_part(operations, ARRAY_SIZE(operations), w, &end, len), *r;
	const char *near;
	char *text;
	int err;

	r = op ? NULL : take_part(results, ARRAY_SIZE(results), w, &end, len);
	*at = end;
	if ((op && !*operation) || (r && !*result)) {
		*operation = op ?: *operation;
		*result = r ?: *result;
		return 0;
	}
	if (op || r)
		return complain(c, -EINVAL, w->at + start, end - start,
				"a cache event takes only one %s", op ? "operation" : "result");
	err = complain(c, -EINVAL, w->at + start, len - start,
		       "expected an operation (loads, stores, prefetches) or a result (refs, misses)");
	text = event_word__copy(w, start, len);
	near = text ? nearest(text, words, ARRAY_SIZE(words)) : NULL;
	free(text);
	return near ? complain_hint(c, err, "did you mean '%s'?", near) : err;
}

static int parse_cache(struct perf_event_attr *attr, const struct event_word *w, size_t len,
		       struct complaint *c)
{
	const struct part *operation = NULL, *result = NULL, *cache;
	size_t at = 0;
	int err;

	cache = take_cache(w, &at, len);
	while (at < len) {
		err = take_suffix(&operation, &result, w, &at, len, c);
		if (err)
			return err;
	}
	operation = operation ?: &operations[0];
	result = result ?: &results[0];
	if (!(cache->operations & operation->operations))
		return complain(c, -EINVAL, w->at, len, "the %s has no %s", cache->description,
				operation->alias[0]);
	attr->type = PERF_TYPE_HW_CACHE;
	attr->config = cache->number | operation->number << 8 | result->number << 16;
	return 0;
}

int hardware_name__parse(struct perf_event_attr *attr, const struct event_word *w, size_t len, struct complaint *c)
{
	size_t i = find_counter(w, len);

	if (i == ARRAY_SIZE(counters))
		return parse_cache(attr, w, len, c);
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = counters[i].config;
	return 0;
}

bool event_hardware_attr(const char *name, struct perf_event_attr *attr)
{
	struct event_word w = { name, 0, strlen(name) };
	struct perf_event_attr found = *attr;
	struct complaint ignored;

	if (!hardware_name__is(&w, w.len))
		return false;
	if (hardware_name__parse(&found, &w, w.len, &ignored))
		return false;
	*attr = found;
	return true;
}

/* Lists all events of a cache. */
static int list_cache(const struct part *cache, event_visit visit, void *arg)
{
	const struct part *op;
	char name[64], description[128];
	size_t i, k;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		op = &operations[i];
		if (!(cache->operations & op->operations))
			continue;
		for (k = 0; k < ARRAY_SIZE(results) && !err; k++) {
			/* perf's spelling: L1-dcache-loads, L1-dcache-load-misses */
			snprintf(name, sizeof(name), "%s-%s%s", cache->alias[0], op->alias[!!k],
				 k ? "-misses" : "");
			snprintf(description, sizeof(description), "%s: %s%s",
				 cache->description, op->description, results[k].description);
			err = visit(arg, name, description);
		}
	}
	return err;
}

int hardware_names__list(event_visit visit, void *arg)
{
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(counters) && !err; i++) {
		err = visit(arg, counters[i].name, counters[i].description);
		if (!err && counters[i].alias)
			err = visit(arg, counters[i].alias, counters[i].description);
	}
	for (i = 0; i < ARRAY_SIZE(caches) && !err; i++)
		err = list_cache(&caches[i], visit, arg);
	return err;
}
