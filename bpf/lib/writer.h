/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The u32 in each key of a keyed map that identifies the element's writer (writer.bpf.h). */
#ifndef TALLY_WRITER_H
#define TALLY_WRITER_H

#define WRITER_CPU_BITS 16      /* the kernel has at most 8192 CPUs; the generation is in the bits above */

#define WRITER_CPU(writer) ((writer) & ((1U << WRITER_CPU_BITS) - 1))
#define WRITER_GENERATION(writer) ((writer) >> WRITER_CPU_BITS)

#endif /* TALLY_WRITER_H */
