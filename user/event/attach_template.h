/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sites run copies of templates, with a slot or compiled functions spliced in. libbpf relocates a program only while it
 * loads it, but the verifier takes a good part of a second for a program that walks stacks. So libbpf loads two
 * instructions in place of such a template, and the template's own instructions are kept for copies. A template that
 * needs nothing spliced in is loaded and attached directly: loading it with the object does not delay the rings that
 * are open when sites are attached. Part of attaching (event/attach.h).
 *
 *   attach_template__set_up()      once, before an object is opened
 *   attach_template__want()        on the opened object
 *   attach_template__insns()       on the loaded object
 *   attach_template__forget()      before the object is closed
 *
 * Source: bpf_program__set_insns() and libbpf_prog_prepare_load_fn_t of libbpf 1.0.
 */
#ifndef TALLY_EVENT_ATTACH_TEMPLATE_H
#define TALLY_EVENT_ATTACH_TEMPLATE_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "event/attach.h"

/* If this fails, templates are loaded like other programs, which is only slower. */
void attach_template__set_up(void);

/*
 * Declares whether a template is needed. Does nothing if program is NULL. A template is a SEC("?...") program, which
 * libbpf does not load unless asked to; attach__sites() attaches it. The caller fills in a->code before it loads the
 * object, and calls attach_template__forget(a) before *a moves. Templates whose section names an event, such as
 * "raw_tp/sys_enter", and fentry templates are loaded like other programs.
 */
void attach_template__want(struct bpf_program *program, bool wanted, const struct attachments *a);

/* True if a copy for that code (NULL: none) would be identical to the loaded template. */
bool attach_template__is_complete(const struct bpf_program *program, const struct attach_code *code);

/* Returns the *n instructions to copy, which belong to the template. */
const struct bpf_insn *attach_template__insns(const struct bpf_program *program, size_t *n);

void attach_template__forget(const struct attachments *a);

#endif /* TALLY_EVENT_ATTACH_TEMPLATE_H */
