// SPDX-License-Identifier: BSD-2-Clause
/* PMUs of a recorded sysfs: the PMUs that a text selects, the bits of their fields, and the resulting sites. */
#include "unit.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/event.h"
#include "event/sysfs.h"

#define PMUS "tests/data/pmus"
#define HYBRID "tests/data/pmus_hybrid"

static void fields(void **state)
{
	static const struct {
		const char *text;
		u32 word;
		u64 bits;               /* 0: refused */
	} cases[] = {
		{ "config:0-7", 0, 0xff },
		{ "config:8", 0, 0x100 },
		{ "config:63", 0, 1ULL << 63 },
		{ "config:0-63", 0, UINT64_MAX },
		{ "config1:0-15", 1, 0xffff },
		{ "config2:32-63", 2, 0xffffffff00000000 },
		{ "config3:0", 3, 1 },
		{ "config:0-7,32-35", 0, 0xf000000ff },
		{ "config:32-35,0-7", 0, 0xf000000ff },
		{ "config:1,3,5-6", 0, 0x6a },
		{ "config:0-7,21", 0, 0x2000ff },
		{ "", 0, 0 },
		{ "config", 0, 0 },
		{ "config:", 0, 0 },
		{ "config:64", 0, 0 },
		{ "config:0-64", 0, 0 },
		{ "config:7-0", 0, 0 },
		{ "config:-1", 0, 0 },
		{ "config:0-", 0, 0 },
		{ "config:0,", 0, 0 },
		{ "config:0 ", 0, 0 },
		{ "config:0x1", 0, 0 },
		{ "config4:0", 0, 0 },
		{ "config0:0", 0, 0 },
		{ "config11:0", 0, 0 },
		{ "konfig:0", 0, 0 },
		{ "config:18446744073709551616", 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pmu_field f = { 77, 77 };
		int err = pmu_field__parse(&f, cases[i].text);

		if (err != (cases[i].bits ? 0 : -EINVAL))
			fail_msg("'%s' gives %d", cases[i].text, err);
		assert_int_equal(f.word, cases[i].bits ? cases[i].word : 77);
		assert_int_equal(f.bits, cases[i].bits ?: 77);
	}
}

/* Packs bit by bit, lowest first, as the ABI document says. */
static u64 model_pack(u64 bits, u64 word, u64 value)
{
	u32 from = 0, to;

	for (to = 0; to < 64; to++) {
		if (!(bits >> to & 1))
			continue;
		word &= ~(1ULL << to);
		word |= (value >> from++ & 1) << to;
	}
	return word;
}

static void packing(void **state)
{
	struct random r = { 77 };
	struct pmu_field f;
	u64 value, word;
	u32 i;

	(void)state;
	f = (struct pmu_field){ 0, 0xf000000ff };
	assert_int_equal(pmu_field__max(&f), 0xfff);
	assert_int_equal(pmu_field__pack(&f, 0, 0xabc), 0xa000000bc);
	assert_int_equal(pmu_field__pack(&f, UINT64_MAX, 0), ~0xf000000ffULL);
	f.bits = UINT64_MAX;
	assert_int_equal(pmu_field__max(&f), UINT64_MAX);
	assert_int_equal(pmu_field__pack(&f, 1, 0x123456789abcdef0), 0x123456789abcdef0);
	f.bits = 1ULL << 63;
	assert_int_equal(pmu_field__max(&f), 1);
	assert_int_equal(pmu_field__pack(&f, 0, 1), 1ULL << 63);
	for (i = 0; i < 10000; i++) {
		f.bits = random__next(&r) & random__next(&r);
		word = random__next(&r);
		value = random__next(&r) & pmu_field__max(&f);
		assert_int_equal(pmu_field__pack(&f, word, value), model_pack(f.bits, word, value));
	}
}

static void names(void **state)
{
	static const struct {
		const char *dir, *name, *found;
	} cases[] = {
		{ PMUS, "cpu", "cpu" },
		{ PMUS, "uncore_imc", "uncore_imc_0 uncore_imc_1" },
		{ PMUS, "imc", "uncore_imc_0 uncore_imc_1" },
		{ PMUS, "uncore_imc_1", "uncore_imc_1" },
		{ PMUS, "imc_0", "uncore_imc_0" },
		{ PMUS, "uncore_*", "uncore_cha_0 uncore_imc_0 uncore_imc_1" },
		{ PMUS, "imc_[1-9]", "uncore_imc_1" },
		{ PMUS, "*pu", "cpu" },
		{ PMUS, "uncore", "" },
		{ PMUS, "uncore_im", "" },
		{ PMUS, "uncore_imc_", "" },
		{ PMUS, "uncore_imc_2", "" },
		{ PMUS, "", "" },
		{ PMUS, ".", "" },
		{ PMUS, "..", "" },
		{ PMUS, "../pmus/cpu", "" },
		{ HYBRID, "cpu", "" },
		{ HYBRID, "cpu_core", "cpu_core" },
		{ HYBRID, "cpu_*", "cpu_atom cpu_core" },
		{ HYBRID, NULL, "breakpoint cpu_atom cpu_core software tracepoint" },
		{ PMUS, "numberless", "" },
		{ PMUS, "typeless", "" },
		{ "tests/data/no_such", NULL, "" },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_context ctx = { .pmus = cases[i].dir };
		char found[256] = "";
		struct pmus pmus;

		assert_int_equal(pmus__find(&pmus, &ctx, cases[i].name), 0);
		for (k = 0; k < pmus.n; k++) {
			strcat(found, k ? " " : "");
			strcat(found, pmus.pmu[k].name);
		}
		if (strcmp(found, cases[i].found))
			fail_msg("'%s' is '%s'", cases[i].name, found);
		pmus__free(&pmus);
	}
}

/* The search leaves no descriptor open. */
static void nothing_stays_open(void **state)
{
	struct event_context ctx = { .pmus = PMUS };
	int before = dup(0), after;
	struct pmus pmus;

	(void)state;
	close(before);
	assert_int_equal(pmus__find_event(&pmus, &ctx, "clockticks"), 0);
	assert_int_equal(pmus.n, 3);
	pmus__free(&pmus);
	assert_int_equal(pmus__find_event(&pmus, &ctx, "../type"), 0);
	assert_int_equal(pmus.n, 0);
	pmus__free(&pmus);
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

/* The sites of an event, as "NAME TYPE/CONFIG*SCALE UNIT @CPUS". */
static void sites(void **state)
{
	static const struct {
		const char *dir, *text, *is;
	} cases[] = {
		{ PMUS, "cpu/cpu-cycles/u", "cpu/cpu-cycles/u 4/3c*1 -" },
		{ PMUS, "cycles:k", "cycles:k 0/0*1 -" },
		{ PMUS, "r3c", "r3c 4/3c*1 -" },
		{ PMUS, "power/energy-pkg/", "power/energy-pkg/ 21/2*2.32831e-10 Joules @1" },
		{ PMUS, "energy-ram", "energy-ram 21/3*1.52588e-05 Joules @1" },
		{ PMUS, "power/event=2/", "power/event=2/ 21/2*1 - @1" },
		{ PMUS, "uncore_imc/data_reads/",
		  "uncore_imc_0/data_reads/ 13/304*6.10352e-05 MiB @1000001; "
		  "uncore_imc_1/data_reads/ 14/304*6.10352e-05 MiB @1000001" },
		{ PMUS, "data_reads:k",
		  "uncore_imc_0/data_reads/k 13/304*6.10352e-05 MiB @1000001; "
		  "uncore_imc_1/data_reads/k 14/304*6.10352e-05 MiB @1000001" },
		{ PMUS, "imc_1/event=4,umask=0xc/",
		  "uncore_imc_1/event=4,umask=0xc/ 14/c04*1 - @1000001" },
		{ PMUS, "{uncore_imc/clockticks/}:u",
		  "uncore_imc_0/clockticks/u 13/0*1 - @1000001; "
		  "uncore_imc_1/clockticks/u 14/0*1 - @1000001" },
		{ PMUS, "cpu/cycles,name=turns/", "turns 0/0*1 -" },
		{ PMUS, "msr/tsc/", "msr/tsc/ 9/0*1 -" },
		{ HYBRID, "cycles:u",
		  "cpu_atom/cycles/u 0/a00000000*1 - @f0; cpu_core/cycles/u 0/400000000*1 - @f" },
		{ HYBRID, "L1-dcache-loads",
		  "cpu_atom/L1-dcache-loads/ 3/a00000000*1 - @f0; "
		  "cpu_core/L1-dcache-loads/ 3/400000000*1 - @f" },
		{ HYBRID, "r3c", "cpu_atom/r3c/ 10/3c*1 - @f0; cpu_core/r3c/ 4/3c*1 - @f" },
		{ HYBRID, "cpu_core/cycles/", "cpu_core/cycles/ 0/400000000*1 - @f" },
		{ HYBRID, "cpu_atom/cpu-cycles/", "cpu_atom/cpu-cycles/ 10/3c*1 - @f0" },
		{ HYBRID, "cpu_*/instructions/",
		  "cpu_atom/instructions/ 10/c0*1 - @f0; cpu_core/instructions/ 4/c0*1 - @f" },
		{ HYBRID, "slots", "slots 4/400*1 - @f" },
		{ HYBRID, "cs", "cs 1/3*1 -" },
	};
	size_t i, k, which;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_context ctx = { .pmus = cases[i].dir };
		struct event_sites found = {};
		struct events events = {};
		char is[512] = "";
		struct complaint c;
		size_t n = 0;

		if (events__parse(&events, &ctx, cases[i].text, &c) ||
		    events__resolve(&found, &events, &ctx, &c, &which))
			fail_msg("'%s': %s", cases[i].text, c.what);
		for (k = 0; k < found.n; k++) {
			const struct event_site *s = &found.site[k];

			n += snprintf(is + n, sizeof(is) - n, "%s%s %u/%llx*%g %s", k ? "; " : "",
				      s->name, s->attr.type, s->attr.config, s->scale,
				      s->unit ?: "-");
			if (s->cpus)
				n += snprintf(is + n, sizeof(is) - n, " @%llx", s->cpus[0]);
			assert_int_equal(s->attr.exclude_kernel, events.event[0].modifiers.user);
			assert_int_equal(s->attr.size, sizeof(s->attr));
		}
		if (strcmp(is, cases[i].is))
			fail_msg("'%s' is '%s' instead of '%s'", cases[i].text, is, cases[i].is);
		event_sites__free(&found);
		events__free(&events);
	}
}

static void a_scale_that_is_none(void **state)
{
	struct event_context ctx = { .pmus = PMUS };
	struct event_sites found = {};
	struct events events = {};
	struct complaint c;
	size_t which = 9;

	(void)state;
	assert_int_equal(events__parse(&events, &ctx, "cs,odd/unscaled/", &c), 0);
	assert_int_equal(events__resolve(&found, &events, &ctx, &c, &which), -EINVAL);
	assert_int_equal(which, 1);
	assert_int_equal(c.at, 3);
	assert_non_null(strstr(c.what, "a scale that is not a number"));
	assert_int_equal(found.n, 0);
	event_sites__free(&found);
	events__free(&events);
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int accept(void *arg, const char *name, const char *description)
{
	(void)arg;
	return name[0] && description[0] ? 0 : -EINVAL;
}

/* Parsing ends with sites or a complaint, whatever the files of a PMU contain. */
static void damaged_files(void **state)
{
	static const char *const files[] = { "type", "cpumask", "format/f", "events/e",
					     "events/e.scale", "events/e.unit" };
	static const char *const words[] = { "f=1", "config:0-7", "4", "0-3", "f", ",", "=", "1e9",
					     "?", "config1=0x1", "\n" };
	static const char *const folders[] = { "", "/format", "/events" };
	char dir[] = "/tmp/tally-test-XXXXXX", pmu[64], path[128], text[256];
	struct event_context ctx = { .pmus = dir };
	struct random r = { 5 };
	size_t k, i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(pmu, sizeof(pmu), "%s/p", dir);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", pmu, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (k = 0; k < 300; k++) {
		struct event_sites found = {};
		struct events events = {};
		struct complaint c = {};
		size_t which;

		write_file(pmu, files[0], "7\n");
		for (i = k % 8 ? 1 : 0; i < ARRAY_SIZE(files); i++) {
			random__hostile(&r, text, sizeof(text));
			write_file(pmu, files[i], random__below(&r, 2)
				   ? words[random__below(&r, ARRAY_SIZE(words))] : text);
		}
		if (events__parse(&events, &ctx, "p/e,f=1/,e", &c) ||
		    events__resolve(&found, &events, &ctx, &c, &which))
			assert_true(c.what[0] != 0);
		event_sites__free(&found);
		events__free(&events);
		event_pmu.list(&ctx, accept, NULL);
	}
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", pmu, files[i]);
		unlink(path);
	}
	for (i = 3; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", pmu, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(packing),
		cmocka_unit_test(names),
		cmocka_unit_test(nothing_stays_open),
		cmocka_unit_test(sites),
		cmocka_unit_test(a_scale_that_is_none),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
