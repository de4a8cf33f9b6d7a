// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach_copy.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/func_info.h"
#include "event/splice.h"

/* To ask it later what it missed, without holding its descriptor. Not to know is no failure. */
static void remember(struct attachments *a, int fd)
{
	struct bpf_prog_info info = {};
	u32 len = sizeof(info), *larger;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	if (!(a->nprograms & (a->nprograms - 1))) {
		larger = realloc(a->program,
				 (a->nprograms ? 2 * a->nprograms : 1) * sizeof(*larger));
		if (!larger)
			return;
		a->program = larger;
	}
	a->program[a->nprograms++] = info.id;
}

u64 attach__misses(const struct attachments *a)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < a->nprograms; i++) {
		struct bpf_prog_info info = {};
		int fd = bpf_prog_get_fd_by_id(a->program[i]);
		u32 len = sizeof(info);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len))
			sum += info.recursion_misses;
		close(fd);
	}
	return sum;
}

/*
 * The template's instructions are those libbpf gave the kernel: relocated, with the descriptors of
 * maps.
 */
int attach__copy(struct attachments *a, struct bpf_program *template,
		 const struct attach_kind *kind, u32 slot)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = kind->attach,
		    .attach_btf_id = kind->btf_id);
	const struct attach_code *code = kind->code;
	struct func_info functions;
	struct splice copy;
	int fd, err;
	size_t i;

	err = splice__begin(&copy, bpf_program__insns(template), bpf_program__insn_cnt(template));
	for (i = 0; i < EVENT_BODIES && code && !err; i++)
		if (code->body[i].n)
			err = splice__put_body(&copy, EVENT_BODY_MARK + i, code->body[i].insn,
					       code->body[i].n);
	if (err) {
		splice__free(&copy);
		return err;
	}
	splice__put_number(&copy, EVENT_SLOT_MARK, slot);
	err = func_info__tell(&functions, &copy, a->object, bpf_program__name(template), &opts);
	fd = err ?: bpf_prog_load(kind->type, bpf_program__name(template), "Dual BSD/GPL",
				  copy.insn, copy.n, &opts);
	if (fd < 0)
		splice__explain(&copy, kind->type, &opts);
	func_info__free(&functions);
	splice__free(&copy);
	if (fd >= 0)
		remember(a, fd);
	return fd;
}

int attach__keep(struct attachments *a, int fd)
{
	int *larger;

	if (fd < 0)
		return fd;
	if (!(a->nfds & (a->nfds - 1))) {
		larger = realloc(a->fd, (a->nfds ? 2 * a->nfds : 1) * sizeof(*larger));
		if (!larger) {
			close(fd);
			return -ENOMEM;
		}
		a->fd = larger;
	}
	a->fd[a->nfds++] = fd;
	return 0;
}

bool attach_code__is_same(const struct attach_code *a, const struct attach_code *b)
{
	size_t i;

	for (i = 0; a && b && i < EVENT_BODIES; i++)
		if (a->body[i].n != b->body[i].n ||
		    (a->body[i].n && memcmp(a->body[i].insn, b->body[i].insn,
					    a->body[i].n * sizeof(*a->body[i].insn))))
			return false;
	return true;
}
