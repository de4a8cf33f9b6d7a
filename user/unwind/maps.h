/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors of the maps of bpf/lib/unwind.h. Owned by the caller. */
#ifndef TALLY_UNWIND_MAPS_H
#define TALLY_UNWIND_MAPS_H

struct unwind_maps {
	int rules, files, slabs, found, mappings, spaces;
};

#endif /* TALLY_UNWIND_MAPS_H */
