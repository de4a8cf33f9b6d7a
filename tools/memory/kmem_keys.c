// SPDX-License-Identifier: BSD-2-Clause
#include "memory/kmem_keys.h"

#include <errno.h>
#include <stdio.h>

#include "cli/key_view.h"

static void to_function(const struct kmem_keys *keys, struct kmem_key *key)
{
	struct symbol symbol;

	if (!key->caller || symbols__kernel(keys->symbols, key->caller - 1, &symbol) ||
	    !symbol.name)
		return;
	key->caller -= 1 + symbol.offset;
}

void kmem_key__as_shown(struct kmem_keys *keys, struct kmem_key *key)
{
	struct key_view view = { keys->by, &keys->names, offsetof(struct kmem_key, task) };

	to_function(keys, key);
	key_view__change(&view, key);
}

static int add_caller(struct kmem_keys *keys, struct report_row *row, u64 address)
{
	struct symbol symbol;
	char text[256];

	if (symbols__kernel(keys->symbols, address, &symbol))
		return -ENOMEM;
	if (!symbol.name)
		snprintf(text, sizeof(text), "0x%llx", address);
	else if (symbol.module && symbol.module[0] != '[')
		snprintf(text, sizeof(text), "%s [%s]", symbol.name, symbol.module);
	else
		snprintf(text, sizeof(text), "%s", symbol.name);
	return report_row__add_text(row, "caller", text);
}

/* The caches of kmalloc() are identified only by their object size. Above 8 KiB, kmalloc() takes pages. */
static int add_cache(struct report_row *row, const struct kmem_key *key)
{
	char text[KMEM_CACHE_LEN + 16];

	if (key->cache[0])
		snprintf(text, sizeof(text), "%.*s", KMEM_CACHE_LEN, key->cache);
	else if (!key->slab)
		snprintf(text, sizeof(text), "[kfree]");
	else if (key->slab > 8192)
		snprintf(text, sizeof(text), "[kmalloc pages]");
	else if (key->slab >= 1024 && !(key->slab % 1024))
		snprintf(text, sizeof(text), "kmalloc-%lluk", key->slab / 1024);
	else
		snprintf(text, sizeof(text), "kmalloc-%llu", key->slab);
	return report_row__add_text(row, "cache", text);
}

/* include/linux/mmzone.h; later types depend on the kernel's configuration. */
static int add_migratetype(struct report_row *row, int type)
{
	static const char *const names[] = { "unmovable", "movable", "reclaimable", "highatomic" };
	char text[16];

	if (type < 0)
		return report_row__add_text(row, "migratetype", NULL);
	if (type < (int)ARRAY_SIZE(names))
		return report_row__add_text(row, "migratetype", names[type]);
	snprintf(text, sizeof(text), "%d", type);
	return report_row__add_text(row, "migratetype", text);
}

int kmem_key__add(struct kmem_keys *keys, const struct kmem_key *key, const char *name,
		  struct report_row *row)
{
	u32 by = keys->by;
	int err = 0;

	if (by & BY_CALLER)
		err = add_caller(keys, row, key->caller);
	if (!err && by & BY_CACHE)
		err = add_cache(row, key);
	if (!err && by & BY_SIZE)
		err = report_row__add_number(row, "size", key->size,
					     key->size ? FIELD_NUMBER : FIELD_NONE);
	if (!err && by & BY_ORDER)
		err = report_row__add_number(row, "order", key->order, FIELD_ID);
	if (!err && by & BY_MIGRATETYPE)
		err = add_migratetype(row, key->migratetype);
	return err ?: task_key__add_fields(row, &key->task, name, by, &keys->names);
}

void kmem_keys__free(struct kmem_keys *keys)
{
	task_key_names__free(&keys->names);
	symbols__free(keys->symbols);
}
