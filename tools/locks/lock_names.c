// SPDX-License-Identifier: BSD-2-Clause
#include "locks/lock_names.h"

#include <errno.h>
#include <stdio.h>

/* A symbol, an offset, a module, a mark. */
#define TEXT_SPACE 640
#define STILL_WAITING " [still waiting]"

const char *const lock_part_names[] = { "lock", "type", "caller", "result", "owner" };

#define TYPES(mark)                                                                                \
	"spinlock" mark, "rwlock:R" mark, "rwlock:W" mark, "mutex" mark, "rwsem:R" mark,           \
		"rwsem:W" mark, "percpu-rwsem:R" mark, "percpu-rwsem:W" mark, "rtmutex" mark,      \
		"rtmutex:R" mark, "rtmutex:W" mark, "semaphore" mark

const char *const lock_type_names[2 * LOCK_TYPES] = { TYPES(""), TYPES(STILL_WAITING) };

/*
 * --- locks -------------------------------------------------------------------------------------
 */

/* A variable's name, and where in it; false: it is in no variable, or the kernel shows none. */
static bool name_variable(struct lock_names *names, u64 lock, char text[TEXT_SPACE])
{
	const struct symbol_table *t = &names->data.table;
	u64 offset;
	u32 i;

	if (!names->data_read)
		kernel_symbols__read_variables(&names->data);
	names->data_read = true;
	i = symbol_table__find(t, lock);
	if (i == SYMBOL_NONE)
		return false;
	offset = lock - t->entry[i].start;
	if (offset)
		snprintf(text, TEXT_SPACE, "%s+0x%llx", symbol_table__name(t, i), offset);
	else
		snprintf(text, TEXT_SPACE, "%s", symbol_table__name(t, i));
	return true;
}

static void name_lock(struct lock_names *names, const struct lock_parts *p, char text[TEXT_SPACE])
{
	static const char *const places[] = {
		[LOCK_ELSEWHERE] = "", [LOCK_MMAP] = "mmap_lock@", [LOCK_SIGLOCK] = "siglock@",
		[LOCK_RUN_QUEUE] = "rq_lock@",
	};

	if (p->place == LOCK_ELSEWHERE && name_variable(names, p->lock, text))
		return;
	snprintf(text, TEXT_SPACE, "%s%llx", p->place < ARRAY_SIZE(places) ? places[p->place] : "",
		 p->lock);
}

/*
 * --- callers -----------------------------------------------------------------------------------
 */

/* A return address: the call is in front of it. */
static int name_caller(struct lock_names *names, u64 address, char text[TEXT_SPACE])
{
	struct symbol s = {};
	int err = names->symbols ? 0 : symbols__new(&names->symbols);

	if (!err && address)
		err = symbols__kernel(names->symbols, address - 1, &s);
	if (err)
		return err;
	if (!address)
		snprintf(text, TEXT_SPACE, "[unknown]");
	else if (!s.name)
		snprintf(text, TEXT_SPACE, "%llx", address);
	else if (s.module && s.module[0] != '[')
		snprintf(text, TEXT_SPACE, "%s+0x%llx [%s]", s.name, s.offset + 1, s.module);
	else
		snprintf(text, TEXT_SPACE, "%s+0x%llx", s.name, s.offset + 1);
	return 0;
}

/*
 * --- fields ------------------------------------------------------------------------------------
 */

static const char *result_name(u32 end)
{
	static const char *const names[] = {
		[LOCK_ACQUIRED] = "acquired", [LOCK_GIVEN_UP] = "given up",
		[LOCK_WAITING] = "waiting",
	};

	return end < ARRAY_SIZE(names) ? names[end] : "unknown";
}

/* marked: this field says whether the wait had ended. */
static int add_text(struct report_row *row, const char *name, char text[TEXT_SPACE], bool marked)
{
	char whole[TEXT_SPACE + sizeof(STILL_WAITING)];

	snprintf(whole, sizeof(whole), "%s%s", text, marked ? STILL_WAITING : "");
	return report_row__add_text(row, name, whole);
}

static int add_owner(struct report_row *row, const struct lock_parts *p)
{
	const struct field tid = {
		.name = "owner", .number = p->owner, .kind = p->owner ? FIELD_ID : FIELD_NONE,
	};
	const struct field comm = {
		.name = "owner_comm", .text = p->owner ? (char *)p->owner_comm : NULL,
		.kind = FIELD_NONE, .label = true,
	};
	int err = report_row__add_field(row, &tid);

	if (!err && comm.text)
		return report_row__add_text(row, comm.name, comm.text);
	return err ?: report_row__add_field(row, &comm);
}

int lock_names__add(void *context, const void *own, u32 by, struct report_row *row)
{
	struct lock_names *names = context;
	const struct lock_parts *p = own;
	bool mark = p->end == LOCK_WAITING && !(by & BY_END);
	char text[TEXT_SPACE];
	int err = 0;

	if (by & BY_LOCK) {
		name_lock(names, p, text);
		err = add_text(row, "lock", text, mark);
		mark = false;
	}
	if (!err && by & BY_TYPE) {
		snprintf(text, sizeof(text), "%s", lock_type_names[p->type % LOCK_TYPES]);
		err = add_text(row, "type", text, mark);
		mark = false;
	}
	if (!err && by & BY_CALLER) {
		err = name_caller(names, p->caller, text);
		err = err ?: add_text(row, "caller", text, mark);
	}
	if (!err && by & BY_END)
		err = report_row__add_text(row, "result", result_name(p->end));
	if (!err && by & BY_OWNER)
		err = add_owner(row, p);
	return err;
}

void lock_names__free(struct lock_names *names)
{
	symbols__free(names->symbols);
	kernel_symbols__free(&names->data);
}

/*
 * --- code of locks -----------------------------------------------------------------------------
 */

int lock_texts__find(struct lock_text *lock, struct lock_text *sched)
{
	static const char *const names[] = {
		"__lock_text_start", "__lock_text_end", "__sched_text_start", "__sched_text_end",
	};
	u64 at[ARRAY_SIZE(names)];
	int err = kernel_symbols__locate(names, ARRAY_SIZE(names), at);

	if (err)
		return err;
	*lock = (struct lock_text){ at[0], at[1] };
	*sched = (struct lock_text){ at[2], at[3] };
	return 0;
}
