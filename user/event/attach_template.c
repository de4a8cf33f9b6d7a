// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach_template.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "event/splice.h"

struct kept {
	const struct bpf_program *program;
	const struct attachments *owner;
	struct bpf_insn *insn;  /* NULL until the object is loaded, and for a complete template */
	size_t n;
	struct kept *next;
};

static struct kept *all_kept;

static struct kept *find(const struct bpf_program *program)
{
	struct kept *k;

	for (k = all_kept; k && k->program != program; k = k->next)
		;
	return k;
}

static void drop(struct kept **at)
{
	struct kept *k = *at;

	*at = k->next;
	free(k->insn);
	free(k);
}

static bool has_bodies(const struct attach_code *code)
{
	size_t i;

	for (i = 0; code && i < EVENT_BODIES; i++)
		if (code->body[i].n)
			return true;
	return false;
}

/* True if no slot is needed. A tracepoint program runs for only one task per CPU at a time: each site needs a copy. */
static bool has_no_slot(const struct bpf_program *program)
{
	const struct splice s = { (struct bpf_insn *)bpf_program__insns(program), bpf_program__insn_cnt(program) };

	return bpf_program__type(program) == BPF_PROG_TYPE_KPROBE && !splice__has(&s, 0, s.n, EVENT_SLOT_MARK);
}

/* True if no site has anything spliced into the program. */
static bool runs_itself(const struct bpf_program *program, const struct attachments *a)
{
	bool put = false;
	size_t i;

	for (i = 0; a->code && i < a->nsites; i++)
		put |= has_bodies(&a->code[i]);
	return !put && has_no_slot(program);
}

/* Called by libbpf with the relocated instructions. */
static int replace(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	size_t n = bpf_program__insn_cnt(program);
	struct kept *k = find(program);

	(void)cookie;
	if (!k || runs_itself(program, k->owner))
		return 0;
	free(k->insn);
	k->insn = malloc(n * sizeof(*k->insn));
	if (!k->insn)
		return -ENOMEM;
	k->n = n;
	memcpy(k->insn, bpf_program__insns(program), n * sizeof(*k->insn));
	/* Both describe the template's functions and lines, which the new instructions lack. */
	opts->func_info = opts->line_info = NULL;
	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(program, nothing, ARRAY_SIZE(nothing));
}

/* Our handler replaces libbpf's for each section; libbpf's would only set the type of these programs. */
void attach_template__set_up(void)
{
	static const struct {
		const char *section;
		enum bpf_prog_type type;
	} of[] = {
		{ "raw_tp", BPF_PROG_TYPE_RAW_TRACEPOINT },
		{ "tracepoint", BPF_PROG_TYPE_TRACEPOINT },
		{ "kprobe", BPF_PROG_TYPE_KPROBE },
		{ "uprobe", BPF_PROG_TYPE_KPROBE },
		{ "uretprobe", BPF_PROG_TYPE_KPROBE },
	};
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = replace);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of); i++)
		libbpf_register_prog_handler(of[i].section, of[i].type, 0, &opts);
}

/* The list may still contain a program of an earlier object at the same address. */
static void forget_program(const struct bpf_program *program)
{
	struct kept **at = &all_kept;

	while (*at && (*at)->program != program)
		at = &(*at)->next;
	if (*at)
		drop(at);
}

void attach_template__want(struct bpf_program *program, bool wanted, const struct attachments *a)
{
	struct kept *k;

	if (!program)
		return;
	bpf_program__set_autoload(program, wanted);
	bpf_program__set_autoattach(program, false);
	forget_program(program);
	k = wanted ? calloc(1, sizeof(*k)) : NULL;
	if (!k)
		return;         /* libbpf then loads the template like any other program */
	*k = (struct kept){ .program = program, .owner = a, .next = all_kept };
	all_kept = k;
}

const struct bpf_insn *attach_template__insns(const struct bpf_program *program, size_t *n)
{
	const struct kept *k = find(program);

	if (k && k->insn) {
		*n = k->n;
		return k->insn;
	}
	*n = bpf_program__insn_cnt(program);
	return bpf_program__insns(program);
}

bool attach_template__is_complete(const struct bpf_program *program, const struct attach_code *code)
{
	const struct kept *k = find(program);

	return !(k && k->insn) && bpf_program__fd(program) >= 0 && !has_bodies(code) && has_no_slot(program);
}

void attach_template__forget(const struct attachments *a)
{
	struct kept **at = &all_kept;

	while (*at)
		if ((*at)->owner == a)
			drop(at);
		else
			at = &(*at)->next;
}
