/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users: names and numbers, and becoming one. A static executable reads /etc/passwd and
 * /etc/group itself, because glibc's name service needs shared libraries of its own version.
 */
#ifndef TALLY_HOST_USER_H
#define TALLY_HOST_USER_H

#include <sys/types.h>

#include "base/types.h"

/* uid of a user name or of a number in text. Returns 0 or -ENOENT. */
int user_id(const char *text, u32 *uid);

/* The name of a uid in new memory, not escaped; NULL if it has none. */
char *user_name(u32 uid);

/* Gives up root for good: groups of the user, gid, uid. Returns 0 or a negative errno. */
int user_become(u32 uid, u32 gid);

#endif /* TALLY_HOST_USER_H */
