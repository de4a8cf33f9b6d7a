/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User names and ids, and switching to a user. A static executable parses /etc/passwd and
 * /etc/group itself, because glibc's NSS needs shared libraries of its own version.
 */
#ifndef TALLY_HOST_USER_H
#define TALLY_HOST_USER_H

#include <sys/types.h>

#include "base/types.h"

/* The uid of a user name or of a number as text. Returns 0 or -ENOENT. */
int user_id(const char *text, u32 *uid);

/* The name of a uid; allocated, not escaped. NULL if it has no name. */
char *user_name(u32 uid);

/* The home directory of a uid in new memory; NULL if it has no entry. */
char *user_home(u32 uid);

/* Drops root for good: supplementary groups, gid, uid. Returns 0 or a negative errno. */
int user_become(u32 uid, u32 gid);

#endif /* TALLY_HOST_USER_H */
