/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files that nobody vouches for, for the readers in user/types. Only regular files of this
 * machine's byte order are opened. They are read, not mapped: a file that is cut short meanwhile
 * gives an error, not SIGBUS. Sections larger than ELF_FILE_MAX_SECTION are taken for damaged.
 */
#ifndef TALLY_TYPES_ELF_FILE_H
#define TALLY_TYPES_ELF_FILE_H

#include <gelf.h>
#include <limits.h>

#include "base/types.h"

#define ELF_FILE_MAX_SECTION (2ULL << 30)
#define BUILD_ID_MAX 64

struct elf_segment {
	u64 address, offset, size;      /* size in the file */
	bool executable;
};

/* The offset in the file of size bytes at an address that one of n segments holds; -ENOENT. */
int elf_segments__offset(const struct elf_segment *segment, size_t n, u64 address, u64 size,
			 bool executable, u64 *offset);

struct elf_file {
	Elf *elf;
	int fd;                         /* -1: in memory */
	void *memory;                   /* holds it then */
	GElf_Ehdr header;
	struct elf_segment *segment;    /* PT_LOAD */
	size_t nsegments;
};

struct build_id {
	u8 byte[BUILD_ID_MAX];
	size_t n;                       /* 0: none */
};

/*
 * Opens a file. Returns 0, -ENOEXEC (not an ELF file of this byte order, or damaged), -ENOMEM or
 * what open(2) says. On failure there is nothing to close.
 */
int elf_file__open(struct elf_file *f, const char *path);
/* The same with a file that is open for reading. The descriptor is taken over, also on failure. */
int elf_file__open_fd(struct elf_file *f, int fd);
/*
 * The same mapped, for those who may die of SIGBUS (base/confined.h) and look at little of a large
 * file. What is written to its sections stays in this process.
 */
int elf_file__map_fd(struct elf_file *f, int fd);
void elf_file__close(struct elf_file *f);

/*
 * The first section of that name with bytes in the file, not compressed. -ENOENT, -EBADMSG
 * (larger than it may be, or not in the file), -ENOMEM. *data belongs to the file.
 */
int elf_file__section(const struct elf_file *f, const char *name, GElf_Shdr *header,
		      Elf_Data **data);

/* File offset of size bytes at an address that one segment holds; -ENOENT. */
int elf_file__offset(const struct elf_file *f, u64 address, u64 size, bool executable,
		     u64 *offset);

/* What .gnu_debuglink says: the name of a file (never a path) and the CRC of its contents. */
struct debug_link {
	char name[NAME_MAX + 1];
	u32 crc;
};

int elf_file__debug_link(const struct elf_file *f, struct debug_link *link);   /* -ENOENT */

/* What .gnu_debugaltlink says: a file that dwz(1) has moved debug information to. */
struct debug_alt {
	char path[256];         /* absolute, or from where the file is; "": none */
	struct build_id build_id;
};

void elf_file__alt_link(const struct elf_file *f, struct debug_alt *alt);
bool elf_file__has_debug_info(const struct elf_file *f);
/* Is debug the debug file of one with this build ID or, without one, this link? */
bool elf_file__belongs(const struct elf_file *debug, const struct build_id *id,
		       const struct debug_link *link);
/* The CRC of the whole file. A negative errno if it cannot be read. */
int elf_file__crc(const struct elf_file *f, u32 *crc);

/*
 * Calls visit for each defined symbol with a name in a table (".symtab" with ".strtab"), until it
 * returns non-zero, which is passed on. name[len] is the end, or the '@' of a version. -ENOENT,
 * -EBADMSG. Names longer than ELF_FILE_MAX_NAME are left out: a table may point many symbols at
 * one huge string.
 */
#define ELF_FILE_MAX_NAME 16384
typedef int (*symbol_visit)(void *arg, const GElf_Sym *symbol, const char *name, size_t len);
int elf_file__symbols(const struct elf_file *f, const char *table, const char *strings,
		      symbol_visit visit, void *arg);

void elf_file__build_id(const struct elf_file *f, struct build_id *id);

/* That of a buffer of notes (/sys/kernel/notes). */
void build_id__of_notes(struct build_id *id, const void *notes, size_t size);
bool build_id__equal(const struct build_id *a, const struct build_id *b);

/*
 * Calls visit for each note in a buffer, until it returns non-zero, which is passed on. What is
 * cut short is left out.
 */
typedef int (*note_visit)(void *arg, u32 type, const char *name, size_t name_size, const u8 *desc,
			  size_t desc_size);
int notes__each(const void *notes, size_t size, note_visit visit, void *arg);

/*
 * Opens the small ELF file in .gnu_debugdata (xz), which has symbols of functions only. -ENOENT,
 * -EOPNOTSUPP in a build without liblzma, -EBADMSG.
 */
int elf_file__open_debugdata(struct elf_file *small, const struct elf_file *f);

/*
 * Opens the separate file with symbols and debug information that belongs to f, which was opened
 * as path: by build ID below root/usr/lib/debug, else the one .gnu_debuglink names. -ENOENT. *name
 * is its path then, which the caller frees (name may be NULL).
 */
int elf_file__open_debug(struct elf_file *debug, const struct elf_file *f, const char *path,
			 const char *root, char **name);

#endif /* TALLY_TYPES_ELF_FILE_H */
