/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves the terms of PMU/TERM,TERM=NUMBER/ on a PMU to a perf_event_attr.
 *
 * A term is an event of the PMU (events/NAME in sysfs), a field of its configuration (format/NAME), config= to
 * config3=, period=, name=, or, on the PMUs of CPU cores, an event by the kernel's name (cycles) or by number (r003c).
 * Explicit terms override those of an event.
 */
#ifndef TALLY_EVENT_PMU_TERMS_H
#define TALLY_EVENT_PMU_TERMS_H

#include "event/event.h"
#include "event/sysfs.h"

/* The result of a list of terms on one PMU. */
struct pmu_setting {
	struct perf_event_attr attr;
	char *event;            /* name in events/; NULL: none */
	char *name;             /* from name=; NULL: none */
};

/*
 * Parses the terms, the word's bytes from..to. Keeps the members of *attr other than type, config
 * and period. Returns 0, or -EINVAL or -ENOMEM with *c filled in and nothing to free.
 */
int pmu_setting__parse(struct pmu_setting *set, const struct perf_event_attr *attr,
		       const struct pmu *p, const struct event_word *w, size_t from, size_t to,
		       struct complaint *c);
void pmu_setting__free(struct pmu_setting *set);

/* Appends the title and as many names as fit to the hint, separated by commas. */
void complain_names(struct complaint *c, const char *title, const struct pmu_names *names);

#endif /* TALLY_EVENT_PMU_TERMS_H */
