# SPDX-License-Identifier: BSD-2-Clause
"""A program whose first thread ends when it is told to, while another one works on."""

import subprocess

from tally import state, wait_until

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int first[2];
static void *volatile kept[64];

static void *run(void *arg)
{
	int i, n = 0;
	char c;

	while (read(0, &c, 1) == 1) {
		for (i = 0; i < 10 && c == 'c'; i++)
			%s;
		if (write(c == 'c' ? 1 : first[1], &c, 1) != 1)
			break;
	}
	_exit(n < 0);
	return arg;
}

int main(void)
{
	pthread_t thread;
	char c;

	if (pipe(first) || pthread_create(&thread, NULL, run, NULL) || read(first[0], &c, 1) != 1)
		return 1;
	syscall(SYS_exit, 0);
	return 0;
}
"""


class Lasting:
    """call: a call in C, which work() lets the other thread make ten times. kept[n++ % 64] has room for pointers."""

    def __init__(self, ends, directory, call):
        (directory / "lasting.c").write_text(SOURCE % call)
        subprocess.run(["gcc", "-O2", "-pthread", "-o", "lasting", "lasting.c"], cwd=directory, check=True)
        self.process = subprocess.Popen([directory / "lasting"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        bufsize=0)
        self.pid = self.process.pid
        ends.callback(self.process.wait)
        ends.callback(self.process.kill)

    def work(self):
        self.process.stdin.write(b"c")
        assert self.process.stdout.read(1) == b"c"

    def end_the_first(self):
        self.process.stdin.write(b"e")
        wait_until(lambda: state(self.pid) == "Z", "the end of the first thread")

    def end(self):
        self.process.stdin.close()
        self.process.wait()
