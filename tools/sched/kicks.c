// SPDX-License-Identifier: BSD-2-Clause
#include "sched/kicks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_cpu(struct kicks *k, int map_fd, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.wakeup_events = 1,
	};
	struct kick_cpu *each = &k->cpu[k->n];
	int err;

	each->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (each->fd < 0)
		return errno == ENODEV || errno == ENXIO ? 0 : -errno;  /* the CPU is offline */
	/* Mapped read-only, so the kernel overwrites old records and never waits for a reader. */
	each->buffer = mmap(NULL, k->buffer_size, PROT_READ, MAP_SHARED, each->fd, 0);
	if (each->buffer == MAP_FAILED) {
		err = -errno;
		close(each->fd);
		return err;
	}
	k->n++;
	return bpf_map_update_elem(map_fd, &cpu, &each->fd, BPF_ANY) ? -errno : 0;
}

int kicks__open(struct kicks *k, int map_fd)
{
	int n = libbpf_num_possible_cpus(), cpu, err = 0;

	*k = (struct kicks){ .buffer_size = 2 * sysconf(_SC_PAGESIZE) };
	if (n < 0)
		return n;
	k->cpu = calloc(n, sizeof(*k->cpu));
	if (!k->cpu)
		return -ENOMEM;
	for (cpu = 0; cpu < n && !err; cpu++)
		err = open_cpu(k, map_fd, cpu);
	return err;
}

void kicks__close(struct kicks *k)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		munmap(k->cpu[i].buffer, k->buffer_size);
		close(k->cpu[i].fd);
	}
	free(k->cpu);
	*k = (struct kicks){};
}
