// SPDX-License-Identifier: BSD-2-Clause
/* usdt_semaphore N: what usdt does (usdt.c), all its probes with semaphores. */
#define _SDT_HAS_SEMAPHORES 1
#include "usdt.c"
