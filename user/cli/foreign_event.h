/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates events from the syntax of bcc's tools, bpftrace and kprobe_events to that of tally:
 *
 *   stackcount c:malloc             tally stackcount -x libc 'malloc'
 *   probe t:sched:sched_switch      tally probe 'sched:sched_switch'
 *   probe kretprobe:vfs_read        tally probe 'vfs_read%return'
 *   stat -e software:faults:1       tally stat -e 'faults'
 */
#ifndef TALLY_CLI_FOREIGN_EVENT_H
#define TALLY_CLI_FOREIGN_EVENT_H

/*
 * Returns the command line to use in place of tool with the event text, allocated. NULL if text is not such an event or
 * has a part without an equivalent, or without memory.
 */
char *foreign_event__here(const char *tool, const char *text);

#endif /* TALLY_CLI_FOREIGN_EVENT_H */
