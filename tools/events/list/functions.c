// SPDX-License-Identifier: BSD-2-Clause
/* Functions of the kernel and of binaries, and USDT probes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/confined.h"
#include "event/code_name.h"
#include "events/list/list.h"
#include "report/diag.h"
#include "sym/demangle.h"
#include "sym/kallsyms.h"
#include "types/binary.h"

/* Properties of kernel and user functions; borrowed. */
struct function {
	const char *name, *module;
	u64 address, size;
	char *written;          /* the name as in C++ or Rust source, or NULL */
};

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order;

	order = strcmp(x->module ?: "", y->module ?: "");
	if (order || x->address == y->address)
		return order ?: strcmp(x->name, y->name);
	return x->address < y->address ? -1 : 1;
}

/* Among the names of one address, prefers the one with the fewest leading underscores, then the shortest. */
static bool is_plainer(const char *a, const char *b)
{
	size_t x = strspn(a, "_"), y = strspn(b, "_");

	return x != y ? x < y : strlen(a) < strlen(b);
}

/* Adds a row for the n names at f, which share one address. */
static void add_row(struct table *t, const struct function *f, size_t n, bool is_kernel)
{
	char *aliases = NULL, *more, *written = NULL;
	size_t best = 0, i;

	for (i = 1; i < n; i++)
		if (is_plainer(f[i].name, f[best].name))
			best = i;
	for (i = 0; i < n && !t->err; i++) {
		if (i == best && !f[i].written)
			continue;
		if (asprintf(&more, "%s%s%s", aliases ?: "", aliases ? ", " : "", f[i].name) < 0) {
			t->err = -ENOMEM;
			break;
		}
		free(aliases);
		aliases = more;
	}
	if (f[best].written)
		written = strdup(f[best].written);
	if (written)
		code_name__form(written, strlen(written) + 1, f[best].written, CODE_NAME_FULL);
	table__text(t, "function", written ?: f[best].name);
	free(written);
	if (is_kernel)
		table__text(t, "module", f->module ?: "vmlinux");
	table__address(t, "address", f->address);
	if (f->size)
		table__number(t, "size", f->size);
	else
		table__none(t, "size");
	table__text(t, "aliases", aliases ?: "");
	table__end(t);
	free(aliases);
}

static int compare_rows(const void *a, const void *b)
{
	const struct report_row *x = a, *y = b;

	return strcmp(x->cell[0].text, y->cell[0].text);
}

static bool is_written_so(const struct list_request *q, const char *written)
{
	size_t i;

	for (i = 0; i < q->npatterns && written; i++)
		if (code_name__matches(q->pattern[i], written))
			return true;
	return false;
}

/* Adds a row for each address with a matching name, which lists all names of the address. */
static int add_functions(struct report *r, const struct list_request *q, struct function *f,
			 size_t n, bool is_kernel)
{
	struct table t = { .report = r };
	size_t i, k, end;

	if (n)
		qsort(f, n, sizeof(*f), compare);
	for (i = 0; i < n && !t.err; i = end) {
		bool wanted = false;

		for (end = i + 1; end < n && f[i].address && f[end].address == f[i].address &&
				  !strcmp(f[end].module ?: "", f[i].module ?: "");)
			end++;
		for (k = i; k < end && !wanted; k++)
			wanted = list_matches(q, f[k].name) || is_written_so(q, f[k].written);
		if (wanted)
			add_row(&t, f + i, end - i, is_kernel);
	}
	if (!t.err && r->nrows)
		qsort(r->row, r->nrows, sizeof(*r->row), compare_rows);
	return t.err;
}

/* Reports that none of the n functions matched. */
static int no_function(const struct list_request *q, const struct function *f, size_t n,
		       const char *where)
{
	const char **names;
	size_t i;

	if (!q->npatterns || !n) {
		diag_error("no functions found in %s", where);
		return -ENOENT;
	}
	names = calloc(n, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		names[i] = f[i].name;
	for (i = 0; i < q->npatterns; i++) {
		diag_error("no function of %s matches '%s'", where, q->pattern[i]);
		list_hint(q->pattern[i], names, n);
	}
	free(names);
	return -ENOENT;
}

/* Checks that the module is loaded, and reports an error if not. */
static int check_module(const struct kernel_functions *all, const char *module)
{
	const char **names;
	size_t i, n = 0;

	names = calloc(all->n ?: 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (i = 0; i < all->n; i++) {
		const char *each = all->function[i].module;

		if (each && (!n || strcmp(names[n - 1], each)))
			names[n++] = each;
		if (each && !strcmp(each, module))
			break;
	}
	if (i == all->n) {
		diag_error("--module: no module '%s' with functions is loaded", module);
		list_hint(module, names, n);
		if (!n)
			diag_hint("no modules are loaded; --module vmlinux lists the kernel's own functions");
	}
	free(names);
	return i < all->n ? 0 : -ENOENT;
}

static int list_kernel_functions(struct report *r, const struct list_request *q)
{
	bool vmlinux = q->module && !strcmp(q->module, "vmlinux");
	struct kernel_functions all;
	struct function *f;
	size_t i, n = 0;
	int err = kernel_functions__find(&all, NULL, NULL);

	if (err) {
		diag_error("/proc/kallsyms: %s", strerror(-err));
		return err == -ENOENT ? -EOPNOTSUPP : err;
	}
	f = calloc(all.n ?: 1, sizeof(*f));
	if (!f)
		err = -ENOMEM;
	else if (q->module && !vmlinux)
		err = check_module(&all, q->module);
	for (i = 0; i < all.n && !err; i++) {
		const struct kernel_function *k = &all.function[i];

		if (!q->module || !strcmp(k->module ?: "vmlinux", q->module))
			f[n++] = (struct function){ k->name, k->module, k->address, k->size, NULL };
	}
	if (!err)
		err = add_functions(r, q, f, n, true);
	if (!err && !r->nrows)
		err = no_function(q, f, n, q->module ?: "the kernel");
	free(f);
	kernel_functions__free(&all);
	return err;
}

static int bad_binary(const char *path, int err)
{
	if (err == -ENOEXEC)
		diag_error("-x: '%s' is not an ELF file, or is damaged", path);
	else
		diag_error("-x: '%s': %s", path, confined__why(err));
	return err;
}

static void find_written(struct function *f, size_t n)
{
	char *text = malloc(DEMANGLED_MAX);
	struct demangler demangler;
	size_t i;

	demangler__init(&demangler);
	for (i = 0; i < n && text; i++)
		if (demangler__ask(&demangler, f[i].name, text, DEMANGLED_MAX))
			f[i].written = strdup(text);
	demangler__end(&demangler);
	free(text);
}

static int list_binary_functions(struct report *r, const struct list_request *q)
{
	struct binary_functions all = {};
	struct function *f = NULL;
	char *path = list_locate(q);
	size_t i;
	int err;

	if (!path)
		return -ENOENT;
	err = binary_functions__find(&all, path, NULL);
	if (err)
		bad_binary(path, err);
	else
		f = calloc(all.n ?: 1, sizeof(*f));
	if (!err && !f)
		err = -ENOMEM;
	for (i = 0; i < all.n && !err; i++)
		f[i] = (struct function){ .name = all.function[i].name,
					  .address = all.function[i].address,
					  .size = all.function[i].size };
	if (!err) {
		find_written(f, all.n);
		err = add_functions(r, q, f, all.n, false);
	}
	if (!err && !r->nrows)
		err = no_function(q, f, all.n, path);
	for (i = 0; f && i < all.n; i++)
		free(f[i].written);
	free(f);
	binary_functions__free(&all);
	free(path);
	return err;
}

int list_functions(struct report *r, const struct list_request *q)
{
	return q->binary ? list_binary_functions(r, q) : list_kernel_functions(r, q);
}

/* --- USDT ------------------------------------------------------------------------------------ */

/* "sdt:NAME" matches any provider; "sdt_libc:NAME" and "libc:NAME" match only this one. */
static bool probe_matches(const struct list_request *q, const struct usdt_probe *p)
{
	char *name;
	bool found;

	if (asprintf(&name, "sdt_%s:%s", p->provider, p->name) < 0)
		return false;
	found = list_matches(q, name) || list_matches(q, name + strlen("sdt_"));
	free(name);
	if (found || asprintf(&name, "sdt:%s", p->name) < 0)
		return found;
	found = list_matches(q, name);
	free(name);
	return found;
}

static int no_probe(const struct list_request *q, const struct usdt_probes *all, const char *path)
{
	const char **names;
	size_t i;

	if (!all->n) {
		diag_error("'%s' has no USDT probes", path);
		diag_hint("--functions -x %s lists its functions", q->binary);
		return -ENOENT;
	}
	names = calloc(all->n, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (i = 0; i < all->n; i++)
		names[i] = all->probe[i].name;
	for (i = 0; i < q->npatterns; i++) {
		const char *colon = strchr(q->pattern[i], ':');

		diag_error("no USDT probe of '%s' matches '%s'", path, q->pattern[i]);
		list_hint(colon ? colon + 1 : q->pattern[i], names, all->n);
	}
	free(names);
	return -ENOENT;
}

int list_probes(struct report *r, const struct list_request *q)
{
	struct table t = { .report = r };
	struct usdt_probes all;
	char *path = list_locate(q);
	size_t i;
	int err;

	if (!path)
		return -ENOENT;
	err = usdt_probes__find(&all, path, NULL, NULL);
	if (err) {
		bad_binary(path, err);
		free(path);
		return err;
	}
	for (i = 0; i < all.n; i++) {
		const struct usdt_probe *p = &all.probe[i];

		if (!probe_matches(q, p))
			continue;
		table__format(&t, "event", "sdt_%s:%s", p->provider, p->name);
		table__address(&t, "address", p->pc);
		table__text(&t, "semaphore", p->semaphore ? "semaphore" : "");
		table__text(&t, "arguments", p->arguments);
		table__end(&t);
	}
	err = t.err;
	if (!err && !r->nrows)
		err = no_probe(q, &all, path);
	usdt_probes__free(&all);
	free(path);
	return err;
}
