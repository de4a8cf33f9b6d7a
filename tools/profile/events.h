/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of one run of `profile`: the clock, one named event, or several, each counted by its own stacks and in its
 * own unit. All share the object's maps; the key of a stack has the event's number (task_key.event).
 *
 *   profile_events__add()       for each -e
 *   profile_events__check()     after all options are known; sets the members of each struct sampling
 *   profile_events__find()      before the object is opened
 *   profile_events__configure() between open and load: loads the programs that the events need
 *   profile_events__start()     after load
 *   profile_events__arm() ...   for each event, as in profile/sampling.h
 *   profile_events__follow()    whenever m->watch_fd is readable, and before a report
 *   profile_events__describe()  for a report of several events: r->stacks->event
 *   profile_events__end()       after the last report: closes the events
 *   profile_events__free()      in any case, at the end
 *
 * Functions return 0 or a negative errno. The functions up to arm() report errors.
 */
#ifndef TALLY_PROFILE_EVENTS_H
#define TALLY_PROFILE_EVENTS_H

#include "event/attach.h"
#include "host/hotplug.h"
#include "profile/sampling.h"

struct profile_bpf;

struct profile_events {
	/* The events as typed. */
	const char *typed[PROFILE_EVENTS];      /* -e */
	size_t ntyped;
	u64 hz, every;                          /* -F, -c; 0 if not given */
	bool with_idle;                         /* --idle */

	struct sampling each[PROFILE_EVENTS];   /* valid after profile_events__check() */
	size_t n;                               /* at least 1 */
	char *text[PROFILE_EVENTS];             /* texts of single events in lists; owned */
	char *label[PROFILE_EVENTS];            /* name=TEXT of each event, or NULL; owned */
	struct event_sampling own[PROFILE_EVENTS];      /* terms in the text of each event */
	const char *name[PROFILE_EVENTS];       /* valid after profile_events__find() */
	char *share_name[PROFILE_EVENTS];       /* "NAME%"; valid after profile_events__find(), owned */
	struct report_event report[PROFILE_EVENTS];
	struct attachments copies;              /* copies of programs, for all events except the first */
	char source[PROFILE_EVENTS * (SAMPLING_SOURCE + 32)];   /* of all events, after profile_events__find() */
	struct hotplug hotplug;
	char told[PROFILE_EVENTS * (SAMPLING_SOURCE + 32) + 512];      /* the source, and CPUs that were not sampled */
};

int profile_events__add(struct profile_events *e, const char *typed);
int profile_events__check(struct profile_events *e);
int profile_events__find(struct profile_events *e);

/* take: the parts of stacks to take (stack_options__take()). */
void profile_events__configure(struct profile_events *e, struct profile_bpf *bpf, u32 take);

/* Whether an event requests more frames than the common limit. If so, reports this and returns -EINVAL. */
int profile_events__check_depth(const struct profile_events *e, u32 depth);

/* To be called before the first event is started, by profile_events__start() or otherwise. m->watch_fd: an epoll. */
int profile_events__begin(struct profile_events *e, struct measurement *m);
int profile_events__start(struct profile_events *e, struct measurement *m, struct profile_bpf *bpf);
int profile_events__arm(struct profile_events *e, const struct measurement *m);
void profile_events__disarm(struct profile_events *e);
int profile_events__follow(struct profile_events *e, struct measurement *m);

/* The source of the figures, with the CPUs that were not sampled all the time. */
const char *profile_events__source(struct profile_events *e, const char *source);
int profile_events__settle(struct profile_events *e, const struct measurement *m);
int profile_events__count(struct profile_events *e, const struct measurement *m, struct report *r);

/* Describes the values of r->stacks, after their totals are known. */
void profile_events__describe(struct profile_events *e, struct report *r);

void profile_events__end(struct profile_events *e);
void profile_events__free(struct profile_events *e);

#endif /* TALLY_PROFILE_EVENTS_H */
