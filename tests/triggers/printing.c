// SPDX-License-Identifier: BSD-2-Clause
/*
 * printing ROUNDS N KEEP: in each round, on request, loads a BPF program with the name round_K, counted from 0, and
 * runs it N times. It calls bpf_trace_printk(). KEEP 1: earlier programs stay; 0: each is unloaded before the next one
 * is loaded.
 * ready; done for each round
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "trigger.h"

#define INSN(c, d, s, o, i) ((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })

static int load(long round)
{
	/* All programs have the same size, so a new one fits where an old one was. */
	const struct bpf_insn program[] = {
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 'x'),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -4),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 2),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_trace_printk),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	char name[BPF_OBJ_NAME_LEN];
	int fd;

	snprintf(name, sizeof(name), "round_%d", (int)(round % 1000));
	fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, name, "GPL", program,
			   sizeof(program) / sizeof(*program), NULL);
	if (fd < 0)
		error(1, errno, "bpf_prog_load");
	return fd;
}

static void run(int fd, long n)
{
	char packet[64] = {};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet), .repeat = 1);

	while (n--)
		if (bpf_prog_test_run_opts(fd, &opts))
			error(1, errno, "bpf_prog_test_run");
}

int main(int argc, char **argv)
{
	long rounds = trigger__number(argc, argv, 1), n = trigger__number(argc, argv, 2), i;
	long keep = trigger__number(argc, argv, 3);
	int fd = -1;

	trigger__name();
	trigger__say("ready");
	for (i = 0; i < rounds; i++) {
		trigger__wait();
		if (fd >= 0 && !keep)
			close(fd);
		fd = load(i);
		run(fd, n);
		trigger__say("done");
	}
	trigger__end();
}
