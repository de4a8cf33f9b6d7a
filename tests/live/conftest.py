# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the live tests, and what they need from the machine."""

import contextlib
import os
import shutil
import tempfile
import zlib
from pathlib import Path

import pytest

pytest.register_assert_rewrite("accounts")   # its figures are shown where they differ

import cgroups
import counted
import stumbling
import tally


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: runs for a long time, with TALLY_SOAK=1 only")
    config.addinivalue_line("markers", "everywhere: on each of the kernels, and not on one of them")
    config.addinivalue_line("markers", "preempt: runs again on a kernel that preempts its own code wherever it can")
    config.addinivalue_line("markers", "exact: compares exact counts; a second try in make check only")
    config.addinivalue_line("markers", "exclusive: counts what the whole machine does, or changes it: runs alone")


@pytest.fixture(scope="session", autouse=True)
def no_tracefs_is_left():
    """Fresh machines have tracefs mounted nowhere. A test that leaves it mounted hides what is wrong there."""
    def is_mounted():
        return any(
            line.split()[1] == "/sys/kernel/tracing" for line in Path("/proc/self/mounts").read_text().splitlines()
        )

    before = is_mounted()
    yield
    assert is_mounted() == before, "a test has mounted tracefs and left it"


@pytest.fixture(scope="session", autouse=True)
def stumble():
    """Holds up tools and tests now and then, if asked to."""
    tally.Tool.stumbling = stumbling.begin()
    yield
    if tally.Tool.stumbling:
        tally.Tool.stumbling.end()
        tally.Tool.stumbling = None


def kernels():
    """The names in tests/kernels/list, from the oldest to the newest."""
    lines = (tally.ROOT / "tests/kernels/list").read_text().splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def is_here(item, place):
    """Guests are slow. Tests of what differs most from kernel to kernel run on each of them. Each of the others runs
    on one, chosen by the test's name, so that it is the same one each time. make check-kernels WHOLE=1 runs all on
    all."""
    if item.get_closest_marker("everywhere"):
        return True
    return zlib.crc32(item.nodeid.encode()) % len(kernels()) == place


def pytest_collection_modifyitems(config, items):
    if tally.GUEST in kernels() and os.environ.get("TALLY_ONE"):
        place = kernels().index(tally.GUEST)
        elsewhere = [item for item in items if not is_here(item, place)]
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if is_here(item, place)]
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
def perf(ends):
    """Starts perf, which counts until stop(), or records until end(): perf("-e", "cycles", "-p", 1)."""

    def start(*args, **kwargs):
        each = counted.Perf(*args, **kwargs)
        ends.callback(each.close)
        return each

    return start


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
