/* SPDX-License-Identifier: BSD-2-Clause */
/* The measurements of triage, and its rules. */
#ifndef TALLY_TRIAGE_RULES_H
#define TALLY_TRIAGE_RULES_H

#include "triage/rule.h"

/*
 * Command lines of cheap tools. The first triage_lines_needed lines load BPF programs. The others only read the
 * kernel's accounting, which works on any kernel; a run that could do nothing else is refused.
 */
extern const char *const triage_lines[];
extern const size_t triage_line_count, triage_lines_needed;

/*
 * Returns the prefix of the comms of the programs that a line is about, or NULL if it is about all programs. triage
 * skips the line if no such program runs, because the line's BPF programs would run at each context switch for nothing.
 */
const char *triage_line_program(const char *line);

extern const struct triage_rule triage_rules[];
extern const size_t triage_rule_count;

#endif /* TALLY_TRIAGE_RULES_H */
