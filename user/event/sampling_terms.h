/* SPDX-License-Identifier: BSD-2-Clause */
/* perf's sampling terms between an event's slashes: cpu-clock/freq=199,max-stack=2/. */
#ifndef TALLY_EVENT_SAMPLING_TERMS_H
#define TALLY_EVENT_SAMPLING_TERMS_H

#include "event/event.h"

/* A word without these terms: the text between the slashes may be empty. */
struct plain_word {
	char *text;             /* NUL-terminated */
	size_t *at;             /* original position in the word of each byte, and of the end */
};

/*
 * Removes the sampling terms from NAME/TERM,.../MODIFIERS; copies any other word unchanged. Returns 0, or -EINVAL or
 * -ENOMEM after a complaint. Free the result in any case.
 */
int sampling_terms__take(struct event_sampling *s, struct plain_word *plain, const struct event_word *w,
			 struct complaint *c);
void plain_word__free(struct plain_word *plain);

#endif /* TALLY_EVENT_SAMPLING_TERMS_H */
