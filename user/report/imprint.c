// SPDX-License-Identifier: BSD-2-Clause
#include "report/imprint.h"

#include <time.h>

#include "base/clock.h"
#include "report/xml.h"

bool put_place(FILE *f, const char *host, const struct report *r)
{
	if (host)
		put_xml_escaped(f, host);
	if (r->kernel) {
		fputs(host ? ", kernel " : "kernel ", f);
		put_xml_escaped(f, r->kernel);
	}
	return host || r->kernel;
}

bool put_imprint(FILE *f, const char *host, const struct report *r)
{
	time_t seconds = r->start_ns / NSEC_PER_SEC;
	bool any = put_place(f, host, r);
	char when[64];
	struct tm tm;

	if (!seconds || !localtime_r(&seconds, &tm) || !strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %Z", &tm))
		return any;
	fputs(any ? ", " : "", f);
	put_xml_escaped(f, when);
	return true;
}
