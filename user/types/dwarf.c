// SPDX-License-Identifier: BSD-2-Clause
/* Finds and opens debug information in the process that reads it. */
#include "types/dwarf.h"

#include <elfutils/version.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "types/dwarf_libdw.h"

#ifdef HAVE_LIBDW

/* Limit on the total uncompressed size of all sections. The largest known, Chromium's, have about 4 GB. */
#define MAX_DEBUG_INFO (8ULL << 30)

/* True if libelf can uncompress it. libdw treats sections that libelf cannot uncompress as missing. */
static bool knows_method(u32 type)
{
	return type == ELFCOMPRESS_ZLIB || _ELFUTILS_PREREQ(0, 189);
}

/*
 * Reads the uncompressed size that a section claims, which libdw allocates before decompressing.
 * Deflate expands at most 1032-fold.
 */
static int unpacked_size(Elf_Scn *section, const GElf_Shdr *header, const char *name, u64 *size)
{
	GElf_Chdr compressed;
	Elf_Data *raw;
	const u8 *p;
	u64 n = 0;
	int i;

	*size = header->sh_size;
	if (header->sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(section, &compressed))
			return -EBADMSG;
		if (!knows_method(compressed.ch_type))
			return -EPROTONOSUPPORT;
		*size = compressed.ch_size;
	} else if (!strncmp(name, ".zdebug", 7)) {
		/* "ZLIB" and a big-endian size of eight bytes */
		raw = elf_rawdata(section, NULL);
		if (!raw || raw->d_size < 12)
			return -EBADMSG;
		p = raw->d_buf;
		for (i = 4; i < 12; i++)
			n = n << 8 | p[i];
		*size = n;
	} else {
		return 0;
	}
	return *size / 2048 > header->sh_size ? -EBADMSG : 0;
}

/* Checks that the file has debug information of acceptable size. Sets *entries to an upper limit of its entries. */
static int check_sections(Elf *elf, u64 *entries)
{
	Elf_Scn *section = NULL;
	u64 size, total = 0;
	const char *name;
	GElf_Shdr header;
	size_t names;
	int err;

	*entries = 0;
	if (elf_getshdrstrndx(elf, &names))
		return -ENODATA;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || (strncmp(name, ".debug_", 7) && strncmp(name, ".zdebug_", 8)))
			continue;
		err = unpacked_size(section, &header, name, &size);
		if (err)
			return err;
		total += size;
		if (size > MAX_DEBUG_INFO || total > MAX_DEBUG_INFO)
			return -EBADMSG;
		if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
			*entries += size;       /* an entry takes at least one byte */
	}
	return *entries ? 0 : -ENODATA;
}

/*
 * libdw checks where a string begins, but not always that it ends within its section. So we set the last byte of
 * string sections to NUL, which it is already unless the section is damaged. Sections with entries are recorded
 * for dwarf__text().
 */
static int end_strings(struct dwarf *d, Elf_Scn *section, const char *name)
{
	bool strings = strstr(name, "debug_str") || strstr(name, "debug_line_str");
	Elf_Data *data;

	if (!strings && !strstr(name, "debug_info") && !strstr(name, "debug_types"))
		return 0;
	data = elf_rawdata(section, NULL);      /* the data that libdw uses, already uncompressed */
	if (!data || !data->d_buf || !data->d_size)
		return 0;
	if (strings) {
		((char *)data->d_buf)[data->d_size - 1] = 0;
		return 0;
	}
	if (d->nsections == ARRAY_SIZE(d->section))
		return -EBADMSG;
	d->section[d->nsections++] = *data;
	return 0;
}

const char *dwarf__text(const struct dwarf *d, const char *text)
{
	const char *start, *end;
	size_t i;

	for (i = 0; text && i < d->nsections; i++) {
		start = d->section[i].d_buf;
		end = start + d->section[i].d_size;
		if (text >= start && text <= end)
			return memchr(text, 0, end - text) ? text : NULL;
	}
	return text;
}

static int end_all_strings(struct dwarf *d, Elf *elf)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	size_t names;
	int err = 0;

	if (elf_getshdrstrndx(elf, &names))
		return -EBADMSG;
	while (!err && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name)
			err = end_strings(d, section, name);
	}
	return err;
}

static struct dwarf *new_dwarf(const char *path)
{
	struct dwarf *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->file.fd = d->debug.fd = d->alt_file.fd = d->ask_fd = -1;
	d->path = strdup(path);
	if (!d->path) {
		free(d);
		return NULL;
	}
	return d;
}

void dwarf_direct__close(struct dwarf *d)
{
	if (!d)
		return;
	if (d->cfi_owned)
		dwarf_cfi_end(d->cfi[1]);
	if (d->dwfl)
		dwfl_end(d->dwfl);      /* also frees d->dwarf */
	else
		dwarf_end(d->dwarf);
	dwarf_end(d->alt);
	elf_file__close(&d->alt_file);
	elf_file__close(&d->debug);
	elf_file__close(&d->file);
	free(d->path);
	free(d);
}

/* Starts reading elf, which has debug information. If whole, also reads unwind tables. */
static int begin(struct dwarf *d, Elf *elf, bool whole)
{
	int err;

	d->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	err = d->dwarf ? end_all_strings(d, elf) : -EBADMSG;
	if (err || !whole)
		return err;
	/* A separate debug file has no .eh_frame. */
	d->cfi[0] = dwarf_getcfi(d->dwarf);
	d->cfi[1] = dwarf_getcfi_elf(d->file.elf);
	d->cfi_owned = d->cfi[1];
	return 0;
}

/* Looks for debug information in d->file, which is open, then in its separate debug file. */
static int open_dwarf(struct dwarf *d, const char *path)
{
	Elf *elf = d->file.elf;
	char *name = NULL;
	int err;

	err = check_sections(elf, &d->entries);
	if (err == -ENODATA && !elf_file__open_debug(&d->debug, &d->file, path, "", &name)) {
		free(d->path);
		d->path = name;
		elf = d->debug.elf;
		err = check_sections(elf, &d->entries);
	}
	if (err)
		return err;
	return begin(d, elf, true);
}

/* True if the file has .debug_addr, which holds the addresses of units in other files. Few other files have it. */
static bool has_addresses(Elf *elf)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (name && (!strcmp(name, ".debug_addr") || !strcmp(name, ".zdebug_addr")))
			return true;
	}
	return false;
}

bool dwarf_direct__is_split(struct dwarf *d)
{
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t header;

	if (!has_addresses(dwarf_getelf(d->dwarf)))
		return false;
	d->budget = DWARF_MAX_STEPS + d->entries;
	while (!dwarf_nextcu(d->dwarf, at, &next, &header, NULL, NULL, NULL) && next > at && dwarf__spend(d)) {
		if (dwarf_offdie(d->dwarf, at + header, &unit) &&
		    (dwarf_hasattr(&unit, DW_AT_dwo_name) || dwarf_hasattr(&unit, DW_AT_GNU_dwo_name)))
			return true;
		at = next;
	}
	return false;
}

int dwarf_direct__open_path(struct dwarf **out, const char *path)
{
	struct dwarf *d = new_dwarf(path);
	int err;

	if (!d)
		return -ENOMEM;
	err = elf_file__open(&d->file, path);
	if (!err && d->file.header.e_type != ET_EXEC && d->file.header.e_type != ET_DYN)
		err = -ENOEXEC;
	if (!err)
		err = open_dwarf(d, path);
	if (err)
		dwarf_direct__close(d);
	else
		*out = d;
	return err;
}

/* The entries of the dwz file are reached through those of d, so they add to the limit. */
static int open_alt(struct dwarf *d, int fd)
{
	u64 entries;
	Dwarf *alt;
	int err = elf_file__map_fd(&d->alt_file, fd);

	if (!err)
		err = check_sections(d->alt_file.elf, &entries);
	if (err)
		return err;
	d->entries += entries;
	alt = dwarf_begin_elf(d->alt_file.elf, DWARF_C_READ, NULL);
	if (!alt)
		return -EBADMSG;
	d->alt = alt;
	dwarf_setalt(d->dwarf, alt);
	return end_all_strings(d, d->alt_file.elf);
}

int dwarf_direct__open(struct dwarf **out, int fd, int debug_fd, int alt_fd, bool whole)
{
	struct dwarf *d = new_dwarf("");
	struct elf_file *with;
	int err;

	if (!d)
		return -ENOMEM;         /* leaks open files, but the process exits */
	with = debug_fd >= 0 ? &d->debug : &d->file;
	err = elf_file__map_fd(&d->file, fd);
	if (!err && debug_fd >= 0)
		err = elf_file__map_fd(&d->debug, debug_fd);
	if (!err)
		err = check_sections(with->elf, &d->entries);
	if (!err)
		err = begin(d, with->elf, whole);
	if (!err && alt_fd >= 0)
		err = open_alt(d, alt_fd);
	if (err)
		dwarf_direct__close(d);
	else
		*out = d;
	return err;
}

int dwarf__open_fd(struct dwarf **d, int fd, int alt_fd)
{
	return dwarf_direct__open(d, fd, -1, alt_fd, false);
}

/* --- the kernel ------------------------------------------------------------------------------- */

static void read_build_id(struct build_id *id, const char *root, const char *path)
{
	char name[512], notes[4096];
	ssize_t n;
	int fd;

	memset(id, 0, sizeof(*id));
	snprintf(name, sizeof(name), "%s%s", root, path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	if (n > 0)
		build_id__of_notes(id, notes, n);
}

static int open_vmlinux(struct dwarf **out, const char *root, const char *release)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",               /* Debian, Ubuntu */
		"/usr/lib/debug/lib/modules/%s/vmlinux",        /* Fedora */
		"/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",                /* local build */
		"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s.debug",         /* SUSE */
	};
	struct build_id running, id;
	char place[256], path[512];
	struct dwarf *d;
	size_t i;

	read_build_id(&running, root, "/sys/kernel/notes");
	for (i = 0; i < ARRAY_SIZE(places); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(place, sizeof(place), places[i], release);
#pragma GCC diagnostic pop
		snprintf(path, sizeof(path), "%s%s", root, place);
		if (dwarf_direct__open_path(&d, path))
			continue;
		elf_file__build_id(&d->file, &id);
		if (!running.n || build_id__equal(&running, &id)) {
			*out = d;
			return 0;
		}
		dwarf_direct__close(d);
	}
	return -ENODATA;
}

/* True for NAME.ko, .ko.debug, .ko.xz etc. The kernel replaces - in names by _. */
static bool is_module_file(const char *file, const char *module)
{
	for (; *module; module++, file++)
		if (*module != *file && !(*module == '_' && *file == '-'))
			return false;
	return !strncmp(file, ".ko", 3) && (!file[3] || file[3] == '.');
}

static int no_debuginfo(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)m, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static int no_elf(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf)
{
	(void)m, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

/* A module is an object file. Its debug information needs relocation, which libdwfl does. */
static int open_module_file(struct dwarf **out, const char *path, const struct build_id *running)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = no_elf,
		.find_debuginfo = no_debuginfo,         /* libdwfl's default would use the network */
		.section_address = dwfl_offline_section_address,
	};
	struct dwarf *d = new_dwarf(path);
	const unsigned char *bits;
	Dwfl_Module *m = NULL;
	struct build_id id = {};
	GElf_Addr address;
	Dwarf_Addr bias;
	int n;

	if (!d)
		return -ENOMEM;
	d->dwfl = dwfl_begin(&callbacks);
	if (d->dwfl)
		m = dwfl_report_offline(d->dwfl, "", path, -1);
	if (!m || dwfl_report_end(d->dwfl, NULL, NULL))
		goto fail;
	d->dwarf = dwfl_module_getdwarf(m, &bias);
	n = dwfl_module_build_id(m, &bits, &address);
	if (!d->dwarf || n > BUILD_ID_MAX)
		goto fail;
	if (n > 0) {
		memcpy(id.byte, bits, n);
		id.n = n;
	}
	if (running->n && !build_id__equal(running, &id))
		goto fail;
	if (check_sections(dwarf_getelf(d->dwarf), &d->entries))
		goto fail;
	for (n = 0; n < 2; n++) {
		Dwarf_Addr from = bias;

		d->cfi[n] = n ? dwfl_module_eh_cfi(m, &from) : dwfl_module_dwarf_cfi(m, &from);
		d->cfi_bias[n] = bias - from;
	}
	*out = d;
	return 0;
fail:
	dwarf_direct__close(d);
	return -ENODATA;
}

static int open_module_below(struct dwarf **out, char *dir, const char *module,
			     const struct build_id *running)
{
	char *const dirs[] = { dir, NULL };
	FTS *tree = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	int err = -ENODATA;
	FTSENT *entry;

	if (!tree)
		return -ENODATA;
	while (err && err != -ENOMEM && (entry = fts_read(tree)))
		if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP &&
		    is_module_file(entry->fts_name, module))
			err = open_module_file(out, entry->fts_path, running);
	fts_close(tree);
	return err;
}

static int open_module(struct dwarf **out, const char *root, const char *release,
		       const char *module)
{
	static const char *const places[] = {
		"/usr/lib/debug/lib/modules", "/usr/lib/debug/usr/lib/modules", "/lib/modules",
	};
	struct build_id running;
	char path[512];
	int err = -ENODATA;
	size_t i;

	if (strchr(module, '/'))
		return -ENODATA;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	read_build_id(&running, root, path);
	for (i = 0; i < ARRAY_SIZE(places) && err && err != -ENOMEM; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", root, places[i], release);
		err = open_module_below(out, path, module, &running);
	}
	return err;
}

int dwarf__open_kernel(struct dwarf **d, const char *root, const char *module)
{
	struct utsname name;

	if (uname(&name))
		return -errno;
	return module ? open_module(d, root, name.release, module)
		      : open_vmlinux(d, root, name.release);
}

#else

int dwarf__open(struct dwarf **d, const char *path)
{
	(void)d, (void)path;
	return -EOPNOTSUPP;
}

int dwarf__open_fd(struct dwarf **d, int fd, int alt_fd)
{
	(void)d, (void)fd, (void)alt_fd;
	return -EOPNOTSUPP;
}

int dwarf__open_kernel(struct dwarf **d, const char *root, const char *module)
{
	(void)d, (void)root, (void)module;
	return -EOPNOTSUPP;
}

void dwarf__close(struct dwarf *d)
{
	(void)d;
}

const char *dwarf__path(const struct dwarf *d)
{
	(void)d;
	return NULL;
}

bool dwarf__is_split(const struct dwarf *d)
{
	(void)d;
	return false;
}

int dwarf_functions__find(struct dwarf_functions *found, struct dwarf *d, const char *name)
{
	(void)found, (void)d, (void)name;
	return -EOPNOTSUPP;
}

int dwarf_lines__of(struct dwarf_lines *lines, struct dwarf *d, const struct dwarf_function *f)
{
	(void)lines, (void)d, (void)f;
	return -EOPNOTSUPP;
}

bool dwarf__has_row(struct dwarf *d, u64 address)
{
	(void)d, (void)address;
	return false;
}

int dwarf_lines__of_file(struct dwarf_lines *lines, struct dwarf *d, const char *file)
{
	(void)lines, (void)d, (void)file;
	return -EOPNOTSUPP;
}

int dwarf_variables__at(struct dwarf_variables *found, struct dwarf *d, u64 address, bool globals)
{
	(void)found, (void)d, (void)address, (void)globals;
	return -EOPNOTSUPP;
}

int dwarf_variables__of(struct dwarf_variables *found, struct dwarf *d,
			const struct dwarf_place *place, u64 address, bool globals)
{
	(void)place;
	return dwarf_variables__at(found, d, address, globals);
}

int dwarf_types__new(struct dwarf_types **t, struct dwarf *d)
{
	(void)t, (void)d;
	return -EOPNOTSUPP;
}

int dwarf__find_type(struct dwarf *d, const char *name, u64 address, u64 *entry)
{
	(void)d, (void)name, (void)address, (void)entry;
	return -EOPNOTSUPP;
}

int dwarf_types__add(struct dwarf_types *t, u64 entry, u32 *id)
{
	(void)t, (void)entry, (void)id;
	return -EOPNOTSUPP;
}

const struct btf *dwarf_types__btf(const struct dwarf_types *t)
{
	(void)t;
	return NULL;
}

void dwarf_types__free(struct dwarf_types *t)
{
	(void)t;
}

#endif /* HAVE_LIBDW */

/* --- with and without libdw ------------------------------------------------------------------- */

const struct dwarf_place *dwarf_function__place(const struct dwarf_function *f, u64 address)
{
	const struct dwarf_place *found = NULL;
	size_t i;

	for (i = 0; i < f->nplaces; i++)
		if (f->place[i].address <= address)
			found = &f->place[i];
	return found;
}

void dwarf_functions__free(struct dwarf_functions *f)
{
	size_t i, k;

	for (i = 0; i < f->n; i++) {
		for (k = 0; k < f->function[i].nplaces; k++)
			free(f->function[i].place[k].function);
		free(f->function[i].place);
		free(f->function[i].name);
		free(f->function[i].linkage);
		free(f->function[i].file);
	}
	free(f->function);
	memset(f, 0, sizeof(*f));
}

void dwarf_lines__free(struct dwarf_lines *lines)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		free(lines->line[i].address);
	free(lines->line);
	free(lines->file);
	free(lines->directory);
	memset(lines, 0, sizeof(*lines));
}

static void free_variable(struct dwarf_variable *v)
{
	free(v->name);
	free(v->type);
	free(v->live);
	free(v->live_line);
}

void dwarf_variables__free(struct dwarf_variables *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		free_variable(&v->variable[i]);
	free_variable(&v->result);
	free(v->variable);
	memset(v, 0, sizeof(*v));
}
