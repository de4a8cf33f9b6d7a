// SPDX-License-Identifier: BSD-2-Clause
#include "event/user_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/disassembly.h"
#include "base/opener.h"
#include "base/sorted.h"
#include "event/code_file.h"
#include "event/user_code_exits.h"
#include "base/arch.h"
#include "types/binary.h"
#include "types/dwarf.h"
#include "unwind/cfi.h"
#include "types/extents.h"

/* Size limit of a function or of one of its parts. */
#define MAX_CODE (4U << 20)

/* A Go stack check takes up to eight instructions, including the check for large frames. */
#define GO_CHECK_MOST 10

/* The longest x86 instruction. */
#define LONGEST 15

struct user_code {
	char *path;
	struct code_file file;
	enum machine_code machine;
	struct binary_functions functions;
	struct code_extents extents;
	struct cfi_table cfi;
	bool has_extents, has_cfi, knows_cfi;   /* whether already read, and whether usable */
};

static bool is_known_machine(u32 elf_machine, enum machine_code *machine)
{
	*machine = elf_machine == EM_386 ? MACHINE_32_BIT : MACHINE_OWN;
#if defined(__x86_64__)
	return elf_machine == EM_X86_64 || elf_machine == EM_386;
#elif defined(__aarch64__)
	return elf_machine == EM_AARCH64;
#else
	return false;
#endif
}

int user_code__open(struct user_code **code, const char *path)
{
	struct user_code *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	err = code_file__open(&c->file, path);
	if (err) {
		free(c);
		return err;
	}
	c->path = strdup(path);
	err = c->path ? binary_functions__find(&c->functions, path, NULL) : -ENOMEM;
	if (!err && !is_known_machine(c->file.machine, &c->machine))
		err = -ENOEXEC;
	if (err) {
		user_code__close(c);
		return err;
	}
	*code = c;
	return 0;
}

void user_code__close(struct user_code *c)
{
	if (!c)
		return;
	code_extents__free(&c->extents);
	if (c->knows_cfi)
		cfi_table__free(&c->cfi);
	binary_functions__free(&c->functions);
	code_file__close(&c->file);
	free(c->path);
	free(c);
}

u32 user_code__return_bytes(const struct user_code *c)
{
	return c->machine == MACHINE_32_BIT ? 4 : ARCH_CALL_BYTES;
}

/*
 * --- functions and stack states ----------------------------------------------------------------
 */

const struct code_extents *user_code__extents(struct user_code *c)
{
	if (!c->has_extents)
		code_extents__read(&c->extents, c->file.fd);
	c->has_extents = true;
	return &c->extents;
}

static const struct cfi_table *cfi_of(struct user_code *c)
{
	if (!c->has_cfi)
		c->knows_cfi = !cfi_table__read(&c->cfi, c->file.fd, NULL);
	c->has_cfi = true;
	return c->knows_cfi ? &c->cfi : NULL;
}

enum stack_state user_code__stack_at(struct user_code *c, u64 address)
{
	const struct cfi_table *t = cfi_of(c);
	const struct unwind_rule *r = t ? cfi_table__find(t, address) : NULL;

	if (!r || r->cfa == UNWIND_UNKNOWN || r->cfa == UNWIND_UNSUPPORTED)
		return STACK_UNKNOWN;
	if (r->cfa != UNWIND_SP || r->offset != ARCH_CALL_BYTES)
		return STACK_IN_USE;
	/* Where calls push nothing, leaf functions never change the stack. */
	return ARCH_CALL_BYTES ? STACK_AS_AT_ENTRY : STACK_UNKNOWN;
}

/* Returns the index of the first function after an address, in address order. */
static size_t first_behind(const struct user_code *c, u64 address)
{
	return SORTED_UP_TO(c->functions.function, c->functions.n, address, address);
}

/* Returns the containing function that begins last; among its names, prefers one with a size. */
const struct binary_function *user_code__function(const struct user_code *c, u64 address)
{
	size_t i = first_behind(c, address), steps;
	const struct binary_function *f;

	for (steps = 0; i && steps < 64; i--, steps++) {
		f = &c->functions.function[i - 1];
		if (f->address == address || address - f->address < f->size)
			break;
	}
	if (!i || steps == 64)
		return NULL;
	for (f = &c->functions.function[i - 1]; i > 1; i--) {
		const struct binary_function *alias = &c->functions.function[i - 2];

		if (alias->address != f->address)
			break;
		if (alias->size > f->size)
			f = alias;
	}
	return f;
}

bool user_code__has_name(const struct user_code *c, u64 address, const char *name, size_t len)
{
	size_t i;

	for (i = first_behind(c, address); i; i--) {
		const struct binary_function *f = &c->functions.function[i - 1];

		if (f->address != address)
			break;
		if (strlen(f->name) == len && !memcmp(f->name, name, len))
			return true;
	}
	return false;
}

bool user_code__in_plt(const struct user_code *c, u64 address)
{
	return code_file__in_plt(&c->file, address);
}

int user_code__extent(struct user_code *c, u64 address, u64 *start, u64 *size)
{
	const struct binary_function *f = user_code__function(c, address);
	const struct code_extent *e;

	if (f && f->size) {
		*start = f->address;
		*size = f->size;
		return 0;
	}
	e = code_extents__find(user_code__extents(c), address);
	if (!e)
		return -ENODATA;
	*start = e->start;
	*size = e->size;
	return 0;
}

ssize_t user_code__read(const struct user_code *c, u64 address, void *to, size_t size,
			bool executable)
{
	return code_file__read(&c->file, address, to, size, executable);
}

int user_code__take_apart(struct user_code *c, struct disassembly *d, u64 start, u64 size)
{
	u8 *bytes;
	int err;

	if (!size || size > MAX_CODE)
		return -ENODATA;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	err = user_code__read(c, start, bytes, size, true) == (ssize_t)size ? 0 : -ENODATA;
	if (!err)
		err = disassembly__make(d, c->machine, bytes, size, start);
	free(bytes);
	return err && err != -ENOMEM ? -ENODATA : err;
}

/*
 * --- where instructions begin ------------------------------------------------------------------
 */

/* True if the file's own tables show, without disassembly, that an instruction begins there. */
static bool is_named(struct user_code *c, u64 address)
{
	const struct binary_function *f = user_code__function(c, address);
	const struct code_extent *e = code_extents__find(user_code__extents(c), address);
	struct dwarf *d;
	bool has;

	if ((f && f->address == address) || (e && e->start == address))
		return true;
	if (cfi_of(c) && cfi_table__has_row(&c->cfi, address))
		return true;
	if (dwarf__open(&d, c->path))
		return false;
	has = dwarf__has_row(d, address);
	dwarf__close(d);
	return has;
}

/* Looks up the address in code disassembled from a function's first instruction. */
static int find_in(const struct disassembly *d, u64 address, struct code_neighbours *near)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct instruction *at = &d->instruction[i];

		if (at->address == address)
			return 0;
		if (at->flow == FLOW_UNKNOWN)
			return -ENODATA;
		if (address - at->address < at->size) {
			*near = (struct code_neighbours){ at->address, at->address + at->size };
			return -EILSEQ;
		}
	}
	return -ENODATA;
}

int user_code__check(struct user_code *c, u64 address, struct code_neighbours *near)
{
	struct disassembly d;
	u64 start, size;
	int err = user_code__extent(c, address, &start, &size);

	if (!err) {
		/* Disassemble only up to the address and the instruction there. */
		if (size > address - start + LONGEST)
			size = address - start + LONGEST;
		err = user_code__take_apart(c, &d, start, size);
	}
	if (!err) {
		err = find_in(&d, address, near);
		disassembly__free(&d);
	}
	if (err == -ENODATA && is_named(c, address))
		err = 0;
	return err;
}

bool user_code__is_looked_at(void)
{
	return disassembly__is_possible();
}

bool user_code__is_nop(const struct user_code *c, u64 file_offset)
{
	u8 b[4] = {};

	if (opener__read(c->file.fd, file_offset, b, sizeof(b)) < 1)
		return false;
#if defined(__x86_64__)
	if (b[0] == 0x66)
		memmove(b, b + 1, sizeof(b) - 1);
	return b[0] == 0x90 || (b[0] == 0x0f && b[1] == 0x1f);
#else
	return !(file_offset % 4);
#endif
}

/*
 * --- Go ----------------------------------------------------------------------------------------
 */

/* True if, from this address on, the code jumps to the entry before the function can end. */
static bool leads_back(const struct disassembly *d, u64 from, u64 entry)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct instruction *at = &d->instruction[i];

		if (at->address < from)
			continue;
		if (at->flow == FLOW_JUMP)
			return at->target == entry;
		if (at->flow != FLOW_ON && at->flow != FLOW_CALL)
			return false;
	}
	return false;
}

u64 user_code__body(struct user_code *c, u64 entry)
{
	struct disassembly d;
	u64 start, size, body = entry;
	size_t i;

	if (!c->file.is_go || user_code__extent(c, entry, &start, &size) || start != entry ||
	    user_code__take_apart(c, &d, start, size))
		return entry;
	for (i = 0; i + 1 < d.n && i < GO_CHECK_MOST; i++) {
		const struct instruction *at = &d.instruction[i];

		if (at->flow == FLOW_CONDITION && leads_back(&d, at->target, entry))
			body = d.instruction[i + 1].address;
		else if (at->flow != FLOW_ON)
			break;
	}
	disassembly__free(&d);
	return body;
}

bool user_code__is_go(const struct user_code *c)
{
	return c->file.is_go;
}

bool user_code__keeps_goroutine(const struct user_code *c, u64 function)
{
	return c->file.keeps_goroutine &&
	       (c->file.has_symbols || code_file__convention(&c->file, function) != CODE_GO_ASSEMBLY);
}

enum code_convention user_code__convention(const struct user_code *c, u64 address)
{
	return code_file__convention(&c->file, address);
}

bool user_code__is_c_library(const struct user_code *c)
{
	return c->file.is_c_library;
}
