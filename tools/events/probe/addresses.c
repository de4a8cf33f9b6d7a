// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/addresses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/confined.h"
#include "stack/told.h"
#include "sym/symbols.h"

struct addresses {
	struct symbols *symbols;        /* NULL: addresses get no names */
	struct told told;
	u64 told_ns;            /* all records until this time have been processed */
	size_t ncpus;
	bool interrupted;
};

int addresses__open(struct addresses **out, const struct host *host)
{
	struct addresses *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->ncpus = host->cpus_online;
	a->told.epoll_fd = -1;
	err = host->initial_pidns ? symbols__new(&a->symbols) : 0;
	if (!err && a->symbols)
		err = told__open(&a->told, NULL);
	if (err) {
		addresses__close(a);
		return err;
	}
	*out = a;
	return 0;
}

void addresses__close(struct addresses *a)
{
	if (!a)
		return;
	told__close(&a->told);
	symbols__free(a->symbols);
	free(a);
}

int addresses__fd(const struct addresses *a)
{
	return a->symbols ? a->told.epoll_fd : -1;
}

int addresses__read(struct addresses *a)
{
	u64 now = monotonic_ns();
	int err = a->symbols ? told__read(&a->told, a->symbols) : 0;

	if (!err)
		a->told_ns = now;
	return err;
}

/* Without all records, no mapping is certain. */
static bool is_told_all(const struct addresses *a)
{
	return a->symbols && a->told.n >= a->ncpus && !a->told.lost;
}

static char *plain(u64 address)
{
	char *text;

	return asprintf(&text, "0x%llx", address) < 0 ? NULL : text;
}

static int find(struct addresses *a, u32 pid, u64 at_ns, u64 address, struct symbol *found)
{
	int err = at_ns < a->told_ns ? 0 : addresses__read(a);

	if (err)
		return err;
	/* After -ESRCH and similar errors, the known mappings remain valid. */
	err = symbols__see_again(a->symbols, pid, is_told_all(a));
	return err == -ENOMEM ? err : symbols__user_at(a->symbols, pid, at_ns, address, found);
}

char *addresses__name(struct addresses *a, u32 pid, u64 at_ns, u64 address)
{
	struct symbol found = {};
	char *text;
	int n;

	if (!a->symbols)
		return plain(address);
	if (find(a, pid, at_ns, address, &found) == -ENOMEM)
		return NULL;
	a->interrupted |= !found.name && confined__interrupted();
	/* Tested last, because lost records are detected only when others are read. */
	if (!is_told_all(a) || found.is_mixed || !found.module)
		return plain(address);
	if (!found.name)
		n = asprintf(&text, "0x%llx(%s)", address, found.module);
	else if (!found.offset)
		n = asprintf(&text, "%s", found.name);
	else
		n = asprintf(&text, "%s+0x%llx", found.name, found.offset);
	return n < 0 ? NULL : text;
}

bool addresses__take_interrupted(struct addresses *a)
{
	bool was = a->interrupted;

	a->interrupted = false;
	return was;
}

void addresses__forget(struct addresses *a, u64 before_ns)
{
	if (!a->symbols)
		return;
	symbols__forget_over(a->symbols, before_ns);
	symbols__forget_names(a->symbols);
}
