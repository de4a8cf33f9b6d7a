/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A measured value that ends in histograms, from its maps to its reports. For a value called
 * NAME the object has the maps NAME (per-CPU array of struct hist_whole) and keyed_NAME (hash of
 * struct hist_segment), and includes scope.bpf.h, task_key.bpf.h and loss.bpf.h.
 *
 *   measure__prepare()   between open and load
 *   measure__begin()     between load and attach
 *   measure__report()    from report(): what came since the last call
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
};

/*
 * Sizes the object's maps, after measurement__configure(). key_size is that of keyed_NAME's keys: struct hist_slot, struct task_key, and behind it the
 * tool's own parts (cli/task_key.h), a multiple of 8 bytes.
 *
 * From 6.1 on, elements of the hash are allocated as they are needed (commit fba1a1c6c912 made that
 * safe in tracing programs), with room for many segments a key; before, all at once, with less.
 */
int measure__prepare(struct measure *m, const struct measurement *measurement,
		     struct bpf_object *obj, const char *name, size_t key_size);

/* Fills the scope's sets, and prints with -v what memory the maps take. */
int measure__begin(struct measure *m, const struct measurement *measurement, const char *name);

/*
 * Fills events, counters and groups of the report with what came since the last call, or since
 * the programs were attached, sorted and cut as the options say (by total where they do not, by
 * number where the CPU is the only key). The caller fills in value, unit and source.
 */
int measure__report(struct measure *m, const struct measurement *measurement, struct report *r);

/* Its two halves: the groups as they come, then sorted and cut. */
int measure__groups(struct measure *m, const struct measurement *measurement, struct report *r);
void measure__sort(struct report *r, const struct cli *cli);

/*
 * The same for a tool that makes its report by itself: *set, which it frees, and what was filtered
 * and lost.
 */
int measure__difference(struct measure *m, struct hist_set *set, struct loss_counters *losses);

/*
 * Sizes a hash for that many elements, allocated as they are needed where the kernel can do
 * that in tracing programs (6.1, above).
 */
int map__set_room(struct bpf_map *map, const struct host *host, u64 elements);

/*
 * Sizes a hash whose elements are all there from the start: in interrupts, and where memory is short, none
 * may be had at the moment when it is needed.
 */
int map__preallocate(struct bpf_map *map, u64 elements);

/* The same as map__set_room() for a hash that elements__take() empties: with room for the keys of the next interval. */
int map__set_room_for_keys(struct bpf_map *map, const struct host *host, u64 elements);

void measure__free(struct measure *m);

#endif /* TALLY_RUN_MEASURE_H */
