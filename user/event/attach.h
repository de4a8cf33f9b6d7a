/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches BPF programs to event sites, each in the cheapest way that this kernel supports:
 *
 *   a system call        raw tracepoints sys_enter and sys_exit, one program for all of them;
 *                        one program per distinct set of compiled functions
 *   a tracepoint         raw tracepoint, or else the tracepoint's perf event
 *   a kernel function    fentry, fexit (a few of them); kprobe.multi; kprobe
 *   a user function      uprobe.multi; uprobe
 *
 * An object provides template programs (bpf/lib/event.bpf.h). If the kernel supports cookies, one program serves all
 * sites; otherwise each site gets a copy of the template with its slot built in. Consecutive functions with the same
 * slot share a copy.
 *
 *   attach__plan()      on the opened object: chooses ways, and sets which programs libbpf loads
 *   attach__sites()     on the loaded object; open the programs' gate afterwards
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
	ATTACH_SYSCALL, /* raw tracepoints sys_enter and sys_exit; slot by system call number */
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

/* The object's template programs. Templates that no event needs may be NULL. */
struct attach_programs {
	/* The object that contains the programs below. NULL if none of them has global functions. */
	const struct bpf_object *object;
	struct bpf_program *sys_enter, *sys_exit;       /* SEC("raw_tp/sys_enter"), sys_exit */
	struct bpf_program *raw_tracepoint;             /* SEC("raw_tp"): subject is the current task */
	struct bpf_program *raw_tracepoint_task;        /* subject is the task in the first argument */
	struct bpf_program *tracepoint;                 /* SEC("tracepoint") */
	struct bpf_program *filtered_tracepoint;        /* same, with compiled functions */
	/* Same for system calls (bpf/events/syscall_event.bpf.h). NULL: filtered_tracepoint is used. */
	struct bpf_program *syscall_enter, *syscall_exit;
	struct bpf_map *syscall_slots;
	struct bpf_program *fentry, *fexit; /* SEC("fentry"), SEC("fexit"); NULL: never used */
	struct bpf_program *probe;	    /* SEC("kprobe"): kprobes, uprobes, returns */
	/* SEC("kprobe"), slot from the cookie; the same as probe if that needs no slot. */
	struct bpf_program *probes;
	u32 pid;                /* user functions: only in this process; 0: in all */
};

struct attachments {
	enum attach_way *way;           /* per site */
	const struct bpf_object *object;        /* of the programs */
	const struct attach_code *code; /* per site; NULL: none */
	size_t nsites;
	size_t attached[ATTACH_WAYS];   /* sites */
	size_t refused;                 /* sites of globs that the kernel refused */
	bool program_refused;           /* the kernel last refused the program, not the site */
	size_t left_out;                /* event_sites.left_out */
	size_t untold;                  /* event_sites.untold */
	size_t elsewhere;               /* event_sites.elsewhere */
	const char *several;            /* event_sites.several */
	int *fd;                        /* links and perf events that keep the programs attached */
	size_t nfds;
	u32 syscall_copies;             /* copies of syscall_enter and syscall_exit */
	struct attach_made {            /* the last copy made for a function; the next sites may share it */
		struct bpf_program *template;   /* NULL: none */
		enum bpf_attach_type attach;
		const struct attach_code *code;
		u32 slot;
		int fd;
	} last;
	u32 *program;                   /* ids of the loaded copies */
	size_t nprograms;
	struct attach_modules modules;  /* of the sites */
};

/* A compiled function (jit/compile.h) that replaces one of the template's (event/splice.h). */
struct attach_body {
	const struct bpf_insn *insn;
	size_t n;               /* 0: none */
};

/* The functions compiled for a site. Choosing a way needs only by_record. */
struct attach_code {
	struct attach_body body[EVENT_BODIES];
	bool by_record;         /* reads the tracepoint's record */
};

/*
 * Chooses a way for each site that is not a counter, selects the templates to load, and sizes the slot map of system
 * calls. code has one element per site, or is NULL; it must outlive *a. Its bodies may be filled in after this call,
 * when the ways are known, and before attach__sites(). Returns 0 or a negative errno.
 */
int attach__plan(struct attachments *a, const struct event_sites *sites,
		 const struct attach_code *code, const struct attach_programs *programs);

/*
 * Attaches the programs; site i is passed slot[i]. For ATTACH_SYSCALL without compiled functions, the tool has already
 * written the slots into its own table. Returns 0 or a negative errno. If the kernel refuses a site that was named in
 * full, *c describes the error and *which is the site. Refused sites of a glob are counted in a->refused and listed
 * with -v.
 */
int attach__sites(struct attachments *a, const struct event_sites *sites, const u32 *slot,
		  const struct attach_programs *programs, struct complaint *c, size_t *which);

/*
 * Writes the ways used, "raw tracepoints sys_enter and sys_exit (4 events), kprobe.multi (61 sites)", the sites left
 * out, and the modules removed so far.
 */
void attach__describe(const struct attachments *a, char *text, size_t size);

/* Runs of the attached programs that the kernel skipped (recursion_misses, since 5.12). */
u64 attach__misses(const struct attachments *a);

void attach__release(struct attachments *a);

/* Releases both together, so that the kernel's grace periods overlap (files/closing.h). */
void attach__release_both(struct attachments *a, struct attachments *b);

const char *attach_way_name(enum attach_way way);

/* True if the subject of this tracepoint is the task in its first argument (a wakee), not the current task. */
bool tracepoint_has_task(const char *name);

#endif /* TALLY_EVENT_ATTACH_H */
