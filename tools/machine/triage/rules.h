/* SPDX-License-Identifier: BSD-2-Clause */
/* What triage measures, and what it takes for wrong. */
#ifndef TALLY_TRIAGE_RULES_H
#define TALLY_TRIAGE_RULES_H

#include "triage/rule.h"

/* Tool lines, each of another tool; cheap ones. */
extern const char *const triage_lines[];
extern const size_t triage_line_count;

extern const struct triage_rule triage_rules[];
extern const size_t triage_rule_count;

#endif /* TALLY_TRIAGE_RULES_H */
