/* SPDX-License-Identifier: BSD-2-Clause */
/* Where and when a picture was measured, since pictures are viewed without the text around them. */
#ifndef TALLY_OUT_IMPRINT_H
#define TALLY_OUT_IMPRINT_H

#include <stdio.h>

#include "report/report.h"

/*
 * Writes "web-1, kernel 6.18.44, 2026-11-28 10:12:04 UTC" as markup, without unknown parts: the host (NULL), the
 * kernel, the start.
 */
void put_imprint(FILE *f, const char *host, const struct report *r);

/* The same without the time. */
void put_place(FILE *f, const char *host, const struct report *r);

#endif /* TALLY_OUT_IMPRINT_H */
