// SPDX-License-Identifier: BSD-2-Clause
#include "triage/nearest.h"

/* Adds it in its place, and drops what is then one too many. */
static size_t insert(struct triage_near near[TRIAGE_NEAREST], size_t n, struct triage_near added)
{
	size_t i;

	for (i = n; i && near[i - 1].share < added.share; i--)
		if (i < TRIAGE_NEAREST)
			near[i] = near[i - 1];
	if (i == TRIAGE_NEAREST)
		return n;
	near[i] = added;
	return n < TRIAGE_NEAREST ? n + 1 : n;
}

size_t triage_nearest(const struct triage_finding *finding, size_t n, struct triage_near near[TRIAGE_NEAREST])
{
	struct triage_near added;
	size_t i, found = 0;

	for (i = 0; i < n; i++) {
		const struct triage_finding *f = &finding[i];

		if (f->level != TRIAGE_FINE || (f->rule->per == TRIAGE_LEVEL && !f->rule->rises) ||
		    !f->rule->next || !triage_finding__names_largest(f))
			continue;
		added = (struct triage_near){ .finding = f,
					      .limit = f->rule->notice > 0 ? f->rule->notice : f->problem };
		added.share = added.limit > 0 ? triage_finding__judged(f) / added.limit : 0;
		/* From 1 on, the rule has a reason to say nothing: what it is beside. */
		if (added.share >= TRIAGE_NEAREST_SHARE && added.share < 1)
			found = insert(near, found, added);
	}
	return found;
}
