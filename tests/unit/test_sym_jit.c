// SPDX-License-Identifier: BSD-2-Clause
/* The maps of JIT compilers, well-formed and hostile, and the lines of /proc/PID/maps. */
#include "unit.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/jit_map.h"
#include "sym/mappings.h"

static const char *name_at(const struct symbol_table *t, u64 address)
{
	u32 i = symbol_table__find(t, address);

	return i == SYMBOL_NONE ? "(none)" : symbol_table__name(t, i);
}

static void parse(struct symbol_table *t, const char *text)
{
	assert_int_equal(jit_map__parse(t, text, strlen(text)), 0);
}

static void lines(void **state)
{
	struct symbol_table t;

	(void)state;
	parse(&t, "7f0000001000 20 LazyCompile:~run /srv/app.js:1\n"
		  "0x7f0000002000 0x8 with prefix\r\n"
		  "7F0000003000 A upper\n"
		  "7f0000004000 10 unfinished");
	assert_string_equal(name_at(&t, 0x7f0000001000), "LazyCompile:~run /srv/app.js:1");
	assert_string_equal(name_at(&t, 0x7f000000101f), "LazyCompile:~run /srv/app.js:1");
	assert_string_equal(name_at(&t, 0x7f0000001020), "(none)");
	assert_string_equal(name_at(&t, 0x7f0000002007), "with prefix");
	assert_string_equal(name_at(&t, 0x7f0000003009), "upper");
	assert_string_equal(name_at(&t, 0x7f000000300a), "(none)");
	assert_string_equal(name_at(&t, 0x7f0000004000), "(none)");
	symbol_table__free(&t);
}

static void no_lines(void **state)
{
	static const char *const bad[] = {
		"", "\n", " \n", "x\n", "1000\n", "1000 \n", "1000 20\n", "1000 20 \n",
		"-1000 20 minus\n", "1000 -20 minus\n", "1000 0 empty\n", "+1000 20 plus\n",
		"10000000000000000 20 too long\n", "1000 100000000 too large\n",
		"ffffffffffffffff 2 over the end\n", "1000\t20\ttabs\n", "1000 20g name\n",
		"0x 20 no digits\n", "/000 20 below\n", ":000 20 above\n", "@000 20 at\n",
		"`000 20 back\n",
	};
	struct symbol_table t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		parse(&t, bad[i]);
		assert_int_equal(t.n, 0);
		symbol_table__free(&t);
	}
	assert_int_equal(jit_map__parse(&t, "1000 20 a\0b\n2000 20 \0c\n", 22), 0);
	assert_int_equal(t.n, 1);
	assert_string_equal(name_at(&t, 0x1000), "a");
	symbol_table__free(&t);
}

/* Old code is discarded, and other code takes its place. */
static void replaced(void **state)
{
	struct symbol_table t;

	(void)state;
	parse(&t, "1000 100 old\n1000 100 new\n");
	assert_string_equal(name_at(&t, 0x1010), "new");
	symbol_table__free(&t);
	parse(&t, "1010 10 small\n1030 10 small too\n1000 100 large\n");
	assert_string_equal(name_at(&t, 0x1015), "large");
	assert_string_equal(name_at(&t, 0x1035), "large");
	symbol_table__free(&t);
	parse(&t, "1000 100 large\n1010 10 small\n");
	assert_string_equal(name_at(&t, 0x1015), "small");
	assert_string_equal(name_at(&t, 0x1050), "(none)");
	symbol_table__free(&t);
}

/*
 * Checks each byte: code has its name if no newer code overlaps it, not even in part. (The names
 * of other addresses do not matter: nothing runs there.)
 */
static void random_maps(void **state)
{
	struct random r = { 5 };
	int round, i, k, owner[256];
	struct { u64 start, size; bool gone; } line[40];

	(void)state;
	for (round = 0; round < 300; round++) {
		char text[4096] = "", one[64];
		struct symbol_table t;

		memset(owner, -1, sizeof(owner));
		for (i = 0; i < 40; i++) {
			line[i].start = random__below(&r, 200);
			line[i].size = 1 + random__below(&r, 50);
			line[i].gone = false;
			for (k = 0; k < i; k++)
				line[k].gone |= line[k].start < line[i].start + line[i].size &&
						line[i].start < line[k].start + line[k].size;
			snprintf(one, sizeof(one), "%llx %llx n%d\n", line[i].start, line[i].size,
				 i);
			strcat(text, one);
		}
		for (i = 0; i < 40; i++)
			for (k = 0; !line[i].gone && k < (int)line[i].size; k++)
				owner[line[i].start + k] = i;
		parse(&t, text);
		for (k = 0; k < 256; k++) {
			snprintf(one, sizeof(one), "n%d", owner[k]);
			if (owner[k] >= 0)
				assert_string_equal(name_at(&t, k), one);
		}
		symbol_table__free(&t);
	}
}

static void hostile(void **state)
{
	struct random r = { 9 };
	struct symbol_table t;
	char text[2048];
	size_t n, at;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		n = 0;
		while (n < 1500 && random__below(&r, 20)) {
			n += snprintf(text + n, 64, "%llx %llx ", random__any_size(&r),
				      random__any_size(&r));
			n += random__hostile(&r, text + n, 64);
			text[n++] = '\n';
		}
		for (at = 0; n && at < random__below(&r, 4); at++)
			text[random__below(&r, n)] = random__next(&r);
		assert_int_equal(jit_map__parse(&t, text, n), 0);
		symbol_table__find(&t, random__any_size(&r));
		symbol_table__free(&t);
	}
}

/* --- too large ---------------------------------------------------------------------------------- */

/* Reads a map of this text, padding that makes one invalid line, and more text. */
static void read_map(struct jit_map *j, const char *text, size_t padding, const char *more)
{
	static const char nothing[1 << 16];
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct allowance allowance = {};

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	for (; padding >= sizeof(nothing); padding -= sizeof(nothing))
		assert_int_equal(write(fd, nothing, sizeof(nothing)), sizeof(nothing));
	assert_int_equal(dprintf(fd, "\n%s", more), strlen(more) + 1);
	jit_map__init(j);
	j->fd = fd;
	assert_int_equal(jit_map__read(j, &allowance), 0);
}

/* The newest lines are read: names of discarded code must not come back. */
static void large(void **state)
{
	struct jit_map j;

	(void)state;
	read_map(&j, "1000 100 old\n2000 100 lost\n", JIT_MAP_MAX, "1000 100 new\n");
	assert_int_equal(j.err, -EFBIG);
	assert_string_equal(name_at(&j.table, 0x1010), "new");
	assert_string_equal(name_at(&j.table, 0x2010), "(none)");
	jit_map__free(&j);
	read_map(&j, "1000 100 old\n2000 100 kept\n", JIT_MAP_MAX / 2, "1000 100 new\n");
	assert_int_equal(j.err, 0);
	assert_string_equal(name_at(&j.table, 0x1010), "new");
	assert_string_equal(name_at(&j.table, 0x2010), "kept");
	jit_map__free(&j);
}

static void many_lines(void **state)
{
	static const size_t n = 3 << 20;
	char *text = malloc(16 * n), *at = text + sprintf(text, "1000 100 old\n2000 100 lost\n");
	struct symbol_table t;
	size_t i;

	(void)state;
	for (i = 0; i < n; i++, at += 9)
		memcpy(at, "9000 1 n\n", 9);
	at += sprintf(at, "1000 100 new\n");
	assert_int_equal(jit_map__parse(&t, text, at - text), 0);
	assert_string_equal(name_at(&t, 0x1010), "new");
	assert_string_equal(name_at(&t, 0x2010), "(none)");
	symbol_table__free(&t);
	free(text);
}

/* --- /proc/PID/maps --------------------------------------------------------------------------- */

static void mapping_lines(void **state)
{
	static const struct {
		const char *line;
		struct mapping_line m;
	} good[] = {
		{ "55952b7b7000-55952b878000 r-xp 0002f000 fe:00 247101                     "
		  "/usr/bin/bash\n",
		  { 0x55952b7b7000, 0x55952b878000, 0x2f000, 247101, .executable = true,
		    .name = "/usr/bin/bash" } },
		{ "1000-2000 rw-p 00000000 00:00 0 \n", { 0x1000, 0x2000, .name = "" } },
		{ "1000-2000 rw-p 00000000 00:00 0", { 0x1000, 0x2000, .name = "" } },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0     [vsyscall]\n",
		  { 0xffffffffff600000, 0xffffffffff601000, .executable = true,
		    .name = "[vsyscall]" } },
		{ "1000-2000 r-xs 00001000 00:01 7    /memfd:a b (deleted)\n",
		  { 0x1000, 0x2000, 0x1000, 7, .executable = true, .deleted = true,
		    .name = "/memfd:a b" } },
		{ "1000-2000 r-xp 00000000 00:01 7    /tmp/a\\012b \\ (deleted)c\n",
		  { 0x1000, 0x2000, 0, 7, .executable = true, .name = "/tmp/a\nb \\ (deleted)c" } },
	};
	static const char *const bad[] = {
		"", "\n", "1000\n", "1000-\n", "1000-2000\n", "1000-2000 r-xp\n",
		"2000-1000 r-xp 00000000 00:00 0 \n", "1000-1000 r-xp 00000000 00:00 0 \n",
		"1000-2000 r-xp 00000000 00:00\n", "1000-2000 r-xp 00000000 0000 0 \n",
		"-1000-2000 r-xp 00000000 00:00 0 \n", "1000-2000 r-xpp 00000000 00:00 0 \n",
		"1000-2000 r-xp 00000000 00:00 0/a\n", "1000-2000 \n",
	};
	struct mapping_line m;
	char line[256];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		const struct mapping_line *want = &good[i].m;

		strcpy(line, good[i].line);
		assert_true(mapping__parse(&m, line));
		assert_int_equal(m.start, want->start);
		assert_int_equal(m.end, want->end);
		assert_int_equal(m.offset, want->offset);
		assert_int_equal(m.inode, want->inode);
		assert_int_equal(m.executable, want->executable);
		assert_int_equal(m.deleted, want->deleted);
		assert_string_equal(m.name, want->name);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		strcpy(line, bad[i]);
		assert_false(mapping__parse(&m, line));
	}
}

static void selves(void **state)
{
	struct process_stamp a, b;
	struct process_self self;

	(void)state;
	assert_int_equal(process_self__read(&self, getpid()), 0);
	assert_int_equal(self.uid, geteuid());
	assert_int_equal(self.pid, getpid());
	assert_int_equal(process_stamp__read(&a, getpid()), 0);
	assert_int_equal(process_stamp__read(&b, getpid()), 0);
	assert_true(a.start_time && a.size && a.data);
	assert_int_equal(a.start_time, b.start_time);
	assert_int_equal(process_self__read(&self, 4194305), -ESRCH);
	assert_int_equal(process_stamp__read(&a, 4194305), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),       cmocka_unit_test(no_lines),
		cmocka_unit_test(replaced),    cmocka_unit_test(random_maps),
		cmocka_unit_test(hostile),     cmocka_unit_test(mapping_lines),
		cmocka_unit_test(selves),      cmocka_unit_test(large),
		cmocka_unit_test(many_lines),
	};

	return cmocka_run_group_tests_name("JIT maps", tests, NULL, NULL);
}
