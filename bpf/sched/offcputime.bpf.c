// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Blocked time by stack: bpf/lib/blocked.bpf.h has all of it. */
#include "blocked.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
