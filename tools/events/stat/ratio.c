// SPDX-License-Identifier: BSD-2-Clause
#include "events/stat/ratio.h"

#include <string.h>

/* numerator / denominator * factor; the first row with both counts is shown. */
static const struct {
	const char *numerator, *denominator, *of;
	double factor;
} known[] = {
	{ "instructions", "cycles", "insn per cycle", 1 },
	{ "instructions", "cpu-cycles", "insn per cycle", 1 },
	{ "stalled-cycles-frontend", "cycles", "% of cycles", 100 },
	{ "stalled-cycles-backend", "cycles", "% of cycles", 100 },
	{ "branch-misses", "branches", "% of branches", 100 },
	{ "branch-misses", "branch-instructions", "% of branches", 100 },
	{ "cache-misses", "cache-references", "% of cache-references", 100 },
	{ "L1-dcache-load-misses", "L1-dcache-loads", "% of L1-dcache-loads", 100 },
	{ "L1-icache-load-misses", "L1-icache-loads", "% of L1-icache-loads", 100 },
	{ "LLC-load-misses", "LLC-loads", "% of LLC-loads", 100 },
	{ "LLC-store-misses", "LLC-stores", "% of LLC-stores", 100 },
	{ "dTLB-load-misses", "dTLB-loads", "% of dTLB-loads", 100 },
	{ "iTLB-load-misses", "iTLB-loads", "% of iTLB-loads", 100 },
	{ "cycles", "task-clock", "GHz", 1 },
	{ "cpu-cycles", "task-clock", "GHz", 1 },
};

static size_t base_length(const char *name)
{
	return strcspn(name, ":");
}

static bool is_named(const char *name, const char *base)
{
	return base_length(name) == strlen(base) && !strncmp(name, base, strlen(base));
}

/* The count of this name with the modifiers of another count. Modifiers of clocks do not matter. */
static const struct ratio_count *find(const struct ratio_count *counts, size_t n, const char *base,
				      const char *like)
{
	const char *modifiers = like + base_length(like);
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ratio_count *c = &counts[i];

		if (c->counted && c->value > 0 && is_named(c->name, base) &&
		    (c->is_time || !strcmp(c->name + base_length(c->name), modifiers)))
			return c;
	}
	return NULL;
}

bool ratio__derive(struct ratio *ratio, const struct ratio_count *counts, size_t n, size_t i,
		   u64 elapsed_ns)
{
	const struct ratio_count *c = &counts[i], *other;
	size_t k;

	if (!c->counted || !elapsed_ns)
		return false;
	if (c->is_time) {
		*ratio = (struct ratio){ c->value / elapsed_ns, "CPUs utilised" };
		return true;
	}
	for (k = 0; k < ARRAY_SIZE(known); k++) {
		if (!is_named(c->name, known[k].numerator))
			continue;
		other = find(counts, n, known[k].denominator, c->name);
		if (other) {
			*ratio = (struct ratio){ c->value / other->value * known[k].factor,
						 known[k].of };
			return true;
		}
	}
	other = find(counts, n, "task-clock", "");
	if (other)
		*ratio = (struct ratio){ c->value / other->value * 1e9, "/s of task-clock" };
	else
		*ratio = (struct ratio){ c->value / elapsed_ns * 1e9, "/s" };
	return true;
}
