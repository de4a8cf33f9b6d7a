// SPDX-License-Identifier: BSD-2-Clause
#include "machine/prove/compare.h"

#include <string.h>

const char *prove_verdict_name(enum prove_verdict verdict)
{
	static const char *const names[PROVE_VERDICTS] = {
		[PROVE_RIGHT] = "right",
		[PROVE_WRONG] = "wrong",
		[PROVE_HIDDEN] = "hidden",
		[PROVE_CANNOT] = "cannot",
	};

	return names[verdict];
}

enum prove_verdict prove__compare(const struct prove_claim *c)
{
	bool is_count = !strcmp(c->unit, "events");

	if (c->said >= c->least && c->said <= c->most)
		return PROVE_RIGHT;
	if (c->said > c->most)
		return PROVE_WRONG;
	if (is_count)
		return c->least - c->said <= c->lost ? PROVE_HIDDEN : PROVE_WRONG;
	return c->lost || c->inexact ? PROVE_HIDDEN : PROVE_WRONG;
}
