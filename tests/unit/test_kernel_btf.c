// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's BTF is read once, whoever asks, libbpf included. */
#include "unit.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "types/kernel_btf.h"

/* How often all of the kernel's BTF was copied and indexed. */
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
	/* Inside libbpf, too: a search for an attach type's function loads the kernel's BTF. */
	assert_true(libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP) > 0);
	assert_true(kernel_btf_arguments("btf_trace_sched_switch") >= 4);
	assert_int_equal(made, 1);

	/* Whoever has it keeps it. */
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

/* A tracepoint's arguments are counted in the file itself, alike. */
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

static void others_are_freed(void **state)
{
	struct btf *btf = btf__new_empty();

	(void)state;
	assert_non_null(btf);
	btf__free(btf);
	btf__free(NULL);
}

/* By libbpf: the variable that begins there. */
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

/* The same from the bytes alone as from all of the BTF. */
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
		cmocka_unit_test(others_are_freed),
		cmocka_unit_test(places_of_per_cpu_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
