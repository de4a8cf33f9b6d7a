/* SPDX-License-Identifier: BSD-2-Clause */
/* Where and when a picture was measured: it is looked at without the text around it. */
#ifndef TALLY_OUT_IMPRINT_H
#define TALLY_OUT_IMPRINT_H

#include <stdio.h>

#include "report/report.h"

/*
 * "web-1, kernel 6.18.44, 2026-11-28 10:12:04 UTC" as markup, without what is not known: the host (NULL), the kernel,
 * the start.
 */
void put_imprint(FILE *f, const char *host, const struct report *r);

/* The same without the time. */
void put_place(FILE *f, const char *host, const struct report *r);

#endif /* TALLY_OUT_IMPRINT_H */
