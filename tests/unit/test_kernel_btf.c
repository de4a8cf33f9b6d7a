// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's BTF is read once, whoever asks, libbpf included. */
#include "unit.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "host/kernel_btf.h"

/* Bytes this process has read so far (proc(5), io). */
static unsigned long bytes_read(void)
{
	unsigned long n = 0;
	FILE *f = fopen("/proc/self/io", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "rchar: %lu", &n), 1);
	fclose(f);
	return n;
}

static unsigned long size_of_btf(void)
{
	unsigned long n = bytes_read();
	struct btf *btf = btf__load_vmlinux_btf();

	btf__free(btf);
	return bytes_read() - n;
}

static void read_once(void **state)
{
	struct btf *first, *second;
	unsigned long size, n;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	size = size_of_btf();
	assert_true(size > 100000);
	n = bytes_read();
	first = btf__load_vmlinux_btf();
	second = btf__load_vmlinux_btf();
	assert_non_null(first);
	assert_ptr_equal(first, second);
	/* Inside libbpf, too: a search for an attach type's function loads the kernel's BTF. */
	assert_true(libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP) > 0);
	assert_true(bytes_read() - n < size / 2);

	/* Whoever has it keeps it. */
	btf__free(first);
	kernel_btf__drop();
	assert_true(btf__find_by_name_kind(second, "task_struct", BTF_KIND_STRUCT) > 0);
	btf__free(second);
}

static void read_again_after_it_was_dropped(void **state)
{
	unsigned long size, n;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	kernel_btf__drop();
	size = size_of_btf();
	kernel_btf__drop();
	kernel_btf__drop();
	n = bytes_read();
	assert_true(size_of_btf() >= size / 2);
	assert_true(bytes_read() - n >= size / 2);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_once),
		cmocka_unit_test(read_again_after_it_was_dropped),
		cmocka_unit_test(others_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
