// SPDX-License-Identifier: BSD-2-Clause
#include "report/heat.h"

int heat__write_line(struct heat *h, struct writer *w, const struct report *r)
{
	if (!h->live || w->format != FORMAT_TEXT || (r->ngroups && r->group[0].nkey))
		return 0;
	return write_heat_line(w, h, r);
}

int heat__write(struct heat *h, struct writer *w)
{
	struct writing writing;
	int err;

	if (!h->total.tool)
		return 0;
	err = writer__begin(w, &writing);
	if (!err)
		err = w->format == FORMAT_SVG ? write_heat_svg(w, h) : write_heat_text(w, h);
	return writer__end(w, &writing, err);
}
