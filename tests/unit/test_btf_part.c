// SPDX-License-Identifier: BSD-2-Clause
/*
 * Relocating an object by only the part of the kernel's BTF that it needs gives the same
 * instructions, and attaches to the same functions, as the whole BTF. Tested for every object of the
 * build, with this kernel's BTF and with the files that TALLY_BTFS names (separated by spaces).
 */
#include "unit.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "types/btf_part.h"

/* --- libbpf without a kernel: keeps here what it would load ------------------------------------- */

#define MOST (1 << 20)

static struct {
	struct btf *btf;                /* the BTF that objects are relocated by */
	const struct btf_part *part;    /* its ids, if it is a part */
	struct bpf_insn insn[MOST];
	size_t n;
	u32 attach_id[1000];
	size_t programs;
} loaded;

static char *file_bytes(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;
	ssize_t n;

	assert_true(fd >= 0 && !fstat(fd, &st));
	data = aligned_alloc(8, (st.st_size + 8) & ~7UL);
	assert_non_null(data);
	for (*size = 0; (n = read(fd, data + *size, st.st_size - *size)) > 0;)
		*size += n;
	close(fd);
	assert_int_equal(*size, st.st_size);
	return data;
}

struct btf *btf__load_vmlinux_btf(void);
void btf__free(struct btf *btf);
int bpf_btf_get_next_id(u32 start_id, u32 *next_id);

struct btf *btf__load_vmlinux_btf(void)
{
	return loaded.btf;
}

/* libbpf frees the BTF that it is given, but the kernel's is still used here. */
void btf__free(struct btf *btf)
{
	void (*real)(struct btf *btf) = dlsym(RTLD_NEXT, "btf__free");

	if (btf != loaded.btf)
		real(btf);
}

/* libbpf finds the kernel's ids in a part, and reads types by ids of either kind. */
__s32 btf__find_by_name_kind(const struct btf *btf, const char *name, u32 kind)
{
	__s32 (*real)(const struct btf *btf, const char *name, u32 kind) = dlsym(RTLD_NEXT, "btf__find_by_name_kind");
	__s32 id = real(btf, name, kind);

	return id > 0 && btf == loaded.btf && loaded.part ? (__s32)loaded.part->kernel_id[id] : id;
}

const struct btf_type *btf__type_by_id(const struct btf *btf, u32 id)
{
	static const struct btf_type *(*real)(const struct btf *btf, u32 id);

	if (!real)
		real = (typeof(real))dlsym(RTLD_NEXT, "btf__type_by_id");
	if (btf == loaded.btf && loaded.part && id >= loaded.part->n)
		id = btf_part__id(loaded.part, id) ?: id;
	return real(btf, id);
}

/* There are no modules. */
int bpf_btf_get_next_id(u32 start_id, u32 *next_id)
{
	(void)start_id;
	(void)next_id;
	errno = ENOENT;
	return -ENOENT;
}

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key, __u32 value, __u32 most,
		   const struct bpf_map_create_opts *opts)
{
	(void)type, (void)name, (void)key, (void)value, (void)most, (void)opts;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd, (void)key, (void)value, (void)flags;
	return 0;
}

int bpf_map_freeze(int fd)
{
	(void)fd;
	return 0;
}

int bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
		  const struct bpf_insn *insn, size_t n, const struct bpf_prog_load_opts *opts)
{
	(void)type, (void)name, (void)license, (void)insn, (void)n;
	assert_true(loaded.programs < ARRAY_SIZE(loaded.attach_id));
	loaded.attach_id[loaded.programs++] = opts ? opts->attach_btf_id : 0;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* --- the test ------------------------------------------------------------------------------------ */

static int ignore(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* All programs are relocated before the first one is loaded. */
static void take_instructions(const struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj) {
		size_t n = bpf_program__insn_cnt(prog);

		assert_true(loaded.n + n <= MOST);
		memcpy(loaded.insn + loaded.n, bpf_program__insns(prog), n * sizeof(*loaded.insn));
		loaded.n += n;
	}
}

/* Clears the descriptors of maps, which differ between loads. */
static void forget_descriptors(void)
{
	size_t i;

	for (i = 0; i < loaded.n; i++)
		if (loaded.insn[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
		    (loaded.insn[i].src_reg == BPF_PSEUDO_MAP_FD ||
		     loaded.insn[i].src_reg == BPF_PSEUDO_MAP_VALUE))
			loaded.insn[i].imm = 0;
}

static struct bpf_object *open_object(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_map *map;

	assert_non_null(obj);
	bpf_object__for_each_map(map, obj)
		if (!bpf_map__max_entries(map))
			bpf_map__set_max_entries(map, 4096);
	return obj;
}

/* Loads the object with this BTF and returns libbpf's result. */
static int load(const char *path, struct btf *btf, const struct btf_part *part)
{
	struct bpf_object *obj = open_object(path);
	int err;

	loaded.btf = btf;
	loaded.part = part;
	loaded.n = loaded.programs = 0;
	memset(loaded.attach_id, 0, sizeof(loaded.attach_id));
	err = bpf_object__load(obj);
	take_instructions(obj);
	bpf_object__close(obj);
	loaded.btf = NULL;
	forget_descriptors();
	return err;
}

/* An object whose instructions contain ids of types gets a part with the kernel's ids. */
static struct btf *part_for(const char *path, const struct btf_bytes *bytes, bool keep_ids, struct btf_part *part)
{
	struct bpf_object *obj = open_object(path);
	struct btf_names names = { .keep_ids = keep_ids };
	struct btf *btf;
	size_t size;
	char *file = file_bytes(path, &size);

	assert_int_equal(btf_names__add_object(&names, obj, file, size), 0);
	assert_int_equal(btf_bytes__make_part(bytes, &names, false, part), 0);
	btf = btf__new(part->data, part->size);
	assert_non_null(btf);
	assert_int_equal(btf__type_cnt(btf), part->n);
	/* A part must be small, since libbpf walks over all types in each lookup. */
	if (!names.keep_ids)
		assert_true(part->n < bytes->n / 10);
	btf_names__free(&names);
	bpf_object__close(obj);
	free(file);
	return btf;
}

static struct bpf_insn expected[MOST];
static u32 expected_id[ARRAY_SIZE(loaded.attach_id)];

static void compare_part(const char *path, const struct btf_bytes *bytes, bool keep_ids, int err, size_t n,
			 size_t programs)
{
	struct btf_part part;
	struct btf *btf = part_for(path, bytes, keep_ids, &part);

	assert_int_equal(load(path, btf, &part), err);
	btf__free(btf);
	btf_part__free(&part);
	assert_int_equal(loaded.programs, programs);
	assert_int_equal(loaded.n, n);
	assert_memory_equal(loaded.insn, expected, n * sizeof(*expected));
	assert_memory_equal(loaded.attach_id, expected_id, sizeof(expected_id));
}

static void compare(const char *path, struct btf *all, const struct btf_bytes *bytes)
{
	size_t n, programs;
	int err;

	/* The first load is not compared, since it includes libbpf's probes of kernel features. */
	load(path, all, NULL);
	err = load(path, all, NULL);
	n = loaded.n;
	programs = loaded.programs;
	memcpy(expected, loaded.insn, n * sizeof(*expected));
	memcpy(expected_id, loaded.attach_id, sizeof(expected_id));
	compare_part(path, bytes, false, err, n, programs);
	compare_part(path, bytes, true, err, n, programs);
	if (getenv("TALLY_BTF_VERBOSE"))
		printf("%s: %d, %zu programs, %zu instructions\n", path, err, programs, n);
}

/* Returns the number of objects that were loaded. */
static size_t compare_all(const char *btf_path)
{
	struct btf_bytes bytes;
	size_t size, i, whole = 0;
	char *data = file_bytes(btf_path, &size);
	struct btf *all = btf__new(data, size);
	glob_t objects;

	assert_non_null(all);
	assert_int_equal(btf_bytes__open(&bytes, data, size), 0);
	assert_int_equal(bytes.n, btf__type_cnt(all));
	assert_int_equal(glob("build*/bpf/*.bpf.o", 0, NULL, &objects), 0);
	for (i = 0; i < objects.gl_pathc; i++) {
		compare(objects.gl_pathv[i], all, &bytes);
		whole += loaded.programs > 0;
	}
	globfree(&objects);
	btf_bytes__close(&bytes);
	btf__free(all);
	free(data);
	return whole;
}

static void same_instructions(void **state)
{
	static const char here[] = "/sys/kernel/btf/vmlinux";
	char *more = getenv("TALLY_BTFS"), *name;

	(void)state;
	if (!getenv("TALLY_BTF_VERBOSE"))
		libbpf_set_print(ignore);
	if (access(here, R_OK))
		skip();
	assert_true(compare_all(here) > 40);
	for (name = more ? strtok(more, " ") : NULL; name; name = strtok(NULL, " "))
		assert_true(compare_all(name) > 40);
}

/* A name that is neither in the kernel's BTF nor, as far as is known, in that of any module. */
static void missing_names(void **state)
{
	static const char here[] = "/sys/kernel/btf/vmlinux", path[] = "build/bpf/runqlat.bpf.o";
	struct btf_names names = {};
	struct bpf_program *program;
	struct bpf_object *obj;
	struct btf_bytes bytes;
	size_t size, file_size;
	struct btf_part part;
	char *data, *file;

	(void)state;
	if (access(here, R_OK) || access(path, R_OK))
		skip();
	data = file_bytes(here, &size);
	file = file_bytes(path, &file_size);
	obj = open_object(path);
	assert_int_equal(btf_bytes__open(&bytes, data, size), 0);
	bpf_object__for_each_program(program, obj)
		if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING)
			bpf_program__set_expected_attach_type(program, BPF_LSM_MAC);
	assert_int_equal(btf_names__add_object(&names, obj, file, file_size), 0);
	assert_int_equal(btf_bytes__make_part(&bytes, &names, true, &part), -ENOENT);
	assert_null(part.data);
	assert_int_equal(btf_bytes__make_part(&bytes, &names, false, &part), 0);
	assert_true(part.size < size);
	btf_part__free(&part);
	btf_names__free(&names);
	btf_bytes__close(&bytes);
	bpf_object__close(obj);
	free(data);
	free(file);
}

/* Truncated BTF is refused, or read within its bounds. */
static void damaged(void **state)
{
	static const char here[] = "/sys/kernel/btf/vmlinux";
	struct btf_bytes bytes;
	size_t size, cut;
	char *data;

	(void)state;
	if (access(here, R_OK))
		skip();
	data = file_bytes(here, &size);
	for (cut = 0; cut < size; cut += cut < 100 ? 1 : size / 50)
		assert_int_equal(btf_bytes__open(&bytes, data, cut), -EBADMSG);
	data[0] ^= 1;
	assert_int_equal(btf_bytes__open(&bytes, data, size), -EOPNOTSUPP);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_instructions),
		cmocka_unit_test(missing_names),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
