// SPDX-License-Identifier: BSD-2-Clause
/* --by, and the look of keys in a report. */
#include "unit.h"

#include "cli/task_key.h"
#include "host/cgroup_names.h"

static struct cgroup_names cgroups;

static void parts(void **state)
{
	static const struct {
		const char *text;
		u32 by;                 /* 0: refused */
		const char *bad;
	} cases[] = {
		{ "pid", BY_PID, NULL },
		{ "tid", BY_TID, NULL },
		{ "comm", BY_COMM, NULL },
		{ "cgroup", BY_CGROUP | BY_CGROUP_PATH, NULL },
		{ "container", BY_CGROUP | BY_CONTAINER, NULL },
		{ "unit", BY_CGROUP | BY_UNIT, NULL },
		{ "unit,cgroup", BY_CGROUP | BY_CGROUP_PATH | BY_UNIT, NULL },
		{ "cpu", BY_CPU, NULL },
		{ "pidns", BY_PIDNS, NULL },
		{ "uid", BY_UID, NULL },
		{ "cpu,pid", BY_CPU | BY_PID, NULL },
		{ "pid,cpu,pid", BY_CPU | BY_PID, NULL },
		{ "pid,tid,comm,cgroup,cpu,pidns,uid", ((1 << BY_PARTS) - 1) | BY_CGROUP_PATH, NULL },
		{ "", 0, "" },
		{ "pids", 0, "pids" },
		{ "pi", 0, "pi" },
		{ "PID", 0, "PID" },
		{ "pid,", 0, "" },
		{ ",pid", 0, "" },
		{ "pid,,cpu", 0, "" },
		{ "pid, cpu", 0, " cpu" },
		{ "pid,nonsense,cpu", 0, "nonsense" },
		{ "pid;cpu", 0, "pid;cpu" },
		{ "a-very-long-name-that-does-not-fit", 0, "a-very-long-nam" },
	};
	char bad[16];
	size_t i;
	u32 by;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		by = 0x5a5a;
		bad[0] = 0;
		assert_int_equal(task_key__parse(cases[i].text, NULL, &by, bad, sizeof(bad)),
				 cases[i].by ? 0 : -EINVAL);
		assert_int_equal(by, cases[i].by ?: 0x5a5a);
		if (cases[i].bad)
			assert_string_equal(bad, cases[i].bad);
	}
	assert_int_equal(task_key__parse(task_key_parts(), NULL, &by, bad, sizeof(bad)), -EINVAL);
	assert_string_equal(bad, " tid");       /* the list for people has blanks */
}

static struct hist_set make_set(const struct task_key *keys, const char *const *names, size_t n)
{
	struct hist_set set = { .key_size = sizeof(*keys), .ngroups = n };
	size_t i;

	set.group = calloc(n, sizeof(*set.group));
	set.keys = calloc(n, sizeof(*keys));
	assert_non_null(set.group);
	assert_non_null(set.keys);
	memcpy(set.keys, keys, n * sizeof(*keys));
	for (i = 0; i < n; i++) {
		struct dense d = {};

		dense__add(&d, 100 + i);
		set.group[i].key = set.keys + i * sizeof(*keys);
		set.group[i].hist = dense__histogram(&d);
		strncpy(set.group[i].name, names[i], HIST_NAME_LEN - 1);
	}
	return set;
}

static void fields_of_a_key(void **state)
{
	static const struct task_key key = {
		.cpu = 3, .pidns = 4026531836, .pid = 812, .tid = 813, .comm = "sixteen bytes no",
	};
	static const char *const name = "newest name";
	struct report report = { .tool = "t" };
	struct hist_set set = make_set(&key, &name, 1);
	const struct field *f;
	u32 by = BY_CPU | BY_PIDNS | BY_PID | BY_TID;

	(void)state;
	assert_int_equal(task_key__report(&report, &set, by, NULL, &cgroups), 0);
	assert_int_equal(report.ngroups, 1);
	assert_int_equal(report.group[0].hist.sum, 100);        /* moved */
	assert_null(set.group[0].hist.bucket);
	f = report.group[0].key;
	assert_int_equal(report.group[0].nkey, 5);
	assert_string_equal(f[0].name, "cpu");
	assert_int_equal(f[0].number, 3);
	assert_string_equal(f[1].name, "pidns");
	assert_int_equal(f[1].number, 4026531836);
	assert_string_equal(f[2].name, "pid");
	assert_int_equal(f[2].number, 812);
	assert_string_equal(f[3].name, "tid");
	assert_int_equal(f[3].number, 813);
	assert_string_equal(f[4].name, "comm");
	assert_string_equal(f[4].text, "newest name");
	assert_int_equal(f[4].role, ROLE_LABEL);
	hist_set__free(&set);
	report__free(&report);

	/* With BY_COMM, the comm is the one in the key, and is not read beyond its 16 bytes. */
	set = make_set(&key, &name, 1);
	assert_int_equal(task_key__report(&report, &set, BY_COMM, NULL, &cgroups), 0);
	assert_int_equal(report.group[0].nkey, 1);
	assert_string_equal(report.group[0].key[0].text, "sixteen bytes no");
	assert_int_equal(report.group[0].key[0].role, ROLE_KEY);
	hist_set__free(&set);
	report__free(&report);
}

struct own_key {
	struct task_key task;
	u64 disk;
};

static int add_disk(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct field f = { .name = "disk", .kind = FIELD_ID, .number = *(const u64 *)own };

	assert_string_equal(context, "the tool's");
	return by & BY_OWN(1) ? report_row__add_field(row, &f) : 0;
}

/* A tool's own parts follow the task's key in memory, can be named beside its parts, and are shown before them. */
static void parts_of_a_tool(void **state)
{
	static const char *const names[] = { "op", "disk" };
	const struct own_parts own = { names, 2, "op, disk", add_disk, "the tool's" };
	const struct own_key key = { { .pid = 7, .comm = "dd" }, 0x800001 };
	struct hist_set set = { .key_size = sizeof(key), .ngroups = 1 };
	struct report report = { .tool = "t" };
	struct dense d = {};
	char bad[16];
	u32 by;

	(void)state;
	assert_int_equal(task_key__parse("disk,comm", &own, &by, bad, sizeof(bad)), 0);
	assert_int_equal(by, BY_OWN(1) | BY_COMM);
	assert_int_equal(task_key__parse("op", &own, &by, bad, sizeof(bad)), 0);
	assert_int_equal(by, BY_OWN(0));
	assert_int_equal(task_key__parse("disk", NULL, &by, bad, sizeof(bad)), -EINVAL);
	assert_int_equal(task_key__parse("dis", &own, &by, bad, sizeof(bad)), -EINVAL);

	dense__add(&d, 5);
	set.group = calloc(1, sizeof(*set.group));
	set.keys = malloc(sizeof(key) + 1);
	assert_non_null(set.group);
	assert_non_null(set.keys);
	/* Keys may be unaligned. */
	set.group[0].key = memcpy(set.keys + 1, &key, sizeof(key));
	set.group[0].hist = dense__histogram(&d);
	assert_int_equal(task_key__report(&report, &set, BY_OWN(1) | BY_COMM, &own,
					  &cgroups), 0);
	assert_int_equal(report.group[0].nkey, 2);
	assert_string_equal(report.group[0].key[0].name, "disk");
	assert_int_equal(report.group[0].key[0].number, 0x800001);
	assert_string_equal(report.group[0].key[1].text, "dd");
	hist_set__free(&set);
	report__free(&report);
}

static void without_keys_no_fields(void **state)
{
	struct report report = { .tool = "t" };
	struct hist_set set = { .ngroups = 1 };
	struct dense d = {};

	(void)state;
	dense__add(&d, 5);
	set.group = calloc(1, sizeof(*set.group));
	assert_non_null(set.group);
	set.group[0].hist = dense__histogram(&d);
	assert_int_equal(task_key__report(&report, &set, 0, NULL, &cgroups), 0);
	assert_int_equal(report.ngroups, 1);
	assert_int_equal(report.group[0].nkey, 0);
	assert_histogram(&report.group[0].hist, &d);
	hist_set__free(&set);
	report__free(&report);
}

#define WEB_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Keys by cgroup; when keys become one in a view, their histograms add up. */
static void fields_of_cgroups(void **state)
{
	static const struct {
		u64 id;
		const char *path;       /* NULL: the cgroup is gone */
	} told[] = {
		{ 11, "/system.slice/docker-" WEB_ID ".scope/init" },
		{ 12, "/system.slice/nginx.service" },
		{ 13, NULL },
		{ 14, "/system.slice/docker-" WEB_ID ".scope/worker" },
		{ 15, "/" },
		{ 16, NULL },
	};
	static const struct {
		u32 by;
		size_t n, first;        /* number of groups, and of cgroups in the first one */
		const char *field[4], *text[4];
	} cases[] = {
		{ BY_CGROUP | BY_CGROUP_PATH, 6, 1, { "cgroup" }, { "/system.slice/docker-" WEB_ID ".scope/init" } },
		{ BY_CGROUP | BY_CONTAINER, 4, 2, { "container", "container_id" }, { "0123456789ab", "0123456789ab" } },
		{ BY_CGROUP | BY_UNIT, 5, 2, { "systemd_unit" }, { "docker-" WEB_ID ".scope" } },
		{ BY_CGROUP | BY_CONTAINER | BY_UNIT, 5, 2, { "container", "container_id", "systemd_unit" },
		  { "0123456789ab", "0123456789ab", "docker-" WEB_ID ".scope" } },
		{ BY_CGROUP | BY_CGROUP_PATH | BY_CONTAINER, 6, 1, { "cgroup", "container", "container_id" },
		  { "/system.slice/docker-" WEB_ID ".scope/init", "0123456789ab", "0123456789ab" } },
	};
	static const char *const names[ARRAY_SIZE(told)] = { "", "", "", "", "", "" };
	struct cgroup_names known = {};
	struct task_key keys[ARRAY_SIZE(told)];
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(told); i++) {
		keys[i] = (struct task_key){ .cgroup = told[i].id };
		assert_int_equal(cgroup_names__tell(&known, told[i].id, told[i].path), 0);
	}
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hist_set set = make_set(keys, names, ARRAY_SIZE(keys));
		struct report report = { .tool = "t" };
		u64 sum = 0, count = 0;

		assert_int_equal(task_key__report(&report, &set, cases[i].by, NULL, &known), 0);
		assert_int_equal(report.ngroups, cases[i].n);
		for (k = 0; k < report.ngroups; k++) {
			sum += report.group[k].hist.sum;
			count += report.group[k].hist.count;
		}
		assert_int_equal(count, ARRAY_SIZE(told));
		assert_int_equal(sum, 100 + 101 + 102 + 103 + 104 + 105);
		assert_int_equal(report.group[0].hist.count, cases[i].first);
		assert_int_equal(report.group[0].hist.min, 100);
		assert_int_equal(report.group[0].hist.max, cases[i].first > 1 ? 103 : 100);
		for (k = 0; k < ARRAY_SIZE(cases[i].field) && cases[i].field[k]; k++) {
			assert_string_equal(report.group[0].key[k].name, cases[i].field[k]);
			assert_string_equal(report.group[0].key[k].text, cases[i].text[k]);
			assert_int_equal(report.group[0].key[k].role == ROLE_LABEL,
					 !strcmp(cases[i].field[k], "container_id"));
		}
		assert_int_equal(report.group[0].nkey, k);
		hist_set__free(&set);
		report__free(&report);
	}
	cgroup_names__free(&known);
}

/* CSV has one header: all groups must have the same fields, also those of users without a name. */
static void users_without_a_name(void **state)
{
	static const struct task_key keys[] = { { .uid = 0 }, { .uid = 4123456789 } };
	static const char *const names[] = { "", "" };
	struct report report = { .tool = "t", .value = "v" };
	struct writer w = { .format = FORMAT_CSV, .separator = ',' };
	struct hist_set set = make_set(keys, names, 2);
	u32 commas[3] = {}, line;
	char *text, *p;
	size_t len;

	(void)state;
	assert_int_equal(task_key__report(&report, &set, BY_UID, NULL, &cgroups), 0);
	assert_int_equal(report.ngroups, 2);
	assert_string_equal(report.group[0].key[0].name, "uid");
	assert_int_equal(report.group[0].key[0].number, 0);
	assert_string_equal(report.group[0].key[1].name, "user");
	assert_string_equal(report.group[0].key[1].text, "root");
	assert_int_equal(report.group[1].key[0].number, 4123456789);
	text = written(&w, &report, &len);
	for (p = text, line = 0; *p; p++) {
		commas[line] += *p == ',';
		line += *p == '\n';
	}
	assert_int_equal(line, 3);
	assert_int_equal(commas[1], commas[0]);
	assert_int_equal(commas[2], commas[0]);
	free(text);
	hist_set__free(&set);
	report__free(&report);
}

static bool is_zero(const char *bytes, size_t n)
{
	while (n && !bytes[n - 1])
		n--;
	return !n;
}

/* Keys may be cut at this size: each part's data ends before it. */
static void sizes(void **state)
{
	static const struct {
		u32 by;
		struct task_key key;
	} parts[] = {
		{ BY_PID, { .pid = ~0U } }, { BY_TID, { .tid = ~0U } }, { BY_COMM, { .comm = "sixteen bytes no" } },
		{ BY_UID, { .uid = ~0U } }, { BY_CPU, { .cpu = ~0U } }, { BY_PIDNS, { .pidns = ~0U } },
		{ BY_CGROUP, { .cgroup = ~0ULL } },
	};
	size_t i, size;
	u32 by;

	(void)state;
	for (by = 0; by < 1 << BY_PARTS; by++) {
		size = task_key__size(by);
		assert_true(size && size <= sizeof(struct task_key) && size % 8 == 0);
		for (i = 0; i < ARRAY_SIZE(parts); i++)
			if (by & parts[i].by)
				assert_true(
					is_zero((const char *)&parts[i].key + size, sizeof(struct task_key) - size));
	}
	assert_int_equal(task_key__size(BY_PID), 8);
	assert_int_equal(task_key__size(BY_COMM), 24);
	assert_int_equal(task_key__size(BY_CGROUP), sizeof(struct task_key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(sizes),
		cmocka_unit_test(fields_of_a_key),
		cmocka_unit_test(parts_of_a_tool),
		cmocka_unit_test(without_keys_no_fields),
		cmocka_unit_test(fields_of_cgroups),
		cmocka_unit_test(users_without_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
