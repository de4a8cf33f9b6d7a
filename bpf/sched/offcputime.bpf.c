// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Blocked time by stack: all of it is in bpf/lib/blocked.bpf.h. */
#include "blocked.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
