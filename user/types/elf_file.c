// SPDX-License-Identifier: BSD-2-Clause
#include "types/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_LIBDW
#include <lzma.h>
#endif

#include "base/array.h"
#include "base/regular.h"

/* Limit for hostile files: distributions' .gnu_debugdata have about 100 KB. */
#define MAX_DEBUGDATA (64 << 20)
/* Limit for hostile files, which may claim 4 billion segments. Only core dumps have more than about 20. */
#define MAX_SEGMENTS 65536
#define MAX_LZMA_MEMORY (128 << 20)

static int read_segments(struct elf_file *f)
{
	size_t n, i;

	if (elf_getphdrnum(f->elf, &n) || n > MAX_SEGMENTS)
		return -ENOEXEC;
	f->segment = calloc(n ?: 1, sizeof(*f->segment));
	if (!f->segment)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		GElf_Phdr p;

		if (i > INT_MAX || !gelf_getphdr(f->elf, i, &p))
			return -ENOEXEC;
		if (p.p_type != PT_LOAD)
			continue;
		f->segment[f->nsegments++] = (struct elf_segment){
			.address = p.p_vaddr,
			.offset = p.p_offset,
			.size = p.p_filesz,
			.executable = p.p_flags & PF_X,
		};
	}
	return 0;
}

static int read_headers(struct elf_file *f)
{
	const u8 order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header) ||
	    f->header.e_ident[EI_DATA] != order)
		return -ENOEXEC;
	return read_segments(f);
}

static int open_as(struct elf_file *f, int fd, Elf_Cmd how)
{
	struct elf_file new = { .fd = fd };
	struct stat st;
	int err = 0;

	if (elf_version(EV_CURRENT) == EV_NONE)
		err = -EOPNOTSUPP;
	else if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -ENOEXEC;
	if (!err) {
		new.elf = elf_begin(fd, how, NULL);
		err = read_headers(&new);
	}
	if (err)
		elf_file__close(&new);
	else
		*f = new;
	return err;
}

int elf_file__open_fd(struct elf_file *f, int fd)
{
	return open_as(f, fd, ELF_C_READ);
}

int elf_file__map_fd(struct elf_file *f, int fd)
{
	return open_as(f, fd, ELF_C_READ_MMAP_PRIVATE);
}

int elf_file__open(struct elf_file *f, const char *path)
{
	int fd = open_regular(path, NULL);

	return fd < 0 ? fd : elf_file__open_fd(f, fd);
}

void elf_file__close(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->memory);
	free(f->segment);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

int elf_file__section(const struct elf_file *f, const char *name, GElf_Shdr *header,
		      Elf_Data **data)
{
	Elf_Scn *section = NULL;
	Elf_Data *found;
	const char *own;
	size_t names;
	GElf_Shdr h;

	if (elf_getshdrstrndx(f->elf, &names))
		return -ENOENT;
	while ((section = elf_nextscn(f->elf, section))) {
		if (!gelf_getshdr(section, &h) || h.sh_type == SHT_NOBITS)
			continue;
		own = elf_strptr(f->elf, names, h.sh_name);
		if (!own || strcmp(own, name))
			continue;
		if (h.sh_size > ELF_FILE_MAX_SECTION || h.sh_flags & SHF_COMPRESSED)
			return -EBADMSG;
		found = elf_getdata(section, NULL);
		if (!found)
			return -EBADMSG;
		if (!found->d_buf || !found->d_size)
			return -ENOENT;
		*header = h;
		*data = found;
		return 0;
	}
	return -ENOENT;
}

int elf_file__symbols(const struct elf_file *f, const char *table, const char *strings,
		      symbol_visit visit, void *arg)
{
	GElf_Shdr header, strings_header;
	Elf_Data *symbols, *names;
	size_t n, i, len;
	int err;

	err = elf_file__section(f, table, &header, &symbols);
	if (!err)
		err = elf_file__section(f, strings, &strings_header, &names);
	if (err)
		return err;
	if (symbols->d_type != ELF_T_SYM)
		return -EBADMSG;
	n = symbols->d_size / gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	for (i = 1; i < n && i <= INT_MAX && !err; i++) {
		const char *name, *version;
		GElf_Sym s;

		if (!gelf_getsym(symbols, i, &s) || s.st_name >= names->d_size ||
		    s.st_shndx == SHN_UNDEF)
			continue;
		name = (const char *)names->d_buf + s.st_name;
		len = strnlen(name, names->d_size - s.st_name);
		if (!len || len > ELF_FILE_MAX_NAME || len == names->d_size - s.st_name)
			continue;
		version = name[0] == '@' ? NULL : memchr(name, '@', len);
		err = visit(arg, &s, name, version ? (size_t)(version - name) : len);
	}
	return err;
}

int elf_segments__offset(const struct elf_segment *segment, size_t n, u64 address, u64 size,
			 bool executable, u64 *offset)
{
	const struct elf_segment *s;

	for (s = segment; s < segment + n; s++) {
		if (executable && !s->executable)
			continue;
		if (address < s->address || address - s->address >= s->size ||
		    s->size - (address - s->address) < size)
			continue;
		if (__builtin_add_overflow(address - s->address, s->offset, offset))
			return -ENOENT;
		return 0;
	}
	return -ENOENT;
}

int elf_file__offset(const struct elf_file *f, u64 address, u64 size, bool executable, u64 *offset)
{
	return elf_segments__offset(f->segment, f->nsegments, address, size, executable, offset);
}

/*
 * --- notes -------------------------------------------------------------------------------------
 */

int notes__each(const void *notes, size_t size, note_visit visit, void *arg)
{
	const u8 *p = notes;
	Elf32_Nhdr h;           /* the same in 64-bit files */
	u64 name, desc, next;
	size_t at = 0;
	int err;

	while (size - at >= sizeof(h)) {
		memcpy(&h, p + at, sizeof(h));
		name = at + sizeof(h);
		desc = name + ((u64)h.n_namesz + 3) / 4 * 4;
		next = desc + ((u64)h.n_descsz + 3) / 4 * 4;
		if (desc > size || h.n_descsz > size - desc)
			break;
		err = visit(arg, h.n_type, (const char *)p + name, h.n_namesz, p + desc,
			    h.n_descsz);
		if (err || next > size)
			return err;
		at = next;
	}
	return 0;
}

static int take_build_id(void *arg, u32 type, const char *name, size_t name_size, const u8 *desc,
			 size_t desc_size)
{
	struct build_id *id = arg;

	if (type != NT_GNU_BUILD_ID || name_size != sizeof("GNU") || memcmp(name, "GNU", 4) ||
	    !desc_size || desc_size > BUILD_ID_MAX)
		return 0;
	memcpy(id->byte, desc, desc_size);
	id->n = desc_size;
	return 1;
}

void build_id__of_notes(struct build_id *id, const void *notes, size_t size)
{
	memset(id, 0, sizeof(*id));
	notes__each(notes, size, take_build_id, id);
}

void elf_file__build_id(const struct elf_file *f, struct build_id *id)
{
	/* In vmlinux, all notes are in one section. */
	static const char *const names[] = { ".note.gnu.build-id", ".notes" };
	GElf_Shdr header;
	Elf_Data *data;
	size_t i;

	memset(id, 0, sizeof(*id));
	for (i = 0; i < ARRAY_SIZE(names) && !id->n; i++)
		if (!elf_file__section(f, names[i], &header, &data))
			build_id__of_notes(id, data->d_buf, data->d_size);
}

bool build_id__equal(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && !memcmp(a->byte, b->byte, a->n);
}

/*
 * --- .gnu_debugdata ----------------------------------------------------------------------------
 */

#ifdef HAVE_LIBDW

/* Decompresses into a growing buffer. */
static int unpack(lzma_stream *xz, u8 **out, size_t *size)
{
	size_t room = 0;
	lzma_ret ret = LZMA_OK;
	u8 *buffer = NULL;

	while (ret == LZMA_OK && room < MAX_DEBUGDATA) {
		if (ARRAY_RESERVE(buffer, room, room ? 2 * room : 256 << 10)) {
			free(buffer);
			return -ENOMEM;
		}
		xz->next_out = buffer + xz->total_out;
		xz->avail_out = room - xz->total_out;
		ret = lzma_code(xz, LZMA_FINISH);
		if (ret == LZMA_OK && xz->avail_out)
			break;                  /* truncated input */
	}
	if (ret != LZMA_STREAM_END) {
		free(buffer);
		return ret == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
	*out = buffer;
	*size = xz->total_out;
	return 0;
}

int elf_file__open_debugdata(struct elf_file *small, const struct elf_file *f)
{
	struct elf_file new = { .fd = -1 };
	lzma_stream xz = LZMA_STREAM_INIT;
	GElf_Shdr header;
	Elf_Data *data;
	u8 *image = NULL;
	size_t size;
	int err;

	err = elf_file__section(f, ".gnu_debugdata", &header, &data);
	if (err)
		return err;
	if (lzma_stream_decoder(&xz, MAX_LZMA_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	xz.next_in = data->d_buf;
	xz.avail_in = data->d_size;
	err = unpack(&xz, &image, &size);
	lzma_end(&xz);
	if (err)
		return err;
	new.memory = image;
	new.elf = elf_memory((char *)image, size);
	err = read_headers(&new);
	if (err) {
		elf_file__close(&new);
		return err == -ENOEXEC ? -EBADMSG : err;
	}
	*small = new;
	return 0;
}

#else

int elf_file__open_debugdata(struct elf_file *small, const struct elf_file *f)
{
	(void)small, (void)f;
	return -EOPNOTSUPP;
}

#endif /* HAVE_LIBDW */

/*
 * --- separate debug files ----------------------------------------------------------------------
 */

static int open_by_build_id(struct elf_file *debug, const struct build_id *id, const char *root,
			    char **name)
{
	char hex[2 * BUILD_ID_MAX + 1];
	struct build_id own;
	size_t i;
	int err;

	for (i = 0; i < id->n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->byte[i]);
	if (id->n < 2)
		return -ENOENT;
	if (asprintf(name, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, hex, hex + 2) < 0)
		return -ENOMEM;
	err = elf_file__open(debug, *name);
	if (err)
		goto out;
	elf_file__build_id(debug, &own);
	if (build_id__equal(id, &own))
		return 0;
	elf_file__close(debug);
	err = -ENOENT;
out:
	free(*name);
	return err;
}

int elf_file__crc(const struct elf_file *f, u32 *sum)
{
	u8 buffer[8 << 10];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(f->fd, buffer, sizeof(buffer), at)) > 0) {
		crc = crc32(crc, buffer, n);
		at += n;
	}
	*sum = crc;
	return n < 0 ? -errno : 0;
}

int elf_file__debug_link(const struct elf_file *f, struct debug_link *link)
{
	GElf_Shdr header;
	Elf_Data *data;
	size_t size;

	if (elf_file__section(f, ".gnu_debuglink", &header, &data))
		return -ENOENT;
	size = strnlen(data->d_buf, data->d_size);
	/* The section has the name, a NUL, padding to a multiple of four bytes, and a checksum of four bytes. */
	if (!size || size > NAME_MAX || memchr(data->d_buf, '/', size) ||
	    size / 4 * 4 + 8 > data->d_size)
		return -ENOENT;
	memset(link, 0, sizeof(*link));
	memcpy(link->name, data->d_buf, size);
	memcpy(&link->crc, (const char *)data->d_buf + size / 4 * 4 + 4, sizeof(link->crc));
	return 0;
}

bool elf_file__has_debug_info(const struct elf_file *f)
{
	Elf_Scn *section = NULL;
	const char *name;
	size_t names;
	GElf_Shdr h;

	if (elf_getshdrstrndx(f->elf, &names))
		return false;
	while ((section = elf_nextscn(f->elf, section))) {
		if (!gelf_getshdr(section, &h) || h.sh_type == SHT_NOBITS || !h.sh_size)
			continue;
		name = elf_strptr(f->elf, names, h.sh_name);
		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			return true;
	}
	return false;
}

/* The section has a path, a NUL, and the build ID. */
void elf_file__alt_link(const struct elf_file *f, struct debug_alt *alt)
{
	Elf_Data *data;
	GElf_Shdr h;
	size_t len;

	memset(alt, 0, sizeof(*alt));
	if (elf_file__section(f, ".gnu_debugaltlink", &h, &data))
		return;
	len = strnlen(data->d_buf, data->d_size);
	if (len >= sizeof(alt->path) || len == data->d_size ||
	    data->d_size - len - 1 > sizeof(alt->build_id.byte))
		return;
	alt->build_id.n = data->d_size - len - 1;
	memcpy(alt->build_id.byte, (char *)data->d_buf + len + 1, alt->build_id.n);
	memcpy(alt->path, data->d_buf, len);
}

bool elf_file__belongs(const struct elf_file *debug, const struct build_id *id,
		       const struct debug_link *link)
{
	struct build_id own;
	u32 sum;

	if (id->n) {
		elf_file__build_id(debug, &own);
		return build_id__equal(id, &own);
	}
	return link->name[0] && !elf_file__crc(debug, &sum) && sum == link->crc;
}

static int open_by_link(struct elf_file *debug, const struct elf_file *f, const char *path,
			const struct build_id *id, const char *root, char **name)
{
	const char *slash = strrchr(path, '/');
	const char *dir = slash ? path : ".";
	int len = slash ? slash - path : 1, err = -ENOENT;
	struct debug_link link;
	size_t i;

	if (elf_file__debug_link(f, &link))
		return -ENOENT;
	for (i = 0; i < 3; i++) {
		if (asprintf(name, "%s%s%.*s/%s%s", i == 2 ? root : "",
			     i == 2 ? "/usr/lib/debug" : "", len, dir, i == 1 ? ".debug/" : "",
			     link.name) < 0)
			return -ENOMEM;
		err = elf_file__open(debug, *name);
		if (!err && elf_file__belongs(debug, id, &link))
			return 0;
		if (!err)
			elf_file__close(debug);
		free(*name);
		if (err == -ENOMEM)
			return err;
	}
	return -ENOENT;
}

int elf_file__open_debug(struct elf_file *debug, const struct elf_file *f, const char *path,
			 const char *root, char **name)
{
	char *found = NULL;
	struct build_id id;
	int err = -ENOENT;

	elf_file__build_id(f, &id);
	if (id.n)
		err = open_by_build_id(debug, &id, root, &found);
	if (err && err != -ENOMEM)
		err = open_by_link(debug, f, path, &id, root, &found);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (name)
		*name = found;
	else
		free(found);
	return 0;
}
