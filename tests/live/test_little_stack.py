# SPDX-License-Identifier: BSD-2-Clause
"""Every tool with a stack of 64 KB (ulimit -s 64), and messages for what is too much of something."""

import resource
import subprocess

import pytest

import tally
from test_every_tool import MODULES, SINCE, lines, names

pytestmark = [tally.beside, tally.once]

KB = 1 << 10


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (64 * KB, 64 * KB))


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


@pytest.mark.parametrize("option", ["--frames", "--no-frames"])
@pytest.mark.parametrize("pattern", ["(" * 50000, "(" * 40 + ")" * 40, "((a{100}){100}){100}"],
                         ids=["open", "deep", "copies"])
def test_a_pattern_that_the_library_would_not_survive(option, pattern):
    result = run("profile", option, pattern, "-d", "0.1")
    assert result.returncode == 2
    assert b"is no regular expression: " in result.stderr
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
