/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches sites one by one, and reports the sites that the kernel refuses. Part of attaching (event/attach.h). */
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
 * Handles a site that the kernel refused with err. For a site of a glob, reports and counts it, and returns 0. For a
 * site named in full, describes the error and returns it.
 */
int attach_course__refuse(struct attach_course *k, size_t i, int err);

/* Attaches site i with its own program; if its way does not work, tries the next best one. */
int attach_course__site(struct attach_course *k, size_t i);

#endif /* TALLY_EVENT_ATTACH_SITE_H */
