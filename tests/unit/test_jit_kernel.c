// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compiles random expressions, runs them in the kernel (BPF_PROG_TEST_RUN), and compares the results with those of
 * their trees: 100,000 runs with numbers in arguments and in memory. Skipped without the right to load programs.
 */
#include "unit.h"

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/lib/probe.h"
#include "expr_meaning.h"
#include "jit/compile.h"

#define EXPRESSIONS 2500
#define RUNS 20                 /* of each expression, as filter and as value */

/* A page that the kernel and this process share, with the frame and the verdict. */
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

/* Sets registers as a calling program would: the context in r1, the frame in r2. */
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
		assert_int_equal(c_type__parse(&v.type, NULL, NULL, numbers_of_record[i].type), 0);
		assert_int_equal(place__add(p, &v), 0);
	}
	v = (struct place_variable){ .name = (char *)"p", .where = AT_ARGUMENT, .number = 8,
				     .type = c_type__integer(8, false) };
	assert_int_equal(place__add(p, &v), 0);
}

/* The upper bits of an argument contain whatever was in the register. */
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
	if (err && !is_decided(&c))
		fail_msg("%s: %s", text, c.what);
	if (!err)
		err = value__compile(&value, e, VALUE_BITS, place, &c);
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
			if (!agrees(verdict, &wanted, wanted.value != 0))
				fail_msg("%s: the filter says %d", text, verdict);
			verdict = run(value_fd, arguments, ARRAY_SIZE(arguments));
			memcpy(&got, s->page, sizeof(got));
			if (!agrees(verdict, &wanted, 0) || (!verdict && got != (u64)wanted.value))
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

/*
 * --- all pairs of types --------------------------------------------------------------------------
 */

#define EDGES 10
enum { A, B, C };               /* the arguments; C is an s64 */

struct typed {
	const char *name;
	struct c_type type;
	__int128 lowest, highest;
};

static struct typed typed(const char *name, struct c_type type, u32 size, bool is_signed)
{
	struct typed t = { name, type, 0, ((__int128)1 << 8 * size) - 1 };

	if (is_signed) {
		t.highest >>= 1;
		t.lowest = -t.highest - 1;
	}
	return t;
}

/* Integers of all sizes, char and bool, and enumerations with and without negative values. */
static size_t make_types(struct typed *t, struct btf *btf)
{
	static const struct {
		const char *name;
		u32 size;
		bool is_signed;
	} integers[] = {
		{ "s8", 1, true }, { "s16", 2, true }, { "s32", 4, true }, { "s64", 8, true },
		{ "u8", 1, false }, { "u16", 2, false }, { "u32", 4, false }, { "u64", 8, false },
		{ "char", 1, true }, { "bool", 1, false },
	};
	int plain, negative;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(integers); i++) {
		assert_int_equal(c_type__parse(&t[i].type, NULL, NULL, integers[i].name), 0);
		t[i] = typed(integers[i].name, t[i].type, integers[i].size, integers[i].is_signed);
	}
	plain = btf__add_enum(btf, "plain", 4);
	assert_int_equal(btf__add_enum_value(btf, "P", 5), 0);
	negative = btf__add_enum(btf, "negative", 4);
	assert_int_equal(btf__add_enum_value(btf, "N", -5), 0);
	t[i++] = typed("enum plain", c_type__of(btf, plain), 4, false);
	t[i++] = typed("enum negative", c_type__of(btf, negative), 4, true);
	return i;
}

static void edges_of(const struct typed *t, __int128 edge[EDGES])
{
	const __int128 wanted[EDGES] = { t->lowest, t->lowest + 1, -1, 0, 1, 2, 63, 64, t->highest - 1, t->highest };
	size_t i;

	for (i = 0; i < EDGES; i++)
		edge[i] = wanted[i] < t->lowest || wanted[i] > t->highest ? t->lowest : wanted[i];
}

/* Reduces the exact result to 64 bits: signed if any two values of these types have a result below zero. */
static __int128 in_64_bits(__int128 exact, bool is_signed)
{
	return is_signed ? (__int128)(s64)exact : (__int128)(u64)exact;
}

static bool can_be_negative(enum expr_op op, const __int128 *a, const __int128 *b)
{
	__int128 exact;
	size_t i, k;

	for (i = 0; i < EDGES; i++)
		for (k = 0; k < EDGES; k++) {
			/* The product of two u64 takes all 128 bits. */
			if (op == EXPR_MULTIPLY && (a[i] >= 0) == (b[k] >= 0))
				continue;
			if (computed(op, a[i], b[k], &exact) && exact < 0)
				return true;
		}
	return false;
}

struct pair {
	const struct typed *a, *b;
	struct place place;
	const struct code *prologue;
	const struct shared *shared;
	__int128 x[EDGES], y[EDGES];
	size_t runs;
};

static int load_pair(const struct pair *p, const char *text, bool filter)
{
	struct code code = {};
	struct complaint c;
	struct expr *e;
	int err, fd;

	if (expr__parse(&e, text, &c))
		fail_msg("%s: %s", text, c.what);
	err = filter ? filter__compile(&code, e, &p->place, &c) :
		       value__compile(&code, e, VALUE_BITS, &p->place, &c);
	if (err)
		fail_msg("%s of %s and %s: %s", text, p->a->name, p->b->name, c.what);
	fd = load(p->prologue, &code, text);
	code__free(&code);
	expr__free(e);
	return fd;
}

/* A small type is in the lower bits of a register; the upper bits contain something else. */
static u64 in_register(const struct typed *t, __int128 value)
{
	u64 mask = (u64)(t->highest - t->lowest);

	return ((u64)value & mask) | (0xa5a5a5a5a5a5a5a5ULL & ~mask);
}

static void check_comparison(struct pair *p, enum expr_op op)
{
	char text[32];
	size_t i, k;
	int fd;

	snprintf(text, sizeof(text), "a %s b", expr_op_text(op));
	fd = load_pair(p, text, true);
	for (i = 0; i < EDGES; i++)
		for (k = 0; k < EDGES; k++) {
			u64 arguments[] = { in_register(p->a, p->x[i]), in_register(p->b, p->y[k]), 0 };

			if (run(fd, arguments, ARRAY_SIZE(arguments)) != compares(op, p->x[i], p->y[k]))
				fail_msg("%s: %s %lld, %s %lld", text, p->a->name, (s64)p->x[i], p->b->name,
					 (s64)p->y[k]);
			p->runs++;
		}
	close(fd);
}

static void check_arithmetic(struct pair *p, enum expr_op op)
{
	static const s64 others[] = { -1, 0, INT64_MAX, INT64_MIN, 1, -2 };
	bool is_signed = can_be_negative(op, p->x, p->y), is_number;
	int value_fd, filter_fd, verdict;
	char text[32], comparison[48];
	__int128 exact;
	size_t i, k;
	u64 got;

	snprintf(text, sizeof(text), "a %s b", expr_op_text(op));
	snprintf(comparison, sizeof(comparison), "(%s) < c", text);
	value_fd = load_pair(p, text, false);
	filter_fd = load_pair(p, comparison, true);
	for (i = 0; i < EDGES; i++)
		for (k = 0; k < EDGES; k++) {
			s64 other = others[p->runs++ % ARRAY_SIZE(others)];
			u64 arguments[] = { in_register(p->a, p->x[i]), in_register(p->b, p->y[k]), other };

			is_number = computed(op, p->x[i], p->y[k], &exact);
			verdict = run(value_fd, arguments, ARRAY_SIZE(arguments));
			memcpy(&got, p->shared->page, sizeof(got));
			if (verdict != (is_number ? 0 : EVENT_BAD_ARITHMETIC) || (is_number && got != (u64)exact))
				fail_msg("%s: %s %lld, %s %lld: %d, %llx", text, p->a->name, (s64)p->x[i],
					 p->b->name, (s64)p->y[k], verdict, got);
			verdict = run(filter_fd, arguments, ARRAY_SIZE(arguments));
			if (verdict != (is_number ? in_64_bits(exact, is_signed) < other : EVENT_BAD_ARITHMETIC))
				fail_msg("%s: %s %lld, %s %lld, %lld: %d", comparison, p->a->name,
					 (s64)p->x[i], p->b->name, (s64)p->y[k], other, verdict);
		}
	close(value_fd);
	close(filter_fd);
}

static void check_pair(struct pair *p)
{
	struct place_variable v[] = {
		{ .name = (char *)"a", .where = AT_ARGUMENT, .number = A, .type = p->a->type },
		{ .name = (char *)"b", .where = AT_ARGUMENT, .number = B, .type = p->b->type },
		{ .name = (char *)"c", .where = AT_ARGUMENT, .number = C, .type = c_type__integer(8, true) },
	};
	enum expr_op op;
	size_t i;

	p->place = (struct place){ .context = PLACE_ARGUMENTS, .event = "test", .nslots = ARRAY_SIZE(v) };
	for (i = 0; i < ARRAY_SIZE(v); i++)
		assert_int_equal(place__add(&p->place, &v[i]), 0);
	edges_of(p->a, p->x);
	edges_of(p->b, p->y);
	for (op = EXPR_MULTIPLY; op <= EXPR_BIT_OR; op++) {
		if (op == EXPR_LIKE || op == EXPR_NOT_LIKE)
			continue;
		if (expr_op_is_comparison(op))
			check_comparison(p, op);
		else
			check_arithmetic(p, op);
	}
	place__free(&p->place);
}

static void all_pairs_of_types_compute_as_mathematics_does(void **state)
{
	struct typed types[16];
	struct code prologue = {};
	struct shared s = {};
	struct pair p = { .prologue = &prologue, .shared = &s };
	struct btf *btf = btf__new_empty();
	size_t n, i, k;

	(void)state;
	if (!share(&s)) {
		print_message("this user cannot make maps\n");
		skip();
	}
	assert_non_null(btf);
	n = make_types(types, btf);
	put_prologue(&prologue, s.fd);
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++) {
			p.a = &types[i];
			p.b = &types[k];
			check_pair(&p);
		}
	print_message("%zu runs of %zu pairs\n", p.runs, n * n);
	assert_int_equal(p.runs, n * n * 16 * EDGES * EDGES);
	btf__free(btf);
	code__free(&prologue);
	munmap(s.page, sizeof(struct probe_frame));
	close(s.fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_computes_what_the_tree_says),
		cmocka_unit_test(all_pairs_of_types_compute_as_mathematics_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
