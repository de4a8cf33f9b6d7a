// SPDX-License-Identifier: BSD-2-Clause
/* signed_frameless ...: frameless, whose return addresses are signed where the processor can: arm64's pointer authentication. */
#ifdef __aarch64__
#pragma GCC target("branch-protection=standard")
#endif
#include "frameless.c"
