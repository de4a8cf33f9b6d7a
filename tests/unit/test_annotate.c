// SPDX-License-Identifier: BSD-2-Clause
/* Instructions, checks of the disassembler's answers, and listings. */
#include "unit.h"

#include "sym/disassembly.h"
#include "profile/functions.h"
#include "report/listing.h"

static bool has_capstone(void)
{
#if defined(HAVE_CAPSTONE) && defined(__x86_64__)
	return true;
#else
	return false;
#endif
}

struct expected {
	u32 size;
	const char *mnemonic, *operands;
	enum instruction_kind kind;
	u64 target;
};

static void assert_instructions(const u8 *code, size_t size, const struct expected *e, size_t n)
{
	struct disassembly d;
	u64 at = 0x1000;
	size_t i;

	assert_int_equal(disassembly__make(&d, MACHINE_OWN, code, size, at), 0);
	assert_int_equal(d.n, n);
	for (i = 0; i < n; i++) {
		assert_int_equal(d.instruction[i].address, at);
		assert_int_equal(d.instruction[i].size, e[i].size);
		assert_string_equal(d.instruction[i].mnemonic, e[i].mnemonic);
		assert_string_equal(d.instruction[i].operands, e[i].operands);
		assert_int_equal(d.instruction[i].kind, e[i].kind);
		assert_int_equal(d.instruction[i].target, e[i].target);
		at += e[i].size;
	}
	disassembly__free(&d);
}

static void instructions(void **state)
{
	static const u8 code[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0xf7, 0xf1, 0x75, 0xfb, 0xe8, 0xf2, 0x00, 0x00, 0x00,
		0x48, 0x8b, 0x05, 0xeb, 0x01, 0x00, 0x00, 0xff, 0xe0, 0xc3,
	};
	static const struct expected expected[] = {
		{ 4, "endbr64", "", INSTRUCTION_OTHER, 0 },
		{ 3, "divq", "%rcx", INSTRUCTION_OTHER, 0 },
		{ 2, "jne", "0x1004", INSTRUCTION_BRANCHES, 0x1004 },
		{ 5, "callq", "0x1100", INSTRUCTION_BRANCHES, 0x1100 },
		{ 7, "movq", "0x1eb(%rip), %rax", INSTRUCTION_REFERS, 0x1200 },
		{ 2, "jmpq", "*%rax", INSTRUCTION_OTHER, 0 },
		{ 1, "retq", "", INSTRUCTION_OTHER, 0 },
	};

	(void)state;
	if (!has_capstone())
		skip();
	assert_instructions(code, sizeof(code), expected, ARRAY_SIZE(expected));
}

/* No byte is lost if it is not an instruction, or only half of one. */
static void no_instructions(void **state)
{
	static const u8 code[] = { 0x06, 0x90, 0xe8, 0x00 };
	static const struct expected expected[] = {
		{ 1, ".byte", "0x06", INSTRUCTION_OTHER, 0 },
		{ 1, "nop", "", INSTRUCTION_OTHER, 0 },
		{ 1, ".byte", "0xe8", INSTRUCTION_OTHER, 0 },
		{ 1, ".byte", "0x00", INSTRUCTION_OTHER, 0 },
	};

	(void)state;
	if (!has_capstone())
		skip();
	assert_instructions(code, sizeof(code), expected, ARRAY_SIZE(expected));
	assert_instructions(code, 0, expected, 0);
}

/*
 * Vector instructions whose lengths are right whether capstone knows them or not: compares into
 * masks, with each kind of memory operand, and moves of masks.
 */
static void vector_lengths(void **state)
{
	static const struct {
		u8 size;
		u8 byte[12];
	} code[] = {
		{ 6, { 0x62, 0xf1, 0x7d, 0x28, 0x74, 0x07 } },
		{ 7, { 0x62, 0xf1, 0x7d, 0x28, 0x74, 0x47, 0x01 } },
		{ 10, { 0x62, 0xf1, 0x7d, 0x28, 0x74, 0x87, 1, 2, 0, 0 } },
		{ 10, { 0x62, 0xf1, 0x7d, 0x28, 0x74, 0x05, 1, 2, 0, 0 } },
		{ 7, { 0x62, 0xf1, 0x7d, 0x28, 0x74, 0x04, 0x37 } },
		{ 8, { 0x62, 0xf1, 0x7d, 0x28, 0x74, 0x44, 0x37, 0x01 } },
		{ 7, { 0x62, 0xf3, 0x7d, 0x20, 0x3f, 0xc1, 0x04 } },
		{ 7, { 0x62, 0xf1, 0x7d, 0x28, 0x70, 0xc1, 0x1b } },
		{ 4, { 0xc5, 0xfb, 0x93, 0xc0 } },
		{ 5, { 0xc4, 0xe1, 0xfb, 0x92, 0xc9 } },
	};
	struct disassembly d;
	u8 bytes[13];
	size_t i;

	(void)state;
	if (!has_capstone())
		skip();
	for (i = 0; i < ARRAY_SIZE(code); i++) {
		memcpy(bytes, code[i].byte, code[i].size);
		bytes[code[i].size] = 0xc3;
		assert_int_equal(disassembly__make(&d, MACHINE_OWN, bytes, code[i].size + 1, 0), 0);
		assert_int_equal(d.n, 2);
		assert_int_equal(d.instruction[0].size, code[i].size);
		assert_string_equal(d.instruction[1].mnemonic, "retq");
		disassembly__free(&d);
	}
}

/* Capstone 4.0 takes the index for a vector register beside an upper vector register. The texts are objdump(1)'s. */
static void index_beside_upper_vectors(void **state)
{
	static const u8 code[] = {
		0x62, 0xf1, 0x75, 0x20, 0x76, 0x4c, 0x06, 0xff,
		0x62, 0xb1, 0x5d, 0x20, 0xfe, 0x4c, 0xa6, 0x01,
		0x62, 0xf1, 0x5d, 0x20, 0xfe, 0x0c, 0xc5, 0x40, 0x00, 0x00, 0x00,
		0x62, 0xf1, 0x5d, 0x20, 0xfe, 0x0c, 0x24,
		0x62, 0xf1, 0x5d, 0x20, 0xfe, 0x0c, 0x25, 0x00, 0x04, 0x00, 0x00,
		0xc4, 0xe2, 0x75, 0x90, 0x1c, 0x96,
	};
	static const struct expected expected[] = {
		{ 8, "vpcmpeqd", "-0x20(%rsi, %rax), %ymm17, %k1", INSTRUCTION_OTHER, 0 },
		{ 8, "vpaddd", "0x20(%rsi, %r12, 4), %ymm20, %ymm1", INSTRUCTION_OTHER, 0 },
		{ 11, "vpaddd", "0x40(, %rax, 8), %ymm20, %ymm1", INSTRUCTION_OTHER, 0 },
		{ 7, "vpaddd", "(%rsp), %ymm20, %ymm1", INSTRUCTION_OTHER, 0 },
		{ 11, "vpaddd", "0x400, %ymm20, %ymm1", INSTRUCTION_OTHER, 0 },
		{ 6, "vpgatherdd", "%ymm1, (%rsi, %ymm2, 4), %ymm3", INSTRUCTION_OTHER, 0 },
	};

	(void)state;
	if (!has_capstone())
		skip();
	assert_instructions(code, sizeof(code), expected, ARRAY_SIZE(expected));
}

/* Random bytes: each of them belongs to some instruction. */
static void any_bytes(void **state)
{
	struct random r = { 41 };
	struct disassembly d;
	u8 code[300];
	size_t n, i, sum;
	int round;

	(void)state;
	if (!has_capstone())
		skip();
	for (round = 0; round < 100; round++) {
		n = random__below(&r, sizeof(code));
		for (i = 0; i < n; i++)
			code[i] = random__next(&r);
		assert_int_equal(disassembly__make(&d, MACHINE_OWN, code, n, 0), 0);
		for (i = sum = 0; i < d.n; i++) {
			assert_int_equal(d.instruction[i].address, sum);
			sum += d.instruction[i].size;
		}
		assert_int_equal(sum, n);
		disassembly__free(&d);
	}
}

/* An incomplete answer is refused, and false data in an answer do no harm. */
static void lies(void **state)
{
	static const u8 code[] = { 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3 };
	struct random r = { 17 };
	struct disassembly d;
	size_t size, n, i;
	char *changed;
	void *answer;

	(void)state;
	if (!has_capstone())
		skip();
	assert_int_equal(disassembly__ask(MACHINE_OWN, code, sizeof(code), 0, &answer, &size), 0);
	for (n = 0; n < size; n++)
		assert_int_equal(disassembly__take(&d, answer, n, sizeof(code), 0), -EBADMSG);
	assert_int_equal(disassembly__take(&d, answer, size, sizeof(code) - 1, 0), -EBADMSG);
	assert_int_equal(disassembly__take(&d, answer, size, sizeof(code) + 1, 0), -EBADMSG);
	changed = malloc(size);
	for (i = 0; i < 20000; i++) {
		memcpy(changed, answer, size);
		changed[random__below(&r, size)] = random__next(&r);
		changed[random__below(&r, size)] = random__next(&r);
		if (disassembly__take(&d, changed, size, sizeof(code), 0))
			continue;
		assert_true(d.n <= sizeof(code));
		for (n = 0; n < d.n; n++)
			assert_true(strlen(d.instruction[n].mnemonic) +
				    strlen(d.instruction[n].operands) < size);
		disassembly__free(&d);
	}
	free(changed);
	free(answer);
}

static void names(void **state)
{
	static const struct {
		const char *name, *glob;
		bool is;
	} each[] = {
		{ "hot", "hot", true }, { "hot", "ho", false }, { "hot", "h*", true },
		{ "f(int, char)", "f", true }, { "f(int, char)", "f(*)", true },
		{ "f(int, char)", "f(int", false }, { "a::f(int) const", "a::f", true },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f", true },
		{ "a::operator()(int)", "a::operator()", true },
		{ "a::operator()(int)", "a::operator", false },
		{ "operator[](int)", "operator[](int)", true },
		{ "operator[](int)", "operator[]", true },
		{ "memcpy@@GLIBC_2.14", "memcpy", true },
		{ "", "x", false }, { "(", "", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(each); i++)
		if (is_function_named(each[i].name, each[i].glob) != each[i].is)
			fail_msg("%s, %s: not %d", each[i].name, each[i].glob, each[i].is);
}

/* --- listings --- */

static void add_listing(struct report *r, size_t n)
{
	struct listing *l;

	r->has_events = true;
	r->listings = calloc(1, sizeof(*r->listings));
	r->listings->unit = "samples";
	r->listings->total = 40;
	r->listings->n = 1;
	l = r->listings->listing = calloc(1, sizeof(*l));
	*l = (struct listing){
		.name = "f\033[31m", .module = "m\n", .path = "/p\xff", .address = 0x1000,
		.size = n, .count = 10, .line = calloc(n, sizeof(*l->line)), .n = n,
	};
	while (n--)
		l->line[n] = (struct listing_line){
			.offset = n, .size = 1, .mnemonic = "nop", .operands = "",
		};
}

static char *listed(struct report *r, enum report_format format)
{
	struct writer w = { .format = format, .separator = ',' };
	size_t len;
	char *text = written(&w, r, &len);

	assert_true(is_utf8(text, len));
	assert_null(strchr(text, 0x1b));
	return text;
}

static void text(void **state)
{
	struct report r = { .tool = "profile", .value = "CPU time" };
	struct listing_line *line;
	char *out;

	(void)state;
	add_listing(&r, 30);
	line = r.listings->listing->line;
	line[10].count = 7;
	line[11].count = 3;
	line[11].mnemonic = "jmp\033[2J";
	line[11].operands = "0x1010";
	line[11].has_target = line[11].target_is_operand = true;
	line[11].target = 0x1010;
	out = listed(&r, FORMAT_TEXT);
	assert_non_null(strstr(out, "f\\x1b[31m  (/p\\xff)  at 0x1000, 30 bytes\n"
				    "10 of 40 samples in all, 25.0%\n"));
	assert_non_null(strstr(out, "\n  70.0%           7    +0xa  nop\n"
				    "  30.0%           3    +0xb  jmp\\x1b[2J +0x10\n"));
	/* Ten cold instructions come before, of which two on either side are shown, and eighteen after. */
	assert_non_null(strstr(out, "    +0x1  nop\n"
				    "                             ... 6 without samples\n"
				    "                       +0x8  nop\n"));
	assert_non_null(strstr(out, "    +0xd  nop\n"
				    "                             ... 14 without samples\n"));
	free(out);
	report__free(&r);
}

/* JSON and CSV contain all instructions. */
static void machines(void **state)
{
	struct report r = { .tool = "profile", .value = "CPU time" };
	const char *p;
	char *out;
	size_t n;

	(void)state;
	add_listing(&r, 30);
	r.listings->listing->line[3].count = 10;
	out = listed(&r, FORMAT_JSON);
	for (n = 0, p = out; (p = strstr(p, "\"mnemonic\":\"nop\"")); p++)
		n++;
	assert_int_equal(n, 30);
	free(out);
	out = listed(&r, FORMAT_CSV);
	for (n = 0, p = out; (p = strchr(p, '\n')); p++)
		n++;
	assert_int_equal(n, 31);
	assert_non_null(strstr(out, ",f\\x1b[31m,m\\x0a,3,0x1003,nop,,,,,10\n"));
	free(out);
	report__free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions), cmocka_unit_test(no_instructions),
		cmocka_unit_test(vector_lengths),
		cmocka_unit_test(index_beside_upper_vectors), cmocka_unit_test(any_bytes),
		cmocka_unit_test(lies), cmocka_unit_test(names),
		cmocka_unit_test(text), cmocka_unit_test(machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
