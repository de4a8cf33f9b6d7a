/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings as the first part of an HTML page, followed by the measurements (report/html.h). */
#ifndef TALLY_TRIAGE_PAGE_HTML_H
#define TALLY_TRIAGE_PAGE_HTML_H

#include "triage/page.h"

/* Adds the findings to the page of w. Returns 0 or -ENOMEM. */
int triage_page__add(const struct triage_page *p, struct writer *w);

#endif /* TALLY_TRIAGE_PAGE_HTML_H */
