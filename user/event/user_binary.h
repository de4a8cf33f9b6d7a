/* SPDX-License-Identifier: BSD-2-Clause */
/* What the sources of events in user code (functions, USDT) share: the binary and its name. */
#ifndef TALLY_EVENT_USER_BINARY_H
#define TALLY_EVENT_USER_BINARY_H

#include "event/event.h"

/*
 * Length of the path in front of "PATH:rest", 0 if the word has none. A path has a slash, or ".so"
 * in it; it ends at the first colon behind its last slash.
 */
size_t event_word__path(const struct event_word *w);

/* Does the part of the word behind from begin with "sdt_" or "sdt:"? */
bool event_word__is_sdt(const struct event_word *w, size_t from);

/* Makes the path in front of the word the event's binary, and *from what comes behind its colon. */
int event__take_path(struct event *e, const struct event_word *w, size_t *from,
		     struct complaint *c);

/* Files that a binary's name stands for. */
struct event_binaries {
	char **path;
	size_t n;
};

/*
 * Those that the processes of ctx have mapped by that name, which in another mount namespace are others than
 * ours; else the one that we find, or its command would load. Returns 0, -ENOENT, -ENOMEM, or -ETIME and -EINTR
 * (mappings__each()).
 */
int event_binaries__find(struct event_binaries *found, const char *name, const struct event_context *ctx);

/*
 * How many processes run with another file of that name than own, as in a container. Looks for a tenth of a
 * second of CPU time at most. What a report says of so many: text, "" of none.
 */
size_t event_binaries__count_others(const char *name, const char *own);
void event_binaries__describe_others(size_t n, char *text, size_t size);

/* The files of the event's binary, as above, after saying what is wrong. */
int event__locate_binaries(struct event_binaries *found, const struct event *e,
			   const struct event_context *ctx, struct complaint *c);
void event_binaries__free(struct event_binaries *b);

/* Where all processes are meant: counts those with another file into sites->elsewhere, for the first event. */
void event__look_elsewhere(struct event_sites *sites, const struct event *e,
			   const struct event_context *ctx, const struct event_binaries *found);

/* What reading the binary's functions, probes or debug information ended with. Returns err. */
int event__complain_binary(const struct event *e, const char *path, int err, struct complaint *c);

/* E2BIG. */
int event__complain_sites(const struct event *e, u32 most, struct complaint *c);

/* "libc.so.6" of a path. */
const char *event_binary_name(const char *path);

bool event_is_glob(const char *name);

#endif /* TALLY_EVENT_USER_BINARY_H */
