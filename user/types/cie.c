// SPDX-License-Identifier: BSD-2-Clause
#include "types/cie.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* "zPLRSBG" contains all known letters. */
#define MAX_AUGMENTATION 8

u32 eh_pointer_bytes(u8 encoding, u32 word_bytes)
{
	switch (encoding & 7) {
	case DW_EH_PE_absptr:
		return word_bytes;
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

bool eh_take_raw(struct cursor *c, u8 encoding, u32 word_bytes, u64 *raw)
{
	u32 bytes = eh_pointer_bytes(encoding, word_bytes);

	if (encoding == DW_EH_PE_omit || !bytes || (encoding & 0x70) == DW_EH_PE_aligned)
		return false;
	*raw = encoding & DW_EH_PE_signed ? (u64)cursor__take_signed(c, bytes) :
					    cursor__take(c, bytes);
	return !c->failed;
}

bool eh_take_pointer(struct cursor *c, u8 encoding, const struct eh_bytes *b, u64 *pointer)
{
	u64 base = (encoding & 0x70) == DW_EH_PE_pcrel ? b->address + (c->at - b->at) : 0;

	if (encoding & 0x70 && (encoding & 0x70) != DW_EH_PE_pcrel)
		return false;
	if (encoding & DW_EH_PE_indirect || !eh_take_raw(c, encoding, b->word_bytes, pointer))
		return false;
	if (*pointer)
		*pointer += base;
	if (b->word_bytes == 4)
		*pointer = (u32)*pointer;
	return true;
}

/* Reads the data described by the letters after the 'z'. text is NUL-terminated. */
static bool read_augmentation(struct cie *cie, const char *text, struct cursor data, u32 word_bytes)
{
	u8 encoding;
	u64 unused;

	for (; *text; text++) {
		switch (*text) {
		case 'L':
			cie->handler_encoding = cursor__take(&data, 1);
			break;
		case 'P':
			encoding = cursor__take(&data, 1);
			cie->has_personality = true;
			if (encoding != DW_EH_PE_omit &&
			    !eh_take_raw(&data, encoding, word_bytes, &unused))
				return false;
			break;
		case 'R':
			cie->encoding = cursor__take(&data, 1);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		/* arm64: the key that signs return addresses, and tagged stack memory. */
		case 'B':
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

/* Reads a CIE, starting after its length and its id (0). */
static bool read_cie(struct cie *cie, struct cursor c, u32 word_bytes)
{
	u8 version = cursor__take(&c, 1);
	const char *text = (const char *)c.at;
	const u8 *end = memchr(c.at, 0, cursor__left(&c));

	if ((version != 1 && version != 3) || !end || end - c.at > MAX_AUGMENTATION)
		return false;
	c.at = end + 1;
	cie->code_unit = cursor__take_uleb(&c);
	cie->data_unit = cursor__take_sleb(&c);
	cie->return_register = version == 1 ? cursor__take(&c, 1) : cursor__take_uleb(&c);
	cie->has_data = *text == 'z';
	if (*text && !cie->has_data)
		return false;
	if (cie->has_data && !read_augmentation(cie, text + 1, cursor__cut(&c, cursor__take_uleb(&c)),
						word_bytes))
		return false;
	cie->program = c;
	return !c.failed;
}

/* Takes an entry's length and its contents, which may be truncated. Returns false if there are no more entries. */
static bool take_entry(struct cursor *c, struct cursor *entry)
{
	u64 length = cursor__take(c, 4);

	if (length == UINT32_MAX)
		length = cursor__take(c, 8);
	*entry = cursor__cut(c, length);
	return length && !c->failed && !entry->failed;
}

/* Reads the CIE at a position in the section into w->cie. */
static bool find_cie(struct eh_walk *w, const u8 *at)
{
	struct cursor c = { .at = at, .end = w->section.end }, entry;

	if (at == w->cie_at)
		return w->cie_ok;
	w->cie_at = at;
	w->cie = (struct cie){ .encoding = DW_EH_PE_absptr, .handler_encoding = DW_EH_PE_omit };
	w->cie_ok = take_entry(&c, &entry) && !cursor__take(&entry, 4) && !entry.failed &&
		    read_cie(&w->cie, entry, w->section.word_bytes);
	return w->cie_ok;
}

void eh_walk__init(struct eh_walk *w, struct eh_bytes section)
{
	*w = (struct eh_walk){
		.section = section,
		.rest = { .at = section.at, .end = section.end },
	};
}

int eh_walk__next(struct eh_walk *w, struct cursor *fde)
{
	const u8 *id_at;
	u64 id;

	do {
		if (!take_entry(&w->rest, fde)) {
			w->rest.at = w->rest.end;
			return 0;
		}
		id_at = fde->at;
		id = cursor__take(fde, 4);
		if (fde->failed || id > (u64)(id_at - w->section.at))
			return -EBADMSG;
	} while (!id);
	return find_cie(w, id_at - id) ? 1 : -EBADMSG;
}
