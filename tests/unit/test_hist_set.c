// SPDX-License-Identifier: BSD-2-Clause
/* Snapshots of keyed histograms: from real maps, and differences of sets made by hand. */
#include "unit.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "agg/hist_set.h"
#include "bpf/lib/wide.h"

struct key {
	struct hist_slot slot;
	u64 id;
};

/* --- sets made by hand ------------------------------------------------------------------- */

#define KEYS 20

/* Makes a set of the keys of model that have values, in the order of key bytes, as hist_set__read() does. */
static struct hist_set make_set(const struct dense *model, const char *prefix)
{
	struct hist_set set = { .key_size = sizeof(u64) };
	struct hist_group *g;
	unsigned char *key;
	u32 i;

	set.group = calloc(KEYS, sizeof(*set.group));
	set.keys = calloc(KEYS, sizeof(u64));
	assert_non_null(set.group);
	assert_non_null(set.keys);
	for (i = 0; i < KEYS; i++) {
		if (!model[i].count)
			continue;
		g = &set.group[set.ngroups];
		key = (unsigned char *)set.keys + 8 * set.ngroups++;
		key[0] = i;
		key[7] = ~i;
		g->key = key;
		snprintf(g->name, sizeof(g->name), "%s%u", prefix, i);
		g->hist = dense__histogram(&model[i]);
	}
	return set;
}

static void difference_by_key(void **state)
{
	static struct dense all[KEYS], interval[KEYS];
	struct random r = { 9 };
	struct hist_set before, now, d;
	u32 round, i, k, g;
	char name[24];

	(void)state;
	memset(all, 0, sizeof(all));
	before = make_set(all, "old");
	for (round = 0; round < 200; round++) {
		memset(interval, 0, sizeof(interval));
		if (round % 20 == 0) {          /* start again: keys appear one by one */
			hist_set__free(&before);
			memset(all, 0, sizeof(all));
			before = make_set(all, "old");
		}
		for (k = random__below(&r, 20); k; k--) {
			u64 v = random__any_size(&r);

			i = random__below(&r, KEYS);
			dense__add(&all[i], v);
			dense__add(&interval[i], v);
		}
		now = make_set(all, "new");
		assert_int_equal(hist_set__difference(&d, &now, &before), 0);
		assert_int_equal(d.key_size, sizeof(u64));
		for (i = 0, g = 0; i < KEYS; i++) {
			if (!interval[i].count)
				continue;       /* did not grow: left out */
			assert_true(g < d.ngroups);
			assert_int_equal(((const unsigned char *)d.group[g].key)[0], i);
			assert_int_equal(((const unsigned char *)d.group[g].key)[7], 255 - i);
			snprintf(name, sizeof(name), "new%u", i);
			assert_string_equal(d.group[g].name, name);
			assert_buckets(&d.group[g++].hist, &interval[i]);
		}
		assert_int_equal(d.ngroups, g);
		hist_set__free(&d);
		hist_set__free(&before);
		before = now;
	}
	hist_set__free(&before);
}

/* A difference owns its keys, so both sets may be freed. */
static void difference_outlives_its_sets(void **state)
{
	static struct dense model[KEYS];
	struct hist_set empty = {}, now, d;

	(void)state;
	memset(model, 0, sizeof(model));
	dense__add(&model[3], 33);
	now = make_set(model, "n");
	assert_int_equal(hist_set__difference(&d, &now, &empty), 0);
	hist_set__free(&now);
	assert_int_equal(d.ngroups, 1);
	assert_int_equal(((const unsigned char *)d.group[0].key)[0], 3);
	assert_histogram(&d.group[0].hist, &model[3]);
	hist_set__free(&d);
	assert_null(d.group);
}

static void difference_refuses_what_shrank(void **state)
{
	static struct dense model[KEYS], less[KEYS];
	struct hist_set before, now, d, untouched;

	(void)state;
	memset(model, 0, sizeof(model));
	dense__add(&model[1], 10);
	dense__add(&model[2], 20);
	dense__add(&model[2], 2000);
	memset(less, 0, sizeof(less));
	dense__add(&less[1], 10);
	dense__add(&less[1], 11);
	dense__add(&less[2], 20);
	before = make_set(model, "");
	now = make_set(less, "");
	memset(&d, 0x5a, sizeof(d));
	untouched = d;
	assert_int_equal(hist_set__difference(&d, &now, &before), -EINVAL);
	assert_memory_equal(&d, &untouched, sizeof(d));
	hist_set__free(&before);
	hist_set__free(&now);
}

static struct hist_set one_group(const struct dense *model)
{
	struct hist_set set = { .ngroups = 1 };

	set.group = calloc(1, sizeof(*set.group));
	assert_non_null(set.group);
	set.group[0].hist = dense__histogram(model);
	return set;
}

static void without_keys_there_is_always_one_group(void **state)
{
	struct dense model = {}, empty = {};
	struct hist_set before = {}, now, d;

	(void)state;
	dense__add(&model, 4711);
	now = one_group(&model);
	assert_int_equal(hist_set__difference(&d, &now, &before), 0);
	assert_int_equal(d.ngroups, 1);
	assert_null(d.group[0].key);
	assert_histogram(&d.group[0].hist, &model);
	hist_set__free(&d);

	assert_int_equal(hist_set__difference(&d, &now, &now), 0);
	assert_int_equal(d.ngroups, 1);
	assert_histogram(&d.group[0].hist, &empty);
	hist_set__free(&d);
	hist_set__free(&now);
}

static void free_of_nothing(void **state)
{
	struct hist_set set = {};

	(void)state;
	hist_set__free(&set);
	assert_int_equal(set.ngroups, 0);
}

/* --- real maps ----------------------------------------------------------------------------- */

#define MAP_KEYS 5000
#define MAP_CPUS 3

/* Adds a value to a map's element as the kernel side does. All values of an element are of one segment. */
static void segment__add(struct hist_segment *s, u64 value)
{
	s->totals.sum += value;
	s->totals.sum_high += wide_high(value, false);
	if (value > s->totals.max)
		s->totals.max = value;
	if (~value > s->totals.min_inv)
		s->totals.min_inv = ~value;
	s->bucket[model_index(value) % HIST_SEGMENT_BUCKETS]++;
}

static int make_map(enum bpf_map_type type, u32 key_size, u32 value_size, u32 entries, u32 flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(type, "unit", key_size, value_size, entries, &opts);

	if (fd == -EPERM || fd == -EACCES) {
		print_message("maps cannot be created here (%s)\n", strerror(-fd));
		skip();
	}
	assert_true(fd >= 0);
	return fd;
}

static int make_keyed_map(u32 entries, u32 flags)
{
	return make_map(BPF_MAP_TYPE_HASH, sizeof(struct key), sizeof(struct hist_segment), entries,
			flags);
}

static void put_segment(int fd, u32 cpu, u32 segment, u64 id, const struct hist_segment *s)
{
	struct key key = { { cpu, segment }, id };

	assert_int_equal(bpf_map_update_elem(fd, &key, s, BPF_ANY), 0);
}

/* Adds a value to its element in the kernel's map. */
static void put_value(int fd, u32 cpu, u64 id, u64 value)
{
	struct key key = { { cpu, model_index(value) / HIST_SEGMENT_BUCKETS }, id };
	struct hist_segment s;

	if (bpf_map_lookup_elem(fd, &key, &s))
		memset(&s, 0, sizeof(s));
	segment__add(&s, value);
	assert_int_equal(bpf_map_update_elem(fd, &key, &s, BPF_ANY), 0);
}

/* Returns ids whose bytes are in the same order as i. */
static u64 id_of(u32 i)
{
	return __builtin_bswap64(1 + (u64)i * 0x100000001ULL);
}

/* Returns small, medium and large values, which are in at least three segments of the key. */
static u64 spread_value(struct random *r, u32 k)
{
	static const u64 base[] = { 1, 1 << 20, 1ULL << 50 };

	return base[k % 3] + random__below(r, base[k % 3] / 4 + 50);
}

static void assert_set(const struct hist_set *set, const struct dense *model, u32 n)
{
	u32 i, g = 0;
	u64 id;

	assert_int_equal(set->key_size, sizeof(u64));
	for (i = 0; i < n; i++) {
		if (!model[i].count)
			continue;
		assert_true(g < set->ngroups);
		memcpy(&id, set->group[g].key, sizeof(id));
		assert_int_equal(id, id_of(i));
		assert_buckets(&set->group[g++].hist, &model[i]);
	}
	assert_int_equal(set->ngroups, g);
}

static void check_read(u32 flags)
{
	struct hist_maps maps = { .whole_fd = -1, .key_size = sizeof(struct key), .keyed = true };
	struct dense *all = calloc(MAP_KEYS, sizeof(*all)), *more = calloc(MAP_KEYS, sizeof(*more));
	struct random r = { 10 };
	struct hist_set before, now, d;
	u32 i, k;
	u64 v;

	assert_non_null(all);
	assert_non_null(more);
	maps.keyed_fd = make_keyed_map(MAP_KEYS * 3 * MAP_CPUS, flags);
	for (i = 0; i < MAP_KEYS; i++)
		for (k = 0; k < 6; k++) {
			v = spread_value(&r, k);
			put_value(maps.keyed_fd, random__below(&r, MAP_CPUS), id_of(i), v);
			dense__add(&all[i], v);
		}
	assert_int_equal(hist_set__read(&before, &maps), 0);
	assert_set(&before, all, MAP_KEYS);
	for (i = 0; i < MAP_KEYS; i++)
		assert_histogram(&before.group[i].hist, &all[i]);

	for (k = 0; k < 3000; k++) {
		v = random__any_size(&r);
		i = random__below(&r, MAP_KEYS);
		put_value(maps.keyed_fd, random__below(&r, MAP_CPUS), id_of(i), v);
		dense__add(&more[i], v);
	}
	assert_int_equal(hist_set__read(&now, &maps), 0);
	assert_int_equal(hist_set__difference(&d, &now, &before), 0);
	assert_set(&d, more, MAP_KEYS);
	hist_set__free(&d);
	hist_set__free(&now);
	hist_set__free(&before);
	close(maps.keyed_fd);
	free(all);
	free(more);
}

static void read_many_keys(void **state)
{
	(void)state;
	check_read(0);
}

static void read_many_keys_allocated_on_demand(void **state)
{
	(void)state;
	check_read(BPF_F_NO_PREALLOC);
}

/* Maps from one hash bucket to more elements than a batch, all of them full. */
static void read_maps_of_many_sizes(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 255, 256, 257, 512, 513, 1000, 2048 };
	struct hist_maps maps = { .whole_fd = -1, .key_size = sizeof(struct key), .keyed = true };
	struct dense *model = calloc(2048, sizeof(*model));
	struct hist_set set;
	u32 s, i;

	(void)state;
	assert_non_null(model);
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		memset(model, 0, 2048 * sizeof(*model));
		maps.keyed_fd = make_keyed_map(sizes[s], 0);
		assert_int_equal(hist_set__read(&set, &maps), 0);
		assert_int_equal(set.ngroups, 0);
		hist_set__free(&set);
		for (i = 0; i < sizes[s]; i++) {
			put_value(maps.keyed_fd, i, id_of(i), i);
			dense__add(&model[i], i);
		}
		assert_int_equal(hist_set__read(&set, &maps), 0);
		assert_set(&set, model, sizes[s]);
		hist_set__free(&set);
		close(maps.keyed_fd);
	}
	free(model);
}

static void the_newest_name_wins(void **state)
{
	struct hist_maps maps = { .whole_fd = -1, .key_size = sizeof(struct key), .keyed = true };
	struct hist_segment s = {};
	struct hist_set set;

	(void)state;
	maps.keyed_fd = make_keyed_map(16, 0);
	segment__add(&s, 5);
	s.name_stamp = 100;
	strcpy(s.name, "first");
	put_segment(maps.keyed_fd, 0, 0, id_of(1), &s);
	s.name_stamp = 300;
	strcpy(s.name, "third");
	put_segment(maps.keyed_fd, 1, 0, id_of(1), &s);
	s.name_stamp = 200;
	strcpy(s.name, "second");
	put_segment(maps.keyed_fd, 2, 0, id_of(1), &s);
	s.name_stamp = 1;
	memset(s.name, 'x', sizeof(s.name));    /* no NUL: not read beyond its end */
	put_segment(maps.keyed_fd, 0, 0, id_of(2), &s);
	assert_int_equal(hist_set__read(&set, &maps), 0);
	assert_int_equal(set.ngroups, 2);
	assert_string_equal(set.group[0].name, "third");
	assert_string_equal(set.group[1].name, "xxxxxxxxxxxxxxx");
	hist_set__free(&set);
	close(maps.keyed_fd);
}

/* The kernel creates an element before it adds a value. Until then, neither its key nor its name is shown. */
static void keys_without_values_are_left_out(void **state)
{
	struct hist_maps maps = { .whole_fd = -1, .key_size = sizeof(struct key), .keyed = true };
	struct hist_segment empty = { .name_stamp = 9, .name = "ghost" }, s = {};
	struct hist_set set;

	(void)state;
	maps.keyed_fd = make_keyed_map(16, 0);
	put_segment(maps.keyed_fd, 0, 0, id_of(1), &empty);
	segment__add(&s, 5);
	put_segment(maps.keyed_fd, 0, 0, id_of(2), &s);
	put_segment(maps.keyed_fd, 0, 0, id_of(3), &empty);
	assert_int_equal(hist_set__read(&set, &maps), 0);
	assert_int_equal(set.ngroups, 1);
	assert_memory_equal(set.group[0].key, &(u64){ id_of(2) }, sizeof(u64));
	assert_string_equal(set.group[0].name, "");
	hist_set__free(&set);
	close(maps.keyed_fd);
}

/* Nothing writes such segments. Their values must not be written outside the array. */
static void segments_out_of_range_are_ignored(void **state)
{
	struct hist_maps maps = { .whole_fd = -1, .key_size = sizeof(struct key), .keyed = true };
	struct hist_segment s = {};
	struct dense model = {};
	struct hist_set set;

	(void)state;
	maps.keyed_fd = make_keyed_map(16, 0);
	segment__add(&s, 5);
	dense__add(&model, 5);
	put_segment(maps.keyed_fd, 0, 0, id_of(1), &s);
	put_segment(maps.keyed_fd, 0, HIST_SEGMENTS, id_of(1), &s);
	put_segment(maps.keyed_fd, 0, UINT32_MAX, id_of(1), &s);
	assert_int_equal(hist_set__read(&set, &maps), 0);
	assert_int_equal(set.ngroups, 1);
	assert_histogram(&set.group[0].hist, &model);
	hist_set__free(&set);
	close(maps.keyed_fd);
}

/* Every bucket of every segment ends where its value belongs. */
static void all_segments_of_a_key(void **state)
{
	struct hist_maps maps = { .whole_fd = -1, .key_size = sizeof(struct key), .keyed = true };
	struct dense model[1] = {};
	struct hist_set set;
	u32 i;

	(void)state;
	maps.keyed_fd = make_keyed_map(64, 0);
	for (i = 0; i < HIST_BUCKETS; i++) {
		put_value(maps.keyed_fd, i % 2, id_of(0), histogram_bucket_first(i));
		put_value(maps.keyed_fd, i % 2, id_of(0), histogram_bucket_last(i));
		dense__add(model, histogram_bucket_first(i));
		dense__add(model, histogram_bucket_last(i));
	}
	assert_int_equal(hist_set__read(&set, &maps), 0);
	assert_set(&set, model, 1);
	assert_histogram(&set.group[0].hist, model);
	hist_set__free(&set);
	close(maps.keyed_fd);
}

static void read_whole_adds_up_the_cpus(void **state)
{
	struct hist_maps maps = { .keyed_fd = -1, .key_size = sizeof(struct key) };
	int ncpus = libbpf_num_possible_cpus(), cpu;
	struct hist_whole *per_cpu;
	struct random r = { 11 };
	struct dense model = {};
	struct hist_set set, untouched;
	u32 zero = 0, k;

	(void)state;
	assert_true(ncpus > 0);
	maps.whole_fd = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(*per_cpu), 1, 0);
	assert_int_equal(hist_set__read(&set, &maps), 0);
	assert_int_equal(set.ngroups, 1);       /* even without values */
	assert_histogram(&set.group[0].hist, &model);
	assert_null(set.group[0].key);
	hist_set__free(&set);

	per_cpu = calloc(ncpus, sizeof(*per_cpu));
	assert_non_null(per_cpu);
	for (k = 0; k < 5000; k++) {
		u64 v = random__any_size(&r);

		cpu = random__below(&r, ncpus);
		if (v > per_cpu[cpu].totals.max)
			per_cpu[cpu].totals.max = v;
		if (~v > per_cpu[cpu].totals.min_inv)
			per_cpu[cpu].totals.min_inv = ~v;
		per_cpu[cpu].totals.sum += v;
		per_cpu[cpu].totals.sum_high += wide_high(v, false);
		per_cpu[cpu].bucket[model_index(v)]++;
		dense__add(&model, v);
	}
	assert_int_equal(bpf_map_update_elem(maps.whole_fd, &zero, per_cpu, BPF_ANY), 0);
	assert_int_equal(hist_set__read(&set, &maps), 0);
	assert_int_equal(set.ngroups, 1);
	assert_int_equal(set.key_size, 0);
	assert_histogram(&set.group[0].hist, &model);
	hist_set__free(&set);
	free(per_cpu);
	close(maps.whole_fd);

	memset(&set, 0x5a, sizeof(set));
	untouched = set;
	assert_int_equal(hist_set__read(&set, &maps), -EBADF);
	assert_memory_equal(&set, &untouched, sizeof(set));
}

static void a_map_that_is_none_is_an_error(void **state)
{
	struct hist_maps maps = { -1, -1, sizeof(struct key), true, false, NULL };
	struct hist_set set, untouched;

	(void)state;
	memset(&set, 0x5a, sizeof(set));
	untouched = set;
	assert_true(hist_set__read(&set, &maps) < 0);
	maps.keyed = false;
	assert_true(hist_set__read(&set, &maps) < 0);
	assert_memory_equal(&set, &untouched, sizeof(set));
}

static void add_to_groups_and_make_them(void **state)
{
	static struct dense model[KEYS];
	struct hist_set set;
	u64 key;

	(void)state;
	dense__add(&model[3], 7);
	set = make_set(model, "name");
	key = *(const u64 *)set.group[0].key;
	assert_int_equal(hist_set__add(&set, &key, 0, 2), 0);
	assert_int_equal(set.ngroups, 1);
	assert_int_equal(set.group[0].hist.count, 3);
	assert_int_equal(set.group[0].hist.min, 0);
	assert_int_equal(set.group[0].hist.max, 7);
	assert_true(set.group[0].hist.sum == 7);

	key++;
	assert_int_equal(hist_set__add(&set, &key, 5, 0), 0);
	assert_int_equal(set.ngroups, 1);
	assert_int_equal(hist_set__add(&set, &key, 1000, 3), 0);
	assert_int_equal(set.ngroups, 2);
	assert_memory_equal(set.group[1].key, &key, sizeof(key));
	key--;
	assert_memory_equal(set.group[0].key, &key, sizeof(key));
	assert_string_equal(set.group[0].name, "name3");
	assert_int_equal(set.group[1].hist.count, 3);
	assert_int_equal(set.group[1].hist.min, 1000);
	assert_true(set.group[1].hist.sum == 3000);
	hist_set__free(&set);

	/* Without keys there is one group, from the first value on. */
	assert_int_equal(hist_set__add(&set, NULL, 0, 4), 0);
	assert_int_equal(set.ngroups, 1);
	assert_int_equal(hist_set__add(&set, NULL, 1, 4), 0);
	assert_int_equal(set.ngroups, 1);
	assert_int_equal(set.group[0].hist.count, 8);
	hist_set__free(&set);
}

static void find_by_key(void **state)
{
	struct dense model[KEYS] = {};
	struct hist_set set;
	u64 key;
	size_t i;

	(void)state;
	for (i = 0; i < KEYS; i += 2)
		dense__add(&model[i], i);
	set = make_set(model, "name");
	assert_int_equal(set.ngroups, (KEYS + 1) / 2);
	for (i = 0; i < set.ngroups; i++) {
		key = *(const u64 *)set.group[i].key;
		assert_ptr_equal(hist_set__find(&set, &key), &set.group[i].hist);
		key ^= 1ULL << 63;
		assert_null(hist_set__find(&set, &key));
	}
	hist_set__free(&set);
	assert_null(hist_set__find(&set, &key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference_by_key),
		cmocka_unit_test(difference_outlives_its_sets),
		cmocka_unit_test(difference_refuses_what_shrank),
		cmocka_unit_test(without_keys_there_is_always_one_group),
		cmocka_unit_test(free_of_nothing),
		cmocka_unit_test(add_to_groups_and_make_them),
		cmocka_unit_test(find_by_key),
		cmocka_unit_test(read_many_keys),
		cmocka_unit_test(read_many_keys_allocated_on_demand),
		cmocka_unit_test(read_maps_of_many_sizes),
		cmocka_unit_test(the_newest_name_wins),
		cmocka_unit_test(keys_without_values_are_left_out),
		cmocka_unit_test(segments_out_of_range_are_ignored),
		cmocka_unit_test(all_segments_of_a_key),
		cmocka_unit_test(read_whole_adds_up_the_cpus),
		cmocka_unit_test(a_map_that_is_none_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
