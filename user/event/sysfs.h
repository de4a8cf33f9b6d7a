/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PMUs as sysfs shows them (Documentation/ABI/testing/sysfs-bus-event_source-devices*): a folder
 * for each in /sys/bus/event_source/devices, with its number (type), the fields of its
 * configuration (format/), named events (events/), and the CPUs it is to be asked on (cpumask of
 * an uncore PMU, cpus of a kind of cores).
 */
#ifndef TALLY_EVENT_SYSFS_H
#define TALLY_EVENT_SYSFS_H

#include "event/event.h"

struct pmu {
	char *name;
	int fd;                 /* its folder */
	u32 type;               /* perf_event_attr.type */
};

struct pmus {
	struct pmu *pmu;        /* by name, numbers in it by value */
	size_t n;
};

/*
 * The PMUs that a name stands for (NULL: all): the one of that name; else those a glob matches;
 * else those of that name with a number (uncore_imc: uncore_imc_0, uncore_imc_1). "uncore_" may be
 * left out. Returns 0 (n may be 0) or a negative errno.
 */
int pmus__find(struct pmus *found, const struct event_context *ctx, const char *name);
void pmus__free(struct pmus *pmus);

/* The PMUs that have an event of this name in events/. */
int pmus__find_event(struct pmus *found, const struct event_context *ctx, const char *event);

/* Are two PMUs the same but for the number at the end? */
bool pmu__is_sibling(const struct pmu *a, const struct pmu *b);

/* A PMU of CPU cores? Those count events by the kernel's names too. */
bool pmu__is_core(const struct pmu *p);

/*
 * The text of a file of the PMU, NAME in FOLDER (NULL: its own folder), without the newline. New
 * memory, or NULL with errno. Names that are no plain file names are -ENOENT.
 */
char *pmu__read(const struct pmu *p, const char *folder, const char *name);
bool pmu__has(const struct pmu *p, const char *folder, const char *name);

/* A field of the configuration: where its bits go, lowest first. */
struct pmu_field {
	u32 word;               /* 0: config, 1: config1, ... */
	u64 bits;
};

/* Parses "config1:0-7,32-35"; pure. Returns 0 or -EINVAL. */
int pmu_field__parse(struct pmu_field *f, const char *text);

/* The largest value that fits. */
u64 pmu_field__max(const struct pmu_field *f);

/* Puts a value that fits into the word. */
u64 pmu_field__pack(const struct pmu_field *f, u64 word, u64 value);

/* Names of the files in a folder, sorted, without those that describe others (NAME.unit). */
struct pmu_names {
	char **name;
	size_t n;
};

int pmu__names(struct pmu_names *names, const struct pmu *p, const char *folder);
void pmu_names__free(struct pmu_names *names);

/*
 * The CPUs the PMU can be opened on, SCOPE_MAX_CPUS bits in new memory; NULL in *cpus: any.
 * Returns 0 or a negative errno.
 */
int pmu__cpus(const struct pmu *p, u64 **cpus);

#endif /* TALLY_EVENT_SYSFS_H */
