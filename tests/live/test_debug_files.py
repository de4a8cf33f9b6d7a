# SPDX-License-Identifier: BSD-2-Clause
"""Symbols and lines that a program keeps in a file beside it, by .gnu_debuglink: whether the program runs when the
measurement begins, or begins in it."""

import os
import shutil
import subprocess

import pytest

import tally
from probing import compile_trigger

pytestmark = [
    tally.once,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="makes system calls by hand"),
]

EVENT = "syscalls:sys_enter_getppid"
N = 100
SOURCE = """
#include <unistd.h>
#include "sums.h"

#define CALL(ret) ({ __asm__ volatile("syscall" : "=a"(ret) : "0"(110L) : "rcx", "r11", "memory"); })

static __attribute__((noinline)) long %(name)s_calls(long n)
{
	struct a_name_that_dwz_finds_in_both_files s = {};

	long ret;

	while (n--) {
		/* One line: the address in the stack is that of the next instruction. */
		CALL(ret), s.first_member += ret;       /* line: call */
	}
	return sum_of(&s);
}

int main(int argc, char **argv)
{
	char c;

	if (argc > 1 && (write(1, "r", 1) != 1 || read(0, &c, 1) < 0))
		return 1;
	return %(name)s_calls(%(n)d) < 0;
}
"""
HEADER = """
struct a_name_that_dwz_finds_in_both_files {
	long first_member, second_member, third_member, fourth_member;
	struct { int one_inside, another_inside; } inside;
};

static inline long sum_of(const struct a_name_that_dwz_finds_in_both_files *s)
{
	return s->first_member + s->second_member + s->third_member + s->fourth_member + s->inside.one_inside;
}
"""


def strip(directory, name):
    subprocess.run(["strip", "-s", name], cwd=directory, check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={name}.debug", name], cwd=directory, check=True)


@pytest.fixture(params=("plain", "dwz"))
def program(request, directory):
    """Stripped, with its debug file beside it; dwz: with a third file of what the debug files of two have in common."""
    if request.param == "dwz" and not shutil.which("dwz"):
        pytest.skip("there is no dwz")
    (directory / "sums.h").write_text(HEADER)
    names = ("one", "two")
    for name in names:
        source = directory / f"{name}.c"
        source.write_text(SOURCE % {"name": name, "n": N})
        compile_trigger(directory, source, "-g", "-O1", "-fno-omit-frame-pointer", "-Wl,--build-id=none", name=name)
        subprocess.run(["objcopy", "--only-keep-debug", name, f"{name}.debug"], cwd=directory, check=True)
    if request.param == "dwz":
        subprocess.run(["dwz", "-m", "common.debug", *(f"{name}.debug" for name in names)], cwd=directory, check=True)
    for name in names:
        strip(directory, name)
    return directory / "one"


def calling_lines(report):
    """{(function, line) that makes system calls: how often}"""
    found = {}
    for stack in report["stacks"]:
        frame = stack["frames"][-1]
        key = frame["name"], frame.get("line")
        found[key] = found.get(key, 0) + stack["value"]
    return found


LINE = next(i for i, text in enumerate(SOURCE.splitlines(), 1) if "line: call" in text)


@tally.needs_dwarf
@pytest.mark.parametrize("scope", ("command", "-p", "--comm"))
def test_names_and_lines(tool, program, scope):
    """The same ones, however the program comes into the scope."""
    options = ("--json", "-U", "--lines", EVENT)
    if scope == "command":
        found = tool(*options, "--", program, tool="stackcount").wait()
    elif scope == "--comm":
        counting = tool(*options, "--comm", program.name, tool="stackcount")
        subprocess.run([program], check=True)
        found = counting.stop()
    else:
        with subprocess.Popen([program, "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as load:
            assert load.stdout.read(1) == b"r"
            counting = tool(*options, "-p", load.pid, tool="stackcount")
            load.stdin.close()
            found = counting.wait()         # it ends with the program
    assert calling_lines(found.report) == {("one_calls", LINE): N}, found
