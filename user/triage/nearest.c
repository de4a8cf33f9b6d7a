// SPDX-License-Identifier: BSD-2-Clause
#include "triage/nearest.h"

/* Inserts added at its place, and drops the last entry if there are too many. */
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

/*
 * Sets near to the largest figure or, if the rule has fired, to the largest one below the limit. True if that one is
 * near.
 */
static bool take(const struct triage_finding *f, struct triage_near *near)
{
	const struct triage_rule *r = f->rule;

	*near = (struct triage_near){ .finding = *f, .limit = r->notice > 0 ? r->notice : f->problem };
	if ((r->per == TRIAGE_LEVEL && !r->rises) || !r->next || near->limit <= 0)
		return false;
	if (f->level != TRIAGE_FINE && !f->below)
		return false;
	if (f->level != TRIAGE_FINE) {
		near->finding.key[0] = f->below;
		near->finding.value = near->finding.key_value[0] = f->below_value;
		near->finding.nkeys = 1;
	}
	near->share = triage_finding__judged(&near->finding) / near->limit;
	/* At a share of 1 or more, the rule's condition on another figure (beside) keeps it from firing. */
	return triage_finding__names_largest(&near->finding) && near->share >= TRIAGE_NEAREST_SHARE && near->share < 1;
}

size_t triage_nearest(const struct triage_finding *finding, size_t n, struct triage_near near[TRIAGE_NEAREST])
{
	struct triage_near added;
	size_t i, found = 0;

	for (i = 0; i < n; i++)
		if (take(&finding[i], &added))
			found = insert(near, found, added);
	return found;
}
