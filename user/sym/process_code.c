// SPDX-License-Identifier: BSD-2-Clause
/* The code of a process: its mappings, shared with its parent until either changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sym/state.h"

void code__let_go(struct code *c)
{
	if (!c || --c->users)
		return;
	free(c->mapping);
	free(c);
}

struct code *code__new(struct mapping *mapping, size_t n)
{
	struct code *c = calloc(1, sizeof(*c));

	if (!c) {
		free(mapping);
		return NULL;
	}
	*c = (struct code){ .users = 1, .mapping = mapping, .n = n, .room = n };
	return c;
}

int process__own_code(struct process *p, size_t more)
{
	struct code *old = p->code, *own = old && old->users == 1 ? old : code__new(NULL, 0);
	size_t n = old ? old->n : 0;

	if (!own || ARRAY_RESERVE(own->mapping, own->room, n + more)) {
		if (own != old)
			code__let_go(own);
		return -ENOMEM;
	}
	if (own == old)
		return 0;
	if (n)
		memcpy(own->mapping, old->mapping, n * sizeof(*own->mapping));
	own->n = n;
	p->code = own;
	code__let_go(old);
	return 0;
}

const struct mapping *process__find_current(const struct process *p, u64 address)
{
	const struct code *c = p->code;
	size_t low = 0, high = c ? c->n : 0, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->mapping[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return c && low < c->n && c->mapping[low].start <= address ? &c->mapping[low] : NULL;
}

/*
 * Returns the last mapping at the address before that time. The list is unordered: records may arrive after newer
 * mappings have been seen.
 */
static const struct mapping *find_former(const struct process *p, u64 address, u64 at_ns)
{
	const struct mapping *last = NULL, *m;
	size_t i;

	for (i = 0; i < p->nformer; i++) {
		m = &p->former[i];
		if (m->from_ns <= at_ns && m->start <= address && address < m->end &&
		    (!last || m->from_ns >= last->from_ns))
			last = m;
	}
	return last;
}

const struct mapping *process__find_mapping(const struct process *p, u64 address, u64 at_ns)
{
	const struct mapping *m = process__find_current(p, address);

	return m && m->from_ns <= at_ns ? m : find_former(p, address, at_ns);
}

bool mapping__is_same_code(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->module == b->module && a->path == b->path &&
	       a->start - a->offset == b->start - b->offset;
}

void process__keep_former(struct process *p, const struct mapping *old, const struct mapping *new)
{
	if (!old->executable || mapping__is_same_code(old, new))
		return;
	if (p->nformer == MAX_FORMER) {
		memmove(p->former, p->former + MAX_FORMER / 2, MAX_FORMER / 2 * sizeof(*p->former));
		p->nformer = MAX_FORMER / 2;
	}
	if (!ARRAY_ROOM(p->former, p->nformer))
		p->former[p->nformer++] = *old;
}
