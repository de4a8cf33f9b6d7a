// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach_copy.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "event/attach_template.h"
#include "event/func_info.h"
#include "event/splice.h"

/* Remembers the program id, to query missed runs later without holding the descriptor. Ignores errors. */
static void remember(struct attachments *a, int fd)
{
	struct bpf_prog_info info = {};
	u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	if (!ARRAY_ROOM(a->program, a->nprograms))
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

/* A tracepoint program runs for only one task per CPU at a time, so tracepoint sites do not share copies. */
static bool may_share(const struct attach_kind *kind)
{
	return kind->type == BPF_PROG_TYPE_KPROBE;
}

static bool is_last(const struct attach_made *last, const struct bpf_program *template,
		    const struct attach_kind *kind, u32 slot)
{
	return may_share(kind) && last->template == template && last->attach == kind->attach &&
	       last->slot == slot && attach_code__is_same(last->code, kind->code);
}

void attach__forget_copy(struct attachments *a)
{
	if (a->last.template)
		close(a->last.fd);
	a->last.template = NULL;
}

static int again(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : copy;
}

/* Remembers the copy for later sites. */
static void keep_copy(struct attachments *a, struct bpf_program *template,
		      const struct attach_kind *kind, u32 slot, int fd)
{
	attach__forget_copy(a);
	fd = may_share(kind) ? again(fd) : -1;
	if (fd >= 0)
		a->last = (struct attach_made){ template, kind->attach, kind->code, slot, fd };
}

/* s holds the template's relocated instructions, with map descriptors. */
static int load_copy(struct attachments *a, struct splice *s, const struct bpf_program *template,
		     const struct attach_kind *kind, u32 slot)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = kind->attach,
		    .attach_btf_id = kind->btf_id);
	const struct attach_code *code = kind->code;
	struct func_info functions;
	int fd, err = 0;
	size_t i;

	for (i = 0; i < EVENT_BODIES && code && !err; i++)
		if (code->body[i].n)
			err = splice__put_body(s, EVENT_BODY_MARK + i, code->body[i].insn,
					       code->body[i].n);
	if (err)
		return err;
	splice__put_number(s, EVENT_SLOT_MARK, slot);
	err = func_info__tell(&functions, s, a->object, bpf_program__name(template), &opts);
	fd = err ?: bpf_prog_load(kind->type, bpf_program__name(template), "Dual BSD/GPL", s->insn,
				  s->n, &opts);
	if (fd < 0)
		splice__explain(s, kind->type, &opts);
	func_info__free(&functions);
	if (fd >= 0)
		remember(a, fd);
	return fd;
}

static bool is_what_a_copy_would_be(const struct bpf_program *template, const struct attach_kind *kind)
{
	return may_share(kind) && bpf_program__expected_attach_type(template) == kind->attach &&
	       attach_template__is_complete(template, kind->code);
}

int attach__copy(struct attachments *a, struct bpf_program *template,
		 const struct attach_kind *kind, u32 slot)
{
	const struct bpf_insn *insn;
	struct splice copy;
	size_t n;
	int fd;

	if (is_last(&a->last, template, kind, slot))
		return again(a->last.fd);
	insn = attach_template__insns(template, &n);
	fd = splice__begin(&copy, insn, n);
	if (!fd)
		fd = is_what_a_copy_would_be(template, kind) ? again(bpf_program__fd(template)) :
							       load_copy(a, &copy, template, kind, slot);
	splice__free(&copy);
	a->program_refused = fd < 0;
	if (fd >= 0)
		keep_copy(a, template, kind, slot, fd);
	return fd;
}

int attach__keep(struct attachments *a, int fd)
{
	int err;

	if (fd < 0)
		return fd;
	err = ARRAY_APPEND(a->fd, a->nfds, fd);
	if (err)
		close(fd);
	return err;
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
