/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the bytes of code. The bytes are untrusted and not interpreted here. */
#ifndef TALLY_SYM_CODE_H
#define TALLY_SYM_CODE_H

#include <sys/types.h>

#include "base/types.h"

struct symbols;

/*
 * Call before the first symbols__see(). Keeps files open whose symbols were looked up (at most 256), so that their code
 * can be read after they are deleted or the process has exited.
 */
void symbols__want_code(struct symbols *s);

/*
 * Reads up to size bytes of code at a process's address, as symbols__user() resolves it: from the
 * file mapped there, else from the memory of the process while it lives. Returns the number of
 * bytes, which end with the mapping; -ENOENT: unknown address; -ESRCH: not in a file, and the
 * process has exited or execed; else a negative errno.
 */
ssize_t symbols__user_code(struct symbols *s, u32 pid, u64 address, void *to, size_t size);

/*
 * True if the code is 32-bit, by its file or, for code without a file, by the other files of the process. Look up its
 * symbol first.
 */
bool symbols__user_is_32_bit(struct symbols *s, u32 pid, u64 address);

/* Returns a descriptor, owned by s, of the file that contains the code. -ENOENT: the file was not kept open. */
int symbols__user_file(struct symbols *s, u32 pid, u64 address);

/*
 * Like symbols__user_code(), for the kernel, its modules and BPF programs. Reads the code as it runs now, with all
 * runtime patches, from /proc/kcore. -ENOENT: this kernel has no such file (CONFIG_PROC_KCORE); -EPERM: no permission
 * (CAP_SYS_RAWIO, lockdown); -EFAULT: the file does not cover the address.
 */
ssize_t kernel_code(u64 address, void *to, size_t size);

#endif /* TALLY_SYM_CODE_H */
