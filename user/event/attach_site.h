/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches sites one by one, and reports those that the kernel refuses. Part of attaching
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
 * Handles a site that the kernel refused with err. A site of a glob is reported and counted, and 0
 * is returned; for a site named in full, describes the error and returns it.
 */
int attach_course__refuse(struct attach_course *k, size_t i, int err);

/* Attaches site i with its own program; if its way does not work, tries the next best one. */
int attach_course__site(struct attach_course *k, size_t i);

#endif /* TALLY_EVENT_ATTACH_SITE_H */
