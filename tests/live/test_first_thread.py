# SPDX-License-Identifier: BSD-2-Clause
"""Processes whose first thread has ended while others work, as launchers of the JVM and some daemons are: they have
their names, their files and their root."""

import os
import shutil
import subprocess

import pytest

from first_thread import Lasting
from snooping import exact, nothing_lost
from stackcounting import value
from tally import once, state, steady, wait_until, within

pytestmark = once

SOURCE = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) long work(long n)
{
	volatile long i;

	for (i = 0; i < 20000; i++)
		n += i;
	return n;
}

/* Calls a function of the library, too. */
static void *run(void *arg)
{
	for (;;) {
		work(1);
		setenv("name", "value", 1);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	syscall(SYS_exit, 0);
	return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "launcher"
    (tmp_path / "launcher.c").write_text(SOURCE)
    source = tmp_path / "launcher.c"
    subprocess.run(["gcc", "-O2", "-fno-omit-frame-pointer", "-pthread", "-o", path, source], check=True)
    return path


@pytest.fixture
def launched(ends, program):
    """Starts it, and waits until its first thread has ended."""
    def start(*args):
        process = subprocess.Popen([program, *args])
        ends.callback(process.wait)
        ends.callback(process.kill)
        wait_until(lambda: state(process.pid) == "Z", "the end of the first thread")
        return process.pid

    return start


@pytest.mark.parametrize("way", ("fp", "dwarf"))
def test_names(run, launched, way):
    pid = launched()

    def trial():
        report = run("--json", "-F", 499, "-p", pid, "-U", "--call-graph", way, "-d", 0.5, tool="profile").reports[-1]
        names = {frame["name"] for stack in report["stacks"] for frame in stack["frames"]}
        total = sum(stack["value"] for stack in report["stacks"])
        known = sum(stack["value"] for stack in report["stacks"]
                    if {"run", "work"} <= {frame["name"] for frame in stack["frames"]})
        within(total > 20 and known > 0.8 * total, names, known, total)

    steady(trial)


def test_a_function_of_its_library(run, launched):
    report = run("--json", "-x", "libc", "setenv", "-p", launched(), "-d", 0.3, tool="probe").report
    assert report["events"] > 0, report


def test_a_function_of_its_library_in_a_chroot(run, program, tmp_path):
    """The file there, and not the one of the same name here."""
    root = tmp_path / "root"
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libc = next(word for word in libraries.split() if word.startswith("/") and "libc.so" in word)
    (root / libc[1:]).parent.mkdir(parents=True)
    shutil.copy(libc, root / libc[1:])
    # The kernel reads the loader and the loader its libraries, all in the chroot.
    loader = next(word for word in libraries.split() if word.startswith("/") and "ld-linux" in word)
    (root / loader[1:]).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(loader, root / loader[1:])
    shutil.copy(program, root / "launcher")
    process = subprocess.Popen(["chroot", root, "/launcher"])
    try:
        wait_until(lambda: state(process.pid) == "Z", "the end of the first thread")
        report = run("--json", "-x", "libc", "setenv", "-p", process.pid, "-d", 0.3, tool="probe").report
        assert report["events"] > 0, report
    finally:
        process.kill()
        process.wait()
    assert not os.path.exists(f"/proc/{process.pid}")


@exact
def test_the_last_counts(ends, tool, directory):
    """The other threads end in the last interval: their stacks are those of earlier intervals."""
    lasting = Lasting(ends, directory, "syscall(SYS_getppid)")
    # The run goes on after its end.
    tracer = tool("--json", "-U", "syscalls:sys_enter_getppid", "-p", f"{lasting.pid},{os.getpid()}", "-I", "300ms",
                  tool="stackcount")
    lasting.work()
    tracer.await_lines(2)
    lasting.end_the_first()
    tracer.await_lines(2)
    lasting.work()
    lasting.end()
    reports = tracer.stop().reports
    nothing_lost(*reports)
    assert sum(value(report["stacks"]) for report in reports) == 20, reports
