// SPDX-License-Identifier: BSD-2-Clause
/* usdt_semaphore N: the same as usdt (usdt.c), but all its probes have semaphores. */
#define _SDT_HAS_SEMAPHORES 1
#include "usdt.c"
