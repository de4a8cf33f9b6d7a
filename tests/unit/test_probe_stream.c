// SPDX-License-Identifier: BSD-2-Clause
/* Lines of single events in each format, from the running kernel and from made-up values. */
#include "probe_rig.h"

#include <jansson.h>
#include <sys/prctl.h>

#include "events/probe/stream.h"

/* --- from the kernel --------------------------------------------------------------------------- */

/* The record's layout: a number, a text stored behind the fields, a text that faulted, and a truncated text. */
#define RECORD 16
#define LONG (PROBE_TEXT_MOST - 1)

static struct layout_field fields[] = {
	{ .name = "n", .kind = LAYOUT_SIGNED, .offset = 0, .size = 4 },
	{ .name = "text", .kind = LAYOUT_TEXT, .offset = 4, .size = sizeof(struct probe_text) },
	{ .name = "bad", .kind = LAYOUT_TEXT, .offset = 8, .size = sizeof(struct probe_text) },
	{ .name = "long", .kind = LAYOUT_TEXT, .offset = 12, .size = sizeof(struct probe_text) },
};
static const struct layout layout = { fields, ARRAY_SIZE(fields), RECORD, false };
static const char *const events[] = { "zero", "one", "two\n" };

static void store(struct code *c, int offset, u32 word)
{
	code__set(c, BPF_REG_0, word);
	code__store(c, BPF_W, F, BPF_REG_0, offset);
}

static void put_record(struct code *c, u32 at, u32 length)
{
	u32 i;

	begin_body(c);
	store(c, FRAME(key), -5);
	store(c, FRAME(key) + 4, at | length << 16);
	store(c, FRAME(key) + 8, (u32)PROBE_TEXT_FAULT << 16);
	store(c, FRAME(key) + 12, (RECORD + 4) | LONG << 16);
	store(c, FRAME(key) + RECORD, 'a' | '"' << 8 | '\n' << 16 | (u32)'z' << 24);
	for (i = 0; i < LONG; i += 4)
		store(c, FRAME(key) + RECORD + 4 + i, 0x78787878);
	store(c, FRAME(size), RECORD + 4 + LONG);
	end_body(c, 0);
}

static void good_record(struct code *c)
{
	put_record(c, RECORD, 4);
}

static void text_behind_the_end(struct code *c)
{
	put_record(c, RECORD + LONG, 5);
}

static void text_too_long(struct code *c)
{
	put_record(c, RECORD, PROBE_TEXT_MOST);
}

static void record_too_short(struct code *c)
{
	begin_body(c);
	store(c, FRAME(size), RECORD - 1);
	end_body(c, 0);
}

static char *read_back(FILE *f)
{
	char *text = calloc(1, 1 << 20);

	assert_non_null(text);
	rewind(f);
	assert_true(fread(text, 1, (1 << 20) - 1, f) < (1 << 20) - 1);
	return text;
}

static void records_become_lines(void **state)
{
	const struct setting s = {
		.what = PROBE_STREAM, .key_size = RECORD, .ring = 1 << 18, .make_key = good_record,
	};
	struct writer w = { .format = FORMAT_TEXT, .file = tmpfile() };
	const struct stream_plan plan = {
		.layout = &layout, .event = events, .nevents = 3, .writer = &w,
	};
	struct stream *stream;
	char *text, *line, xs[LONG + 1] = "", want[LONG + 100], task[64], comm[16];
	struct rig r;
	int i;

	(void)state;
	assert_non_null(w.file);
	memset(xs, 'x', LONG);
	snprintf(want, sizeof(want), "two\\x0a  n=-5 text=\"a\\x22\\x0az\" bad=(fault) long=\"%s\"...\n", xs);
	start(&r, &s);
	assert_int_equal(stream__open(&stream, &plan, r.bpf->maps.records), 0);
	assert_true(stream__fd(stream) >= 0);
	for (i = 0; i < 100; i++)
		event(1, 1);
	assert_int_equal(stream__drain(stream), 0);
	assert_int_equal(stream__take_count(stream), 100);
	assert_int_equal(stream__take_count(stream), 0);
	text = read_back(w.file);
	assert_int_equal(prctl(PR_GET_NAME, comm), 0);
	snprintf(task, sizeof(task), " %-15s %7ld ", comm, syscall(SYS_gettid));
	for (line = text, i = 0; *line; line = strchr(line, '\n') + 1, i++) {
		assert_int_equal(line[2], ':');
		assert_int_equal(line[8], '.');
		assert_memory_equal(line + 15, task, strlen(task));
		assert_memory_equal(line + 15 + strlen(task) + 4, want, strlen(want));
	}
	assert_int_equal(i, 100);
	free(text);
	stream__close(stream);
	stop(&r);
	fclose(w.file);
}

static void bad_records_are_errors(void **state)
{
	void (*const bad[])(struct code *) = { text_behind_the_end, text_too_long, record_too_short };
	struct setting s = { .what = PROBE_STREAM, .key_size = RECORD };
	struct writer w = { .format = FORMAT_JSON, .file = tmpfile() };
	const struct stream_plan plan = {
		.layout = &layout, .event = events, .nevents = 3, .writer = &w,
	};
	struct stream *stream;
	struct rig r;
	size_t i;

	(void)state;
	assert_non_null(w.file);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		s.make_key = bad[i];
		start(&r, &s);
		assert_int_equal(stream__open(&stream, &plan, r.bpf->maps.records), 0);
		event(1, 1);
		assert_int_equal(stream__drain(stream), -EBADMSG);
		assert_int_equal(stream__take_count(stream), 0);
		stream__close(stream);
		stop(&r);
	}
	fclose(w.file);
}

/* --- made up ----------------------------------------------------------------------------------- */

static char *line_of(struct writer *w, const struct stream_template *t, const struct stream_line *line)
{
	char *text = NULL;
	size_t n;

	w->file = open_memstream(&text, &n);
	assert_non_null(w->file);
	assert_int_equal(stream__write_line(w, t, line), 0);
	assert_int_equal(fclose(w->file), 0);
	assert_true(is_utf8(text, n));
	return text;
}

static struct stream_field example_fields[] = {
	{ .field = { .name = "size", .number = 4096 } },
	{ .field = { .name = "delta", .number = -7, .kind = FIELD_SIGNED } },
	{ .field = { .name = "path", .text = "/a,\"b\"" }, .cut = true },
	{ .field = { .name = "gone" }, .fault = true },
};

static const struct stream_line example = {
	.time_ns = 1700000000123456789, .comm = "cat\x1b", .pid = 10, .tid = 11, .cpu = 3,
	.event = "ev", .has_elapsed = true, .elapsed_ns = 1500,
	.field = example_fields, .n = ARRAY_SIZE(example_fields),
};

static void all_formats(void **state)
{
	struct writer text = { .format = FORMAT_TEXT }, json = { .format = FORMAT_JSON };
	struct writer csv = { .format = FORMAT_CSV, .separator = ',' };
	char *line;

	(void)state;
	setenv("TZ", "UTC", 1);
	line = line_of(&text, NULL, &example);
	assert_string_equal(line, "22:13:20.123456 cat\\x1b                 11   3 ev  elapsed=1.50 us size=4096 "
				  "delta=-7 path=\"/a,\\x22b\\x22\"... gone=(fault)\n");
	free(line);
	line = line_of(&json, NULL, &example);
	assert_string_equal(line, "{\"time_ns\":1700000000123456789,\"comm\":\"cat\\\\x1b\",\"pid\":10,"
				  "\"tid\":11,\"cpu\":3,\"event\":\"ev\",\"elapsed_ns\":1500,\"values\":"
				  "{\"size\":4096,\"delta\":-7,\"path\":\"/a,\\\"b\\\"...\",\"gone\":null}}\n");
	free(line);
	line = line_of(&csv, NULL, &example);
	assert_string_equal(line, "time_ns,comm,pid,tid,cpu,event,elapsed_ns,size,delta,path,gone\n"
				  "1700000000123456789,cat\\x1b,10,11,3,ev,1500,4096,-7,\"/a,\"\"b\"\"...\",\n");
	free(line);
	line = line_of(&csv, NULL, &example);
	assert_null(strstr(line, "comm"));
	free(line);
}

static const char *const names[] = { "size", "delta", "path", "gone" };

static void templates(void **state)
{
	static const struct {
		const char *text, *line;
	} good[] = {
		{ "", "\n" },
		{ "plain", "plain\n" },
		{ "{{}}{size}}}", "{}4096}\n" },
		{ "{comm}/{tid} {path}{gone}", "cat\\x1b/11 /a,\"b\"...(fault)\n" },
		{ "{time} {event} {cpu} {pid} {elapsed}.", "22:13:20.123456 ev 3 10 1.50 us.\n" },
		{ "{delta}{delta}", "-7-7\n" },
	};
	static const struct {
		const char *text;
		size_t at, len;
	} bad[] = {
		{ "a{", 1, 1 }, { "a{size", 1, 1 }, { "}", 0, 1 }, { "{size}}x", 6, 1 }, { "x{sizes}", 2, 5 },
		{ "{}", 1, 0 }, { "{a{size}", 0, 1 },
	};
	struct writer w = { .format = FORMAT_TEXT };
	struct stream_template t;
	struct complaint c;
	char *line;
	size_t i;

	(void)state;
	setenv("TZ", "UTC", 1);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(stream_template__parse(&t, good[i].text, names, ARRAY_SIZE(names), &c), 0);
		line = line_of(&w, &t, &example);
		assert_string_equal(line, good[i].line);
		free(line);
		stream_template__free(&t);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		c = (struct complaint){};
		assert_int_equal(stream_template__parse(&t, bad[i].text, names, ARRAY_SIZE(names), &c),
				 -EINVAL);
		assert_int_equal(c.at, bad[i].at);
		assert_int_equal(c.len, bad[i].len);
		assert_true(c.what[0]);
		stream_template__free(&t);
	}
}

static void hostile_texts_stay_one_line(void **state)
{
	struct stream_field f = {};
	struct stream_line line = { .time_ns = 1, .field = &f, .n = 1 };
	struct random r = { 41 };
	char comm[16], name[20], value[200], *text;
	json_t *object;
	u32 i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		struct writer w = { .format = i % 3, .separator = ',' };

		random__hostile(&r, comm, sizeof(comm));
		random__hostile(&r, name, sizeof(name));
		random__hostile(&r, value, sizeof(value));
		line.comm = comm;
		f = (struct stream_field){ .field = { .name = name, .text = value }, .cut = i % 2 };
		text = line_of(&w, NULL, &line);
		assert_ptr_equal(strchr(text, '\x1b'), NULL);
		if (w.format == FORMAT_TEXT)
			assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		if (w.format == FORMAT_JSON) {
			object = json_loads(text, 0, NULL);
			assert_non_null(object);
			json_decref(object);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_become_lines),
		cmocka_unit_test(bad_records_are_errors),
		cmocka_unit_test(all_formats),
		cmocka_unit_test(templates),
		cmocka_unit_test(hostile_texts_stay_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
