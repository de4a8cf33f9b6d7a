// SPDX-License-Identifier: BSD-2-Clause
#include "sym/kallsyms.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sym/loaded_code.h"

/* A line: "ADDRESS TYPE NAME [MODULE]". The pointers point into the line. */
struct line {
	u64 address;
	char type;
	const char *name;
	size_t name_len;
	const char *module;     /* NULL for vmlinux */
};

/* Start of a symbol of any kind, which ends the previous symbol. */
struct start {
	u64 address;
	u32 owner;              /* differs between modules */
};

struct starts {
	struct start *start;
	size_t n;
};

/* With over 100,000 lines, strtoull() would take a tenth of the time needed to read the file. */
static char *parse_address(char *at, u64 *address)
{
	for (*address = 0;; at++) {
		if (*at >= '0' && *at <= '9')
			*address = *address << 4 | (*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*address = *address << 4 | (*at - 'a' + 10);
		else
			return at;
	}
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool parse_line(struct line *s, char *line)
{
	char *rest = parse_address(line, &s->address), *end;

	if (rest == line || rest[0] != ' ' || !rest[1] || rest[2] != ' ')
		return false;
	s->type = rest[1];
	s->name = rest + 3;
	for (end = rest + 3; *end && *end != '\n' && !is_space(*end);)
		end++;
	s->name_len = end - s->name;
	if (!s->name_len)
		return false;
	s->module = NULL;
	if (*end && *end != '\n') {
		*end++ = 0;
		end += strspn(end, " \t");
		if (*end == '[') {
			s->module = ++end;
			end += strcspn(end, "]\n");
		}
	}
	*end = 0;
	return true;
}

/*
 * True for code of the kernel or a module. Excludes JITed programs, trampolines, and the padding before functions
 * (which has symbols since 6.2).
 */
static bool is_function(const struct line *s)
{
	if (!strchr("tTwW", s->type))
		return false;
	if (s->module && (!strcmp(s->module, "bpf") || !strncmp(s->module, "__builtin__", 11)))
		return false;
	return strncmp(s->name, "__pfx_", 6) && strncmp(s->name, "__cfi_", 6) &&
	       strncmp(s->name, "__SCT__", 7);
}

struct wanted {
	const char *name;       /* NULL for all */
	size_t literal;         /* length of its prefix without wildcards */
	const char *module;     /* NULL for any, "" for vmlinux */
};

static bool is_wanted(const struct wanted *w, const struct line *s)
{
	if (w->module && strcmp(w->module, s->module ?: ""))
		return false;
	if (!w->name)
		return true;
	/* Rejects most names cheaply: 100,000 calls of fnmatch() would take longer than reading the names. */
	if (strncmp(w->name, s->name, w->literal))
		return false;
	if (!w->name[w->literal])
		return !s->name[w->literal];
	return !fnmatch(w->name, s->name, 0);
}

static int add_start(struct starts *s, u64 address, u32 owner)
{
	return ARRAY_APPEND(s->start, s->n, (struct start){ address, owner });
}

static int add_function(struct kernel_functions *f, const struct line *s)
{
	struct kernel_function new = { .address = s->address };

	if (ARRAY_ROOM(f->function, f->n))
		return -ENOMEM;
	new.name = strdup(s->name);
	new.module = s->module ? strdup(s->module) : NULL;
	if (!new.name || (s->module && !new.module)) {
		free(new.name);
		free(new.module);
		return -ENOMEM;
	}
	f->function[f->n++] = new;
	return 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_functions(const void *a, const void *b)
{
	const struct kernel_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* vmlinux is already sorted, so this is mostly a check. */
static void sort_starts(struct starts *s)
{
	size_t i;

	for (i = 1; i < s->n; i++) {
		if (s->start[i].address < s->start[i - 1].address) {
			qsort(s->start, s->n, sizeof(*s->start), compare_starts);
			return;
		}
	}
}

/* Both lists are sorted. The size of a module's last function is unknown. */
static void set_sizes(struct kernel_functions *f, const struct starts *s)
{
	size_t i, at = 0, next;

	for (i = 0; i < f->n; i++) {
		u64 address = f->function[i].address;

		/* Without permission, all addresses are 0. */
		if (!address)
			continue;
		while (at < s->n && s->start[at].address < address)
			at++;
		for (next = at; next < s->n && s->start[next].address == address;)
			next++;
		if (next < s->n && s->start[next].owner == s->start[at].owner)
			f->function[i].size = s->start[next].address - address;
	}
}

/* Returns the number of the line's module. Symbols of a module are consecutive. */
static u32 owner_of(const struct line *s, char *last, size_t size, u32 *owner)
{
	if (strncmp(s->module ?: "", last, size - 1)) {
		snprintf(last, size, "%s", s->module ?: "");
		++*owner;
	}
	return *owner;
}

static int read_functions(FILE *file, const struct wanted *w, struct kernel_functions *f,
			  struct starts *starts)
{
	char *line = NULL, last[64] = "";
	size_t size = 0;
	struct line s;
	u32 owner = 0;
	int err = 0;

	while (!err && getline(&line, &size, file) >= 0) {
		if (!parse_line(&s, line))
			continue;
		err = add_start(starts, s.address, owner_of(&s, last, sizeof(last), &owner));
		if (!err && is_function(&s) && is_wanted(w, &s))
			err = add_function(f, &s);
	}
	if (!err && ferror(file))
		err = -EIO;
	free(line);
	return err;
}

static FILE *open_kallsyms(void)
{
	return fopen("/proc/kallsyms", "re");
}

int kernel_functions__find(struct kernel_functions *found, const char *name, const char *module)
{
	struct wanted w = { .name = name, .module = module };
	struct kernel_functions f = {};
	struct starts starts = {};
	FILE *file = open_kallsyms();
	int err;

	if (!file)
		return errno == EACCES ? -EPERM : -errno;
	if (name)
		w.literal = strcspn(name, "*?[\\");
	if (module && !strcmp(module, "vmlinux"))
		w.module = "";
	err = read_functions(file, &w, &f, &starts);
	fclose(file);
	if (!err && f.n) {
		qsort(f.function, f.n, sizeof(*f.function), compare_functions);
		sort_starts(&starts);
		set_sizes(&f, &starts);
	}
	free(starts.start);
	if (err)
		kernel_functions__free(&f);
	else
		*found = f;
	return err;
}

void kernel_functions__free(struct kernel_functions *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		free(f->function[i].name);
		free(f->function[i].module);
	}
	free(f->function);
	*f = (struct kernel_functions){};
}

int kernel_symbols__locate(const char *const *name, size_t n, u64 *address)
{
	FILE *file = open_kallsyms();
	u64 found = 0, all = (1ULL << n) - 1;
	bool any = false;
	char *line = NULL;
	struct line s;
	size_t size = 0, i;

	if (!file)
		return errno == EACCES ? -EPERM : -errno;
	/* A zero address may belong to a per-CPU symbol, or mean that all addresses are hidden. */
	while (!(found == all && any) && getline(&line, &size, file) >= 0) {
		if (!parse_line(&s, line))
			continue;
		any |= s.address != 0;
		for (i = 0; i < n; i++) {
			if (found & 1ULL << i || strcmp(s.name, name[i]))
				continue;
			found |= 1ULL << i;
			address[i] = s.address;
		}
	}
	free(line);
	fclose(file);
	if (found != all)
		return -ENOENT;
	return any ? 0 : -EPERM;
}

int kernel_symbol(const char *name, u64 *address)
{
	u64 at;
	int err = kernel_symbols__locate(&name, 1, &at);

	if (!err)
		*address = at;
	return err;
}

/*
 * --- by address --------------------------------------------------------------------------------
 */

/* Size limits of the last function of a module, whose size is unknown, and of BPF trampolines. */
#define MAX_UNSIZED (64 << 10)
#define MAX_TRAMPOLINE 4096

/* Symbol types, as in nm(1). */
#define CODE "tTwW"
#define VARIABLES "dDbBrRvV"

static enum symbol_rank rank_of(const struct line *s, const char *types)
{
	if (!strchr(types, s->type))
		return SYMBOL_RANK_END;
	return strchr("tdbr", s->type) ? SYMBOL_RANK_LOCAL : SYMBOL_RANK_GLOBAL;
}

/*
 * Sets *found to the index of the symbol's module. Symbols of a module are consecutive, so it is the last module or
 * a new one.
 */
static int find_module(struct kernel_symbols *k, const struct line *s, size_t *found)
{
	const char *name = s->module ?: "[kernel]";
	struct kernel_module *m;

	if (!k->nmodules || strncmp(k->module[k->nmodules - 1].name, name, sizeof(m->name) - 1)) {
		if (ARRAY_ROOM(k->module, k->nmodules))
			return -ENOMEM;
		m = &k->module[k->nmodules++];
		snprintf(m->name, sizeof(m->name), "%s", name);
		snprintf(m->number, sizeof(m->number), "%zu", k->nmodules - 1);
		m->base = UINT64_MAX;
	}
	*found = k->nmodules - 1;
	return 0;
}

struct reading {
	struct kernel_symbols *symbols;
	struct symbol_list list;
	struct bpf_functions bpf;
	const char *types;
	bool modules_only;
};

/* A BPF program cannot be assumed to extend to the next symbol: an unloaded program may have been in between. */
static void set_size(const struct reading *r, const struct line *s, struct symbol_candidate *c)
{
	bool is_bpf = s->module && !strcmp(s->module, "bpf");

	c->limit = s->address + MAX_UNSIZED;
	if (!is_bpf || !r->bpf.n)
		return;
	if (strncmp(s->name, "bpf_prog_", strlen("bpf_prog_")))
		c->limit = s->address + MAX_TRAMPOLINE;
	else
		c->size = bpf_functions__size(&r->bpf, s->address);
}

static int add_symbol(struct reading *r, const struct line *s)
{
	struct symbol_candidate c = { .start = s->address, .rank = rank_of(s, r->types) };
	struct kernel_symbols *k = r->symbols;
	char text[1024], *end;
	size_t module;
	int err;

	if (c.rank == SYMBOL_RANK_END)
		return symbol_list__add(&r->list, &c, "", 0);
	err = find_module(k, s, &module);
	if (err)
		return err;
	if (s->address < k->module[module].base)
		k->module[module].base = s->address;
	set_size(r, s, &c);
	if (s->name_len > sizeof(text) - sizeof(k->module[module].number))
		return 0;               /* KSYM_NAME_LEN is 512 */
	end = mempcpy(text, s->name, s->name_len + 1);
	end = stpcpy(end, k->module[module].number);
	return symbol_list__add(&r->list, &c, text, end - text);
}

static int read_symbols(FILE *file, struct reading *r)
{
	char *line = NULL;
	size_t size = 0;
	struct line s;
	int err = 0;

	while (!err && getline(&line, &size, file) >= 0)
		if (parse_line(&s, line) && s.address && (s.module || !r->modules_only))
			err = add_symbol(r, &s);
	if (!err && ferror(file))
		err = -EIO;
	free(line);
	return err;
}

static int read_kernel(struct kernel_symbols *k, const char *types, bool modules_only)
{
	struct kernel_symbols new = {};
	struct reading r = { .symbols = &new, .types = types, .modules_only = modules_only };
	struct symbol_entry *entry;
	FILE *file = open_kallsyms();
	size_t names_size;
	char *names;
	int err;
	u64 n;

	if (!file)
		return errno == EACCES ? -EPERM : -errno;
	/* A program loaded between the two calls has no size. */
	err = bpf_functions__read(&r.bpf) ?: read_symbols(file, &r);
	fclose(file);
	bpf_functions__free(&r.bpf);
	if (!err && !new.nmodules)
		err = modules_only ? -ENOENT : -EPERM;
	if (!err)
		err = symbol_list__finish(&r.list, &entry, &n, &names, &names_size);
	if (!err)
		err = symbol_table__adopt(&new.table, entry, n, names, names_size);
	symbol_list__free(&r.list);
	if (err)
		kernel_symbols__free(&new);
	else
		*k = new;
	return err;
}

int kernel_symbols__read(struct kernel_symbols *k)
{
	return read_kernel(k, CODE, false);
}

int kernel_symbols__read_modules(struct kernel_symbols *k)
{
	return read_kernel(k, CODE, true);
}

int kernel_symbols__read_variables(struct kernel_symbols *k)
{
	return read_kernel(k, VARIABLES, false);
}

void kernel_symbols__free(struct kernel_symbols *k)
{
	symbol_table__free(&k->table);
	free(k->module);
	memset(k, 0, sizeof(*k));
}

const struct kernel_module *kernel_symbols__module(const struct kernel_symbols *k, u32 symbol)
{
	const char *name = symbol_table__name(&k->table, symbol);

	return &k->module[strtoull(name + strlen(name) + 1, NULL, 10)];
}
