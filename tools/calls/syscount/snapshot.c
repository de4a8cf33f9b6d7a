// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscount/snapshot.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "agg/elements.h"

static int array_since(struct sum_set *grown, struct sum_set *last, int map_fd)
{
	struct sum_set now;
	int err = calls__read_array(&now, map_fd) ?: sum_set__difference(grown, &now, last);

	sum_set__free(err ? &now : last);
	if (!err)
		*last = now;
	return err;
}

int call_snapshot__difference(struct call_snapshot *last, const struct bpf_object *obj, const struct bpf_map *counted,
			      struct calls *set, struct loss_counters *losses)
{
	const struct sum_source source = {
		.layout = &calls_layout,
		.map_fd = bpf_map__fd(counted),
		.generation = elements__generation(obj),
	};
	struct sum_set grown = {};
	int err = loss__since(losses, &last->losses, bpf_object__find_map_fd_by_name(obj, "losses"), obj);

	if (!err && bpf_map__type(counted) == BPF_MAP_TYPE_PERCPU_ARRAY)
		err = array_since(&grown, &last->counts, source.map_fd);
	else if (!err)
		err = sum_set__since(&grown, &last->counts, &source);
	if (!err)
		err = calls__add_counts(set, &grown);
	sum_set__free(&grown);
	return err;
}

int call_snapshot__add_running(struct calls *set, const struct bpf_link *show_running)
{
	int fd = bpf_iter_create(bpf_link__fd(show_running)), err;

	if (fd < 0)
		return fd;
	err = calls__add_running(set, fd);
	close(fd);
	return err;
}

void call_snapshot__free(struct call_snapshot *last)
{
	sum_set__free(&last->counts);
}
