// SPDX-License-Identifier: BSD-2-Clause
#include "event/code_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/confined.h"
#include "base/opener.h"
#include "base/wire.h"
#include "types/go_file.h"

/*
 * --- in the process without rights -------------------------------------------------------------
 */

static void put_segments(struct wire *w, const struct elf_file *f)
{
	size_t i;

	wire__number(w, f->nsegments);
	for (i = 0; i < f->nsegments; i++) {
		wire__number(w, f->segment[i].address);
		wire__number(w, f->segment[i].offset);
		wire__number(w, f->segment[i].size);
		wire__number(w, f->segment[i].executable);
	}
}

static void put_plts(struct wire *w, const struct elf_file *f)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct code_range range[ARRAY_SIZE(names)];
	GElf_Shdr header;
	Elf_Data *data;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!elf_file__section(f, names[i], &header, &data))
			range[n++] = (struct code_range){ header.sh_addr, header.sh_size };
	wire__array(w, range, n, sizeof(*range));
}

/*
 * True for C libraries and allocators: their malloc() and free() return to their caller on the stack they were called
 * on, and no exception passes through them (ISO C, 7.24.3).
 */
static bool is_c_library(const struct elf_file *f)
{
	static const char *const names[] = {
		"libc.so.", "libc.musl-", "libjemalloc.so.", "libtcmalloc.so.", "libtcmalloc_minimal.so.",
		"libmimalloc.so.",
	};
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Dyn entry;
	const char *name = NULL;
	size_t k;
	int i;

	if (elf_file__section(f, ".dynamic", &header, &data))
		return false;
	for (i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag == DT_SONAME)
			name = elf_strptr(f->elf, header.sh_link, entry.d_un.d_val);
	for (k = 0; name && k < ARRAY_SIZE(names); k++)
		if (!strncmp(name, names[k], strlen(names[k])))
			return true;
	return false;
}

/* The Go linker creates these sections, in shared libraries too: cmd/link/internal/ld/pcln.go, buildinfo.go. */
static bool is_go(const struct elf_file *f)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo" };
	GElf_Shdr header;
	Elf_Data *data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!elf_file__section(f, names[i], &header, &data))
			return true;
	return false;
}

static bool has_symbols(const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Data *data;

	return !elf_file__section(f, ".symtab", &header, &data);
}

/*
 * True if the ABI reserves a register for the goroutine: since Go 1.17 on x86-64 (ABIInternal), always on arm64. The
 * magic numbers of the tables of 1.18 and 1.20 show this: internal/abi/symtab.go, formerly debug/gosym/pclntab.go.
 */
static bool keeps_goroutine(const struct elf_file *f)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	GElf_Shdr header;
	Elf_Data *data;
	u32 magic;
	size_t i;

	if (f->header.e_machine == EM_AARCH64)
		return is_go(f);
	for (i = 0; f->header.e_machine == EM_X86_64 && i < ARRAY_SIZE(names); i++) {
		if (elf_file__section(f, names[i], &header, &data) || data->d_size < sizeof(magic))
			continue;
		memcpy(&magic, data->d_buf, sizeof(magic));
		return magic == 0xfffffff0 || magic == 0xfffffff1;
	}
	return false;
}

struct go_reading {
	const struct elf_file *file;
	struct go_range *range;
	size_t n;
	bool on_stack;          /* built with GOEXPERIMENT=noregabi */
};

/* See src/cmd/compile/abi-internal.md. */
static enum code_convention convention_of(const struct go_reading *r, enum go_kind kind)
{
	bool is_64_bit = r->file->header.e_machine == EM_X86_64 || r->file->header.e_machine == EM_AARCH64;

	if (!is_64_bit || r->on_stack)
		return CODE_GO_STACK;
	return kind == GO_COMPILED ? CODE_GO : kind == GO_ASSEMBLY ? CODE_GO_ASSEMBLY : CODE_GO_UNKNOWN;
}

static int add_go_range(struct go_reading *r, u64 start, u64 end, enum code_convention convention)
{
	struct go_range *last = r->n ? &r->range[r->n - 1] : NULL;

	if (last && last->end == start && last->convention == convention) {
		last->end = end;
		return 0;
	}
	return ARRAY_APPEND(r->range, r->n, (struct go_range){ start, end, convention });
}

static int keep_go(void *arg, const struct go_function *g)
{
	struct go_reading *r = arg;

	return g->kind == GO_FOREIGN ? 0 : add_go_range(r, g->start, g->end, convention_of(r, g->kind));
}

static bool is_built_without_registers(const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Data *data;

	return !elf_file__section(f, ".go.buildinfo", &header, &data) &&
	       memmem(data->d_buf, data->d_size, "noregabi", strlen("noregabi"));
}

static int put_go(struct wire *w, const struct elf_file *f)
{
	struct go_reading r = { .file = f, .on_stack = is_built_without_registers(f) };
	struct go_table t;
	int err = go_table__of_file(&t, f);

	if (err == -EBADMSG)
		err = add_go_range(&r, 0, UINT64_MAX, CODE_GO_UNKNOWN);
	else if (err != -ENOENT)
		err = go_table__each(&t, keep_go, &r);
	else
		err = 0;
	wire__array(w, r.range, r.n, sizeof(*r.range));
	return err;
}

/* Callback of confined_work; the file is descriptor 0. */
static void tell(struct answer *to, void *arg)
{
	struct elf_file f = {};
	struct wire w = {};

	(void)arg;
	to->err = elf_file__open_fd(&f, 0);
	wire__number(&w, to->err ? 0 : f.header.e_machine);
	if (to->err) {
		to->err = 0;
	} else {
		put_segments(&w, &f);
		put_plts(&w, &f);
		wire__number(&w, is_c_library(&f));
		wire__number(&w, is_go(&f));
		wire__number(&w, has_symbols(&f));
		wire__number(&w, keeps_goroutine(&f));
		to->err = put_go(&w, &f);
	}
	if (w.err)
		to->err = w.err;
	answer__put(to, w.data, w.n);
	/* The process exits here: nothing needs freeing. */
}

/*
 * --- in the calling process --------------------------------------------------------------------
 */

static void take_segments(struct unwire *u, struct code_file *f)
{
	u64 n = unwire__count(u, 4 * sizeof(u64));

	f->segment = calloc(n ?: 1, sizeof(*f->segment));
	if (!f->segment)
		u->err = -ENOMEM;
	while (!u->err && f->nsegments < n) {
		struct elf_segment *s = &f->segment[f->nsegments++];

		s->address = unwire__number(u);
		s->offset = unwire__number(u);
		s->size = unwire__number(u);
		s->executable = unwire__number(u);
	}
}

/* The machine is 0 if the file is not an ELF file. */
static int take(struct code_file *f, const void *answer, size_t size)
{
	struct unwire u = { answer, size, 0 };
	u64 n = 0;

	f->machine = unwire__number(&u);
	if (u.err || !f->machine)
		return u.err ?: -ENOEXEC;
	take_segments(&u, f);
	f->plt = unwire__array(&u, &n, sizeof(*f->plt));
	f->nplts = n;
	f->is_c_library = unwire__number(&u);
	f->is_go = unwire__number(&u);
	f->has_symbols = unwire__number(&u);
	f->keeps_goroutine = unwire__number(&u);
	f->go = unwire__array(&u, &n, sizeof(*f->go));
	f->ngo = n;
	return u.err;
}

int code_file__open(struct code_file *out, const char *path)
{
	struct code_file f = { .fd = opener__open_path(path, NULL) };
	void *answer;
	size_t size;
	int err;

	if (f.fd < 0)
		return f.fd;
	err = confined__run(tell, NULL, &f.fd, 1, NULL, &answer, &size);
	if (!err) {
		err = take(&f, answer, size);
		free(answer);
	}
	if (err)
		code_file__close(&f);
	else
		*out = f;
	return err;
}

void code_file__close(struct code_file *f)
{
	close(f->fd);
	free(f->segment);
	free(f->plt);
	free(f->go);
}

enum code_convention code_file__convention(const struct code_file *f, u64 address)
{
	size_t i;

	for (i = 0; i < f->ngo; i++)
		if (address >= f->go[i].start && address < f->go[i].end)
			return f->go[i].convention < CODE_GO_UNKNOWN ? f->go[i].convention : CODE_GO_UNKNOWN;
	return CODE_C;
}

bool code_file__in_plt(const struct code_file *f, u64 address)
{
	size_t i;

	for (i = 0; i < f->nplts; i++)
		if (address >= f->plt[i].address && address - f->plt[i].address < f->plt[i].size)
			return true;
	return false;
}

ssize_t code_file__read(const struct code_file *f, u64 address, void *to, size_t size,
			bool executable)
{
	u64 offset;

	if (elf_segments__offset(f->segment, f->nsegments, address, size, executable, &offset))
		return -ENODATA;
	return opener__read(f->fd, offset, to, size);
}
