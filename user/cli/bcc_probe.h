/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates probes from the syntax of bcc's trace to that of tally probe:
 *
 *   do_sys_openat2 "%s", arg2@user          tally probe 'do_sys_openat2 +0($arg2):ustring'
 *   r:c:open (retval < 0) "%d", retval      tally probe -x libc 'open%return $retval' --filter '$retval < 0'
 */
#ifndef TALLY_CLI_BCC_PROBE_H
#define TALLY_CLI_BCC_PROBE_H

#include "base/types.h"

/* Returns an allocated line, or NULL if text is no such probe, has a part without an equivalent, or without memory. */
char *bcc_probe__here(const char *text);

#endif /* TALLY_CLI_BCC_PROBE_H */
