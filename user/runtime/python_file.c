// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/python_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/python_layout.h"

/* The child's answer. The members have types without invalid values. */
struct found {
	u64 runtime, code_type, text_type, bytes_type, version_at;
	u64 since_3_9, since_3_10;      /* functions added in these releases */
	u64 runs, runs_size;
	u32 version;
	u32 nhead;
	u32 nsegments;
	u32 pad;
	u64 address[PYTHON_FILE_SEGMENTS], offset[PYTHON_FILE_SEGMENTS], size[PYTHON_FILE_SEGMENTS];
	u8 head[PYTHON_HEAD];
};

/* --- the child --------------------------------------------------------------------------------- */

static int visit(void *arg, const GElf_Sym *symbol, const char *name, size_t len)
{
	struct found *f = arg;
	const struct { const char *name; u64 *to; } wanted[] = {
		{ "_PyRuntime", &f->runtime }, { "Py_Version", &f->version_at },
		{ "PyCode_Type", &f->code_type }, { "PyUnicode_Type", &f->text_type },
		{ "PyBytes_Type", &f->bytes_type },
		{ "PyThreadState_GetFrame", &f->since_3_9 }, { "PyIter_Send", &f->since_3_10 },
		{ "_PyEval_EvalFrameDefault", &f->runs },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (strlen(wanted[i].name) != len || memcmp(name, wanted[i].name, len))
			continue;
		*wanted[i].to = symbol->st_value;
		if (wanted[i].to == &f->runs)
			f->runs_size = symbol->st_size;
	}
	return 0;
}

/* Reads the initial contents of an address, as in a freshly mapped file. */
static ssize_t read_at(const struct elf_file *f, u64 address, void *to, size_t size)
{
	u64 offset;

	if (elf_file__offset(f, address, 1, false, &offset))
		return -1;
	return pread(f->fd, to, size, offset);
}

/* Returns 0 before 3.9. Up to 3.10, only the exported functions of an interpreter reveal its version. */
static u32 find_version(const struct found *found, const struct elf_file *f)
{
	u32 version;

	if (!found->version_at)
		return found->since_3_10 ? PYTHON_RELEASE(3, 10) << 16 :
		       found->since_3_9 ? PYTHON_RELEASE(3, 9) << 16 : 0;
	return read_at(f, found->version_at, &version, sizeof(version)) == sizeof(version) ? version : 0;
}

static void find(struct found *found, const struct elf_file *f)
{
	ssize_t n;
	size_t i;

	elf_file__symbols(f, ".dynsym", ".dynstr", visit, found);
	if (!found->runtime)
		return;
	found->version = find_version(found, f);
	n = read_at(f, found->runtime, found->head, sizeof(found->head));
	found->nhead = n > 0 ? n : 0;
	for (i = 0; i < f->nsegments && found->nsegments < PYTHON_FILE_SEGMENTS; i++) {
		found->address[found->nsegments] = f->segment[i].address;
		found->offset[found->nsegments] = f->segment[i].offset;
		found->size[found->nsegments++] = f->segment[i].size;
	}
}

static void give(struct answer *answer, void *arg)
{
	static struct found found;
	struct elf_file f;

	(void)arg;
	if (!elf_file__open_fd(&f, 0)) {
		if (f.header.e_ident[EI_CLASS] == ELFCLASS64)
			find(&found, &f);
		elf_file__close(&f);
	}
	answer__put(answer, &found, sizeof(found));
}

/* --- the parent -------------------------------------------------------------------------------- */

int python_file__take(struct python_file *f, const void *answer, size_t size)
{
	const struct found *found = answer;
	u32 i;

	*f = (struct python_file){};
	if (size != sizeof(*found) || found->nsegments > PYTHON_FILE_SEGMENTS || found->nhead > PYTHON_HEAD)
		return -EBADMSG;
	/* This is a version up to 3.8. */
	if (found->runtime && found->code_type && !found->version)
		return -EOPNOTSUPP;
	if (!found->runtime || !found->version || !found->code_type || !found->text_type || !found->bytes_type)
		return -ENOENT;
	f->runtime = found->runtime;
	f->code_type = found->code_type;
	f->text_type = found->text_type;
	f->bytes_type = found->bytes_type;
	f->runs = found->runs;
	f->runs_end = found->runs + found->runs_size;
	f->version = found->version;
	f->nsegments = found->nsegments;
	for (i = 0; i < f->nsegments; i++)
		f->segment[i] = (struct elf_segment){
			.address = found->address[i], .offset = found->offset[i], .size = found->size[i] };
	return python_layout__find(&f->layout, f->version, found->head, found->nhead);
}

int python_file__read(struct python_file *f, int fd, struct allowance *allowance)
{
	void *answer;
	size_t size;
	int err;

	*f = (struct python_file){};
	err = confined__run(give, NULL, &fd, 1, allowance, &answer, &size);
	if (err)
		return err;
	err = python_file__take(f, answer, size);
	free(answer);
	return err;
}
