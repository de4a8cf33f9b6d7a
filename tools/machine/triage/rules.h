/* SPDX-License-Identifier: BSD-2-Clause */
/* The measurements of triage, and its rules. */
#ifndef TALLY_TRIAGE_RULES_H
#define TALLY_TRIAGE_RULES_H

#include "triage/rule.h"

/*
 * Command lines of cheap tools. The first triage_lines_needed load BPF programs. The others only read
 * the kernel's accounting, which works on any kernel: a run that can do nothing else is refused.
 */
extern const char *const triage_lines[];
extern const size_t triage_line_count, triage_lines_needed;

/*
 * How the comms begin of the only programs that a line is about; NULL: it is about all. It may be left out where none
 * runs: its programs would run at each context switch, for nothing.
 */
const char *triage_line_program(const char *line);

extern const struct triage_rule triage_rules[];
extern const size_t triage_rule_count;

#endif /* TALLY_TRIAGE_RULES_H */
