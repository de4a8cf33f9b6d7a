// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random expressions, compiled, loaded and run by the kernel (BPF_PROG_TEST_RUN), against what they mean: 100,000
 * runs of numbers in arguments and in memory. Skipped without the right to load programs.
 */
#include "unit.h"

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/probe.h"
#include "expr_meaning.h"
#include "jit/compile.h"

#define EXPRESSIONS 2500
#define RUNS 20                 /* of each, of its filter and of its value */

/* A page of which the kernel and this process see the same: the frame, and the verdict. */
struct shared {
	int fd;
	u8 *page;
};

static bool share(struct shared *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	s->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "frame", sizeof(u32), sizeof(struct probe_frame), 1, &opts);
	if (s->fd < 0)
		return false;
	s->page = mmap(NULL, sizeof(struct probe_frame), PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	return s->page != MAP_FAILED;
}

/* What a program that calls would hand over: the context in r1, the frame in r2. */
static void put_prologue(struct code *c, int map)
{
	int found = code__label(c);

	code__move(c, BPF_REG_6, BPF_REG_1);
	code__set(c, BPF_REG_1, 0);
	code__store(c, BPF_W, BPF_REG_10, BPF_REG_1, -4);
	code__move(c, BPF_REG_2, BPF_REG_10);
	code__op_number(c, BPF_ADD, BPF_REG_2, -4);
	code__emit(c, (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
					 .src_reg = BPF_PSEUDO_MAP_FD, .imm = map });
	code__emit(c, (struct bpf_insn){});
	code__call(c, BPF_FUNC_map_lookup_elem);
	code__jump_if_number(c, BPF_JNE, BPF_REG_0, 0, found);
	code__exit(c);
	code__place(c, found);
	code__move(c, BPF_REG_2, BPF_REG_0);
	code__move(c, BPF_REG_1, BPF_REG_6);
	assert_int_equal(code__finish(c), 0);
}

/* Returns the program's descriptor. */
static int load(const struct code *prologue, const struct code *body, const char *text)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	size_t n = prologue->n + body->n, i;
	struct bpf_insn *insns = calloc(n, sizeof(*insns));
	char log[4096] = "";
	int fd;

	assert_non_null(insns);
	for (i = 0; i < prologue->n; i++)
		insns[i] = prologue->insn[i];
	memcpy(insns + prologue->n, body->insn, body->n * sizeof(*insns));
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "expression", "GPL", insns, n, &opts);
	if (fd < 0) {
		opts.log_buf = log;
		opts.log_size = sizeof(log);
		opts.log_level = 4;
		bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "expression", "GPL", insns, n, &opts);
		fail_msg("%s: %s", text, log);
	}
	free(insns);
	return fd;
}

static int run(int fd, const u64 *arguments, size_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = arguments, .ctx_size_in = n * sizeof(*arguments));

	assert_int_equal(bpf_prog_test_run_opts(fd, &opts), 0);
	return opts.retval;
}

static void make_place(struct place *p)
{
	struct place_variable v = { .where = AT_ARGUMENT };
	size_t i;

	*p = (struct place){ .context = PLACE_ARGUMENTS, .event = "test", .nslots = 9 };
	for (i = 0; i < ARRAY_SIZE(numbers_of_record); i++) {
		v.name = (char *)numbers_of_record[i].name;
		v.number = i;
		assert_int_equal(c_type__parse(&v.type, NULL, numbers_of_record[i].type), 0);
		assert_int_equal(place__add(p, &v), 0);
	}
	v = (struct place_variable){ .name = (char *)"p", .where = AT_ARGUMENT, .number = 8,
				     .type = c_type__integer(8, false) };
	assert_int_equal(place__add(p, &v), 0);
}

/* The upper bits of an argument are whatever was in the register. */
static void make_arguments(u64 arguments[9], const struct record *r, struct random *random)
{
	static const u8 bytes[] = { 1, 1, 2, 2, 4, 4, 8, 8 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers_of_record); i++) {
		arguments[i] = random__any_size(random) * 0x9e3779b97f4a7c15ULL;
		memcpy(&arguments[i], (const u8 *)r + numbers_of_record[i].at, bytes[i]);
	}
	arguments[8] = (uintptr_t)r;
}

static struct record random_record(struct random *random)
{
	return (struct record){
		.b = edge(random), .sb = edge(random), .h = edge(random), .sh = edge(random),
		.w = edge(random), .sw = edge(random), .d = edge(random), .sd = edge(random),
	};
}

static void check(struct shared *s, const struct code prologue[1], const struct place *place, const char *text,
		  struct random *random, size_t *runs)
{
	struct code filter = {}, value = {};
	struct complaint c;
	struct expr *e;
	int err, filter_fd, value_fd, i;

	if (expr__parse(&e, text, &c))
		fail_msg("%s: %s", text, c.what);
	err = filter__compile(&filter, e, place, &c);
	/* Division of signed numbers is refused; everything else is not. */
	if (err && !strstr(c.what, "divided"))
		fail_msg("%s: %s", text, c.what);
	if (!err)
		err = value__compile(&value, e, true, place, &c);
	if (!err) {
		filter_fd = load(prologue, &filter, text);
		value_fd = load(prologue, &value, text);
		for (i = 0; i < RUNS; i++) {
			struct record r = random_record(random);
			struct number wanted = meaning(&r, e);
			u64 arguments[9], got;
			int verdict;

			make_arguments(arguments, &r, random);
			verdict = run(filter_fd, arguments, ARRAY_SIZE(arguments));
			if (!(wanted.maybe && verdict == -1) &&
			    (wanted.fault ? verdict != -1 : verdict != (wanted.value != 0)))
				fail_msg("%s: the filter says %d", text, verdict);
			verdict = run(value_fd, arguments, ARRAY_SIZE(arguments));
			memcpy(&got, s->page, sizeof(got));
			if (!(wanted.maybe && verdict == -1) &&
			    (wanted.fault ? verdict != -1 : verdict != 0 || got != (u64)wanted.value))
				fail_msg("%s: the value is %lld, %llu", text, (s64)verdict, got);
			*runs += 2;
		}
		close(filter_fd);
		close(value_fd);
	}
	code__free(&filter);
	code__free(&value);
	expr__free(e);
}

static void the_kernel_computes_what_the_tree_says(void **state)
{
	struct random random = { 11 };
	struct code prologue = {};
	struct shared s = {};
	struct place place;
	size_t i, n, runs = 0;
	char *text;

	(void)state;
	if (!share(&s)) {
		print_message("this user cannot make maps\n");
		skip();
	}
	put_prologue(&prologue, s.fd);
	make_place(&place);
	for (i = 0; i < EXPRESSIONS || runs < EXPRESSIONS * RUNS * 2; i++) {
		FILE *f = open_memstream(&text, &n);

		put_random(&random, f, 3, true);
		fclose(f);
		check(&s, &prologue, &place, text, &random, &runs);
		free(text);
	}
	print_message("%zu runs\n", runs);
	place__free(&place);
	code__free(&prologue);
	munmap(s.page, sizeof(struct probe_frame));
	close(s.fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_computes_what_the_tree_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
