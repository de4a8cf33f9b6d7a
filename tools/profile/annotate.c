// SPDX-License-Identifier: BSD-2-Clause
#include "profile/annotate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/disassembly.h"
#include "profile/functions.h"
#include "profile/plt.h"
#include "profile/source_text.h"
#include "base/nearest.h"
#include "report/diag.h"
#include "report/listing.h"
#include "sym/code.h"
#include "sym/source.h"

/* Maximum number of disassembled bytes of a function. Samples beyond it are shown by their offset. */
#define MAX_CODE (1U << 20)
/* Number of functions named if the requested one has no samples. */
#define NAMED 5

void annotate__begin(struct stacks *s)
{
	symbols__want_code(s->names.symbols);
	/* A build without libdw shows only instructions. */
	symbols__want_source(s->names.symbols);
}

/*
 * --- code --------------------------------------------------------------------------------------
 */

/* Explains why there are no instructions to show. */
static const char *why_not(int err, bool kernel)
{
	if (err == -EOPNOTSUPP)
		return "built without capstone, or it is not installed";
	if (err == -EBADMSG || err == -ETIME)
		return "its code could not be disassembled";
	if (kernel && err == -ENOENT)
		return "this kernel has no /proc/kcore (CONFIG_PROC_KCORE)";
	if (kernel && err == -EPERM)
		return "no permission to read /proc/kcore (CAP_SYS_RAWIO; kernel lockdown)";
	if (err == -ESRCH)
		return "its code is in no file, and the process has exited (measure while it runs)";
	return kernel ? "/proc/kcore does not have its code" : "its code cannot be read";
}

/* Disassembles a function into d, or returns a negative errno. */
static int take_apart(struct stacks *s, const struct sampled_function *f, u64 address,
		      struct disassembly *d)
{
	size_t size = f->symbol.size < MAX_CODE ? f->symbol.size : MAX_CODE;
	bool is_32_bit = f->pid && symbols__user_is_32_bit(s->names.symbols, f->pid, f->runtime);
	u8 *code = malloc(size ?: 1);
	ssize_t n;
	int err;

	if (!code)
		return -ENOMEM;
	n = f->pid ? symbols__user_code(s->names.symbols, f->pid, f->runtime, code, size)
		   : kernel_code(f->runtime, code, size);
	err = n < 0 ? (int)n : n ? disassembly__make(d, is_32_bit ? MACHINE_32_BIT : MACHINE_OWN, code, n,
						   address) : -ENODATA;
	free(code);
	return err;
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

/*
 * Names the target of an instruction. The target is a file address, but names are found by runtime
 * address.
 */
static int name_target(struct stacks *s, const struct sampled_function *f, u64 address,
		       struct listing_line *line)
{
	u64 target = line->target - address + f->runtime;
	struct symbol symbol;
	int err = f->pid ? symbols__user(s->names.symbols, f->pid, target, &symbol)
			 : symbols__kernel(s->names.symbols, target, &symbol);

	if (err)
		return err;
	line->target_name = symbol.name;
	line->target_offset = symbol.offset;
	return 0;
}

static bool may_be_stub(const struct listing_line *line)
{
	return line->target_is_operand && !line->target_name;
}

/* Calls into other files go through stubs. A stub without a name is shown by its address. */
static int name_stubs(struct stacks *s, const struct sampled_function *f, struct listing *l)
{
	int fd = f->pid ? symbols__user_file(s->names.symbols, f->pid, f->runtime) : -ENOENT;
	u64 *address = calloc(l->n ?: 1, sizeof(*address));
	size_t n = 0, i;
	const char *name;

	if (!address)
		return -ENOMEM;
	for (i = 0; i < l->n; i++)
		if (may_be_stub(&l->line[i]))
			address[n++] = l->line[i].target;
	if (fd >= 0 && n && !plt__names(fd, address, n, &l->stubs)) {
		for (i = 0, name = l->stubs; i < l->n; i++) {
			if (!may_be_stub(&l->line[i]))
				continue;
			l->line[i].target_name = *name ? name : NULL;
			name += strlen(name) + 1;
		}
	}
	free(address);
	return 0;
}

/* Each line has its own copy, since most lines repeat the text of the previous one. */
static void add_source_texts(struct listing *l)
{
	const struct listing_line *before = NULL;
	struct source_texts texts = {};
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct listing_line *line = &l->line[i];

		if (!line->file)
			continue;
		if (!before || before->line != line->line || strcmp(before->file, line->file))
			line->source = source_texts__line(&texts, line->file, line->line);
		else if (before->source)
			line->source = strdup(before->source);
		before = line;
	}
	source_texts__free(&texts);
}

/*
 * Finds the source line of the innermost function, which may be inlined. *known: whether there is
 * debug information for the instruction.
 */
static int find_source(struct stacks *s, const struct sampled_function *f,
		       struct listing_line *line, bool *known)
{
	u64 address = f->runtime + line->offset;
	const struct source_place *place;
	size_t n;
	int err = f->pid ? symbols__user_source(s->names.symbols, f->pid, UINT64_MAX, address, &place, &n)
			 : symbols__kernel_source(s->names.symbols, address, &place, &n);

	*known = !err && n;
	if (!*known || !place[0].line)
		return err;
	line->file = place[0].file;
	line->line = place[0].line;
	return 0;
}

/* If the first instruction has no debug information, the function was compiled without it. */
static int find_sources(struct stacks *s, const struct sampled_function *f, struct listing *l)
{
	bool known = true;
	size_t i;
	int err = 0;

	for (i = 0; i < l->n && !err; i++) {
		err = find_source(s, f, &l->line[i], &known);
		if (!i && !known)
			return err;
	}
	return err;
}

static int add_instruction(struct stacks *s, const struct sampled_function *f, struct listing *l,
			   const struct instruction *i)
{
	struct listing_line *line = &l->line[l->n++];

	*line = (struct listing_line){
		.offset = i->address - l->address, .size = i->size,
		.mnemonic = i->mnemonic, .operands = i->operands,
		.has_target = i->kind != INSTRUCTION_OTHER,
		.target_is_operand = i->kind == INSTRUCTION_BRANCHES, .target = i->target,
	};
	return line->has_target ? name_target(s, f, l->address, line) : 0;
}

static void add_place(struct listing *l, const struct sampled_place *p)
{
	struct listing_line *last = l->n ? &l->line[l->n - 1] : NULL;

	if (last && last->size && last->offset == p->offset)
		last->count = p->count;
	else
		l->line[l->n++] = (struct listing_line){ .offset = p->offset, .count = p->count };
}

/* Merges instructions and sampled places, both of which are sorted, into one list. */
static int make_lines(struct stacks *s, const struct sampled_function *f, struct listing *l,
		      const struct disassembly *d)
{
	size_t place = 0, i;
	int err = 0;

	l->line = calloc(d->n + f->nplaces ?: 1, sizeof(*l->line));
	if (!l->line)
		return -ENOMEM;
	for (i = 0; i < d->n && !err; i++) {
		const struct instruction *in = &d->instruction[i];
		u64 end = in->address + in->size - l->address;

		err = add_instruction(s, f, l, in);
		while (place < f->nplaces && f->place[place].offset < end)
			add_place(l, &f->place[place++]);
	}
	while (place < f->nplaces)
		add_place(l, &f->place[place++]);
	return err;
}

/* The address of the function as in nm(1); for the kernel and JIT code, the runtime address. */
static u64 address_of(const struct sampled_function *f)
{
	const struct symbol *s = &f->symbol;

	return s->kind == SYMBOL_KERNEL || s->kind == SYMBOL_JIT ? f->runtime
								 : s->module_offset - s->offset;
}

static int make_listing(struct stacks *s, const struct sampled_function *f, struct listing *l)
{
	struct disassembly d = {};
	int err;

	*l = (struct listing){
		.name = f->symbol.name, .module = f->symbol.module, .path = f->symbol.path,
		.address = address_of(f), .size = f->symbol.size, .count = f->count,
	};
	err = take_apart(s, f, l->address, &d);
	if (err == -ENOMEM)
		return err;
	if (err)
		l->why = why_not(err, !f->pid);
	err = make_lines(s, f, l, &d);
	if (!err)
		err = name_stubs(s, f, l);
	if (!err)
		err = find_sources(s, f, l);
	add_source_texts(l);
	l->texts = d.texts;
	d.texts = NULL;
	disassembly__free(&d);
	return err;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* Returns the most similar name that has samples, or NULL. */
static const char *near_name(const struct sampled_functions *f, const char *glob)
{
	const char **names = calloc(f->n ?: 1, sizeof(*names)), *found = NULL;
	size_t i;

	for (i = 0; names && i < f->n; i++)
		names[i] = f->function[i].symbol.name;
	if (names)
		found = nearest(glob, names, f->n);
	free(names);
	return found;
}

static void say_what_has_samples(const struct sampled_functions *f, const char *glob,
				 const char *unit)
{
	const char *near = near_name(f, glob);
	char *text = NULL;
	size_t n = 0, i;
	FILE *file = open_memstream(&text, &n);

	if (!file)
		return;
	for (i = 0; i < f->n && i < NAMED; i++)
		fprintf(file, "%s%s %.1f%%", i ? ", " : "", f->function[i].symbol.name,
			100.0 * f->function[i].count / f->total);
	if (fclose(file))
		return;
	diag_warn("--annotate: none of %llu %s is in a function '%s'", f->total, unit, glob);
	if (near)
		diag_hint("did you mean '%s'?", near);
	if (f->n)
		diag_hint("they are in %s%s", text, f->n > NAMED ? ", ..." : "");
	free(text);
}

static int make_listings(struct stacks *s, const struct sampled_functions *f, size_t top,
			 struct report *r)
{
	struct report_listings *all = r->listings;
	size_t n = 0, i;
	int err = 0;

	while (n < f->n && f->function[n].matches)
		n++;
	if (top && n > top) {
		r->hidden = n - top;
		n = top;
	}
	all->listing = calloc(n ?: 1, sizeof(*all->listing));
	if (!all->listing)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = make_listing(s, &f->function[i], &all->listing[all->n++]);
	return err;
}

static int fill_in(struct stacks *s, const struct sampled_functions *f, const char *glob,
		   size_t top, struct report *r)
{
	r->listings->total = r->events = f->total;
	if (f->total && !(f->n && f->function[0].matches))
		say_what_has_samples(f, glob, r->listings->unit);
	return make_listings(s, f, top, r);
}

int annotate__report(struct stacks *s, const char *glob, const char *unit, size_t top,
		     struct report *r)
{
	struct sampled_functions f;
	int err = stacks__read_losses(s, r);

	r->has_events = true;
	r->listings = calloc(1, sizeof(*r->listings));
	if (!err && !r->listings)
		err = -ENOMEM;
	if (!err)
		err = stacks__watch(s);
	if (!err)
		err = stacks__read(s);
	if (!err)
		err = sampled_functions__find(&f, s, glob);
	if (err)
		return err;
	r->listings->unit = unit;
	/* Only one frame was requested, so truncated stacks are not a loss. */
	r->counters.lost[LOSS_TRUNCATED] = 0;
	err = fill_in(s, &f, glob, top, r);
	sampled_functions__free(&f);
	return err;
}
