/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by funcgraph.bpf.c and tools/events/funcgraph.c. */
#ifndef TALLY_FUNCGRAPH_H
#define TALLY_FUNCGRAPH_H

#include "call_site.h"

#define FUNCGRAPH_DEPTH 64      /* nested calls kept per task; a power of two */

#define FUNCGRAPH_GOROUTINES 8192       /* goroutines in traced calls at once: 21 MiB */

/* A call path: the function and the path that called it; 0 if none. An element belongs to one CPU. */
struct funcgraph_key {
	__u64 parent;
	__u32 function;
	__u32 writer;           /* writer.h */
};

/* Sums of one interval: the loader removes the elements at its end. */
struct funcgraph_sums {
	__u64 calls;            /* completed calls */
	__u64 total_ns;
	__u64 self_ns;          /* without the time in traced callees */
	__u64 max_ns;
	__u64 open;             /* calls in progress when the run, or their thread, ended */
	__u64 open_ns;          /* their duration until then */
	__u64 open_self_ns;
};

/* A program that a process runs, starting with its exec. */
struct image {
	__u64 started_ns, execs;
};

/* A goroutine. The address of its struct g is unique only within one image. */
struct goroutine {
	__u64 g;
	struct image image;
};

/* The id of a path in its callees' keys: a hash of all its functions. */
static inline __u64 funcgraph_path(__u64 parent, __u32 function)
{
	__u64 x = parent + (function + 1) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

_Static_assert(sizeof(struct funcgraph_key) == 16, "funcgraph_key has padding");

#endif /* TALLY_FUNCGRAPH_H */
