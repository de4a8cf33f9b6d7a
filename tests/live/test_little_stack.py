# SPDX-License-Identifier: BSD-2-Clause
"""Every tool with a stack of 64 KB (ulimit -s 64), files without room (ulimit -f), and messages for too much of
something."""

import functools
import resource
import signal
import subprocess

import pytest

import tally
from test_every_tool import MODULES, SINCE, lines, names

pytestmark = tally.once

KB = 1 << 10

# The dynamic linker needs more than 16.
LITTLE = 32


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (LITTLE * KB, LITTLE * KB))


def run(name, *args, limit=None):
    return subprocess.run([tally.BUILD / name, *[str(a) for a in args]], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=tally.PATIENCE,
                          preexec_fn=limit, check=False)


@pytest.mark.parametrize("name", sorted(set(names()) - set(SINCE) - set(MODULES)))
def test_a_little_stack(name):
    """No signal ends it: it measures, or says why it cannot."""
    for args in lines(name):
        result = run(name, *args, "-d", "0.2", limit=limit_stack)
        assert result.returncode in (0, 4), (args, result.returncode, result.stderr[-500:])
        assert result.returncode == 0 or result.stderr


def test_a_command_has_the_stack_that_tally_was_given():
    result = run("stat", "-d", "0.2", "--", "sh", "-c", "ulimit -Ss; ulimit -Hs", limit=limit_stack)
    assert result.returncode == 0 and result.stdout.split()[:2] == [b"%d" % LITTLE] * 2, result


@pytest.mark.parametrize("option", ["--frames", "--no-frames"])
@pytest.mark.parametrize("pattern", ["(" * 50000, "(" * 40 + ")" * 40, "((a{100}){100}){100}"],
                         ids=["open", "deep", "copies"])
def test_a_pattern_that_the_library_would_not_survive(option, pattern):
    result = run("profile", option, pattern, "-d", "0.1")
    assert result.returncode == 2
    assert b"is not a regular expression: " in result.stderr
    assert len(result.stderr) < 1000


def test_more_processes_than_descriptors():
    """Each process of -p takes a descriptor: a list of 40,000 characters is too long for that, which is said."""
    n = 20000       # the list itself takes of a stack, too: that is not cut here
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] > n:
        pytest.skip("this many descriptors are allowed here")
    result = run("profile", "-p", ",".join(["1"] * n), "-d", "0.1")
    assert result.returncode == 1
    assert b"too many open files" in result.stderr
    assert b"ulimit -n" in result.stderr


def limit_files(size=0):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("args", [("list",), ("syscount", "-d", "0.1"), ("opensnoop", "-d", "0.1", "--json"),
                                  ("record", "-d", "0.1", "syscount")], ids=lambda args: args[0])
def test_no_room_in_files(directory, args):
    """ulimit -f: no signal ends it, it says that it could not write."""
    result = run(*args, "-o", directory / "out", limit=limit_files)
    assert result.returncode == 1, result
    assert result.stderr, result


@pytest.mark.parametrize("kib", (1, 33, 100))
def test_a_recording_at_the_limit(directory, kib):
    """The limit is named, and not taken for a fault of the disk."""
    result = run("record", "-o", directory / "out", "-d", "2", "-I", "1", "runqlat", "syscount",
                 limit=functools.partial(limit_files, kib << 10))
    assert result.returncode != 0, result
    assert b"file size limit reached (ulimit -f)" in result.stderr, result
    assert b"I/O error" not in result.stderr and b"No space" not in result.stderr, result


def test_a_command_ends_at_the_limit():
    """By the signal, as it would without a tool."""
    result = run("syscount", "--", "sh", "-c", "grep SigIgn /proc/self/status >&2")
    ignored = int(next(line for line in result.stderr.splitlines() if line.startswith(b"SigIgn:")).split()[1], 16)
    assert not ignored >> (signal.SIGXFSZ - 1) & 1, result
