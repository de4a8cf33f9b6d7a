// SPDX-License-Identifier: BSD-2-Clause
/* Functions of programs and libraries: PATH:FUNC, or FUNC of -x BINARY. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ends_with.h"
#include "base/nearest.h"
#include "event/code_name.h"
#include "event/event.h"
#include "event/source_text.h"
#include "event/user_binary.h"
#include "event/user_code.h"
#include "base/arch.h"
#include "report/diag.h"
#include "sym/demangle.h"
#include "types/binary.h"
#include "types/dwarf.h"

/* A path; with -x also bare names that no other source claims. */
static bool claims(const struct event_context *ctx, const struct event_word *w)
{
	size_t path = event_word__path(w);

	(void)ctx;
	if (path)
		return !event_word__is_sdt(w, path + 1);
	return w->len && (w->text[0] == '/' || (w->text[0] == '.' && memchr(w->text, '/', w->len)));
}

/* Parses NAME, or NAME@SOURCE; then ;PATTERN, or the suffixes of any function. */
static int parse_function(struct event *e, const struct event_word *w, size_t from,
			  struct complaint *c)
{
	bool is_code_name = code_name__is_not_c(w->text + from, w->len - from);
	size_t at = is_code_name ? from + code_name__length(w->text + from, w->len - from) :
				   event_word__find(w, from, "@;+:%"), end;
	const struct event_word name = { w->text, w->at, at };
	int err = 0;

	if (is_code_name && at == from)
		return complain(c, -EINVAL, w->at + at, 1, "the name of a function is missing here");
	if (is_code_name) {
		e->function.name = event_word__copy(w, from, at);
		err = e->function.name ? 0 : -ENOMEM;
	} else {
		err = event__parse_function(e, &name, from, false, c);
	}
	if (err || at == w->len)
		return err;
	if (w->text[at] == '@') {
		end = event_word__find(w, at + 1, ";+:%");
		if (end == at + 1)
			return complain(c, -EINVAL, w->at + at, 1, "a source file must follow the '@'");
		e->function.source = event_word__copy(w, at + 1, end);
		at = end;
	}
	if (at == w->len || w->text[at] != ';')
		return event__parse_place(&e->function, w, at, c);
	if (at + 1 == w->len)
		return complain(c, -EINVAL, w->at + at, 1,
				"what the line looks like must follow the ';'");
	e->function.pattern = event_word__copy(w, at + 1, w->len);
	return 0;
}

static int parse(struct event *e, const struct event_context *ctx, const struct event_word *w,
		 struct complaint *c)
{
	size_t from;
	int err;

	(void)ctx;
	err = event__take_path(e, w, &from, c);
	if (err)
		return err;
	if (!e->binary || (!from && event__begins_path(w->text))) {
		complain(c, 0, w->at + w->len, 0, "a function is missing behind the file");
		return complain_hint(c, -EINVAL, "PATH:FUNCTION, like /bin/bash:readline");
	}
	return parse_function(e, w, from, c);
}

#define TOLD_MOST 320           /* characters of a name in reports */

/* --- resolving -------------------------------------------------------------------------------- */

struct resolver {
	struct event_sites *sites;
	const struct event *event;
	struct complaint *c;
	const char *path;
	struct user_code *code; /* opened on first use */
	bool is_32_bit;
	bool is_one_of_several; /* other files may have the function instead */
	const struct dwarf_unread *unread;      /* functions may be described where is not read; or NULL */
	bool is_glob;           /* the name is a glob, and the file has no function of that very name */
	bool by_code_name;      /* match C++ and Rust names as in the source */
	char **told;            /* then the names of the functions found, without parameters */
	struct demangler demangler;
	size_t first;           /* index of our first site */
	u32 most;
};

/* The code of the file; NULL: unavailable. */
static struct user_code *code_of(struct resolver *r)
{
	if (!r->code && user_code__open(&r->code, r->path))
		r->code = NULL;
	return r->code;
}

/* Does the site exist? Functions may share an instruction that ends them. */
static bool has_site(const struct resolver *r, u64 file_offset, u64 function)
{
	size_t i;

	for (i = r->first; i < r->sites->n; i++)
		if (r->sites->site[i].file_offset == file_offset &&
		    (!r->sites->site[i].is_exit || r->sites->site[i].function == function))
			return true;
	return false;
}

/* The linker of Go names what is called by the old ABI, which has no register of the goroutine, so. */
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
 * Adds a site unless one exists at that address. address is the instruction's, function that of the
 * first instruction of its function. If to is not NULL, *to is the new site, or NULL.
 */
static int add_site(struct resolver *r, const char *name, u64 address, u64 offset, u64 file_offset,
		    u64 function, struct event_site **to)
{
	const struct event_function *f = &r->event->function;
	struct event_site *site;
	char text[512];

	if (to)
		*to = NULL;
	if (has_site(r, file_offset, function))
		return 0;
	if (r->sites->n - r->first >= r->most)
		return event__complain_sites(r->event, r->most, r->c);
	snprintf(text, sizeof(text), "%s:%s", event_binary_name(r->path), name);
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
 * Allocators of the C library and its replacements: called so often that the cost of a return probe
 * matters. Probing the return address on the stack costs less than probing the returning
 * instructions, which the kernel has to single-step.
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
 * A return address may be replaced only where the program is known to return through it, on the stack
 * of the call: not where stacks move or are switched (Go, swapcontext(), fibers), nor where an
 * exception or longjmp() passes through. Only allocators of C libraries are known to do so.
 */
static bool may_replace_return(struct resolver *r, const char *name)
{
	return is_allocator(name) && !r->is_glob && code_of(r) &&
	       user_code__is_c_library(r->code) && user_code__return_bytes(r->code) == ARCH_CALL_BYTES;
}

/* Probes the return by the return address on the stack. */
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

/* Handles a function whose ends cannot be probed safely: one of a glob is left out. */
static int leave_out(struct resolver *r, const char *name, const char *why, const char *hint)
{
	const struct event *e = r->event;

	if (r->is_glob) {
		diag_detail("%s%%return is left out: %s", name, why);
		r->sites->left_out++;
		return 0;
	}
	complain(r->c, 0, e->at, e->len, "the ends of %s cannot be seen: %s", name, why);
	return complain_hint(r->c, -EOPNOTSUPP, "%s", hint);
}

/* Probes the ends of a function at the returning instructions, which changes nothing on its stack. */
static int add_ends(struct resolver *r, const char *name, const char *text, u64 function,
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
		return leave_out(r, name, "it never returns", "its entry can be probed");
	if (err)
		err = leave_out(r, name, why,
				"by its return address they could, but that ends a program which moves or "
				"switches stacks, or throws through the function; probe its entry, or the function "
				"that calls it");
	else
		err = add_exits(r, text, function, &exits);
	code_exits__free(&exits);
	return err;
}

/* --- places inside of functions --------------------------------------------------------------- */

/* Probes the place at an offset in a function, which is at file_offset. */
static int add_place(struct resolver *r, const char *text, u64 function, u64 offset, u64 file_offset)
{
	u64 at = function + offset;

	if (!offset && code_of(r))
		at = user_code__body(r->code, function);
	return add_site(r, text, at, offset, file_offset + (at - function), function, NULL);
}

/* An address from debug information is trusted to begin an instruction unless the code contradicts it. */
static int check_place(struct resolver *r, const char *name, u64 address, bool from_dwarf)
{
	const struct event *e = r->event;
	struct code_neighbours near = {};
	int err = code_of(r) ? user_code__check(r->code, address, &near) : -ENODATA;

	if (err == -ENODATA && from_dwarf)
		return 0;
	if (err == -EILSEQ && from_dwarf) {
		complain(r->c, 0, e->at, e->len, "%s is inside of an instruction", name);
		return complain_hint(r->c, err, "the debug information is of another build than %s",
				     r->path);
	}
	if (err == -EILSEQ) {
		complain(r->c, 0, e->at, e->len, "no instruction begins at %s: a probe there would "
			 "change what the program does", name);
		return complain_hint(r->c, err, "the nearest ones are at %s+%llu and +%llu",
				     e->function.name, near.before - (address - e->function.offset),
				     near.behind - (address - e->function.offset));
	}
	if (err == -ENODATA) {
		complain(r->c, 0, e->at, e->len, "it cannot be told whether an instruction begins at "
			 "%s; if not, a probe would change what the program does", name);
		return complain_hint(r->c, -EOPNOTSUPP, "%sthe function's first instruction can be probed, "
				     "or a line of it if there is debug information",
				     user_code__is_looked_at() ? "" :
				     "this tally was built without capstone, or it is not installed; ");
	}
	return err;
}

/* The best of a function's names: the one typed, else the plainest. */
static const char *best_name(const struct binary_function *f, size_t n, const char *typed)
{
	const char *best = f->name;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!strcmp(f[i].name, typed))
			return f[i].name;
		if (strspn(f[i].name, "_") < strspn(best, "_"))
			best = f[i].name;
	}
	return best;
}

/* Such a symbol is a resolver: it selects the function, and is not called with its arguments. */
static int refuse_indirect(const struct resolver *r)
{
	const struct event *e = r->event;

	complain(r->c, 0, e->at, e->len, "%s is one of several, chosen when a program begins (IFUNC): "
		 "a probe on it would see the choice, not the calls", e->function.name);
	return complain_hint(r->c, -EOPNOTSUPP, "probe those it chooses from; `list --functions -x %s "
			     "'*%s*'` shows them", event_binary_name(r->path), e->function.name);
}

/* --- names of C++ and Rust --------------------------------------------------------------------- */

/* Sets the symbol of the sites from index from on. */
static int set_symbols(struct resolver *r, size_t from, const char *symbol)
{
	for (; from < r->sites->n; from++) {
		struct event_site *site = &r->sites->site[from];

		if (!site->symbol && symbol)
			site->symbol = strdup(symbol);
		if (!site->symbol && symbol)
			return -ENOMEM;
	}
	return 0;
}

/* Formats the name in text[size]; symbols that are not C++ or Rust are printed as is. */
static void tell_name(struct resolver *r, char *text, size_t size, const char *symbol, enum code_name_form form)
{
	char *demangled = malloc(DEMANGLED_MAX);

	if (demangled && demangler__ask(&r->demangler, symbol, demangled, DEMANGLED_MAX))
		code_name__form(text, size, demangled, form);
	else
		snprintf(text, size, "%s", symbol);
	free(demangled);
}

/* confined_work's callback: demangles there, since symbols may be crafted to attack the demangler. */
static bool is_named_so(const char *symbol, const void *typed)
{
	char *demangled;
	bool is = false;

	if (event_is_glob(typed) && !fnmatch(typed, symbol, 0))
		return true;
	if (!code_name__may_match(typed, symbol))
		return false;
	demangled = malloc(DEMANGLED_MAX);
	if (demangled && demangle(symbol, demangled, DEMANGLED_MAX))
		is = code_name__matches(typed, demangled);
	free(demangled);
	return is;
}

/* The short names of all functions found; NULL if out of memory. */
static char **tell_all(struct resolver *r, const struct binary_functions *all)
{
	char **told = calloc(all->n ?: 1, sizeof(*told)), text[TOLD_MOST];
	size_t i;

	for (i = 0; told && i < all->n; i++) {
		tell_name(r, text, sizeof(text), all->function[i].name, CODE_NAME_SHORT);
		told[i] = strdup(text);
	}
	return told;
}

static void free_told(char **told, size_t n)
{
	size_t i;

	for (i = 0; told && i < n; i++)
		free(told[i]);
	free(told);
}

/* Overloaded functions are named with parameters, all others without. */
static void tell_shortly(struct resolver *r, char *text, size_t size, const struct binary_functions *all, size_t which)
{
	const char *name = r->told[which];
	size_t i;

	for (i = 0; i < all->n && name; i++)
		if (all->function[i].address != all->function[which].address && r->told[i] &&
		    !strcmp(r->told[i], name))
			name = NULL;
	if (name)
		snprintf(text, size, "%s", name);
	else
		tell_name(r, text, size, all->function[which].name, CODE_NAME_FULL);
}

static int add_symbol(struct resolver *r, const struct binary_functions *all, const struct binary_function *f,
		      size_t aliases)
{
	const struct event_function *e = &r->event->function;
	const char *name = best_name(f, aliases, e->name), *symbol = r->told ? name : NULL;
	char text[384], offset[32] = "", told[TOLD_MOST];
	size_t before = r->sites->n;
	u64 size = 0;
	size_t i;
	int err;

	for (i = 0; i < aliases; i++) {
		if (f[i].is_indirect)
			return r->is_glob ? 0 : refuse_indirect(r);
		if (f[i].size > size)
			size = f[i].size;
	}
	if (e->offset && size && e->offset >= size)
		return complain(r->c, -EINVAL, r->event->at, r->event->len,
				"%s has only %llu bytes", name, size);
	if (e->offset)
		snprintf(offset, sizeof(offset), "+0x%llx", e->offset);
	snprintf(told, sizeof(told), "%s", name);
	if (symbol)
		for (i = 0; i < aliases; i++)
			if (f[i].name == name)
				tell_shortly(r, told, sizeof(told), all, f - all->function + i);
	snprintf(text, sizeof(text), "%s%s%s", told, offset, e->is_return ? "%return" : "");
	if (e->is_return) {
		err = add_ends(r, name, text, f->address, f->file_offset);
	} else {
		err = e->offset ? check_place(r, text, f->address + e->offset, false) : 0;
		err = err ?: add_place(r, text, f->address, e->offset, f->file_offset);
	}
	return err ?: set_symbols(r, before, symbol && strcmp(symbol, told) ? symbol : NULL);
}

#define ANY_TYPES "[...]"

/* main.Map[...], as the runtime of Go names them, means the instances of a generic function. */
static int find_instances(struct binary_functions *found, const struct resolver *r)
{
	const char *name = r->event->function.name, *types = strstr(name, ANY_TYPES);
	char *glob;
	int err;

	if (!types)
		return 0;
	if (asprintf(&glob, "%.*s[[]*[]]%s", (int)(types - name), name, types + strlen(ANY_TYPES)) < 0)
		return -ENOMEM;
	binary_functions__free(found);
	err = binary_functions__find(found, r->path, glob);
	free(glob);
	return err;
}

static int find_symbols(struct binary_functions *found, const struct resolver *r)
{
	const char *name = r->event->function.name;
	int err;

	if (r->by_code_name)
		err = binary_functions__search(found, r->path, is_named_so, name);
	else
		err = binary_functions__find(found, r->path, name);
	return err ?: found->n ? 0 : find_instances(found, r);
}

static int add_symbols(struct resolver *r)
{
	struct binary_functions found = {};
	size_t i, next;
	int err = find_symbols(&found, r);

	if (err)
		return event__complain_binary(r->event, r->path, err, r->c);
	if (found.n && !strcmp(found.function[0].name, r->event->function.name))
		r->is_glob = r->by_code_name = false;
	r->told = r->by_code_name ? tell_all(r, &found) : NULL;
	if (r->by_code_name && !r->told)
		err = -ENOMEM;
	for (i = 0; i < found.n && !err; i = next) {
		for (next = i + 1; next < found.n; next++)
			if (found.function[next].address != found.function[i].address)
				break;
		err = add_symbol(r, &found, &found.function[i], next - i);
	}
	free_told(r->told, found.n);
	r->told = NULL;
	binary_functions__free(&found);
	return err;
}

/* --- with debug information ------------------------------------------------------------------- */

static int add_address(struct resolver *r, const char *name, u64 address, u64 offset)
{
	u64 file_offset;

	int err;

	/* Skip addresses outside the file's code. */
	if (binary__file_offset(r->path, address, &file_offset))
		return 0;
	if (r->event->function.is_return)
		return add_ends(r, r->event->function.name, name, address, file_offset);
	err = offset ? check_place(r, name, address, !r->event->function.offset) : 0;
	return err ?: add_place(r, name, address - offset, offset, file_offset - offset);
}

/*
 * Inlined copies are calls too. They have no return, and an offset in one is not the same code as
 * in the function.
 */
static int add_places(struct resolver *r, const struct dwarf_function *f)
{
	const struct event_function *e = &r->event->function;
	char text[384];
	size_t i, n;
	int err = 0;

	for (i = 0; i < f->nplaces && !err; i++) {
		const struct dwarf_place *p = &f->place[i];

		if (p->is_inlined && (e->is_return || e->offset))
			continue;
		if (p->is_inlined)
			snprintf(text, sizeof(text), "%s (inlined into %s)", e->name, p->function);
		else
			snprintf(text, sizeof(text), "%s%s", e->name,
				 e->is_return ? "%return" : "");
		n = r->sites->n;
		err = add_address(r, text, p->address + e->offset, p->offset + e->offset);
		if (err || r->sites->n == n)
			continue;
		r->sites->site[n].is_inlined = p->is_inlined;
		r->sites->untold += p->has_untold;
	}
	return err;
}

/* The nearest lines with code before and after the requested one, as suggestions. */
static void near_lines(const struct dwarf_lines *lines, u32 line, u32 *before, u32 *behind)
{
	size_t i;

	for (i = 0; i < lines->n; i++) {
		if (lines->line[i].relative <= line)
			*before = lines->line[i].relative;
		else if (*behind == UINT32_MAX)
			*behind = lines->line[i].relative;
	}
}

/* Offset of an address within its copy of the function. */
static u64 offset_of(const struct dwarf_function *f, u64 address)
{
	const struct dwarf_place *p;
	u64 offset = address;

	for (p = f->place; p < f->place + f->nplaces; p++)
		if (p->address <= address)
			offset = p->offset + (address - p->address);
	return offset;
}

/* The lines requested in a function: one by number, or those that match a pattern. */
struct wanted_lines {
	u32 before, behind;     /* nearest lines with code, as suggestions */
	struct source_text text;        /* of the last file read */
	char *missing;          /* path of an unreadable file; owned */
};

static bool is_wanted(const struct event_function *e, const struct dwarf_line *line,
		      const struct source_text *text)
{
	return e->pattern ? source_text__matches(text, line->line, e->pattern) :
			    line->relative == e->line;
}

static int add_line(struct resolver *r, const struct dwarf_function *f,
		    const struct dwarf_line *line)
{
	char text[384];
	size_t k;
	int err = 0;

	snprintf(text, sizeof(text), "%s:%u", f->name, line->relative);
	for (k = 0; k < line->naddresses && !err; k++)
		err = add_address(r, text, line->address[k], offset_of(f, line->address[k]));
	return err;
}

/* Reads the source of these lines; remembers a missing file. */
static int read_source(struct wanted_lines *wanted, const struct dwarf_lines *lines)
{
	char *path;
	int err;

	if (*lines->file == '/' || !lines->directory)
		path = strdup(lines->file);
	else if (asprintf(&path, "%s/%s", lines->directory, lines->file) < 0)
		path = NULL;
	if (!path)
		return -ENOMEM;
	err = source_text__read(&wanted->text, path);
	if (!err || err == -ENOMEM || wanted->missing)
		free(path);
	else
		wanted->missing = path;
	return err == -ENOMEM ? err : 0;
}

static int add_lines(struct resolver *r, struct dwarf *d, const struct dwarf_function *f,
		     struct wanted_lines *wanted)
{
	const struct event_function *e = &r->event->function;
	struct dwarf_lines lines;
	size_t i;
	int err;

	err = dwarf_lines__of(&lines, d, f);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (e->pattern)
		err = read_source(wanted, &lines);
	else
		near_lines(&lines, e->line, &wanted->before, &wanted->behind);
	for (i = 0; i < lines.n && !err; i++)
		if (is_wanted(e, &lines.line[i], &wanted->text))
			err = add_line(r, f, &lines.line[i]);
	dwarf_lines__free(&lines);
	return err;
}

static int no_line(const struct resolver *r, const struct wanted_lines *wanted)
{
	const struct event *e = r->event;
	const char *name = e->function.name;

	if (wanted->missing) {
		complain(r->c, 0, e->at, e->len, "the source of %s is not here: %s", name,
			 wanted->missing);
		return complain_hint(r->c, -ENOENT, "by its number a line is found without it: %s:LINE; "
				     "`list --lines %s -x ...` shows which there are", name, name);
	}
	if (e->function.pattern)
		return complain_hint(r->c, complain(r->c, -ENOENT, e->at, e->len,
						    "no line with code of %s looks like '%s'", name,
						    e->function.pattern),
				     "the whole line, without its blanks, must; * stands for anything");
	complain(r->c, 0, e->at, e->len, "no code belongs to line %u of %s", e->function.line, name);
	if (wanted->before && wanted->behind != UINT32_MAX)
		complain_hint(r->c, 0, "lines %u and %u have some", wanted->before, wanted->behind);
	else if (wanted->before || wanted->behind != UINT32_MAX)
		complain_hint(r->c, 0, "line %u has some", wanted->before ?: wanted->behind);
	return -ENOENT;
}

/* Complains that the function is not in the requested source file, and names the file it is in. */
static int no_source(const struct resolver *r, const struct dwarf_functions *found)
{
	const struct event *e = r->event;

	complain(r->c, 0, e->at, e->len, "no %s is defined in '%s'", e->function.name,
		 e->function.source);
	if (found->n && found->function[0].file)
		complain_hint(r->c, 0, "one is in %s", found->function[0].file);
	return -ENOENT;
}

static bool is_in_source(const struct event_function *e, const struct dwarf_function *f)
{
	return !e->source || (f->file && source_path__ends_with(f->file, e->source));
}

/* Lines and source files need debug information; for plain names it only adds inlined copies. */
static bool needs_dwarf(const struct event_function *e)
{
	return event_function__has_line(e) || e->source;
}

static bool is_described_so(struct resolver *r, const struct dwarf_function *f)
{
	char *demangled = malloc(DEMANGLED_MAX);
	bool is = demangled && f->linkage && demangler__ask(&r->demangler, f->linkage, demangled, DEMANGLED_MAX) &&
		  code_name__matches(r->event->function.name, demangled);

	free(demangled);
	return is;
}

/*
 * Finds functions by the last component of the name; debug information has the rest in the linkage
 * name, and may append template arguments. The result may include other functions.
 */
static int find_described(struct resolver *r, struct dwarf_functions *found, struct dwarf *d)
{
	const char *typed = r->event->function.name;
	char glob[256];
	int err;

	/* Names of Go are described as they are. */
	if (!r->by_code_name || !strstr(typed, "::")) {
		err = dwarf_functions__find(found, d, typed);
		if (err || !r->by_code_name)
			return err;
		if (found->n) {
			r->by_code_name = false;
			return 0;
		}
		dwarf_functions__free(found);
	}
	code_name__last_word(typed, glob, sizeof(glob) - 1);
	strcat(glob, "*");
	return dwarf_functions__find(found, d, glob);
}

static int add_from_dwarf(struct resolver *r)
{
	const struct event_function *e = &r->event->function;
	struct wanted_lines wanted = { .behind = UINT32_MAX };
	struct dwarf_functions found = {};
	bool in_source = false;
	struct dwarf *d;
	size_t i, n = 0;
	int err;

	err = dwarf__open(&d, r->path);
	r->unread = dwarf__unread(err ? NULL : d, err);
	if (err)
		return err;
	err = find_described(r, &found, d);
	for (i = 0; i < found.n && !err; i++) {
		size_t before = r->sites->n;

		if (r->by_code_name && !is_described_so(r, &found.function[i]))
			continue;
		n++;
		if (!is_in_source(e, &found.function[i]))
			continue;
		in_source = true;
		err = event_function__has_line(e) ? add_lines(r, d, &found.function[i], &wanted) :
						    add_places(r, &found.function[i]);
		if (!err && r->by_code_name)
			err = set_symbols(r, before, found.function[i].linkage);
	}
	if (!err && n && !in_source)
		err = no_source(r, &found);
	else if (!err && n && event_function__has_line(e) && r->sites->n == r->first)
		err = no_line(r, &wanted);
	source_text__free(&wanted.text);
	free(wanted.missing);
	dwarf_functions__free(&found);
	dwarf__close(d);
	return err;
}

/* Complains: what is asked for is in no debug information that is read. */
static int is_unread(const struct resolver *r)
{
	const struct event *e = r->event;

	if (needs_dwarf(&e->function))
		complain(r->c, 0, e->at, e->len, "lines and source files need debug information: %s %s", r->path,
			 r->unread->why);
	else
		complain(r->c, 0, e->at, e->len, "no function %s '%s' is known in %s, which %s",
			 event_is_glob(e->function.name) ? "like" : "named", e->function.name, r->path, r->unread->why);
	return complain_hint(r->c, -ENOENT, "%s%s", r->unread->hint, needs_dwarf(&e->function) ?
			     "; FUNCTION+OFFSET works without" : "");
}

static int no_debug_information(const struct resolver *r, int err)
{
	const struct event *e = r->event;

	if (err == -EOPNOTSUPP)
		complain(r->c, 0, e->at, e->len, "lines and source files need debug information, "
			 "which this build cannot read (it lacks libdw)");
	else
		complain(r->c, 0, e->at, e->len, "lines and source files need debug information: "
			 "%s has none",
			 r->path);
	return complain_hint(r->c, -EOPNOTSUPP, "%s works without; or build it with -g, or install "
			     "its -dbgsym or -debuginfo package", "FUNCTION+OFFSET");
}

/* Complains: only functions of another class, or with other parameters, exist. */
static int no_code_name(struct resolver *r)
{
	const struct event *e = r->event;
	struct binary_functions all = {};
	char word[256], glob[300], near[384];

	complain(r->c, 0, e->at, e->len, "no function %s '%s' in %s",
		 event_is_glob(e->function.name) ? "like" : "named", e->function.name, r->path);
	code_name__last_word(e->function.name, word, sizeof(word));
	snprintf(glob, sizeof(glob), "*::%s", word);
	if (!binary_functions__search(&all, r->path, is_named_so, glob) && all.n) {
		tell_name(r, near, sizeof(near), all.function[0].name, CODE_NAME_FULL);
		complain_hint(r->c, 0, "there is %s", near);
	} else {
		complain_hint(r->c, 0, "`list --functions -x %s '*'` shows those there are",
			      event_binary_name(r->path));
	}
	binary_functions__free(&all);
	return -ENOENT;
}

static int not_found(struct resolver *r)
{
	const struct event *e = r->event;
	struct binary_functions all = {};
	const char **names, *near = NULL;
	size_t i;

	if (r->unread && needs_dwarf(&e->function))
		return is_unread(r);
	if (code_name__is_at(e->function.name, strlen(e->function.name)) && !strstr(e->function.name, ".("))
		return no_code_name(r);

	complain(r->c, 0, e->at, e->len, "no function %s '%s' in %s",
		 event_is_glob(e->function.name) ? "like" : "named", e->function.name, r->path);
	if (!binary_functions__find(&all, r->path, NULL)) {
		names = calloc(all.n ?: 1, sizeof(*names));
		for (i = 0; names && i < all.n; i++)
			names[i] = all.function[i].name;
		if (names)
			near = nearest(e->function.name, names, all.n);
		if (r->unread && !near)
			is_unread(r);
		else if (near)
			complain_hint(r->c, 0, "did you mean %s?", near);
		else if (!all.n)
			complain_hint(r->c, 0, "it has no symbols at all (stripped)");
		free(names);
	}
	binary_functions__free(&all);
	return -ENOENT;
}

static int resolve_in(struct resolver *r)
{
	const struct event_function *f = &r->event->function;
	bool needed = needs_dwarf(f);
	size_t endless = r->sites->endless;
	int err = 0, dwarf;

	if (!needed)
		err = add_symbols(r);
	if (err || (f->is_call && (r->sites->n > r->first || r->sites->endless > endless)))
		return err;
	if (r->is_one_of_several && !needed && r->sites->n == r->first)
		return -ENOENT;
	/* A glob means out-of-line functions, not all their inlined copies. */
	if (!r->is_glob || needed) {
		r->c->what[0] = 0;
		dwarf = add_from_dwarf(r);
		if (needed && dwarf && r->c->what[0])
			return dwarf;   /* it has complained */
		if (needed && dwarf == -EPROTONOSUPPORT)
			return is_unread(r);
		if (needed && (dwarf == -ENODATA || dwarf == -EOPNOTSUPP))
			return no_debug_information(r, dwarf);
		if (dwarf == -ENOMEM || dwarf == -E2BIG)
			return dwarf;
		if (needed && dwarf)
			return event__complain_binary(r->event, r->path, dwarf, r->c);
	}
	/* A plain name may be a C++ function outside namespaces, whose symbol differs. */
	if (r->sites->n == r->first && !r->by_code_name && !needed) {
		r->by_code_name = true;
		err = add_symbols(r);
	}
	return err ?: r->sites->n > r->first ? 0 : not_found(r);
}

/* Errors of a single file of a glob; the search continues with the others. */
static bool is_of_one_file(int err)
{
	return err == -ENOENT || err == -ENOEXEC || err == -EBADMSG || err == -EACCES || err == -ENODATA;
}

/* Notes a file, if several define a plain name: all are probed, and the report lists the files. */
static int note_file(struct event_sites *sites, const char *path)
{
	const char *file = event_binary_name(path), *at = sites->several;
	size_t n = strlen(file);
	char *longer;

	for (; at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
		if (!strncmp(at, file, n) && (!at[n] || !strncmp(at + n, ", ", 2)))
			return 0;
	if (asprintf(&longer, "%s%s%s", sites->several ?: "", sites->several ? ", " : "", file) < 0)
		return -ENOMEM;
	free(sites->several);
	sites->several = longer;
	return 0;
}

static int in_none(const struct event *e, size_t files, struct complaint *c)
{
	bool all = !strcmp(e->binary, EVENT_ALL_BINARIES);

	complain(c, 0, e->at, e->len, "no function %s '%s' in %sany of the %zu files that the processes of -p "
		 "have mapped", event_is_glob(e->function.name) ? "like" : "named", e->function.name,
		 all ? "the kernel, nor in " : "", files);
	return complain_hint(c, -ENOENT, "`list --functions -x FILE '*'` shows those of one");
}

/* one_of_several: see struct resolver. */
static int resolve_in_all(struct resolver *r, const struct event_binaries *binaries, bool one_of_several)
{
	bool is_glob = event_is_glob(r->event->binary);
	const char *name = r->event->function.name;
	size_t i;
	int err = 0;

	for (i = 0; i < binaries->n && !err; i++) {
		r->path = binaries->path[i];
		r->first = r->sites->n;
		r->code = NULL;
		r->unread = NULL;
		r->is_32_bit = binary__is_32_bit(r->path);
		r->is_glob = event_is_glob(name);
		r->by_code_name = code_name__is_at(name, strlen(name));
		r->is_one_of_several = one_of_several;
		err = resolve_in(r);
		user_code__close(r->code);
		if (is_glob && is_of_one_file(err))
			err = 0;
		else if (is_glob && !err && r->sites->n > r->first)
			err = note_file(r->sites, r->path);
	}
	return err;
}

static int resolve(struct event_sites *sites, const struct event *e,
		   const struct event_context *ctx, struct complaint *c)
{
	bool is_glob = event_is_glob(e->binary);
	size_t before = sites->n;
	struct resolver r = { .sites = sites, .event = e, .c = c,
			      .most = ctx->max_sites ?: EVENT_MAX_SITES };
	struct event_binaries binaries;
	int err;

	demangler__init(&r.demangler);
	err = event__locate_binaries(&binaries, e, ctx, c);
	event__look_elsewhere(sites, e, ctx, &binaries);
	err = err ?: event__note_lacking(sites, &binaries);
	err = err ?: resolve_in_all(&r, &binaries, is_glob);
	/*
	 * In none as a symbol: a method by its last name, or an inlined function, takes debug information of all files.
	 */
	if (is_glob && !err && sites->n == before)
		err = resolve_in_all(&r, &binaries, false);
	if (is_glob && !err && sites->n == before)
		err = in_none(e, binaries.n, c);
	event_binaries__free(&binaries);
	demangler__end(&r.demangler);
	return err == -ENOMEM ? complain(c, err, e->at, e->len, "no memory") : err;
}

const struct event_source event_user_function = {
	.type = EVENT_USER_FUNCTION,
	.name = "user function",
	.claims = claims,
	.parse = parse,
	.resolve = resolve,
};
