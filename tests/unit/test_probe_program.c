// SPDX-License-Identifier: BSD-2-Clause
/*
 * The values that probe's programs keep for each kind of event. All templates must pass the verifier
 * with bodies that use all of the stack and all of their part of the frame.
 */
#include "probe_rig.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include "host/features.h"

/* --- single events ----------------------------------------------------------------------------- */

static void counts_of_events(void **state)
{
	const struct setting s = { .what = PROBE_COUNT };
	struct rig r;
	int i;

	(void)state;
	start(&r, &s);
	for (i = 0; i < 1000; i++)
		event(i % 10 ? 4 : 13, 1);
	assert_int_equal(plain_sum(&r, 2).count, 900);
	assert_int_equal(plain_sum(&r, 0).count, 0);
	assert_int_equal(losses(&r).filtered, 100);
	stop(&r);
}

static void sums_with_signs(void **state)
{
	const struct setting s = { .what = PROBE_SUM, .bias = 1ULL << 63 };
	struct probe_sum sum;
	struct rig r;
	int i;

	(void)state;
	start(&r, &s);
	for (i = -500; i < 500; i++)
		event(i == 13 ? 12 : i, 1);
	sum = plain_sum(&r, 2);
	assert_int_equal(sum.count, 1000);
	assert_int_equal((s64)sum.sum, -501);
	assert_int_equal((s64)(sum.max ^ s.bias), 499);
	assert_int_equal((s64)(~sum.min_inv ^ s.bias), -500);
	stop(&r);
}

static void sums_by_key(void **state)
{
	static const u32 sizes[] = { 4, 8, 60, PROBE_KEY_SMALL, PROBE_KEY_SMALL + 4, 500 };
	struct setting s = { .what = PROBE_SUM, .keyed = true, .named = PROBE_NAME_THREAD };
	struct probe_sum sum;
	struct rig r;
	u32 i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		s.key_size = sizes[k];
		s.named = k % 3;
		start(&r, &s);
		for (i = 0; i < 500; i++)
			event(20 + i / 5, i % 5);
		for (i = 0; i < 5; i++) {
			sum = sum_of(&r, i);
			assert_int_equal(sum.count, 100);
			assert_int_equal(sum.sum, 20 * 100 + 4950);
			assert_int_equal(sum.max, 119);
			assert_int_equal(~sum.min_inv, 20);
			assert_true(!sum.name[0] == (s.named == PROBE_NAME_NONE));
		}
		assert_int_equal(losses(&r).filtered, 0);
		stop(&r);
	}
}

static void a_full_map_is_a_loss(void **state)
{
	const struct setting s = {
		.what = PROBE_COUNT, .keyed = true, .key_size = 8, .room = 1,
	};
	struct rig r;
	u32 i;

	(void)state;
	start(&r, &s);
	for (i = 0; i < 100; i++)
		event(1, i);
	assert_true(losses(&r).lost[LOSS_MAP_FULL] >= 98);      /* room for 1, and for some more on each CPU */
	stop(&r);
}

static void histograms(void **state)
{
	struct setting s = { .what = PROBE_HIST };
	int cpus = libbpf_num_possible_cpus(), cpu;
	struct hist_whole *each = calloc(cpus, sizeof(*each));
	u64 count = 0, sum = 0;
	u32 zero = 0, i;
	struct rig r;

	(void)state;
	assert_non_null(each);
	start(&r, &s);
	for (i = 0; i < 1000; i++)
		event(i == 13 ? 14 : i, 1);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(r.bpf->maps.values), &zero, each), 0);
	for (cpu = 0; cpu < cpus; cpu++) {
		sum += each[cpu].totals.sum;
		for (i = 0; i < HIST_BUCKETS; i++)
			count += each[cpu].bucket[i];
	}
	assert_int_equal(count, 1000);
	assert_int_equal(sum, 499501);
	stop(&r);
	free(each);
}

/* The value's lowest bit selects bucket 0 or 1; the sum and the extremes are those of the whole value. */
static void histograms_with_bounds_by_key(void **state)
{
	const struct setting s = {
		.what = PROBE_BOUNDS, .keyed = true, .key_size = 8, .bias = 1ULL << 63,
	};
	u64 even = 0, odd = 0, sum = 0, max = 0, min_inv = 0;
	struct { struct hist_slot slot; u64 key; } at;
	struct hist_segment h;
	void *from = NULL;
	struct rig r;
	int i;

	(void)state;
	start(&r, &s);
	for (i = -100; i < 100; i++)
		event(i == 13 ? 15 : i, 77);
	while (!bpf_map_get_next_key(bpf_map__fd(r.bpf->maps.keyed_values), from, &at)) {
		from = &at;
		assert_int_equal(at.key, 77);
		assert_int_equal(at.slot.segment, 0);
		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(r.bpf->maps.keyed_values), &at, &h), 0);
		even += h.bucket[0];
		odd += h.bucket[1];
		sum += h.totals.sum;
		max = h.totals.max > max ? h.totals.max : max;
		min_inv = h.totals.min_inv > min_inv ? h.totals.min_inv : min_inv;
	}
	assert_int_equal(even, 100);
	assert_int_equal(odd, 100);
	assert_int_equal((s64)sum, -98);
	assert_int_equal((s64)(max ^ s.bias), 99);
	assert_int_equal((s64)(~min_inv ^ s.bias), -100);
	stop(&r);
}

struct seen {
	u32 n, next;
};

static int see_record(void *ctx, void *data, size_t size)
{
	const struct probe_record *record = data;
	struct seen *seen = ctx;

	assert_true(size >= sizeof(*record) + 12);
	assert_int_equal(record->event, 2);
	assert_int_equal(record->pid, getpid());
	assert_int_equal(record->tid, syscall(SYS_gettid));
	assert_memory_equal(record->key, &seen->next, sizeof(u32));
	seen->next++;
	seen->n++;
	return 0;
}

static void streams(void **state)
{
	struct setting s = { .what = PROBE_STREAM, .key_size = 12 };
	struct ring_buffer *ring;
	struct seen seen = {};
	struct rig r;
	u32 i;

	(void)state;
	start(&r, &s);
	ring = ring_buffer__new(bpf_map__fd(r.bpf->maps.records), see_record, &seen, NULL);
	assert_non_null(ring);
	for (i = 0; i < 30; i++)
		event(1, i);
	assert_int_equal(ring_buffer__consume(ring), 30);
	for (i = 0; i < 1000; i++)
		event(1, 30 + i);
	i = ring_buffer__consume(ring);
	assert_true(i > 30 && i < 1000);
	assert_int_equal(losses(&r).lost[LOSS_RING_FULL], 1000 - i);
	ring_buffer__free(ring);
	stop(&r);
}

/* --- spans ------------------------------------------------------------------------------------- */

static void spans_carry_value_and_key(void **state)
{
	struct setting s = {
		.what = PROBE_SUM, .keyed = true, .span = true, .key_size = 20, .begin_key = 8,
		.begin_value = true,
	};
	struct probe_sum sum;
	struct rig r;
	u32 i, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		s.in_thread = k;
		start(&r, &s);
		for (i = 0; i < 100; i++) {
			event(i + 20, 1 + i % 4);
			end_event(1 + i % 4);
			end_event(1 + i % 4);           /* the span has ended already */
		}
		for (i = 1; i <= 4; i++) {
			sum = sum_of(&r, i);
			assert_int_equal(sum.count, 25);
			assert_int_equal(sum.max, 119 - (4 - i));
			assert_int_equal(~sum.min_inv, 20 + i - 1);
		}
		assert_int_equal(losses(&r).filtered, 100);
		assert_int_equal(losses(&r).lost[LOSS_UNMATCHED], 0);
		stop(&r);
	}
}

static void begins_before_the_gate_and_those_without_an_end(void **state)
{
	struct setting s = { .what = PROBE_COUNT, .span = true, .count_unmatched = true };
	struct rig r;

	(void)state;
	start(&r, &s);
	r.bpf->bss->armed = 0;
	event(1, 5);
	end_event(5);
	end_event(5);
	event(1, 6);
	r.bpf->bss->armed = 1;
	end_event(6);
	assert_int_equal(plain_sum(&r, 0).count, 1);
	assert_int_equal(losses(&r).lost[LOSS_UNMATCHED], 0);
	end_event(6);
	assert_int_equal(losses(&r).lost[LOSS_UNMATCHED], 1);
	event(1, 7);
	event(1, 7);
	assert_int_equal(losses(&r).lost[LOSS_NO_END], 1);
	assert_int_equal(losses(&r).lost[LOSS_UNMATCHED], 1);
	end_event(7);
	assert_int_equal(plain_sum(&r, 0).count, 2);
	event(13, 8);                   /* the filter drops this begin */
	end_event(8);
	assert_int_equal(losses(&r).lost[LOSS_UNMATCHED], 2);
	assert_int_equal(losses(&r).lost[LOSS_NO_END], 1);
	assert_int_equal(losses(&r).filtered, 0);
	stop(&r);
}

static void ends_that_count_are_single_events(void **state)
{
	struct setting s = { .what = PROBE_COUNT, .span = true, .count_unmatched = true, .counts_ends = true };
	struct rig r;

	(void)state;
	s.ignores_left = true;
	start(&r, &s);
	event(1, 7);
	event(1, 7);
	end_event(7);
	end_event(7);
	assert_int_equal(plain_sum(&r, 0).count, 1);
	assert_int_equal(losses(&r).lost[LOSS_NO_END], 0);
	assert_int_equal(losses(&r).lost[LOSS_UNMATCHED], 1);
	stop(&r);
	s.ignores_left = false;
	start(&r, &s);
	event(1, 7);
	event(1, 7);
	assert_int_equal(losses(&r).lost[LOSS_NO_END], 1);
	stop(&r);
}

/* A task may enter or leave the scope between begin and end: its state at the end decides. */
static void scope_of_ends_that_count(void **state)
{
	struct setting s = { .what = PROBE_COUNT, .span = true, .count_unmatched = true, .counts_ends = true };
	struct rig r;

	(void)state;
	if (getuid())
		skip();
	s.uid = 4711;
	start(&r, &s);
	event(1, 7);
	end_event(7);
	assert_int_equal(losses(&r).filtered, 1);
	end_event(7);
	assert_int_equal(losses(&r).filtered, 2);
	assert_int_equal(plain_sum(&r, 0).count, 0);
	event(1, 8);
	assert_int_equal(syscall(SYS_setresuid, 4711, 0, 0), 0);
	end_event(8);
	end_event(8);
	assert_int_equal(syscall(SYS_setresuid, 0, 0, 0), 0);
	assert_int_equal(plain_sum(&r, 0).count, 1);
	assert_int_equal(losses(&r).lost[LOSS_UNMATCHED], 1);
	assert_int_equal(losses(&r).filtered, 2);
	stop(&r);
}

/* If programs did not give their buffers back, none would be left after four events. */
static void buffers_are_given_back(void **state)
{
	struct setting s = { .what = PROBE_COUNT, .keyed = true, .key_size = 200 };
	struct rig r;
	int i;

	(void)state;
	start(&r, &s);
	for (i = 0; i < 100; i++)
		event(i % 2 ? 13 : 1, 1);
	assert_int_equal(sum_of(&r, 1).count, 50);
	assert_int_equal(losses(&r).lost[LOSS_NO_BUFFER], 0);
	stop(&r);
}

/* --- many at once ------------------------------------------------------------------------------ */

#define TASKS 4
#define EACH 5000

/* Calls happen() EACH times in each of TASKS processes, which are more than there are CPUs. */
static void in_many_tasks(void (*happen)(u32 task, u32 i))
{
	pid_t child[TASKS];
	u32 task, i;
	int status;

	for (task = 0; task < TASKS; task++) {
		child[task] = fork();
		assert_true(child[task] >= 0);
		if (child[task])
			continue;
		for (i = 0; i < EACH; i++)
			happen(task, i);
		_exit(0);
	}
	for (task = 0; task < TASKS; task++) {
		assert_int_equal(waitpid(child[task], &status, 0), child[task]);
		assert_int_equal(status, 0);
	}
}

static void happen_once(u32 task, u32 i)
{
	event(20 + i % 10, task);
}

static void begin_and_end(u32 task, u32 i)
{
	event(20 + i % 10, task + 1);
	end_event(task + 1);
}

static void counts_are_exact_on_all_cpus(void **state)
{
	struct setting s = { .what = PROBE_SUM, .keyed = true };
	u32 round, task, count;
	struct probe_sum sum;
	struct rig r;

	(void)state;
	for (round = 0; round < 6; round++) {
		s.only_tracepoints = round / 3;
		s.key_size = round % 3 == 1 ? 300 : 8;
		s.span = round % 3 == 2;
		s.begin_value = s.span;
		start(&r, &s);
		in_many_tasks(s.span ? begin_and_end : happen_once);
		for (task = count = 0; task < TASKS; task++) {
			sum = sum_of(&r, task + s.span);
			assert_true(sum.count <= EACH);
			if (sum.count == EACH)
				assert_int_equal(sum.sum, EACH * 49 / 2);
			count += sum.count;
		}
		if (!s.span || !misses(&r))
			assert_int_equal(count, TASKS * EACH - misses(&r));
		assert_int_equal(losses(&r).lost[LOSS_NO_BUFFER], 0);
		stop(&r);
	}
}

static void __attribute__((noinline)) called(u32 task, u32 i)
{
	asm volatile("" : : "r"(task), "r"(i) : "memory");
}

static int uprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (!f || fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

/* Programs on uprobes can be preempted, but no other program may use the buffer meanwhile. */
static void uprobes_are_exact_on_all_cpus(void **state)
{
	static const char *const template = "on_probe";
	struct setting s = { .what = PROBE_SUM, .keyed = true };
	struct perf_event_attr attr = { .size = sizeof(attr), .type = uprobe_type(), .sample_period = 1 };
	struct probe_sum sum;
	struct rig r;
	Dl_info info;
	u32 round;
	int fd, prog;

	(void)state;
	if ((int)attr.type < 0 || !dladdr((void *)called, &info))
		skip();
	attr.uprobe_path = (uintptr_t)"/proc/self/exe";
	attr.probe_offset = (uintptr_t)called - (uintptr_t)info.dli_fbase;
	for (round = 0; round < 2; round++) {
		s.key_size = round ? 300 : PROBE_KEY_SMALL;
		r = (struct rig){ .set = s };
		load(&r, &template, 1);
		prog = load_copy(&r, template, 0, false, 0);
		fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0) {
			print_message("no uprobes here (%s)\n", strerror(errno));
			stop(&r);
			skip();
		}
		assert_int_equal(ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog), 0);
		r.fd[r.nfds++] = fd;
		r.bpf->bss->armed = 1;
		in_many_tasks(called);
		sum = sum_of(&r, 9);
		assert_int_equal(sum.count, TASKS * EACH);
		assert_int_equal(sum.sum, TASKS * EACH * 7);
		stop(&r);
	}
}

/* --- the verifier ------------------------------------------------------------------------------ */

static bool can_load(const char *template)
{
	if (strstr(template, "probes"))
		return feature__probe("kprobe.multi") == FEATURE_OK;
	if (strstr(template, "_entry") || strstr(template, "_exit"))
		return feature__probe("fentry") == FEATURE_OK;
	return true;
}

static void all_templates_pass_the_verifier(void **state)
{
	static const char *const templates[] = {
		"on_tracepoint", "on_probe", "on_probes", "on_entry", "on_exit",
		"begin_tracepoint", "begin_probe", "begin_probes", "begin_entry", "begin_exit",
		"end_tracepoint", "end_probe", "end_probes", "end_entry", "end_exit",
	};
	static const struct setting settings[] = {
		{ .what = PROBE_COUNT },
		{ .what = PROBE_SUM },
		{ .what = PROBE_HIST },
		{ .what = PROBE_BOUNDS },
		{ .what = PROBE_STREAM, .key_size = PROBE_KEY_MOST },
		{ .what = PROBE_COUNT, .keyed = true, .key_size = PROBE_KEY_SMALL, .named = 1 },
		{ .what = PROBE_SUM, .keyed = true, .key_size = PROBE_KEY_SMALL, .named = 2 },
		{ .what = PROBE_HIST, .keyed = true, .key_size = PROBE_KEY_SMALL, .named = 1 },
		{ .what = PROBE_BOUNDS, .keyed = true, .key_size = PROBE_KEY_SMALL - 4, .named = 2 },
		{ .what = PROBE_COUNT, .keyed = true, .key_size = 500, .named = 1 },
		{ .what = PROBE_HIST, .keyed = true, .key_size = 500, .named = 1 },
		{ .what = PROBE_COUNT, .span = true },
		{ .what = PROBE_SUM, .span = true, .in_thread = true },
		{ .what = PROBE_HIST, .span = true, .keyed = true, .key_size = 24, .begin_key = 12,
		  .begin_value = true, .in_thread = true },
		{ .what = PROBE_STREAM, .span = true, .key_size = PROBE_KEY_MOST, .begin_key = 400 },
		{ .what = PROBE_SUM, .span = true, .count_unmatched = true },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		for (k = 0; k < ARRAY_SIZE(templates); k++) {
			struct rig r = { .set = settings[i] };

			if ((k >= 5) != settings[i].span || !can_load(templates[k]))
				continue;
			load(&r, &templates[k], 1);
			load_copy(&r, templates[k], 1, strstr(templates[k], "tracepoint"), ARG0);
			stop(&r);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_events),
		cmocka_unit_test(sums_with_signs),
		cmocka_unit_test(sums_by_key),
		cmocka_unit_test(a_full_map_is_a_loss),
		cmocka_unit_test(histograms),
		cmocka_unit_test(histograms_with_bounds_by_key),
		cmocka_unit_test(streams),
		cmocka_unit_test(spans_carry_value_and_key),
		cmocka_unit_test(begins_before_the_gate_and_those_without_an_end),
		cmocka_unit_test(ends_that_count_are_single_events),
		cmocka_unit_test(scope_of_ends_that_count),
		cmocka_unit_test(buffers_are_given_back),
		cmocka_unit_test(counts_are_exact_on_all_cpus),
		cmocka_unit_test(uprobes_are_exact_on_all_cpus),
		cmocka_unit_test(all_templates_pass_the_verifier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
