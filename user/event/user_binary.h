/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the sources of user-space events (functions, USDT): the binary and its name. */
#ifndef TALLY_EVENT_USER_BINARY_H
#define TALLY_EVENT_USER_BINARY_H

#include "event/event.h"

/* True if the text begins like a file name. */
bool event__begins_path(const char *text);

/*
 * Returns the length of the path in "PATH:rest", 0 if the word has no path. A path contains a slash or ".so", and ends
 * at the first colon after the last slash. If only a line number follows that colon, or there is no such colon, the
 * slash may belong to a function name, as in PATH:net/http.Get:3, and the path ends at the first colon.
 */
size_t event_word__path(const struct event_word *w);

/* True if the word, starting at from, begins with "sdt_" or "sdt:". */
bool event_word__is_sdt(const struct event_word *w, size_t from);

/*
 * Makes the path at the start of the word the event's binary, and sets *from to the position after
 * its colon.
 */
int event__take_path(struct event *e, const struct event_word *w, size_t *from,
		     struct complaint *c);

/* The name for all files that processes have mapped. It is a glob, like 'libssl*'. */
#define EVENT_ALL_BINARIES "*"

/* The files that a binary's name refers to. */
struct event_binaries {
	char **path;            /* can be opened; may be in /proc/PID/map_files */
	char **name;            /* "libc.so.6" */
	size_t n;
	char *lacking;          /* "prog is not linked with", "process 7 has not mapped"; NULL: not known */
};

/*
 * Finds the files that the processes of ctx have mapped under that name, or under names that match a glob; in another
 * mount namespace they differ from ours. If no process has one, finds the file that ctx's command will map, as its own
 * loader would, or else the file that this process would load. Returns 0, -ENOENT, -ENOMEM, or -ETIME and -EINTR
 * (mappings__each()).
 */
int event_binaries__find(struct event_binaries *found, const char *name, const struct event_context *ctx);

/*
 * Counts the processes that have mapped a file of that name other than own, for example in a container. Uses at most a
 * tenth of a second of CPU time. event_binaries__describe_others() formats the number for reports: "" for none.
 */
size_t event_binaries__count_others(const char *name, const char *own);
void event_binaries__describe_others(size_t n, char *text, size_t size);

/* Same as event_binaries__find(), and complains on failure. */
int event__locate_binaries(struct event_binaries *found, const struct event *e,
			   const struct event_context *ctx, struct complaint *c);
void event_binaries__free(struct event_binaries *b);

/* If all processes are traced, counts the processes with another file in sites->elsewhere, for the first event. */
void event__look_elsewhere(struct event_sites *sites, const struct event *e,
			   const struct event_context *ctx, const struct event_binaries *found);

/* Remembers in sites->lacking that the command or the processes of -p lack the file. Returns 0 or -ENOMEM. */
int event__note_lacking(struct event_sites *sites, const struct event_binaries *found);

/* For a source: "; prog is not linked with /lib/libc.so.6", or "". */
void event_sites__describe_lacking(const struct event_sites *sites, char *text, size_t size);

/*
 * Explains a report without events (report.nothing): only programs that map the probed files are seen. filtered:
 * filters left events out. Returns NULL if any site is in the kernel, or if there is no site.
 */
const char *event_sites__nothing(const struct event_sites *sites, bool filtered, char *text, size_t size);

/*
 * Complains about an error from reading the binary's functions, probes or debug information.
 * Returns err.
 */
int event__complain_binary(const struct event *e, const char *path, int err, struct complaint *c);

/* Complains about too many sites. Returns -E2BIG. */
int event__complain_sites(const struct event *e, u32 most, struct complaint *c);

/* Returns the file name of a path: "libc.so.6". */
const char *event_binary_name(const char *path);

bool event_is_glob(const char *name);

#endif /* TALLY_EVENT_USER_BINARY_H */
