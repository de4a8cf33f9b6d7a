// SPDX-License-Identifier: BSD-2-Clause
#include "profile/plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/confined.h"
#include "types/elf_file.h"

#define SUFFIX "@plt"

/*
 * --- the child ---------------------------------------------------------------------------------
 */

struct stub {
	u64 slot;               /* the address from which it loads its target */
	size_t index;           /* index among the given addresses */
};

struct work {
	const u64 *address;
	size_t n;
};

/* x86-64: [endbr64] [bnd] jmp *OFFSET(%rip) */
static bool find_slot(const struct elf_file *f, u64 address, u64 *slot)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	u8 code[16];
	u64 offset;
	size_t at = 0;
	int32_t to;

	if (elf_file__offset(f, address, sizeof(code), true, &offset) ||
	    pread(f->fd, code, sizeof(code), offset) != sizeof(code))
		return false;
	if (f->header.e_machine != EM_X86_64)
		return false;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		at += sizeof(endbr64);
	if (code[at] == 0xf2)
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&to, &code[at + 2], sizeof(to));
	*slot = address + at + 6 + to;
	return true;
}

static int by_slot(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* The first stub whose slot is not below the given one. */
static size_t first_stub(const struct stub *stub, size_t n, u64 slot)
{
	size_t low = 0, high = n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (stub[mid].slot < slot)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The name of a symbol of .dynsym, if it ends within its section. */
static const char *name_of(Elf_Data *symbols, Elf_Data *strings, u64 index)
{
	const char *name;
	GElf_Sym symbol;

	if (index > INT32_MAX || !gelf_getsym(symbols, index, &symbol) ||
	    symbol.st_name >= strings->d_size)
		return NULL;
	name = (const char *)strings->d_buf + symbol.st_name;
	return memchr(name, 0, strings->d_size - symbol.st_name) ? name : NULL;
}

/* Sets names[index] for each stub whose slot is filled by a relocation in the section. */
static void read_section(const struct elf_file *f, const char *section, const struct stub *stub,
			 size_t n, const char **names)
{
	Elf_Data *entries, *symbols, *strings;
	GElf_Shdr header;
	GElf_Rela entry;
	int i;

	if (elf_file__section(f, ".dynsym", &header, &symbols) ||
	    elf_file__section(f, ".dynstr", &header, &strings) ||
	    elf_file__section(f, section, &header, &entries))
		return;
	for (i = 0; gelf_getrela(entries, i, &entry); i++) {
		size_t k = first_stub(stub, n, entry.r_offset);

		for (; k < n && stub[k].slot == entry.r_offset; k++)
			names[stub[k].index] = name_of(symbols, strings, GELF_R_SYM(entry.r_info));
	}
}

static void put_names(struct answer *to, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (names[i] && names[i][0]) {
			answer__put(to, names[i], strlen(names[i]));
			answer__put(to, SUFFIX, strlen(SUFFIX));
		}
		answer__put(to, "", 1);
	}
}

/* confined_work: descriptor 0 is the file. */
static void name_stubs(struct answer *to, void *arg)
{
	const struct work *w = arg;
	struct stub *stub = calloc(w->n, sizeof(*stub));
	const char **names = calloc(w->n, sizeof(*names));
	struct elf_file f;
	size_t n = 0, i;

	to->err = stub && names ? elf_file__open_fd(&f, 0) : -ENOMEM;
	if (to->err)
		return;
	for (i = 0; i < w->n; i++)
		if (find_slot(&f, w->address[i], &stub[n].slot))
			stub[n++].index = i;
	qsort(stub, n, sizeof(*stub), by_slot);
	if (n) {
		read_section(&f, ".rela.plt", stub, n, names);
		read_section(&f, ".rela.dyn", stub, n, names);
	}
	put_names(to, names, w->n);
	/* The process ends here, so nothing is freed. */
}

/*
 * --- the parent --------------------------------------------------------------------------------
 */

static size_t count_texts(const char *texts, size_t size)
{
	size_t n = 0, i;

	for (i = 0; i < size; i++)
		n += !texts[i];
	return size && texts[size - 1] ? 0 : n;
}

int plt__names(int fd, const u64 *address, size_t n, char **names)
{
	struct work w = { address, n };
	void *answer;
	size_t size;
	int err = confined__run(name_stubs, &w, &fd, 1, NULL, &answer, &size);

	if (err)
		return err;
	if (count_texts(answer, size) != n) {
		free(answer);
		return -EBADMSG;
	}
	*names = answer;
	return 0;
}
