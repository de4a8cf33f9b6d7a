// SPDX-License-Identifier: BSD-2-Clause
#include "report/imprint.h"

#include <time.h>

#include "base/clock.h"
#include "report/xml.h"

void put_place(FILE *f, const char *host, const struct report *r)
{
	if (host)
		put_xml_escaped(f, host);
	if (r->kernel) {
		fputs(host ? ", kernel " : "kernel ", f);
		put_xml_escaped(f, r->kernel);
	}
}

void put_imprint(FILE *f, const char *host, const struct report *r)
{
	time_t seconds = r->start_ns / NSEC_PER_SEC;
	char when[64];
	struct tm tm;

	put_place(f, host, r);
	if (!seconds || !localtime_r(&seconds, &tm) || !strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %Z", &tm))
		return;
	if (host || r->kernel)
		fputs(", ", f);
	put_xml_escaped(f, when);
}
