/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the .eh_frame of an ELF file to the tables of bpf/lib/unwind.h, in an unprivileged process
 * (base/confined.h).
 */
#ifndef TALLY_UNWIND_CFI_H
#define TALLY_UNWIND_CFI_H

#include "base/confined.h"
#include "unwind/eh_frame.h"

/* All addresses are virtual, in the file's own numbering. */
struct cfi_table {
	struct eh_frame_rows rows;      /* refer to rules by number, the index in rule */
	struct unwind_rule *rule;
	u32 nrules;
	struct elf_segment *segment;    /* PT_LOAD, in file order */
	size_t nsegments;
	struct eh_frame_counts counts;
};

/*
 * Reads the file fd. Without section headers, PT_GNU_EH_FRAME locates .eh_frame. Returns 0;
 * -ENOEXEC: not an ELF file of this machine, of 64 bits; -ENOENT: no .eh_frame, or an empty one; -E2BIG: see
 * eh_frame__read(); -EBADMSG, -ETIME: could not be read; -ENOMEM.
 */
int cfi_table__read(struct cfi_table *t, int fd, struct allowance *allowance);
void cfi_table__free(struct cfi_table *t);

/*
 * The parts of cfi_table__read(): make the table in the unprivileged process, which takes ownership of fd; get its
 * answer, which the caller frees; and parse the untrusted answer.
 */
int cfi_table__make(struct cfi_table *t, int fd, const struct unwind_machine *machine);
int cfi_table__ask(int fd, struct allowance *allowance, void **answer, size_t *size);
/* Same without waiting: see base/confined.h. */
int cfi_table__begin(struct confined_job *job, int fd, struct allowance *allowance);
int cfi_table__take(struct cfi_table *t, const void *answer, size_t size);

/* Returns the rule at an address; NULL if no page of the table covers it. */
const struct unwind_rule *cfi_table__find(const struct cfi_table *t, u64 address);

/* True if a rule starts at exactly this address. If so, an instruction starts there, too. */
bool cfi_table__has_row(const struct cfi_table *t, u64 address);

#endif /* TALLY_UNWIND_CFI_H */
