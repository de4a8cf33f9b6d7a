/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What debug information (DWARF, through elfutils' libdw) says about functions, lines and
 * variables of a program or of the kernel. The files are not trusted: sizes, depths and loops are
 * capped, libdw checks the rest, and those of programs are read by a process without rights
 * (base/confined.h), one for each that is open. Nothing is fetched from the network (debuginfod).
 *
 * A function may exist in several places: once out of line and once in each function it is
 * inlined into, and several files may have a static function of that name. Each of these is found.
 *
 * All functions return 0 or a negative errno: -EOPNOTSUPP in a build without libdw,
 * -EBADMSG where the debug information is damaged or larger than it may be, -ENOENT where
 * there is no such thing in it, -ENOMEM, -ETIME where it takes more than DWARF_ANSWER_NS, -EINTR
 * where a signal waits.
 */
#ifndef TALLY_TYPES_DWARF_H
#define TALLY_TYPES_DWARF_H

#include "base/types.h"

struct dwarf;

#define DWARF_ANSWER_NS (60 * NSEC_PER_SEC)

/*
 * Opens the debug information of an ELF file: its own, or the separate file that belongs to it
 * (by build ID below /usr/lib/debug, or .gnu_debuglink). Addresses are virtual ones in the file's
 * numbering (binary__file_offset() turns them into what uprobes want). -ENODATA: there is none;
 * -ENOEXEC: no ELF file. The caller closes it.
 */
int dwarf__open(struct dwarf **d, const char *path);

/*
 * Opens that of a file which is open for reading, and nothing else: no separate file, no unwind
 * tables; it is read here, so here is to be a process without rights. alt_fd is the file that dwz(1) has moved shared parts to, -1: none. Both are taken over,
 * also on failure, and mapped: see elf_file__map_fd().
 */
int dwarf__open_fd(struct dwarf **d, int fd, int alt_fd);

/*
 * Opens that of the running kernel (module NULL: vmlinux), from the places where distributions
 * put it, if its build ID is that of what runs. Addresses are those before any relocation
 * (KASLR, module loading): use function and offset. root is "" (tests: a directory in front of all
 * paths). -ENODATA: nowhere.
 */
int dwarf__open_kernel(struct dwarf **d, const char *root, const char *module);

void dwarf__close(struct dwarf *d);

/* The file that the debug information is in. */
const char *dwarf__path(const struct dwarf *d);

/* --- functions -------------------------------------------------------------------------------- */

/* One body of a function: out of line, or inlined somewhere. */
struct dwarf_place {
	u64 address;            /* of its first instruction */
	u64 body;               /* where its arguments are in place: behind a prologue */
	bool is_inlined;
	bool has_untold;        /* it may have copies (of an unrolled loop) that cannot be told */
	char *function;         /* the out-of-line function that holds it: itself unless inlined */
	u64 offset;             /* of address, from the start of that function */
	u64 entry;              /* where the debug information has it: finds it again */
};

struct dwarf_function {
	char *name;             /* as in the source: "push_back"; linkage where it has one */
	char *linkage;          /* "_ZN3foo3barEv", NULL in C */
	char *file;             /* where it is defined, NULL: not said */
	u32 line;               /* its first line there, 0: not said */
	struct dwarf_place *place;      /* by address */
	size_t nplaces;
};

struct dwarf_functions {
	struct dwarf_function *function;        /* by name, then file and line */
	size_t n;
};

/* Functions with code whose name or linkage name matches a glob (fnmatch(3); NULL: all). */
int dwarf_functions__find(struct dwarf_functions *found, struct dwarf *d, const char *name);
void dwarf_functions__free(struct dwarf_functions *f);

/* The place that an address of the function is in: the last that begins before it; or NULL. */
const struct dwarf_place *dwarf_function__place(const struct dwarf_function *f, u64 address);

/* --- lines ------------------------------------------------------------------------------------ */

/*
 * A line that a probe can be put on. Its addresses are the instructions by which control comes
 * to it from another line, in each place of the function: all of them have to be probed to see
 * every execution. A line that is left and come back to (the head of a loop) counts each time.
 */
struct dwarf_line {
	u32 line;               /* in the file */
	u32 relative;           /* from the function's first line, 0, as in perf probe -L */
	u64 *address;           /* rising */
	size_t naddresses;
};

struct dwarf_lines {
	char *file;             /* as the compiler named it: its path may begin in directory */
	char *directory;        /* that it ran in; NULL: not said */
	struct dwarf_line *line;        /* rising */
	size_t n;
};

/* The lines of one function: those in the file it is defined in. */
int dwarf_lines__of(struct dwarf_lines *lines, struct dwarf *d, const struct dwarf_function *f);

/*
 * The lines of a source file, whose path ends with file ("main.c", "src/main.c"). relative is
 * that of no function: 0.
 */
int dwarf_lines__of_file(struct dwarf_lines *lines, struct dwarf *d, const char *file);

/* Has the line table a row for exactly this address? An instruction begins there then. */
bool dwarf__has_row(struct dwarf *d, u64 address);
void dwarf_lines__free(struct dwarf_lines *lines);

/* --- variables -------------------------------------------------------------------------------- */

enum dwarf_where {
	DWARF_NOWHERE,          /* optimized out, or not live here */
	DWARF_REGISTER,         /* the value is in the register */
	DWARF_MEMORY,           /* the value is in memory at register + offset */
	DWARF_STATIC,           /* the value is in memory at address offset, as the file counts */
	DWARF_VALUE,            /* register + offset is the value */
	DWARF_CONSTANT,         /* offset is the value */
	DWARF_COMPLEX,          /* it is live, but in pieces or by a computation we do not do */
};

enum dwarf_kind {
	DWARF_OTHER,            /* unknown, or a float */
	DWARF_SIGNED,           /* integers, enumerations, characters */
	DWARF_UNSIGNED,         /* and bool */
	DWARF_POINTER,
	DWARF_STRUCT,           /* and unions, classes */
	DWARF_ARRAY,
};

/* How the calling convention hands over an argument, or a result. */
enum dwarf_passed {
	DWARF_PASSED_UNKNOWN,
	DWARF_PASSED_NUMBER,    /* a number, in slot */
	DWARF_PASSED_REGISTERS, /* a structure, or more than 64 bits: nslots from slot on */
	DWARF_PASSED_STACK,     /* the value itself is on the stack from slot on */
	DWARF_PASSED_ADDRESS,   /* slot has the address of the value */
	DWARF_PASSED_VECTOR,    /* in a register of floating-point numbers */
	DWARF_PASSED_NOWHERE,   /* there is nothing of it: void, an empty class */
};

struct dwarf_range {
	u64 start, end;         /* end is behind the last byte */
};

struct dwarf_variable {
	char *name;
	char *type;             /* "const char *", "struct file *", "unsigned int [4]" */
	enum dwarf_kind kind;
	u32 size;               /* bytes; 0: not said */
	bool is_parameter;
	bool is_string;         /* a pointer to, or an array of, char */
	u64 type_entry;         /* for dwarf_types__add(); 0: none */
	/* At the address asked about: */
	enum dwarf_where where;
	u32 reg;                /* DWARF's number for it (x86-64: 0 rax 1 rdx 2 rcx 3 rbx ...) */
	s64 offset;
	/* A parameter, at the first instruction of a function that is not inlined: */
	enum dwarf_passed passed;
	u32 slot, nslots;       /* 0 to 5: the register that has it; from 6 on: words on the stack */
	/* In the whole of this place of the function: */
	struct dwarf_range *live;       /* rising, apart from each other */
	size_t nlive;
	u32 *live_line;                 /* relative lines with all their addresses in that */
	size_t nlive_lines;
};

struct dwarf_variables {
	struct dwarf_variable *variable;        /* parameters, then from inner to outer blocks */
	size_t n;
	struct dwarf_variable result;   /* of the function: its type, and passed; type NULL: inlined */
};

/*
 * The variables visible at an address: the parameters of the innermost function there, which may
 * be one that is inlined, and the variables of the blocks around the address (an inner one hides
 * its namesakes), statics included. With globals, those of its compilation unit too.
 * -ENOENT: there is no function.
 */
int dwarf_variables__at(struct dwarf_variables *found, struct dwarf *d, u64 address, bool globals);

/* The same for this function and no other that may be inlined at the address. */
int dwarf_variables__of(struct dwarf_variables *found, struct dwarf *d,
			const struct dwarf_place *place, u64 address, bool globals);
void dwarf_variables__free(struct dwarf_variables *v);

/* --- types ------------------------------------------------------------------------------------ */

/*
 * Types of variables, and all that they lead to, as BTF: without typedefs and qualifiers; what BTF
 * has not got is an incomplete structure. What lies behind thousands of pointers is void. A C++
 * reference is a pointer to a type tag, DWARF_REFERENCE, of what it refers to.
 */
#define DWARF_REFERENCE "&"

struct btf;
struct dwarf_types;

/* Of *d, which has to outlive them. The caller frees them. */
int dwarf_types__new(struct dwarf_types **t, struct dwarf *d);

/* *id becomes that of a type in the BTF, where it stays. -E2BIG: no room for another one. */
int dwarf_types__add(struct dwarf_types *t, u64 entry, u32 *id);
const struct btf *dwarf_types__btf(const struct dwarf_types *t);
void dwarf_types__free(struct dwarf_types *t);

#endif /* TALLY_TYPES_DWARF_H */
