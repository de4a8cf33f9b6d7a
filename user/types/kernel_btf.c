// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces libbpf's btf__load_vmlinux_btf() and btf__free(). libbpf reads and indexes the kernel's BTF
 * again for each object (bpf_object__load(), libbpf 1.1 to 1.6) and offers no way to share it, which
 * dominated the start time of a tool. Also replaces btf__find_by_name_kind() and btf__type_by_id(): a
 * part has its own ids, and libbpf passes the ids it finds to the kernel.
 *
 * A shared libbpf calls these functions through its PLT, where the executable's definition takes
 * precedence. For a static libbpf, the Makefile passes --wrap.
 */
#include "types/kernel_btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "types/btf_part.h"

#ifdef TALLY_STATIC
#define btf__load_vmlinux_btf  __wrap_btf__load_vmlinux_btf
#define btf__free	       __wrap_btf__free
#define btf__find_by_name_kind __wrap_btf__find_by_name_kind
#define btf__type_by_id	       __wrap_btf__type_by_id
struct btf *__wrap_btf__load_vmlinux_btf(void);
void __wrap_btf__free(struct btf *btf);
__s32 __wrap_btf__find_by_name_kind(const struct btf *btf, const char *name, __u32 kind);
const struct btf_type *__wrap_btf__type_by_id(const struct btf *btf, __u32 id);
struct btf *__real_btf__load_vmlinux_btf(void);
void __real_btf__free(struct btf *btf);
__s32 __real_btf__find_by_name_kind(const struct btf *btf, const char *name, __u32 kind);
const struct btf_type *__real_btf__type_by_id(const struct btf *btf, __u32 id);
#define REAL(name) __real_##name
#else
/* libbpf is already loaded: its functions are called before these. */
#define REAL(name)                                                                                                     \
	({                                                                                                             \
		static typeof(&(name)) real;                                                                           \
                                                                                                                       \
		if (!real)                                                                                             \
			real = (typeof(real))dlsym(RTLD_NEXT, #name);                                                  \
		real;                                                                                                  \
	})
#endif

static struct {
	void *file;             /* /sys/kernel/btf/vmlinux; NULL if not read, or not readable */
	size_t size;
	struct btf_bytes bytes; /* .n is 0 if not read */
	struct btf *btf, *part;
	struct btf_part numbers;        /* the numbers of the part's types */
	unsigned int users, part_users;
	bool loading;
	bool tried, is_asked;           /* is_asked: libbpf calls btf__find_by_name_kind() here; valid if tried */
} shared;

/* --- the file --------------------------------------------------------------------------------- */

static void *read_file(int fd, size_t size)
{
	u8 *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t done = 0;

	if (data == MAP_FAILED)
		return NULL;
	while (done < size) {
		ssize_t n = read(fd, data + done, size - done);

		if (n <= 0) {
			munmap(data, size);
			return NULL;
		}
		done += n;
	}
	return data;
}

/* The kernel allows mapping the file since 6.16 (commit a539e2a6d51d), which costs no memory. */
static void open_file(void)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size > 0) {
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		shared.file = data == MAP_FAILED ? read_file(fd, st.st_size) : data;
		shared.size = st.st_size;
	}
	close(fd);
}

static void close_file(void)
{
	btf_bytes__close(&shared.bytes);
	if (shared.file)
		munmap(shared.file, shared.size);
	shared.file = NULL;
}

static int open_bytes(void)
{
	if (shared.bytes.n)
		return 0;
	if (!shared.file)
		open_file();
	return shared.file ? btf_bytes__open(&shared.bytes, shared.file, shared.size) : -ENOENT;
}

/* --- all of it, or a part ----------------------------------------------------------------------- */

static struct btf *load_all(void)
{
	struct btf *btf;

	if (!shared.file)
		open_file();
	btf = shared.file ? btf__new(shared.file, shared.size) : NULL;
	close_file();
	return btf ?: REAL(btf__load_vmlinux_btf)();
}

struct btf *btf__load_vmlinux_btf(void)
{
	if (shared.loading && shared.part) {
		shared.part_users++;
		return shared.part;
	}
	if (!shared.btf)
		shared.btf = load_all();
	if (shared.btf)
		shared.users++;
	return shared.btf;
}

static void free_part(void)
{
	if (shared.loading || shared.part_users)
		return;
	if (!shared.part)
		return;
	REAL(btf__free)(shared.part);
	shared.part = NULL;
	btf_part__free(&shared.numbers);
}

void btf__free(struct btf *btf)
{
	if (btf && btf == shared.part) {
		shared.part_users--;
		free_part();
	} else if (btf && btf == shared.btf) {
		shared.users--;
	} else {
		REAL(btf__free)(btf);
	}
}

__s32 btf__find_by_name_kind(const struct btf *btf, const char *name, __u32 kind)
{
	bool in_part = btf && btf == shared.part;
	__s32 id;

	if (in_part && !shared.numbers.n) {
		shared.is_asked = true;
		return 1;
	}
	id = REAL(btf__find_by_name_kind)(btf, name, kind);
	return in_part && id > 0 ? (__s32)shared.numbers.kernel_id[id] : id;
}

/* Ids below numbers.n are the part's own, others are the kernel's: see btf_bytes__make_part(). */
const struct btf_type *btf__type_by_id(const struct btf *btf, __u32 id)
{
	if (btf && btf == shared.part && id >= shared.numbers.n)
		id = btf_part__id(&shared.numbers, id) ?: id;
	return REAL(btf__type_by_id)(btf, id);
}

/* Modules have BTF in sysfs since 5.11; on older kernels libbpf reads none. */
static bool modules_have_types(void)
{
	DIR *dir = opendir("/sys/kernel/btf");
	struct dirent *e;
	bool have = !dir;

	while (dir && !have && (e = readdir(dir)))
		have = *e->d_name != '.' && strcmp(e->d_name, "vmlinux");
	if (dir)
		closedir(dir);
	return have;
}

/*
 * True if libbpf asks us for ids. A libbpf built to call its own functions directly would not see the kernel's ids.
 * To test this, have it look up a name in a part without numbers.
 */
static bool is_asked_for_ids(void)
{
	if (shared.tried)
		return shared.is_asked;
	shared.tried = true;
	shared.part = btf__new_empty();
	shared.loading = true;
	(void)libbpf_find_vmlinux_btf_id("", BPF_TRACE_RAW_TP);
	shared.loading = false;
	free_part();
	return shared.is_asked;
}

static void make_part(const struct bpf_object_skeleton *s)
{
	struct btf_names names = { .keep_ids = !is_asked_for_ids() };
	struct btf_part *part = &shared.numbers;

	if (!btf_names__add_object(&names, *s->obj, s->data, s->data_sz) && !open_bytes() &&
	    !btf_bytes__make_part(&shared.bytes, &names, modules_have_types(), part)) {
		shared.part = btf__new(part->data, part->size);
		free(part->data);
		part->data = NULL;
		if (!shared.part)
			btf_part__free(part);
	}
	btf_names__free(&names);
}

void kernel_btf__begin_load(const struct bpf_object_skeleton *skeleton)
{
	if (!shared.part)
		make_part(skeleton);
	shared.loading = true;
}

void kernel_btf__end_load(void)
{
	shared.loading = false;
	free_part();
}

bool kernel_btf__is_part(void)
{
	return shared.loading && shared.part;
}

/* --- enums -------------------------------------------------------------------------------------- */

static struct btf *part_of_enums(const char *const *name, size_t n)
{
	struct btf_names names = {};
	struct btf *btf = NULL;
	struct btf_part part;
	int err = open_bytes();
	size_t i;

	for (i = 0; i < n && !err; i++)
		err = btf_names__add(&names, name[i], BTF_KIND_ENUM);
	if (!err && !btf_bytes__make_part(&shared.bytes, &names, false, &part)) {
		btf = btf__new(part.data, part.size);
		btf_part__free(&part);
	}
	btf_names__free(&names);
	return btf;
}

struct btf *kernel_btf__enums(const char *const *name, size_t n)
{
	return part_of_enums(name, n) ?: btf__load_vmlinux_btf();
}

/* --- tracepoints -------------------------------------------------------------------------------- */

static const struct btf_type *type_of(u32 id)
{
	return shared.btf ? btf__type_by_id(shared.btf, id) : btf_bytes__type(&shared.bytes, id);
}

static int count_arguments(u32 id)
{
	const struct btf_type *t;

	while (id && (t = type_of(id))) {
		switch (btf_kind(t)) {
		case BTF_KIND_FUNC_PROTO:
			return btf_vlen(t);
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_PTR:
		case BTF_KIND_FUNC:
			id = t->type;
			break;
		default:
			return -ENOENT;
		}
	}
	return -ENOENT;
}

/*
 * Makes all of the BTF, or its bytes, available to type_of() and find_type(), until end_types(). Returns 0 or a
 * negative errno.
 */
static int begin_types(struct btf **all)
{
	*all = NULL;
	if (!shared.btf && !open_bytes())
		return 0;
	*all = btf__load_vmlinux_btf();
	return *all ? 0 : -errno;
}

static void end_types(struct btf *all)
{
	btf__free(all);
}

/* Returns 0 if there is none. */
static u32 find_type(const char *name, u32 kind)
{
	int id;

	if (!shared.btf)
		return btf_bytes__find(&shared.bytes, name, kind);
	id = btf__find_by_name_kind(shared.btf, name, kind);
	return id > 0 ? id : 0;
}

static int arguments_of(const char *name, u32 kind)
{
	struct btf *all;
	int n = begin_types(&all);

	if (!n)
		n = count_arguments(find_type(name, kind));
	end_types(all);
	return n;
}

int kernel_btf_arguments(const char *trace_typedef)
{
	return arguments_of(trace_typedef, BTF_KIND_TYPEDEF);
}

bool kernel_btf_has_function(const char *name)
{
	return arguments_of(name, BTF_KIND_FUNC) >= 0;
}

/* --- members ------------------------------------------------------------------------------------- */

static const char *name_at(u32 offset)
{
	if (shared.btf)
		return btf__name_by_offset(shared.btf, offset) ?: "";
	return offset < shared.bytes.strings_size ? shared.bytes.strings + offset : "";
}

static bool has_member(u32 id, const char *name)
{
	const struct btf_type *t = id ? type_of(id) : NULL;
	u32 i;

	for (i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(name_at(btf_members(t)[i].name_off), name))
			return true;
	return false;
}

bool kernel_btf_has_member(const char *structure, const char *member)
{
	struct btf *all;
	bool has = !begin_types(&all) && has_member(find_type(structure, BTF_KIND_STRUCT), member);

	end_types(all);
	return has;
}

/* --- per-CPU variables --------------------------------------------------------------------------- */

static s64 place_in(u32 section, u32 variable)
{
	const struct btf_type *t = section && variable ? type_of(section) : NULL;
	const struct btf_var_secinfo *v = t ? btf_var_secinfos(t) : NULL;
	u32 i;

	for (i = 0; t && i < btf_vlen(t); i++)
		if (v[i].type == variable)
			return v[i].offset;
	return -ENOENT;
}

s64 kernel_btf_per_cpu_place(const char *variable)
{
	struct btf *all;
	s64 place = begin_types(&all);

	if (!place)
		place = place_in(find_type(".data..percpu", BTF_KIND_DATASEC), find_type(variable, BTF_KIND_VAR));
	end_types(all);
	return place;
}

void kernel_btf__drop(void)
{
	bool was_open = shared.file;

	close_file();
	if (was_open)
		malloc_trim(0);         /* else the memory of the parts would remain for the run */
	if (shared.users)
		return;
	REAL(btf__free)(shared.btf);
	shared.btf = NULL;
}
