// SPDX-License-Identifier: BSD-2-Clause
#include "types/binary.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types/elf_file.h"

/* Of a USDT probe's texts, and of all names that are kept together. */
#define MAX_NAME 16384
#define MAX_NAMES (512ULL << 20)

/*
 * --- symbols -----------------------------------------------------------------------------------
 */

/* Every table of one file. A table that is not there or damaged takes nothing from the others. */
static int visit_tables(const struct elf_file *f, symbol_visit visit, void *arg)
{
	static const char *const tables[][2] = {
		{ ".symtab", ".strtab" },
		{ ".dynsym", ".dynstr" },
	};
	size_t i, there = 0;
	int err;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		err = elf_file__symbols(f, tables[i][0], tables[i][1], visit, arg);
		if (err && err != -ENOENT && err != -EBADMSG)
			return err;
		there += !err && !i;
	}
	return there ? 0 : -ENOENT;
}

/* All symbols known of a file. What is not in the file itself is only looked for where needed. */
static int visit_symbols(const struct elf_file *f, const char *path, symbol_visit visit, void *arg)
{
	struct elf_file other;
	int err;

	err = visit_tables(f, visit, arg);
	if (err != -ENOENT)
		return err;             /* .symtab has all of it */
	if (!elf_file__open_debug(&other, f, path, "", NULL)) {
		err = visit_tables(&other, visit, arg);
		elf_file__close(&other);
		if (err != -ENOENT)
			return err;
	}
	if (!elf_file__open_debugdata(&other, f)) {
		err = visit_tables(&other, visit, arg);
		elf_file__close(&other);
	}
	return err == -ENOENT ? 0 : err;
}

/* A program or a shared library: what user code runs from. */
static int open_binary(struct elf_file *f, const char *path)
{
	int err = elf_file__open(f, path);

	if (!err && f->header.e_type != ET_EXEC && f->header.e_type != ET_DYN) {
		elf_file__close(f);
		err = -ENOEXEC;
	}
	return err;
}

/*
 * --- functions ---------------------------------------------------------------------------------
 */

struct function_search {
	const struct elf_file *file;
	const char *glob;
	struct binary_functions found;
	size_t room;
	u64 bytes;              /* of names */
};

static int keep_function(void *arg, const GElf_Sym *symbol, const char *name, size_t len)
{
	struct function_search *search = arg;
	struct binary_function f = { .address = symbol->st_value, .size = symbol->st_size };
	int type = GELF_ST_TYPE(symbol->st_info);
	struct binary_function *larger;

	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return 0;
	if (elf_file__offset(search->file, f.address, 1, true, &f.file_offset))
		return 0;
	f.is_indirect = type == STT_GNU_IFUNC;
	f.name = strndup(name, len);
	if (!f.name)
		return -ENOMEM;
	if (search->glob && fnmatch(search->glob, f.name, 0)) {
		free(f.name);
		return 0;
	}
	search->bytes += len;
	if (search->found.n == search->room) {
		search->room = search->room ? 2 * search->room : 64;
		larger = realloc(search->found.function, search->room * sizeof(*larger));
		if (!larger)
			goto fail;
		search->found.function = larger;
	}
	search->found.function[search->found.n++] = f;
	return search->bytes > MAX_NAMES ? -E2BIG : 0;
fail:
	free(f.name);
	return -ENOMEM;
}

static int by_address(const void *a, const void *b)
{
	const struct binary_function *f = a, *g = b;
	int names;

	if (f->address != g->address)
		return f->address < g->address ? -1 : 1;
	names = strcmp(f->name, g->name);
	if (names)
		return names;
	return f->size == g->size ? 0 : f->size > g->size ? -1 : 1;     /* the known size first */
}

/* The same symbol in .symtab and .dynsym, or in two versions. */
static void drop_doubles(struct binary_functions *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->n; i++) {
		if (n && f->function[n - 1].address == f->function[i].address &&
		    !strcmp(f->function[n - 1].name, f->function[i].name))
			free(f->function[i].name);
		else
			f->function[n++] = f->function[i];
	}
	f->n = n;
}

int binary_functions__find(struct binary_functions *found, const char *path, const char *name)
{
	struct function_search search = { .glob = name };
	struct elf_file file;
	int err;

	err = open_binary(&file, path);
	if (err)
		return err;
	search.file = &file;
	err = visit_symbols(&file, path, keep_function, &search);
	elf_file__close(&file);
	if (err) {
		binary_functions__free(&search.found);
		return err;
	}
	if (search.found.n)
		qsort(search.found.function, search.found.n, sizeof(*search.found.function),
		      by_address);
	drop_doubles(&search.found);
	*found = search.found;
	return 0;
}

void binary_functions__free(struct binary_functions *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->function[i].name);
	free(f->function);
	memset(f, 0, sizeof(*f));
}

int binary__file_offset(const char *path, u64 address, u64 *file_offset)
{
	struct elf_file f;
	int err;

	err = open_binary(&f, path);
	if (err)
		return err;
	err = elf_file__offset(&f, address, 1, true, file_offset);
	elf_file__close(&f);
	return err;
}

struct symbol_search {
	const char *name;
	size_t len;
	u64 address;
	bool found, global;
};

/* The first global symbol of that name; else the first local one. */
static int find_symbol(void *arg, const GElf_Sym *symbol, const char *name, size_t len)
{
	struct symbol_search *search = arg;
	int type = GELF_ST_TYPE(symbol->st_info);
	bool global = GELF_ST_BIND(symbol->st_info) != STB_LOCAL;

	if (type != STT_OBJECT && type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	if (len != search->len || memcmp(name, search->name, len) || symbol->st_shndx == SHN_ABS)
		return 0;
	if (search->global || (search->found && !global))
		return 0;
	search->address = symbol->st_value;
	search->found = true;
	search->global = global;
	return 0;
}

int binary__symbol(const char *path, const char *name, u64 *address, bool *is_relative)
{
	struct symbol_search search = { .name = name, .len = strlen(name) };
	struct elf_file f;
	int err;

	err = open_binary(&f, path);
	if (err)
		return err;
	err = visit_symbols(&f, path, find_symbol, &search);
	if (!err && !search.found)
		err = -ENOENT;
	if (!err) {
		*address = search.address;
		*is_relative = f.header.e_type == ET_DYN;
	}
	elf_file__close(&f);
	return err;
}

/*
 * --- USDT --------------------------------------------------------------------------------------
 */

struct usdt_search {
	const struct elf_file *file;
	const char *provider, *name;    /* globs */
	u64 base;                       /* of .stapsdt.base now; 0: the file has none */
	struct usdt_probes found;
	u64 bytes;
};

static u64 word_at(const struct elf_file *f, const u8 *p)
{
	u64 large;
	u32 small;

	if (f->header.e_ident[EI_CLASS] == ELFCLASS64) {
		memcpy(&large, p, sizeof(large));
		return large;
	}
	memcpy(&small, p, sizeof(small));
	return small;
}

/* Three words and three strings; false if it is not so. The strings are those in the note. */
static bool parse_probe(const struct usdt_search *search, struct usdt_probe *probe, const u8 *desc,
			size_t size)
{
	size_t word = search->file->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4, at = 3 * word;
	char **const text[] = { &probe->provider, &probe->name, &probe->arguments };
	u64 base, semaphore, moved;
	size_t i, len;

	if (size < at)
		return false;
	for (i = 0; i < ARRAY_SIZE(text); i++) {
		len = strnlen((const char *)desc + at, size - at);
		if (len == size - at || len > MAX_NAME)
			return false;
		*text[i] = (char *)desc + at;
		at += len + 1;
	}
	probe->pc = word_at(search->file, desc);
	base = word_at(search->file, desc + word);
	semaphore = word_at(search->file, desc + 2 * word);
	/* prelink(8) moves the sections but not what the notes say: .stapsdt.base moves along. */
	moved = search->base && base ? search->base - base : 0;
	probe->pc += moved;
	if (elf_file__offset(search->file, probe->pc, 1, true, &probe->file_offset))
		return false;
	return !semaphore || !elf_file__offset(search->file, semaphore + moved, 2, false,
					       &probe->semaphore);
}

static int keep_probe(void *arg, u32 type, const char *owner, size_t owner_size, const u8 *desc,
		      size_t size)
{
	struct usdt_search *search = arg;
	struct usdt_probe p = {}, *larger;
	size_t n = search->found.n;

	if (type != 3 || owner_size != sizeof("stapsdt") || memcmp(owner, "stapsdt", owner_size) ||
	    !parse_probe(search, &p, desc, size))
		return 0;
	if ((search->provider && fnmatch(search->provider, p.provider, 0)) ||
	    (search->name && fnmatch(search->name, p.name, 0)))
		return 0;
	if (!(n & (n - 1))) {
		larger = realloc(search->found.probe, (n ? 2 * n : 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		search->found.probe = larger;
	}
	p.provider = strdup(p.provider);
	p.name = strdup(p.name);
	p.arguments = strdup(p.arguments);
	search->found.probe[search->found.n++] = p;
	if (!p.provider || !p.name || !p.arguments)
		return -ENOMEM;
	search->bytes += size;
	return search->bytes > MAX_NAMES ? -E2BIG : 0;
}

/* glibc's libc.so.6 has such a section; an executable without probes has none. */
static int visit_probes(struct usdt_search *search)
{
	GElf_Shdr header;
	Elf_Data *data;
	int err;

	if (!elf_file__section(search->file, ".stapsdt.base", &header, &data))
		search->base = header.sh_addr;
	err = elf_file__section(search->file, ".note.stapsdt", &header, &data);
	if (err)
		return err == -ENOENT ? 0 : err;
	return notes__each(data->d_buf, data->d_size, keep_probe, search);
}

int usdt_probes__find(struct usdt_probes *found, const char *path, const char *provider,
		      const char *name)
{
	struct usdt_search search = { .provider = provider, .name = name };
	struct elf_file file;
	int err;

	err = open_binary(&file, path);
	if (err)
		return err;
	search.file = &file;
	err = visit_probes(&search);
	elf_file__close(&file);
	if (err)
		usdt_probes__free(&search.found);
	else
		*found = search.found;
	return err;
}

void usdt_probes__free(struct usdt_probes *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		free(p->probe[i].provider);
		free(p->probe[i].name);
		free(p->probe[i].arguments);
	}
	free(p->probe);
	memset(p, 0, sizeof(*p));
}

/*
 * --- by name -----------------------------------------------------------------------------------
 */

/* Such a file exists, and is code for this CPU as we are. */
static bool is_native(const char *path)
{
	struct elf_file own, f;
	bool same = false;

	if (elf_file__open(&own, "/proc/self/exe"))
		return false;
	if (!open_binary(&f, path)) {
		same = f.header.e_machine == own.header.e_machine &&
		       f.header.e_ident[EI_CLASS] == own.header.e_ident[EI_CLASS];
		elf_file__close(&f);
	}
	elf_file__close(&own);
	return same;
}

/* "libc.so.6" is meant by "libc.so.6" and by "libc". */
static bool is_library(const char *file, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(file, name, len) && (!file[len] || !strncmp(file + len, ".so", 3));
}

/* The cache of ld.so(8) as glibc has written it since 2.2: a header, entries, strings. */
struct cache_header {
	char magic[20];         /* "glibc-ld.so.cache1.1" */
	u32 entries;
	u32 strings_size;
	u32 unused[5];
};

struct cache_entry {
	__s32 flags;
	u32 key, value;         /* name and path: places in the file */
	u32 os_version;
	u64 hwcap;
};

#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX (64 << 20)

/* Reads a small file of the system. NULL: not there, or too large. */
static char *read_cache(size_t *size)
{
	FILE *file = fopen("/etc/ld.so.cache", "re");
	char *text = NULL;
	long n;

	if (!file)
		return NULL;
	if (!fseek(file, 0, SEEK_END) && (n = ftell(file)) > 0 && n <= CACHE_MAX) {
		rewind(file);
		text = malloc(n + 1);
		if (text) {
			*size = fread(text, 1, n, file);
			text[*size] = 0;
		}
	}
	fclose(file);
	return text;
}

/* Old glibc wrote the cache of libc5 in front of the one we know. */
static const char *find_header(const char *cache, size_t size, struct cache_header *header)
{
	const char *at = memmem(cache, size, CACHE_MAGIC, strlen(CACHE_MAGIC));

	if (!at || size - (at - cache) < sizeof(*header))
		return NULL;
	memcpy(header, at, sizeof(*header));
	return at;
}

/* The library of exactly that name before one it is the beginning of. */
static char *locate_library(const char *name)
{
	struct cache_header header;
	struct cache_entry entry;
	const char *start, *best = NULL;
	size_t size, room, i;
	char *cache = read_cache(&size), *path = NULL;

	start = cache ? find_header(cache, size, &header) : NULL;
	room = start ? size - (start - cache) : 0;
	for (i = 0; start && i < header.entries; i++) {
		size_t at = sizeof(header) + i * sizeof(entry);
		bool exact;

		if (at + sizeof(entry) > room)
			break;
		memcpy(&entry, start + at, sizeof(entry));
		if (entry.key >= room || entry.value >= room)
			continue;       /* the cache ends with a NUL: so does every string */
		exact = !strcmp(start + entry.key, name);
		if (!exact && (best || !is_library(start + entry.key, name)))
			continue;
		if (!is_native(start + entry.value))
			continue;
		best = start + entry.value;
		if (exact)
			break;
	}
	if (best)
		path = strdup(best);
	free(cache);
	return path;
}

char *binary__locate(const char *name)
{
	static const char *const places[] = {
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
		/* Where there is no cache (musl): what a library's full name is looked for in. */
		"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib",
	};
	char *path;
	size_t i;

	if (!*name) {
		errno = ENOENT;
		return NULL;
	}
	if (strchr(name, '/'))
		return strdup(name);
	path = locate_library(name);
	if (path)
		return path;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (asprintf(&path, "%s/%s", places[i], name) < 0)
			return NULL;
		if (is_native(path))
			return path;
		free(path);
	}
	errno = ENOENT;
	return NULL;
}
