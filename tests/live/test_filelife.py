# SPDX-License-Identifier: BSD-2-Clause
"""filelife: files that this process and its children make and delete, against what they did."""

import ctypes
import os
import subprocess
import sys
import time

import pytest

import tally
from snooping import events_of, exact
from tally import BUILD, once

ASKED = subprocess.run([BUILD / "filelife", "-n"], capture_output=True, text=True)
needs_functions = pytest.mark.skipif(ASKED.returncode == 4, reason="this kernel attaches no programs to functions")

libc = ctypes.CDLL(None, use_errno=True)


@pytest.fixture
def filelife(tool):
    return lambda *args: tool("--json", *args, tool="filelife")


def told(tracer):
    lines, report = events_of(tracer.stop())
    return [(line["values"]["path"], line) for line in lines], report


def make(path, how=os.O_CREAT | os.O_EXCL | os.O_WRONLY):
    os.close(os.open(path, how, 0o600))


@needs_functions
@exact
def test_age_and_names(filelife, directory):
    """Two clock readings around each end bound the age; a file has the name that it is deleted by."""
    old, new, moved = directory / "old", directory / "new", directory / "sub" / "moved"
    moved.parent.mkdir()
    make(old)
    tracer = filelife("-p", os.getpid())
    ranges = []
    for path, last, wait in ((new, new, 0.02), (new, new, 0), (directory / "a", moved, 0.01)):
        before = time.monotonic_ns()
        make(path)
        made = time.monotonic_ns()
        time.sleep(wait)
        if last != path:
            path.rename(last)
        ending = time.monotonic_ns()
        last.unlink()
        ranges.append((str(last), ending - made, time.monotonic_ns() - before))
    old.unlink()
    moved.parent.rmdir()
    lines, _ = told(tracer)
    assert len(lines) == 3
    for (path, line), (expected, least, most) in zip(lines, ranges):
        v = line["values"]
        assert path == expected and least <= v["age"] <= most, (line, least, most)
        assert (line["pid"], v["maker_pid"], v["maker"]) == (os.getpid(), os.getpid(), line["comm"])


@needs_functions
@exact
def test_what_counts(filelife, directory):
    """Made is what was not there before; gone is what has no name left, and not what could not be deleted."""
    there = directory / "there"
    make(there)
    tracer = filelife("-p", os.getpid())
    expected = []
    make(there, os.O_CREAT | os.O_WRONLY)           # it was there
    there.unlink()
    linked, name = directory / "linked", directory / "name"
    make(linked)
    os.link(linked, name)
    linked.unlink()                                 # it has another one
    name.unlink()
    expected.append(name)
    kept = directory / "kept"
    make(kept)
    target = directory / "target"
    make(target)
    kept.rename(target)                             # replaced, which is not told of
    target.unlink()
    expected.append(target)
    busy = directory / "busy"
    fd = os.open(busy, os.O_CREAT | os.O_RDWR)
    busy.unlink()                                   # though it is open still
    os.close(fd)
    expected.append(busy)
    with pytest.raises(FileNotFoundError):
        busy.unlink()
    os.symlink("nowhere", directory / "link")
    (directory / "link").unlink()
    here = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    os.close(os.open("relative", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.unlink("relative", dir_fd=here)
    os.close(here)
    expected.append(directory / "relative")
    path = bytes(directory / "creat")
    os.close(libc.creat(path, 0o600))
    os.unlink(path)
    expected.append(directory / "creat")
    lines, _ = told(tracer)
    assert [path for path, _ in lines] == [str(path) for path in expected]


@needs_functions
@exact
def test_who(filelife, directory):
    """The line is of who deletes, and names who made it; so is the scope."""
    tracers = filelife("-p", os.getpid()), filelife("-p", 1), filelife("--comm", "nobody*")
    path = directory / "a"
    child = subprocess.Popen([sys.executable, "-c", f"open({str(path)!r}, 'x')"])
    assert child.wait() == 0
    path.unlink()
    mine, *others = tracers
    (line,), _ = told(mine)
    assert (line[1]["pid"], line[1]["values"]["maker_pid"]) == (os.getpid(), child.pid), line
    for tracer in others:
        lines, report = told(tracer)
        assert not lines and report["filtered"] >= 1, report


@needs_functions
@exact
def test_each_is_there(filelife, directory):
    """Inodes are used again at once; names of hostile bytes are as they are."""
    n = tally.scaled(2000)
    tracer = filelife("-p", os.getpid())
    for i in range(n):
        make(directory / f"f{i}")
        os.unlink(directory / f"f{i}")
    lines, _ = told(tracer)
    assert [path for path, _ in lines] == [str(directory / f"f{i}") for i in range(n)]
    assert len({line["values"]["age"] for _, line in lines}) > 1


@pytest.mark.exclusive         # others measure what is in the kernel's caches
@needs_functions
@exact
def test_what_the_kernel_opens_anew(filelife, directory):
    """A file whose inode has left the kernel's memory is still the same one."""
    path = directory / "a"
    tracer = filelife("-p", os.getpid())
    make(path)
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as caches:
        caches.write("2")
    path.unlink()
    lines, report = told(tracer)
    assert [path for path, _ in lines] == [str(path)] and "no room" not in report["note"], report


@once
def test_usage(run):
    result = run("-n", tool="filelife")
    assert result.code in (0, 4), result
    if result.code:
        assert "fentry" in result.stderr and "tally trace" in result.stderr, result
    else:
        assert "on_unlinked" in result.text, result
