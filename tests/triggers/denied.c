// SPDX-License-Identifier: BSD-2-Clause
/*
 * denied ERRNO NR,... PROGRAM [ARG...]: runs a program for which these system calls (given by number) fail with that
 * error, as under a container's seccomp filter.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 32

static int deny(const char *numbers, unsigned int error)
{
	struct sock_filter code[2 * MOST + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { 1, code };
	char *end;

	do {
		if (program.len > 2 * MOST - 1)
			return -1;
		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, strtoul(numbers, &end, 10), 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
								   SECCOMP_RET_ERRNO | error);
		numbers = end + 1;
	} while (*end == ',');
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int argc, char **argv)
{
	if (argc < 4 || deny(argv[2], strtoul(argv[1], NULL, 10))) {
		perror("denied");
		return 125;
	}
	execv(argv[3], argv + 3);
	perror(argv[3]);
	return 126;
}
