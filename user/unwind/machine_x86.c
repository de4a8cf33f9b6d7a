// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/machine.h"

#include <elf.h>

/* System V ABI for AMD64, figure 3.36. */
const struct unwind_machine unwind_x86 = {
	.elf = EM_X86_64,
	.sp = 7,                /* rsp */
	.fp = 6,                /* rbp */
	.ra = 16,
	.base = 3,              /* rbx: _dl_runtime_resolve() */
	.link = 5,              /* rdi: vfork() of glibc, since its child would overwrite the stack */
	.pushed_ra = -8,
	.signal_sp = 160,       /* struct ucontext: uc_mcontext.rsp */
};
