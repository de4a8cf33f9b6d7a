// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numbers.h"
#include "sym/mappings.h"

static int add(struct sweep *s, u32 pid)
{
	return ARRAY_APPEND(s->process, s->n, (struct sweep_process){ .pid = pid });
}

int sweep__begin(struct sweep *s)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	int err = 0;
	u64 pid;

	memset(s, 0, sizeof(*s));
	if (!proc)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (!err && (entry = readdir(proc)))
		if (!parse_u64_between(entry->d_name, 1, UINT32_MAX, &pid))
			err = add(s, pid);
	closedir(proc);
	return err;
}

void sweep__end(struct sweep *s)
{
	free(s->process);
	memset(s, 0, sizeof(*s));
}

static int by_time(const void *a, const void *b)
{
	const struct sweep_process *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

bool sweep__step(struct sweep *s, u32 *pid)
{
	*pid = 0;
	if (s->ranked < s->n) {
		struct sweep_process *p = &s->process[s->ranked];

		/* Kernel threads have no user code. */
		if (process_cpu_share(p->pid, &p->share))
			*p = s->process[--s->n];
		else
			s->ranked++;
		if (s->ranked == s->n && s->n)
			qsort(s->process, s->n, sizeof(*s->process), by_time);
		return s->n;
	}
	if (s->given == s->n)
		return false;
	*pid = s->process[s->given++].pid;
	return true;
}
