/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph as part of a page. The page contains the style and script once, for all graphs. */
#ifndef TALLY_OUT_FLAME_H
#define TALLY_OUT_FLAME_H

#include <stdio.h>

#include "report/report.h"

/* CSS rules, without nesting, for the svg element and its contents. */
extern const char flame_style[];

/*
 * Writes an svg element without ids, of about most_bytes at most. For a report of several events, writes one per event,
 * below its name. Returns 0 or -ENOMEM.
 */
int put_flame(FILE *f, const struct report *r, size_t most_bytes);

/* Writes the function flame(svg, keys), which handles mouse and keyboard of a graph. */
void put_flame_script(FILE *f);

#endif /* TALLY_OUT_FLAME_H */
