/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of containers, from the files of their runtime: Docker's and Podman's, both system-wide and of users who run
 * them without root. CRI runtimes document no such file.
 *
 * The files are parsed in a child without rights (base/confined.h). They must belong to root, or to the user whose
 * containers they describe. In a home directory no link is followed and no other file system is entered.
 */
#ifndef TALLY_HOST_CONTAINER_NAME_H
#define TALLY_HOST_CONTAINER_NAME_H

#include "base/confined.h"
#include "base/types.h"
#include "host/container.h"

/* Limits on the size of a file, and on the total time of all lookups of a run; once it is used up, reports show ids. */
#define CONTAINER_FILE_BYTES (16ULL << 20)
#define CONTAINER_NAMES_NS (5 * NSEC_PER_SEC)

struct container_files {
	const char *root;       /* prefix of all paths; NULL: none */
	u64 spent_ns;           /* initialise to 0, and the allowance to all zeros */
	struct allowance allowance;
};

/*
 * Returns the name in new memory: a letter or digit, then letters, digits and "_.-", as accepted by the runtimes. NULL
 * if no file has a name. Containers inside other containers are not looked up.
 */
char *container__name(struct container_files *files, const struct container *c);

#endif /* TALLY_HOST_CONTAINER_NAME_H */
