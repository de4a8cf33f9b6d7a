# SPDX-License-Identifier: BSD-2-Clause
"""Tools that show what took --min or more: a report without a line does not say that nothing happened."""

import os
import re

import pytest

from tally import once

pytestmark = once

LINES = {"biosnoop": "request", "fileslower": "call", "opensnoop": "call", "reclaim": "stall", "runqslower": "wait",
         "trace": "call"}


@pytest.mark.parametrize("name, what", LINES.items())
def test_says_so(run, name, what):
    chosen = ("-e", "openat") if name == "trace" else ()
    ran = run("--min", "10s", *chosen, "--", "cat", "/dev/null", tool=name)
    assert ran.code == 0 and f"no {what} in scope took 10.0 s or more" in " ".join(ran.stderr.split()), ran
    assert "excluded all events" not in ran.stderr and "no event happened" not in ran.stderr


def test_without_a_minimum(run):
    """All files were opened before."""
    ran = run("--failed", "--", "true", tool="opensnoop")
    assert ran.text == "" and " in scope took " not in ran.stderr, ran


def test_one_that_took_so_long_is_a_line(run):
    ran = run("--min", "1ms", "-e", "nanosleep,clock_nanosleep", "--", "sleep", "0.01", tool="trace")
    assert "nanosleep" in ran.text and " in scope took " not in ran.stderr, ran


@pytest.mark.parametrize("name", ("connsnoop", "fileslower", "filetop", "fsdist"))
def test_what_is_not_seen(run, name):
    """No event is no all-clear where io_uring does without system calls: each report says so."""
    result = run("-d", "0.1", "-p", os.getpid(), tool=name)
    assert re.search(r"^note: not seen: .*io_uring", result.text + result.stderr, re.MULTILINE), result
