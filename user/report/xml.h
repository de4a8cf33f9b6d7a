/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in SVG and HTML. */
#ifndef TALLY_OUT_XML_H
#define TALLY_OUT_XML_H

#include <stdio.h>

#include "base/types.h"

/*
 * Writes at most n bytes of text produced by escape(): valid UTF-8 without controls. Also escapes the four characters
 * for which XML requires it, and U+FFFE and U+FFFF, which XML does not allow.
 */
void put_xml(FILE *f, const char *text, size_t n);

/* Writes any text, through escape(). */
void put_xml_escaped(FILE *f, const char *text);

/* Like put_xml_escaped(), truncated to this many letters, with ".." at the end if truncated. */
void put_xml_head(FILE *f, const char *text, size_t letters);

#endif /* TALLY_OUT_XML_H */
