/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions, lines and variables of a program or the kernel, from debug information (DWARF, through elfutils' libdw).
 * The files are untrusted: sizes, depths and loops are capped, libdw checks the rest, and an unprivileged process
 * (base/confined.h) reads each open program. Nothing is fetched from the network (debuginfod).
 *
 * A function may have several copies: one out of line and one in each function that inlines it. Several source files
 * may have a static function of the same name. All of them are found.
 *
 * All functions return 0 or a negative errno: -EOPNOTSUPP in a build without libdw, -EBADMSG if the debug information
 * is damaged or exceeds the size limit, -EPROTONOSUPPORT if it is compressed by a method that this build's libelf lacks
 * (zstd, before elfutils 0.189), -ENOENT if it has no such entry, -ENOMEM, -ETIME after DWARF_ANSWER_NS, -EINTR if a
 * signal is pending.
 */
#ifndef TALLY_TYPES_DWARF_H
#define TALLY_TYPES_DWARF_H

#include "base/types.h"

struct dwarf;

#define DWARF_ANSWER_NS (60 * NSEC_PER_SEC)

/*
 * Opens an ELF file's debug information: its own, or the separate file that belongs to it (by build
 * ID below /usr/lib/debug, or .gnu_debuglink). Addresses are virtual, in the file's numbering
 * (binary__file_offset() converts them for uprobes). -ENODATA: no debug information; -ENOEXEC: not
 * an ELF file. The caller closes *d.
 */
int dwarf__open(struct dwarf **d, const char *path);

/*
 * Opens the debug information in an open, readable file only: no separate file, no unwind tables. This process parses
 * it, so it should be unprivileged. alt_fd: the file to which dwz(1) has moved shared parts, -1: none. Takes ownership
 * of both descriptors, also on failure, and maps them: see elf_file__map_fd().
 */
int dwarf__open_fd(struct dwarf **d, int fd, int alt_fd);

/*
 * Opens the debug information of the running kernel (module NULL: vmlinux) or a module, in the places where
 * distributions install it, if the build ID matches. Addresses are not relocated (KASLR, module loading): use function
 * and offset. root is "" (tests: a directory in front of all paths). -ENODATA: not found.
 */
int dwarf__open_kernel(struct dwarf **d, const char *root, const char *module);

void dwarf__close(struct dwarf *d);

/* Returns the path of the file that contains the debug information. */
const char *dwarf__path(const struct dwarf *d);

/*
 * True if the debug information refers to further files (.dwo, .dwp: -gsplit-dwarf). They are not read, so everything
 * in those compilation units is unknown.
 */
bool dwarf__is_split(const struct dwarf *d);

/* Why debug information is not read, or not all of it: a message to follow the file's name, and a hint. */
struct dwarf_unread {
	const char *why, *hint;
};

/*
 * d: open, or NULL; err: the error of opening it. Returns NULL if everything is read or there is no debug information.
 * The result is a constant.
 */
const struct dwarf_unread *dwarf__unread(const struct dwarf *d, int err);

/* --- functions -------------------------------------------------------------------------------- */

/* One copy of a function: out of line, or inlined somewhere. */
struct dwarf_place {
	u64 address;            /* of its first instruction */
	u64 body;               /* after the prologue, where its arguments are in place */
	bool is_inlined;
	bool has_untold;        /* may have further copies (of an unrolled loop) that debug information does not list */
	char *function;         /* the out-of-line function that contains it: itself unless inlined */
	u64 offset;             /* of address, in that function */
	u64 entry;              /* DIE offset, to find it again */
};

struct dwarf_function {
	char *name;             /* as in the source, "push_back"; without such a name, the linkage name */
	char *linkage;          /* "_ZN3foo3barEv", NULL in C */
	char *file;             /* where it is defined; NULL: unknown */
	u32 line;               /* its first line there; 0: unknown */
	struct dwarf_place *place;      /* by address */
	size_t nplaces;
};

struct dwarf_functions {
	struct dwarf_function *function;        /* by name, then file and line */
	size_t n;
};

/*
 * Finds the functions with code that have this name or linkage name; if there are none, the functions that match it as
 * a glob (fnmatch(3); NULL: all).
 */
int dwarf_functions__find(struct dwarf_functions *found, struct dwarf *d, const char *name);
void dwarf_functions__free(struct dwarf_functions *f);

/* Returns the copy of the function that contains an address: the last one that begins at or before it; or NULL. */
const struct dwarf_place *dwarf_function__place(const struct dwarf_function *f, u64 address);

/* --- lines ------------------------------------------------------------------------------------ */

/*
 * A line that can be probed. Its addresses are the instructions at which control enters it from another line, in each
 * copy of the function: probe all of them to see every execution. A line that is left and re-entered, such as a loop
 * head, counts each time.
 */
struct dwarf_line {
	u32 line;               /* in the file */
	u32 relative;           /* the function's first line is 0, as in perf probe -L */
	u64 *address;           /* rising */
	size_t naddresses;
};

struct dwarf_lines {
	char *file;             /* as named by the compiler; may be relative to directory */
	char *directory;        /* the compiler's working directory; NULL: unknown */
	struct dwarf_line *line;        /* rising */
	size_t n;
};

/* Finds the lines of one function, in the file that defines it. */
int dwarf_lines__of(struct dwarf_lines *lines, struct dwarf *d, const struct dwarf_function *f);

/*
 * Finds the lines of the source file whose path ends with file ("main.c", "src/main.c"). relative is 0: the lines are
 * not relative to a function.
 */
int dwarf_lines__of_file(struct dwarf_lines *lines, struct dwarf *d, const char *file);

/* True if the line table has a row for exactly this address. If so, an instruction begins there. */
bool dwarf__has_row(struct dwarf *d, u64 address);
void dwarf_lines__free(struct dwarf_lines *lines);

/* --- variables -------------------------------------------------------------------------------- */

enum dwarf_where {
	DWARF_NOWHERE,          /* optimized out, or not live here */
	DWARF_REGISTER,         /* the value is in the register */
	DWARF_MEMORY,           /* the value is in memory at register + offset */
	DWARF_STATIC,           /* the value is in memory at address offset, in the file's numbering */
	DWARF_VALUE,            /* register + offset is the value */
	DWARF_CONSTANT,         /* offset is the value */
	DWARF_COMPLEX,          /* live, but in pieces or computed by unsupported operations */
};

enum dwarf_kind {
	DWARF_OTHER,            /* unknown, or a float */
	DWARF_SIGNED,           /* integers, enumerations, characters */
	DWARF_UNSIGNED,         /* and bool */
	DWARF_POINTER,
	DWARF_STRUCT,           /* and unions, classes */
	DWARF_ARRAY,
};

/* How the calling convention passes an argument or a result. */
enum dwarf_passed {
	DWARF_PASSED_UNKNOWN,
	DWARF_PASSED_NUMBER,    /* a number, in slot */
	DWARF_PASSED_REGISTERS, /* a structure, or more than 64 bits: nslots slots starting at slot */
	DWARF_PASSED_STACK,     /* the value is on the stack, starting at slot */
	DWARF_PASSED_ADDRESS,   /* slot holds the address of the value */
	DWARF_PASSED_VECTOR,    /* in a vector register */
	DWARF_PASSED_NOWHERE,   /* takes no space: void, an empty class */
};

struct dwarf_range {
	u64 start, end;         /* end is exclusive */
};

struct dwarf_variable {
	char *name;
	char *type;             /* "const char *", "struct file *", "unsigned int [4]" */
	enum dwarf_kind kind;
	u32 size;               /* bytes; 0: unknown */
	bool is_parameter;
	bool is_result;         /* Go: a result, which is declared among the parameters (is_parameter is set) */
	bool is_string;         /* a pointer to, or an array of, char */
	u64 type_entry;         /* for dwarf_types__add(); 0: none */
	/* At the queried address: */
	enum dwarf_where where;
	u32 reg;                /* DWARF register number (x86-64: 0 rax 1 rdx 2 rcx 3 rbx ...) */
	s64 offset;
	/* For a parameter at the entry of an out-of-line function; in Go only for the first result: */
	enum dwarf_passed passed;
	u32 slot, nslots;       /* 0 to 5: argument register; from 6 on: stack words */
	/* In the whole copy of the function: */
	struct dwarf_range *live;       /* rising, not adjacent */
	size_t nlive;
	u32 *live_line;                 /* relative lines whose addresses are all in live */
	size_t nlive_lines;
};

/*
 * The declared parameters of an out-of-line function in C or C++, and the slots that they take. If is_known is false,
 * there may be more parameters ("...", a C function without a prototype), or it is unknown how they are passed.
 */
struct dwarf_declared {
	bool is_known;
	u32 parameters;
	u32 registers, stack;   /* slots 0 to registers - 1, and as many words of the stack */
};

struct dwarf_variables {
	struct dwarf_variable *variable;        /* parameters, then from inner to outer blocks */
	size_t n;
	struct dwarf_variable result;   /* the function's (first) result: type and passed; type NULL: inlined */
	struct dwarf_declared declared;
};

/*
 * Finds the variables visible at an address: the parameters of the function that begins there, else of the innermost
 * one, inlined or not, and the variables of the enclosing blocks (inner ones hide outer ones of the same name), statics
 * included. With globals, also the globals of the compilation unit. -ENOENT: no function there.
 */
int dwarf_variables__at(struct dwarf_variables *found, struct dwarf *d, u64 address, bool globals);

/* Same for the given copy of a function; ignores functions inlined at the address. */
int dwarf_variables__of(struct dwarf_variables *found, struct dwarf *d,
			const struct dwarf_place *place, u64 address, bool globals);
void dwarf_variables__free(struct dwarf_variables *v);

/* --- types ------------------------------------------------------------------------------------ */

/*
 * Types of variables and all types they refer to, as BTF, without typedefs and qualifiers. Types
 * that BTF cannot express become incomplete structures; types behind thousands of pointers become
 * void. A C++ reference is a pointer to a type tag, DWARF_REFERENCE, of the referred type.
 */
#define DWARF_REFERENCE "&"

struct btf;
struct dwarf_types;

/* For types of *d, which must outlive *t. The caller frees *t. */
int dwarf_types__new(struct dwarf_types **t, struct dwarf *d);

/*
 * Finds the type with this name: "struct point", "enum color", "class ns::table", or "point", which may also be a
 * typedef. Leading scopes may be omitted. Prefers a type in the unit that contains the address. -EEXIST: several files
 * define different types of that name.
 */
int dwarf__find_type(struct dwarf *d, const char *name, u64 address, u64 *entry);

/* Adds a type to the BTF permanently, and sets *id. -E2BIG: the BTF is full. */
int dwarf_types__add(struct dwarf_types *t, u64 entry, u32 *id);
const struct btf *dwarf_types__btf(const struct dwarf_types *t);
void dwarf_types__free(struct dwarf_types *t);

#endif /* TALLY_TYPES_DWARF_H */
