/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terms of PMU/TERM,TERM=NUMBER/: what each is on a PMU, and the perf_event_attr they come to.
 *
 * A term is an event of the PMU (events/NAME in sysfs), a field of its configuration
 * (format/NAME), config= to config3=, period=, name=, or, on the PMUs of CPU cores, an event by the
 * kernel's name (cycles) or by number (r003c). Explicit terms win over those of an event.
 */
#ifndef TALLY_EVENT_PMU_TERMS_H
#define TALLY_EVENT_PMU_TERMS_H

#include "event/event.h"
#include "event/sysfs.h"

/* What a list of terms comes to on one PMU. */
struct pmu_setting {
	struct perf_event_attr attr;
	char *event;            /* of events/, NULL: none */
	char *name;             /* of name=, NULL: none */
};

/*
 * Parses the terms, bytes from..to of the word. What *attr holds besides type, config and period
 * is kept. Returns 0, or -EINVAL or -ENOMEM with *c filled in and nothing to free.
 */
int pmu_setting__parse(struct pmu_setting *set, const struct perf_event_attr *attr,
		       const struct pmu *p, const struct event_word *w, size_t from, size_t to,
		       struct complaint *c);
void pmu_setting__free(struct pmu_setting *set);

/* Adds names to the hint, with commas and the title in front, as many as fit. */
void complain_names(struct complaint *c, const char *title, const struct pmu_names *names);

#endif /* TALLY_EVENT_PMU_TERMS_H */
