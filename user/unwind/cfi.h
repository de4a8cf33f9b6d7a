/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What .eh_frame says of the code of an ELF file, as the tables of bpf/lib/unwind.h, read by a process
 * without rights (base/confined.h).
 */
#ifndef TALLY_UNWIND_CFI_H
#define TALLY_UNWIND_CFI_H

#include "base/confined.h"
#include "unwind/eh_frame.h"

/* All addresses are virtual ones in the file's own numbering. */
struct cfi_table {
	struct eh_frame_rows rows;      /* rules by their numbers in rule */
	struct unwind_rule *rule;
	u32 nrules;
	struct elf_segment *segment;    /* PT_LOAD, in the file's order */
	size_t nsegments;
	struct eh_frame_counts counts;
};

/*
 * Reads the file fd. Where there are no section headers, .eh_frame is found by PT_GNU_EH_FRAME.
 * Returns 0; -ENOEXEC: no ELF file of x86-64; -ENOENT: it has no .eh_frame, or one that says
 * nothing; -E2BIG: see eh_frame__read(); -EBADMSG, -ETIME: it could not be read; -ENOMEM.
 */
int cfi_table__read(struct cfi_table *t, int fd, struct allowance *allowance);
void cfi_table__free(struct cfi_table *t);

/*
 * Its parts: what the process without rights does, which takes the descriptor over; what it answers
 * then, to be freed; and what is made of an answer, whatever it is.
 */
int cfi_table__make(struct cfi_table *t, int fd);
int cfi_table__ask(int fd, struct allowance *allowance, void **answer, size_t *size);
/* Without waiting: see base/confined.h. */
int cfi_table__begin(struct confined_job *job, int fd, struct allowance *allowance);
int cfi_table__take(struct cfi_table *t, const void *answer, size_t size);

/* The rule at an address; NULL: it is in no page of the table. */
const struct unwind_rule *cfi_table__find(const struct cfi_table *t, u64 address);

/* Does a rule begin at exactly this address? So does an instruction then. */
bool cfi_table__has_row(const struct cfi_table *t, u64 address);

#endif /* TALLY_UNWIND_CFI_H */
