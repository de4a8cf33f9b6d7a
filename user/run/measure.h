/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries a measured value from its BPF histogram maps to reports. For a value called NAME, the
 * object has the maps NAME (per-CPU array of struct hist_whole) and keyed_NAME (hash of struct
 * hist_segment), and includes scope.bpf.h, task_key.bpf.h and loss.bpf.h.
 *
 *   measure__prepare()   between open and load
 *   measure__begin()     between load and attach
 *   measure__report()    from report(): the change since the last call
 *   measure__free()
 *
 * All return 0 or a negative errno.
 */
#ifndef TALLY_RUN_MEASURE_H
#define TALLY_RUN_MEASURE_H

#include "agg/hist_set.h"
#include "agg/loss.h"
#include "cli/options.h"
#include "host/host.h"
#include "report/report.h"

struct measurement;

struct measure {
	struct hist_maps maps;
	int losses_fd;
	const struct bpf_object *obj;
	struct hist_set before;                 /* the last snapshot */
	struct loss_counters losses_before;
	bool tabulated;                         /* a report had many keys: later ones are tables, too */
};

/*
 * Sizes the object's maps, after measurement__configure(). key_size is the key size of keyed_NAME:
 * struct hist_slot, struct task_key, then the tool's own parts (cli/task_key.h); a multiple of 8
 * bytes.
 *
 * Since 6.1 (commit fba1a1c6c912, safe in tracing programs), hash elements are allocated on demand,
 * with room for many segments per key. Older kernels preallocate, with fewer segments per key.
 */
int measure__prepare(struct measure *m, const struct measurement *measurement,
		     struct bpf_object *obj, const char *name, size_t key_size);

/* Like measure__prepare(), for tools that keep their own keys apart even without --by. */
int measure__prepare_keyed(struct measure *m, const struct measurement *measurement, struct bpf_object *obj,
			   const char *name, size_t key_size);

/* Fills the scope's sets; with -v also prints the memory of the maps. */
int measure__begin(struct measure *m, const struct measurement *measurement, const char *name);

/*
 * Fills events, counters and groups of the report with the change since the last call or since
 * attaching, sorted and truncated according to the options. Default order: by total, or by CPU number
 * if the CPU is the only key. The caller fills in value, unit and source. With --table, or many keys
 * on a terminal, the groups become rows (run/tabulate.h).
 */
int measure__report(struct measure *m, struct measurement *measurement, struct report *r);

/* The two halves of measure__report(): fills the groups in map order; sorts and truncates them. */
int measure__groups(struct measure *m, struct measurement *measurement, struct report *r);
void measure__sort(struct report *r, const struct cli *cli);

/*
 * For tools that build their own report: stores the same change in *set, which the caller frees, and
 * the filtered and lost events in *losses.
 */
int measure__difference(struct measure *m, struct hist_set *set, struct loss_counters *losses);

/* For tools that have changed this set: the rest of measure__report(). The set is owned by the caller. */
int measure__report_set(struct measure *m, struct measurement *measurement, struct hist_set *set,
			struct report *r);

void measure__free(struct measure *m);

#endif /* TALLY_RUN_MEASURE_H */
