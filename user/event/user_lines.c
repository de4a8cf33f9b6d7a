// SPDX-License-Identifier: BSD-2-Clause
/* Finds functions and lines in debug information. */
#include "event/user_resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/code_name.h"
#include "event/source_text.h"
#include "event/user_binary.h"
#include "types/dwarf.h"

static int add_address(struct resolver *r, const char *name, u64 address, u64 offset)
{
	u64 file_offset;

	int err;

	/* Skip addresses outside the file's code. */
	if (binary__file_offset(r->path, address, &file_offset))
		return 0;
	if (r->event->function.is_return)
		return resolver__add_ends(r, r->event->function.name, name, address, file_offset);
	err = offset ? resolver__check_place(r, name, address, !r->event->function.offset) : 0;
	return err ?: resolver__add_place(r, name, address - offset, offset, file_offset - offset);
}

static void free_names(char **names, size_t n)
{
	size_t i;

	for (i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

/* Returns the names of the functions that contain the inlined copies, without parameters, or NULL if out of memory. */
static char **tell_containers(struct resolver *r, const struct dwarf_function *f)
{
	char **names = calloc(f->nplaces ?: 1, sizeof(*names)), text[TOLD_MOST];
	size_t i;

	for (i = 0; names && i < f->nplaces; i++) {
		if (!f->place[i].is_inlined)
			continue;
		resolver__tell_name(r, text, sizeof(text), f->place[i].function, CODE_NAME_SHORT);
		names[i] = strdup(text);
	}
	return names;
}

/* Formats the name of the function that contains an inlined copy, with parameters if another one has the same name. */
static void tell_container(struct resolver *r, char *text, size_t size, const struct dwarf_function *f, size_t which,
			   char *const *names)
{
	const char *name = names[which];
	size_t i;

	for (i = 0; i < f->nplaces && name; i++)
		if (names[i] && !strcmp(names[i], name) && strcmp(f->place[i].function, f->place[which].function))
			name = NULL;
	if (name)
		snprintf(text, size, "%s", name);
	else
		resolver__tell_name(r, text, size, f->place[which].function, CODE_NAME_FULL);
}

/* Inlined copies are calls too. They do not return, and an offset in one is not the same code as in the function. */
static int add_places(struct resolver *r, const struct dwarf_function *f, const char *name)
{
	const struct event_function *e = &r->event->function;
	char text[2 * TOLD_MOST], container[TOLD_MOST], **containers = tell_containers(r, f);
	size_t i, n;
	int err = containers ? 0 : -ENOMEM;

	for (i = 0; i < f->nplaces && !err; i++) {
		const struct dwarf_place *p = &f->place[i];

		if (p->is_inlined && (e->is_return || e->offset))
			continue;
		if (p->is_inlined) {
			tell_container(r, container, sizeof(container), f, i, containers);
			snprintf(text, sizeof(text), "%s (inlined into %s)", name, container);
		} else {
			snprintf(text, sizeof(text), "%s%s", name,
				 e->is_return ? "%return" : "");
		}
		n = r->sites->n;
		err = add_address(r, text, p->address + e->offset, p->offset + e->offset);
		if (err || r->sites->n == n)
			continue;
		r->sites->site[n].is_inlined = p->is_inlined;
		r->sites->untold += p->has_untold;
	}
	free_names(containers, f->nplaces);
	return err;
}

/* Finds the nearest lines with code before and after the requested one, as suggestions. */
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

/* Returns the offset of an address within its copy of the function. */
static u64 offset_of(const struct dwarf_function *f, u64 address)
{
	const struct dwarf_place *p;
	u64 offset = address;

	for (p = f->place; p < f->place + f->nplaces; p++)
		if (p->address <= address)
			offset = p->offset + (address - p->address);
	return offset;
}

/* The requested lines of a function: one by number, or all that match a pattern. */
struct wanted_lines {
	u32 before, behind;     /* the nearest lines with code, as suggestions */
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

/* Reads the source of these lines; remembers an unreadable file. */
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
		complain(r->c, 0, e->at, e->len, "the source of %s is missing: %s", name,
			 wanted->missing);
		return complain_hint(r->c, -ENOENT, "line numbers work without it: %s:LINE; `list --lines %s -x ...` "
						    "shows them", name, name);
	}
	if (e->function.pattern)
		return complain_hint(r->c, complain(r->c, -ENOENT, e->at, e->len,
						    "no line with code in %s matches '%s'", name,
						    e->function.pattern),
				     "the pattern must match the whole line, without blanks; * matches anything");
	complain(r->c, 0, e->at, e->len, "line %u of %s has no code", e->function.line, name);
	if (wanted->before && wanted->behind != UINT32_MAX)
		complain_hint(r->c, 0, "lines %u and %u have code", wanted->before, wanted->behind);
	else if (wanted->before || wanted->behind != UINT32_MAX)
		complain_hint(r->c, 0, "line %u has code", wanted->before ?: wanted->behind);
	return -ENOENT;
}

/* Complains that the function is not in the requested source file, and names the file that defines it. */
static int no_source(const struct resolver *r, const struct dwarf_functions *found)
{
	const struct event *e = r->event;

	complain(r->c, 0, e->at, e->len, "%s is not defined in '%s'", e->function.name,
		 e->function.source);
	if (found->n && found->function[0].file)
		complain_hint(r->c, 0, "it is defined in %s", found->function[0].file);
	return -ENOENT;
}

static bool is_in_source(const struct event_function *e, const struct dwarf_function *f)
{
	return !e->source || (f->file && source_path__ends_with(f->file, e->source));
}

/* Lines and source files need debug information; for plain names it only adds inlined copies. */
bool event_function__needs_dwarf(const struct event_function *e)
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
 * Finds functions by the last component of the name. Debug information has the rest in the linkage
 * name, and may append template arguments. The result may include other functions.
 */
static int find_described(struct resolver *r, struct dwarf_functions *found, struct dwarf *d)
{
	const char *typed = r->event->function.name;
	char glob[256];
	int err;

	/* Debug information has unmodified Go names. */
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

/*
 * Returns the names of the functions if several match: overloads, and methods of several classes. The names have
 * scopes, and parameters if the scopes do not distinguish them. Returns NULL if the typed name suffices, or if out of
 * memory.
 */
static char **tell_apart(struct resolver *r, const struct dwarf_functions *found)
{
	char **told, *shortly, text[TOLD_MOST];
	size_t i, k, n = 0;

	for (i = 0; i < found->n; i++)
		n += found->function[i].linkage && found->function[i].nplaces;
	told = n > 1 ? calloc(2 * found->n, sizeof(*told)) : NULL;
	for (i = 0; told && i < found->n; i++) {
		if (!found->function[i].linkage)
			continue;
		resolver__tell_name(r, text, sizeof(text), found->function[i].linkage, CODE_NAME_SHORT);
		told[found->n + i] = strdup(text);
	}
	for (i = 0; told && i < found->n; i++) {
		shortly = told[found->n + i];
		for (k = 0; k < found->n && shortly; k++)
			if (k != i && told[found->n + k] && !strcmp(told[found->n + k], shortly))
				break;
		if (shortly && k < found->n)
			resolver__tell_name(r, text, sizeof(text), found->function[i].linkage, CODE_NAME_FULL);
		if (shortly)
			told[i] = strdup(k < found->n ? text : shortly);
	}
	for (i = 0; told && i < found->n; i++)
		free(told[found->n + i]);
	return told;
}

int resolver__add_from_dwarf(struct resolver *r)
{
	const struct event_function *e = &r->event->function;
	struct wanted_lines wanted = { .behind = UINT32_MAX };
	struct dwarf_functions found = {};
	char **told = NULL;
	bool in_source = false;
	struct dwarf *d;
	size_t i, n = 0;
	int err;

	err = dwarf__open(&d, r->path);
	r->unread = dwarf__unread(err ? NULL : d, err);
	if (err)
		return err;
	err = find_described(r, &found, d);
	if (!err && !r->by_code_name && !event_function__has_line(e))
		told = tell_apart(r, &found);
	for (i = 0; i < found.n && !err; i++) {
		size_t before = r->sites->n;

		if (r->by_code_name && !is_described_so(r, &found.function[i]))
			continue;
		n++;
		if (!is_in_source(e, &found.function[i]))
			continue;
		in_source = true;
		if (event_function__has_line(e))
			err = add_lines(r, d, &found.function[i], &wanted);
		else
			err = add_places(r, &found.function[i], told && told[i] ? told[i] : e->name);
		if (!err && (r->by_code_name || (told && told[i])))
			err = resolver__set_symbols(r, before, found.function[i].linkage);
	}
	if (!err && n && !in_source)
		err = no_source(r, &found);
	else if (!err && n && event_function__has_line(e) && r->sites->n == r->first)
		err = no_line(r, &wanted);
	source_text__free(&wanted.text);
	free(wanted.missing);
	free_names(told, found.n);
	dwarf_functions__free(&found);
	dwarf__close(d);
	return err;
}
