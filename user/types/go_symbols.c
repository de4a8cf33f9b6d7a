// SPDX-License-Identifier: BSD-2-Clause
#include "types/go_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/go_file.h"

struct found {
	struct go_function *function;
	size_t n;
};

static int keep(void *arg, const struct go_function *g)
{
	struct found *f = arg;

	return ARRAY_APPEND(f->function, f->n, *g);
}

static bool have_one_name(const struct go_function *f, const struct go_function *g)
{
	return f->len == g->len && !memcmp(f->name, g->name, f->len);
}

static int compare(const void *a, const void *b)
{
	const struct go_function *f = a, *g = b;
	int order = f->name == g->name ? 0 : memcmp(f->name, g->name, f->len < g->len ? f->len : g->len);

	if (order || f->len != g->len)
		return order ?: f->len < g->len ? -1 : 1;
	return f->start < g->start ? -1 : f->start > g->start;
}

/*
 * Returns which of two functions with the same name follows the old ABI, or NULL if unknown. It is either the
 * assembly function, which Go calls through the other one, or the wrapper that the compiler generated for callers
 * in assembly, which has the highest id (internal/abi/symtab.go, FuncIDWrapper).
 */
static const struct go_function *find_old(const struct go_function *f, const struct go_function *g)
{
	if (f->kind == GO_ASSEMBLY && g->kind == GO_COMPILED)
		return f;
	if (f->kind == GO_COMPILED && g->kind == GO_ASSEMBLY)
		return g;
	if (f->kind != GO_COMPILED || g->kind != GO_COMPILED || f->id == g->id)
		return NULL;
	return f->id > g->id ? f : g;
}

static int visit_one(const struct go_function *f, bool is_old, symbol_visit visit, void *arg)
{
	const GElf_Sym symbol = {
		.st_value = f->start, .st_size = f->end - f->start, .st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC),
	};
	char *name;
	int n, err;

	n = asprintf(&name, "%.*s%s", (int)f->len, f->name, is_old ? ".abi0" : "");
	if (n < 0)
		return -ENOMEM;
	err = visit(arg, &symbol, name, n);
	free(name);
	return err;
}

static bool is_generic(const struct go_function *f)
{
	return memmem(f->name, f->len, "[...]", strlen("[...]"));
}

static int visit_all(const struct found *all, symbol_visit visit, void *arg)
{
	const struct go_function *f = all->function, *end = f + all->n, *next, *old;
	int err = 0;

	for (; f < end && !err; f = next) {
		for (next = f + 1; next < end && have_one_name(f, next);)
			next++;
		old = next - f == 2 && !is_generic(f) ? find_old(f, f + 1) : NULL;
		for (; f < next && !err; f++)
			err = visit_one(f, f == old, visit, arg);
	}
	return err;
}

int go_symbols__each(const struct elf_file *f, symbol_visit visit, void *arg)
{
	struct found all = {};
	struct go_table t;
	int err;

	if (go_table__of_file(&t, f))
		return 0;
	err = go_table__each(&t, keep, &all);
	if (!err && all.n)
		qsort(all.function, all.n, sizeof(*all.function), compare);
	err = err ?: visit_all(&all, visit, arg);
	free(all.function);
	return err;
}
