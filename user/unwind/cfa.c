// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/cfa.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* System V ABI for AMD64, figure 3.36. */
enum { RBP = 6, RSP = 7, RIP = 16 };

/* Where the kernel keeps rsp in the frame of a signal: struct ucontext, uc_mcontext.rsp. */
#define RSP_IN_UCONTEXT 160

/* GCC remembers one state, hand-written code two. */
#define MAX_REMEMBERED 16

struct machine {
	const struct cfa_common *common;
	struct cursor program;
	u32 size;               /* of the function */
	u64 at;                 /* offset of the code that the state is of */
	bool failed;            /* the state is of no use from here on */
	struct cfa_state state;
	struct cfa_state remembered[MAX_REMEMBERED];
	u32 nremembered;
	struct unwind_rule told;
	bool has_told;
	cfa_visit visit;        /* NULL: the initial ones, where nothing is told */
	void *arg;
};

/*
 * --- rules -------------------------------------------------------------------------------------
 */

static bool fits_s16(s64 n)
{
	return n >= INT16_MIN && n <= INT16_MAX;
}

static bool fits_s32(s64 n)
{
	return n >= INT32_MIN && n <= INT32_MAX;
}

static void put_rbp(struct unwind_rule *r, const struct cfa_place *p)
{
	r->rbp = UNWIND_RBP_LOST;
	if (p->how == CFA_SAME)
		r->rbp = UNWIND_RBP_SAME;
	if ((p->how != CFA_AT_CFA && p->how != CFA_AT_RBP) || !fits_s32(p->offset))
		return;
	r->rbp = p->how == CFA_AT_CFA ? UNWIND_RBP_AT_CFA : UNWIND_RBP_AT_RBP;
	r->rbp_offset = p->offset;
}

static bool put_cfa(struct unwind_rule *r, const struct cfa_state *s)
{
	s64 offset = s->by_expression ? s->shape_offset : s->offset;

	if (!fits_s32(offset) || (s->by_expression && !fits_s16(s->shape_second)))
		return false;
	r->offset = offset;
	if (s->by_expression) {
		r->cfa = s->shape;
		r->second = s->shape_second;
		return s->shape != UNWIND_UNSUPPORTED;
	}
	r->cfa = s->reg == RSP ? UNWIND_RSP : UNWIND_RBP;
	return s->reg == RSP || s->reg == RBP;
}

/* Fields that say nothing are 0: equal rules are equal bytes. */
static struct unwind_rule rule_of(const struct machine *m)
{
	const struct unwind_rule end = { .cfa = UNWIND_END }, signal = { .cfa = UNWIND_SIGNAL },
				 unsupported = { .cfa = UNWIND_UNSUPPORTED };
	const struct cfa_state *s = &m->state;
	struct unwind_rule r = {};

	if (m->failed)
		return unsupported;
	if (s->rip.how == CFA_UNDEFINED)
		return end;
	if (m->common->is_signal_frame)
		return s->by_expression && s->shape == UNWIND_RSP_DEREF &&
				       s->shape_offset == RSP_IN_UCONTEXT && !s->shape_second ?
			       signal : unsupported;
	/* The caller's stack pointer is the CFA, unless something else is said of it. */
	if (s->rsp.how != CFA_SAME || s->rip.how != CFA_AT_CFA || s->rip.offset != -8 ||
	    !put_cfa(&r, s))
		return unsupported;
	put_rbp(&r, &s->rbp);
	return r;
}

static int tell(struct machine *m)
{
	struct unwind_rule r;

	if (!m->visit || m->at >= m->size)
		return 0;
	r = rule_of(m);
	if (m->has_told && !memcmp(&r, &m->told, sizeof(r)))
		return 0;
	m->told = r;
	m->has_told = true;
	return m->visit(m->arg, m->at, &r);
}

/*
 * --- expressions -------------------------------------------------------------------------------
 */

/* breg16 0, lit15, and, litN, ge, lit3, shl, plus: 8 more behind byte N of 16. */
static bool is_rest_of_plt(struct cursor *c, s64 *second)
{
	u64 lit;

	if (cursor__take(c, 1) != DW_OP_breg16 || cursor__take_sleb(c) ||
	    cursor__take(c, 1) != DW_OP_lit15 || cursor__take(c, 1) != DW_OP_and)
		return false;
	lit = cursor__take(c, 1);
	*second = lit - DW_OP_lit0;
	return lit >= DW_OP_lit0 && lit <= DW_OP_lit15 && cursor__take(c, 1) == DW_OP_ge &&
	       cursor__take(c, 1) == DW_OP_lit3 && cursor__take(c, 1) == DW_OP_shl &&
	       cursor__take(c, 1) == DW_OP_plus && !cursor__left(c);
}

/* The shapes that compilers, linkers and assemblers' authors write. */
static enum unwind_cfa shape_of(struct cursor c, s64 *offset, s64 *second)
{
	u64 op = cursor__take(&c, 1);
	struct cursor rest;

	*offset = *second = 0;
	if (op != DW_OP_breg0 + RSP && op != DW_OP_breg0 + RBP)
		return UNWIND_UNSUPPORTED;
	*offset = cursor__take_sleb(&c);
	if (c.failed)
		return UNWIND_UNSUPPORTED;
	if (!cursor__left(&c))
		return op == DW_OP_breg0 + RSP ? UNWIND_RSP : UNWIND_RBP;
	rest = c;
	if (op == DW_OP_breg0 + RSP && is_rest_of_plt(&rest, second) && !rest.failed)
		return UNWIND_PLT;
	*second = 0;
	if (cursor__take(&c, 1) != DW_OP_deref)
		return UNWIND_UNSUPPORTED;
	if (cursor__left(&c)) {
		if (cursor__take(&c, 1) != DW_OP_plus_uconst)
			return UNWIND_UNSUPPORTED;
		*second = cursor__take_uleb(&c);
	}
	if (c.failed || cursor__left(&c))
		return UNWIND_UNSUPPORTED;
	return op == DW_OP_breg0 + RSP ? UNWIND_RSP_DEREF : UNWIND_RBP_DEREF;
}

static void set_expression(struct cfa_state *s, struct cursor c)
{
	s->by_expression = true;
	s->shape = shape_of(c, &s->shape_offset, &s->shape_second);
}

/* Of a register: only rbp + N is known. */
static struct cfa_place place_of(struct cursor c)
{
	struct cfa_place p = { .how = CFA_OTHERWISE };

	if (cursor__take(&c, 1) != DW_OP_breg0 + RBP)
		return p;
	p.offset = cursor__take_sleb(&c);
	if (!c.failed && !cursor__left(&c))
		p.how = CFA_AT_RBP;
	return p;
}

/*
 * --- instructions ------------------------------------------------------------------------------
 */

static struct cfa_place *place(const struct cfa_common *common, struct cfa_state *s, u64 reg)
{
	if (reg == common->return_register)
		return &s->rip;
	return reg == RBP ? &s->rbp : reg == RSP ? &s->rsp : NULL;
}

static void put_place(struct machine *m, u64 reg, enum cfa_how how, s64 offset)
{
	struct cfa_place *p = place(m->common, &m->state, reg);

	if (p)
		*p = (struct cfa_place){ how, how == CFA_AT_CFA ? offset : 0 };
}

/* Sums and products of a hostile file may leave the numbers there are: they wrap. */
static s64 scaled(u64 n, s64 unit)
{
	return (s64)(n * (u64)unit);
}

static void put_offset(struct machine *m, u64 reg, u64 n)
{
	put_place(m, reg, CFA_AT_CFA, scaled(n, m->common->data_unit));
}

static void put_expression(struct machine *m, u64 reg, struct cursor c)
{
	struct cfa_place *p = place(m->common, &m->state, reg);

	if (p)
		*p = place_of(c);
}

static void restore(struct machine *m, u64 reg)
{
	struct cfa_state initial = m->common->initial;
	struct cfa_place *p = place(m->common, &m->state, reg);

	if (p)
		*p = *place(m->common, &initial, reg);
}

static int advance(struct machine *m, u64 units)
{
	int err = tell(m);

	/* A function is shorter than 4 GiB, and what is behind its end is not told. */
	if (__builtin_mul_overflow(units, m->common->code_unit, &units) ||
	    units >= m->size - m->at)
		m->at = m->size;
	else
		m->at += units;
	return err;
}

static void remember(struct machine *m)
{
	if (m->nremembered == MAX_REMEMBERED)
		m->failed = true;
	else
		m->remembered[m->nremembered++] = m->state;
}

static void restore_remembered(struct machine *m)
{
	if (!m->nremembered)
		m->failed = true;
	else
		m->state = m->remembered[--m->nremembered];
}

static void define(struct machine *m, u64 reg, s64 offset)
{
	m->state.reg = reg;
	m->state.offset = offset;
	m->state.by_expression = false;
}

/* Those that say what the CFA is. false: it is none of them. */
static bool run_definition(struct machine *m, u8 op)
{
	struct cursor *c = &m->program;
	u64 reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor__take_uleb(c);
		define(m, reg, cursor__take_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cursor__take_uleb(c);
		define(m, reg, scaled(cursor__take_sleb(c), m->common->data_unit));
		return true;
	case DW_CFA_def_cfa_register:
		define(m, cursor__take_uleb(c), m->state.offset);
		return true;
	case DW_CFA_def_cfa_offset:
		m->state.offset = cursor__take_uleb(c);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		m->state.offset = scaled(cursor__take_sleb(c), m->common->data_unit);
		return true;
	case DW_CFA_def_cfa_expression:
		set_expression(&m->state, cursor__cut(c, cursor__take_uleb(c)));
		return true;
	default:
		return false;
	}
}

/* Those that say where registers are. false: it is none of them. */
static bool run_place(struct machine *m, u8 op)
{
	struct cursor *c = &m->program;
	u64 reg;

	if (op != DW_CFA_offset_extended && op != DW_CFA_offset_extended_sf &&
	    op != DW_CFA_GNU_negative_offset_extended && op != DW_CFA_restore_extended &&
	    op != DW_CFA_undefined && op != DW_CFA_same_value && op != DW_CFA_register &&
	    op != DW_CFA_val_offset && op != DW_CFA_val_offset_sf && op != DW_CFA_expression &&
	    op != DW_CFA_val_expression)
		return false;
	reg = cursor__take_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		put_offset(m, reg, cursor__take_uleb(c));
		break;
	case DW_CFA_offset_extended_sf:
		put_offset(m, reg, cursor__take_sleb(c));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		put_offset(m, reg, -cursor__take_uleb(c));
		break;
	case DW_CFA_restore_extended:
		restore(m, reg);
		break;
	case DW_CFA_undefined:
		put_place(m, reg, CFA_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		put_place(m, reg, CFA_SAME, 0);
		break;
	case DW_CFA_expression:
		put_expression(m, reg, cursor__cut(c, cursor__take_uleb(c)));
		break;
	case DW_CFA_val_expression:
		cursor__cut(c, cursor__take_uleb(c));
		put_place(m, reg, CFA_OTHERWISE, 0);
		break;
	default:
		cursor__take_uleb(c);
		put_place(m, reg, CFA_OTHERWISE, 0);
	}
	return true;
}

static int run_other(struct machine *m, u8 op)
{
	struct cursor *c = &m->program;

	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_advance_loc1:
		return advance(m, cursor__take(c, 1));
	case DW_CFA_advance_loc2:
		return advance(m, cursor__take(c, 2));
	case DW_CFA_advance_loc4:
		return advance(m, cursor__take(c, 4));
	case DW_CFA_remember_state:
		remember(m);
		return 0;
	case DW_CFA_restore_state:
		restore_remembered(m);
		return 0;
	case DW_CFA_GNU_args_size:
		cursor__take_uleb(c);
		return 0;
	default:
		m->failed = true;
		return 0;
	}
}

static int run_one(struct machine *m)
{
	u8 op = cursor__take(&m->program, 1), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, low);
	case DW_CFA_offset:
		put_offset(m, low, cursor__take_uleb(&m->program));
		return 0;
	case DW_CFA_restore:
		restore(m, low);
		return 0;
	}
	if (run_definition(m, op) || run_place(m, op))
		return 0;
	return run_other(m, op);
}

static int run(struct machine *m, u64 *steps)
{
	int err = 0;

	while (cursor__left(&m->program) && !m->failed && m->at < m->size && !err) {
		if (!*steps)
			return -E2BIG;
		--*steps;
		err = run_one(m);
		m->failed |= m->program.failed;
	}
	return err;
}

int cfa__run(const struct cfa_common *common, struct cursor program, u32 size, u64 *steps,
	     cfa_visit visit, void *arg)
{
	struct machine m = {
		.common = common,
		.program = program,
		.size = size,
		.state = common->initial,
		.visit = visit,
		.arg = arg,
	};
	int err = run(&m, steps);

	return err ?: tell(&m);
}

int cfa__run_initial(struct cfa_common *common, struct cursor program, u64 *steps)
{
	struct machine m = { .common = common, .program = program, .size = 1 };
	int err = run(&m, steps);

	if (!err && (m.failed || m.at))
		err = -EBADMSG;
	if (!err)
		common->initial = m.state;
	return err;
}
