/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PMUs in sysfs (Documentation/ABI/testing/sysfs-bus-event_source-devices*): one directory each in
 * /sys/bus/event_source/devices, with its number (type), the fields of its configuration (format/),
 * named events (events/), and the CPUs to open it on (cpumask of an uncore PMU, cpus of a core
 * type).
 */
#ifndef TALLY_EVENT_SYSFS_H
#define TALLY_EVENT_SYSFS_H

#include "event/event.h"

struct pmu {
	char *name;
	int fd;                 /* its directory */
	u32 type;               /* perf_event_attr.type */
};

struct pmus {
	struct pmu *pmu;        /* sorted by name, embedded numbers by value */
	size_t n;
};

/*
 * Finds the PMUs that a name refers to (NULL: all): the PMU of that name; else the PMUs that match it as a glob; else
 * the PMUs of that name with a number (uncore_imc: uncore_imc_0, uncore_imc_1). "uncore_" may be omitted. Returns 0 (n
 * may be 0) or a negative errno.
 */
int pmus__find(struct pmus *found, const struct event_context *ctx, const char *name);
void pmus__free(struct pmus *pmus);

/* Finds the PMUs that have an event of this name in events/. */
int pmus__find_event(struct pmus *found, const struct event_context *ctx, const char *event);

/* True if the names of two PMUs differ only in the number at the end. */
bool pmu__is_sibling(const struct pmu *a, const struct pmu *b);

/* True if it is a PMU of CPU cores. Such PMUs also count the kernel's generic events. */
bool pmu__is_core(const struct pmu *p);

/*
 * Reads file NAME in the PMU's FOLDER (NULL: its own directory), without the newline. The result is allocated; NULL
 * with errno set on failure. -ENOENT for names that are not plain file names.
 */
char *pmu__read(const struct pmu *p, const char *folder, const char *name);
bool pmu__has(const struct pmu *p, const char *folder, const char *name);

/* A configuration field: its bit positions, lowest first. */
struct pmu_field {
	u32 word;               /* 0: config, 1: config1, ... */
	u64 bits;
};

/* Parses "config1:0-7,32-35"; pure. Returns 0 or -EINVAL. */
int pmu_field__parse(struct pmu_field *f, const char *text);

/* Returns the largest value that fits the field. */
u64 pmu_field__max(const struct pmu_field *f);

/* Sets the field in word to a value that fits, and returns the word. */
u64 pmu_field__pack(const struct pmu_field *f, u64 word, u64 value);

/* Sorted file names in a directory, without files that describe others (NAME.unit). */
struct pmu_names {
	char **name;
	size_t n;
};

int pmu__names(struct pmu_names *names, const struct pmu *p, const char *folder);
void pmu_names__free(struct pmu_names *names);

/*
 * Reads the CPUs that the PMU can be opened on. *cpus has SCOPE_MAX_CPUS bits and is allocated; NULL means any CPU.
 * Returns 0 or a negative errno.
 */
int pmu__cpus(const struct pmu *p, u64 **cpus);

#endif /* TALLY_EVENT_SYSFS_H */
