// SPDX-License-Identifier: BSD-2-Clause
/* Sites at the ends of functions, and at places inside functions. */
#include "event/user_resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "event/user_binary.h"
#include "report/diag.h"

/* Returns the code of the file, or NULL if unavailable. */
static struct user_code *code_of(struct resolver *r)
{
	if (!r->code && user_code__open(&r->code, r->path))
		r->code = NULL;
	return r->code;
}

/* True if the site exists already. Functions may share an instruction that ends them. */
static bool has_site(const struct resolver *r, u64 file_offset, u64 function)
{
	size_t i;

	for (i = r->first; i < r->sites->n; i++)
		if (r->sites->site[i].file_offset == file_offset &&
		    (!r->sites->site[i].is_exit || r->sites->site[i].function == function))
			return true;
	return false;
}

/* The Go linker adds this suffix to functions of the old ABI, which has no goroutine register. */
static bool is_named_abi0(const char *name)
{
	size_t n = strcspn(name, "%+"), suffix = strlen(".abi0");

	return n > suffix && !strncmp(name + n - suffix, ".abi0", suffix);
}

static void set_convention(struct resolver *r, struct event_site *site, const char *name)
{
	bool is_old = is_named_abi0(name);

	if (!code_of(r))
		return;
	site->has_goroutine = !is_old && user_code__keeps_goroutine(r->code, site->function);
	site->convention = user_code__convention(r->code, site->function);
	if ((site->convention == CODE_GO || site->convention == CODE_GO_ASSEMBLY) && is_old)
		site->convention = CODE_GO_STACK;
}

/*
 * Adds a site unless one exists at that address: `address` is the address of the instruction,
 * `function` that of the function's first instruction. If `to` is not NULL, *to is set to the new
 * site, or to NULL.
 */
static int add_site(struct resolver *r, const char *name, u64 address, u64 offset, u64 file_offset,
		    u64 function, struct event_site **to)
{
	const struct event_function *f = &r->event->function;
	struct event_site *site;
	char text[1024];

	if (to)
		*to = NULL;
	if (has_site(r, file_offset, function))
		return 0;
	if (r->sites->n - r->first >= r->most)
		return event__complain_sites(r->event, r->most, r->c);
	snprintf(text, sizeof(text), "%s:%s", r->file, name);
	site = event_sites__add(r->sites, r->event, text);
	if (!site)
		return -ENOMEM;
	site->address = address;
	site->offset = offset;
	site->file_offset = file_offset;
	site->function = function;
	site->is_return = f->is_return;
	site->is_named = !r->is_glob;
	site->is_32_bit = r->is_32_bit;
	set_convention(r, site, name);
	site->path = strdup(r->path);
	if (to)
		*to = site;
	return site->path ? 0 : -ENOMEM;
}

/* --- ends ------------------------------------------------------------------------------------- */

/*
 * True for the allocators of the C library and its replacements, which are called so often that the
 * cost of a return probe matters. It costs less to probe the return address on the stack than the
 * returning instructions, which the kernel has to single-step.
 */
static bool is_allocator(const char *name)
{
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc",
		"posix_memalign", "valloc", "pvalloc", "free",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * A return address may be replaced only if the program is known to return through it, on the stack
 * of the call. This excludes code that moves or switches stacks (Go, swapcontext(), fibers), or
 * that an exception or longjmp() passes through. Only the allocators of C libraries are known to
 * qualify.
 */
static bool may_replace_return(struct resolver *r, const char *name)
{
	return is_allocator(name) && !r->is_glob && code_of(r) &&
	       user_code__is_c_library(r->code) && user_code__return_bytes(r->code) == ARCH_CALL_BYTES;
}

/* Probes the return by replacing the return address on the stack. */
static int add_return_probe(struct resolver *r, const char *text, u64 function, u64 file_offset)
{
	struct event_site *site;
	int err = add_site(r, text, function, 0, file_offset, function, &site);

	if (!err && site)
		site->return_bytes = r->code ? user_code__return_bytes(r->code) : ARCH_CALL_BYTES;
	return err;
}

static int add_exits(struct resolver *r, const char *text, u64 function,
		     const struct code_exits *exits)
{
	struct event_site *site;
	int err = 0;
	size_t i;
	u64 at;

	for (i = 0; i < exits->n && !err; i++) {
		const struct code_exit *e = &exits->exit[i];

		err = binary__file_offset(r->path, e->address, &at);
		if (!err)
			err = add_site(r, text, e->address, e->address - function, at, function,
				       &site);
		if (err || !site)
			continue;
		site->is_exit = true;
		site->is_tail_call = e->is_tail_call;
		site->is_shared = e->is_shared;
	}
	return err;
}

/* Handles a function whose ends cannot be probed safely: leaves it out if it matches a glob, else complains. */
static int leave_out(struct resolver *r, const char *name, const char *why, const char *hint)
{
	const struct event *e = r->event;

	if (r->is_glob) {
		diag_detail("%s%%return is left out: %s", name, why);
		r->sites->left_out++;
		return 0;
	}
	complain(r->c, 0, e->at, e->len, "the returns of %s cannot be traced: %s", name, why);
	return complain_hint(r->c, -EOPNOTSUPP, "%s", hint);
}

/* Probes a function at its returning instructions, which leaves its stack unchanged. */
int resolver__add_ends(struct resolver *r, const char *name, const char *text, u64 function,
		    u64 file_offset)
{
	struct code_exits exits = {};
	const char *why = "its file cannot be read";
	int err = -ENODATA;

	if (may_replace_return(r, name))
		return add_return_probe(r, text, function, file_offset);
	if (code_of(r))
		err = user_code__exits(r->code, function, r->event->function.has_entry, &exits, &why);
	if (err && err != -ENODATA)
		return err;
	if (!err && !exits.n && r->event->function.is_call && !r->is_glob) {
		r->sites->endless++;
		return 0;
	}
	if (!err && !exits.n)
		return leave_out(r, name, "it never returns", "probe its entry");
	if (err)
		err = leave_out(r, name, why,
				"a probe on its return address would kill a program that moves or switches stacks, "
				"or throws through the function; probe its entry, or its caller");
	else
		err = add_exits(r, text, function, &exits);
	code_exits__free(&exits);
	return err;
}

/* --- places inside functions ------------------------------------------------------------------ */

/* Probes the place at an offset in a function that begins at file_offset. */
int resolver__add_place(struct resolver *r, const char *text, u64 function, u64 offset, u64 file_offset)
{
	u64 at = function + offset;

	if (!offset && code_of(r))
		at = user_code__body(r->code, function);
	return add_site(r, text, at, offset, file_offset + (at - function), function, NULL);
}

/* Trusts that an address from debug information begins an instruction, unless the code contradicts this. */
int resolver__check_place(struct resolver *r, const char *name, u64 address, bool from_dwarf)
{
	const struct event *e = r->event;
	struct code_neighbours near = {};
	int err = code_of(r) ? user_code__check(r->code, address, &near) : -ENODATA;

	if (err == -ENODATA && from_dwarf)
		return 0;
	if (err == -EILSEQ && from_dwarf) {
		complain(r->c, 0, e->at, e->len, "%s is inside an instruction", name);
		return complain_hint(r->c, err, "the debug information belongs to another build of %s",
				     r->path);
	}
	if (err == -EILSEQ) {
		complain(r->c, 0, e->at, e->len, "no instruction begins at %s: a probe there would "
			 "change what the program does", name);
		return complain_hint(r->c, err, "the nearest instructions are at %s+%llu and +%llu",
				     e->function.name, near.before - (address - e->function.offset),
				     near.behind - (address - e->function.offset));
	}
	if (err == -ENODATA) {
		complain(r->c, 0, e->at, e->len, "cannot verify that an instruction begins at %s; if none does, a "
						 "probe would change what the program does", name);
		return complain_hint(r->c, -EOPNOTSUPP, "%sprobe the function's first instruction, or, with debug "
							"information, one of its lines",
				     user_code__is_looked_at() ? "" :
				     "this build lacks capstone, or it is not installed; ");
	}
	return err;
}
