// SPDX-License-Identifier: BSD-2-Clause
/* Cgroups of the same name are merged in each kind of set: nothing is lost or added, and other keys stay separate. */
#include "unit.h"

#include "cli/key_view.h"
#include "events/stat/counts.h"
#include "host/cgroup_names.h"

#define CGROUPS 12
#define PIDS 5
#define ID(i) #i "23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Cgroup c belongs to container c % 3 (0: none) and to unit c % 2. */
static struct cgroup_names cgroups;

static int tell_cgroups(void **state)
{
	static const char *const parents[] = { "", "/docker/" ID(11), "/docker/" ID(12) };
	char path[256];
	u64 c;
	int err = 0;

	(void)state;
	cgroups.files.root = "/nonexistent";
	/* Ids are not in the order of the names. */
	for (c = 0; c < CGROUPS; c++) {
		snprintf(path, sizeof(path), "%s/u%llu.service/%llu", parents[c % 3], c % 2, c);
		err = cgroup_names__tell(&cgroups, 1000 - 7 * c, path) ?: err;
	}
	return err;
}

static int forget_cgroups(void **state)
{
	(void)state;
	cgroup_names__free(&cgroups);
	return 0;
}

static struct task_key key_of(u32 cgroup, u32 pid)
{
	return (struct task_key){ .cgroup = 1000 - 7 * cgroup, .pid = pid };
}

static u32 cgroup_of(const struct task_key *key)
{
	return (1000 - key->cgroup) / 7;
}

/* Returns the number of a cgroup's name: one of 3 containers, of 2 units, or of both. */
static u32 name_of(u32 cgroup, u32 by)
{
	if (by & BY_CGROUP_PATH)
		return cgroup;
	return (by & BY_CONTAINER ? cgroup % 3 : 0) + (by & BY_UNIT ? 3 * (cgroup % 2) : 0);
}

static const u32 bys[] = {
	BY_CGROUP | BY_CONTAINER, BY_CGROUP | BY_UNIT, BY_CGROUP | BY_CONTAINER | BY_UNIT,
	BY_CGROUP | BY_CGROUP_PATH, BY_CGROUP | BY_CGROUP_PATH | BY_UNIT,
};

/* The expected values, by name and pid. */
struct model {
	u64 n, sum, longest;
	struct dense dense;
	char newest[16];
	u64 stamp;
};

static struct model model[CGROUPS][PIDS];

static size_t in_model(void)
{
	size_t n = 0, i, k;

	for (i = 0; i < CGROUPS; i++)
		for (k = 0; k < PIDS; k++)
			n += model[i][k].n != 0;
	return n;
}

static struct model *model_of(const struct task_key *key, u32 by)
{
	return &model[name_of(cgroup_of(key), by)][key->pid];
}

static void histograms(void **state)
{
	struct random r = { 3 };
	size_t round, i;

	(void)state;
	for (round = 0; round < 100; round++) {
		u32 by = bys[round % ARRAY_SIZE(bys)], c, pid;
		struct task_key_names names = { .cgroups = &cgroups };
		const struct key_view view = { by, &names, 0 };
		struct hist_set set = { .key_size = sizeof(struct task_key) };

		memset(model, 0, sizeof(model));
		set.group = calloc(CGROUPS * PIDS, sizeof(*set.group));
		set.keys = calloc(CGROUPS * PIDS, set.key_size);
		assert_non_null(set.group);
		assert_non_null(set.keys);
		for (c = 0; c < CGROUPS; c++) {
			for (pid = 0; pid < PIDS; pid++) {
				struct hist_group *g = &set.group[set.ngroups];
				struct task_key key = key_of(c, pid);
				struct model *m = model_of(&key, by);
				struct dense d = {};

				if (!random__below(&r, 3))
					continue;
				for (i = 1 + random__below(&r, 4); i; i--) {
					u64 v = random__any_size(&r);

					dense__add(&d, v);
					dense__add(&m->dense, v);
				}
				g->key = memcpy(set.keys + set.ngroups++ * set.key_size, &key, sizeof(key));
				g->hist = dense__histogram(&d);
				g->name_stamp = 1 + random__below(&r, 1000000);
				snprintf(g->name, sizeof(g->name), "%llu", g->name_stamp);
				m->n++;
				if (g->name_stamp > m->stamp) {
					m->stamp = g->name_stamp;
					strcpy(m->newest, g->name);
				}
			}
		}
		cgroup_names__begin(&cgroups);
		assert_int_equal(key_view__hist_set(&view, &set), 0);
		assert_int_equal(set.ngroups, in_model());
		for (i = 0; i < set.ngroups; i++) {
			const struct hist_group *g = &set.group[i];
			struct model *m = model_of(g->key, by);

			assert_histogram(&g->hist, &m->dense);
			assert_string_equal(g->name, m->newest);
			assert_true(by & BY_CGROUP_PATH || !i ||
				    memcmp(set.group[i - 1].key, g->key, set.key_size) < 0);
		}
		hist_set__free(&set);
		task_key_names__free(&names);
	}
}

static void counts(void **state)
{
	struct random r = { 4 };
	size_t round, i;

	(void)state;
	for (round = 0; round < 100; round++) {
		u32 by = bys[round % ARRAY_SIZE(bys)];
		struct task_key_names names = { .cgroups = &cgroups };
		const struct key_view view = { by, &names, 0 };
		struct counts set = {};
		u64 before[2] = {}, after[2] = {};

		memset(model, 0, sizeof(model));
		for (i = 0; i < 200; i++) {
			struct count each = {
				.key = key_of(random__below(&r, CGROUPS), random__below(&r, PIDS)),
				.place = COUNT_EVERYWHERE,
				.row = random__below(&r, 2),
				.value = random__below(&r, 1000),
				.enabled_ns = 10,
				.running_ns = 5,
			};
			struct model *m = model_of(&each.key, by);

			m->n++;
			m->sum += each.row ? each.value << 32 : each.value;
			before[each.row] += each.value;
			assert_int_equal(counts__add(&set, &each), 0);
		}
		cgroup_names__begin(&cgroups);
		counts__settle(&set);
		if (key_view__merges(&view))
			counts__regroup(&set, key_view__change, (void *)&view);
		assert_int_equal(names.err, 0);
		for (i = 0; i < set.n; i++) {
			struct model *m = model_of(&set.count[i].key, by);

			/* Rows, which are events, stay separate, and each occurs once. */
			m->sum -= set.count[i].row ? set.count[i].value << 32 : set.count[i].value;
			after[set.count[i].row] += set.count[i].value;
			assert_int_equal(set.count[i].enabled_ns, 2 * set.count[i].running_ns);
			assert_true(!i ||
				    memcmp(&set.count[i - 1].key, &set.count[i].key, sizeof(struct task_key)) < 0 ||
				    set.count[i - 1].row < set.count[i].row);
		}
		for (i = 0; i < CGROUPS * PIDS; i++)
			assert_int_equal(model[i / PIDS][i % PIDS].sum, 0);
		assert_true(set.n <= 2 * in_model());
		assert_memory_equal(before, after, sizeof(before));
		counts__free(&set);
	}
}

/* The key of a task comes after the tool's own part, which distinguishes rows, too. */
struct row {
	struct {
		u64 own;
		struct task_key task;
	} key;
	u64 sum[2];
};

static const struct sum_layout layout = {
	.key_size = sizeof(((struct row *)0)->key),
	.value_size = 2 * sizeof(u64),
	.writer_at = SUM_NO_WRITER,
	.nsums = 2,
};

static void sums(void **state)
{
	struct random r = { 6 };
	size_t round, i;

	(void)state;
	for (round = 0; round < 100; round++) {
		u32 by = bys[round % ARRAY_SIZE(bys)];
		struct task_key_names names = { .cgroups = &cgroups };
		const struct key_view view = { by, &names, offsetof(struct row, key.task) };
		struct sum_set set = { .layout = &layout, .n = 100 };
		struct row *e = calloc(set.n, sizeof(*e));
		u64 own[3] = {};

		assert_non_null(e);
		set.element = (char *)e;
		memset(model, 0, sizeof(model));
		for (i = 0; i < set.n; i++) {
			e[i].key.own = random__below(&r, 3);
			e[i].key.task = key_of(random__below(&r, CGROUPS), random__below(&r, PIDS));
			e[i].sum[0] = 1;
			e[i].sum[1] = random__below(&r, 1000);
			own[e[i].key.own]++;
			model_of(&e[i].key.task, by)->n++;
			model_of(&e[i].key.task, by)->sum += e[i].sum[1];
		}
		cgroup_names__begin(&cgroups);
		key_view__sum_set(&view, &set);
		/* All three values of own may occur; only elements whose keys always differed are not merged. */
		assert_true(set.n <= (by & BY_CGROUP_PATH ? 100 : 3 * in_model()));
		for (i = 0; i < set.n; i++) {
			struct model *m;

			e = (struct row *)(uintptr_t)sum_set__at(&set, i);
			m = model_of(&e->key.task, by);
			own[e->key.own] -= e->sum[0];
			m->n -= e->sum[0];
			m->sum -= e->sum[1];
			assert_true(by & BY_CGROUP_PATH || !i ||
				    memcmp(sum_set__at(&set, i - 1), e, layout.key_size) < 0);
		}
		for (i = 0; i < CGROUPS * PIDS; i++)
			assert_int_equal(model[i / PIDS][i % PIDS].sum + model[i / PIDS][i % PIDS].n, 0);
		assert_int_equal(own[0] + own[1] + own[2], 0);
		sum_set__free(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histograms),
		cmocka_unit_test(counts),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, tell_cgroups, forget_cgroups);
}
