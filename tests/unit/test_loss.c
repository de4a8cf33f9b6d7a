// SPDX-License-Identifier: BSD-2-Clause
/* Counters of filtered and lost events: read from a real map, subtracted, added up. */
#include "unit.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "agg/loss.h"

#include "bpf/sched/runqlat.h"
#include "bpf/lib/scope.h"
#include "runqlat.skel.h"

static void every_reason_has_a_name(void **state)
{
	u32 i, k;

	(void)state;
	for (i = 0; i < LOSS_REASONS; i++) {
		assert_true(loss_name(i)[0]);
		assert_true(loss_sentence(i)[0]);
		assert_int_equal(strspn(loss_name(i), "abcdefghijklmnopqrstuvwxyz_"),
				 strlen(loss_name(i)));
		for (k = 0; k < i; k++)
			assert_string_not_equal(loss_name(i), loss_name(k));
	}
}

static void difference_and_total(void **state)
{
	struct loss_counters earlier = {}, later = {}, d;
	struct random r = { 29 };
	u64 total = 0, inexact = 0, v;
	u32 n, i;

	(void)state;
	for (n = 0; n < 1000; n++, earlier = later, total = inexact = 0) {
		later.filtered += v = random__any_size(&r);     /* may wrap; the difference holds */
		later.unaccounted += v;
		for (i = 0; i < LOSS_REASONS; i++) {
			u64 lost = random__any_size(&r) >> 4;

			later.lost[i] += lost;
			*(loss_kind(i) == LOSS_LOST ? &total : &inexact) += lost;
		}
		d = loss__difference(&later, &earlier);
		assert_int_equal(d.filtered, v);
		assert_int_equal(d.unaccounted, v);
		assert_int_equal(loss__of(&d, LOSS_LOST), total);       /* filtered is not lost */
		assert_int_equal(loss__of(&d, LOSS_INEXACT), inexact);
		assert_int_equal(loss__is_none(&d), !total && !inexact);
	}
}

static void read_adds_up_the_cpus(void **state)
{
	int ncpus = libbpf_num_possible_cpus(), fd, cpu;
	struct loss_counters *per_cpu, sum, untouched;
	struct runqlat_bpf *skel;
	u32 zero = 0, i;
	u64 k;

	(void)state;
	assert_true(ncpus > 0);
	fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "unit", 4, sizeof(*per_cpu), 1, NULL);
	if (fd == -EPERM || fd == -EACCES) {
		print_message("maps cannot be created here (%s)\n", strerror(-fd));
		skip();
	}
	assert_true(fd >= 0);
	per_cpu = calloc(ncpus, sizeof(*per_cpu));
	assert_non_null(per_cpu);
	for (cpu = 0; cpu < ncpus; cpu++) {
		per_cpu[cpu].filtered = 1 + cpu;
		per_cpu[cpu].unaccounted = 1ULL << 40;
		for (i = 0; i < LOSS_REASONS; i++)
			per_cpu[cpu].lost[i] = i * 1000 + cpu;
	}
	assert_int_equal(bpf_map_update_elem(fd, &zero, per_cpu, BPF_ANY), 0);
	skel = runqlat_bpf__open();             /* not loaded: its programs have missed nothing */
	assert_non_null(skel);
	assert_int_equal(loss__read(&sum, fd, skel->obj), 0);
	k = ncpus;
	assert_int_equal(sum.filtered, k * (k + 1) / 2);
	assert_int_equal(sum.unaccounted, k << 40);
	for (i = 0; i < LOSS_REASONS; i++)      /* recursion is counted by the kernel, not here */
		assert_int_equal(sum.lost[i],
				 i == LOSS_RECURSION ? 0 : k * i * 1000 + k * (k - 1) / 2);
	free(per_cpu);
	close(fd);

	memset(&sum, 0x5a, sizeof(sum));
	untouched = sum;
	assert_true(loss__read(&sum, fd, skel->obj) < 0);
	assert_memory_equal(&sum, &untouched, sizeof(sum));
	runqlat_bpf__destroy(skel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_a_name),
		cmocka_unit_test(difference_and_total),
		cmocka_unit_test(read_adds_up_the_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
