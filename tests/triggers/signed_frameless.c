// SPDX-License-Identifier: BSD-2-Clause
/*
 * signed_frameless ...: frameless, with signed return addresses where the CPU supports them: arm64's pointer
 * authentication.
 */
#ifdef __aarch64__
#pragma GCC target("branch-protection=standard")
#endif
#include "frameless.c"
