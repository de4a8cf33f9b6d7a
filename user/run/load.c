// SPDX-License-Identifier: BSD-2-Clause
#include "run/load.h"

#include "host/host.h"
#include "types/kernel_btf.h"

/*
 * Open files in addition to those of the object: libbpf's feature probes, a ring and its timer, the timers of the run,
 * files of /proc.
 */
#define FILES_BESIDE 12

static size_t files_of(const struct bpf_object *obj)
{
	size_t n = FILES_BESIDE;
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
		n += bpf_map__autocreate(map);
	bpf_object__for_each_program(prog, obj)
		n += 2 * bpf_program__autoload(prog);   /* the program and its link */
	return n;
}

int skeleton__load(struct bpf_object_skeleton *skeleton)
{
	int err = host__need_files(files_of(*skeleton->obj));

	if (err)
		return err;
	kernel_btf__begin_load(skeleton);
	err = bpf_object__load_skeleton(skeleton);
	kernel_btf__end_load();
	return err;
}
