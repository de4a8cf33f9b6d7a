/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates events in the syntax of bcc's tools, of bpftrace and of kprobe_events into that of tally:
 *
 *   stackcount c:malloc             tally stackcount -x libc 'malloc'
 *   probe t:sched:sched_switch      tally probe 'sched:sched_switch'
 *   probe kretprobe:vfs_read        tally probe 'vfs_read%return'
 *   stat -e software:faults:1       tally stat -e 'faults'
 */
#ifndef TALLY_CLI_FOREIGN_EVENT_H
#define TALLY_CLI_FOREIGN_EVENT_H

/*
 * The line to type after tool was given text as an event. Allocated. NULL: the text is no such event, has a part
 * without an equivalent, or there is no memory.
 */
char *foreign_event__here(const char *tool, const char *text);

#endif /* TALLY_CLI_FOREIGN_EVENT_H */
