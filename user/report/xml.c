// SPDX-License-Identifier: BSD-2-Clause
#include "report/xml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"

void put_xml(FILE *f, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n && text[i]; i++) {
		switch (text[i]) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			if (!strncmp(text + i, "\xef\xbf\xbe", 3) || !strncmp(text + i, "\xef\xbf\xbf", 3)) {
				fprintf(f, "\\xef\\xbf\\x%02x", (unsigned char)text[i + 2]);
				i += 2;
			} else {
				fputc(text[i], f);
			}
		}
	}
}

void put_xml_escaped(FILE *f, const char *text)
{
	char *escaped = escape_string(text);

	put_xml(f, escaped ?: "?", SIZE_MAX);
	free(escaped);
}

void put_xml_head(FILE *f, const char *text, size_t letters)
{
	char *escaped = escape_string(text);
	size_t n = 0, i;

	for (i = 0; escaped && escaped[i]; i++) {
		n += (escaped[i] & 0xc0) != 0x80;
		if (n > letters)
			break;
	}
	put_xml(f, escaped ?: "?", escaped ? i : 1);
	fputs(escaped && escaped[i] ? ".." : "", f);
	free(escaped);
}
