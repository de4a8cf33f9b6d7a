# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the live tests, and what they need from the machine."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

pytest.register_assert_rewrite("accounts")   # its figures are shown where they differ

import cgroups
import tally


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: runs for a long time, with TALLY_SOAK=1 only")


def pytest_collection_modifyitems(items):
    if os.geteuid():
        reason = "live tests load programs into the kernel: run them as root"
    elif not (tally.BUILD / "runqlat").exists() or not (tally.BUILD / "triggers").is_dir():
        reason = "build first: make all triggers"
    else:
        return
    raise pytest.UsageError(reason)


@pytest.fixture
def ends():
    """Whatever a test has started is ended after it, the last one first."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def tool(ends):
    """Starts a tool in the background and waits until it measures: tool("-p", 1)."""

    def start(*args, **kwargs):
        each = tally.Tool(*args, **kwargs)
        ends.callback(each.close)
        return each.ready() if kwargs.get("ready", True) else each

    return start


@pytest.fixture
def run(ends):
    """Runs a tool to its end: run("-p", "abc").code"""

    def run_tool(*args, **kwargs):
        each = tally.Tool(*args, ready=False, **kwargs)
        ends.callback(each.close)
        return each.wait()

    return run_tool


@pytest.fixture
def trigger(ends):
    """Starts a trigger program: trigger("spin", 2, 100, 0)."""

    def start(name, *args, **kwargs):
        each = tally.Trigger(name, *args, **kwargs)
        ends.callback(each.close)
        return each

    return start


@pytest.fixture
def cgroup(ends):
    """Makes cgroups: cgroup(hierarchy, "a/b")."""

    def make(hierarchy, name):
        each = cgroups.Cgroup(hierarchy, name)
        ends.callback(each.remove)
        return each

    return make


@pytest.fixture
def directory(ends):
    """A directory of one's own, which other users may enter."""
    path = Path(tempfile.mkdtemp(prefix="tally-test-"))
    ends.callback(shutil.rmtree, path)
    path.chmod(0o755)
    return path
