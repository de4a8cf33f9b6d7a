/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching many sites with one program: kprobe.multi, uprobe.multi, system calls. Part of
 * attaching (event/attach.h). The first two return 0, -ENOMEM, or what attach_course__refuse() has
 * made of an error (event/attach_site.h); the last one returns 0 or a negative errno.
 */
#ifndef TALLY_EVENT_ATTACH_MANY_H
#define TALLY_EVENT_ATTACH_MANY_H

#include "event/attach_site.h"

/* The first site and all behind it that can be in its link; those are marked in done. */
int attach_course__multi(struct attach_course *k, size_t first, bool *done);

/* The first system call with compiled functions and all behind it that have the same; likewise. */
int attach_course__syscalls(struct attach_course *k, size_t first, bool *done);

/* sys_enter and sys_exit, once each, whatever the number of system calls. */
int attach_course__all_syscalls(struct attachments *a, const struct attach_programs *p);

#endif /* TALLY_EVENT_ATTACH_MANY_H */
