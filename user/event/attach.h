/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hanging BPF programs on the sites of events, each the cheapest way that works here:
 *
 *   a system call        raw tracepoints sys_enter and sys_exit, one program for all of them; with
 *                        compiled functions, one for all that have the same
 *   a tracepoint         raw tracepoint; the tracepoint's perf event where it has none
 *   a kernel function    fentry, fexit (a few of them); kprobe.multi; kprobe
 *   a user function      uprobe.multi; uprobe
 *
 * An object offers template programs (bpf/lib/event.bpf.h); from them a program per site is loaded that
 * knows its slot, or one for all where the kernel hands out cookies.
 *
 *   attach__plan()      on the opened object: decides, and has libbpf load what is needed
 *   attach__sites()     on the loaded object; a gate in the programs is opened after it
 *   attach__release()
 */
#ifndef TALLY_EVENT_ATTACH_H
#define TALLY_EVENT_ATTACH_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "bpf/lib/event.h"
#include "event/attach_module.h"
#include "event/event.h"

enum attach_way {
	ATTACH_SYSCALL, /* raw tracepoints sys_enter, sys_exit; the slot by number */
	ATTACH_RAW_TRACEPOINT,
	ATTACH_TRACEPOINT,
	ATTACH_FENTRY,
	ATTACH_FEXIT,
	ATTACH_KPROBE_MULTI,
	ATTACH_KPROBE,
	ATTACH_UPROBE_MULTI,
	ATTACH_UPROBE,
	ATTACH_WAYS,
};

/* The templates of an object. Those a tool has no use for may be NULL if no event needs them. */
struct attach_programs {
	/* Of all that follow; NULL: none has global functions. */
	const struct bpf_object *object;
	struct bpf_program *sys_enter, *sys_exit;       /* SEC("raw_tp/sys_enter"), sys_exit */
	struct bpf_program *raw_tracepoint;             /* SEC("raw_tp"), about the current task */
	struct bpf_program *raw_tracepoint_task;        /* about the task in its first argument */
	struct bpf_program *tracepoint;                 /* SEC("tracepoint") */
	struct bpf_program *filtered_tracepoint;        /* the same with compiled functions */
	/* The same for system calls (bpf/events/syscall_event.bpf.h); NULL: filtered_tracepoint does. */
	struct bpf_program *syscall_enter, *syscall_exit;
	struct bpf_map *syscall_slots;
	struct bpf_program *fentry, *fexit; /* SEC("fentry"), SEC("fexit"); NULL: never this way */
	struct bpf_program *probe;	    /* SEC("kprobe"): kprobes, uprobes, returns */
	struct bpf_program *probes;                     /* SEC("kprobe"), slot from the cookie */
};

struct attachments {
	enum attach_way *way;           /* of each site */
	const struct bpf_object *object;        /* of the programs */
	const struct attach_code *code; /* likewise; NULL: none */
	size_t nsites;
	size_t attached[ATTACH_WAYS];   /* sites */
	size_t refused;                 /* sites of globs that the kernel would not have */
	size_t left_out;                /* event_sites.left_out */
	size_t untold;                  /* and event_sites.untold */
	size_t elsewhere;               /* event_sites.elsewhere */
	int *fd;                        /* what keeps them attached */
	size_t nfds;
	u32 syscall_copies;             /* of syscall_enter and syscall_exit */
	u32 *program;                   /* ids of the copies that were loaded */
	size_t nprograms;
	struct attach_modules modules;  /* of the sites */
};

/*
 * A compiled function (jit/compile.h) that takes the place of one in the template (event/splice.h).
 */
struct attach_body {
	const struct bpf_insn *insn;
	size_t n;               /* 0: none */
};

/* What is compiled for a site. Only by_record has to be known when the way is chosen. */
struct attach_code {
	struct attach_body body[EVENT_BODIES];
	bool by_record;         /* it reads the record of the tracepoint */
};

/*
 * Chooses a way for each site that is no counter, and which templates are loaded. code has one for
 * each site, or is NULL; it must live as long as *a, and what is compiled may be filled in until
 * attach__sites(), when the ways are known. Also sizes the map of slots of system calls. Returns 0
 * or a negative errno.
 */
int attach__plan(struct attachments *a, const struct event_sites *sites,
		 const struct attach_code *code, const struct attach_programs *programs);

/*
 * Attaches: slot[i] is what the program is told at site i. For ATTACH_SYSCALL without compiled
 * functions the tool has written the slots into its own table. A site the kernel refuses is an
 * error if it was named in full, with *c about its event and *which its site; of a glob it is
 * counted in a->refused and named with -v.
 */
int attach__sites(struct attachments *a, const struct event_sites *sites, const u32 *slot,
		  const struct attach_programs *programs, struct complaint *c, size_t *which);

/*
 * "raw tracepoints sys_enter and sys_exit (4 events), kprobe.multi (61 sites)"; what was used, what was
 * left out, and which modules were removed until now.
 */
void attach__describe(const struct attachments *a, char *text, size_t size);

/* Runs of the attached programs that the kernel skipped (recursion_misses, since 5.12). */
u64 attach__misses(const struct attachments *a);

void attach__release(struct attachments *a);

const char *attach_way_name(enum attach_way way);

/*
 * Is the event of this tracepoint about the task in its first argument (a wakee), not the current?
 */
bool tracepoint_has_task(const char *name);

#endif /* TALLY_EVENT_ATTACH_H */
