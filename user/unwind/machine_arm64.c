// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/machine.h"

#include <elf.h>

/*
 * DWARF for the Arm 64-bit architecture (AADWARF64), 4.1. signal_sp is 0: the vdso's
 * __kernel_rt_sigreturn has had no rules since 5.8 (87676cfca141), and musl's has none.
 */
const struct unwind_machine unwind_arm64 = {
	.elf = EM_AARCH64,
	.sp = 31,
	.fp = 29,               /* x29 */
	.ra = 30,               /* x30, the link register */
	.has_signed_ra = true,
};
