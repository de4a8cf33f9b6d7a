// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds something in the kernel until standard input ends, so that nothing outlives bench.py:
 *
 *   hold stats                     the run-time statistics of BPF programs (BPF_ENABLE_STATS)
 *   hold OBJECT PROGRAM...         these programs of a BPF object, attached
 *
 * Says "ready" when that is done.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int hold_stats(void)
{
	return bpf_enable_stats(BPF_STATS_RUN_TIME) < 0 ? -1 : 0;
}

static int hold_programs(const char *path, char **names)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *prog;
	char **name;

	if (!obj)
		return -1;
	bpf_object__for_each_program(prog, obj)
		bpf_program__set_autoload(prog, false);
	for (name = names; *name; name++) {
		prog = bpf_object__find_program_by_name(obj, *name);
		if (!prog || bpf_program__set_autoload(prog, true))
			return -1;
	}
	if (bpf_object__load(obj))
		return -1;
	for (name = names; *name; name++)
		if (!bpf_program__attach(bpf_object__find_program_by_name(obj, *name)))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	char byte;
	int err;

	if (argc < 2)
		return 2;
	err = strcmp(argv[1], "stats") ? hold_programs(argv[1], argv + 2) : hold_stats();
	if (err) {
		perror(argv[1]);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
