// SPDX-License-Identifier: BSD-2-Clause
#include "files/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"

static int compare(const void *a, const void *b)
{
	const struct file_sums *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static void way__add(struct filetop_way *to, const struct filetop_way *from)
{
	to->calls += from->calls;
	to->bytes += from->bytes;
	to->ns += from->ns;
}

static void way__subtract(struct filetop_way *from, const struct filetop_way *what)
{
	from->calls -= what->calls;
	from->bytes -= what->bytes;
	from->ns -= what->ns;
}

static void add_up(struct filetop_sums *to, const struct filetop_sums *from)
{
	way__add(&to->read, &from->read);
	way__add(&to->written, &from->written);
	to->failed += from->failed;
	if (from->name_stamp > to->name_stamp) {
		to->name_stamp = from->name_stamp;
		memcpy(to->name, from->name, sizeof(to->name));
	}
}

/* Sorts by key and adds up those of one key. */
static void settle(struct file_sums_set *set)
{
	size_t i, n = 0;

	if (!set->n)
		return;
	qsort(set->sums, set->n, sizeof(*set->sums), compare);
	for (i = 1; i < set->n; i++) {
		if (!compare(&set->sums[n], &set->sums[i]))
			add_up(&set->sums[n].sums, &set->sums[i].sums);
		else
			set->sums[++n] = set->sums[i];
	}
	set->n = n + 1;
}

static int copy_elements(struct file_sums_set *set, const struct elements *e)
{
	size_t i;

	set->n = 0;
	set->sums = calloc(e->n ?: 1, sizeof(*set->sums));
	if (!set->sums)
		return -ENOMEM;
	for (i = 0; i < e->n; i++) {
		struct file_sums *s = &set->sums[set->n++];

		memcpy(&s->key, elements__key(e, i), sizeof(s->key));
		memcpy(&s->sums, elements__value(e, i), sizeof(s->sums));
		s->key.cpu = 0;
	}
	settle(set);
	return 0;
}

int file_sums__read(struct file_sums_set *set, int map_fd)
{
	struct elements e = {
		.key_size = sizeof(struct filetop_key), .value_size = sizeof(struct filetop_sums),
	};
	int err = elements__read(&e, map_fd);

	if (!err)
		err = copy_elements(set, &e);
	elements__free(&e);
	return err;
}

u64 file_sums__calls(const struct filetop_sums *s)
{
	return s->read.calls + s->written.calls + s->failed;
}

int file_sums__difference(struct file_sums_set *out, const struct file_sums_set *later,
			  const struct file_sums_set *earlier)
{
	size_t i, k = 0;

	out->n = 0;
	out->sums = calloc(later->n ?: 1, sizeof(*out->sums));
	if (!out->sums)
		return -ENOMEM;
	for (i = 0; i < later->n; i++) {
		struct file_sums *s = &out->sums[out->n];

		*s = later->sums[i];
		while (k < earlier->n && compare(&earlier->sums[k], s) < 0)
			k++;
		if (k < earlier->n && !compare(&earlier->sums[k], s)) {
			way__subtract(&s->sums.read, &earlier->sums[k].sums.read);
			way__subtract(&s->sums.written, &earlier->sums[k].sums.written);
			s->sums.failed -= earlier->sums[k].sums.failed;
		}
		if (file_sums__calls(&s->sums))
			out->n++;
	}
	return 0;
}

void file_sums__free(struct file_sums_set *set)
{
	free(set->sums);
	*set = (struct file_sums_set){};
}
