// SPDX-License-Identifier: BSD-2-Clause
#include "base/clock.h"
#include "machine/bpftop/program.h"

/* A search for places and owners may take a fiftieth of the time. */
#define SEARCH_SHARE 50

int bpf_programs__search(struct bpf_programs *p, bool is_report)
{
	bool has_time = monotonic_ns() - p->searched_ns >= SEARCH_SHARE * p->search_ns;
	u64 began_ns = monotonic_ns();
	int err = has_time || is_report ? bpf_programs__read_maps(p) : 0;

	if (err || (!has_time && !(p->news && is_report)))
		return err;
	p->searched_ns = began_ns;
	err = program_attachments__read(p) ?: program_holders__read(p);
	p->search_ns = monotonic_ns() - p->searched_ns;
	p->news = false;
	return err;
}
