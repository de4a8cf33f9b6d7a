// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "base/address.h"
#include "base/array.h"
#include "calls/why/cause.h"
#include "cli/key_view.h"
#include "files/name.h"
#include "host/syscalls.h"
#include "run/map_room.h"

/* Maximum number of objects in a cell. */
#define MOST_OBJECTS 3

static const struct sum_layout layout = {
	.key_size = sizeof(struct why_object_key),
	.value_size = sizeof(struct why_object_sums),
	.writer_at = offsetof(struct why_object_key, writer),
	.nsums = 1,
};

/*
 * --- measuring ---------------------------------------------------------------------------------
 */

void why_mark_futexes(u8 calls[TRACE_SLOTS])
{
	static const char *const names[] = { "futex", "futex_wait", "futex_time64" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		syscall_mark((u8(*)[SYSCALL_NUMBERS])calls, names[i], 1);
}

int why_objects__prepare(struct bpf_map *map, struct measurement *m)
{
	size_t key = offsetof(struct why_object_key, task) + task_key__size(m->cli->by);
	int err = bpf_map__set_key_size(map, key);

	return err ?: map__set_room_for_writers(map, &m->run->host, m->cli->max_keys);
}

int why_objects__attach(struct why_objects *o, struct bpf_map *map, struct bpf_program *running)
{
	o->map = map;
	o->running = bpf_program__attach_iter(running, NULL);
	return o->running ? 0 : -errno;
}

/*
 * --- names -------------------------------------------------------------------------------------
 */

/* Handles a long name that was cut. Names are stored from the file upwards, so the first directories are missing. */
static void cut_name(struct file_name *n)
{
	const size_t room = sizeof(((struct why_object_name *)0)->names);
	size_t end = room;

	if (n->size <= room)
		return;
	while (end && n->names[end - 1])
		end--;
	if (end) {
		n->size = end;
		if (!(n->flags & FILE_NAME_PLAIN))
			n->flags |= FILE_NAME_CUT;
		return;
	}
	memcpy(&n->names[room - sizeof("...")], "...", sizeof("..."));
	n->size = room;
}

static char *file_text(const struct why_object_sums *sums)
{
	struct file_name n;
	char *path, *text = NULL;

	memcpy(&n, &sums->name, sizeof(sums->name));
	cut_name(&n);
	path = file_name__path(&n, sizeof(sums->name));
	if (!path || !sums->device)
		return path;
	if (asprintf(&text, "%u:%u %s", sums->device >> 20, sums->device & ((1U << 20) - 1), path) < 0)
		text = NULL;
	free(path);
	return text;
}

/* The text of ss(8), which shows each NUL of an abstract name as @. */
static char *unix_text(const struct why_object_name *name)
{
	struct socket_address a;
	char text[SOCKET_PATH_MOST + 1];
	size_t i, n;

	if (!name->size)
		return NULL;
	memcpy(&a, name->names, sizeof(a));
	n = a.length < sizeof(a.path) ? a.length : sizeof(a.path);
	memcpy(text, a.path, n);
	text[n] = 0;
	for (i = 0; i < n && !*a.path; i++)
		if (!text[i])
			text[i] = '@';
	return strdup(text);
}

static char *end_text(const struct why_object *o)
{
	char end[IP_END_SPACE], *text = NULL;

	if (!ip_end(o->family, (const __u8 *)o->id, o->port, end) || !o->port)
		return NULL;
	if (asprintf(&text, "%s%s", o->type == OBJECT_LOCAL ? "at " : "", end) < 0)
		return NULL;
	return text;
}

static char *address_text(const char *prefix, u64 address)
{
	char *text = NULL;

	return asprintf(&text, "%s%llx", prefix, address) < 0 ? NULL : text;
}

static char *lock_text(struct kernel_variables *v, u64 lock)
{
	char text[KERNEL_VARIABLE_SPACE];

	return kernel_variables__name(v, lock, text) ? strdup(text) : address_text("", lock);
}

/* Returns NULL if the object has no name, or without memory. */
static char *object_text(struct why_objects *o, const struct why_object_element *e)
{
	const struct why_object *object = &e->key.object;

	switch (object->type) {
	case OBJECT_FILE:
		return file_text(&e->sums);
	case OBJECT_UNIX:
		return unix_text(&e->sums.name);
	case OBJECT_REMOTE:
	case OBJECT_LOCAL:
		return end_text(object);
	case OBJECT_FUTEX:
		return address_text("0x", object->id[0]);
	case OBJECT_LOCK:
		return lock_text(&o->variables, object->id[0]);
	case OBJECT_MMAP_LOCK:
		return address_text("mmap_lock@", object->id[0]);
	default:
		return NULL;
	}
}

/*
 * --- reports -----------------------------------------------------------------------------------
 */

static int compare_rows(const struct why_named_object *a, const struct why_named_object *b)
{
	return memcmp(&a->row, &b->row, sizeof(a->row));
}

static int compare_names(const void *a, const void *b)
{
	const struct why_named_object *x = a, *y = b;

	return compare_rows(x, y) ?: strcmp(x->name, y->name);
}

/* Objects with equal times are sorted by name, so that each run has the same order. */
static int compare_times(const void *a, const void *b)
{
	const struct why_named_object *x = a, *y = b;
	int d = compare_rows(x, y);

	if (d || x->ns == y->ns)
		return d ?: strcmp(x->name, y->name);
	return x->ns > y->ns ? -1 : 1;
}

static void forget(struct why_objects *o)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		free(o->object[i].name);
	free(o->object);
	o->object = NULL;
	o->n = 0;
}

/*
 * Sorts the objects, and merges those with the same name, which users cannot tell apart: connections to one peer, and
 * futexes of several processes.
 */
void why_objects__sort(struct why_objects *o)
{
	struct why_named_object *to = o->object;
	size_t i;

	if (!o->n)
		return;
	qsort(o->object, o->n, sizeof(*o->object), compare_names);
	for (i = 1; i < o->n; i++) {
		if (compare_names(to, &o->object[i])) {
			*++to = o->object[i];
			continue;
		}
		to->ns += o->object[i].ns;
		free(o->object[i].name);
	}
	o->n = to - o->object + 1;
	qsort(o->object, o->n, sizeof(*o->object), compare_times);
}

static struct why_key row_of(const struct why_object_key *key)
{
	struct why_key row = {
		.slot = key->slot,
		.phase = key->phase,
		.kind = key->kind,
		.whole = key->whole,
		.task = key->task,
	};

	why_name_cause(&row);
	return row;
}

static int name_objects(struct why_objects *o, const struct sum_set *set)
{
	const struct why_object_element *e;
	size_t i;
	char *name;

	forget(o);
	o->object = calloc(set->n + 1, sizeof(*o->object));
	if (!o->object)
		return -ENOMEM;
	for (i = 0; i < set->n; i++) {
		e = sum_set__at(set, i);
		name = object_text(o, e);
		if (name)
			o->object[o->n++] = (struct why_named_object){ row_of(&e->key), name, e->sums.ns };
	}
	why_objects__sort(o);
	return 0;
}

int why_objects__read(struct why_objects *o, struct measurement *m)
{
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct key_view view = { m->cli->by, &names, offsetof(struct why_object_key, task) };
	const struct sum_source source = {
		.layout = &layout,
		.map_fd = bpf_map__fd(o->map),
		.generation = elements__generation(m->obj),
		.running = o->running,
	};
	struct sum_set set;
	int err = sum_set__since(&set, &o->before, &source);

	if (!err) {
		key_view__sum_set(&view, &set);
		err = names.err ?: name_objects(o, &set);
	}
	sum_set__free(&set);
	task_key_names__free(&names);
	return err;
}

/*
 * --- names alone -------------------------------------------------------------------------------
 */

int why_objects__read_names(struct why_objects *o, const struct bpf_map *map)
{
	return sum_set__read(&o->before, &layout, bpf_map__fd(map));
}

/* Finds the name of an object; NULL if unknown. Keys that differ only in their object are sorted by its bytes. */
static const struct why_object_element *find_name(const struct why_objects *o, const struct why_object *object)
{
	size_t low = 0, high = o->before.n, middle;
	const struct why_object_element *e;

	while (low < high) {
		middle = low + (high - low) / 2;
		e = sum_set__at(&o->before, middle);
		if (memcmp(&e->key.object, object, sizeof(*object)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	e = low < o->before.n ? sum_set__at(&o->before, low) : NULL;
	return e && !memcmp(&e->key.object, object, sizeof(*object)) ? e : NULL;
}

int why_objects__put(struct why_objects *o, const struct why_key *row, const struct why_object *object, u64 ns)
{
	const struct why_object_element *e = object->type ? find_name(o, object) : NULL;
	char *name = e ? object_text(o, e) : NULL;
	const struct why_named_object named = { *row, name, ns };

	if (!name || !ARRAY_APPEND(o->object, o->n, named))
		return 0;
	free(name);
	return -ENOMEM;
}

/*
 * --- cells -------------------------------------------------------------------------------------
 */

/* Returns the index of the first object of a row; o->n or that of another row if there is none. */
static size_t first_of(const struct why_objects *o, const struct why_key *key)
{
	const struct why_named_object wanted = { .row = *key };
	size_t low = 0, high = o->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_rows(&o->object[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct why_objects *o, size_t i, const struct why_key *key)
{
	return i < o->n && !memcmp(&o->object[i].row, key, sizeof(*key));
}

/* Leaves out shares that would be shown as 0.0 %. */
static void put_objects(FILE *f, const struct why_objects *o, const struct why_key *key, u64 ns)
{
	size_t first = first_of(o, key), i;
	u64 charged = 0, whole;

	for (i = first; is_of(o, i, key); i++)
		charged += o->object[i].ns;
	/* The two maps are not read at the same time. */
	whole = ns > charged ? ns : charged;
	for (i = first; i < first + MOST_OBJECTS && is_of(o, i, key) && o->object[i].ns > whole / 2000; i++)
		fprintf(f, "%s%s %.1f %%", i > first ? ", " : "", o->object[i].name, 100.0 * o->object[i].ns / whole);
}

int why_objects__add(const struct why_objects *o, struct report_row *row, const struct why_key *key, u64 ns)
{
	static const struct field object = { .name = "object", .kind = FIELD_NONE, .role = ROLE_REMARK, .spare = true };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -ENOMEM;
	put_objects(f, o, key, ns);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	err = report_row__add_text_as(row, &object, size ? text : NULL);
	free(text);
	return err;
}

void why_objects__free(struct why_objects *o)
{
	forget(o);
	sum_set__free(&o->before);
	bpf_link__destroy(o->running);
	kernel_variables__free(&o->variables);
}
