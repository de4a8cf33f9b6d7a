/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching sites one by one, and what is said of those the kernel refuses. Part of attaching
 * (event/attach.h).
 */
#ifndef TALLY_EVENT_ATTACH_SITE_H
#define TALLY_EVENT_ATTACH_SITE_H

#include "event/attach.h"

/* The arguments of attach__sites(). */
struct attach_course {
	struct attachments *a;
	const struct event_sites *sites;
	const u32 *slot;
	const struct attach_programs *programs;
	struct complaint *c;
	size_t *which;
};

/*
 * A site that the kernel will not have, by errno: of a glob that is said and counted, 0; named in
 * full it is an error, which is described and returned.
 */
int attach_course__refuse(struct attach_course *k, size_t i, int err);

/* Site i by a program of its own; where its way turns out not to be, by the next best. */
int attach_course__site(struct attach_course *k, size_t i);

#endif /* TALLY_EVENT_ATTACH_SITE_H */
