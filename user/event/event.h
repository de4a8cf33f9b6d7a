/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events by name, from what people type to what exists here:
 *
 *   "-e TEXT"  --events__parse()-->    struct event: what was asked for, with its place in the text
 *              --events__resolve()-->  struct event_site: what exists on this machine under that
 *                                      name; a glob, an alias or a source line becomes several
 *              --event/attach.h-->     BPF programs on sites, the cheapest way there is
 *              --event/counter.h-->    the kernel's own counters (perf_event_open)
 *
 * Parsing looks at the text alone, except that the names of PMUs come from sysfs. Nothing here
 * prints: what is wrong comes back as a struct complaint.
 *
 * The grammar is perf's (perf-list(1), perf-record(1) -e, perf-probe(1)):
 *
 *   list      := item {"," item}                     no blanks needed, blanks around items allowed
 *   item      := event | "{" list "}" [":" modifiers]
 *   event     := hardware | cache | raw | pmu | software | breakpoint   [":" modifiers]
 *              | tracepoint [":" modifiers] | function | user function | usdt
 *   hardware  := "cycles" | "instructions" | ...
 *   cache     := "L1-dcache-load-misses" | "LLC-loads" | ...
 *   raw       := "r" HEX
 *   pmu       := NAME "/" [term {"," term}] "/"        term := NAME ["=" NUMBER]
 *   software  := "cpu-clock" | "page-faults" | "faults" | ...
 *   breakpoint:= "mem:" ADDRESS ["/" LENGTH] [":" access]    access: letters of r w x;
 *                ADDRESS may be SYMBOL["+" OFFSET]
 *   tracepoint:= SYSTEM ":" NAME                       both may be globs (* ? [set])
 *   function  := NAME ["+" OFFSET | ":" LINE | "%return"]   NAME may be a glob; MODULE:NAME too
 *   user fn   := PATH ":" function, or function when a binary is given (-x); behind its NAME may stand
 *                "@" SOURCE, and as a place ";" PATTERN
 *   usdt      := "sdt_" PROVIDER ":" NAME, with a binary; "sdt:" NAME any provider
 *   modifiers := letters of u k h G H p
 *
 * An event that ends in {a,b} stands for one event with each: cycles:{u,k}.
 */
#ifndef TALLY_EVENT_EVENT_H
#define TALLY_EVENT_EVENT_H

#include <linux/perf_event.h>

#include "base/complaint.h"
#include "base/types.h"
#include "types/tracefs.h"

enum event_type {
	/* Counters of the kernel and the CPU: a perf_event_attr says it all. */
	EVENT_HARDWARE,         /* cycles, and cache events */
	EVENT_RAW,              /* r003c, cpu/event=0x3c/, any PMU in sysfs */
	EVENT_SOFTWARE,
	EVENT_BREAKPOINT,       /* mem:ADDR */
	/* Places in code, that programs are attached to. */
	EVENT_TRACEPOINT,
	EVENT_KERNEL_FUNCTION,
	EVENT_USER_FUNCTION,
	EVENT_USDT,
	EVENT_TYPES,
};

/* Letters behind the last colon, perf's meaning. All false: everything counts. */
struct event_modifiers {
	bool user, kernel, hypervisor;  /* u k h: only these */
	bool guest, host;               /* G H: only these */
	u8 precise;                     /* p, pp, ppp */
	size_t at, len;                 /* where the letters stand */
};

/* Where in a function: from its name to the site. */
struct event_function {
	char *name;             /* of the function, or a glob */
	char *module;           /* MODULE:NAME, else NULL */
	bool is_return;         /* %return */
	bool has_entry;         /* its entry is looked at, too: each end is told whose it is */
	u64 offset;             /* +OFFSET, in bytes */
	u32 line;               /* :LINE, counted from the function's first; 0: none */
	char *pattern;          /* ;PATTERN, of the text of lines; user functions only; else NULL */
	char *source;           /* @FILE it is defined in: the end of its path; likewise */
};

/* Is it about lines, and not about where the function begins? */
static inline bool event_function__has_line(const struct event_function *f)
{
	return f->line || f->pattern;
}

/* One event as typed. */
struct event {
	enum event_type type;
	const struct event_source *source;
	char *name;             /* as typed, without blanks and with its modifiers: its name in reports */
	char *label;            /* name=LABEL of an event that is no PMU's: its name in reports; else NULL */
	size_t at, len;         /* its place in the text */
	struct event_modifiers modifiers;
	int group;              /* events of one {...} share this; -1: none */
	char *binary;           /* of -x, or what stood before the colon; NULL: the kernel */
	/* The one that belongs to the type: */
	struct perf_event_attr attr;    /* counters, breakpoints; type, config*, bp_*, exclude_* */
	char *pmu;                      /* EVENT_RAW by PMU: its name */
	char *symbol;                   /* EVENT_BREAKPOINT at a symbol: attr.bp_addr is added to it */
	char *system, *tracepoint;      /* EVENT_TRACEPOINT; USDT: provider and name; may be globs */
	struct event_function function;
};

/* One thing that exists here under the name of an event. */
struct event_site {
	const struct event *event;      /* asked for by this one */
	char *name;                     /* its own: "sched:sched_switch", "vfs_read", "libc.so.6:malloc" */
	/* Counters */
	struct perf_event_attr attr;
	double scale;                   /* value * scale is in unit; 1 where the PMU names none */
	char *unit;                     /* "Joules"; NULL: a count (or nanoseconds: is_time) */
	bool is_time;                   /* task-clock, cpu-clock, duration_time: nanoseconds */
	bool is_duration;               /* duration_time: counted by nobody, the report knows it */
	u64 *cpus;                      /* the CPUs it can be opened on (cpumask), a bit each; NULL: any */
	/* Tracepoints */
	u32 tracepoint_id;              /* perf_event_attr.config of PERF_TYPE_TRACEPOINT */
	int syscall;                    /* number of syscalls:sys_{enter,exit}_NAME; -1: another one */
	bool syscall_exit;
	bool is_raw;                    /* a raw tracepoint of that name exists (no ftrace:, no kprobes:) */
	/* Kernel functions */
	u64 address;                    /* of the instruction, 0 where the kernel hides addresses */
	u64 offset;                     /* from the start of the function */
	char *module;                   /* NULL: vmlinux */
	bool is_return;
	bool is_renamed;                /* the kernel has what was asked for under this name only */
	bool is_inlined;                /* a place where the function is inlined: its arguments are not
					 * in the registers of the ABI */
	/* User functions and USDT */
	u64 function;                   /* address of the function's first instruction; 0: unknown */
	bool is_exit;                   /* is_return, by a probe on an instruction that ends it */
	bool is_tail_call;              /* is_exit: the instruction jumps to another function */
	bool is_shared;                 /* is_exit: calls of other functions end there, too */
	u32 return_bytes;               /* is_return: what a return takes off the stack */
	bool is_32_bit;                 /* of a 32-bit program: arguments are on the stack, 4 bytes each */
	char *path;                     /* of the binary */
	char *symbol;                   /* that a name of C++ or Rust stands for; NULL: it is a plain one */
	u64 file_offset;                /* of the instruction, in the file */
	u64 semaphore;                  /* file offset of the USDT semaphore; 0: none */
	char *arguments;                /* USDT: the note's text, "8@%rax -4@8(%rbp)" */
	u64 pc;                         /* USDT: the address in the note, to tell locations apart */
};

/* Where to look. Zeroes (and NULLs) mean this machine. */
struct event_context {
	const char *binary;             /* of -x */
	const char *pmus;               /* "/sys/bus/event_source/devices"; tests use a recorded tree */
	u32 max_sites;                  /* of one event; 0: EVENT_MAX_SITES */
	const u32 *pids;                /* of -p: a binary is the file that these have mapped by its name */
	size_t npids;
	bool is_everyone;               /* processes are not chosen, nor is there a command */
	const char *command;            /* a library is the one that this program would load; NULL: as we do */
};

/* Of -x, -p and a command (NULL: none). */
static inline struct event_context event_context__of(const char *binary, const u32 *pids, size_t npids,
						     char *const *command)
{
	return (struct event_context){
		.binary = binary, .pids = pids, .npids = npids, .is_everyone = !npids && !command,
		.command = command ? command[0] : NULL,
	};
}

#define EVENT_MAX_SITES 10000

struct events {
	struct event *event;
	size_t n;
};

struct event_sites {
	struct event_site *site;
	size_t n;
	size_t left_out;        /* functions of globs whose ends cannot be seen without harm */
	size_t untold;          /* places of inlined functions that may have more copies */
	size_t elsewhere;       /* processes that have another file of a binary's name mapped */
	bool looked_elsewhere;
};

/*
 * Parses one -e text, which may hold several events, and adds them to *events. Returns 0 or
 * -EINVAL (-ENOMEM) with *c filled in; then *events is as it was. Groups are numbered on from
 * those already there.
 */
int events__parse(struct events *events, const struct event_context *ctx, const char *text,
		  struct complaint *c);
void events__free(struct events *events);

/*
 * Finds out what exists here for each event, in order. An event that stands for nothing is an
 * error: -ENOENT, with what is near it in the hint; -E2BIG is a glob with too many sites; -EOPNOTSUPP
 * a kind of event that this kernel lacks; -EPERM what may not be looked at. c->at is a
 * place in the -e text that the event came from; *which (index in *events) says which event.
 */
int events__resolve(struct event_sites *sites, const struct events *events,
		    const struct event_context *ctx, struct complaint *c, size_t *which);
void event_sites__free(struct event_sites *sites);

/*
 * Adds a zeroed site that belongs to e (scale 1, syscall -1), good until the next one is added.
 * NULL without memory.
 */
struct event_site *event_sites__add(struct event_sites *sites, const struct event *e,
				    const char *name);

/* Reads the format of a tracepoint's site. Returns 0 or a negative errno. */
int event_site__read_format(struct tracepoint_format *format, const struct event_site *site,
			    int tracefs);

/* "software", "tracepoint", "kernel function", ... */
const char *event_type_name(enum event_type type);

/* --- sources of events: one file each --------------------------------------------------------- */

/* One word of the text: an event without its modifiers' colon taken apart. */
struct event_word {
	const char *text;       /* len bytes, not terminated */
	size_t at, len;         /* place in the whole text, for complaints */
};

/* For each event that a source knows of by name. Returning non-zero stops and is passed on. */
typedef int (*event_visit)(void *arg, const char *name, const char *description);

struct event_source {
	enum event_type type;
	const char *name;       /* "software", as list shows it */
	/*
	 * Does the word look like one of this source's? Asked in the order of the table in event.c;
	 * the first that says yes parses it.
	 */
	bool (*claims)(const struct event_context *ctx, const struct event_word *w);
	/*
	 * Fills in the event from the word, modifiers included (event__parse_modifiers). e is
	 * zeroed but for source, type, name, at, len, group and binary. On failure the caller
	 * frees what was filled in.
	 */
	int (*parse)(struct event *e, const struct event_context *ctx, const struct event_word *w,
		     struct complaint *c);
	/* Adds the sites of the event. */
	int (*resolve)(struct event_sites *sites, const struct event *e,
		       const struct event_context *ctx, struct complaint *c);
	/* Names all events there are; NULL where that is somebody else's job (functions of binaries). */
	int (*list)(const struct event_context *ctx, event_visit visit, void *arg);
};

extern const struct event_source event_hardware;        /* hardware.c: cycles, cache events */
extern const struct event_source event_software;        /* software.c */
extern const struct event_source event_raw;             /* raw.c: r003c */
extern const struct event_source event_pmu;             /* pmu.c: NAME/terms/ and sysfs events */
extern const struct event_source event_breakpoint;      /* breakpoint.c */
extern const struct event_source event_tracepoint;      /* tracepoint.c */
extern const struct event_source event_usdt;            /* usdt.c */
extern const struct event_source event_user_function;   /* user_function.c */
extern const struct event_source event_kernel_function; /* kernel_function.c: what is left */

/*
 * Modifiers, the word's bytes from..len (behind the colon): fills in e->modifiers and, for
 * counters, the exclude_* bits of e->attr. Letters perf has but that mean nothing for this type of event,
 * and letters there are none of, are complained about where they stand.
 */
int event__parse_modifiers(struct event *e, const struct event_word *w, size_t from,
			   struct complaint *c);

/*
 * FUNC[+OFF|:LINE|%return], MODULE:FUNC where modules is set. The word's bytes from..len.
 */
int event__parse_function(struct event *e, const struct event_word *w, size_t from,
			  bool modules, struct complaint *c);

/* What stands behind a name: "%return", "+OFF", ":LINE", or nothing. The word's bytes from..len. */
int event__parse_place(struct event_function *f, const struct event_word *w, size_t from,
		       struct complaint *c);

/* Helpers for parsers: a copy of a part of a word, from..to. */
char *event_word__copy(const struct event_word *w, size_t from, size_t to);

/* The first of the bytes in stop at or behind from; w->len if there is none. */
size_t event_word__find(const struct event_word *w, size_t from, const char *stop);

/*
 * The number that the bytes from..to are, decimal or with 0x, and nothing else: 0, -EINVAL,
 * -ERANGE or -ENOMEM, without a complaint.
 */
int event_word__number(const struct event_word *w, size_t from, size_t to, u64 *value);

/*
 * Where the name in front of modifiers ends: at the first colon, or the whole word. False when
 * what stands behind the colon is no modifier for certain: a line, or the name of a function.
 */
bool event_word__base(const struct event_word *w, size_t *len);

/* All sources, in the order in which they are asked whether a word is theirs. */
extern const struct event_source *const event_sources[];
extern const size_t event_source_count;

/* --- for the sources of counters ------------------------------------------------------------ */

/* Adds a site with the event's attr, its size set. NULL without memory. */
struct event_site *event_sites__add_counter(struct event_sites *sites, const struct event *e,
					    const char *name);

/*
 * The same on all PMUs of CPU cores where there are several kinds of them (hybrid CPUs): a site
 * for each. Returns how many were added (0: an ordinary CPU), -ENOMEM or what reading sysfs says.
 */
int event_sites__add_per_core_pmu(struct event_sites *sites, const struct event *e,
				  const struct event_context *ctx);

/* type and config of a hardware or cache event by name; false if there is none. */
bool event_hardware_attr(const char *name, struct perf_event_attr *attr);

#endif /* TALLY_EVENT_EVENT_H */
