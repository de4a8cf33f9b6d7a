// SPDX-License-Identifier: BSD-2-Clause
#include "types/go_file.h"

#include <errno.h>
#include <string.h>

/* Returns the value that a relocation writes to an address when the program is loaded, or 0 if there is none. */
static u64 relocated(const struct elf_file *f, u64 address)
{
	u32 relative = f->header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Rela rela;
	size_t i;

	if (elf_file__section(f, ".rela.dyn", &header, &data) && elf_file__section(f, ".rela", &header, &data))
		return 0;
	for (i = 0; i < data->d_size / sizeof(Elf64_Rela) && i < INT32_MAX; i++)
		if (gelf_getrela(data, i, &rela) && rela.r_offset == address && GELF_R_TYPE(rela.r_info) == relative)
			return rela.r_addend;
	return 0;
}

struct entry_search {
	u64 address;
	bool is_go;
};

/* Programs linked by Go's own linker start in the runtime, at _rt0_amd64_linux. */
static int look_for_entry(void *arg, const struct go_function *g)
{
	struct entry_search *search = arg;

	if (g->start == search->address)
		search->is_go = g->len > 5 && !memcmp(g->name, "_rt0_", 5);
	return g->start >= search->address;
}

/*
 * Guesses the functions' base address if the table lacks it: the start of .text, unless other code comes first there.
 * The guess is accepted if it places a function of the runtime at the program's entry point.
 */
static u64 guess_text(const struct elf_file *f, struct go_table *t)
{
	struct entry_search search = { .address = f->header.e_entry };
	GElf_Shdr header;
	Elf_Data *data;

	if (elf_file__section(f, ".text", &header, &data))
		return 0;
	t->text = header.sh_addr;
	go_table__each(t, look_for_entry, &search);
	return search.is_go ? t->text : 0;
}

int go_table__of_file(struct go_table *t, const struct elf_file *f)
{
	static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	GElf_Shdr header;
	Elf_Data *data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (!elf_file__section(f, sections[i], &header, &data))
			break;
	if (i == ARRAY_SIZE(sections))
		return -ENOENT;
	if (go_table__open(t, data->d_buf, data->d_size))
		return -EBADMSG;
	if (t->text_at && !t->text)
		t->text = relocated(f, header.sh_addr + t->text_at) ?: guess_text(f, t);
	return t->text_at && !t->text ? -EBADMSG : 0;
}
