/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The site of a program that takes stacks at any event, stored in its slot: the event's number, and whether the site is
 * at a function's entry, before the frame is set up (the caller is then found by the return address), or just before a
 * return.
 */
#ifndef TALLY_SITE_H
#define TALLY_SITE_H

#define SITE_AT_ENTRY 0x40000000U
#define SITE_AT_EXIT 0x20000000U
#define SITE_EVENT 0x1fffffffU

#endif /* TALLY_SITE_H */
