/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of containers, from the files of Docker and Podman, both system-wide and of users who run them without root.
 * CRI runtimes document no such file.
 *
 * The files are parsed in a child without rights (base/confined.h). They must be owned by root, or by the user whose
 * containers they describe. In a home directory, links are not followed and other file systems are not entered.
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
	const char *root;       /* prefix of all paths, or NULL */
	u64 spent_ns;           /* initialise to 0, and the allowance to all zeros */
	struct allowance allowance;
};

/*
 * Returns the name in new memory: a letter or digit, then letters, digits and "_.-", as runtimes require. NULL if no
 * file has a name. Containers inside other containers are not looked up.
 */
char *container__name(struct container_files *files, const struct container *c);

#endif /* TALLY_HOST_CONTAINER_NAME_H */
