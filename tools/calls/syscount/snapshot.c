// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscount/snapshot.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "agg/elements.h"

static int take(struct call_snapshot *now, const struct bpf_object *obj, const struct bpf_map *counted, bool *anew)
{
	int err = loss__read(&now->losses, bpf_object__find_map_fd_by_name(obj, "losses"), obj);

	*anew = false;
	if (err)
		return err;
	if (bpf_map__type(counted) == BPF_MAP_TYPE_PERCPU_ARRAY)
		err = calls__read_array(&now->counts, bpf_map__fd(counted));
	else
		err = calls__read_keyed(&now->counts, counted, elements__generation(obj), anew);
	counts__settle(&now->counts);
	return err;
}

int call_snapshot__difference(struct call_snapshot *last, const struct bpf_object *obj, const struct bpf_map *counted,
			      struct calls *set, struct loss_counters *losses)
{
	struct call_snapshot now = {};
	struct counts grown = {};
	bool anew;
	int err = take(&now, obj, counted, &anew);

	if (!err)
		err = counts__copy(&grown, &now.counts);
	if (err) {
		call_snapshot__free(&now);
		return err;
	}
	counts__subtract(&grown, &last->counts);
	err = calls__add_counts(set, &grown);
	counts__free(&grown);
	*losses = loss__difference(&now.losses, &last->losses);
	call_snapshot__free(last);
	if (anew)
		counts__free(&now.counts);
	*last = now;
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
	counts__free(&last->counts);
}
