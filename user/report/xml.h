/* SPDX-License-Identifier: BSD-2-Clause */
/* Text inside of SVG. */
#ifndef TALLY_OUT_XML_H
#define TALLY_OUT_XML_H

#include <stdio.h>

#include "base/types.h"

/*
 * At most n bytes of what escape() has made: valid UTF-8 without controls. XML wants four
 * characters more out of the way, and has no place for U+FFFE and U+FFFF.
 */
void put_xml(FILE *f, const char *text, size_t n);

/* Any text, through escape(). */
void put_xml_escaped(FILE *f, const char *text);

/* The same, but no more than so many letters of it; then ".." stands for the others. */
void put_xml_head(FILE *f, const char *text, size_t letters);

#endif /* TALLY_OUT_XML_H */
