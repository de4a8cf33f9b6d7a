/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machine's page size: 4 KiB on x86-64; arm64 kernels are built for 4, 16 or 64 KiB (CONFIG_ARM64_PAGE_SHIFT).
 */
#ifndef TALLY_PAGE_BPF_H
#define TALLY_PAGE_BPF_H

const volatile u32 page_shift = 12;     /* set by the loader: measurement__configure() */

/* The number of pages needed for that many bytes; the last page may be partly used. */
static __always_inline u64 pages_for(u64 bytes)
{
	return (bytes + (1ULL << page_shift) - 1) >> page_shift;
}

#endif /* TALLY_PAGE_BPF_H */
