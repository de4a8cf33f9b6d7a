/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is behind sym/symbols.h, for its parts: files and texts (files.c), processes and what they have
 * mapped (processes.c), addresses to names (symbols.c).
 */
#ifndef TALLY_SYM_STATE_H
#define TALLY_SYM_STATE_H

#include <sys/queue.h>
#include <sys/stat.h>

#include "sym/demangle.h"
#include "sym/jit_map.h"
#include "sym/kallsyms.h"
#include "sym/mapped_file.h"
#include "sym/mappings.h"
#include "sym/source.h"
#include "sym/symbols.h"

/* The vdso is two pages; and there is one for each kind of process the CPU can run. */
#define MAX_VDSO (64 << 10)
#define MAX_VDSOS 8

struct mapping {
	u64 start, end, offset, inode;
	u64 from_ns;            /* it is there since then, CLOCK_MONOTONIC; 0: since ever */
	const char *module;     /* interned */
	const char *path;       /* interned; NULL */
	struct mapped_file *file;       /* of code; NULL: none, or it cannot be opened */
	enum symbol_kind kind;
	bool executable;
	bool is_mixed;          /* see struct symbol */
	bool unopened;          /* a record told of it: its file is opened when it is asked for */
};

/* Current mappings of a process and of its children, as long as theirs are the same. */
struct code {
	u32 users;
	size_t n, room;
	struct mapping *mapping;        /* by address, they do not overlap */
};

/* One program in one process: another one after an exec, and after its number was used again. */
struct process {
	TAILQ_ENTRY(process) order;
	u32 pid;
	u64 from_ns, over_ns;           /* CLOCK_MONOTONIC; 0: since ever; it goes on */
	struct process *before;         /* what had the number before */
	bool is_followed;               /* it is what was before another */
	struct process_stamp stamp;     /* start_time 0: it was never seen */
	u64 seen_ns, seen_until_ns;     /* when its mappings were read: it took so long */
	bool is_told;                   /* records tell of all that it has mapped */
	struct code *code;              /* NULL: none */
	struct mapping *former;         /* what was mapped over */
	size_t nformer;
	u64 debt_ns, debt_at_ns;        /* see has_credit() */
	u64 rests_until_ns;             /* see symbols__see_again() */
	size_t kept;                    /* its part of the sum */
	bool makes_code;                /* see is_made() */
	bool jit_due;                   /* its map may have grown since it was read */
	struct jit_map jit;
};

struct vdso {
	void *image;
	size_t size;
	struct mapped_file *file;
};

struct symbols {
	void *texts, *files, *processes;        /* trees of tsearch(3) */
	TAILQ_HEAD(seen, process) seen;         /* the one seen longest ago first */
	TAILQ_HEAD(over, process) over;         /* the one that ended first */
	void *told_files;                       /* tree: see symbols__open_at_once() */
	u64 skipped, forgotten, cut, unnamed;   /* see symbols__bounds() */
	size_t text_bytes, path_bytes;          /* of all texts; of those that are names of mappings */
	bool own_vdso_read;
	size_t kept;
	size_t held;                            /* files held open, of files and JIT maps */
	size_t kept_open;                       /* and those for their code */
	struct vdso vdso[MAX_VDSOS];
	size_t nvdsos;
	bool keeps_code;                        /* files that have been read stay open for it */
	bool kernel_read;
	struct kernel_symbols kernel;
	struct demangler demangler;
	struct allowance allowance;             /* for reading files of others */
	STAILQ_HEAD(unread, mapped_file) unread;        /* names of theirs are missing, or were */
	int jit_err;                            /* why a map of compiled code was not read */
	bool with_source;
	struct sources sources;
};

/* --- files.c ----------------------------------------------------------------------------------- */

/* The one copy of a text; NULL: no memory. */
const char *symbols__intern(struct symbols *s, const char *text);

/* Reads what it has to say of names, unless that is done. 0 or -ENOMEM. */
int symbols__read_file(struct symbols *s, struct mapped_file *f);

/* The file that is open as fd, which is taken over: the one known already, or a new one. 0 or -ENOMEM. */
int symbols__add_file(struct symbols *s, int fd, const struct stat *st, struct mapped_file **file);

/* The file of a mapping. Leaves *file NULL if it cannot be opened. Returns 0 or -ENOMEM. */
int symbols__find_file(struct symbols *s, u32 pid, const struct mapping_line *line,
		       struct mapped_file **file);

/*
 * Closes the files that are not marked (is_mapped), and takes the marks off: those that were not read yet; with_names, those
 * that were, too, whose names nobody may use any more. One that is mapped again is opened again.
 */
void symbols__close_unmapped(struct symbols *s, bool with_names);

/* The vdso that is mapped there, as a file; NULL: it cannot be read. */
struct mapped_file *symbols__find_vdso(struct symbols *s, u32 pid, const struct mapping_line *line);

/* Memory of a process. 0 or a negative errno. */
int symbols__read_memory(u32 pid, u64 start, void *to, size_t size);

/* --- processes.c ------------------------------------------------------------------------------- */

/* The last one of that number, or what had it then. NULL: it was never seen. */
struct process *symbols__find_process(const struct symbols *s, u32 pid);
struct process *symbols__find_process_at(const struct symbols *s, u32 pid, u64 at_ns);

/* The mapping that an address was in then; NULL: none. */
const struct mapping *process__find_mapping(const struct process *p, u64 address, u64 at_ns);

/* Takes the size of p into the sum again. */
void symbols__count_kept(struct symbols *s, struct process *p);

/* Are these of one program in one process? */
bool process__is_same(const struct process_stamp *a, const struct process_stamp *b);

/*
 * Opens the file of a mapping that a record told of, when it is told, since the process may be gone soon and its
 * files, too; each file once. Where enough are open already, that is left for when it is asked for.
 * 0, opened or not, or -ENOMEM.
 */
int symbols__open_at_once(struct symbols *s, u32 pid, const struct mapping_line *line,
			  struct mapping *m);
int symbols__open_told(struct symbols *s, u32 pid, struct mapping *m);

/* Of one that nothing refers to any more. */
void symbols__free_process(struct symbols *s, struct process *p);

#endif /* TALLY_SYM_STATE_H */
