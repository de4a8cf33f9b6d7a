/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in SVG and HTML. */
#ifndef TALLY_OUT_XML_H
#define TALLY_OUT_XML_H

#include <stdio.h>

#include "base/types.h"

/*
 * Writes at most n bytes of text that escape() has produced: valid UTF-8 without controls. XML requires four more
 * characters to be escaped, and does not allow U+FFFE and U+FFFF.
 */
void put_xml(FILE *f, const char *text, size_t n);

/* Any text, through escape(). */
void put_xml_escaped(FILE *f, const char *text);

/* The same, cut to that many letters, followed by ".." if cut. */
void put_xml_head(FILE *f, const char *text, size_t letters);

#endif /* TALLY_OUT_XML_H */
