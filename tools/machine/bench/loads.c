// SPDX-License-Identifier: BSD-2-Clause
/* The list of loads. */
#include <string.h>

#include "base/nearest.h"
#include "machine/bench/load.h"

const struct load *const loads[] = {
	&load_sched_pipe, &load_sched_messaging, &load_futex_wake, &load_futex_hash,
	&load_syscall, &load_open, &load_page_fault, &load_fork, &load_exec, &load_memcpy,
	&load_memset,
};
const size_t load_count = ARRAY_SIZE(loads);

const struct load *load__find(const char *name, const char **near)
{
	const char *names[ARRAY_SIZE(loads)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		if (!strcmp(loads[i]->name, name))
			return loads[i];
		names[i] = loads[i]->name;
	}
	if (near)
		*near = nearest(name, names, ARRAY_SIZE(names));
	return NULL;
}
