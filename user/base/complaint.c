// SPDX-License-Identifier: BSD-2-Clause
#include "base/complaint.h"

#include <stdarg.h>
#include <stdio.h>

int complain(struct complaint *c, int err, size_t at, size_t len, const char *fmt, ...)
{
	va_list args;

	c->at = at;
	c->len = len;
	c->hint[0] = 0;
	va_start(args, fmt);
	vsnprintf(c->what, sizeof(c->what), fmt, args);
	va_end(args);
	return err;
}

int complain_hint(struct complaint *c, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(c->hint, sizeof(c->hint), fmt, args);
	va_end(args);
	return err;
}
