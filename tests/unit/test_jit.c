// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs compiled filters on records in a small interpreter, and compares the results with those of
 * the same expressions when evaluated on the tree with 128-bit integers. The live tests cover the
 * kernel's verifier and execution.
 */
#include "unit.h"

#include "expr_meaning.h"
#include "jit/compile.h"

/* --- an interpreter for what the compiler emits ------------------------------------------------- */

#define STACK 512

struct machine {
	u64 r[11];
	u8 stack[STACK];
	const u8 *record;
	size_t size;
	u32 pid, tid, uid, cpu;
	const char *comm;
	u64 out;                /* where a value is stored */
};

/* Addresses in the machine's memory. */
#define CONTEXT_AT (1ULL << 32)
#define STACK_END (2ULL << 32)
#define OUT_AT (3ULL << 32)

static u8 *memory(struct machine *m, u64 address, size_t n)
{
	if (address >= CONTEXT_AT && address + n <= CONTEXT_AT + m->size)
		return (u8 *)m->record + (address - CONTEXT_AT);
	if (address == OUT_AT && n == sizeof(m->out))
		return (u8 *)&m->out;
	if (address < STACK_END - STACK || address + n > STACK_END)
		fail_msg("memory at %llx", address);
	return m->stack + (address - (STACK_END - STACK));
}

static void call(struct machine *m, int helper)
{
	size_t i;
	u8 *to;

	switch (helper) {
	case BPF_FUNC_get_current_pid_tgid:
		m->r[0] = (u64)m->pid << 32 | m->tid;
		break;
	case BPF_FUNC_get_current_uid_gid:
		m->r[0] = 77ULL << 32 | m->uid;
		break;
	case BPF_FUNC_get_smp_processor_id:
		m->r[0] = m->cpu;
		break;
	case BPF_FUNC_get_current_comm:
		assert_int_equal(m->r[2], 16);
		to = memory(m, m->r[1], 16);
		memset(to, 0, 16);
		memcpy(to, m->comm, strlen(m->comm));
		m->r[0] = 0;
		break;
	case BPF_FUNC_probe_read_kernel_str:
		to = memory(m, m->r[1], m->r[2]);
		if (m->r[3] < CONTEXT_AT || m->r[3] >= CONTEXT_AT + m->size) {
			m->r[0] = -EFAULT;
			break;
		}
		memset(to, 0xaa, m->r[2]);
		for (i = 0; i < m->r[2]; i++) {
			to[i] = i + 1 == m->r[2] ? 0 : *memory(m, m->r[3] + i, 1);
			if (!to[i])
				break;
		}
		m->r[0] = i + 1;
		break;
	default:
		fail_msg("helper %d", helper);
	}
	/* These are undefined after a call. */
	for (i = 1; i <= 5; i++)
		m->r[i] = 0xdeadbeefdeadbeefULL;
}

static bool jumps(int op, u64 a, u64 b)
{
	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return (s64)a > (s64)b;
	case BPF_JSGE:
		return (s64)a >= (s64)b;
	case BPF_JSLT:
		return (s64)a < (s64)b;
	case BPF_JSLE:
		return (s64)a <= (s64)b;
	default:
		fail_msg("jump %x", op);
		return false;
	}
}

static u64 operate(int op, u64 a, u64 b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	case BPF_ARSH:
		return (s64)a >> (b & 63);
	case BPF_NEG:
		return -a;
	case BPF_MOV:
		return b;
	default:
		fail_msg("operation %x", op);
		return 0;
	}
}

static size_t width(int code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static s64 run(struct machine *m, const struct code *c)
{
	size_t at, n;
	u64 value;

	memset(m->r, 0x5a, sizeof(m->r));
	memset(m->stack, 0x5a, sizeof(m->stack));
	m->r[1] = CONTEXT_AT;
	m->r[2] = OUT_AT;
	m->r[10] = STACK_END;
	for (at = 0; at < c->n; at++) {
		const struct bpf_insn *i = &c->insn[at];

		value = BPF_SRC(i->code) == BPF_X ? m->r[i->src_reg] : (u64)(s64)i->imm;
		switch (BPF_CLASS(i->code)) {
		case BPF_ALU64:
			m->r[i->dst_reg] = operate(BPF_OP(i->code), m->r[i->dst_reg], value);
			break;
		case BPF_LD:
			m->r[i->dst_reg] = (u32)i->imm | (u64)(u32)c->insn[++at].imm << 32;
			break;
		case BPF_LDX:
			n = width(i->code);
			/* The context may be read only in aligned pieces, and not in its first eight bytes. */
			if (m->r[i->src_reg] == CONTEXT_AT)
				assert_true(i->off % (int)n == 0 && i->off >= 8);
			value = 0;
			memcpy(&value, memory(m, m->r[i->src_reg] + i->off, n), n);
			m->r[i->dst_reg] = value;
			break;
		case BPF_STX:
			n = width(i->code);
			memcpy(memory(m, m->r[i->dst_reg] + i->off, n), &m->r[i->src_reg], n);
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_EXIT)
				return m->r[0];
			if (BPF_OP(i->code) == BPF_CALL)
				call(m, i->imm);
			else if (jumps(BPF_OP(i->code), m->r[i->dst_reg], value))
				at += i->off;
			break;
		default:
			fail_msg("instruction %x", i->code);
		}
	}
	fail_msg("the end was left");
	return 0;
}

/* --- records ------------------------------------------------------------------------------------ */

static const char format_text[] =
	"name: test\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:u8 b;\toffset:8;\tsize:1;\tsigned:0;\n"
	"\tfield:s8 sb;\toffset:9;\tsize:1;\tsigned:1;\n"
	"\tfield:u16 h;\toffset:10;\tsize:2;\tsigned:0;\n"
	"\tfield:s16 sh;\toffset:12;\tsize:2;\tsigned:1;\n"
	"\tfield:u32 w;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:s32 sw;\toffset:20;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 d;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 sd;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char text[8];\toffset:41;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] any;\toffset:52;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 odd;\toffset:58;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 vec;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%s\", __print_symbolic(REC->vec, { 1, \"TIMER\" }, { 9, \"RCU\" })\n";

/* --- tests -------------------------------------------------------------------------------------- */

static void compiled_filters_mean_what_the_tree_says(void **state)
{
	struct random random = { 4 };
	struct tracepoint_format format;
	const struct place place = { .context = PLACE_RECORD, .event = "test:test", .format = &format };
	size_t i, k, n, compared = 0, held = 0, faults = 0;
	char *text;

	(void)state;
	assert_int_equal(tracepoint_format__parse(&format, format_text), 0);
	for (i = 0; i < 20000; i++) {
		struct complaint c;
		FILE *f = open_memstream(&text, &n);
		struct code code = {}, value = {};
		struct expr *e;
		int err;

		put_random(&random, f, 3, false);
		fclose(f);
		if (expr__parse(&e, text, &c))
			fail_msg("%s: %s", text, c.what);
		err = filter__compile(&code, e, &place, &c);
		if (err && !is_decided(&c))
			fail_msg("%s: %s", text, c.what);
		if (!err)
			err = value__compile(&value, e, VALUE_UNSIGNED, &place, &c);
		for (k = 0; !err && k < 20; k++) {
			struct record r = {
				.b = edge(&random), .sb = edge(&random), .h = edge(&random),
				.sh = edge(&random), .w = edge(&random), .sw = edge(&random),
				.d = edge(&random), .sd = edge(&random),
			};
			struct machine m = { .record = (u8 *)&r, .size = sizeof(r) };
			struct number wanted = meaning(&r, e);
			s64 got = run(&m, &code);

			if (!agrees(got, &wanted, wanted.value != 0))
				fail_msg("%s: %lld", text, got);
			got = run(&m, &value);
			if (!agrees(got, &wanted, wanted.value < 0) ||
			    (got == 0 && m.out != (u64)wanted.value))
				fail_msg("%s: %lld, %llu", text, got, m.out);
			compared++;
			held += got == 1;
			faults += got < 0;
		}
		code__free(&code);
		code__free(&value);
		expr__free(e);
		free(text);
	}
	/* Neither result may be rare. */
	assert_true(compared > 200000 && held > compared / 10 && held < compared * 9 / 10 && faults > 100);
	tracepoint_format__free(&format);
}

static s64 verdict(const char *text, const struct record *r, struct complaint *c)
{
	struct tracepoint_format format;
	const struct place place = { .context = PLACE_RECORD, .event = "test:test", .format = &format };
	struct machine m = {
		.record = (u8 *)r, .size = sizeof(*r), .pid = 12, .tid = 34, .uid = 1000, .cpu = 3,
		.comm = "nginx",
	};
	struct code code = {};
	struct expr *e;
	s64 result;

	assert_int_equal(tracepoint_format__parse(&format, format_text), 0);
	if (expr__parse(&e, text, c))
		fail_msg("%s: %s", text, c->what);
	result = filter__compile(&code, e, &place, c);
	if (!result)
		result = run(&m, &code);
	code__free(&code);
	expr__free(e);
	tracepoint_format__free(&format);
	return result;
}

static void texts_and_names_are_known(void **state)
{
	static const struct {
		const char *text;
		s64 verdict;
	} table[] = {
		{ "text == \"WS\"", 1 }, { "text == \"W\"", 0 }, { "text == \"WSX\"", 0 },
		{ "text != \"WS\"", 0 }, { "text != \"\"", 1 }, { "\"WS\" == text", 1 },
		{ "!(text == \"WS\")", 0 }, { "text == \"WS\" && b == 1", 1 },
		{ "text == \"R\" || b == 1", 1 },
		{ "any == \"some/longer path\"", 1 }, { "any == \"some/longer pat\"", 0 },
		{ "any == \"some/longer paths\"", 0 }, { "any != \"x\"", 1 }, { "any == \"\"", 0 },
		{ "text ~ \"*W*\"", 1 }, { "text ~ \"W\"", 0 }, { "text ~ \"W?\"", 1 },
		{ "text !~ \"*W*\"", 0 }, { "text ~ \"[VW]S\"", 1 }, { "text ~ \"[!VW]S\"", 0 },
		{ "text ~ \"*\"", 1 }, { "text ~ \"\"", 0 }, { "comm ~ \"ng*x\"", 1 },
		{ "comm ~ \"*inx\" && comm !~ \"x*\"", 1 }, { "any ~ \"some/*\"", 1 },
		{ "any ~ \"*path\"", 1 }, { "any ~ \"*pat\"", 0 }, { "any ~ \"*/l*r p*\"", 1 },
		{ "!(any ~ \"*zzz*\") || b == 2", 1 },
		{ "comm == \"nginx\"", 1 }, { "comm == \"ngin\"", 0 }, { "comm != \"nginx\"", 0 },
		{ "pid == 12", 1 }, { "tid == 34", 1 }, { "uid == 1000", 1 }, { "cpu == 3", 1 },
		{ "pid == 34", 0 }, { "vec == RCU", 1 }, { "vec == TIMER", 0 }, { "w == 4K", 1 },
		{ "w == 4096 && (pid == 12 && cpu < 4)", 1 }, { "b", 1 }, { "!b", 0 }, { "sd < 0", 1 },
		{ "d > sd", 1 }, { "sd > d", 0 }, { "sd != d", 1 }, { "d == 0x8000000000000000", 1 },
		{ "d < 5ms", 0 }, { "w / 0 == 1", EVENT_BAD_ARITHMETIC }, { "b == 2 && w / 0 == 1", 0 },
	};
	struct record r = {
		.b = 1, .w = 4096, .d = 1ULL << 63, .sd = -1, .text = "WS", .vec = 9,
		.any = 17 << 16 | offsetof(struct record, dynamic), .dynamic = "some/longer path",
	};
	struct complaint c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (verdict(table[i].text, &r, &c) != table[i].verdict)
			fail_msg("%s is not %lld (%s)", table[i].text, table[i].verdict, c.what);
	/* A text that fills its array has no NUL after it. */
	memcpy(r.text, "12345678", 8);
	assert_int_equal(verdict("text == \"12345678\"", &r, &c), 1);
	assert_int_equal(verdict("text == \"1234567\"", &r, &c), 0);
	assert_int_equal(verdict("text ~ \"*8\"", &r, &c), 1);
	assert_int_equal(verdict("text ~ \"*7\"", &r, &c), 0);
	/* A text with an invalid place is counted as a fault, and not mistaken for another text. */
	r.any = 5000;
	assert_int_equal(verdict("any == \"a\"", &r, &c), -1);
	assert_int_equal(verdict("any ~ \"*\"", &r, &c), -1);
}

static void what_cannot_be_compiled_is_refused_in_place(void **state)
{
	static const struct {
		const char *text;
		int err;
		size_t at, len;
		const char *what;
	} table[] = {
		{ "zz == 1", -EINVAL, 0, 2, "has no field 'zz'" },
		{ "b == 1 && zz", -EINVAL, 10, 2, "has no field 'zz'" },
		{ "text == 1", -EINVAL, 0, 4, "string in quotes" },
		{ "text < \"a\"", -EINVAL, 5, 1, "no order" },
		{ "text == \"123456789\"", -EINVAL, 8, 11, "never holds" },
		{ "text ~ b", -EINVAL, 5, 1, "glob in quotes" },
		{ "text ~ \"[a\"", -EINVAL, 7, 4, "no ']'" },
		{ "b ~ \"a*\"", -EINVAL, 2, 1, "only strings can match a glob" },
		{ "b == \"a\"", -EINVAL, 5, 3, "string can only be compared" },
		{ "common_pid == 1", -EOPNOTSUPP, 0, 10, "common" },
		{ "odd == 1", -EINVAL, 0, 3, "not aligned" },
		{ "b == -1", -EINVAL, 0, 7, "this is never true: b is u8" },
		{ "b != 256", -EINVAL, 0, 8, "this is always true: b is u8" },
		{ "b == 1 && w < 0", -EINVAL, 10, 5, "this is never true: w is u32" },
		{ "-1 < d", -EINVAL, 0, 6, "this is always true: d is u64" },
		{ "sh > 32767", -EINVAL, 0, 10, "this is never true: sh is s16" },
		{ "$retval == 1", -EINVAL, 0, 7, "the return of a function has a result" },
		{ "$arg1 == 1", -EINVAL, 0, 5, "has named fields, not arguments" },
		{ "$elapsed > 1ms", -EINVAL, 0, 8, "between two events" },
		{ "$stack0 == 1", -EINVAL, 0, 7, "stack is not available" },
		{ "$nothing == 1", -EINVAL, 0, 8, "unknown variable $nothing" },
		{ "%di == 1", -EINVAL, 0, 3, "no registers" },
		{ "b->c == 1", -EINVAL, 0, 1, "this is not a pointer but u8" },
		{ "*b == 1", -EINVAL, 1, 1, "this is not a pointer but u8" },
		{ "b[1] == 1", -EINVAL, 0, 1, "this is not a pointer but u8" },
		{ "&b == 1", -EINVAL, 0, 2, "not in memory" },
		{ "b.c == 1", -EINVAL, 0, 1, "not a structure in memory" },
		{ "(struct sock *)b == 1", -EINVAL, 0, 15, "unknown type 'struct sock *'" },
		{ "dev == /dev/no-such-thing", -ENOENT, 7, 18, "no device" },
	};
	struct record r = {};
	struct complaint c;
	size_t i;
	s64 err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		err = verdict(table[i].text, &r, &c);
		if (err != table[i].err || c.at != table[i].at || c.len != table[i].len ||
		    !strstr(c.what, table[i].what))
			fail_msg("'%s': %lld %zu+%zu '%s'", table[i].text, err, c.at, c.len, c.what);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiled_filters_mean_what_the_tree_says),
		cmocka_unit_test(texts_and_names_are_known),
		cmocka_unit_test(what_cannot_be_compiled_is_refused_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
