// SPDX-License-Identifier: BSD-2-Clause
#include "types/binary.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/confined.h"
#include "base/opener.h"
#include "base/wire.h"
#include "types/debug_file.h"
#include "types/go_symbols.h"

/* Limits on the size of one string of a USDT probe, and of all names kept. */
#define MAX_NAME 16384
#define MAX_NAMES (512ULL << 20)
#define MIN_NAMES (1ULL << 20)

/*
 * --- questions ---------------------------------------------------------------------------------
 *
 * An unprivileged process reads the files (base/confined.h): descriptor 0 is the program or library, and 1 is its
 * debug file, if any. It answers with an error code and its findings.
 */
struct question {
	/* Fills in the answer. f is the program. */
	int (*find)(const struct elf_file *f, const struct question *q, struct wire *w);
	const char *glob, *other_glob;
	const char *exact;      /* if a function has exactly this name, find no other */
	bool (*is_wanted)(const char *symbol, const void *arg);
	const void *arg;
	u64 address;
	bool has_debug;
};

/* Callback of confined_work. */
static void answer_question(struct answer *to, void *arg)
{
	const struct question *q = arg;
	struct elf_file f = {};
	struct wire w = {};
	s64 err;

	err = elf_file__open_fd(&f, 0);
	/* Accept only user code: programs and shared libraries. */
	if (!err && f.header.e_type != ET_EXEC && f.header.e_type != ET_DYN)
		err = -ENOEXEC;
	if (!err)
		err = q->find(&f, q, &w) ?: w.err;
	answer__put(to, &err, sizeof(err));
	if (!err)
		answer__put(to, w.data, w.n);
	/* The child exits now, so nothing needs freeing. */
}

static bool is_errno(s64 err)
{
	return err == -ENOEXEC || err == -ENOENT || err == -ENOMEM || err == -E2BIG ||
	       err == -EBADMSG;
}

/* Opens the debug file to search in addition to the program itself. */
static int open_debug(int fd, const char *path)
{
	struct elf_about about;
	int err = elf_about__read(&about, fd);

	if (err)
		return err;
	return about.has_symbols ? -ENOENT : debug_file__open(&about, path, NULL);
}

/* *answer backs *u, and is freed by the caller. */
static int ask(const char *path, struct question *q, bool symbols, void **answer, struct unwire *u)
{
	int fd[2] = { opener__open_path(path, NULL), -ENOENT }, err;
	size_t size;
	s64 told;

	if (fd[0] < 0)
		return fd[0];
	if (symbols)
		fd[1] = open_debug(fd[0], path);
	err = fd[1] == -ENOENT ? 0 : fd[1];
	q->has_debug = fd[1] >= 0;
	if (err >= 0)
		err = confined__run(answer_question, q, fd, 1 + q->has_debug, NULL, answer, &size);
	close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
	if (err)
		return err;
	*u = (struct unwire){ *answer, size, 0 };
	unwire__get(u, &told, sizeof(told));
	err = u->err;
	if (!err && told)
		err = is_errno(told) ? told : -EBADMSG;
	if (err)
		free(*answer);
	return err;
}

/*
 * --- symbols -----------------------------------------------------------------------------------
 */

/* Visits both symbol tables of a file. A missing or damaged table does not affect the other. */
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

/* Visits all known symbols of a file. Searches other files only if needed. */
static int visit_symbols(const struct elf_file *f, const struct question *q, symbol_visit visit,
			 void *arg)
{
	struct elf_file other;
	int err;

	err = visit_tables(f, visit, arg);
	if (err != -ENOENT)
		return err;             /* .symtab is complete */
	if (q->has_debug && !elf_file__open_fd(&other, 1)) {
		err = visit_tables(&other, visit, arg);
		elf_file__close(&other);
		if (err != -ENOENT)
			return err;
	}
	if (!elf_file__open_debugdata(&other, f)) {
		err = visit_tables(&other, visit, arg);
		elf_file__close(&other);
	}
	return err == -ENOENT ? go_symbols__each(f, visit, arg) : err;
}

/*
 * --- functions ---------------------------------------------------------------------------------
 */

struct function_search {
	const struct elf_file *file;
	const struct question *question;
	struct binary_functions found;
	u64 bytes;              /* of the names */
	u64 most;               /* limit on the bytes */
	bool is_exact;          /* all found so far have the exact name */
};

static bool matches(const struct question *q, const char *name)
{
	return !(q->glob && fnmatch(q->glob, name, 0)) && !(q->is_wanted && !q->is_wanted(name, q->arg));
}

static void drop_functions(struct function_search *search)
{
	size_t i;

	for (i = 0; i < search->found.n; i++)
		free(search->found.function[i].name);
	search->found.n = 0;
}

static int keep_function(void *arg, const GElf_Sym *symbol, const char *name, size_t len)
{
	struct function_search *search = arg;
	const struct question *q = search->question;
	struct binary_function f = { .address = symbol->st_value, .size = symbol->st_size };
	int type = GELF_ST_TYPE(symbol->st_info);
	bool is_exact;
	int err;

	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return 0;
	if (elf_file__offset(search->file, f.address, 1, true, &f.file_offset))
		return 0;
	f.is_indirect = type == STT_GNU_IFUNC;
	f.name = strndup(name, len);
	if (!f.name)
		return -ENOMEM;
	is_exact = q->exact && !strcmp(q->exact, f.name);
	if (!is_exact && (search->is_exact || !matches(q, f.name))) {
		free(f.name);
		return 0;
	}
	if (is_exact && !search->is_exact)
		drop_functions(search);
	search->is_exact |= is_exact;
	search->bytes += len;
	err = ARRAY_APPEND(search->found.function, search->found.n, f);
	if (err)
		free(f.name);
	return err ?: search->bytes > search->most ? -E2BIG : 0;
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
	return f->size == g->size ? 0 : f->size > g->size ? -1 : 1;     /* symbols with a size first */
}

/* Drops duplicates: symbols in both .symtab and .dynsym, or with two versions. */
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

/* Limits the names, since a table may point many symbols at one long name. .gnu_debugdata expands about fivefold. */
static u64 most_names(const struct question *q)
{
	u64 blocks = 0;
	struct stat st;
	int fd;

	for (fd = 0; fd <= q->has_debug; fd++)
		if (!fstat(fd, &st))
			blocks += st.st_blocks;
	return MIN_NAMES + 16 * 512 * blocks;
}

static int find_functions(const struct elf_file *f, const struct question *q, struct wire *w)
{
	struct function_search search = { .file = f, .question = q, .most = most_names(q) };
	struct binary_functions *found = &search.found;
	int err = visit_symbols(f, q, keep_function, &search);
	size_t i;

	if (err)
		return err;
	if (found->n)
		qsort(found->function, found->n, sizeof(*found->function), by_address);
	drop_doubles(found);
	wire__number(w, found->n);
	for (i = 0; i < found->n; i++) {
		wire__text(w, found->function[i].name);
		wire__number(w, found->function[i].address);
		wire__number(w, found->function[i].file_offset);
		wire__number(w, found->function[i].size);
		wire__number(w, found->function[i].is_indirect);
	}
	return 0;
}

static int take_functions(struct binary_functions *found, struct unwire *u)
{
	u64 n = unwire__count(u, 5 * sizeof(u64)), i;
	struct binary_functions new = { calloc(n ?: 1, sizeof(*new.function)), n };

	for (i = 0; new.function && i < n; i++) {
		struct binary_function *f = &new.function[i];

		f->name = unwire__text(u);
		f->address = unwire__number(u);
		f->file_offset = unwire__number(u);
		f->size = unwire__number(u);
		f->is_indirect = unwire__number(u);
		if (!f->name && !u->err)
			u->err = -EBADMSG;
	}
	if (!new.function || u->err) {
		new.n = new.function ? new.n : 0;
		binary_functions__free(&new);
		return u->err ?: -ENOMEM;
	}
	*found = new;
	return 0;
}

static int ask_for_functions(struct binary_functions *found, const char *path, struct question *q)
{
	struct unwire u;
	void *answer;
	int err = ask(path, q, true, &answer, &u);

	if (err)
		return err;
	err = take_functions(found, &u);
	free(answer);
	return err;
}

int binary_functions__find(struct binary_functions *found, const char *path, const char *name)
{
	struct question q = { .find = find_functions, .glob = name, .exact = name };

	return ask_for_functions(found, path, &q);
}

int binary_functions__search(struct binary_functions *found, const char *path,
			     bool (*is_wanted)(const char *symbol, const void *arg), const char *name)
{
	struct question q = { .find = find_functions, .is_wanted = is_wanted, .arg = name, .exact = name };

	return ask_for_functions(found, path, &q);
}

void binary_functions__free(struct binary_functions *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->function[i].name);
	free(f->function);
	memset(f, 0, sizeof(*f));
}

static int find_offset(const struct elf_file *f, const struct question *q, struct wire *w)
{
	u64 offset;
	int err = elf_file__offset(f, q->address, 1, true, &offset);

	wire__number(w, err ? 0 : offset);
	return err;
}

bool binary__is_32_bit(const char *path)
{
	unsigned char ident[EI_CLASS + 1];
	int fd = opener__open_path(path, NULL);
	bool is = false;

	if (fd < 0)
		return false;
	if (opener__read(fd, 0, ident, sizeof(ident)) == sizeof(ident))
		is = !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == ELFCLASS32;
	close(fd);
	return is;
}

int binary__file_offset(const char *path, u64 address, u64 *file_offset)
{
	struct question q = { .find = find_offset, .address = address };
	struct unwire u;
	void *answer;
	u64 offset;
	int err = ask(path, &q, false, &answer, &u);

	if (err)
		return err;
	offset = unwire__number(&u);
	if (!u.err)
		*file_offset = offset;
	free(answer);
	return u.err;
}

struct symbol_search {
	const char *name;
	size_t len;
	u64 address;
	bool found, global;
};

/* Finds the first global symbol with that name, or else the first local one. */
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

static int find_address(const struct elf_file *f, const struct question *q, struct wire *w)
{
	struct symbol_search search = { .name = q->glob, .len = strlen(q->glob) };
	int err = visit_symbols(f, q, find_symbol, &search);

	wire__number(w, search.address);
	wire__number(w, f->header.e_type == ET_DYN);
	return err ?: search.found ? 0 : -ENOENT;
}

int binary__symbol(const char *path, const char *name, u64 *address, bool *is_relative)
{
	struct question q = { .find = find_address, .glob = name };
	u64 found, relative;
	struct unwire u;
	void *answer;
	int err = ask(path, &q, true, &answer, &u);

	if (err)
		return err;
	found = unwire__number(&u);
	relative = unwire__number(&u);
	if (!u.err) {
		*address = found;
		*is_relative = relative;
	}
	free(answer);
	return u.err;
}

/*
 * --- USDT --------------------------------------------------------------------------------------
 */

struct usdt_search {
	const struct elf_file *file;
	const char *provider, *name;    /* globs */
	u64 base;                       /* current .stapsdt.base; 0 if the file has none */
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

/* Parses three words and three strings. Returns false if they are malformed. The strings point into the note. */
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
	/* prelink(8) moves sections without updating the notes, but .stapsdt.base moves too. */
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
	struct usdt_probe p = {};
	int err;

	if (type != 3 || owner_size != sizeof("stapsdt") || memcmp(owner, "stapsdt", owner_size) ||
	    !parse_probe(search, &p, desc, size))
		return 0;
	if ((search->provider && fnmatch(search->provider, p.provider, 0)) ||
	    (search->name && fnmatch(search->name, p.name, 0)))
		return 0;
	err = ARRAY_ROOM(search->found.probe, search->found.n);
	if (err)
		return err;
	p.provider = strdup(p.provider);
	p.name = strdup(p.name);
	p.arguments = strdup(p.arguments);
	search->found.probe[search->found.n++] = p;
	if (!p.provider || !p.name || !p.arguments)
		return -ENOMEM;
	search->bytes += size;
	return search->bytes > MAX_NAMES ? -E2BIG : 0;
}

/* glibc's libc.so.6 has this section; an executable without probes has none. */
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

static int find_probes(const struct elf_file *f, const struct question *q, struct wire *w)
{
	struct usdt_search search = { .file = f, .provider = q->glob, .name = q->other_glob };
	int err = visit_probes(&search);
	size_t i;

	wire__number(w, search.found.n);
	for (i = 0; i < search.found.n; i++) {
		const struct usdt_probe *p = &search.found.probe[i];

		wire__text(w, p->provider);
		wire__text(w, p->name);
		wire__text(w, p->arguments);
		wire__number(w, p->pc);
		wire__number(w, p->file_offset);
		wire__number(w, p->semaphore);
	}
	return err;
}

static int take_probes(struct usdt_probes *found, struct unwire *u)
{
	u64 n = unwire__count(u, 6 * sizeof(u64)), i;
	struct usdt_probes new = { calloc(n ?: 1, sizeof(*new.probe)), n };

	for (i = 0; new.probe && i < n; i++) {
		struct usdt_probe *p = &new.probe[i];

		p->provider = unwire__text(u);
		p->name = unwire__text(u);
		p->arguments = unwire__text(u);
		p->pc = unwire__number(u);
		p->file_offset = unwire__number(u);
		p->semaphore = unwire__number(u);
		if ((!p->provider || !p->name || !p->arguments) && !u->err)
			u->err = -EBADMSG;
	}
	if (!new.probe || u->err) {
		new.n = new.probe ? new.n : 0;
		usdt_probes__free(&new);
		return u->err ?: -ENOMEM;
	}
	*found = new;
	return 0;
}

int usdt_probes__find(struct usdt_probes *found, const char *path, const char *provider,
		      const char *name)
{
	struct question q = { .find = find_probes, .glob = provider, .other_glob = name };
	struct unwire u;
	void *answer;
	int err = ask(path, &q, false, &answer, &u);

	if (err)
		return err;
	err = take_probes(found, &u);
	free(answer);
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

/* Reads the start of a file, which is the same in both ELF classes up to e_machine. */
static bool read_header(const char *path, Elf32_Ehdr *h)
{
	int fd = opener__open_path(path, NULL);
	bool whole;

	if (fd < 0)
		return false;
	whole = opener__read(fd, 0, h, sizeof(*h)) == sizeof(*h);
	close(fd);
	return whole && !memcmp(h->e_ident, ELFMAG, SELFMAG);
}

/* True if the file exists and has code for the program's machine. */
static bool is_like(const char *path, const char *program)
{
	Elf32_Ehdr own, f;

	return read_header(program, &own) && read_header(path, &f) &&
	       !memcmp(own.e_ident + EI_CLASS, f.e_ident + EI_CLASS, 2) &&
	       own.e_machine == f.e_machine && (f.e_type == ET_EXEC || f.e_type == ET_DYN);
}

/* "libc.so.6" and "libc" both mean "libc.so.6". */
static bool is_library(const char *file, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(file, name, len) && (!file[len] || !strncmp(file + len, ".so", 3));
}

/* The cache of ld.so(8) in the format of glibc since 2.2: a header, entries, strings. */
struct cache_header {
	char magic[20];         /* "glibc-ld.so.cache1.1" */
	u32 entries;
	u32 strings_size;
	u32 unused[5];
};

struct cache_entry {
	__s32 flags;
	u32 key, value;         /* offsets of name and path in the file */
	u32 os_version;
	u64 hwcap;
};

#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX (64 << 20)

/* Reads the cache. Returns NULL if it is missing or too large. */
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

/* Old versions of glibc wrote the libc5 cache before this one. */
static const char *find_header(const char *cache, size_t size, struct cache_header *header)
{
	const char *at = memmem(cache, size, CACHE_MAGIC, strlen(CACHE_MAGIC));

	if (!at || size - (at - cache) < sizeof(*header))
		return NULL;
	memcpy(header, at, sizeof(*header));
	return at;
}

/* Prefers a library of exactly that name over one that starts with it. */
static char *locate_library(const char *name, const char *program)
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
			continue;       /* every string, and the cache itself, ends with a NUL */
		exact = !strcmp(start + entry.key, name);
		if (!exact && (best || !is_library(start + entry.key, name)))
			continue;
		if (!is_like(start + entry.value, program))
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

static const char own_program[] = "/proc/self/exe";

static char *locate(const char *name, const char *program)
{
	static const char *const places[] = {
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
		/* Directories searched for a library's full name if there is no cache (musl). */
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
	path = locate_library(name, program);
	if (path)
		return path;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (asprintf(&path, "%s/%s", places[i], name) < 0)
			return NULL;
		if (is_like(path, program))
			return path;
		free(path);
	}
	errno = ENOENT;
	return NULL;
}

char *binary__locate(const char *name)
{
	return locate(name, own_program);
}

char *binary__locate_for(const char *name, const char *program)
{
	char *path = program ? locate(program, own_program) : NULL, *found = NULL;
	Elf32_Ehdr header;
	int err;

	/* A script's interpreter determines the machine. Assume that it matches our own machine. */
	if (path && read_header(path, &header))
		found = locate(name, path);
	free(path);
	found = found ?: binary__locate(name);
	/* A file on an unresponsive server is not missing. */
	err = found ? 0 : opener__start();
	if (err)
		errno = -err;
	return found;
}
