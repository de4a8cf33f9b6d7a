// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules by address, made from .eh_frame: compared with libdw, which reads the same bytes by itself, at
 * every byte at which either of them reports a change; compared with the known rules of functions made
 * for this test; and made from damaged and hostile sections and files.
 */
#include "unit.h"

#include <dwarf.h>
#ifdef HAVE_LIBDW
#include <elfutils/libdw.h>
#endif
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "types/cie.h"
#include "types/extents.h"
#include "unwind/cfi.h"

static void assert_rule(u64 address, const struct unwind_rule *got, const struct unwind_rule *want)
{
	if (got && !memcmp(got, want, sizeof(*got)))
		return;
	fail_msg("%#llx: cfa %d %d %d fp %d %d ra %d base %d, and not cfa %d %d %d fp %d %d ra %d base %d", address,
		 got ? got->cfa : -1, got ? got->offset : 0, got ? got->second : 0,
		 got ? got->fp : 0, got ? got->fp_offset : 0, got ? got->ra_offset : 0, got ? got->base_at : 0,
		 want->cfa, want->offset, want->second, want->fp, want->fp_offset, want->ra_offset, want->base_at);
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	return fd;
}

#ifdef HAVE_LIBDW

/*
 * --- rules of libdw ----------------------------------------------------------------------------
 */

static bool is_op(const Dwarf_Op *op, u8 atom, u64 number)
{
	return op->atom == atom && op->number == number;
}

/* DW_OP_breg7 N; DW_OP_breg16 0; lit15; and; litN; ge; lit3; shl; plus */
static bool is_plt(const Dwarf_Op *op, size_t n)
{
	return n == 9 && op[0].atom == DW_OP_breg7 && is_op(&op[1], DW_OP_breg16, 0) &&
	       op[2].atom == DW_OP_lit15 && op[3].atom == DW_OP_and && op[4].atom >= DW_OP_lit0 &&
	       op[4].atom <= DW_OP_lit15 && op[5].atom == DW_OP_ge && op[6].atom == DW_OP_lit3 &&
	       op[7].atom == DW_OP_shl && op[8].atom == DW_OP_plus;
}

/* libdw may give a register and an offset as DW_OP_bregx. */
static bool is_register(const Dwarf_Op *op, u8 reg)
{
	return op->atom == DW_OP_breg0 + reg || is_op(op, DW_OP_bregx, reg);
}

/* Whether the rules of the compared file say where rbx is, which they do if some function needs that. */
static bool tracks_rbx;

static struct unwind_rule cfa_rule(const struct unwind_machine *m, const Dwarf_Op *op, size_t n)
{
	struct unwind_rule r = { .cfa = UNWIND_UNSUPPORTED };
	bool is_sp;

	if (!n)
		return r;
	if (tracks_rbx && n == 1 && is_register(&op[0], m->base)) {
		r.cfa = UNWIND_BASE;
		r.offset = op[0].atom == DW_OP_bregx ? op[0].number2 : op[0].number;
		return r;
	}
	is_sp = is_register(&op[0], m->sp);
	if (!is_sp && !is_register(&op[0], m->fp))
		return r;
	r.offset = op[0].atom == DW_OP_bregx ? op[0].number2 : op[0].number;
	if (n == 1)
		r.cfa = is_sp ? UNWIND_SP : UNWIND_FP;
	else if (is_plt(op, n))
		r.cfa = UNWIND_PLT;
	else if (op[1].atom == DW_OP_deref && (n == 2 || (n == 3 && op[2].atom == DW_OP_plus_uconst)))
		r.cfa = is_sp ? UNWIND_SP_DEREF : UNWIND_FP_DEREF;
	if (r.cfa == UNWIND_PLT)
		r.second = op[4].atom - DW_OP_lit0;
	else if (n == 3)
		r.second = op[2].number;
	return r;
}

enum where { SAME, UNDEFINED, AT_CFA, AT_FP, IN_LINK, ELSEWHERE };

static enum where where_is(const struct unwind_machine *m, Dwarf_Frame *frame, int reg, s64 *offset)
{
	Dwarf_Op room[3], *op;
	size_t n;

	*offset = 0;
	assert_int_equal(dwarf_frame_register(frame, reg, room, &op, &n), 0);
	if (!n)
		return op == room ? UNDEFINED : SAME;
	if (op[n - 1].atom == DW_OP_stack_value)
		return ELSEWHERE;
	if (n == 1 && op->atom == DW_OP_call_frame_cfa)
		return AT_CFA;
	if (n == 2 && op->atom == DW_OP_call_frame_cfa && op[1].atom == DW_OP_plus_uconst) {
		*offset = op[1].number;
		return AT_CFA;
	}
	if (n == 1 && m->link && (op->atom == DW_OP_reg0 + m->link || is_op(op, DW_OP_regx, m->link)))
		return IN_LINK;
	/* An expression begins with the CFA on the stack. */
	if (op->atom == DW_OP_call_frame_cfa && n == 2 && op[1].atom == DW_OP_breg0 + m->fp) {
		*offset = op[1].number;
		return AT_FP;
	}
	return ELSEWHERE;
}

/* Whether the caller's sp is the CFA, which is the default. */
static bool is_sp_usual(const struct unwind_machine *m, Dwarf_Frame *frame)
{
	Dwarf_Op room[3], *op;
	size_t n;

	assert_int_equal(dwarf_frame_register(frame, m->sp, room, &op, &n), 0);
	return (!n && op != room) ||
	       (n == 2 && op->atom == DW_OP_call_frame_cfa && op[1].atom == DW_OP_stack_value);
}

/* On x86-64 the return address is just below the CFA, or in rdi; on arm64, at any place of the frame, or in x30. */
static bool is_ra_usual(const struct unwind_machine *m, enum where ra, s64 offset)
{
	if (m == &unwind_x86)
		return ra == IN_LINK || (ra == AT_CFA && offset == -8);
	return ra == SAME || (ra == AT_CFA && offset);
}

static struct unwind_rule rule_of(const struct unwind_machine *m, Dwarf_Frame *frame, bool is_signal)
{
	const struct unwind_rule end = { .cfa = UNWIND_END }, signal = { .cfa = UNWIND_SIGNAL },
				 unsupported = { .cfa = UNWIND_UNSUPPORTED }, unknown = {};
	struct unwind_rule r;
	s64 ra_offset, fp_offset, base_offset;
	enum where ra = where_is(m, frame, m->ra, &ra_offset), fp = where_is(m, frame, m->fp, &fp_offset);
	enum where base = where_is(m, frame, m->base, &base_offset);
	Dwarf_Op *op;
	size_t n;

	if (ra == UNDEFINED)
		return end;
	assert_int_equal(dwarf_frame_cfa(frame, &op, &n), 0);
	r = cfa_rule(m, op, n);
	if (is_signal && m == &unwind_arm64)
		return unknown;
	if (is_signal)
		return r.cfa == UNWIND_SP_DEREF && r.offset == 160 && !r.second ? signal :
										   unsupported;
	if (r.cfa == UNWIND_UNSUPPORTED || !is_ra_usual(m, ra, ra_offset) || !is_sp_usual(m, frame))
		return unsupported;
	r.fp = fp == SAME   ? UNWIND_FP_SAME :
	       fp == AT_CFA ? UNWIND_FP_AT_CFA :
	       fp == AT_FP  ? UNWIND_FP_AT_FP :
			      UNWIND_FP_LOST;
	r.fp_offset = fp_offset;
	r.ra_offset = ra_offset;
	/* libdw takes rbx for undefined if no rule mentions it, although callees save it. */
	if (tracks_rbx)
		r.base_at = base == SAME || base == UNDEFINED ? UNWIND_BASE_SAME :
			    base == AT_CFA && base_offset < 0 ? base_offset :
								UNWIND_BASE_LOST;
	return r;
}

/* The rule at an address, and in *end the next address that may have another rule. */
static struct unwind_rule oracle(const struct unwind_machine *m, Dwarf_CFI *cfi, u64 address, u64 *end)
{
	struct unwind_rule unknown = {}, unsupported = { .cfa = UNWIND_UNSUPPORTED }, r;
	Dwarf_Addr from, to;
	Dwarf_Frame *frame;
	bool is_signal;
	int ra;

	*end = address + 1;
	if (dwarf_cfi_addrframe(cfi, address, &frame))
		return unknown;
	/* rawmemchr() of arm64's C library keeps its return address in x15. */
	ra = dwarf_frame_info(frame, &from, &to, &is_signal);
	assert_true(from <= address && address < to);
	*end = to;
	r = ra == (int)m->ra ? rule_of(m, frame, is_signal) : unsupported;
	free(frame);
	return r;
}

/*
 * --- files -------------------------------------------------------------------------------------
 */

static u64 row_address(const struct cfi_table *t, u32 page, u32 i)
{
	return t->rows.start + (u64)page * UNWIND_PAGE +
	       t->rows.word[t->rows.pages + 1 + i] % UNWIND_PAGE;
}

/* Compares all rows of the table, each over its whole range. Returns the number of libdw's rows. */
static u64 compare_all(const struct unwind_machine *m, const struct cfi_table *t, Dwarf_CFI *cfi)
{
	u64 at = t->rows.start, end, stop = at + (u64)t->rows.pages * UNWIND_PAGE, n = 0, row;
	const struct unwind_rule *here, *last;
	struct unwind_rule want;
	u32 page, i;

	while (at < stop) {
		want = oracle(m, cfi, at, &end);
		here = cfi_table__find(t, at);
		assert_rule(at, here, &want);
		/* The rule is the same up to the last byte: there is no row between. */
		last = cfi_table__find(t, end - 1);
		assert_rule(end - 1, last, &want);
		at = end;
		n++;
	}
	for (page = 0; page < t->rows.pages; page++)
		for (i = t->rows.word[page]; i < t->rows.word[page + 1]; i++) {
			row = row_address(t, page, i);
			want = oracle(m, cfi, row, &end);
			assert_rule(row, cfi_table__find(t, row), &want);
		}
	return n;
}

static u64 count_rules(const struct cfi_table *t, enum unwind_cfa cfa)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < t->rows.nrows; i++)
		n += t->rule[t->rows.word[t->rows.pages + 1 + i] >> UNWIND_PAGE_BITS].cfa == cfa;
	return n;
}

static u64 now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static void compare_file(const struct unwind_machine *m, const char *path, struct cfi_table *t)
{
	int fd = open_file(path);
	u64 start = now_us(), read, theirs;
	Dwarf_CFI *cfi;
	Elf *elf;

	assert_int_equal(cfi_table__make(t, dup(fd), m), 0);
	read = now_us() - start;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	tracks_rbx = count_rules(t, UNWIND_BASE);
	theirs = compare_all(m, t, cfi);
	print_message("%s: %llu functions, %u rows, %u rules, %llu rows not followed, read in %llu us; "
		      "libdw looked up %llu in %llu us\n", path, t->counts.functions, t->rows.nrows,
		      t->nrules, t->counts.unsupported, read, theirs, now_us() - start - read);
	assert_int_equal(dwarf_cfi_end(cfi), 0);
	elf_end(elf);
	close(fd);
}

static void libraries(void **state)
{
	static const char *const path[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/bin/bash",
	};
	struct cfi_table t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(path); i++) {
		compare_file(&unwind_x86, path[i], &t);
		assert_true(count_rules(&t, UNWIND_SP) > 1000);
		/* _dl_runtime_resolve(). */
		if (strstr(path[i], "/ld-"))
			assert_true(count_rules(&t, UNWIND_BASE));
		cfi_table__free(&t);
	}
}

/* The libraries that gcc-aarch64-linux-gnu comes with. */
static void libraries_of_arm64(void **state)
{
	static const char *const path[] = {
		"/usr/aarch64-linux-gnu/lib/libc.so.6",
		"/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
		"/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
	};
	struct cfi_table t;
	size_t i, n = 0;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(path); i++) {
		if (access(path[i], R_OK))
			continue;
		compare_file(&unwind_arm64, path[i], &t);
		assert_true(count_rules(&t, UNWIND_SP) > 500);
		assert_true(count_rules(&t, UNWIND_FP) > 0);
		cfi_table__free(&t);
		n++;
	}
	if (!n)
		skip();
}

#else

static void libraries(void **state)
{
	(void)state;
	skip();
}

static void libraries_of_arm64(void **state)
{
	(void)state;
	skip();
}

#endif /* HAVE_LIBDW */

/*
 * --- shapes ------------------------------------------------------------------------------------
 */

/*
 * Functions that are never called, with 16 bytes between one place and the next. Each place has a rule
 * that was worked out by hand from the ABI, beside the directives for it.
 */
#define STEP ".skip 16, 0x90\n"

__asm__(".text\n"
	".balign 256\n"
	"unwind_shapes:\n"
	".cfi_startproc\n" STEP                                 /* 0 rsp + 8 */
	".cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\n" STEP   /* 1 after push %rbp */
	".cfi_def_cfa_register rbp\n" STEP                      /* 2 after mov %rsp, %rbp */
	".cfi_remember_state\n.cfi_def_cfa rsp, 8\n.cfi_restore rbp\n" STEP     /* 3 after leave */
	".cfi_restore_state\n" STEP                             /* 4 as 2 */
	".cfi_escape 0x2e, 0x10\n" STEP                         /* 5 GNU_args_size: as 4 */
	/* GCC's realigned stack: CFA = *(rbp - 8), rbp = *rbp */
	".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n.cfi_escape 0x10, 6, 2, 0x76, 0\n" STEP /* 6 */
	".cfi_undefined rbp\n" STEP                             /* 7 */
	".cfi_register rbp, rbx\n" STEP                         /* 8 */
	".cfi_same_value rbp\n" STEP                            /* 9 */
	/* OpenSSL's: CFA = *(rsp + 24) + 8; then *(rbp - 16) + 8 */
	".cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8\n" STEP   /* 10 */
	".cfi_escape 0x0f, 5, 0x76, 0x70, 0x06, 0x23, 8\n" STEP /* 11 */
	/* a PLT: rsp + 8 + (rip % 16 >= 11) * 8 */
	".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
	STEP                                                    /* 12 */
	".cfi_def_cfa rax, 8\n" STEP                            /* 13 another register */
	".cfi_def_cfa rsp, 40\n.cfi_register rip, rdx\n" STEP   /* 14 rip elsewhere */
	".cfi_undefined rip\n" STEP                             /* 15 the outermost */
	".cfi_restore rip\n" STEP                               /* 16 rsp + 40 */
	/* def_cfa_sf, def_cfa_offset_sf, offset_extended, offset_extended_sf */
	".cfi_escape 0x12, 7, 0x7e\n" STEP                      /* 17 rsp + 16 */
	".cfi_escape 0x13, 0x7d\n.cfi_escape 0x05, 6, 2\n" STEP /* 18 rsp + 24, rbp at -16 */
	".cfi_escape 0x11, 6, 3\n" STEP                         /* 19 rbp at -24 */
	".cfi_escape 0x2f, 6, 2\n" STEP                         /* 20 rbp at +16 */
	".cfi_escape 0x16, 6, 2, 0x77, 0\n" STEP                /* 21 val_expression: lost */
	".cfi_escape 0x14, 6, 2\n" STEP                         /* 22 val_offset: lost */
	".cfi_escape 0x0f, 2, 0x77, 32\n" STEP                  /* 23 rsp + 32 by an expression */
	".cfi_escape 0x0f, 4, 0x77, 32, 0x06, 0x06\n" STEP      /* 24 two derefs: not followed */
	".cfi_def_cfa rsp, 8\n.cfi_restore rbp\n.skip 300, 0x90\n"      /* 25 advance_loc2, */
	".cfi_def_cfa_offset 24\n.skip 70000, 0x90\n"           /* 26 advance_loc4 */
	".cfi_def_cfa_offset 32\n" STEP                         /* 27 */
	".cfi_offset rsp, -24\n" STEP                           /* 28 rsp is not the CFA */
	".cfi_restore rsp\n" STEP                               /* 29 as 27 */
	".cfi_endproc\n"
	".balign 256\n"
	"unwind_signal:\n"
	".cfi_startproc simple\n.cfi_signal_frame\n.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 0x06\n" STEP
	".cfi_escape 0x0f, 4, 0x77, 0xa8, 1, 0x06\n" STEP       /* another place: not followed */
	".cfi_endproc\n"
	"unwind_after:\n"
	".skip 16, 0x90\n"
	/* vfork() of glibc */
	"unwind_link:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 0\n.cfi_register rip, rdi\n" STEP
	".cfi_def_cfa_offset 8\n.cfi_restore rip\n" STEP
	".cfi_endproc\n");

extern const char unwind_link[], unwind_shapes[], unwind_signal[], unwind_after[];

static int take_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(u64 *)base = info->dlpi_addr;
	return 1;               /* the first is the program */
}

struct place {
	u32 at;
	struct unwind_rule rule;
};

#define RULE(cfa_, offset_, second_, fp_, fp_offset_) \
	{ .cfa = UNWIND_##cfa_, .offset = offset_, .second = second_, .fp = UNWIND_FP_##fp_, \
	  .fp_offset = fp_offset_, .ra_offset = UNWIND_##cfa_ > UNWIND_UNSUPPORTED ? -8 : 0 }

static const struct place places[] = {
	{ 0, RULE(SP, 8, 0, SAME, 0) },
	{ 16, RULE(SP, 16, 0, AT_CFA, -16) },
	{ 32, RULE(FP, 16, 0, AT_CFA, -16) },
	{ 48, RULE(SP, 8, 0, SAME, 0) },
	{ 64, RULE(FP, 16, 0, AT_CFA, -16) },
	{ 80, RULE(FP, 16, 0, AT_CFA, -16) },
	{ 96, RULE(FP_DEREF, -8, 0, AT_FP, 0) },
	{ 112, RULE(FP_DEREF, -8, 0, LOST, 0) },
	{ 128, RULE(FP_DEREF, -8, 0, LOST, 0) },
	{ 144, RULE(FP_DEREF, -8, 0, SAME, 0) },
	{ 160, RULE(SP_DEREF, 24, 8, SAME, 0) },
	{ 176, RULE(FP_DEREF, -16, 8, SAME, 0) },
	{ 192, RULE(PLT, 8, 11, SAME, 0) },
	{ 208, RULE(UNSUPPORTED, 0, 0, SAME, 0) },
	{ 224, RULE(UNSUPPORTED, 0, 0, SAME, 0) },
	{ 240, RULE(END, 0, 0, SAME, 0) },
	{ 256, RULE(SP, 40, 0, SAME, 0) },
	{ 272, RULE(SP, 16, 0, SAME, 0) },
	{ 288, RULE(SP, 24, 0, AT_CFA, -16) },
	{ 304, RULE(SP, 24, 0, AT_CFA, -24) },
	{ 320, RULE(SP, 24, 0, AT_CFA, 16) },
	{ 336, RULE(SP, 24, 0, LOST, 0) },
	{ 352, RULE(SP, 24, 0, LOST, 0) },
	{ 368, RULE(SP, 32, 0, LOST, 0) },
	{ 384, RULE(UNSUPPORTED, 0, 0, SAME, 0) },
	{ 400, RULE(SP, 8, 0, SAME, 0) },
	{ 699, RULE(SP, 8, 0, SAME, 0) },
	{ 700, RULE(SP, 24, 0, SAME, 0) },
	{ 70699, RULE(SP, 24, 0, SAME, 0) },
	{ 70700, RULE(SP, 32, 0, SAME, 0) },
	{ 70716, RULE(UNSUPPORTED, 0, 0, SAME, 0) },
	{ 70732, RULE(SP, 32, 0, SAME, 0) },
};

static void assert_at(const struct cfi_table *t, u64 address, struct unwind_rule want)
{
	assert_rule(address, cfi_table__find(t, address), &want);
}

static void shapes(void **state)
{
	const struct unwind_rule signal = { .cfa = UNWIND_SIGNAL },
				 unsupported = { .cfa = UNWIND_UNSUPPORTED }, unknown = {};
	int fd = open_file("/proc/self/exe");
	struct cfi_table t;
	u64 base, at;
	size_t i;

	(void)state;
	assert_int_equal(dl_iterate_phdr(take_base, &base), 1);
	assert_int_equal(cfi_table__read(&t, fd, NULL), 0);
	at = (u64)unwind_shapes - base;
	for (i = 0; i < ARRAY_SIZE(places); i++)
		assert_at(&t, at + places[i].at, places[i].rule);
	assert_at(&t, (u64)unwind_signal - base, signal);
	assert_at(&t, (u64)unwind_signal - base + 16, unsupported);
	at = (u64)unwind_link - base;
	assert_at(&t, at, (struct unwind_rule){ .cfa = UNWIND_SP, .fp = UNWIND_FP_SAME });
	assert_at(&t, at + 16, (struct unwind_rule)RULE(SP, 8, 0, SAME, 0));
	/* Code without directives has no rule. */
	assert_at(&t, (u64)unwind_after - base, unknown);
	assert_at(&t, (u64)unwind_after - base + 15, unknown);
	cfi_table__free(&t);
	close(fd);
}

/* Reads the bytes of a file into memory. */
static u8 *read_bytes(const char *path, size_t *size)
{
	int fd = open_file(path);
	struct stat st;
	u8 *bytes;

	assert_int_equal(fstat(fd, &st), 0);
	*size = st.st_size;
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, *size), *size);
	close(fd);
	return bytes;
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

static bool same_rows(const struct cfi_table *a, const struct cfi_table *b)
{
	return a->rows.start == b->rows.start && a->rows.nrows == b->rows.nrows &&
	       a->rows.pages == b->rows.pages && a->nrules == b->nrules &&
	       !memcmp(a->rule, b->rule, a->nrules * sizeof(*a->rule)) &&
	       !memcmp(a->rows.word, b->rows.word,
		       (a->rows.pages + 1 + a->rows.nrows) * sizeof(*a->rows.word));
}

/* A file without section headers gives the same rules. */
static void no_sections(void **state)
{
	static const char path[] = "/lib/x86_64-linux-gnu/libc.so.6";
	struct cfi_table whole, stripped;
	size_t size;
	u8 *bytes = read_bytes(path, &size);
	Elf64_Ehdr *h = (Elf64_Ehdr *)bytes;
	int fd = open_file(path);

	(void)state;
	assert_int_equal(cfi_table__read(&whole, fd, NULL), 0);
	close(fd);
	h->e_shoff = 0;
	h->e_shnum = h->e_shstrndx = 0;
	fd = file_of(bytes, size);
	assert_int_equal(cfi_table__read(&stripped, fd, NULL), 0);
	assert_true(same_rows(&whole, &stripped));
	cfi_table__free(&stripped);
	close(fd);

	/* A file of another machine is refused. */
	h->e_machine = EM_AARCH64;
	fd = file_of(bytes, size);
	assert_int_equal(cfi_table__read(&stripped, fd, NULL), -ENOEXEC);
	close(fd);
	cfi_table__free(&whole);
	free(bytes);
}

/*
 * --- sections made by hand ---------------------------------------------------------------------
 */

#define BASE 0x10000ULL         /* where the section is */
#define CODE 0x40000ULL

struct made {
	u8 byte[4096];
	size_t n;
	size_t begun;
};

static void put(struct made *m, u64 number, u32 bytes)
{
	memcpy(m->byte + m->n, &number, bytes);
	m->n += bytes;
}

static void put_bytes(struct made *m, const char *bytes, size_t n)
{
	memcpy(m->byte + m->n, bytes, n);
	m->n += n;
}

static void begin_entry(struct made *m)
{
	m->begun = m->n;
	put(m, 0, 4);
}

static void end_entry(struct made *m)
{
	u32 length = m->n - m->begun - 4;

	memcpy(m->byte + m->begun, &length, 4);
}

/* Writes a CIE: version 1, code unit 1, data unit -8, column 16; then rsp + 8 with rip at -8. */
static size_t put_common(struct made *m, const char *augmentation, u8 encoding)
{
	size_t at = m->n;

	begin_entry(m);
	put(m, 0, 4);
	put(m, 1, 1);
	put_bytes(m, augmentation, strlen(augmentation) + 1);
	put_bytes(m, "\x01\x78\x10", 3);
	if (augmentation[0] == 'z') {
		put(m, 1, 1);
		put(m, encoding, 1);
	}
	put_bytes(m, "\x0c\x07\x08\x90\x01", 5);
	end_entry(m);
	return at;
}

/* Writes an FDE whose CFA is rsp + offset from its first byte on. */
static void put_function(struct made *m, size_t common, u64 start, u64 size, u8 offset, u32 bytes)
{
	begin_entry(m);
	put(m, m->n - common, 4);
	put(m, start, bytes);
	put(m, size, bytes);
	if (bytes == 4)
		put(m, 0, 1);   /* no more data, whose size 'z' requires */
	put_bytes(m, "\x0e", 1);
	put(m, offset, 1);
	end_entry(m);
}

static int read_made_of(const struct unwind_machine *machine, const struct made *m, struct cfi_table *t)
{
	static const struct elf_segment segment = { CODE, 0, 0x100000, true };
	struct rule_set *rules = malloc(sizeof(*rules));
	int err;

	assert_non_null(rules);
	memset(t, 0, sizeof(*t));
	rule_set__init(rules);
	err = eh_frame__read(&t->rows, rules, &t->counts, machine, cursor__of(m->byte, m->n), BASE, &segment,
			     1);
	t->nrules = rules->n;
	t->rule = malloc(sizeof(rules->rule));
	assert_non_null(t->rule);
	memcpy(t->rule, rules->rule, sizeof(rules->rule));
	free(rules);
	return err;
}

static int read_made(const struct made *m, struct cfi_table *t)
{
	return read_made_of(&unwind_x86, m, t);
}

/* Functions out of order, overlapping, outside the code, and with gaps. */
static void orders(void **state)
{
	const struct unwind_rule unknown = {};
	struct made m = {};
	struct cfi_table t;
	size_t common = put_common(&m, "zR", DW_EH_PE_udata4);

	(void)state;
	put_function(&m, common, CODE + 0x300, 0x10, 32, 4);
	put_function(&m, common, CODE + 0x105, 0x20, 16, 4);
	put_function(&m, common, CODE + 0x115, 0x30, 24, 4);    /* 0x125 .. 0x145 of it is left */
	put_function(&m, common, CODE + 0x120, 0x10, 40, 4);    /* nothing is left of it */
	put_function(&m, common, CODE + 0x105, 8, 48, 4);       /* the first in the section wins */
	put_function(&m, common, CODE - 8, 0x20, 56, 4);        /* begins before the code */
	put_function(&m, common, CODE + 0xffff8, 0x10, 56, 4);  /* ends after it */
	put_function(&m, common, 0, 0x10, 56, 4);
	put_function(&m, common, CODE + 0x400, 0, 56, 4);
	put_function(&m, common, CODE + 0x310, 0x10, 32, 4);    /* goes on with the same rule */
	put_function(&m, common + 4, CODE + 0x500, 0x10, 32, 4);        /* no CIE there */
	assert_int_equal(read_made(&m, &t), 0);
	assert_int_equal(t.counts.functions, 6);
	assert_int_equal(t.counts.overlapping, 3);
	assert_int_equal(t.counts.outside, 4);
	assert_int_equal(t.counts.damaged, 1);
	assert_int_equal(t.rows.start, CODE + 0x100);
	assert_int_equal(t.rows.pages, 3);
	/* unknown, 16, 24, unknown, 32, unknown */
	assert_int_equal(t.rows.nrows, 6);
	assert_at(&t, CODE + 0x104, unknown);
	assert_at(&t, CODE + 0x105, (struct unwind_rule)RULE(SP, 16, 0, SAME, 0));
	assert_at(&t, CODE + 0x124, (struct unwind_rule)RULE(SP, 16, 0, SAME, 0));
	assert_at(&t, CODE + 0x125, (struct unwind_rule)RULE(SP, 24, 0, SAME, 0));
	assert_at(&t, CODE + 0x144, (struct unwind_rule)RULE(SP, 24, 0, SAME, 0));
	assert_at(&t, CODE + 0x145, unknown);
	assert_at(&t, CODE + 0x200, unknown);
	assert_at(&t, CODE + 0x2ff, unknown);
	assert_at(&t, CODE + 0x300, (struct unwind_rule)RULE(SP, 32, 0, SAME, 0));
	assert_at(&t, CODE + 0x31f, (struct unwind_rule)RULE(SP, 32, 0, SAME, 0));
	assert_at(&t, CODE + 0x320, unknown);
	assert_null(cfi_table__find(&t, CODE + 0x400));
	assert_null(cfi_table__find(&t, CODE + 0xff));
	cfi_table__free(&t);
}

/* Pointers and lengths in all encodings. */
static void encodings(void **state)
{
	const struct unwind_rule rule = RULE(SP, 16, 0, SAME, 0);
	struct made m = {};
	struct cfi_table t;
	size_t common, at;
	u32 length;

	(void)state;
	common = put_common(&m, "", 0);
	put_function(&m, common, CODE, 0x10, 16, 8);
	common = put_common(&m, "zR", DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	put_function(&m, common, CODE + 0x20 - (BASE + m.n + 8), 0x10, 16, 4);
	/* A length of 64 bits. */
	common = put_common(&m, "zR", DW_EH_PE_udata4);
	at = m.n;
	put_function(&m, common, CODE + 0x40, 0x10, 16, 4);
	memmove(m.byte + at + 12, m.byte + at + 4, m.n - at - 4);
	memcpy(&length, m.byte + at, 4);
	memset(m.byte + at, 0xff, 4);
	memcpy(m.byte + at + 4, &(u64){ length }, 8);
	m.n += 8;
	memcpy(m.byte + at + 12, &(u32){ at + 12 - common }, 4);
	/* Unknown letters, and pointers that cannot be followed, spoil their own functions only. */
	common = put_common(&m, "zX", 0);
	put_function(&m, common, CODE + 0x60, 0x10, 16, 4);
	common = put_common(&m, "zR", DW_EH_PE_datarel | DW_EH_PE_sdata4);
	put_function(&m, common, CODE + 0x80, 0x10, 16, 4);
	common = put_common(&m, "zR", DW_EH_PE_indirect | DW_EH_PE_udata4);
	put_function(&m, common, CODE + 0xa0, 0x10, 16, 4);
	common = put_common(&m, "zR", DW_EH_PE_udata4);
	put_function(&m, common, CODE + 0xc0, 0x10, 16, 4);
	/* Entries after the end are ignored. */
	put(&m, 0, 4);
	put_function(&m, common, CODE + 0xe0, 0x10, 16, 4);
	assert_int_equal(read_made(&m, &t), 0);
	assert_int_equal(t.counts.functions, 4);
	assert_int_equal(t.counts.damaged, 3);
	assert_at(&t, CODE + 0xf, rule);
	assert_at(&t, CODE + 0x2f, rule);
	assert_at(&t, CODE + 0x4f, rule);
	assert_at(&t, CODE + 0xcf, rule);
	assert_at(&t, CODE + 0xe0, (struct unwind_rule){});
	cfi_table__free(&t);
}

/* Writes a CIE with the augmentation letters of text, and n bytes of augmentation data. */
static size_t put_full_common(struct made *m, const char *text, const char *data, size_t n)
{
	size_t at = m->n;

	begin_entry(m);
	put(m, 0, 4);
	put(m, 3, 1);
	put_bytes(m, text, strlen(text) + 1);
	put_bytes(m, "\x02\x7c\x90\x01", 4);   /* a register number of two bytes: version 3 */
	put(m, n, 1);
	put_bytes(m, data, n);
	put_bytes(m, "\x0c\x07\x08", 3);
	end_entry(m);
	return at;
}

static void put_fde(struct made *m, size_t common, u64 start, u32 bytes, const char *data, size_t n)
{
	begin_entry(m);
	put(m, m->n - common, 4);
	put(m, start, bytes);
	put(m, 0x10, bytes);
	put(m, n, 1);
	put_bytes(m, data, n);
	end_entry(m);
}

static void begin_walk(struct eh_walk *w, const struct made *m, u32 word_bytes)
{
	eh_walk__init(w, (struct eh_bytes){ m->byte, m->byte + m->n, BASE, word_bytes });
}

/* Every field of a CIE, and a walk that meets damage and the end. */
static void common_parts(void **state)
{
	struct made m = {};
	struct eh_walk w;
	struct cursor fde;
	size_t first = put_full_common(&m, "zPLRS", "\x03pqrs\x1b\x0b", 7), second;

	(void)state;
	put_fde(&m, first, CODE, 4, "", 0);
	second = put_full_common(&m, "zPX", "\x03pqrs", 5);     /* an unknown letter */
	put_fde(&m, second, CODE, 4, "", 0);
	put_fde(&m, first, CODE, 4, "", 0);
	second = put_full_common(&m, "zP", "\xff", 1);          /* no personality follows */
	put_fde(&m, second, CODE, 8, "", 0);
	second = put_full_common(&m, "zRRRRRRRR", "\x03\x03\x03\x03\x03\x03\x03\x03", 8);
	put_fde(&m, second, CODE, 4, "", 0);
	put(&m, 0, 4);
	put_fde(&m, first, CODE, 4, "", 0);
	begin_walk(&w, &m, 8);
	assert_int_equal(eh_walk__next(&w, &fde), 1);
	assert_ptr_equal(w.cie_at, m.byte + first);
	assert_int_equal(w.cie.code_unit, 2);
	assert_int_equal(w.cie.data_unit, -4);
	assert_int_equal(w.cie.return_register, 144);
	assert_int_equal(w.cie.handler_encoding, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	assert_int_equal(w.cie.encoding, DW_EH_PE_sdata4);
	assert_true(w.cie.has_data && w.cie.has_personality && w.cie.is_signal_frame);
	assert_int_equal(cursor__left(&w.cie.program), 3);
	assert_int_equal(cursor__take(&fde, 4), CODE);
	assert_int_equal(eh_walk__next(&w, &fde), -EBADMSG);
	assert_true(w.cie.has_personality);
	assert_int_equal(eh_walk__next(&w, &fde), 1);
	assert_true(w.cie.is_signal_frame);
	assert_int_equal(eh_walk__next(&w, &fde), 1);
	assert_int_equal(w.cie.handler_encoding, DW_EH_PE_omit);
	assert_int_equal(w.cie.encoding, DW_EH_PE_absptr);
	assert_false(w.cie.is_signal_frame);
	assert_int_equal(eh_walk__next(&w, &fde), -EBADMSG);
	assert_int_equal(eh_walk__next(&w, &fde), 0);
	assert_int_equal(eh_walk__next(&w, &fde), 0);
}

/* An absolute pointer has the size of the file's words, and addresses of 32 bits wrap there. */
static void words(void **state)
{
	static const u8 bytes[8] = { 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const struct {
		u8 encoding;
		u32 word_bytes, taken;
		u64 pointer;
	} as[] = {
		{ DW_EH_PE_absptr, 8, 8, -16ULL },
		{ DW_EH_PE_absptr, 4, 4, 0xfffffff0 },
		{ DW_EH_PE_sdata4, 8, 4, -16ULL },
		{ DW_EH_PE_sdata4, 4, 4, 0xfffffff0 },
		{ DW_EH_PE_udata2, 8, 2, 0xfff0 },
		{ DW_EH_PE_sdata2, 8, 2, -16ULL },
		{ DW_EH_PE_pcrel | DW_EH_PE_absptr, 4, 4, BASE - 16 },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata4, 8, 4, BASE - 16 },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata8, 8, 8, BASE - 16 },
	};
	struct eh_bytes b = { bytes, bytes + sizeof(bytes), BASE, 0 };
	struct cursor c;
	u64 pointer;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(as); i++) {
		c = cursor__of(bytes, sizeof(bytes));
		b.word_bytes = as[i].word_bytes;
		assert_true(eh_take_pointer(&c, as[i].encoding, &b, &pointer));
		assert_true(pointer == as[i].pointer);
		assert_int_equal(c.at - bytes, as[i].taken);
	}
	c = cursor__of(bytes, 3);
	assert_false(eh_take_pointer(&c, DW_EH_PE_udata4, &b, &pointer));
	c = cursor__of(bytes, sizeof(bytes));
	assert_false(eh_take_pointer(&c, DW_EH_PE_omit, &b, &pointer));
	assert_false(eh_take_pointer(&c, DW_EH_PE_aligned, &b, &pointer));
	assert_false(eh_take_pointer(&c, DW_EH_PE_uleb128, &b, &pointer));
}

static void assert_extents(const struct made *m, u32 word_bytes)
{
	struct code_extents e;
	size_t i;

	assert_int_equal(code_extents__parse(&e, m->byte, m->n, BASE, word_bytes), 0);
	assert_true(e.has_personality);
	assert_int_equal(e.n, 3);
	for (i = 0; i < e.n; i++) {
		assert_int_equal(e.extent[i].start, CODE + 0x20 * i);
		assert_int_equal(e.extent[i].size, 0x10);
		assert_int_equal(e.extent[i].has_handler, i == 1);
	}
	assert_ptr_equal(code_extents__find(&e, CODE + 0x2f), &e.extent[1]);
	assert_null(code_extents__find(&e, CODE + 0x30));
	code_extents__free(&e);
}

/* The same entries in words of 8 and of 4 bytes. The second function, which is written first, has a handler. */
static void extents(void **state)
{
	static const char handler[8] = { 1 }, none[8];
	u32 word_bytes;
	size_t common;

	(void)state;
	for (word_bytes = 4; word_bytes <= 8; word_bytes += 4) {
		struct made m = {};

		common = put_full_common(&m, "zPL", "\x03pqrs\x00", 6);
		put_fde(&m, common, CODE + 0x20, word_bytes, handler, word_bytes);
		put_fde(&m, common, CODE, word_bytes, none, word_bytes);
		put_fde(&m, common, CODE + 0x40, word_bytes, "", 0);
		put_fde(&m, common, CODE + 0x60, word_bytes - 2, "", 0);        /* damaged */
		assert_extents(&m, word_bytes);
	}
}

/*
 * Two steps of 16 bytes; the second has an invalid instruction, or one that leads nowhere. The rule of the
 * first step holds, and from there to the end of the function no rule is trusted, whatever follows.
 */
static void instructions(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} bad[] = {
		{ "\x3f", 1 },                           /* unknown */
		{ "\x2d", 1 },                           /* arm64's, and SPARC's */
		{ "\x01\x00\x00\x00\x00", 5 },           /* set_loc, which nobody writes */
		{ "\x0b", 1 },                           /* nothing was remembered */
		{ "\x0c\x07\xff\xff\xff\xff\x7f", 7 },   /* too large for a rule */
		{ "\x0c\x07\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11 },
		{ "\x0f\x05\x76\x00\x06\x23\xff\xff\x7f", 9 },    /* an expression cut short */
		{ "\x0f\x7f\x77", 3 },                   /* and one longer than the rest */
		{ "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a", 17 },
	};
	size_t common, i;
	struct cfi_table t;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct made m = {};

		common = put_common(&m, "zR", DW_EH_PE_udata4);
		begin_entry(&m);
		put(&m, m.n - common, 4);
		put(&m, CODE, 4);
		put(&m, 0x30, 4);
		put(&m, 0, 1);
		put(&m, 0x50, 1);       /* advance_loc 16 */
		put_bytes(&m, bad[i].bytes, bad[i].n);
		put(&m, 0x50, 1);
		end_entry(&m);
		assert_int_equal(read_made(&m, &t), 0);
		assert_at(&t, CODE + 15, (struct unwind_rule)RULE(SP, 8, 0, SAME, 0));
		assert_at(&t, CODE + 16, (struct unwind_rule){ .cfa = UNWIND_UNSUPPORTED });
		assert_at(&t, CODE + 47, (struct unwind_rule){ .cfa = UNWIND_UNSUPPORTED });
		assert_at(&t, CODE + 48, (struct unwind_rule){});
		assert_int_equal(t.counts.unsupported, 1);
		cfi_table__free(&t);
	}
}

/*
 * Steps that compilers write for arm64, of 16 bytes each, with the rule that AADWARF64 gives each of them. The CIE
 * has augmentation text, code unit 4, data unit -8, column 30, sp + 0.
 */
struct arm64_step {
	const char *bytes;
	size_t n;
	struct unwind_rule rule;
};

#define ARM64(cfa_, offset_, fp_, fp_offset_, ra_offset_) \
	{ .cfa = UNWIND_##cfa_, .offset = offset_, .fp = UNWIND_FP_##fp_, .fp_offset = fp_offset_, \
	  .ra_offset = ra_offset_ }
#define BYTES(bytes) bytes, sizeof(bytes) - 1

static const struct arm64_step arm64_steps[] = {
	{ BYTES(""), ARM64(SP, 0, SAME, 0, 0) },
	{ BYTES("\x2d"), ARM64(SP, 0, SAME, 0, 0) },                     /* paciasp: x30 is signed */
	/* stp x29, x30, [sp, #-48]!: CFA sp + 48, x29 at -48, x30 at -40 */
	{ BYTES("\x0e\x30\x9d\x06\x9e\x05"), ARM64(SP, 48, AT_CFA, -48, -40) },
	{ BYTES("\x0d\x1d"), ARM64(FP, 48, AT_CFA, -48, -40) },          /* mov x29, sp and alloca() */
	{ BYTES("\x0c\x1d\x10"), ARM64(FP, 16, AT_CFA, -48, -40) },      /* clang's */
	{ BYTES("\x0a\xdd\xde\x0c\x1f\x00\x2d"), ARM64(SP, 0, SAME, 0, 0) }, /* ldp, autiasp, before ret */
	{ BYTES("\x0b"), ARM64(FP, 16, AT_CFA, -48, -40) },
	{ BYTES("\x2c"), ARM64(FP, 16, AT_CFA, -48, -40) },              /* signed with PC */
	{ BYTES("\xdd\x0c\x1f\x20"), ARM64(SP, 32, SAME, 0, -40) },      /* without a frame pointer */
	{ BYTES("\x0c\x0f\x00"), { .cfa = UNWIND_UNSUPPORTED } },        /* x15: probing a large frame */
	/* x86's PLT, whose register numbers mean other registers here */
	{ BYTES("\x0f\x0b\x8f\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), { .cfa = UNWIND_UNSUPPORTED } },
	{ BYTES("\x0c\x1f\x20\x09\x1e\x10"), { .cfa = UNWIND_UNSUPPORTED } },     /* x30 is in x16 */
	{ BYTES("\x9e\x00"), { .cfa = UNWIND_UNSUPPORTED } },           /* in the caller's frame */
	{ BYTES("\x07\x1e"), { .cfa = UNWIND_END } },                   /* _start */
	{ BYTES("\xde\x0e\x00"), ARM64(SP, 0, SAME, 0, 0) },
};

static size_t put_arm64_common(struct made *m, const char *augmentation)
{
	size_t at = m->n;

	begin_entry(m);
	put(m, 0, 4);
	put(m, 1, 1);
	put_bytes(m, augmentation, strlen(augmentation) + 1);
	put_bytes(m, "\x04\x78\x1e\x01\x03\x0c\x1f\x00", 8);
	end_entry(m);
	return at;
}

static size_t put_arm64_function(struct made *m, size_t common, u64 start)
{
	size_t i, n = ARRAY_SIZE(arm64_steps);

	begin_entry(m);
	put(m, m->n - common, 4);
	put(m, start, 4);
	put(m, 16 * n, 4);
	put(m, 0, 1);
	for (i = 0; i < n; i++) {
		if (i)
			put(m, 0x44, 1);        /* advance_loc 4 units */
		put_bytes(m, arm64_steps[i].bytes, arm64_steps[i].n);
	}
	end_entry(m);
	return 16 * n;
}

/* Functions signed with the other key or with tagged memory, and a signal frame, which is known by its code. */
static void arm64(void **state)
{
	static const char *const augmentations[] = { "zR", "zRB", "zRG", "zRBG" };
	struct made m = {};
	struct cfi_table t;
	size_t i, k, size = 0;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(augmentations); k++)
		size = put_arm64_function(&m, put_arm64_common(&m, augmentations[k]), CODE + 0x1000 * k);
	put_arm64_function(&m, put_arm64_common(&m, "zRS"), CODE + 0x8000);
	assert_int_equal(read_made_of(&unwind_arm64, &m, &t), 0);
	assert_int_equal(t.counts.damaged, 0);
	assert_int_equal(t.counts.functions, k + 1);
	for (k = 0; k < ARRAY_SIZE(augmentations); k++) {
		for (i = 0; i < ARRAY_SIZE(arm64_steps); i++) {
			assert_at(&t, CODE + 0x1000 * k + 16 * i, arm64_steps[i].rule);
			assert_at(&t, CODE + 0x1000 * k + 16 * i + 15, arm64_steps[i].rule);
		}
		assert_at(&t, CODE + 0x1000 * k + size, (struct unwind_rule){});
	}
	assert_at(&t, CODE + 0x8000, (struct unwind_rule){});
	cfi_table__free(&t);
	/* One machine's columns and instructions are not the other's. */
	assert_int_equal(read_made(&m, &t), 0);
	assert_int_equal(t.counts.functions, k + 1);
	assert_at(&t, CODE, (struct unwind_rule){ .cfa = UNWIND_UNSUPPORTED });
	assert_at(&t, CODE + size - 1, (struct unwind_rule){ .cfa = UNWIND_UNSUPPORTED });
	assert_at(&t, CODE + size, (struct unwind_rule){});
	cfi_table__free(&t);
}

/* Functions use two CIEs in turn, so that a CIE's instructions run again for each function: too many in all. */
static void quadratic(void **state)
{
	enum { INSTRUCTIONS = 60000, FUNCTIONS = 3000 };
	struct made *m = calloc(1, sizeof(*m));
	size_t size = 2 * (INSTRUCTIONS + 64) + FUNCTIONS * 32, common[2], n = 0;
	u8 *section = malloc(size);
	struct rule_set *rules = malloc(sizeof(*rules));
	static const struct elf_segment segment = { CODE, 0, 0x100000, true };
	struct eh_frame_counts counts = {};
	struct eh_frame_rows rows;
	u32 i;

	(void)state;
	assert_true(m && section && rules);
	for (i = 0; i < 2; i++) {
		m->n = 0;
		put_common(m, "zR", DW_EH_PE_udata4);
		memcpy(m->byte, &(u32){ m->n - 4 + INSTRUCTIONS }, 4);
		common[i] = n;
		memcpy(section + n, m->byte, m->n);
		memset(section + n + m->n, 0, INSTRUCTIONS);
		n += m->n + INSTRUCTIONS;
	}
	for (i = 0; i < FUNCTIONS; i++) {
		m->n = 0;
		put_function(m, 0, CODE + 16 * i, 16, 16, 4);
		memcpy(m->byte + 4, &(u32){ n + 4 - common[i % 2] }, 4);
		memcpy(section + n, m->byte, m->n);
		n += m->n;
	}
	rule_set__init(rules);
	assert_int_equal(eh_frame__read(&rows, rules, &counts, &unwind_x86, cursor__of(section, n), BASE,
					&segment, 1), -E2BIG);
	assert_true(counts.functions < 20);
	free(rules);
	free(section);
	free(m);
}

/*
 * --- damage ------------------------------------------------------------------------------------
 */

/* Every byte of a table's code can be looked up, and has a valid rule, whatever the table holds. */
static void use(const struct cfi_table *t)
{
	const struct unwind_rule *r;
	u64 at = t->rows.start, end = at + (u64)t->rows.pages * UNWIND_PAGE;

	for (; at < end; at += 7) {
		r = cfi_table__find(t, at);
		assert_true(r >= t->rule && r < t->rule + t->nrules && r->cfa <= UNWIND_SIGNAL);
	}
	assert_null(cfi_table__find(t, end));
}

static bool is_expected(int err)
{
	return !err || err == -ENOENT || err == -ENOEXEC || err == -E2BIG || err == -EBADMSG;
}

/* Finds .eh_frame in a file. */
static void find_section(const u8 *bytes, size_t *offset, size_t *size)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)bytes;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(bytes + h->e_shoff);
	const char *names = (const char *)bytes + s[h->e_shstrndx].sh_offset;
	u32 i;

	for (i = 0; strcmp(names + s[i].sh_name, ".eh_frame"); i++)
		assert_true(i + 1 < h->e_shnum);
	*offset = s[i].sh_offset;
	*size = s[i].sh_size;
}

/* Changes bytes of the section or the headers, or cuts the file, and reads it in this process, which would crash. */
static void hostile_files(void **state)
{
	size_t size, offset, length, cut;
	u8 *good = read_bytes("/lib64/ld-linux-x86-64.so.2", &size), *bad = malloc(size);
	struct random random = { 11 };
	int round, i, n, err, ok = 0;
	struct cfi_table t;

	(void)state;
	assert_non_null(bad);
	find_section(good, &offset, &length);
	for (round = 0; round < 600; round++) {
		memcpy(bad, good, size);
		n = 1 + random__below(&random, 40);
		cut = round % 5 ? size : random__below(&random, size);
		for (i = 0; i < n; i++)
			bad[round % 3 ? offset + random__below(&random, length) :
					random__below(&random, 1024)] = random__next(&random);
		err = cfi_table__make(&t, file_of(bad, cut), &unwind_x86);
		assert_true(is_expected(err));
		if (err)
			continue;
		use(&t);
		cfi_table__free(&t);
		ok++;
	}
	assert_true(ok > 100);
	free(good);
	free(bad);
}

/* A child that has been taken over may answer anything. */
static void hostile_answers(void **state)
{
	int fd = open_file("/lib64/ld-linux-x86-64.so.2"), round, i, err, ok = 0;
	struct random random = { 12 };
	struct cfi_table t;
	size_t size, cut;
	u8 *bad;
	void *good;

	(void)state;
	assert_int_equal(cfi_table__ask(fd, NULL, &good, &size), 0);
	close(fd);
	bad = malloc(size);
	assert_non_null(bad);
	for (round = 0; round < 2000; round++) {
		memcpy(bad, good, size);
		cut = round % 4 ? size : random__below(&random, size);
		for (i = random__below(&random, 4); i >= 0; i--)
			bad[random__below(&random, round % 2 ? 96 : size)] = random__next(&random);
		err = cfi_table__take(&t, bad, cut);
		assert_true(is_expected(err) || err == -ENOMEM);
		if (err)
			continue;
		use(&t);
		cfi_table__free(&t);
		ok++;
	}
	assert_true(ok > 10);
	free(good);
	free(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries),
		cmocka_unit_test(libraries_of_arm64),
		cmocka_unit_test(shapes),
		cmocka_unit_test(no_sections),
		cmocka_unit_test(orders),
		cmocka_unit_test(encodings),
		cmocka_unit_test(common_parts),
		cmocka_unit_test(words),
		cmocka_unit_test(extents),
		cmocka_unit_test(instructions),
		cmocka_unit_test(arm64),
		cmocka_unit_test(quadratic),
		cmocka_unit_test(hostile_files),
		cmocka_unit_test(hostile_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
