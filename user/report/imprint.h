/* SPDX-License-Identifier: BSD-2-Clause */
/* States where and when a picture was measured, since pictures are viewed without the surrounding text. */
#ifndef TALLY_OUT_IMPRINT_H
#define TALLY_OUT_IMPRINT_H

#include <stdio.h>

#include "report/report.h"

/*
 * Writes "web-1, kernel 6.18.44, 2026-11-28 10:12:04 UTC" as markup: the host, the kernel, the start. Unknown parts
 * (host NULL) are omitted.
 */
void put_imprint(FILE *f, const char *host, const struct report *r);

/* Like put_imprint(), without the time. */
void put_place(FILE *f, const char *host, const struct report *r);

#endif /* TALLY_OUT_IMPRINT_H */
