/* SPDX-License-Identifier: BSD-2-Clause */
/* The first lines of triage's page, and their figures. */
#ifndef TALLY_MACHINE_TRIAGE_TOP_H
#define TALLY_MACHINE_TRIAGE_TOP_H

#include "triage/top.h"

extern const struct triage_rule triage_figures[];
extern const size_t triage_figure_count;

extern const struct triage_line triage_top_lines[];
extern const size_t triage_top_line_count;

#endif /* TALLY_MACHINE_TRIAGE_TOP_H */
