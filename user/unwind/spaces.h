/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which code processes have mapped, in the maps of bpf/lib/unwind.h. What programs may be looking at
 * stays as it is for a second after it has been replaced.
 */
#ifndef TALLY_UNWIND_SPACES_H
#define TALLY_UNWIND_SPACES_H

#include <sys/queue.h>

#include "sym/mappings.h"

#include "bpf/lib/unwind.h"

/* A part of the array of all mappings; a process and its children share one. */
struct unwind_range {
	STAILQ_ENTRY(unwind_range) next;        /* of those that were replaced */
	u32 first, n, users;
	u64 replaced_ns;
};

/* Free parts, by where they are; none touches the next. */
struct unwind_gap {
	u32 first, n;
};

struct unwind_spaces {
	int spaces_fd;
	u32 room;                               /* of the array, mappings */
	struct unwind_mapping *mapping;         /* the array itself */
	struct unwind_gap *gap;
	size_t ngaps, gaps_room;
	STAILQ_HEAD(replaced, unwind_range) replaced;   /* the one longest ago first */
	void *processes;                        /* tree */
	TAILQ_HEAD(known, unwind_space_of) known;
	u64 swept_ns;
	u64 nknown, refused;                    /* refused: there was no room for it */
};

/* The maps unwind_spaces and unwind_mappings, which stay the caller's. 0 or a negative errno. */
int unwind_spaces__init(struct unwind_spaces *s, int spaces_fd, int mappings_fd);
void unwind_spaces__free(struct unwind_spaces *s);

/* Is this what is in the maps of the process already? */
bool unwind_spaces__has(const struct unwind_spaces *s, u32 pid, const struct process_stamp *stamp);

/*
 * The process has n mappings now, by address. Where there is no room for them it has none, which
 * is counted. 0 or -ENOMEM.
 */
int unwind_spaces__put(struct unwind_spaces *s, u32 pid, const struct process_stamp *stamp,
		       const struct unwind_mapping *mapping, u32 n);

/*
 * A compiler at run time changes what its process has mapped a thousand times a second. Looking at a
 * process may take a tenth of a CPU: how long it took the last time, and whether it may be looked at
 * again. *known: it has a range.
 */
void unwind_spaces__note_seen(struct unwind_spaces *s, u32 pid, u64 now_ns, u64 took_ns);
bool unwind_spaces__may_see(const struct unwind_spaces *s, u32 pid, u64 now_ns, bool *known);

/* A child has what its parent has; nothing is done if that is not known. 0 or -ENOMEM. */
int unwind_spaces__fork(struct unwind_spaces *s, u32 pid, u32 parent);

/* What waits for a file, by its token: settle() fills in what is known of it now, and takes the token off. */
void unwind_spaces__settle(struct unwind_spaces *s, u32 token,
			   void (*settle)(void *arg, struct unwind_mapping *m), void *arg);

/* Forgets the processes that have gone, if that was not done in the last second. */
void unwind_spaces__sweep(struct unwind_spaces *s);

#endif /* TALLY_UNWIND_SPACES_H */
