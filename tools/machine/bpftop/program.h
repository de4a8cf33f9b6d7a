/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs of this host, as the kernel lists them by id: what each has cost, what it is attached to, and whose
 * it is. Nothing is kept open, so a program is never kept alive by us. All texts are of others: not escaped.
 */
#ifndef TALLY_BPFTOP_PROGRAM_H
#define TALLY_BPFTOP_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>

#include "base/types.h"

/* The reason why a program is in the kernel, as far as it is seen; the last ones say most about whose it is. */
enum program_hold {
	HELD_BY_NOTHING,        /* that is seen: a process of another pid namespace, netlink, a cgroup */
	HELD_BY_MAP,            /* nobody holds it, but a process holds one of its maps */
	HELD_BY_PIN,
	HELD_BY_PROCESS,        /* its descriptor, a link's, or a perf event's */
};

struct bpf_owner {
	enum program_hold hold;
	char *name;             /* the comm of a process, or the path of a pin; NULL: nobody */
	u32 pid;                /* the least of them; 0: no process */
	u32 n;                  /* processes or pins */
	u32 last;               /* the pid that was counted last */
};

/* The kernel's counters since the program was loaded. */
struct program_counters {
	u64 runs, ns, misses;
};

struct bpf_program_seen {
	u32 id, type, uid;
	u64 loaded_ns;          /* CLOCK_BOOTTIME */
	char *name;             /* NULL: it has none */
	char tag[2 * BPF_TAG_SIZE + 1];
	u64 memory;
	u32 *map;               /* ids */
	u32 nmaps;
	u32 target_object, target_type; /* BTF ids of what it is made for; 0: unknown */
	struct program_counters before, now;    /* at the start of the interval, and when last looked at */
	bool has_misses;        /* the kernel counts them: 5.12 */
	bool is_new, ended;     /* in this interval */
	bool seen;              /* by the walk that goes on */
	char *attached;         /* the first place; NULL: unknown */
	u32 attachments;
	bool by_link;           /* these are all links */
	struct bpf_owner owner;
};

/* The memory of a map, as the kernel charges it. */
struct bpf_map_seen {
	u32 id;
	u64 bytes;
	size_t counted;         /* the number of the row it was last counted for; 0: none */
	struct bpf_owner owner; /* while owners are searched for */
};

/* Initialise to all zeros. */
struct bpf_programs {
	struct bpf_program_seen *program;       /* by id */
	size_t n;
	struct bpf_map_seen *map;               /* by id */
	size_t nmaps;
	u32 last_id;            /* the largest one so far */
	u64 unseen;             /* at least so many were loaded in this interval, and gone before anybody looked */
	u64 search_ns, searched_ns;             /* how long the last search for places and owners took; when it was */
	bool frozen;            /* set by the caller: looks leave the counters alone */
	bool news;              /* there is a program that was not searched for */
};

/*
 * Reads all counters. Programs that are there for the first time are new, those that are not there any more have ended.
 * Returns 0 or a negative errno.
 */
int bpf_programs__look(struct bpf_programs *p);

/* The first look. Returns 0 or a negative errno. */
int bpf_programs__begin(struct bpf_programs *p);

/*
 * Places and owners. The search may take a fiftieth of the time: unless that has passed, only new programs in a report
 * are a reason for it. For a report it reads the memory of maps in any case. Returns 0 or -ENOMEM.
 */
int bpf_programs__search(struct bpf_programs *p, bool is_report);

/* The memory of all maps now. Returns 0 or -ENOMEM. */
int bpf_programs__read_maps(struct bpf_programs *p);

/* Drops those that have ended, and begins the next interval. */
void bpf_programs__next(struct bpf_programs *p);
void bpf_programs__free(struct bpf_programs *p);

/* By id; NULL: not known. */
struct bpf_program_seen *bpf_programs__find(const struct bpf_programs *p, u32 id);
struct bpf_map_seen *bpf_programs__find_map(const struct bpf_programs *p, u32 id);

/* The parts of bpf_programs__search(), of programs that have not ended. Return 0 or -ENOMEM. */
int program_attachments__read(struct bpf_programs *p);
int program_holders__read(struct bpf_programs *p);

/* Adds a place where it is attached. Takes text over; NULL: there was no memory. Returns 0 or -ENOMEM. */
int bpf_program__add_place(struct bpf_program_seen *program, char *text);

/* printf() into new memory; NULL: no memory. */
char *program_text(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* The number behind a name ("memlock:") in the text of fdinfo. */
bool fdinfo_number(const char *text, const char *name, u64 *number);

#endif /* TALLY_BPFTOP_PROGRAM_H */
