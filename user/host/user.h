/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts user names and ids, and switches to a user. A static executable parses /etc/passwd and
 * /etc/group itself, because glibc's NSS needs shared libraries of its own version.
 */
#ifndef TALLY_HOST_USER_H
#define TALLY_HOST_USER_H

#include <sys/types.h>

#include "base/types.h"

/* Finds the uid of a user name or of a number as text. Returns 0 or -ENOENT. */
int user_id(const char *text, u32 *uid);

/* Returns the name of a uid, allocated, not escaped. NULL if it has no name. */
char *user_name(u32 uid);

/* Returns the home directory of a uid in new memory. NULL if the uid has no entry. */
char *user_home(u32 uid);

/* Drops root permanently: supplementary groups, gid, uid. Returns 0 or a negative errno. */
int user_become(u32 uid, u32 gid);

#endif /* TALLY_HOST_USER_H */
