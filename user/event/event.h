/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events by name, from the typed text to the sites on this machine:
 *
 *   "-e TEXT"  --events__parse()-->    struct event: the event as typed, with its place in the text
 *              --events__resolve()-->  struct event_site: a match on this machine;
 *                                      a glob, an alias or a source line gives several
 *              --event/attach.h-->     attaches BPF programs to sites, in the cheapest way
 *              --event/counter.h-->    the kernel's own counters (perf_event_open)
 *
 * Parsing uses only the text and the names of PMUs in sysfs. These functions print nothing: errors are returned as a
 * struct complaint.
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
 *                Counters and tracepoints by name may be followed by terms, too: name=TEXT; where events
 *                are sampled also freq=HZ, period=N, max-stack=N, call-graph=no
 *   software  := "cpu-clock" | "page-faults" | "faults" | ...
 *   breakpoint:= "mem:" ADDRESS ["/" LENGTH] [":" access]    access: letters of r w x;
 *                ADDRESS may be SYMBOL["+" OFFSET]
 *   tracepoint:= SYSTEM ":" NAME                       both may be globs (* ? [set])
 *   function  := NAME ["+" OFFSET | ":" LINE | "%return"]   NAME may be a glob; MODULE:NAME too;
 *                in programs also a C++, Rust or Go name (event/code_name.h)
 *   user fn   := PATH ":" function, or function if a binary is given (-x); NAME may be followed by
 *                "@" SOURCE, and ";" PATTERN may be the place
 *   usdt      := "sdt_" PROVIDER ":" NAME, with a binary; "sdt:" NAME means any provider
 *   modifiers := letters of u k h G H p
 *
 * An event that ends in {a,b} expands to one event per alternative: cycles:{u,k}.
 */
#ifndef TALLY_EVENT_EVENT_H
#define TALLY_EVENT_EVENT_H

#include <linux/perf_event.h>

#include "base/complaint.h"
#include "base/types.h"
#include "event/convention.h"
#include "types/tracefs.h"

enum event_type {
	/* Counters of the kernel and the CPU: fully described by a perf_event_attr. */
	EVENT_HARDWARE,         /* cycles, and cache events */
	EVENT_RAW,              /* r003c, cpu/event=0x3c/, any PMU in sysfs */
	EVENT_SOFTWARE,
	EVENT_BREAKPOINT,       /* mem:ADDR */
	/* Places in code, to which programs are attached. */
	EVENT_TRACEPOINT,
	EVENT_KERNEL_FUNCTION,
	EVENT_USER_FUNCTION,
	EVENT_USDT,
	EVENT_TYPES,
};

/* Letters after the last colon, with perf's meaning. All false: everything counts. */
struct event_modifiers {
	bool user, kernel, hypervisor;  /* u k h: only these */
	bool guest, host;               /* G H: only these */
	u8 precise;                     /* p, pp, ppp */
	size_t at, len;                 /* position of the letters in the text */
};

/* The function and the place in it, as typed. */
struct event_function {
	char *name;             /* function name or glob */
	char *module;           /* MODULE:NAME, else NULL */
	bool is_return;         /* %return */
	bool has_entry;         /* its entry is probed too, to match each return with its call */
	bool is_call;           /* calls are measured: inlined copies are skipped, and it may never return */
	u64 offset;             /* +OFFSET, in bytes */
	u32 line;               /* :LINE, relative to the function's first line; 0: none */
	char *pattern;          /* ;PATTERN to match source lines; user functions only; else NULL */
	char *source;           /* @FILE that defines it: the end of the path; user functions only; else NULL */
};

/* True if the function names source lines, rather than its entry. */
static inline bool event_function__has_line(const struct event_function *f)
{
	return f->line || f->pattern;
}

/* How to sample an event, from its own terms. Zero members: not given. */
struct event_sampling {
	u64 hz;                 /* samples per second; excludes every */
	u64 every;              /* a sample at every Nth event */
	u32 max_stack;          /* maximum frames of each part; excludes innermost */
	bool innermost;         /* no callers */
};

/* One event as typed. */
struct event {
	enum event_type type;
	const struct event_source *source;
	char *name;             /* as typed, with modifiers, without blanks: the name in reports */
	char *label;            /* name=LABEL of an event without a PMU: the name in reports; else NULL */
	size_t at, len;         /* position in the text */
	struct event_modifiers modifiers;
	struct event_sampling sampling;
	int group;              /* shared by the events of one {...}; -1: none */
	char *binary;           /* of -x, or the part before the colon; NULL: the kernel */
	/* Depending on the type: */
	struct perf_event_attr attr;    /* counters, breakpoints; type, config*, bp_*, exclude_* */
	char *pmu;                      /* EVENT_RAW with a PMU: its name */
	char *symbol;                   /* EVENT_BREAKPOINT at a symbol, whose address is added to attr.bp_addr */
	char *system, *tracepoint;      /* EVENT_TRACEPOINT; for USDT, provider and name; may be globs */
	struct event_function function;
};

/* One place or counter on this machine that matches an event. */
struct event_site {
	const struct event *event;      /* the event it matches */
	char *name;                     /* its own name: "sched:sched_switch", "vfs_read", "libc.so.6:malloc" */
	/* Counters */
	struct perf_event_attr attr;
	double scale;                   /* value * scale is in unit; 1 if the PMU names none */
	char *unit;                     /* "Joules"; NULL: a count (or nanoseconds: is_time) */
	bool is_time;                   /* task-clock, cpu-clock, duration_time: nanoseconds */
	bool is_duration;               /* duration_time: no counter; the report supplies it */
	u64 *cpus;                      /* bit mask of the CPUs it can be opened on (cpumask); NULL: any */
	/* Tracepoints */
	u32 tracepoint_id;              /* perf_event_attr.config of PERF_TYPE_TRACEPOINT */
	int syscall;                    /* number of syscalls:sys_{enter,exit}_NAME; -1: not a system call */
	bool syscall_exit;
	bool is_raw;                    /* has a raw tracepoint of that name (not ftrace:, kprobes:) */
	/* Kernel functions */
	u64 address;                    /* of the instruction; 0 if the kernel hides addresses */
	u64 offset;                     /* from the start of the function */
	char *module;                   /* NULL: vmlinux */
	bool is_return;
	bool is_renamed;                /* the kernel has the function only under this name */
	bool is_inlined;                /* an inlined copy: arguments are not in the ABI's registers */
	/* User functions and USDT */
	u64 function;                   /* address of the function's first instruction; 0: unknown */
	bool is_named;                  /* the event has its exact name, not a glob that matches it */
	bool is_exit;                   /* is_return, with the probe on an instruction that ends the function */
	bool is_tail_call;              /* is_exit: the instruction jumps to another function */
	bool is_shared;                 /* is_exit: calls of other functions also end there */
	u32 return_bytes;               /* is_return: bytes that a return pops from the stack */
	bool is_32_bit;                 /* in a 32-bit program: arguments are on the stack, 4 bytes each */
	bool has_goroutine;             /* in Go code: a register holds the current goroutine */
	enum code_convention convention;        /* of the function */
	char *path;                     /* of the binary */
	char *symbol;                   /* the mangled symbol if name is a C++ or Rust name; else NULL */
	u64 file_offset;                /* of the instruction, in the file */
	u64 semaphore;                  /* file offset of the USDT semaphore; 0: none */
	char *arguments;                /* USDT: the note's text, "8@%rax -4@8(%rbp)" */
	u64 pc;                         /* USDT: the address in the note; distinguishes the probe's locations */
};

/* True if the site is the first instruction of a user function, before the function has set up its frame. */
static inline bool event_site__is_at_entry(const struct event_site *site)
{
	return site->event->type == EVENT_USER_FUNCTION && !site->is_return && !site->offset && !site->is_inlined;
}

/* Where to look. Zero (or NULL) members mean this machine. */
struct event_context {
	const char *binary;             /* of -x */
	const char *pmus;               /* "/sys/bus/event_source/devices"; tests use a recorded tree */
	u32 max_sites;                  /* per event; 0: EVENT_MAX_SITES */
	const u32 *pids;                /* of -p: a binary means the file that these have mapped under its name */
	size_t npids;
	bool is_everyone;               /* no process selection and no command */
	bool samples;                   /* events may have sampling terms */
	const char *command;            /* a library means the one this program would load; NULL: the one we would
					 * load */
};

/* Returns the context for -x, -p and a command (NULL: none). */
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
	size_t endless;         /* is_call functions that never return */
	size_t left_out;        /* functions of globs whose ends cannot be probed safely */
	size_t untold;          /* inlined places that may have unknown copies */
	size_t elsewhere;       /* processes that map another file under a binary's name */
	bool looked_elsewhere;
	char *several;          /* names that matched several files, all used: "libc.so.6, app"; NULL: none */
	char *lacking;          /* "prog is not linked with /lib/libc.so.6": see struct event_binaries; or NULL */
};

/*
 * Parses one -e text, which may hold several events, and appends them to *events. Returns 0 or
 * -EINVAL (-ENOMEM) with *c filled in and *events unchanged. Group numbers continue from those in
 * *events.
 */
int events__parse(struct events *events, const struct event_context *ctx, const char *text,
		  struct complaint *c);
void events__free(struct events *events);

/*
 * Finds the sites of each event, in order. An event without any site is an error: -ENOENT, with
 * similar names in the hint; -E2BIG: a glob with too many sites; -EOPNOTSUPP: this kernel lacks
 * this kind of event; -EPERM: not permitted. c->at is a position in the -e text of the event *which
 * (index in *events).
 */
int events__resolve(struct event_sites *sites, const struct events *events,
		    const struct event_context *ctx, struct complaint *c, size_t *which);
void event_sites__free(struct event_sites *sites);

/* Removes site i. */
void event_sites__remove(struct event_sites *sites, size_t i);

/*
 * Adds a zeroed site of e (scale 1, syscall -1). The pointer is valid until the next site is added.
 * NULL if out of memory.
 */
struct event_site *event_sites__add(struct event_sites *sites, const struct event *e,
				    const char *name);

/* Reads the format of a tracepoint site. Returns 0 or a negative errno. */
int event_site__read_format(struct tracepoint_format *format, const struct event_site *site,
			    int tracefs);

/* "software", "tracepoint", "kernel function", ... */
const char *event_type_name(enum event_type type);

/* --- sources of events: one file each --------------------------------------------------------- */

/* One word of the text: an event, not yet split at its modifiers' colon. */
struct event_word {
	const char *text;       /* len bytes, not NUL-terminated */
	size_t at, len;         /* position in the whole text, for complaints */
};

/* Called for each named event of a source. A non-zero result stops the listing and is returned. */
typedef int (*event_visit)(void *arg, const char *name, const char *description);

struct event_source {
	enum event_type type;
	const char *name;       /* "software", as list shows it */
	/*
	 * True if the word looks like an event of this source. Called in the order of the table in parse.c; the first
	 * source that returns true parses the word.
	 */
	bool (*claims)(const struct event_context *ctx, const struct event_word *w);
	/*
	 * Fills in the event from the word, modifiers included (event__parse_modifiers). On entry e
	 * is zero except for source, type, name, at, len, group and binary. On failure the caller
	 * frees e's members.
	 */
	int (*parse)(struct event *e, const struct event_context *ctx, const struct event_word *w,
		     struct complaint *c);
	/* Adds the event's sites. */
	int (*resolve)(struct event_sites *sites, const struct event *e,
		       const struct event_context *ctx, struct complaint *c);
	/* Lists all named events; NULL if listed elsewhere (functions of binaries). */
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
extern const struct event_source event_kernel_function; /* kernel_function.c: the last one asked */

/* True if the kernel has a function that matches the name or glob at the start of the word. */
bool kernel_has_function(const struct event_word *w);

/* True if this kernel has kprobes or fentry. */
bool kernel_functions_can_be_probed(void);

/*
 * Parses modifiers, the word's bytes from..len (after the colon): fills in e->modifiers and, for
 * counters, the exclude_* bits of e->attr. Complains, at the letter, about unknown letters and
 * about perf's letters without a meaning for this type of event.
 */
int event__parse_modifiers(struct event *e, const struct event_word *w, size_t from,
			   struct complaint *c);

/* Parses FUNC[+OFF|:LINE|%return], or with modules also MODULE:FUNC, from the word's bytes from..len. */
int event__parse_function(struct event *e, const struct event_word *w, size_t from,
			  bool modules, struct complaint *c);

/* Parses the place after a name: "%return", "+OFF", ":LINE", or nothing. The word's bytes from..len. */
int event__parse_place(struct event_function *f, const struct event_word *w, size_t from,
		       struct complaint *c);

/* Helpers for parsers. Copies the word's bytes from..to. The caller frees the copy; NULL if out of memory. */
char *event_word__copy(const struct event_word *w, size_t from, size_t to);

/* Returns the position of the first byte at or after from that is in stop; w->len if none is. */
size_t event_word__find(const struct event_word *w, size_t from, const char *stop);

/*
 * Parses the bytes from..to as one number, decimal or with 0x. Returns 0, -EINVAL, -ERANGE or
 * -ENOMEM, without a complaint.
 */
int event_word__number(const struct event_word *w, size_t from, size_t to, u64 *value);

/*
 * Sets *len to the length of the name before the modifiers: up to the first colon, or the whole word. False if the text
 * after the colon cannot be modifiers: a line, or a function name.
 */
bool event_word__base(const struct event_word *w, size_t *len);

/* Removes the events from index n to the end. */
void events__truncate(struct events *events, size_t n);

/* All sources, in the order in which claims() is called. */
extern const struct event_source *const event_sources[];
extern const size_t event_source_count;

/* --- for the sources of counters ------------------------------------------------------------ */

/* Adds a site with the event's attr, and sets attr.size. NULL if out of memory. */
struct event_site *event_sites__add_counter(struct event_sites *sites, const struct event *e,
					    const char *name);

/*
 * Same, with one site per PMU of CPU cores on hybrid CPUs. Returns the number of sites added (0:
 * not a hybrid CPU), -ENOMEM or an error from reading sysfs.
 */
int event_sites__add_per_core_pmu(struct event_sites *sites, const struct event *e,
				  const struct event_context *ctx);

#endif /* TALLY_EVENT_EVENT_H */
