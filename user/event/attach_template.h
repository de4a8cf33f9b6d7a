/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of templates run, with a slot or compiled functions put in. libbpf gives instructions their maps and offsets
 * only while it loads a program, and the verifier reads a walk of stacks for a good part of a second, so libbpf loads
 * two instructions instead of such a template, and its own are kept for copies. A template with nothing to put in is
 * loaded, and runs itself: what is loaded with the object does not hold up the rings that are open when sites are
 * attached. Part of attaching (event/attach.h).
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
 * Says whether a template is needed; program may be NULL: there is none. a->code has its functions before the object is
 * loaded, and attach_template__forget(a) is called before *a moves. Templates whose section has the name of an event,
 * such as "raw_tp/sys_enter", or fentry, are loaded like others.
 */
void attach_template__want(struct bpf_program *program, bool wanted, const struct attachments *a);

/* Whether the loaded template is what copies of it for that code would be; code may be NULL: none. */
bool attach_template__is_complete(const struct bpf_program *program, const struct attach_code *code);

/* The instructions to copy, *n of them, which belong to the template. */
const struct bpf_insn *attach_template__insns(const struct bpf_program *program, size_t *n);

void attach_template__forget(const struct attachments *a);

#endif /* TALLY_EVENT_ATTACH_TEMPLATE_H */
