/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mark in a program that stands for the slot of its event (event.bpf.h, user/event/attach.h). */
#ifndef TALLY_EVENT_MARK_H
#define TALLY_EVENT_MARK_H

#define EVENT_SLOT_MARK 0x7a11e001

#endif /* TALLY_EVENT_MARK_H */
