/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches many sites with one program: kprobe.multi, uprobe.multi, system calls. Part of attaching
 * (event/attach.h). The first two functions return 0, -ENOMEM, or the result of
 * attach_course__refuse() (event/attach_site.h); the last returns 0 or a negative errno.
 */
#ifndef TALLY_EVENT_ATTACH_MANY_H
#define TALLY_EVENT_ATTACH_MANY_H

#include "event/attach_site.h"

/* Attaches the first site and all later ones that fit into its link, and marks them in done. */
int attach_course__multi(struct attach_course *k, size_t first, bool *done);

/*
 * Attaches the first system call with compiled functions and all later ones with the same
 * functions; marks them in done.
 */
int attach_course__syscalls(struct attach_course *k, size_t first, bool *done);

/* Attaches sys_enter and sys_exit, once each, for any number of system calls. */
int attach_course__all_syscalls(struct attachments *a, const struct attach_programs *p);

#endif /* TALLY_EVENT_ATTACH_MANY_H */
