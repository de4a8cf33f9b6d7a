// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/cfa.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* See DWARF for the Arm 64-bit architecture. DW_CFA_AARCH64_negate_ra_state is 0x2d, DW_CFA_GNU_window_save. */
#define CFA_NEGATE_RA_STATE_WITH_PC 0x2c

/* GCC nests one remembered state; hand-written code nests two. */
#define MAX_REMEMBERED 16

struct machine {
	const struct cfa_common *common;
	struct cursor program;
	u32 size;               /* size of the function */
	u64 at;                 /* offset of the code that `state` describes */
	bool failed;            /* `state` is unusable after this point */
	struct cfa_state state;
	struct cfa_state remembered[MAX_REMEMBERED];
	u32 nremembered;
	struct unwind_rule told;
	bool has_told;
	cfa_visit visit;        /* NULL for initial instructions, which report no rules */
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

static bool is_base(const struct unwind_machine *machine, u64 reg)
{
	return machine->base && reg == machine->base;
}

static bool is_link(const struct unwind_machine *machine, u64 reg)
{
	return machine->link && reg == machine->link;
}

static void put_fp(struct unwind_rule *r, const struct cfa_place *p)
{
	r->fp = UNWIND_FP_LOST;
	if (p->how == CFA_SAME)
		r->fp = UNWIND_FP_SAME;
	if ((p->how != CFA_AT_CFA && p->how != CFA_AT_FP) || !fits_s32(p->offset))
		return;
	r->fp = p->how == CFA_AT_CFA ? UNWIND_FP_AT_CFA : UNWIND_FP_AT_FP;
	r->fp_offset = p->offset;
}

static void put_base(struct unwind_rule *r, const struct cfa_place *p)
{
	if (p->how == CFA_SAME)
		r->base_at = UNWIND_BASE_SAME;
	else if (p->how == CFA_AT_CFA && p->offset < 0 && fits_s32(p->offset))
		r->base_at = p->offset;
}

/*
 * A return address at the CFA itself would be in the caller's frame, so an offset of 0 means that the return address
 * is in a register.
 */
static bool put_ra(struct unwind_rule *r, const struct unwind_machine *machine,
		   const struct cfa_place *p)
{
	if (p->how == CFA_SAME)
		return !machine->pushed_ra;
	if (p->how == CFA_IN_LINK)
		return machine->pushed_ra;
	if (p->how != CFA_AT_CFA || !p->offset || !fits_s32(p->offset))
		return false;
	r->ra_offset = p->offset;
	return !machine->pushed_ra || p->offset == machine->pushed_ra;
}

static bool put_cfa(struct unwind_rule *r, const struct unwind_machine *machine,
		    const struct cfa_state *s, bool tracks_base)
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
	r->cfa = s->reg == machine->sp ? UNWIND_SP : is_base(machine, s->reg) ? UNWIND_BASE : UNWIND_FP;
	return s->reg == machine->sp || s->reg == machine->fp ||
	       (is_base(machine, s->reg) && tracks_base);
}

/* On machines whose signal frames have no rules, BPF programs recognize these frames by their code. */
static struct unwind_rule signal_rule(const struct unwind_machine *machine,
				      const struct cfa_state *s)
{
	const struct unwind_rule signal = { .cfa = UNWIND_SIGNAL }, unknown = { .cfa = UNWIND_UNKNOWN },
				 unsupported = { .cfa = UNWIND_UNSUPPORTED };

	if (!machine->signal_sp)
		return unknown;
	return s->by_expression && s->shape == UNWIND_SP_DEREF && !s->shape_second &&
			       s->shape_offset == machine->signal_sp ? signal : unsupported;
}

/* Unused fields are 0, so that equal rules have equal bytes. */
static struct unwind_rule rule_of(const struct machine *m)
{
	const struct unwind_rule end = { .cfa = UNWIND_END }, unsupported = { .cfa = UNWIND_UNSUPPORTED };
	const struct unwind_machine *machine = m->common->machine;
	const struct cfa_state *s = &m->state;
	struct unwind_rule r = {};

	if (m->failed || m->common->has_other_ra)
		return unsupported;
	if (s->ra.how == CFA_UNDEFINED)
		return end;
	if (m->common->is_signal_frame)
		return signal_rule(machine, s);
	if (!s->by_expression && is_base(machine, s->reg) && m->common->needs_base)
		*m->common->needs_base = true;
	/* The caller's stack pointer is the CFA, unless the table states otherwise. */
	if (s->sp.how != CFA_SAME || !put_ra(&r, machine, &s->ra) ||
	    !put_cfa(&r, machine, s, m->common->tracks_base))
		return unsupported;
	put_fp(&r, &s->fp);
	if (m->common->tracks_base)
		put_base(&r, &s->base);
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

/*
 * Accepts the rest of the expression of an x86-64 PLT: breg16 0, lit15, and, litN, ge, lit3, shl, plus. It adds 8
 * at byte N of 16 and beyond.
 */
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

/* Recognizes the expressions that compilers, linkers and authors of assembly write. */
static enum unwind_cfa shape_of(const struct unwind_machine *machine, struct cursor c, s64 *offset,
				s64 *second)
{
	u64 op = cursor__take(&c, 1);
	bool is_sp = op == (u32)DW_OP_breg0 + machine->sp;
	struct cursor rest;

	*offset = *second = 0;
	if (!is_sp && op != (u32)DW_OP_breg0 + machine->fp)
		return UNWIND_UNSUPPORTED;
	*offset = cursor__take_sleb(&c);
	if (c.failed)
		return UNWIND_UNSUPPORTED;
	if (!cursor__left(&c))
		return is_sp ? UNWIND_SP : UNWIND_FP;
	rest = c;
	if (is_sp && machine->pushed_ra && is_rest_of_plt(&rest, second) && !rest.failed)
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
	return is_sp ? UNWIND_SP_DEREF : UNWIND_FP_DEREF;
}

static void set_expression(const struct unwind_machine *machine, struct cfa_state *s,
			   struct cursor c)
{
	s->by_expression = true;
	s->shape = shape_of(machine, c, &s->shape_offset, &s->shape_second);
}

/* Returns a register's location. Only fp + N is supported. */
static struct cfa_place place_of(const struct unwind_machine *machine, struct cursor c)
{
	struct cfa_place p = { .how = CFA_OTHERWISE };

	if (cursor__take(&c, 1) != (u32)DW_OP_breg0 + machine->fp)
		return p;
	p.offset = cursor__take_sleb(&c);
	if (!c.failed && !cursor__left(&c))
		p.how = CFA_AT_FP;
	return p;
}

/*
 * --- instructions ------------------------------------------------------------------------------
 */

static struct cfa_place *place(const struct unwind_machine *machine, struct cfa_state *s, u64 reg)
{
	if (reg == machine->ra)
		return &s->ra;
	if (is_base(machine, reg))
		return &s->base;
	return reg == machine->fp ? &s->fp : reg == machine->sp ? &s->sp : NULL;
}

static void put_place(struct machine *m, u64 reg, enum cfa_how how, s64 offset)
{
	struct cfa_place *p = place(m->common->machine, &m->state, reg);

	if (p)
		*p = (struct cfa_place){ how, how == CFA_AT_CFA ? offset : 0 };
}

/* Sums and products may overflow in a hostile file: they wrap. */
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
	struct cfa_place *p = place(m->common->machine, &m->state, reg);

	if (p)
		*p = place_of(m->common->machine, c);
}

static void restore(struct machine *m, u64 reg)
{
	struct cfa_state initial = m->common->initial;
	struct cfa_place *p = place(m->common->machine, &m->state, reg);

	if (p)
		*p = *place(m->common->machine, &initial, reg);
}

static int advance(struct machine *m, u64 units)
{
	int err = tell(m);

	/* A function is shorter than 4 GiB, and rules beyond its end are not reported. */
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

/* Runs an instruction if it defines the CFA, else returns false. */
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
		set_expression(m->common->machine, &m->state,
			       cursor__cut(c, cursor__take_uleb(c)));
		return true;
	default:
		return false;
	}
}

/* Runs an instruction if it locates a register, else returns false. */
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
	case DW_CFA_register:
		put_place(m, reg, is_link(m->common->machine, cursor__take_uleb(c)) ? CFA_IN_LINK : CFA_OTHERWISE, 0);
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
	case CFA_NEGATE_RA_STATE_WITH_PC:
	case DW_CFA_GNU_window_save:
		/* Toggles whether the return address is signed. Walks always strip the signature. */
		m->failed |= !m->common->machine->has_signed_ra;
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
