// SPDX-License-Identifier: BSD-2-Clause
#include "types/extents.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/confined.h"
#include "base/sorted.h"
#include "types/cie.h"

/*
 * --- .eh_frame ---------------------------------------------------------------------------------
 */

struct reading {
	struct code_extents *to;
	struct eh_walk walk;
};

static int keep(struct reading *r, const struct code_extent *extent)
{
	struct code_extents *to = r->to;

	return ARRAY_APPEND(to->extent, to->n, *extent);
}

/* True if it has language-specific data at a non-zero address. c is positioned after the size. */
static bool has_handler(const struct reading *r, struct cursor *c)
{
	const struct cie *cie = &r->walk.cie;
	struct cursor data;
	u64 at;

	if (!cie->has_data)
		return false;
	data = cursor__cut(c, cursor__take_uleb(c));
	if (cie->handler_encoding == DW_EH_PE_omit || !cursor__left(&data))
		return false;
	return !eh_take_raw(&data, cie->handler_encoding, r->walk.section.word_bytes, &at) || at;
}

/* Reads an FDE. Skips an unreadable one. */
static int read_extent(struct reading *r, struct cursor c)
{
	const struct eh_bytes *section = &r->walk.section;
	u8 encoding = r->walk.cie.encoding;
	struct code_extent extent = {};

	if (!eh_take_pointer(&c, encoding, section, &extent.start))
		return 0;
	extent.size = cursor__take(&c, eh_pointer_bytes(encoding, section->word_bytes));
	extent.has_handler = has_handler(r, &c);
	if (c.failed || !extent.size || extent.start + extent.size < extent.start)
		return 0;
	return keep(r, &extent);
}

static int by_start(const void *a, const void *b)
{
	const struct code_extent *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int code_extents__parse(struct code_extents *e, const void *section, size_t size, u64 address,
			u32 word_bytes)
{
	struct reading r = { .to = e };
	struct cursor fde;
	int err = 0, found;

	*e = (struct code_extents){};
	eh_walk__init(&r.walk, (struct eh_bytes){ section, (const u8 *)section + size, address,
						  word_bytes });
	while (!err && (found = eh_walk__next(&r.walk, &fde))) {
		e->has_personality |= r.walk.cie.has_personality;
		if (found > 0)
			err = read_extent(&r, fde);
	}
	if (err)
		code_extents__free(e);
	else if (e->n)
		qsort(e->extent, e->n, sizeof(*e->extent), by_start);
	return err;
}

int code_extents__of_file(struct code_extents *e, const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Data *data;
	int err = elf_file__section(f, ".eh_frame", &header, &data);

	*e = (struct code_extents){};
	return err ?: code_extents__parse(e, data->d_buf, data->d_size, header.sh_addr,
					  f->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4);
}

/*
 * --- the child: reads untrusted files ----------------------------------------------------------
 */

struct head {
	s64 err;
	u64 n, has_personality;
};

static int parse_file(struct code_extents *e, int fd)
{
	struct elf_file f;
	int err = elf_file__open_fd(&f, fd);

	if (err)
		return err;
	err = code_extents__of_file(e, &f);
	elf_file__close(&f);
	return err;
}

/* Callback of confined_work; the file is descriptor 0. */
static void give(struct answer *to, void *arg)
{
	struct code_extents e = {};
	struct head head = { .err = parse_file(&e, 0) };

	(void)arg;
	head.n = head.err ? 0 : e.n;
	head.has_personality = e.has_personality;
	answer__put(to, &head, sizeof(head));
	answer__put(to, e.extent, head.n * sizeof(*e.extent));
}

/*
 * --- the parent: checks the child's answer -----------------------------------------------------
 */

static int take(struct code_extents *e, const void *answer, size_t size)
{
	struct head head;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, answer, sizeof(head));
	if (head.err)
		return head.err < 0 && head.err > -4096 ? (int)head.err : -EBADMSG;
	size -= sizeof(head);
	if (size % sizeof(*e->extent) || size / sizeof(*e->extent) != head.n)
		return -EBADMSG;
	e->extent = malloc(size ?: 1);
	if (!e->extent)
		return -ENOMEM;
	memcpy(e->extent, (const u8 *)answer + sizeof(head), size);
	e->n = head.n;
	e->has_personality = head.has_personality;
	/* Lookups rely on the order. */
	if (e->n)
		qsort(e->extent, e->n, sizeof(*e->extent), by_start);
	return 0;
}

int code_extents__read(struct code_extents *e, int fd)
{
	void *answer;
	size_t size;
	int err;

	*e = (struct code_extents){};
	err = confined__run(give, NULL, &fd, 1, NULL, &answer, &size);
	if (err)
		return err;
	err = take(e, answer, size);
	free(answer);
	return err;
}

void code_extents__free(struct code_extents *e)
{
	free(e->extent);
	*e = (struct code_extents){};
}

const struct code_extent *code_extents__find(const struct code_extents *e, u64 address)
{
	size_t from = SORTED_UP_TO(e->extent, e->n, start, address);

	if (!from || address - e->extent[from - 1].start >= e->extent[from - 1].size)
		return NULL;
	return &e->extent[from - 1];
}
