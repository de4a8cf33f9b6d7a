/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manual pages, rendered from docs/man/NAME.1.scd when tally is built, and documents, copied unchanged from docs/.
 */
#ifndef TALLY_MANUAL_H
#define TALLY_MANUAL_H

/* Returns the page of a tool, or a document ("json"), as plain text; NULL if there is none. */
const char *manual_page(const char *name);

#endif /* TALLY_MANUAL_H */
