/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private state of sym/symbols.h, shared by its parts: files and strings (files.c), the code of a process
 * (process_code.c), processes and their mappings (processes.c), side-band records about both (records.c), and lookup of
 * addresses (symbols.c).
 */
#ifndef TALLY_SYM_STATE_H
#define TALLY_SYM_STATE_H

#include <sys/queue.h>
#include <sys/stat.h>

#include "sym/demangle.h"
#include "sym/jit_map.h"
#include "sym/kallsyms.h"
#include "sym/loaded_code.h"
#include "sym/mapped_file.h"
#include "sym/mappings.h"
#include "sym/source.h"
#include "sym/symbols.h"

/* A vdso is two pages; each kind of process that the CPU can run has its own. */
#define MAX_VDSO (64 << 10)
#define MAX_VDSOS 8

struct mapping {
	u64 start, end, offset, inode;
	u64 from_ns;            /* when it was mapped, CLOCK_MONOTONIC; 0: always mapped */
	const char *module;     /* interned */
	const char *path;       /* interned; NULL: none */
	struct mapped_file *file;       /* with code; NULL: none, or it cannot be opened */
	enum symbol_kind kind;
	bool executable;
	bool is_mixed;          /* see struct symbol */
	bool unopened;          /* known from a record: its file is opened on first use */
};

/* Current mappings, shared by a process and its children until they diverge. */
struct code {
	u32 users;
	size_t n, room;
	struct mapping *mapping;        /* by address, not overlapping */
};

/* One program in one process: an exec or reuse of the PID starts a new one. */
struct process {
	TAILQ_ENTRY(process) order;
	u32 pid;
	u64 from_ns, over_ns;           /* CLOCK_MONOTONIC; from 0: always; over 0: still running */
	struct process *before;         /* the previous one with this pid */
	u64 gone_ns;                    /* when all its threads were known to have exited; 0: some may still run */
	struct process_stamp stamp;     /* start_time 0: never seen */
	u64 seen_ns, seen_until_ns;     /* when reading its mappings began and ended */
	bool is_told;                   /* side-band records cover all its mappings */
	struct code *code;              /* NULL: none */
	struct mapping *former;         /* replaced mappings */
	size_t nformer;
	u64 debt_ns, debt_at_ns;        /* see has_credit() */
	u64 rests_until_ns;             /* see symbols__see_again() */
	size_t kept;                    /* its share of the total */
	size_t path_bytes;              /* bytes of symbols.path_bytes charged to this process */
	bool user_known;
	u32 user;                       /* looked up on first use: see share_of_user() */
	bool makes_code;                /* see mapping_line__is_made() */
	bool jit_due;                   /* its JIT map may have grown since the last read */
	struct jit_map jit;
};

struct vdso {
	void *image;
	size_t size;
	struct mapped_file *file;
};

#define PATH_USERS 64

struct symbols {
	void *texts, *files, *processes;        /* trees of tsearch(3) */
	TAILQ_HEAD(seen, process) seen;         /* least recently seen first */
	TAILQ_HEAD(over, process) over;         /* by time of exit */
	void *told_files;                       /* tree: see symbols__open_at_once() */
	u64 skipped, forgotten, cut, unnamed;   /* see symbols__bounds() */
	size_t text_bytes, path_bytes;          /* of all strings; of mapping names */
	size_t path_bytes_of_user[PATH_USERS];  /* path_bytes per user; see share_of_user() */
	bool own_vdso_read;
	size_t kept;
	size_t held;                            /* files held open: mapped files and JIT maps */
	size_t kept_open;                       /* files kept open for their code */
	struct vdso vdso[MAX_VDSOS];
	size_t nvdsos;
	bool keeps_code;                        /* keep files open after reading, for their code */
	bool kernel_read;
	bool kernel_left;                       /* see symbols__leave_kernel() */
	struct kernel_symbols kernel;           /* as first read */
	struct kernel_symbols now, before;      /* last and previous reads of modules and BPF programs, or empty */
	struct loaded_code loaded;              /* as of the last check */
	u64 looked_ns, reread_due_ns;           /* see look_again() */
	u64 kernel_changes;
	struct demangler demangler;
	struct allowance allowance;             /* for reading other users' files */
	STAILQ_HEAD(unread, mapped_file) unread;        /* files whose symbols are or were missing */
	int jit_err;                            /* why a JIT map was not read */
	bool with_source;
	struct sources sources;
};

/* --- files.c ----------------------------------------------------------------------------------- */

/* Returns the shared copy of a string. NULL: no memory. */
const char *symbols__intern(struct symbols *s, const char *text);
const char *symbols__interned(const struct symbols *s, const char *text);       /* NULL: not interned */

/*
 * Marks an interned string so that symbols__drop_texts() keeps it; symbols__drop_texts() clears the marks. Returns its
 * size in bytes, or 0 if it was already marked.
 */
size_t symbols__keep_text(const char *text);
void symbols__keep_told_texts(struct symbols *s);       /* paths of files known from records */
void symbols__drop_texts(struct symbols *s);
void symbols__free_texts(struct symbols *s);

/* Reads a file's symbols, once. Returns 0 or -ENOMEM. */
int symbols__read_file(struct symbols *s, struct mapped_file *f);

/* Takes ownership of fd. Sets *file to the known file that fd refers to, or to a new one. Returns 0 or -ENOMEM. */
int symbols__add_file(struct symbols *s, int fd, const struct stat *st, struct mapped_file **file);

/* Same. Its debug file is searched beside the path name, in the root of process pid (0: ours). */
int symbols__add_named(struct symbols *s, int fd, const struct stat *st, u32 pid, const char *name,
		       struct mapped_file **file);

/*
 * Adds a file whose server does not answer (opener__is_unanswered()). The file has no symbols, and the report names it.
 * The mapping supplies its identity. Returns 0 or -ENOMEM.
 */
int symbols__add_unanswered(struct symbols *s, const struct mapping_line *line, int why, struct mapped_file **file);

/* Finds the file of a mapping. Leaves *file NULL if it cannot be opened. Returns 0 or -ENOMEM. */
int symbols__find_file(struct symbols *s, u32 pid, const struct mapping_line *line,
		       struct mapped_file **file);

/*
 * Closes unread files that are not marked (is_mapped), and clears the marks. with_names: also closes files that were
 * read; their names must no longer be in use. A file that is mapped again is reopened.
 */
void symbols__close_unmapped(struct symbols *s, bool with_names);

/* Returns the vdso mapped there as a file, NULL if it cannot be read. */
struct mapped_file *symbols__find_vdso(struct symbols *s, u32 pid, const struct mapping_line *line);

/* Reads memory of a process. Returns 0 or a negative errno. */
int symbols__read_memory(u32 pid, u64 start, void *to, size_t size);

/* --- process_code.c ---------------------------------------------------------------------------- */

/* Returns the mapping that contained an address at that time, or NULL. */
const struct mapping *process__find_mapping(const struct process *p, u64 address, u64 at_ns);

/* Same for the current mappings, regardless of time. */
const struct mapping *process__find_current(const struct process *p, u64 address);

/* Takes ownership of the array, also on failure. NULL: no memory. */
struct code *code__new(struct mapping *mapping, size_t n);

/* Drops one user's reference; c may be NULL. */
void code__let_go(struct code *c);

/* Unshares p's code, and makes room for more mappings. Returns 0 or -ENOMEM. */
int process__own_code(struct process *p, size_t more);

/* True if both mappings give the same names. */
bool mapping__is_same_code(const struct mapping *a, const struct mapping *b);

/* Limit per process: code that is no longer mapped, but may be in earlier stacks. */
#define MAX_FORMER 4096

/* Keeps a replaced mapping, unless the new one has the same names. Dropped if out of memory. */
void process__keep_former(struct process *p, const struct mapping *old, const struct mapping *new);

/* --- files.c ----------------------------------------------------------------------------------- */

/*
 * Opens the file of a mapping when its record arrives, since the process may soon exit and the file may soon be
 * removed. Each file is opened once. If enough files are open already, it is opened on first use instead. Returns 0,
 * opened or not, or -ENOMEM.
 */
int symbols__open_at_once(struct symbols *s, u32 pid, const struct mapping_line *line,
			  struct mapping *m);
int symbols__open_told(struct symbols *s, u32 pid, struct mapping *m);
/* Same for callers that need the file now: opens it even if too many files are open. */
int symbols__open_now(struct symbols *s, u32 pid, struct mapping *m);

/* --- processes.c ------------------------------------------------------------------------------- */

/* Finds the last process with that PID, or the process with that PID at that time. NULL: never seen. */
struct process *symbols__find_process(const struct symbols *s, u32 pid);
struct process *symbols__find_process_at(const struct symbols *s, u32 pid, u64 at_ns);

/* Updates the share of p in the total. */
void symbols__count_kept(struct symbols *s, struct process *p);

/* True if both stamps belong to one program in one process. */
bool process__is_same(const struct process_stamp *a, const struct process_stamp *b);

/* Frees a process that nothing refers to. */
void symbols__free_process(struct symbols *s, struct process *p);

/* Adds a process that begins at from_ns; the previous one with that PID has ended. NULL: no memory. */
struct process *symbols__add_process(struct symbols *s, u32 pid, u64 from_ns);

/* Ends the process or its current program. */
void symbols__end_process(struct symbols *s, struct process *p, u64 at_ns);

/* Makes p the most recently seen process, and forgets the oldest processes above the limit. */
void symbols__note_seen(struct symbols *s, struct process *p);

/* True if the name is a path. (The kernel's internal files have names that look like paths.) */
bool mapping_line__has_path(const struct mapping_line *line);

/* True if it can be generated code, which is anonymous or in an unlinked file. */
bool mapping_line__is_made(const struct mapping_line *line);

/* Sets module and path, within limits for names. Returns 0 or -ENOMEM. */
int symbols__name_mapping(struct symbols *s, struct process *p, const struct mapping_line *line, struct mapping *m);

/*
 * Opens the process's JIT map if the process can have one; the map may appear at any time. Returns 0 or a negative
 * errno.
 */
int symbols__take_jit_map(struct symbols *s, struct process *p);

#endif /* TALLY_SYM_STATE_H */
