/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Untrusted ELF files, for the readers in user/types. Only regular files of this machine's byte order are opened. They
 * are read, not mapped: if a file is truncated during reading, the result is an error, not SIGBUS. Sections larger than
 * ELF_FILE_MAX_SECTION count as damaged.
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

/* Finds the file offset of size bytes at an address within one of n segments. -ENOENT. */
int elf_segments__offset(const struct elf_segment *segment, size_t n, u64 address, u64 size,
			 bool executable, u64 *offset);

struct elf_file {
	Elf *elf;
	int fd;                         /* -1: in memory */
	void *memory;                   /* the contents, if fd is -1 */
	GElf_Ehdr header;
	struct elf_segment *segment;    /* PT_LOAD */
	size_t nsegments;
};

struct build_id {
	u8 byte[BUILD_ID_MAX];
	size_t n;                       /* 0: none */
};

/*
 * Opens a file. Returns 0, -ENOEXEC (not an ELF file of this byte order, or damaged), -ENOMEM or an
 * error of open(2). On failure there is nothing to close.
 */
int elf_file__open(struct elf_file *f, const char *path);
/* Same, for an open, readable descriptor. Takes ownership of it, also on failure. */
int elf_file__open_fd(struct elf_file *f, int fd);
/*
 * Same, but mapped: for processes that may die of SIGBUS (base/confined.h) and read little of a large file. Writes to
 * its sections remain private to this process.
 */
int elf_file__map_fd(struct elf_file *f, int fd);
void elf_file__close(struct elf_file *f);

/*
 * Finds the first uncompressed section of that name with data in the file. -ENOENT, -EBADMSG (too large, or not in the
 * file), -ENOMEM. *data is owned by the file.
 */
int elf_file__section(const struct elf_file *f, const char *name, GElf_Shdr *header,
		      Elf_Data **data);

/* Finds the file offset of size bytes at an address within one segment. -ENOENT. */
int elf_file__offset(const struct elf_file *f, u64 address, u64 size, bool executable,
		     u64 *offset);

/* The contents of .gnu_debuglink: a file name (never a path) and that file's CRC. */
struct debug_link {
	char name[NAME_MAX + 1];
	u32 crc;
};

int elf_file__debug_link(const struct elf_file *f, struct debug_link *link);   /* -ENOENT */

/* The contents of .gnu_debugaltlink: the file to which dwz(1) has moved debug information. */
struct debug_alt {
	char path[256];         /* absolute, or relative to the file's directory; "": none */
	struct build_id build_id;
};

void elf_file__alt_link(const struct elf_file *f, struct debug_alt *alt);
bool elf_file__has_debug_info(const struct elf_file *f);
/* True if debug is the debug file of a file with this build ID or, without a build ID, this link. */
bool elf_file__belongs(const struct elf_file *debug, const struct build_id *id,
		       const struct debug_link *link);
/* Computes the CRC of the whole file. Returns 0, or a negative errno if the file cannot be read. */
int elf_file__crc(const struct elf_file *f, u32 *crc);

/*
 * Calls visit for each defined, named symbol of a table (".symtab" with ".strtab"), until it returns non-zero; that
 * value is returned. name[len] is the NUL, or the '@' of a version. -ENOENT, -EBADMSG. Names longer than
 * ELF_FILE_MAX_NAME are skipped: a table may point many symbols at one huge string.
 */
#define ELF_FILE_MAX_NAME 16384
typedef int (*symbol_visit)(void *arg, const GElf_Sym *symbol, const char *name, size_t len);
int elf_file__symbols(const struct elf_file *f, const char *table, const char *strings,
		      symbol_visit visit, void *arg);

void elf_file__build_id(const struct elf_file *f, struct build_id *id);

/* Finds the build ID in a buffer of notes (/sys/kernel/notes). */
void build_id__of_notes(struct build_id *id, const void *notes, size_t size);
bool build_id__equal(const struct build_id *a, const struct build_id *b);

/*
 * Calls visit for each note in a buffer, until it returns non-zero; that value is returned. Truncated notes are
 * skipped.
 */
typedef int (*note_visit)(void *arg, u32 type, const char *name, size_t name_size, const u8 *desc,
			  size_t desc_size);
int notes__each(const void *notes, size_t size, note_visit visit, void *arg);

/*
 * Opens the small ELF file in .gnu_debugdata (xz), which has function symbols only. -ENOENT,
 * -EOPNOTSUPP in a build without liblzma, -EBADMSG.
 */
int elf_file__open_debugdata(struct elf_file *small, const struct elf_file *f);

/*
 * Opens the separate debug file of f, which was opened as path: by build ID below
 * root/usr/lib/debug, else by .gnu_debuglink. -ENOENT. On success *name is its path, which the
 * caller frees (name may be NULL).
 */
int elf_file__open_debug(struct elf_file *debug, const struct elf_file *f, const char *path,
			 const char *root, char **name);

#endif /* TALLY_TYPES_ELF_FILE_H */
