/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about an ELF file that placing probes needs: its machine, segments, PLT sections and needed libraries. An
 * unprivileged process parses the file (base/confined.h); its answer is as untrusted as the file. This process reads
 * only code bytes.
 */
#ifndef TALLY_EVENT_CODE_FILE_H
#define TALLY_EVENT_CODE_FILE_H

#include <sys/types.h>

#include "base/types.h"
#include "event/convention.h"
#include "types/elf_file.h"

struct code_file {
	int fd;                         /* for reading code */
	u32 machine;                    /* EM_X86_64, ... */
	struct elf_segment *segment;    /* PT_LOAD */
	size_t nsegments;
	/* PLT sections: jumps to functions of other files. */
	struct code_range {
		u64 address, size;
	} *plt;
	size_t nplts;
	bool is_c_library;              /* by its name, a C library or a replacement allocator */
	bool is_go;
	bool has_symbols;               /* Go symbol names show which ABI a function uses */
	bool keeps_goroutine;           /* a register holds the goroutine (struct g) wherever Go code runs */
	/* Go and Go assembly functions; adjacent ones with the same convention form one range. */
	struct go_range {
		u64 start, end;
		u64 convention;         /* enum code_convention, but untrusted: it may be anything */
	} *go;
	size_t ngo;
};

/*
 * Opens and reads a file. Returns 0, -ENOEXEC (not an ELF file of this byte order), -ENOMEM, or an error of open(2) or
 * confined__run().
 */
int code_file__open(struct code_file *f, const char *path);
void code_file__close(struct code_file *f);

/* True if the address is in a PLT section. */
bool code_file__in_plt(const struct code_file *f, u64 address);

/* Returns the calling convention of the function at an address. */
enum code_convention code_file__convention(const struct code_file *f, u64 address);

/*
 * Reads bytes by address. Returns their number, or -ENODATA if no (executable) segment holds all of
 * them.
 */
ssize_t code_file__read(const struct code_file *f, u64 address, void *to, size_t size,
			bool executable);

#endif /* TALLY_EVENT_CODE_FILE_H */
