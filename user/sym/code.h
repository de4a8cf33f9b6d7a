/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of code. What they are is not looked at here, and nobody vouches for them. */
#ifndef TALLY_SYM_CODE_H
#define TALLY_SYM_CODE_H

#include <sys/types.h>

#include "base/types.h"

struct symbols;

/*
 * To be called before the first symbols__see(): from then on files whose symbols were asked for
 * stay open (at most 256 of them), so that their code can be read after they were deleted or the
 * process has gone.
 */
void symbols__want_code(struct symbols *s);

/*
 * Reads up to size bytes of code from an address of a process on, as symbols__user() places it: of
 * the file that is mapped there, else from the memory of the process while it lives. How many bytes
 * there were, no further than the mapping goes; -ENOENT: nothing is known of the place; -ESRCH: it
 * was in no file, and the process has gone or has become another; else a negative errno.
 */
ssize_t symbols__user_code(struct symbols *s, u32 pid, u64 address, void *to, size_t size);

/*
 * Is that 32-bit code? As the file says; of code in no file, as the other files of the process do.
 * Its names were asked for before.
 */
bool symbols__user_is_32_bit(struct symbols *s, u32 pid, u64 address);

/* The file that is read from: a descriptor that stays with s. -ENOENT: it is not kept open. */
int symbols__user_file(struct symbols *s, u32 pid, u64 address);

/*
 * As symbols__user_code(), of the kernel, its modules and BPF programs: as it runs now, with all
 * that it has patched in, from /proc/kcore. -ENOENT: this kernel has no such file
 * (CONFIG_PROC_KCORE); -EPERM: it may not be read (CAP_SYS_RAWIO, lockdown); -EFAULT: it does not
 * have that address.
 */
ssize_t kernel_code(u64 address, void *to, size_t size);

#endif /* TALLY_SYM_CODE_H */
