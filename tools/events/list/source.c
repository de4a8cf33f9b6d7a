// SPDX-License-Identifier: BSD-2-Clause
/* Source lines that can be probed and their variables, from debug information. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/confined.h"
#include "event/code_name.h"
#include "events/list/list.h"
#include "report/diag.h"
#include "sym/demangle.h"
#include "types/binary.h"
#include "types/dwarf.h"

/* FUNC[:LINE[-LINE]], with lines numbered from the first line of the function, which is 0. */
struct spot {
	char *function;
	bool has_line;
	u32 first, last;
};

static int parse_spot(struct spot *s, const char *option, const char *text)
{
	const char *colon = strrchr(text, ':'), *name_end = text + strlen(text);
	unsigned long first = 0, last = UINT32_MAX;
	char *end;

	*s = (struct spot){};
	if (colon && isdigit((unsigned char)colon[1])) {
		s->has_line = true;
		name_end = colon;
		first = last = strtoul(colon + 1, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (*end || first > last || last > UINT32_MAX) {
			diag_error("%s: '%s' is not a line or a range of lines like 3-10", option,
				   colon + 1);
			return -EINVAL;
		}
	}
	s->first = first;
	s->last = last;
	s->function = strndup(text, name_end - text);
	if (s->function && !*s->function) {
		diag_error("%s: '%s' has no function name", option, text);
		free(s->function);
		return -EINVAL;
	}
	return s->function ? 0 : -ENOMEM;
}

/* Most distributions package the kernel's debug information separately. */
static int no_kernel_dwarf(const char *module)
{
	struct utsname uts;

	uname(&uts);
	diag_error("no debug information (DWARF) for kernel %s%s%s is installed", uts.release,
		   module ? ", module " : "", module ?: "");
	diag_hint("it needs /usr/lib/debug/boot/vmlinux-%s, from a package like linux-image-*-dbg or "
		  "kernel-debuginfo", uts.release);
	return -EOPNOTSUPP;
}

static int no_dwarf(const char *path, int err)
{
	switch (err) {
	case -ENODATA:
		diag_error("'%s' has no debug information (DWARF), and no separate debug file was found",
			   path);
		diag_hint("compile with -g, or install its debug package (PACKAGE-dbgsym, "
			  "PACKAGE-debuginfo)");
		return err;
	case -EOPNOTSUPP:
		diag_error("cannot read debug information: built without libdw");
		return err;
	case -ENOEXEC:
		diag_error("-x: '%s' is not an ELF file, or is damaged", path);
		return err;
	case -EPROTONOSUPPORT:
		diag_error("'%s' %s", path, dwarf__unread(NULL, err)->why);
		diag_hint("%s", dwarf__unread(NULL, err)->hint);
		return err;
	case -EBADMSG:
		diag_error("the debug information of '%s' is damaged", path);
		return err;
	default:
		diag_error("-x: '%s': %s", path, confined__why(err));
		return err;
	}
}

static int open_dwarf(struct dwarf **d, const struct list_request *q)
{
	bool vmlinux = q->module && !strcmp(q->module, "vmlinux");
	char *path;
	int err;

	if (!q->binary) {
		err = dwarf__open_kernel(d, "", vmlinux ? NULL : q->module);
		if (err == -ENODATA || err == -ENOENT)
			return no_kernel_dwarf(vmlinux ? NULL : q->module);
		return err ? no_dwarf("vmlinux", err) : 0;
	}
	path = list_locate(q);
	if (!path)
		return -errno ?: -ENOENT;
	err = dwarf__open(d, path);
	if (err)
		err = no_dwarf(path, err);
	free(path);
	return err;
}

static int no_function(struct dwarf *d, const char *name)
{
	const struct dwarf_unread *unread = dwarf__unread(d, 0);
	struct dwarf_functions all;
	const char **names;
	size_t i;

	if (unread) {
		diag_error("cannot find '%s': %s %s", name, dwarf__path(d), unread->why);
		diag_hint("%s", unread->hint);
		return -ENOENT;
	}
	diag_error("the debug information in %s has no function '%s'", dwarf__path(d), name);
	if (dwarf_functions__find(&all, d, NULL))
		return -ENOENT;
	names = calloc(all.n ?: 1, sizeof(*names));
	for (i = 0; names && i < all.n; i++)
		names[i] = all.function[i].name;
	if (names)
		list_hint(name, names, all.n);
	free(names);
	dwarf_functions__free(&all);
	return -ENOENT;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* "main.c" of "/usr/src/x/main.c" */
static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* The function into which this one is inlined at this place, or NULL. */
static const char *inlined_into(const struct dwarf_place *place)
{
	return place && place->is_inlined ? place->function : NULL;
}

static int add_lines(struct table *t, struct dwarf *d, const struct dwarf_function *f,
		     const struct spot *s)
{
	struct dwarf_lines lines;
	size_t i;
	int err = dwarf_lines__of(&lines, d, f);

	if (err)
		return err == -ENOENT ? 0 : err;
	for (i = 0; i < lines.n; i++) {
		const struct dwarf_line *l = &lines.line[i];
		const char *inlined = l->naddresses ? inlined_into(dwarf_function__place(f, l->address[0])) : NULL;

		if (l->relative < s->first || l->relative > s->last)
			continue;
		table__format(t, "probe", "%s:%u", f->name, l->relative);
		table__number(t, "line", l->line);
		table__text(t, "file", base_name(lines.file));
		table__text(t, "path", lines.file);
		table__hide(t);
		table__number(t, "places", l->naddresses);
		table__address(t, "address", l->naddresses ? l->address[0] : 0);
		if (inlined)
			table__format(t, "note", "inlined into %s", inlined);
		else
			table__text(t, "note", "");
		table__end(t);
	}
	dwarf_lines__free(&lines);
	return t->err;
}

/* --- variables ------------------------------------------------------------------------------- */

static const char *where_of(const struct dwarf_variable *v)
{
	switch (v->where) {
	case DWARF_REGISTER:
		return "register";
	case DWARF_MEMORY:
		return "stack or memory";
	case DWARF_STATIC:
		return "static";
	case DWARF_VALUE:
		return "computed";
	case DWARF_CONSTANT:
		return "constant";
	case DWARF_COMPLEX:
		return "in pieces";
	default:
		return "not here";
	}
}

/* "1-4,7" */
static char *line_ranges(const u32 *line, size_t n)
{
	char *text = strdup(""), *more;
	size_t i, end;
	int len;

	for (i = 0; text && i < n; i = end) {
		for (end = i + 1; end < n && line[end] == line[end - 1] + 1;)
			end++;
		if (end - i > 1)
			len = asprintf(&more, "%s%s%u-%u", text, i ? "," : "", line[i],
				       line[end - 1]);
		else
			len = asprintf(&more, "%s%s%u", text, i ? "," : "", line[i]);
		free(text);
		text = len < 0 ? NULL : more;
	}
	return text;
}

static void add_variable(struct table *t, const char *probe, const char *inlined, u64 address,
			 const struct dwarf_variable *v)
{
	char *lines = line_ranges(v->live_line, v->nlive_lines);

	table__text(t, "probe", probe);
	table__address(t, "address", address);
	table__text(t, "kind", v->is_result ? "result" : v->is_parameter ? "parameter" : "variable");
	table__text(t, "type", v->type);
	table__text(t, "name", v->name);
	if (v->size)
		table__number(t, "size", v->size);
	else
		table__none(t, "size");
	table__text(t, "where", where_of(v));
	table__text(t, "lines", lines);
	if (inlined)
		table__format(t, "note", "inlined into %s", inlined);
	else
		table__text(t, "note", "");
	table__end(t);
	free(lines);
}

/*
 * Adds the variables of the requested function, like probe does, since other functions may be
 * inlined at the address. If place is NULL, adds the variables of the innermost function.
 */
static int add_variables(struct table *t, struct dwarf *d, const char *probe,
			 const struct dwarf_place *place, u64 address)
{
	struct dwarf_variables found;
	size_t i;
	int err = place ? dwarf_variables__of(&found, d, place, address, false) : -ENOENT;

	if (err == -ENOENT)
		err = dwarf_variables__at(&found, d, address, false);
	if (err)
		return err == -ENOENT ? 0 : err;
	for (i = 0; i < found.n; i++)
		add_variable(t, probe, inlined_into(place), address, &found.variable[i]);
	dwarf_variables__free(&found);
	return t->err;
}

static int add_variables_at_lines(struct table *t, struct dwarf *d, const struct dwarf_function *f,
				  const struct spot *s)
{
	struct dwarf_lines lines;
	char probe[512];
	size_t i, k;
	int err = dwarf_lines__of(&lines, d, f);

	if (err)
		return err == -ENOENT ? 0 : err;
	for (i = 0; i < lines.n && !err; i++) {
		const struct dwarf_line *l = &lines.line[i];

		if (l->relative < s->first || l->relative > s->last)
			continue;
		snprintf(probe, sizeof(probe), "%s:%u", f->name, l->relative);
		for (k = 0; k < l->naddresses && !err; k++)
			err = add_variables(t, d, probe, dwarf_function__place(f, l->address[k]),
					    l->address[k]);
	}
	dwarf_lines__free(&lines);
	return err;
}

static int add_variables_of(struct table *t, struct dwarf *d, const struct dwarf_function *f,
			    const struct spot *s)
{
	size_t i;
	int err = 0;

	if (s->has_line)
		return add_variables_at_lines(t, d, f, s);
	for (i = 0; i < f->nplaces && !err; i++)
		err = add_variables(t, d, f->name, &f->place[i], f->place[i].body);
	return err;
}

/* --- shared ---------------------------------------------------------------------------------- */

/* Functions of C++ and Rust that contain inlined copies: as in the source, with parameters. */
static void tell_containers(struct dwarf_functions *found)
{
	char *text = malloc(DEMANGLED_MAX), *name;
	struct demangler demangler;
	struct dwarf_place *place;
	size_t i, k;

	demangler__init(&demangler);
	for (i = 0; i < found->n && text; i++) {
		for (k = 0; k < found->function[i].nplaces; k++) {
			place = &found->function[i].place[k];
			if (!place->is_inlined ||
			    !demangler__ask(&demangler, place->function, text, DEMANGLED_MAX))
				continue;
			name = strdup(text);
			if (!name)
				continue;
			code_name__form(name, strlen(name) + 1, text, CODE_NAME_FULL);
			free(place->function);
			place->function = name;
		}
	}
	demangler__end(&demangler);
	free(text);
}

typedef int (*add_function_fn)(struct table *t, struct dwarf *d, const struct dwarf_function *f,
			       const struct spot *s);

static int list_spot(struct report *r, const struct list_request *q, const char *option,
		     const char *text, add_function_fn add, const char *what)
{
	struct table t = { .report = r };
	struct dwarf_functions found = {};
	struct dwarf *d = NULL;
	struct spot s;
	size_t i;
	int err = parse_spot(&s, option, text);

	if (err)
		return err;
	err = open_dwarf(&d, q);
	if (err) {
		free(s.function);
		return err;
	}
	err = dwarf_functions__find(&found, d, s.function);
	if (err == -ENOENT || (!err && !found.n))
		err = no_function(d, s.function);
	else if (err)
		err = no_dwarf(dwarf__path(d), err);
	tell_containers(&found);
	for (i = 0; i < found.n && !err; i++)
		err = add(&t, d, &found.function[i], &s);
	if (!err && !r->nrows) {
		diag_error("%s: no %s at '%s'", option, what, text);
		err = -ENOENT;
	}
	dwarf_functions__free(&found);
	dwarf__close(d);
	free(s.function);
	return err;
}

int list_lines(struct report *r, const struct list_request *q, const char *text)
{
	return list_spot(r, q, "--lines", text, add_lines, "lines that can be probed");
}

int list_variables(struct report *r, const struct list_request *q, const char *text)
{
	return list_spot(r, q, "--vars", text, add_variables_of, "variables");
}
