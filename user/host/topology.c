// SPDX-License-Identifier: BSD-2-Clause
#include "host/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "bpf/lib/scope.h"
#include "host/host.h"

static int read_number(int cpu, const char *name, int otherwise)
{
	char path[96], line[32];
	u64 n;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	if (read_line(path, line, sizeof(line)) || parse_u64_between(line, 0, INT32_MAX, &n))
		return otherwise;
	return n;
}

int topology__read(struct topology *t)
{
	u64 online[SCOPE_MAX_CPUS / 64] = {};
	char line[4096];
	size_t n = 0;
	int cpu, err;

	*t = (struct topology){};
	err = read_line("/sys/devices/system/cpu/online", line, sizeof(line));
	if (!err)
		err = parse_cpu_list(line, online, ARRAY_SIZE(online));
	if (err)
		return err;
	for (cpu = 0; cpu < SCOPE_MAX_CPUS; cpu++)
		n += online[cpu / 64] >> (cpu % 64) & 1;
	t->cpu = calloc(n ?: 1, sizeof(*t->cpu));
	if (!t->cpu)
		return -ENOMEM;
	for (cpu = 0; cpu < SCOPE_MAX_CPUS; cpu++) {
		if (!(online[cpu / 64] >> (cpu % 64) & 1))
			continue;
		t->cpu[t->n++] = (struct cpu_place){
			cpu, read_number(cpu, "core_id", cpu),
			read_number(cpu, "physical_package_id", 0),
		};
	}
	return 0;
}

const struct cpu_place *topology__place(const struct topology *t, int cpu)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->cpu[i].cpu == cpu)
			return &t->cpu[i];
	return NULL;
}

void topology__free(struct topology *t)
{
	free(t->cpu);
	*t = (struct topology){};
}

u32 topology__end(const struct host *host)
{
	u32 end = host->cpus_possible;
	struct topology t;

	if (topology__read(&t))
		return end;
	if (t.n)
		end = t.cpu[t.n - 1].cpu + 1;
	topology__free(&t);
	return end;
}
