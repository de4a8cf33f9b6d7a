// SPDX-License-Identifier: BSD-2-Clause
/* Stacks in pprof files, byte by byte, and in speedscope files. */
#include <jansson.h>
#include <zlib.h>

#include "report/pprof.h"
#include "report/stack_values.h"
#include "stack_fixture.h"

#define HOSTILE "a;\x1b[2J\n\xff\\\xe2\x80\xae"

/* Clears the members that become comments. */
static void make_bare(struct stacks_fixture *f, size_t most)
{
	fixture__make(f, most);
	f->report.tool = f->report.command = f->report.value = f->report.source = NULL;
	f->report.has_events = false;
}

static void assert_encoded(const struct stacks_fixture *f, const char *wanted, size_t n)
{
	struct protobuf p = {};

	assert_int_equal(pprof__encode(&f->report, &p), 0);
	assert_int_equal(p.n, n);
	assert_memory_equal(p.data, wanted, n);
	protobuf__free(&p);
}

static void bytes_of_a_small_profile(void **state)
{
	static const char wanted[] =
		"\x0a\x04\x08\x09\x10\x0a"                      /* sample_type samples, count */
		"\x12\x0e"                                      /* sample */
		"\x0a\x02\x01\x02"                              /*   locations 1, 2 */
		"\x12\x02\xac\x02"                              /*   value 300 */
		"\x1a\x04\x08\x01\x10\x02"                      /*   label comm web */
		"\x1a\x06\x08\x01\x28\x05\x38\x01"              /* mapping 1, [kernel], has_functions */
		"\x1a\x0c\x08\x02\x28\x02\x38\x01"              /* mapping 2, web, has_functions, */
		"\x40\x01\x48\x01\x50\x01"                      /*   _filenames, _line_numbers, _inline_frames */
		"\x22\x0b\x08\x01\x10\x01\x18\x82\x20"          /* location 1, in mapping 1, at 0x1002 */
		"\x22\x02\x08\x01"                              /*   line: function 1 */
		"\x22\x11\x08\x02\x10\x02\x18\x80\x20"          /* location 2, in mapping 2, at 0x1000 */
		"\x22\x04\x08\x03\x10\x07"                      /*   line: function 3, line 7 */
		"\x22\x02\x08\x02"                              /*   line: function 2 */
		"\x2a\x06\x08\x01\x10\x04\x18\x03"              /* function 1, do_sys_[k], do_sys */
		"\x2a\x06\x08\x02\x10\x06\x18\x06"              /* function 2, main, main */
		"\x2a\x08\x08\x03\x10\x07\x18\x07\x20\x08"      /* function 3, helper, helper, /src/a.c */
		"\x50\x80\xde\xa0\xcb\x05"                      /* duration_nanos 1500000000 */
		"\x32\x00"                                      /* string_table */
		"\x32\x04" "comm"
		"\x32\x03" "web"
		"\x32\x06" "do_sys"
		"\x32\x0a" "do_sys_[k]"
		"\x32\x08" "[kernel]"
		"\x32\x04" "main"
		"\x32\x06" "helper"
		"\x32\x08" "/src/a.c"
		"\x32\x07" "samples"
		"\x32\x05" "count";
	struct stacks_fixture f;
	u32 key, a, b, c;

	(void)state;
	make_bare(&f, 4);
	key = add_key(&f, "web");
	a = add_frame(&f, "main", "web", 0, FRAME_USER);
	b = add_frame(&f, "helper", "web", 0, FRAME_INLINED);
	c = add_frame(&f, "do_sys", "[kernel]", 0, FRAME_KERNEL);
	f.frame[b].file = "/src/a.c";
	f.frame[b].line = 7;
	STACK(&f, key, 300, a, b, c);
	assert_encoded(&f, wanted, sizeof(wanted) - 1);
	fixture__free(&f);
}

/* The profile has a value in two units, a period, an address that is no place, and neither a key nor a module. */
static void samples_by_the_clock_are_time(void **state)
{
	static const char wanted[] =
		"\x0a\x04\x08\x02\x10\x03"              /* sample_type samples, count */
		"\x0a\x04\x08\x04\x10\x05"              /* sample_type cpu, nanoseconds */
		"\x12\x08\x0a\x01\x01\x12\x03\x02\x90\x4e"      /* sample: location 1; 2, 10000 */
		"\x22\x06\x08\x01\x22\x02\x08\x01"      /* location 1, line: function 1 */
		"\x2a\x06\x08\x01\x10\x01\x18\x01"      /* function 1 */
		"\x48\x07"                              /* time_nanos 7 */
		"\x50\x80\xde\xa0\xcb\x05"              /* duration_nanos 1500000000 */
		"\x5a\x04\x08\x04\x10\x05"              /* period_type cpu, nanoseconds */
		"\x60\x88\x27"                          /* period 5000 */
		"\x32\x00"
		"\x32\x0c" "[incomplete]"
		"\x32\x07" "samples"
		"\x32\x05" "count"
		"\x32\x03" "cpu"
		"\x32\x0b" "nanoseconds";
	struct stacks_fixture f;

	(void)state;
	make_bare(&f, 1);
	STACK(&f, add_key(&f, NULL), 2, add_frame(&f, "[incomplete]", NULL, 0, FRAME_NOTE));
	f.report.stacks->stack[0].place[0].address = FRAME_PLACES;
	f.report.stacks->period = 5000;
	f.report.start_ns = 7;
	assert_encoded(&f, wanted, sizeof(wanted) - 1);
	fixture__free(&f);
}

static void values_have_types(void **state)
{
	static const struct {
		struct report_stacks stacks;
		size_t n;
		const char *type, *unit;        /* of the last value */
		u64 of_three;
	} cases[] = {
		{ { .unit = "samples" }, 1, "samples", "count", 3 },
		{ { .unit = "samples", .period = 10 }, 2, "cpu", "nanoseconds", 30 },
		{ { .unit = "samples", .period = UINT64_MAX }, 2, "cpu", "nanoseconds", INT64_MAX },
		{ { .unit = "events", .type = "cycles", .period = 10 }, 1, "cycles", "count", 3 },
		{ { .unit = "faults" }, 1, "faults", "count", 3 },
		{ { .unit = "ns", .type = "off-cpu" }, 1, "off-cpu", "nanoseconds", 3 },
		{ { .unit = "ns" }, 1, "time", "nanoseconds", 3 },
		{ { .unit = "bytes" }, 1, "space", "bytes", 3 },
	};
	struct stack_value value[MOST_STACK_VALUES];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(stack_values__of(&cases[i].stacks, value), cases[i].n);
		assert_string_equal(value[cases[i].n - 1].type, cases[i].type);
		assert_string_equal(value[cases[i].n - 1].unit, cases[i].unit);
		assert_int_equal(stack_value__number(&value[cases[i].n - 1], 3), cases[i].of_three);
	}
}

static u64 take_varint(const unsigned char **at, const unsigned char *end)
{
	u64 value = 0;
	u32 shift = 0;

	do {
		assert_true(*at < end && shift < 64);
		value |= (u64)(**at & 0x7f) << shift;
		shift += 7;
	} while (*(*at)++ & 0x80);
	return value;
}

/* The first string is empty, and a terminal can show all of them. */
static size_t check_texts(const struct protobuf *p)
{
	const unsigned char *at = p->data, *end = at + p->n, *text;
	size_t texts = 0, n, i;
	u64 tag;

	while (at < end) {
		tag = take_varint(&at, end);
		n = take_varint(&at, end);
		if ((tag & 7) == 0)
			continue;
		assert_int_equal(tag & 7, 2);
		assert_true(n <= (size_t)(end - at));
		text = at;
		at += n;
		if (tag >> 3 != 6)
			continue;
		assert_true(texts++ ? n : !n);
		assert_true(is_utf8((const char *)text, n));
		for (i = 0; i < n; i++)
			assert_true(text[i] >= 0x20 && text[i] != 0x7f);
	}
	return texts;
}

static void fill_hostile(struct stacks_fixture *f)
{
	u32 key, a, b;

	fixture__make(f, 4);
	f->report.command = f->report.source = f->report.caveat = f->report.value = HOSTILE;
	f->report.counters.lost[LOSS_MAP_FULL] = 3;
	f->report.stacks->type = HOSTILE;
	key = add_key(f, HOSTILE);
	a = add_frame(f, HOSTILE, HOSTILE, 0, FRAME_USER);
	b = add_frame(f, NULL, HOSTILE, 0x10, FRAME_KERNEL);
	f->frame[a].file = HOSTILE;
	f->frame[a].line = 1;
	STACK(f, key, UINT64_MAX, a, b);
	STACK(f, key, 1, a);
}

static void hostile_names_are_escaped(void **state)
{
	struct stacks_fixture f;
	struct protobuf p = {};

	(void)state;
	fill_hostile(&f);
	assert_int_equal(pprof__encode(&f.report, &p), 0);
	assert_true(check_texts(&p) > 10);
	assert_non_null(memmem(p.data, p.n, "lost: 3 map_full", 16));
	assert_non_null(memmem(p.data, p.n, "2^63 - 1", 8));
	protobuf__free(&p);
	fixture__free(&f);
}

static void the_file_is_compressed(void **state)
{
	struct writer w = { .format = FORMAT_PPROF };
	unsigned char plain[8192];
	struct stacks_fixture f;
	struct protobuf p = {};
	z_stream z = {};
	char *file = NULL;
	size_t n;

	(void)state;
	fill_hostile(&f);
	assert_int_equal(pprof__encode(&f.report, &p), 0);
	w.file = open_memstream(&file, &n);
	assert_non_null(w.file);
	assert_int_equal(writer__write(&w, &f.report), 0);
	assert_int_equal(fclose(w.file), 0);
	z.next_in = (unsigned char *)file;
	z.avail_in = n;
	z.next_out = plain;
	z.avail_out = sizeof(plain);
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, p.n);
	assert_memory_equal(plain, p.data, p.n);
	inflateEnd(&z);
	free(file);
	protobuf__free(&p);
	fixture__free(&f);
}

static json_t *as_speedscope(struct stacks_fixture *f)
{
	struct writer w = { .format = FORMAT_SPEEDSCOPE };
	size_t n;
	char *text = written(&w, &f->report, &n);
	json_t *file;

	assert_true(is_utf8(text, n));
	assert_null(memchr(text, '\x1b', n));
	file = json_loads(text, 0, NULL);
	assert_non_null(file);
	free(text);
	return file;
}

static const char *frame_name(const json_t *file, const json_t *sample, size_t i)
{
	const json_t *frames = json_object_get(json_object_get(file, "shared"), "frames");

	return json_string_value(json_object_get(
		json_array_get(frames, json_integer_value(json_array_get(sample, i))), "name"));
}

static void speedscope(void **state)
{
	const json_t *profiles, *profile, *sample;
	struct stacks_fixture f;
	u32 key, a, b;
	json_t *file;

	(void)state;
	fixture__make(&f, 8);
	f.report.stacks->period = 1000;
	key = add_key(&f, "web");
	a = add_frame(&f, "main", "web", 0, FRAME_USER);
	add_frame(&f, "unused", "web", 0, FRAME_USER);
	b = add_frame(&f, "read", "[kernel]", 0, FRAME_KERNEL);
	STACK(&f, key, 5, a, b);
	STACK(&f, key, 2, a);
	file = as_speedscope(&f);
	assert_int_equal(json_array_size(json_object_get(json_object_get(file, "shared"), "frames")), 3);
	profiles = json_object_get(file, "profiles");
	assert_int_equal(json_array_size(profiles), 2);
	assert_int_equal(json_integer_value(json_object_get(file, "activeProfileIndex")), 1);
	profile = json_array_get(profiles, 1);
	assert_string_equal(json_string_value(json_object_get(profile, "unit")), "nanoseconds");
	assert_int_equal(json_integer_value(json_object_get(profile, "endValue")), 7000);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(profile, "weights"), 0)), 5000);
	sample = json_array_get(json_object_get(profile, "samples"), 0);
	assert_int_equal(json_array_size(sample), 3);
	assert_string_equal(frame_name(file, sample, 0), "web");
	assert_string_equal(frame_name(file, sample, 1), "main");
	assert_string_equal(frame_name(file, sample, 2), "read_[k]");
	assert_string_equal(json_string_value(json_object_get(json_array_get(profiles, 0), "unit")), "none");
	json_decref(file);
	fixture__free(&f);
}

static void broken_stacks_in_speedscope(void **state)
{
	struct stacks_fixture f;
	const json_t *profile;
	json_t *file;

	(void)state;
	fixture__make_broken(&f);
	file = as_speedscope(&f);
	profile = json_array_get(json_object_get(file, "profiles"), 0);
	assert_string_equal(json_string_value(json_object_get(profile, "name")), "samples, 62.5% [incomplete]");
	json_decref(file);
	fixture__free(&f);
}

static void hostile_names_in_speedscope(void **state)
{
	struct stacks_fixture f;
	const json_t *profile;
	json_t *file;

	(void)state;
	fill_hostile(&f);
	file = as_speedscope(&f);
	profile = json_array_get(json_object_get(file, "profiles"), 0);
	assert_non_null(strstr(json_string_value(json_object_get(profile, "name")), ", lost 3"));
	assert_true(json_is_integer(json_object_get(profile, "endValue")));
	json_decref(file);
	fixture__free(&f);
}

static void nothing_was_sampled(void **state)
{
	struct stacks_fixture f;
	struct protobuf p = {};

	(void)state;
	fixture__make(&f, 1);
	assert_int_equal(pprof__encode(&f.report, &p), 0);
	assert_true(check_texts(&p) > 1);
	json_decref(as_speedscope(&f));
	protobuf__free(&p);
	fixture__free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_a_small_profile),
		cmocka_unit_test(samples_by_the_clock_are_time),
		cmocka_unit_test(values_have_types),
		cmocka_unit_test(hostile_names_are_escaped),
		cmocka_unit_test(the_file_is_compressed),
		cmocka_unit_test(speedscope),
		cmocka_unit_test(broken_stacks_in_speedscope),
		cmocka_unit_test(hostile_names_in_speedscope),
		cmocka_unit_test(nothing_was_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
