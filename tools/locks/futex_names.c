// SPDX-License-Identifier: BSD-2-Clause
#include "locks/futex_names.h"

#include <stdio.h>

/* Space for a symbol or a file, an offset, and marks. */
#define TEXT_SPACE 1024
#define STILL_WAITING " [still waiting]"

const char *const futex_part_names[] = { "futex", "op", "result", "owner" };

const char *const futex_result_names[FUTEX_RESULTS] = {
	[FUTEX_WOKEN] = "woken",
	[FUTEX_TIMED_OUT] = "timed out",
	[FUTEX_CHANGED] = "value changed",
	[FUTEX_SIGNALLED] = "signal",
	[FUTEX_FAILED] = "failed",
	[FUTEX_WAITING] = "still waiting",
};

static const char *op_name(u32 op)
{
	static const char *const names[] = {
		"wait", "wake", "fd", "requeue", "cmp_requeue", "wake_op", "lock_pi", "unlock_pi",
		"trylock_pi", "wait_bitset", "wake_bitset", "wait_requeue_pi", "cmp_requeue_pi",
		"lock_pi2",
	};

	return op == FUTEX_WAITV ? "waitv" : op < ARRAY_SIZE(names) ? names[op] : "unknown";
}

/* Names a futex by symbol, or by file or kind of memory with the offset there, or by address. */
static int name_futex(struct symbols *symbols, const struct futex_parts *p, char text[TEXT_SPACE])
{
	const char *shared = p->shared ? " (shared)" : "";
	struct symbol s = {};
	int err = symbols ? symbols__user(symbols, p->tgid, p->address, &s) : 0;

	if (err)
		return err;
	if (s.name && s.offset)
		snprintf(text, TEXT_SPACE, "%s+0x%llx%s", s.name, s.offset, shared);
	else if (s.name)
		snprintf(text, TEXT_SPACE, "%s%s", s.name, shared);
	else if (s.module)
		snprintf(text, TEXT_SPACE, "%s+0x%llx%s", s.module, s.module_offset, shared);
	else
		snprintf(text, TEXT_SPACE, "0x%llx%s", p->address, shared);
	return 0;
}

/* marked: this field shows that the wait was unfinished. */
static int add_text(struct report_row *row, const char *name, const char *text, bool marked)
{
	char whole[TEXT_SPACE + sizeof(STILL_WAITING)];

	snprintf(whole, sizeof(whole), "%s%s", text, marked ? STILL_WAITING : "");
	return report_row__add_text(row, name, whole);
}

/* Distinguishes futexes with the same name: those at the same offset of two mappings, and those of two processes. */
static int add_identity(struct report_row *row, const struct futex_parts *p, u32 by)
{
	const size_t first = row->ncells;
	char text[32];
	size_t i;
	int err;

	snprintf(text, sizeof(text), "%#llx", p->address);
	err = report_row__add_text(row, "address", text);
	if (!err && !(by & BY_PID))
		err = report_row__add_number(row, "pid", p->tgid, FIELD_ID);
	for (i = first; i < row->ncells; i++) {
		row->cell[i].role = ROLE_KEY;
		row->cell[i].of = "futex";
		row->cell[i].machine = true;
	}
	return err;
}

int futex_names__add(void *context, const void *own, u32 by, struct report_row *row)
{
	struct symbols *const *symbols = context;
	const struct futex_parts *p = own;
	bool mark = p->result == FUTEX_WAITING && !(by & BY_RESULT);
	char text[TEXT_SPACE];
	int err = 0;

	if (by & BY_FUTEX) {
		err = name_futex(*symbols, p, text);
		err = err ?: add_text(row, "futex", text, mark);
		err = err ?: add_identity(row, p, by);
		mark = false;
	}
	if (!err && by & BY_OP)
		err = add_text(row, "op", op_name(p->op), mark);
	if (!err && by & BY_RESULT)
		err = report_row__add_text(row, "result",
					   futex_result_names[p->result % FUTEX_RESULTS]);
	if (!err && by & BY_OWNER)
		err = report_row__add_number(row, "owner", p->owner,
					     p->owner ? FIELD_ID : FIELD_NONE);
	return err;
}
