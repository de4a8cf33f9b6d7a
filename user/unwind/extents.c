// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/extents.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/confined.h"
#include "base/sorted.h"
#include "types/elf_file.h"
#include "unwind/cursor.h"

/*
 * --- .eh_frame ---------------------------------------------------------------------------------
 */

/* What a CIE says of the entries that refer to it. */
struct common {
	const u8 *at;           /* NULL: none was read */
	bool ok;
	bool has_length;        /* 'z': of the data below */
	bool has_handlers;      /* 'L': where the language's data is */
	u8 encoding, handler_encoding;
};

struct reading {
	struct code_extents *to;
	struct cursor section;
	u64 address;
	u32 word_bytes;
	size_t room;
	struct common common;
};

static u32 pointer_bytes(const struct reading *r, u8 encoding)
{
	switch (encoding & 7) {
	case DW_EH_PE_absptr:
		return r->word_bytes;
	case DW_EH_PE_udata2:
		return 2;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata8:
		return 8;
	default:
		return 0;
	}
}

/* False: in an encoding that is not followed. What is not relative to itself is as it stands. */
static bool take_pointer(const struct reading *r, struct cursor *c, u8 encoding, u64 *pointer)
{
	u64 base = (encoding & 0x70) == DW_EH_PE_pcrel ? r->address + (c->at - r->section.at) : 0;
	u32 bytes = pointer_bytes(r, encoding);

	if (encoding == DW_EH_PE_omit || !bytes || (encoding & 0x70) == DW_EH_PE_aligned)
		return false;
	*pointer = encoding & DW_EH_PE_signed ? (u64)cursor__take_signed(c, bytes) :
						cursor__take(c, bytes);
	if (*pointer)
		*pointer += base;
	if (r->word_bytes == 4)
		*pointer = (u32)*pointer;
	return !c->failed;
}

static bool read_augmentation(struct reading *r, const char *text, struct cursor data)
{
	struct common *common = &r->common;
	u64 personality;
	u8 encoding;

	for (; *text; text++) {
		switch (*text) {
		case 'L':
			common->handler_encoding = cursor__take(&data, 1);
			common->has_handlers = common->handler_encoding != DW_EH_PE_omit;
			break;
		case 'P':
			encoding = cursor__take(&data, 1);
			r->to->has_personality = true;
			if (!take_pointer(r, &data, encoding, &personality))
				return false;
			break;
		case 'R':
			common->encoding = cursor__take(&data, 1);
			break;
		case 'S':
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

static bool read_common_body(struct reading *r, struct cursor c)
{
	u8 version = cursor__take(&c, 1);
	const char *text = (const char *)c.at;
	const u8 *end = memchr(c.at, 0, cursor__left(&c));

	if ((version != 1 && version != 3) || !end)
		return false;
	c.at = end + 1;
	cursor__take_uleb(&c);
	cursor__take_sleb(&c);
	if (version == 1)
		cursor__take(&c, 1);
	else
		cursor__take_uleb(&c);
	r->common.has_length = *text == 'z';
	if (*text && !r->common.has_length)
		return false;
	return !c.failed &&
	       (!r->common.has_length ||
		read_augmentation(r, text + 1, cursor__cut(&c, cursor__take_uleb(&c))));
}

/* An entry's length, and what follows as far as it goes. False: no more entries. */
static bool take_entry(struct cursor *c, struct cursor *entry)
{
	u64 length = cursor__take(c, 4);

	if (length == UINT32_MAX)
		length = cursor__take(c, 8);
	*entry = cursor__cut(c, length);
	return length && !c->failed && !entry->failed;
}

static bool read_common(struct reading *r, const u8 *at)
{
	struct cursor c = { .at = at, .end = r->section.end }, entry;

	if (at == r->common.at)
		return r->common.ok;
	r->common = (struct common){ .at = at, .encoding = DW_EH_PE_absptr };
	r->common.ok = take_entry(&c, &entry) && !cursor__take(&entry, 4) && !entry.failed &&
		       read_common_body(r, entry);
	return r->common.ok;
}

static int keep(struct reading *r, const struct code_extent *extent)
{
	struct code_extents *to = r->to;
	struct code_extent *larger;

	if (to->n == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		larger = reallocarray(to->extent, r->room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		to->extent = larger;
	}
	to->extent[to->n++] = *extent;
	return 0;
}

/* An entry behind its length and the pointer to its CIE. One that cannot be read is left out. */
static int read_extent(struct reading *r, struct cursor c)
{
	struct code_extent extent = {};
	struct cursor data;
	u64 handler = 0;

	if (!take_pointer(r, &c, r->common.encoding, &extent.start))
		return 0;
	extent.size = cursor__take(&c, pointer_bytes(r, r->common.encoding));
	if (r->common.has_length) {
		data = cursor__cut(&c, cursor__take_uleb(&c));
		if (r->common.has_handlers && cursor__left(&data))
			extent.has_handler =
				!take_pointer(r, &data, r->common.handler_encoding, &handler) || handler;
	}
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
	struct reading r = {
		.to = e, .section = cursor__of(section, size), .address = address,
		.word_bytes = word_bytes,
	};
	struct cursor c = r.section, entry;
	const u8 *id_at;
	int err = 0;
	u64 id;

	*e = (struct code_extents){};
	while (!err && take_entry(&c, &entry)) {
		id_at = entry.at;
		id = cursor__take(&entry, 4);
		if (id && !entry.failed && id <= (u64)(id_at - r.section.at) &&
		    read_common(&r, id_at - id))
			err = read_extent(&r, entry);
	}
	if (err)
		code_extents__free(e);
	else if (e->n)
		qsort(e->extent, e->n, sizeof(*e->extent), by_start);
	return err;
}

/*
 * --- the child: reads what nobody vouches for --------------------------------------------------
 */

struct head {
	s64 err;
	u64 n, has_personality;
};

static int parse_file(struct code_extents *e, int fd)
{
	struct elf_file f;
	GElf_Shdr header;
	Elf_Data *data;
	int err = elf_file__open_fd(&f, fd);

	if (err)
		return err;
	err = elf_file__section(&f, ".eh_frame", &header, &data);
	if (!err)
		err = code_extents__parse(e, data->d_buf, data->d_size, header.sh_addr,
					  f.header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4);
	elf_file__close(&f);
	return err;
}

/* confined_work: the file is 0. */
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
 * --- the parent: takes what may be lies --------------------------------------------------------
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
	/* The order is relied on. */
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
