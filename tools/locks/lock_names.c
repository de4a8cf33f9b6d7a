// SPDX-License-Identifier: BSD-2-Clause
#include "locks/lock_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "report/diag.h"

/* Space for a symbol, an offset, a module, and a mark. */
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

static const char *const place_names[] = {
	[LOCK_ELSEWHERE] = "", [LOCK_MMAP] = "mmap_lock", [LOCK_SIGLOCK] = "siglock",
	[LOCK_RUN_QUEUE] = "rq_lock",
};

static void name_lock(struct lock_names *names, const struct lock_parts *p, char text[TEXT_SPACE])
{
	bool has_place = p->place != LOCK_ELSEWHERE && p->place < ARRAY_SIZE(place_names);

	if (!has_place && kernel_variables__name(&names->variables, p->lock, text))
		return;
	snprintf(text, TEXT_SPACE, "%s%s%llx", has_place ? place_names[p->place] : "",
		 has_place ? "@" : "", p->lock);
}

/*
 * --- chosen locks ------------------------------------------------------------------------------
 */

/* Calls add() with each word of a list. */
static int each_word(const char *text, int (*add)(void *arg, const char *word), void *arg)
{
	char *copy = strdup(text), *rest = copy, *word;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (word = strsep(&rest, ",")))
		err = add(arg, word);
	free(copy);
	return err;
}

static int add_type(void *arg, const char *word)
{
	struct lock_choice *c = arg;
	const char *near;
	u32 i, found = 0;

	for (i = 0; i < LOCK_TYPES; i++)
		if (!fnmatch(word, lock_type_names[i], 0))
			found |= 1U << i;
	c->types |= found;
	if (found)
		return 0;
	near = nearest(word, lock_type_names, LOCK_TYPES);
	diag_error("--type: unknown lock type '%s'", word);
	if (near)
		diag_hint("did you mean %s?", near);
	else
		diag_hint("as in mutex, spinlock, 'rwsem:*'; --by type shows the types with waits");
	return -EINVAL;
}

int lock_choice__add_types(struct lock_choice *c, const char *text)
{
	c->types = 0;
	return each_word(text, add_type, c);
}

/* Destination of chosen locks. */
struct choosing {
	struct lock_choice *choice;
	struct lock_names *names;
};

static int choose(struct lock_choice *c, u64 start, u64 end, const char *word)
{
	if (c->n == CHOSEN_LOCKS) {
		diag_error("--lock: '%s' exceeds the limit of %d locks", word, CHOSEN_LOCKS);
		return -EINVAL;
	}
	c->chosen[c->n++] = (struct lock_text){ start, end };
	return 0;
}

static int no_lock(const struct symbol_table *t, const char *word)
{
	if (!t->n) {
		diag_error("--lock: names of kernel variables are not available");
		diag_hint("give the address shown by --by lock, or mmap_lock, siglock or rq_lock");
		return -EOPNOTSUPP;
	}
	diag_error("--lock: the kernel has no variable '%s'", word);
	diag_hint("--by lock shows the locks with waits; an address, mmap_lock, siglock and rq_lock also work");
	return -EINVAL;
}

/* --by lock shows addresses without 0x, and offsets within variables. */
static bool is_address(const char *word, u64 *address)
{
	char *end;

	if (strlen(word) < 8)
		return false;
	errno = 0;
	*address = strtoull(word, &end, 16);
	return !errno && !*end;
}

static int add_lock(void *arg, const char *word)
{
	struct choosing *to = arg;
	u32 places = to->choice->places, n = to->choice->n, i;
	const struct symbol_table *t;
	int err = 0;
	u64 address;

	for (i = LOCK_ELSEWHERE + 1; i < ARRAY_SIZE(place_names); i++)
		if (!fnmatch(word, place_names[i], 0))
			to->choice->places |= 1U << i;
	if (is_address(word, &address))
		return choose(to->choice, address, address + 1, word);
	t = kernel_variables__table(&to->names->variables);
	for (i = 0; i < t->n && !err; i++)
		if (!fnmatch(word, symbol_table__name(t, i), 0))
			err = choose(to->choice, t->entry[i].start,
				     t->entry[i].start + t->entry[i].size, word);
	if (!err && n == to->choice->n && places == to->choice->places)
		err = no_lock(t, word);
	return err;
}

int lock_choice__add_locks(struct lock_choice *c, struct lock_names *names, const char *text)
{
	struct choosing to = { c, names };

	return each_word(text, add_lock, &to);
}

/*
 * --- callers -----------------------------------------------------------------------------------
 */

/* The address is a return address: the call is the instruction before it. */
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

/* marked: this field shows whether the wait was unfinished. */
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
	const char *comm = p->owner ? p->owner_comm : NULL;
	int err = report_row__add_field(row, &tid) ?: report_row__add_text(row, "owner_comm", comm);

	if (!err)
		row->cell[row->ncells - 1].role = ROLE_LABEL;
	return err;
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
	kernel_variables__free(&names->variables);
}

/*
 * --- code of lock functions --------------------------------------------------------------------
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
