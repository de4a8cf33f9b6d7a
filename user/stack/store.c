// SPDX-License-Identifier: BSD-2-Clause
#include "stack/store.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg/elements.h"
#include "agg/variable.h"
#include "agg/wide.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/iterator.h"
#include "base/numbers.h"
#include "run/map_room.h"

#define NO_STACK UINT32_MAX

static const char *const class_names[] = { "stacks_small", "stacks_medium", "stacks_large" };

u32 stack_walk_limit(void)
{
	char line[32];
	u64 limit;

	if (read_line("/proc/sys/kernel/perf_event_max_stack", line, sizeof(line)) ||
	    parse_u64_between(line, 1, UINT32_MAX, &limit))
		return STACK_DEPTH;
	return limit;
}

/*
 * --- sizes -------------------------------------------------------------------------------------
 */

static size_t value_size(u32 frames)
{
	return sizeof(struct stack) + sizeof(u64) * frames;
}

static u32 class_frames(size_t class, u32 most)
{
	static const u32 frames[] = { STACK_SMALL, STACK_MEDIUM, STACK_PARTS * STACK_MOST_DEPTH };

	return frames[class] < most ? frames[class] : most;
}

static int set_room(struct bpf_map *map, const struct host *host, u64 room, bool repeats)
{
	return repeats ? map__set_room_for_keys(map, host, room) : map__set_room(map, host, room);
}

/* Longer stacks are rarer. The total size of all three maps bounds the memory. */
static int size_class(struct bpf_object *obj, const struct host *host, size_t class, u32 stacks,
		      u32 most, bool repeats)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, class_names[class]);
	u32 frames = class_frames(class, most);
	u64 room = stacks >> class ?: 1;
	int err;

	if (!map)
		return -ENOENT;
	/* No stack is long enough for this class. */
	if (class && frames == class_frames(class - 1, most))
		room = 1;
	err = bpf_map__set_value_size(map, value_size(frames));
	return err ?: set_room(map, host, room, repeats);
}

int stack_store__prepare(struct bpf_object *obj, const struct host *host, const char *counts,
			 u32 stacks, u32 depth, bool python, bool repeats)
{
	u32 most = (python ? STACK_PARTS : 2) * depth;
	struct bpf_map *slots = bpf_object__find_map_by_name(obj, "stack_slots");
	struct bpf_map *by_key = counts ? bpf_object__find_map_by_name(obj, counts) : NULL;
	size_t i;
	int err;

	if (!slots || (counts && !by_key))
		return -ENOENT;
	if (!stacks)
		stacks = host->version >= KERNEL_VERSION(6, 1, 0) ? STACKS_ON_DEMAND :
								    STACKS_AT_ONCE;
	/*
	 * With Python frames, stack pointers follow all frames (STACK_POINTERS in
	 * bpf/lib/python.bpf.h).
	 */
	err = bpf_map__set_value_size(slots, offsetof(struct stack_slot, stack) +
						     value_size(python ? most + 2 + 2 * depth + 1 : most + 1));
	for (i = 0; i < ARRAY_SIZE(class_names) && !err; i++)
		err = size_class(obj, host, i, stacks, most, repeats);
	if (!err && by_key)
		err = set_room(by_key, host, stacks, repeats);
	return err;
}

int stack_store__begin(struct stack_store *s, const struct bpf_object *obj, const char *counts,
		       u64 seed)
{
	struct bpf_map *map;
	size_t i;

	memset(s, 0, sizeof(*s));
	s->seed = seed;
	s->counts_fd = counts ? bpf_object__find_map_fd_by_name(obj, counts) : -1;
	if (counts && s->counts_fd < 0)
		return s->counts_fd;
	for (i = 0; i < ARRAY_SIZE(class_names); i++) {
		map = bpf_object__find_map_by_name(obj, class_names[i]);
		if (!map)
			return -ENOENT;
		s->class[i].fd = bpf_map__fd(map);
		s->class[i].frames =
			(bpf_map__value_size(map) - sizeof(struct stack)) / sizeof(u64);
		s->class[i].room = bpf_map__max_entries(map);
	}
	map = counts ? bpf_object__find_map_by_name(obj, counts) : NULL;
	s->counts_room = map ? bpf_map__max_entries(map) : UINT32_MAX;
	s->generation = object_variable(obj, ".bss", "stack_generation");
	s->stored = object_variable(obj, ".bss", "stacks_stored");
	s->armed = object_variable(obj, ".bss", "armed");
	s->turned_ns = monotonic_ns();
	s->show_held = bpf_object__find_program_by_name(obj, "show_held");
	return s->generation && s->stored && s->armed ? 0 : -ENOENT;
}

/* No stack and no count has a key of zeroes. */
static void fill_stock(int fd)
{
	struct bpf_map_info info = {};
	u32 size = sizeof(info);
	void *key, *value;

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return;
	key = calloc(1, info.key_size);
	value = calloc(1, info.value_size);
	if (key && value && !bpf_map_update_elem(fd, key, value, BPF_ANY))
		bpf_map_delete_elem(fd, key);
	free(key);
	free(value);
}

static void fill_stocks_here(const struct stack_store *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->class); i++)
		fill_stock(s->class[i].fd);
	if (s->counts_fd >= 0)
		fill_stock(s->counts_fd);
}

void stack_store__fill_stocks(const struct stack_store *s)
{
	int n = libbpf_num_possible_cpus(), cpu;
	size_t size = CPU_ALLOC_SIZE(n > 0 ? n : 1);
	cpu_set_t *before = CPU_ALLOC(n > 0 ? n : 1), *one = CPU_ALLOC(n > 0 ? n : 1);

	if (before && one && !sched_getaffinity(0, size, before)) {
		for (cpu = 0; cpu < n; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			if (!sched_setaffinity(0, size, one))
				fill_stocks_here(s);
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	CPU_FREE(one);
}

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

static bool same_hash(const void *array, u32 index, const void *key)
{
	return ((const u64 *)array)[index] == *(const u64 *)key;
}

static int keep_stack(struct stack_store *s, struct stack *stack, u64 hash)
{
	size_t n = s->nstacks;

	if (ARRAY_ROOM(s->stack, n) || ARRAY_ROOM(s->hash, n))
		return -ENOMEM;
	s->stack[n] = stack;
	s->hash[n] = hash;
	if (table__add(&s->by_hash, hash, n))
		return -ENOMEM;
	s->nstacks++;
	return 0;
}

/* Returns the map of a stack, by the rule of stack_keep() in bpf/lib/stack.bpf.h. */
static const struct stack_classes *class_of(const struct stack_store *s, u32 frames)
{
	return &s->class[frames <= STACK_SMALL ? 0 : frames <= STACK_MEDIUM ? 1 : 2];
}

int stack_store__fetch(const struct stack_store *s, const struct stack_id *id, struct stack **stack)
{
	const struct stack_classes *class = class_of(s, id->frames);
	struct stack *larger;
	int err = 0;

	if (id->frames > class->frames)
		return 0;
	larger = malloc(value_size(class->frames));
	if (!larger)
		return -ENOMEM;
	if (!bpf_map_lookup_elem(class->fd, &id->hash, larger) &&
	    (u32)larger->kernel + larger->user + larger->python == id->frames &&
	    stack_hash(larger, s->seed, id->frames) == id->hash) {
		*stack = malloc(value_size(id->frames));
		if (*stack)
			memcpy(*stack, larger, value_size(id->frames));
		else
			err = -ENOMEM;
	}
	free(larger);
	return err;
}

/* Sets *index to the stack's index, or to NO_STACK if it was lost. */
static int find_stack(struct stack_store *s, const struct stack_id *id, u32 *index)
{
	struct stack *stack = NULL;
	s64 known;
	int err;

	*index = NO_STACK;
	if (!id->hash)
		return 0;
	known = table__find(&s->by_hash, id->hash, same_hash, s->hash, &id->hash);
	if (known >= 0) {
		*index = known;
		return 0;
	}
	err = stack_store__fetch(s, id, &stack);
	if (err || !stack)
		return err;
	err = keep_stack(s, stack, id->hash);
	if (err)
		free(stack);
	else
		*index = s->nstacks - 1;
	return err;
}

/*
 * --- turns -------------------------------------------------------------------------------------
 */

/* Minimum number of idle keys that justifies a turn. */
#define IDLE_TO_NOTE 4096

/* Maximum time between turns, which also drop the names of files that are no longer mapped. */
#define LONGEST_TURN_NS (300 * NSEC_PER_SEC)

u64 stack_store__in_maps(const struct stack_store *s)
{
	u64 n = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->class); i++)
		n += s->stored[i] - s->taken[i];
	return n;
}

bool stack_store__is_due(const struct stack_store *s, size_t n, size_t nidle)
{
	size_t i;

	/* The last read of a run must not leave anything to a later read. */
	if (!s->generation || !*s->armed)
		return false;
	for (i = 0; i < ARRAY_SIZE(s->class); i++)
		if (s->class[i].room > 1 && s->stored[i] - s->taken[i] >= s->class[i].room / 4)
			return true;
	return monotonic_ns() - s->turned_ns >= LONGEST_TURN_NS || n >= s->counts_room / 4 ||
	       (nidle > IDLE_TO_NOTE && nidle > n / 2);
}

static int add_leaving(struct stack_store *s, u64 hash, u32 class)
{
	if (ARRAY_ROOM(s->old, s->nold))
		return -ENOMEM;
	s->old[s->nold] = (struct stack_leaving){ .hash = hash, .class = class };
	return table__add(&s->by_old, hash, s->nold++);
}

void stack_store__leave_all(struct stack_store *s)
{
	free(s->old);
	table__free(&s->by_old);
	s->old = NULL;
	s->by_old = (struct table){};
	s->nold = 0;
}

/* Programs only add entries. Entries present at the start are found; later ones may be. */
static int find_leaving(struct stack_store *s, u32 class)
{
	u64 hash, *before = NULL;
	int err = 0;

	while (!err && !bpf_map_get_next_key(s->class[class].fd, before, &hash)) {
		err = add_leaving(s, hash, class);
		before = &hash;
	}
	return err;
}

static bool same_leaving(const void *array, u32 index, const void *key)
{
	return ((const struct stack_leaving *)array)[index].hash == *(const u64 *)key;
}

void stack_store__hold(struct stack_store *s, const struct stack_id *id)
{
	s64 known = id->hash ? table__find(&s->by_old, id->hash, same_leaving, s->old, &id->hash) : -1;

	if (known >= 0)
		s->old[known].is_held = true;
}

static int hold_shown(void *context, const void *id)
{
	stack_store__hold(context, id);
	return 0;
}

/* Holds the stacks that tasks have taken but not counted yet. */
static int hold_of_tasks(struct stack_store *s)
{
	struct bpf_link *link;
	int fd, err;

	if (!s->show_held)
		return 0;
	link = bpf_program__attach_iter(s->show_held, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : iterator__each(fd, sizeof(struct stack_id), hold_shown, s);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

int stack_store__begin_turn(struct stack_store *s)
{
	u32 class, generation;
	int err = 0;

	for (class = 0; class < ARRAY_SIZE(s->class) && !err; class++)
		err = find_leaving(s, class);
	s->turned_ns = monotonic_ns();
	/* Uses all 32 bits, unlike elements__next_generation(). */
	generation = *s->generation + 1;
	*s->generation = generation;
	if (!err)
		err = elements__await_programs();
	if (!err)
		err = hold_of_tasks(s);
	if (err)
		stack_store__leave_all(s);
	return err;
}

static void take_out(struct stack_store *s, const struct stack_classes *class, u64 hash)
{
	if (!bpf_map_delete_elem(class->fd, &hash))
		s->taken[class - s->class]++;
}

void stack_store__end_turn(struct stack_store *s)
{
	const struct stack_leaving *l;
	size_t i;

	for (i = 0; i < s->nold; i++) {
		l = &s->old[i];
		if (!l->is_held)
			take_out(s, &s->class[l->class], l->hash);
	}
	stack_store__leave_all(s);
}

/*
 * --- counts ------------------------------------------------------------------------------------
 */

static bool same_key(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct stack_key *)array)[index], key, sizeof(struct stack_key));
}

static int grow_keys(struct stack_store *s)
{
	return ARRAY_ROOM(s->key, s->nkeys) ?: ARRAY_ROOM(s->value, s->nkeys) ?: ARRAY_ROOM(s->stack_of, s->nkeys);
}

static int add_key(struct stack_store *s, const struct stack_key *key, u64 hash, u32 *index)
{
	int err = grow_keys(s);

	if (!err)
		err = find_stack(s, &key->stack, &s->stack_of[s->nkeys]);
	if (!err)
		err = table__add(&s->by_key, hash, s->nkeys);
	if (err)
		return err;
	s->key[s->nkeys] = *key;
	memset(&s->value[s->nkeys], 0, sizeof(*s->value));
	*index = s->nkeys++;
	return 0;
}

/* Sets *gained to the increase of a key since the last read, and *gained_by to its index. */
static int take_element(struct stack_store *s, const struct stack_key *key,
			const struct stack_count *now, u32 *gained_by, u64 *gained)
{
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 known = table__find(&s->by_key, hash, same_key, s->key, key);
	u32 index = known;
	__int128 more;
	int err = known < 0 ? add_key(s, key, hash, &index) : 0;

	if (err)
		return err;
	*gained_by = index;
	more = wide_sum(now->count, now->count_high, false) -
	       wide_sum(s->value[index].count, s->value[index].count_high, false);
	*gained = wide_fits(more, false) ? more : UINT64_MAX;
	s->value[index] = *now;
	return 0;
}

/* True if the key belongs to the new generation of the turn: it is left for the next read, with its stack. */
static bool is_left(struct stack_store *s, const struct stack_key *key)
{
	if (key->generation != *s->generation)
		return false;
	stack_store__hold(s, &key->stack);
	return true;
}

/* Sets the increase of each sample, and the index of its key. */
static int take_elements(struct stack_store *s, const struct elements *e, bool turns, u32 *index)
{
	u64 gained = 0;
	size_t i;
	int err = 0;

	s->nidle = 0;
	for (i = 0; i < e->n && !err; i++) {
		if (turns && is_left(s, elements__key(e, i)))
			continue;
		err = take_element(s, elements__key(e, i), elements__value(e, i), &index[s->nsamples],
				   &gained);
		if (!err && gained)
			s->sample[s->nsamples++].count = gained;
		else
			s->nidle++;
	}
	return err;
}

static void delete_elements(struct stack_store *s, const struct elements *e)
{
	const struct stack_key *key;
	size_t i;

	for (i = 0; i < e->n; i++) {
		key = elements__key(e, i);
		if (key->generation != *s->generation)
			bpf_map_delete_elem(s->counts_fd, key);
	}
}

/* Call when the arrays no longer move. */
static void fill_in_samples(struct stack_store *s, const u32 *index)
{
	size_t i;

	for (i = 0; i < s->nsamples; i++) {
		struct stack_sample *sample = &s->sample[i];
		u32 stack = s->stack_of[index[i]];

		sample->key = &s->key[index[i]];
		sample->newest = &s->value[index[i]];
		sample->stack = stack == NO_STACK ? NULL : s->stack[stack];
	}
}

int stack_store__read(struct stack_store *s)
{
	struct elements e = { .key_size = sizeof(*s->key), .value_size = sizeof(*s->value) };
	bool turns = stack_store__is_due(s, s->nkeys, s->nidle);
	u32 *index = NULL;
	int err;

	/* On failure, the turn removes nothing. */
	turns = turns && !stack_store__begin_turn(s);
	err = elements__read(&e, s->counts_fd);
	free(s->sample);
	s->nsamples = 0;
	s->sample = calloc(e.n ?: 1, sizeof(*s->sample));
	index = calloc(e.n ?: 1, sizeof(*index));
	if (!err && (!s->sample || !index))
		err = -ENOMEM;
	if (!err)
		err = take_elements(s, &e, turns, index);
	if (!err)
		fill_in_samples(s, index);
	if (!err && turns) {
		delete_elements(s, &e);
		stack_store__end_turn(s);
		s->stale = true;
	}
	free(index);
	elements__free(&e);
	return err;
}

/*
 * --- ended programs ----------------------------------------------------------------------------
 */

/* Returns the new numbers of the stacks, with NO_STACK for removed ones; NULL if out of memory. */
static u32 *renumber(const struct stack_store *s)
{
	u32 *number = calloc(s->nstacks ?: 1, sizeof(*number)), n = 0;
	size_t i;

	for (i = 0; number && i < s->nstacks; i++)
		number[i] = s->stack[i]->mark ? NO_STACK : n++;
	return number;
}

static int drop_keys(struct stack_store *s, const u32 *number)
{
	size_t i, n = 0;
	u32 stack;
	int err = 0;

	table__free(&s->by_key);
	for (i = 0; i < s->nkeys; i++) {
		stack = s->stack_of[i];
		if (stack != NO_STACK && number[stack] == NO_STACK) {
			bpf_map_delete_elem(s->counts_fd, &s->key[i]);
			continue;
		}
		s->key[n] = s->key[i];
		s->value[n] = s->value[i];
		s->stack_of[n] = stack == NO_STACK ? stack : number[stack];
		err = err ?: table__add(&s->by_key, table_hash(0, &s->key[n], sizeof(*s->key)), n);
		n++;
	}
	s->nkeys = n;
	return err;
}

static int drop_stacks(struct stack_store *s, const u32 *number)
{
	size_t i, n = 0;
	int err = 0;

	table__free(&s->by_hash);
	for (i = 0; i < s->nstacks; i++) {
		struct stack *stack = s->stack[i];

		if (number[i] == NO_STACK) {
			take_out(s, class_of(s, stack->kernel + stack->user + stack->python), s->hash[i]);
			free(stack);
			continue;
		}
		s->stack[n] = stack;
		s->hash[n] = s->hash[i];
		err = err ?: table__add(&s->by_hash, s->hash[n], n);
		n++;
	}
	s->nstacks = n;
	return err;
}

int stack_store__drop_marked(struct stack_store *s)
{
	u32 *number = renumber(s);
	int err;

	if (!number)
		return -ENOMEM;
	err = drop_keys(s, number) ?: drop_stacks(s, number);
	free(number);
	return err;
}

static void forget_all(struct stack_store *s)
{
	size_t i;

	for (i = 0; i < s->nstacks; i++)
		free(s->stack[i]);
	free(s->stack);
	free(s->hash);
	free(s->key);
	free(s->value);
	free(s->stack_of);
	free(s->sample);
	table__free(&s->by_key);
	table__free(&s->by_hash);
	s->stack = NULL;
	s->hash = NULL;
	s->key = NULL;
	s->value = NULL;
	s->stack_of = NULL;
	s->sample = NULL;
	s->by_key = s->by_hash = (struct table){};
	s->nstacks = s->nkeys = s->nsamples = s->nidle = 0;
}

void stack_store__begin_anew(struct stack_store *s)
{
	if (s->stale)
		forget_all(s);
	s->stale = false;
}

void stack_store__free(struct stack_store *s)
{
	forget_all(s);
	stack_store__leave_all(s);
	memset(s, 0, sizeof(*s));
}
