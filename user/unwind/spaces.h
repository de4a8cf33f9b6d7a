/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code that processes have mapped, in the maps of bpf/lib/unwind.h. Replaced data remains valid for a second, since
 * BPF programs may still be reading it.
 */
#ifndef TALLY_UNWIND_SPACES_H
#define TALLY_UNWIND_SPACES_H

#include <sys/queue.h>

#include "sym/mappings.h"

#include "bpf/lib/unwind.h"

/* A range of the array of all mappings, shared by a process and its children. */
struct unwind_range {
	STAILQ_ENTRY(unwind_range) next;        /* list of replaced ranges */
	u32 first, n, users;
	u64 replaced_ns;
};

/* Free ranges by position, never adjacent. */
struct unwind_gap {
	u32 first, n;
};

struct unwind_spaces {
	int spaces_fd;
	u32 room;                               /* capacity of the array, in mappings */
	struct unwind_mapping *mapping;         /* the array itself */
	struct unwind_gap *gap;
	size_t ngaps;
	STAILQ_HEAD(replaced, unwind_range) replaced;   /* oldest first */
	void *processes;                        /* tree */
	TAILQ_HEAD(known, unwind_space_of) known;
	u64 swept_ns;
	u64 nknown, refused;                    /* refused: no room */
};

/* Uses the maps unwind_spaces and unwind_mappings, which the caller owns. Returns 0 or a negative errno. */
int unwind_spaces__init(struct unwind_spaces *s, int spaces_fd, int mappings_fd);
void unwind_spaces__free(struct unwind_spaces *s);

/* True if the maps hold the process's state as of this stamp. */
bool unwind_spaces__has(const struct unwind_spaces *s, u32 pid, const struct process_stamp *stamp);

/*
 * Sets the n mappings of a process, sorted by address. If there is no room for them, the process gets no mappings and
 * is counted as refused. Returns 0 or -ENOMEM.
 */
int unwind_spaces__put(struct unwind_spaces *s, u32 pid, const struct process_stamp *stamp,
		       const struct unwind_mapping *mapping, u32 n);

/*
 * A JIT compiler can change its process's mappings a thousand times a second. Reading mappings may take at most a tenth
 * of a CPU per process: note_seen() records how long the last read took, and may_see() decides whether another read is
 * allowed. *known: the process has a range.
 */
void unwind_spaces__note_seen(struct unwind_spaces *s, u32 pid, u64 now_ns, u64 took_ns);
bool unwind_spaces__may_see(const struct unwind_spaces *s, u32 pid, u64 now_ns, bool *known);

/* Gives a child its parent's mappings. Does nothing if the parent's mappings are unknown. Returns 0 or -ENOMEM. */
int unwind_spaces__fork(struct unwind_spaces *s, u32 pid, u32 parent);

/* Returns the mapping of a process at an address, NULL if none is known. Valid until the next change. */
const struct unwind_mapping *unwind_spaces__find(const struct unwind_spaces *s, u32 pid, u64 address);

/*
 * Calls settle() for each mapping that waits for the file with this token. settle() fills in the mapping and clears its
 * token.
 */
void unwind_spaces__settle(struct unwind_spaces *s, u32 token,
			   void (*settle)(void *arg, struct unwind_mapping *m), void *arg);

/* Forgets exited processes, at most once a second. */
void unwind_spaces__sweep(struct unwind_spaces *s);

#endif /* TALLY_UNWIND_SPACES_H */
