/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs of this host, as the kernel lists them by id: the cost of each, where it is attached, and its owner.
 * No descriptor is kept open, so that tally never keeps a program alive. All texts come from other programs, and are
 * not escaped.
 */
#ifndef TALLY_BPFTOP_PROGRAM_H
#define TALLY_BPFTOP_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>

#include "base/types.h"

/* The visible reason why a program is in the kernel. Later values say more about its owner. */
enum program_hold {
	HELD_BY_NOTHING,        /* no visible reason: a process of another pid namespace, netlink, a cgroup */
	HELD_BY_MAP,            /* no process holds it, but one holds one of its maps */
	HELD_BY_PIN,
	HELD_BY_PROCESS,        /* holds a descriptor of the program, a link, or a perf event */
};

struct bpf_owner {
	enum program_hold hold;
	char *name;             /* the comm of a process, or the path of a pin; NULL if there is none */
	u32 pid;                /* the lowest pid; 0 if there is no process */
	u32 n;                  /* number of processes or pins */
	u32 last;               /* the pid that was counted last */
};

/* The kernel's counters since the program was loaded. */
struct program_counters {
	u64 runs, ns, misses;
};

struct bpf_program_seen {
	u32 id, type, uid;
	u64 loaded_ns;          /* CLOCK_BOOTTIME */
	char *name;             /* NULL if it has none */
	char tag[2 * BPF_TAG_SIZE + 1];
	u64 memory;
	u32 *map;               /* ids */
	u32 nmaps;
	u32 target_object, target_type; /* BTF ids of the target that it was loaded for; 0: unknown */
	struct program_counters before, now;    /* at the start of the interval, and at the last look */
	bool has_misses;        /* the kernel counts misses (since 5.12) */
	bool is_new, ended;     /* in this interval */
	bool seen;              /* by the current walk */
	char *attached;         /* the first place, or NULL if unknown */
	u32 attachments;
	bool by_link;           /* all attachments are links */
	struct bpf_owner owner;
};

/* The memory of a map, as the kernel charges it. */
struct bpf_map_seen {
	u32 id;
	u64 bytes;
	size_t counted;         /* number of the last row for which it was counted; 0: none */
	struct bpf_owner owner; /* used while owners are searched for */
};

/* Initialise to all zeros. */
struct bpf_programs {
	struct bpf_program_seen *program;       /* sorted by id */
	size_t n;
	struct bpf_map_seen *map;               /* sorted by id */
	size_t nmaps;
	u32 last_id;            /* the largest id so far */
	u64 unseen;             /* at least this many were loaded and removed between two looks */
	u64 search_ns, searched_ns;             /* duration and time of the last search for places and owners */
	bool frozen;            /* set by the caller: looks do not read the counters */
	bool news;              /* some program has not been searched for yet */
};

/*
 * Reads all counters. Programs seen for the first time are new, and known programs that no longer exist have ended.
 * Returns 0 or a negative errno.
 */
int bpf_programs__look(struct bpf_programs *p);

/* Takes the first look. Returns 0 or a negative errno. */
int bpf_programs__begin(struct bpf_programs *p);

/*
 * Finds places and owners. The search may take a fiftieth of the time. Before this time has passed, only new programs
 * in a report cause a search. For a report, the memory of maps is always read. Returns 0 or -ENOMEM.
 */
int bpf_programs__search(struct bpf_programs *p, bool is_report);

/* Reads the current memory of all maps. Returns 0 or -ENOMEM. */
int bpf_programs__read_maps(struct bpf_programs *p);

/* Removes programs that have ended, and begins the next interval. */
void bpf_programs__next(struct bpf_programs *p);
void bpf_programs__free(struct bpf_programs *p);

/* Find by id. Return NULL if it is unknown. */
struct bpf_program_seen *bpf_programs__find(const struct bpf_programs *p, u32 id);
struct bpf_map_seen *bpf_programs__find_map(const struct bpf_programs *p, u32 id);

/* The parts of bpf_programs__search(), for programs that have not ended. Both return 0 or -ENOMEM. */
int program_attachments__read(struct bpf_programs *p);
int program_holders__read(struct bpf_programs *p);

/*
 * Adds a place where the program is attached. Takes ownership of text; NULL means that there was no memory. Returns 0
 * or -ENOMEM.
 */
int bpf_program__add_place(struct bpf_program_seen *program, char *text);

/* Prints into newly allocated memory. Returns NULL without memory. */
char *program_text(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Reads the number that follows a name ("memlock:") in the text of fdinfo. */
bool fdinfo_number(const char *text, const char *name, u64 *number);

#endif /* TALLY_BPFTOP_PROGRAM_H */
