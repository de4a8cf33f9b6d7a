// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rules of triage on other machines: tests/data/triage/incidents.json has the figures of each staged incident and
 * each healthy load (tests/incidents/kept.py). With these figures scaled to a machine of another speed or size, or
 * beside other work, the right rule must still come first, and a healthy load must be no problem.
 */
#include "unit.h"

#include <jansson.h>
#include <math.h>

#include "machine/triage/rules.h"
#include "triage/rule.h"

#define KEPT "tests/data/triage/incidents.json"
#define MOST 64
/* The tool that has two lines, and a word that only one of them has. */
#define LINES "offcputime"
#define OPTION "ProcSleep"

struct machine {
	const char *what;
	double speed;           /* of its CPUs, relative to that of the figures */
	int cpus;
	double share; /* the most of its CPU time that an incident gets; below 1 another program has the rest */
	double loads;           /* this many loads at once, each with processes of its own */
	bool paced;             /* clocks and disks set the incident's rates */
};

/* With more CPUs, there is more of the healthy load, in proportion. */
static const struct machine full_machines[] = {
	{ "8 CPUs with as much to do", 1, 8, 1, 4, false }, { "64 CPUs with as much to do", 1, 64, 1, 32, false },
	{ "64 fast CPUs with as much to do", 2, 64, 1, 32, false },
};

static const struct machine machines[] = {
	{ "the same", 1, 2, 1, 1, false },
	{ "half as fast", 0.5, 2, 1, 1, false },
	{ "twice as fast", 2, 2, 1, 1, false },
	{ "four times as fast", 4, 2, 1, 1, false },
	{ "one CPU", 1, 1, 1, 1, false },
	{ "one slow CPU", 0.5, 1, 1, 1, false },
	{ "one fast CPU", 2, 1, 1, 1, false },
	{ "4 CPUs", 1, 4, 1, 1, false },
	{ "8 fast CPUs", 2, 8, 1, 1, false },
	{ "8 slow CPUs", 0.5, 8, 1, 1, false },
	{ "64 CPUs", 1, 64, 1, 1, false },
	{ "64 fast CPUs", 4, 64, 1, 1, false },
	{ "64 slow CPUs", 0.5, 64, 1, 1, false },
	{ "other work", 1, 2, 0.7, 1, false },
	{ "other work, fast", 2, 2, 0.7, 1, false },
	{ "other work on 8 CPUs", 1, 8, 0.7, 1, false },
};

static json_t *kept[MOST];
static size_t nkept;

static int load(void **state)
{
	FILE *f = fopen(KEPT, "re");
	char *line = NULL;
	size_t room = 0;

	(void)state;
	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		assert_true(nkept < MOST);
		kept[nkept] = json_loads(line, 0, NULL);
		assert_non_null(kept[nkept++]);
	}
	free(line);
	fclose(f);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	while (nkept)
		json_decref(kept[--nkept]);
	return 0;
}

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static double number_of(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

/*
 * --- figures of another machine ----------------------------------------------------------------
 */

/* Counts that grow with a program's CPU time. */
static bool is_rate(const char *name)
{
	return triage_word_is_in(name, "calls|count|minor|major|anon_growth|switches|retransmits|drops");
}

/* CPU time. */
static bool is_use(const char *name)
{
	return triage_word_is_in(name, "runtime|cpu_percent");
}

/* Time that each operation takes, which is shorter on a faster CPU. */
static bool is_length(const char *tool, const char *name)
{
	return triage_word_is_in(name, "avg|p50|p99|max") && strcmp(tool, "biolatency");
}

/* CPU time, in ns. */
static double used(const json_t *incident)
{
	double sum = 0;
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(incident, "rows"), i, each)
		sum += number_of(json_object_get(each, "row"), "runtime");
	return sum;
}

/* The part of its CPU time that an incident gets where there is less in all: at most all of it. */
static double fitting(const json_t *incident, const struct machine *m)
{
	double there = m->cpus * m->share * number_of(incident, "duration_ns");

	return used(incident) > there ? there / used(incident) : 1;
}

/* Whether several processes with one name share a row. */
static bool is_by_name(const char *tool)
{
	return !triage_word_is_in(tool, "schedlat|faults|futexstat");
}

static double scaled(const char *tool, const char *name, double value, const struct machine *m, double fits)
{
	double loads = is_by_name(tool) ? m->loads : 1;

	if (is_rate(name))
		return m->paced ? value * loads : value * m->speed * fits * loads;
	if (is_use(name))
		return m->paced ? value : value * fits;
	return is_length(tool, name) && !m->paced ? value / m->speed : value;
}

static void add_cell(struct report_row *row, const char *tool, const char *name, const json_t *cell,
		     const struct machine *m, double fits)
{
	struct field f = { .name = name, .kind = FIELD_REAL };

	if (json_is_string(cell)) {
		assert_int_equal(report_row__add_text(row, name, json_string_value(cell)), 0);
		return;
	}
	f.real = scaled(tool, name, json_number_value(cell), m, fits);
	if (triage_word_is_in(name, "pid|ppid|cpu|irq|lport|rport"))
		assert_int_equal(report_row__add_number(row, name, json_number_value(cell), FIELD_ID), 0);
	else
		assert_int_equal(report_row__add_field(row, &f), 0);
}

static void add_kept_row(struct report *r, json_t *each, const struct machine *m, double fits)
{
	size_t times = number_of(each, "times") ?: 1, i;
	const char *tool = text_of(each, "tool"), *name;
	json_t *cell;

	/* Each single event has a row. */
	if (times > 1)
		times = ceil(times * m->loads * (m->paced ? 1 : m->speed * fits));
	for (i = 0; i < times; i++) {
		struct report_row row = {};

		json_object_foreach(json_object_get(each, "row"), name, cell)
			add_cell(&row, tool, name, cell, m, fits);
		assert_int_equal(report__add_row(r, &row), 0);
	}
}

static const char neighbour[] = "neighbour";

/* Adds the program that has the rest of the CPU time, and waits for as long again. */
static void add_neighbour(struct report *r, const json_t *incident, const struct machine *m)
{
	double time = m->cpus * number_of(incident, "duration_ns") - used(incident) * fitting(incident, m);
	struct report_row row = {};

	if (m->share == 1 || strcmp(r->tool, "schedlat"))
		return;
	assert_int_equal(report_row__add_text(&row, "comm", neighbour), 0);
	assert_int_equal(report_row__add_number(&row, "pid", 4711, FIELD_ID), 0);
	assert_int_equal(report_row__add_number(&row, "runtime", time, FIELD_DURATION), 0);
	assert_int_equal(report_row__add_number(&row, "wait", time, FIELD_DURATION), 0);
	assert_int_equal(report_row__add_number(&row, "avg", 5000000, FIELD_DURATION), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

static bool same_option(const char *a, const char *b)
{
	return !strstr(a, OPTION) == !strstr(b, OPTION);
}

/* Takes a report of one of the lines that triage measures. */
static void take_line(struct triage *t, const char *line, json_t *incident, const struct machine *m)
{
	char tool[32];
	struct report r = {
		.tool = tool, .command = line, .duration_ns = number_of(incident, "duration_ns"), .cpus = m->cpus
	};
	json_t *each;
	size_t i;

	snprintf(tool, sizeof(tool), "%.*s", (int)strcspn(line, " "), line);
	json_array_foreach(json_object_get(incident, "rows"), i,
			   each) if (!strcmp(text_of(each, "tool"), tool) &&
				     (strcmp(tool, LINES) || same_option(text_of(each, "command"), line)))
		add_kept_row(&r, each, m, fitting(incident, m));
	add_neighbour(&r, incident, m);
	assert_int_equal(triage__take(t, &r), 0);
	report__free(&r);
}

static struct triage *looked_at(json_t *incident, const struct machine *m)
{
	struct triage *t = triage__new(triage_rules, triage_rule_count);
	size_t i;

	assert_non_null(t);
	for (i = 0; i < triage_line_count; i++)
		take_line(t, triage_lines[i], incident, m);
	return t;
}

/*
 * --- findings ----------------------------------------------------------------------------------
 */

/* Whether all evidence of a finding is the neighbour's. */
static bool is_neighbours(const struct triage_finding *f)
{
	size_t n = 0, i, k;

	for (k = 0; k < f->nkeys; k++)
		for (i = 0; i < f->key[k]->row.ncells; i++)
			n += f->key[k]->row.cell[i].text && !strcmp(f->key[k]->row.cell[i].text, neighbour);
	return n == f->nkeys;
}

static bool is_in(const json_t *list, const char *text)
{
	json_t *each;
	size_t i;

	json_array_foreach(list, i, each)
		if (!strcmp(json_string_value(each), text))
			return true;
	return false;
}

static void tell(const json_t *incident, const struct machine *m, const struct triage_finding *f)
{
	size_t i;

	print_error("%s on %s:\n", text_of(incident, "incident"), m->what);
	for (i = 0; i < triage_rule_count && f[i].level != TRIAGE_FINE; i++) {
		char *sentence = triage_sentence(&f[i]);

		print_error("  %s %s: %s\n", f[i].level == TRIAGE_PROBLEM ? "PROBLEM" : "notice ", f[i].rule->name,
			    sentence);
		free(sentence);
	}
}

/* The first finding of at least this level that is not about the neighbour; NULL: there is none. */
static const struct triage_finding *first(const struct triage_finding *f, enum triage_level least)
{
	size_t i;

	for (i = 0; i < triage_rule_count && f[i].level != TRIAGE_FINE; i++)
		if (f[i].level >= least && !is_neighbours(&f[i]))
			return &f[i];
	return NULL;
}

static bool is_right(json_t *incident, const struct machine *m)
{
	struct triage *t = looked_at(incident, m);
	struct triage_finding *f = triage__findings(t, m->cpus);
	const json_t *wanted = json_object_get(incident, "first");
	const struct triage_finding *found = first(f, wanted ? TRIAGE_NOTICE : TRIAGE_PROBLEM);
	bool right = wanted ? found && is_in(wanted, found->rule->name) : !found;

	assert_non_null(f);
	if (!right)
		tell(incident, m, f);
	free(f);
	triage__free(t);
	return right;
}

/* A task that may use only one CPU waits like all others if no other CPU is idle: nothing tells them apart. */
static bool cannot_be_told(const json_t *incident, const struct machine *m)
{
	return !strcmp(text_of(incident, "incident"), "run-queue") && m->share < 1 && m->cpus > 2;
}

static void look_at_all(bool healthy, const struct machine *machine, size_t n)
{
	size_t i, k, wrong = 0, looked = 0;

	for (i = 0; i < nkept; i++) {
		if (!json_object_get(kept[i], "first") != healthy)
			continue;
		looked++;
		for (k = 0; k < n; k++) {
			struct machine m = machine[k];

			m.paced = json_is_true(json_object_get(kept[i], "paced"));
			wrong += !cannot_be_told(kept[i], &m) && !is_right(kept[i], &m);
		}
	}
	assert_true(looked >= (healthy ? 5 : 20));
	assert_int_equal(wrong, 0);
}

static void test_the_right_one_is_first_everywhere(void **state)
{
	(void)state;
	look_at_all(false, machines, ARRAY_SIZE(machines));
}

static void test_what_is_well_is_well_everywhere(void **state)
{
	(void)state;
	look_at_all(true, machines, ARRAY_SIZE(machines));
	look_at_all(true, full_machines, ARRAY_SIZE(full_machines));
}

/* Whether so many drops for that reason are a finding. */
static bool drops_are_found(const char *reason)
{
	struct triage *t = triage__new(triage_rules, triage_rule_count);
	struct report r = { .tool = "netdrop", .duration_ns = NSEC_PER_SEC };
	struct report_row row = {};
	struct triage_finding *f;
	bool found;

	assert_non_null(t);
	assert_int_equal(report_row__add_text(&row, "reason", reason), 0);
	assert_int_equal(report_row__add_text(&row, "location", "somewhere+0x1"), 0);
	assert_int_equal(report_row__add_number(&row, "drops", 1000, FIELD_NUMBER), 0);
	assert_int_equal(report__add_row(&r, &row), 0);
	assert_int_equal(triage__take(t, &r), 0);
	f = triage__findings(t, 2);
	assert_non_null(f);
	found = f[0].level != TRIAGE_FINE;
	free(f);
	triage__free(t);
	report__free(&r);
	return found;
}

/* A program that closes a socket before it has read all loses nothing that it wanted. */
static void test_drops_that_are_expected(void **state)
{
	(void)state;
	assert_false(drops_are_found("SOCKET_CLOSE") || drops_are_found("QUEUE_PURGE") || drops_are_found("NO_SOCKET"));
	assert_true(drops_are_found("SOCKET_RCVBUFF") && drops_are_found("NETFILTER_DROP") &&
		    drops_are_found("TCP_LISTEN_OVERFLOW"));
}

/* Whether waits of so many tasks on average are a finding. owner: 0: none. */
static bool waits_are_found(const char *op, u64 owner, double tasks)
{
	struct triage *t = triage__new(triage_rules, triage_rule_count);
	struct report r = { .tool = "futexstat", .duration_ns = NSEC_PER_SEC };
	struct report_row row = {};
	struct triage_finding *f;
	bool found;

	assert_non_null(t);
	assert_int_equal(report_row__add_text(&row, "op", op), 0);
	assert_int_equal(report_row__add_number(&row, "owner", owner, owner ? FIELD_ID : FIELD_NONE), 0);
	assert_int_equal(report_row__add_text(&row, "result", "woken"), 0);
	assert_int_equal(report_row__add_number(&row, "pid", 7, FIELD_ID), 0);
	assert_int_equal(report_row__add_number(&row, "count", 10, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_number(&row, "total", tasks * NSEC_PER_SEC, FIELD_DURATION), 0);
	assert_int_equal(report__add_row(&r, &row), 0);
	assert_int_equal(triage__take(t, &r), 0);
	f = triage__findings(t, 2);
	assert_non_null(f);
	found = f[0].level != TRIAGE_FINE;
	assert_true(!found || !strcmp(f[0].rule->name, "locks"));
	free(f);
	triage__free(t);
	report__free(&r);
	return found;
}

/* The idle threads of a pool wait for a condition, which has no owner, and those of Rust's for a mutex without one. */
static void test_waits_for_mutexes(void **state)
{
	(void)state;
	assert_true(waits_are_found("wait", 8, 1.01) && waits_are_found("lock_pi", 8, 6));
	assert_false(waits_are_found("wait", 8, 0.99));
	assert_false(waits_are_found("wait", 0, 100) || waits_are_found("wait_bitset", 8, 100));
}

static void add_task(struct report *r, const char *comm, u64 pid, double cpus, double waits)
{
	struct report_row row = {};

	assert_int_equal(report_row__add_text(&row, "comm", comm), 0);
	assert_int_equal(report_row__add_number(&row, "pid", pid, FIELD_ID), 0);
	assert_int_equal(report_row__add_number(&row, "runtime", cpus * NSEC_PER_SEC, FIELD_DURATION), 0);
	assert_int_equal(report_row__add_number(&row, "wait", waits * NSEC_PER_SEC, FIELD_DURATION), 0);
	assert_int_equal(report_row__add_number(&row, "avg", 5000000, FIELD_DURATION), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

/* Whether a victim is found beside a neighbour, of 2 CPUs each uses so many. */
static bool is_crowded_out(double neighbours, double its, double waits)
{
	struct triage *t = triage__new(triage_rules, triage_rule_count);
	struct report r = { .tool = "schedlat", .duration_ns = NSEC_PER_SEC };
	struct triage_finding *f;
	bool found = false;
	char *sentence;
	size_t i;

	assert_non_null(t);
	add_task(&r, "hog", 7, neighbours, 3);
	add_task(&r, "victim", 8, its, waits);
	assert_int_equal(triage__take(t, &r), 0);
	f = triage__findings(t, 2);
	assert_non_null(f);
	for (i = 0; i < triage_rule_count; i++) {
		if (strcmp(f[i].rule->name, "crowded-out") || f[i].level == TRIAGE_FINE)
			continue;
		found = true;
		sentence = triage_sentence(&f[i]);
		assert_non_null(strstr(sentence, "victim (pid 8) needs little"));
		assert_non_null(strstr(sentence, "hog (pid 7) takes"));
		free(sentence);
	}
	free(f);
	triage__free(t);
	report__free(&r);
	return found;
}

/* The neighbour waits as well, but has most of the CPUs. */
static void test_victims_of_a_neighbour(void **state)
{
	(void)state;
	assert_true(is_crowded_out(1.5, 0.2, 0.4) && is_crowded_out(0.5, 0.29, 0.3));
	assert_false(is_crowded_out(1.5, 0.3, 0.4));    /* it needs much itself */
	assert_false(is_crowded_out(1.5, 0.2, 0.29));
	assert_false(is_crowded_out(0.49, 0.2, 0.4));   /* nobody takes the CPUs */
}

/* A row of vitals for 10 s, with one figure set. */
struct vital_row {
	const char *area, *vital, *object, *figure;
	double value;
	const char *finding;    /* the rule that finds it */
	enum triage_level level;
};

static const struct vital_row vital_rows[] = {
	{ "cpu", "steal", "-", "share_percent", 10, NULL, TRIAGE_FINE },
	{ "cpu", "steal", "-", "share_percent", 25, "steal", TRIAGE_NOTICE },
	{ "cpu", "steal", "-", "share_percent", 41, "steal", TRIAGE_PROBLEM },
	{ "cpu", "idle", "-", "share_percent", 99, NULL, TRIAGE_FINE },
	{ "memory", "pressure_full", "-", "share_percent", 4, NULL, TRIAGE_FINE },
	{ "memory", "pressure_full", "-", "share_percent", 20, "memory-stalls", TRIAGE_PROBLEM },
	{ "io", "pressure_full", "-", "share_percent", 100, "disk-stalls", TRIAGE_NOTICE },
	{ "io", "pressure_some", "-", "share_percent", 100, NULL, TRIAGE_FINE },
	{ "files", "used", "/", "limit_percent", 94, NULL, TRIAGE_FINE },
	{ "files", "used", "/", "limit_percent", 95, "full-file-system", TRIAGE_NOTICE },
	{ "files", "inodes", "/", "limit_percent", 100, "inodes", TRIAGE_PROBLEM },
	/* The file system was read-only before, or has become so. */
	{ "files", "read_only", "/cdrom", "value", 1, NULL, TRIAGE_FINE },
	{ "files", "read_only", "/", "count", 1, "read-only", TRIAGE_PROBLEM },
	{ "files", "descriptors", "-", "limit_percent", 90, "descriptors", TRIAGE_NOTICE },
	{ "files", "nofile", "a (1)", "limit_percent", 89, NULL, TRIAGE_FINE },
	{ "files", "nofile", "a (1)", "limit_percent", 94, "process-descriptors", TRIAGE_NOTICE },
	{ "files", "nofile", "a (1)", "limit_percent", 95, "process-descriptors", TRIAGE_PROBLEM },
	{ "tasks", "threads", "-", "limit_percent", 99, "tasks", TRIAGE_PROBLEM },
	/* The page cache fills the memory that there is. */
	{ "cgroup", "memory", "/a", "limit_percent", 100, NULL, TRIAGE_FINE },
	{ "cgroup", "memory_limit_hits", "/a", "count", 499, NULL, TRIAGE_FINE },
	{ "cgroup", "memory_limit_hits", "/a", "count", 500, "cgroup-memory", TRIAGE_NOTICE },
	{ "cgroup", "memory_high_hits", "/a", "count", 100, "cgroup-memory-high", TRIAGE_NOTICE },
	{ "cgroup", "io_max_wiops", "/a sda", "share_percent", 89.9, NULL, TRIAGE_FINE },
	{ "cgroup", "io_max_wiops", "/a sda", "share_percent", 90, "io-limit", TRIAGE_NOTICE },
	{ "cgroup", "io_max_rbps", "/a sda", "share_percent", 100, "io-limit", TRIAGE_NOTICE },
	/* Stalls out of 10 s. */
	{ "cgroup", "memory_pressure_full", "/a", "count", 0.9e9, NULL, TRIAGE_FINE },
	{ "cgroup", "memory_pressure_full", "/a", "count", 1e9, "cgroup-memory-stalls", TRIAGE_NOTICE },
	{ "cgroup", "memory_pressure_full", "/a", "count", 4e9, "cgroup-memory-stalls", TRIAGE_PROBLEM },
	/* A backup waits for its disk all the time, and a worker for its one CPU. */
	{ "cgroup", "io_pressure_full", "/a", "count", 10e9, NULL, TRIAGE_FINE },
	{ "cgroup", "cpu_pressure_some", "/a", "count", 10e9, NULL, TRIAGE_FINE },
	{ "cgroup", "oom_kills", "/a", "count", 1, "cgroup-oom", TRIAGE_PROBLEM },
	{ "cgroup", "pids", "/a", "limit_percent", 100, "cgroup-tasks", TRIAGE_NOTICE },
	{ "cgroup", "forks_refused", "/a", "count", 1, "forks-refused", TRIAGE_PROBLEM },
	{ "net", "listen_overflows", "-", "count", 1, "listen-queues", TRIAGE_NOTICE },
	{ "net", "syncookies", "-", "count", 10, "listen-queues", TRIAGE_PROBLEM },
	{ "net", "conntrack", "-", "limit_percent", 89, NULL, TRIAGE_FINE },
	{ "net", "conntrack", "-", "limit_percent", 99, "connection-tracking", TRIAGE_PROBLEM },
	{ "net", "rx_errors", "eth0", "count", 9, NULL, TRIAGE_FINE },
	{ "net", "rx_errors", "eth0", "count", 10, "interface-errors", TRIAGE_NOTICE },
	{ "net", "rx_drops", "eth0", "count", 20, NULL, TRIAGE_FINE },
	{ "net", "softnet_drops", "-", "count", 1000, "interface-drops", TRIAGE_PROBLEM },
	{ "net", "retransmits", "-", "count", 1000, NULL, TRIAGE_FINE },
	{ "kernel", "messages", "io_error", "count", 1, "disk-errors", TRIAGE_PROBLEM },
	{ "kernel", "messages", "hung_task", "count", 1, "hung-tasks", TRIAGE_PROBLEM },
	{ "kernel", "messages", "lockup", "count", 1, "hung-tasks", TRIAGE_PROBLEM },
	{ "kernel", "messages", "rcu_stall", "count", 1, "hung-tasks", TRIAGE_PROBLEM },
	{ "kernel", "messages", "hardware_error", "count", 1, "kernel-errors", TRIAGE_PROBLEM },
	{ "kernel", "messages", "bug", "count", 1, "kernel-errors", TRIAGE_PROBLEM },
	{ "kernel", "messages", "file_system_error", "count", 1, "kernel-errors", TRIAGE_PROBLEM },
	{ "kernel", "messages", "clock_unstable", "count", 1, NULL, TRIAGE_FINE },
	{ "kernel", "messages_lost", "-", "count", 1, NULL, TRIAGE_FINE },
};

static void look_at_vital(const struct vital_row *v)
{
	struct triage *t = triage__new(triage_rules, triage_rule_count);
	struct report r = { .tool = "vitals", .duration_ns = 10 * NSEC_PER_SEC };
	struct field figure = { .name = v->figure, .kind = FIELD_REAL, .real = v->value };
	struct report_row row = {};
	struct triage_finding *f;

	assert_non_null(t);
	assert_int_equal(report_row__add_text(&row, "area", v->area), 0);
	assert_int_equal(report_row__add_text(&row, "vital", v->vital), 0);
	assert_int_equal(report_row__add_text(&row, "object", v->object), 0);
	assert_int_equal(report_row__add_field(&row, &figure), 0);
	assert_int_equal(report__add_row(&r, &row), 0);
	assert_int_equal(triage__take(t, &r), 0);
	f = triage__findings(t, 2);
	assert_non_null(f);
	if (f[0].level != v->level || (v->finding && strcmp(f[0].rule->name, v->finding)))
		fail_msg("%s %s %s = %g: %s", v->vital, v->object, v->figure, v->value, f[0].rule->name);
	assert_int_equal(f[1].level, TRIAGE_FINE);
	free(f);
	triage__free(t);
	report__free(&r);
}

static void test_vitals(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(vital_rows); i++)
		look_at_vital(&vital_rows[i]);
}

static void add_stall(struct report *r, const char *kind, double tasks)
{
	struct report_row row = {};

	assert_int_equal(report_row__add_text(&row, "comm", "sleeper"), 0);
	assert_int_equal(report_row__add_text(&row, "cgroup", "/high"), 0);
	assert_int_equal(report_row__add_text(&row, "kind", kind), 0);
	assert_int_equal(report_row__add_number(&row, "count", 1000, FIELD_NUMBER), 0);
	assert_int_equal(report_row__add_number(&row, "total", tasks * NSEC_PER_SEC, FIELD_DURATION), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

static void add_faults(struct report *r, u64 major)
{
	struct report_row row = {};

	assert_int_equal(report_row__add_text(&row, "comm", "sleeper"), 0);
	assert_int_equal(report_row__add_number(&row, "pid", 7, FIELD_ID), 0);
	assert_int_equal(report_row__add_number(&row, "major", major, FIELD_NUMBER), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

/* The level of the finding memory-high, which is the first one unless it is fine. reclaim: what that rule finds. */
static enum triage_level level_of_high(double high, double memcg, enum triage_level *reclaim)
{
	struct triage *t = triage__new(triage_rules, triage_rule_count);
	struct report stalls = { .tool = "reclaim", .duration_ns = NSEC_PER_SEC };
	struct report faults = { .tool = "faults", .duration_ns = NSEC_PER_SEC };
	enum triage_level level = TRIAGE_FINE;
	struct triage_finding *f;
	char *sentence, *next;
	size_t i;

	assert_non_null(t);
	add_stall(&stalls, "high", high);
	add_stall(&stalls, "memcg", memcg);
	add_faults(&faults, 1000);
	assert_int_equal(triage__take(t, &stalls), 0);
	assert_int_equal(triage__take(t, &faults), 0);
	f = triage__findings(t, 2);
	assert_non_null(f);
	for (i = 0; i < triage_rule_count; i++)
		if (!strcmp(f[i].rule->name, "reclaim"))
			*reclaim = f[i].level;
	if (!strcmp(f[0].rule->name, "memory-high")) {
		level = f[0].level;
		sentence = triage_sentence(&f[0]);
		next = triage_next(&f[0]);
		assert_non_null(strstr(sentence, "sleeper in cgroup /high"));
		assert_string_equal(next, "reclaim --by pid -G /high 1");
		free(sentence);
		free(next);
	}
	free(f);
	triage__free(t);
	report__free(&stalls);
	report__free(&faults);
	return level;
}

/* Sleeps above memory.high come before what follows from them, and are not reclaim. */
static void test_sleeps_above_high(void **state)
{
	enum triage_level reclaim;

	(void)state;
	assert_int_equal(level_of_high(0.5, 0.2, &reclaim), TRIAGE_PROBLEM);
	assert_int_equal(reclaim, TRIAGE_PROBLEM);
	assert_int_equal(level_of_high(0.11, 0.01, &reclaim), TRIAGE_PROBLEM);
	assert_int_equal(reclaim, TRIAGE_FINE);
	assert_int_equal(level_of_high(0.01, 0.03, &reclaim), TRIAGE_FINE);
	assert_int_equal(reclaim, TRIAGE_NOTICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_right_one_is_first_everywhere),
		cmocka_unit_test(test_what_is_well_is_well_everywhere),
		cmocka_unit_test(test_drops_that_are_expected),
		cmocka_unit_test(test_waits_for_mutexes),
		cmocka_unit_test(test_victims_of_a_neighbour),
		cmocka_unit_test(test_vitals),
		cmocka_unit_test(test_sleeps_above_high),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
