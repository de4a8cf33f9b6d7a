// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's BTF is read once for all its users, including libbpf. */
#include "unit.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "types/btf.h"
#include "types/kernel_btf.h"

/* How often the whole BTF of the kernel was copied and indexed. */
static unsigned int made;

struct btf *btf__new(const void *data, __u32 size)
{
	struct btf *(*real)(const void *data, __u32 size) = dlsym(RTLD_NEXT, "btf__new");

	made += size > 1000000;
	return real(data, size);
}

static void read_once(void **state)
{
	struct btf *first, *second;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	first = btf__load_vmlinux_btf();
	second = btf__load_vmlinux_btf();
	assert_non_null(first);
	assert_ptr_equal(first, second);
	/* libbpf, too, loads the kernel's BTF when it looks for the function of an attach type. */
	assert_true(libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP) > 0);
	assert_true(kernel_btf_arguments("btf_trace_sched_switch") >= 4);
	assert_int_equal(made, 1);

	/* Its users keep it when it is dropped. */
	btf__free(first);
	kernel_btf__drop();
	assert_true(btf__find_by_name_kind(second, "task_struct", BTF_KIND_STRUCT) > 0);
	btf__free(second);
}

static void read_again_after_it_was_dropped(void **state)
{
	unsigned int before = made;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	kernel_btf__drop();
	kernel_btf__drop();
	btf__free(btf__load_vmlinux_btf());
	assert_int_equal(made, before + 1);
	kernel_btf__drop();
}

/* Counting a tracepoint's arguments in the file itself gives the same result. */
static void arguments_without_all_of_it(void **state)
{
	unsigned int before = made;
	int n, none;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	n = kernel_btf_arguments("btf_trace_sched_switch");
	none = kernel_btf_arguments("btf_trace_no_such_tracepoint");
	assert_true(n >= 4);
	assert_int_equal(none, -ENOENT);
	assert_int_equal(made, before);
	btf__free(btf__load_vmlinux_btf());
	assert_int_equal(made, before + 1);
	assert_int_equal(kernel_btf_arguments("btf_trace_sched_switch"), n);
	assert_int_equal(kernel_btf_arguments("btf_trace_no_such_tracepoint"), none);
	kernel_btf__drop();
}

/* While an object is loaded, libbpf gets only some hundred types, but the kernel's ids in lookups. */
static void part_has_the_ids_of_the_kernel(void **state)
{
	static const char path[] = "build/bpf/runqlat.bpf.o", name[] = "btf_trace_sched_switch";
	struct bpf_object *obj = access(path, R_OK) ? NULL : bpf_object__open_file(path, NULL);
	struct bpf_object_skeleton s = { .obj = &obj };
	int fd = open(path, O_RDONLY | O_CLOEXEC), id;
	const struct btf_type *t;
	unsigned int before;
	struct stat st;
	struct btf *btf;
	u32 all;

	(void)state;
	if (!obj || access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	assert_int_equal(fstat(fd, &st), 0);
	s.data_sz = st.st_size;
	s.data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(s.data != MAP_FAILED);

	btf = btf__load_vmlinux_btf();
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	assert_true(id > 0);
	all = btf__type_cnt(btf);
	btf__free(btf);
	kernel_btf__drop();

	before = made;
	kernel_btf__begin_load(&s);
	btf = btf__load_vmlinux_btf();
	assert_non_null(btf);
	assert_int_equal(made, before);
	assert_true(btf__type_cnt(btf) < all / 10);
	assert_int_equal(btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF), id);
	t = btf__type_by_id(btf, id);
	assert_non_null(t);
	assert_string_equal(btf__name_by_offset(btf, t->name_off), name);
	assert_null(btf__type_by_id(btf, all));
	btf__free(btf);
	kernel_btf__end_load();
	kernel_btf__drop();
	munmap((void *)s.data, st.st_size);
	close(fd);
	bpf_object__close(obj);
}

/* The values of an enum are the same without the whole BTF. */
static void enums(void **state)
{
	static const char *const name[] = { "pid_type", "no_such_enum" };
	struct enum_values some = {}, whole = {};
	unsigned int before = made;
	struct btf *btf, *all;
	size_t i;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	btf = kernel_btf__enums(name, ARRAY_SIZE(name));
	assert_non_null(btf);
	assert_int_equal(made, before);
	all = btf__load_vmlinux_btf();
	assert_int_equal(enum_values__read(&some, btf, btf__find_by_name_kind(btf, name[0], BTF_KIND_ENUM)), 0);
	assert_int_equal(enum_values__read(&whole, all, btf__find_by_name_kind(all, name[0], BTF_KIND_ENUM)), 0);
	assert_true(whole.n > 2);
	assert_int_equal(some.n, whole.n);
	for (i = 0; i < some.n; i++) {
		assert_string_equal(some.value[i].name, whole.value[i].name);
		assert_int_equal(some.value[i].value, whole.value[i].value);
	}
	assert_int_equal(btf__find_by_name_kind(btf, name[1], BTF_KIND_ENUM), -ENOENT);
	enum_values__free(&some);
	enum_values__free(&whole);
	btf__free(btf);
	btf__free(all);
	kernel_btf__drop();
}

static void others_are_freed(void **state)
{
	struct btf *btf = btf__new_empty();

	(void)state;
	assert_non_null(btf);
	btf__free(btf);
	btf__free(NULL);
}

/* Returns the variable that begins there, according to libbpf. */
static const char *variable_at(struct btf *btf, s64 place)
{
	const struct btf_type *section =
		btf__type_by_id(btf, btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC));
	const struct btf_var_secinfo *v = btf_var_secinfos(section);
	u32 i;

	for (i = 0; i < btf_vlen(section); i++)
		if (v[i].offset == place)
			return btf__name_by_offset(btf, btf__type_by_id(btf, v[i].type)->name_off);
	return NULL;
}

static void check_members(void)
{
	assert_true(kernel_btf_has_member("task_struct", "pid"));
	assert_false(kernel_btf_has_member("task_struct", "no_such_member"));
	assert_false(kernel_btf_has_member("no_such_structure", "pid"));
}

static void members(void **state)
{
	struct btf *btf;

	(void)state;
	kernel_btf__drop();
	check_members();
	btf = btf__load_vmlinux_btf();
	assert_non_null(btf);
	check_members();
	btf__free(btf);
	kernel_btf__drop();
}

/* The places are the same from the bytes alone as from the whole BTF. */
static void places_of_per_cpu_variables(void **state)
{
	struct btf *btf;
	s64 place;

	(void)state;
	kernel_btf__drop();
	place = kernel_btf_per_cpu_place("runqueues");
	if (place < 0)
		skip();
	assert_int_equal(kernel_btf_per_cpu_place("task_struct"), -ENOENT);
	btf = btf__load_vmlinux_btf();
	assert_string_equal(variable_at(btf, place), "runqueues");
	assert_int_equal(kernel_btf_per_cpu_place("runqueues"), place);
	assert_int_equal(kernel_btf_per_cpu_place("task_struct"), -ENOENT);
	btf__free(btf);
	kernel_btf__drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_once),
		cmocka_unit_test(read_again_after_it_was_dropped),
		cmocka_unit_test(arguments_without_all_of_it),
		cmocka_unit_test(part_has_the_ids_of_the_kernel),
		cmocka_unit_test(enums),
		cmocka_unit_test(others_are_freed),
		cmocka_unit_test(places_of_per_cpu_variables),
		cmocka_unit_test(members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
