/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Marks in a program: for the slot of its event, its filter, its value (event.bpf.h, user/event/attach.h). */
#ifndef TALLY_EVENT_MARK_H
#define TALLY_EVENT_MARK_H

#define EVENT_SLOT_MARK 0x7a11e001
#define EVENT_FILTER_MARK 0x7a11e002
#define EVENT_VALUE_MARK 0x7a11e003

#endif /* TALLY_EVENT_MARK_H */
