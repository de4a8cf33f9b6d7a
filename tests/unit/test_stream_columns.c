// SPDX-License-Identifier: BSD-2-Clause
/* Single events on a terminal: columns are as wide as their values, and nothing is lost where there is no room. */
#include "unit.h"

#include "report/report.h"
#include "report/stream.h"
#include "report/stream_columns.h"

static struct stream_field number(const char *name, s64 value)
{
	return (struct stream_field){ .field = { .name = name, .number = value, .kind = FIELD_SIGNED } };
}

static struct stream_field text(const char *name, const char *value)
{
	return (struct stream_field){ .field = { .name = name, .text = (char *)value } };
}

static struct stream_field word(const char *name, const char *value)
{
	return (struct stream_field){ .field = { .name = name, .text = (char *)value, .word = true } };
}

static struct stream_field none(const char *name)
{
	return (struct stream_field){ .field = { .name = name, .kind = FIELD_NONE } };
}

static struct stream_line line_of(const struct stream_field *field, size_t n)
{
	return (struct stream_line){
		.time_ns = 3723 * NSEC_PER_SEC + 456789 * NSEC_PER_USEC,
		.comm = "cat", .pid = 4711, .tid = 4712, .cpu = 1, .field = field, .n = n,
	};
}

struct shown {
	struct writer w;
	char *text;
	size_t n;
};

static void begin(struct shown *s, u32 columns, u32 rows)
{
	*s = (struct shown){ .w.terminal = { columns, rows, false } };
	s->w.file = open_memstream(&s->text, &s->n);
	assert_non_null(s->w.file);
}

static void put(struct shown *s, const struct stream_field *field, size_t n)
{
	struct stream_line line = line_of(field, n);

	assert_int_equal(stream__write_line(&s->w, NULL, &line), 0);
}

static void check(struct shown *s, const char *expected)
{
	stream_columns__free(s->w.columns);
	fclose(s->w.file);
	assert_string_equal(s->text, expected);
	free(s->text);
}

static void columns_below_a_heading(void **state)
{
	const struct stream_field field[] = { number("fd", 3), word("error", "ENOENT"), text("path", "/etc/passwd") };
	struct shown s;

	(void)state;
	begin(&s, 120, 24);
	put(&s, field, 3);
	put(&s, field, 3);
	check(&s,
	      "time             comm        tid  cpu    fd  error   path\n"
	      "01:02:03.456789  cat        4712    1     3  ENOENT  /etc/passwd\n"
	      "01:02:03.456789  cat        4712    1     3  ENOENT  /etc/passwd\n");
}

/* A column takes no room until its first value, which comes with a new heading that has the column. */
static void a_column_comes_with_its_first_value(void **state)
{
	const struct stream_field good[] = { number("fd", 3), none("error"), text("path", "/a") };
	const struct stream_field bad[] = { none("fd"), word("error", "EACCES"), text("path", "/b") };
	struct shown s;

	(void)state;
	begin(&s, 80, 24);
	put(&s, good, 3);
	put(&s, bad, 3);
	put(&s, good, 3);
	check(&s,
	      "time          comm        tid  cpu    fd  path\n"
	      "01:02:03.456  cat        4712    1     3  /a\n"
	      "time          comm        tid  cpu    fd  error   path\n"
	      "01:02:03.456  cat        4712    1        EACCES  /b\n"
	      "01:02:03.456  cat        4712    1     3          /a\n");
}

/* A long text continues below its own beginning if there is much room, else on a line of its own. Words stay whole. */
static void a_long_text_goes_on_below(void **state)
{
	const struct stream_field args[] = { text("args", "some words that are far more than one line of fifty has") };
	const struct stream_field path[] = { number("a_number_of", 1), number("something", 2),
					     text("path", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3/and/more/of/it") };
	struct shown s;

	(void)state;
	begin(&s, 80, 24);
	put(&s, args, 1);
	check(&s,
	      "time          comm        tid  cpu  args\n"
	      "01:02:03.456  cat        4712    1  some words that are far more than one line\n"
	      "                                    of fifty has\n");
	begin(&s, 50, 24);
	put(&s, path, 3);
	check(&s,
	      "time          comm        tid  a number of\n"
	      "not shown: cpu\n"
	      "01:02:03.456  cat        4712            1\n"
	      "    something=2 path=\"/usr/lib/x86_64-linux-gnu/li\n"
	      "    bcrypto.so.3/and/more/of/it\"\n");
}

static void what_has_no_room_follows_with_its_name(void **state)
{
	const struct stream_field field[] = { text("local", "127.0.0.1:8080"), text("remote", "127.0.0.1:51234"),
					      number("received", 100000), none("error") };
	struct shown s;

	(void)state;
	begin(&s, 64, 24);
	put(&s, field, 4);
	check(&s,
	      "time          comm        tid  local           remote\n"
	      "not shown: cpu\n"
	      "01:02:03.456  cat        4712  127.0.0.1:8080  127.0.0.1:51234\n"
	      "    received=100000\n");
}

/* Spare columns and the CPU are dropped before other columns move below; a value that matters is kept. */
static void spare_columns_are_left_out(void **state)
{
	struct stream_field good[] = { number("sector", 7), text("path", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
				       word("result", "ok") };
	struct stream_field bad[] = { number("sector", 8), text("path", "/b"), word("result", "EIO") };
	struct shown s;

	(void)state;
	good[0].field.spare = good[2].field.spare = bad[0].field.spare = true;
	begin(&s, 70, 8);
	put(&s, good, 3);
	put(&s, bad, 3);
	check(&s,
	      "time          comm        tid  path\n"
	      "not shown: cpu, sector, result\n"
	      "01:02:03.456  cat        4712  /usr/lib/x86_64-linux-gnu/libc.so.6\n"
	      "01:02:03.456  cat        4712  /b\n"
	      "    result=EIO\n");
}

/* When a column grows beyond the screen, the spare ones are dropped, with a new heading. */
static void growing_columns_push_spare_ones_out(void **state)
{
	struct stream_field small[] = { word("prev", "a"), number("prev_tid", 1) };
	struct stream_field large[] = { word("prev", "a-name-of-many-letters"), number("prev_tid", 2) };
	struct shown s;

	(void)state;
	small[1].field.spare = large[1].field.spare = true;
	begin(&s, 60, 24);
	put(&s, small, 2);
	put(&s, large, 2);
	check(&s,
	      "time          comm        tid  cpu  prev  prev tid\n"
	      "01:02:03.456  cat        4712    1  a            1\n"
	      "time          comm        tid  prev\n"
	      "not shown: cpu, prev tid\n"
	      "01:02:03.456  cat        4712  a-name-of-many-letters\n");
}

/* A value that is wider than its column's limit moves the others, and is never cut. */
static void a_line_that_is_too_wide_goes_on_below(void **state)
{
	const struct stream_field narrow[] = { word("flags", "RD"), number("n", 6) };
	const struct stream_field wide[] = { word("flags", "ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN"),
					     number("n", 7) };
	struct shown s;

	(void)state;
	begin(&s, 60, 24);
	put(&s, narrow, 2);
	put(&s, wide, 2);
	check(&s,
	      "time          comm        tid  cpu  flags     n\n"
	      "01:02:03.456  cat        4712    1  RD        6\n"
	      "01:02:03.456  cat        4712    1  ONE|TWO|THREE|FOUR|FIVE|\n"
	      "    SIX|SEVEN|EIGHT|NINE|TEN     7\n");
}

/* Each screen has a heading. */
static void a_heading_for_each_screen(void **state)
{
	const struct stream_field field[] = { number("n", 1) };
	const char *at;
	struct shown s;
	size_t i, headings = 0;

	(void)state;
	begin(&s, 80, 12);
	for (i = 0; i < 27; i++)
		put(&s, field, 1);
	fflush(s.w.file);
	for (at = s.text; (at = strstr(at, "time  ")); at++)
		headings++;
	assert_int_equal(headings, 3);  /* each with 9 lines below it */
	stream_columns__free(s.w.columns);
	fclose(s.w.file);
	free(s.text);
}

/* Lines with other fields have no columns, and neither has a pipe: both get names and all digits. */
static void others_have_names(void **state)
{
	const struct stream_field one[] = { number("fd", 3) }, other[] = { text("path", "/a") };
	struct shown s;

	(void)state;
	begin(&s, 80, 24);
	put(&s, one, 1);
	put(&s, other, 1);
	put(&s, one, 1);
	check(&s,
	      "time          comm        tid  cpu    fd\n"
	      "01:02:03.456  cat        4712    1     3\n"
	      "01:02:03.456789 cat                4712   1  path=\"/a\"\n"
	      "01:02:03.456789 cat                4712   1  fd=3\n");
	begin(&s, 0, 0);
	put(&s, one, 1);
	check(&s, "01:02:03.456789 cat                4712   1  fd=3\n");
}

/* Lines without columns are not wider than the terminal, either. */
static void others_go_on_below(void **state)
{
	const struct stream_field one[] = { number("fd", 3) };
	const struct stream_field other[] = { number("length", 4096),
					      text("path", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3") };
	struct shown s;

	(void)state;
	begin(&s, 60, 24);
	put(&s, one, 1);
	put(&s, other, 2);
	check(&s,
	      "time          comm        tid  cpu    fd\n"
	      "01:02:03.456  cat        4712    1     3\n"
	      "01:02:03.456789 cat                4712   1  length=4096\n"
	      "    path=\"/usr/lib/x86_64-linux-gnu/libcrypto.so.3\"\n");
}

static void put_of(struct shown *s, const char *tool, const char *command, const struct stream_field *field, size_t n)
{
	s->w.tool = tool;
	s->w.of_command = command;
	put(s, field, n);
}

/* From the second tool of a run on, each line names its tool; each tool has its own heading. */
static void tools_of_a_run_have_columns_of_their_own(void **state)
{
	const struct stream_field exec[] = { number("ppid", 9), text("args", "ls -l") };
	const struct stream_field open[] = { number("fd", 3), text("path", "/etc/passwd") };
	struct shown s;

	(void)state;
	begin(&s, 80, 24);
	put_of(&s, "execsnoop", "execsnoop", exec, 2);
	put_of(&s, "execsnoop", "execsnoop", exec, 2);
	put_of(&s, "opens", "opens -x", open, 2);
	put_of(&s, "execsnoop", "execsnoop", exec, 2);
	put_of(&s, "opens", "opens -x", open, 2);
	put_of(&s, "execsnoop", "execsnoop", exec, 2);
	check(&s,
	      "time          comm        tid  cpu  ppid  args\n"
	      "01:02:03.456  cat        4712    1     9  ls -l\n"
	      "01:02:03.456  cat        4712    1     9  ls -l\n"
	      "opens      time          comm        tid  cpu    fd  path\n"
	      "opens      01:02:03.456  cat        4712    1     3  /etc/passwd\n"
	      "execsnoop  time          comm        tid  cpu  ppid  args\n"
	      "execsnoop  01:02:03.456  cat        4712    1     9  ls -l\n"
	      "opens      01:02:03.456  cat        4712    1     3  /etc/passwd\n"
	      "execsnoop  01:02:03.456  cat        4712    1     9  ls -l\n");
}

/* The lines of all tools fill the screen; a report among them has its own headings, so theirs are repeated after it. */
static void headings_come_again(void **state)
{
	const struct stream_field one[] = { number("a", 1) }, two[] = { number("b", 1) };
	size_t i, headings = 0;
	const char *at;
	struct shown s;

	(void)state;
	begin(&s, 80, 12);
	for (i = 0; i < 9; i++) {
		put_of(&s, "x", "x", one, 1);
		put_of(&s, "y", "y", two, 1);
	}
	stream_columns__interrupt(s.w.columns);
	put_of(&s, "x", "x", one, 1);
	fflush(s.w.file);
	for (at = s.text; (at = strstr(at, "time  ")); at++)
		headings++;
	/* Before the second source and with it; on the second screen; after the interruption. */
	assert_int_equal(headings, 3 + 2 + 1);
	stream_columns__free(s.w.columns);
	fclose(s.w.file);
	free(s.text);
}

/* Names and texts from elsewhere are not trusted. */
static void hostile_texts_are_escaped(void **state)
{
	const struct stream_field field[] = { text("na\033me", "a\nb\033[31m") };
	struct shown s;

	(void)state;
	begin(&s, 80, 24);
	put(&s, field, 1);
	fflush(s.w.file);
	assert_null(strchr(s.text, '\033'));
	assert_non_null(strstr(s.text, "a\\"));
	stream_columns__free(s.w.columns);
	fclose(s.w.file);
	free(s.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_below_a_heading),
		cmocka_unit_test(a_column_comes_with_its_first_value),
		cmocka_unit_test(a_long_text_goes_on_below),
		cmocka_unit_test(what_has_no_room_follows_with_its_name),
		cmocka_unit_test(spare_columns_are_left_out),
		cmocka_unit_test(growing_columns_push_spare_ones_out),
		cmocka_unit_test(a_line_that_is_too_wide_goes_on_below),
		cmocka_unit_test(a_heading_for_each_screen),
		cmocka_unit_test(others_have_names),
		cmocka_unit_test(others_go_on_below),
		cmocka_unit_test(tools_of_a_run_have_columns_of_their_own),
		cmocka_unit_test(headings_come_again),
		cmocka_unit_test(hostile_texts_are_escaped),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
