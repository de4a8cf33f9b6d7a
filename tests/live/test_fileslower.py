# SPDX-License-Identifier: BSD-2-Clause
"""fileslower: each call with its effect, in order, and only calls that took at least the threshold."""

import errno
import functools
import json
import os

import pytest

import tally
from filing import (APPEND, CREATE, HOSTILE, READ, Reader, after, intact, name_bytes, type_of_fs)
from probing import told
from tally import once, steady, wait_until


@pytest.fixture
def fileslower(tool):
    return functools.partial(tool, "--json", tool="fileslower")


@pytest.fixture
def lines(fileslower, trigger):
    """The lines on a trigger, from a trial that lost nothing."""

    def measure(*acts, options=("--min", "0"), prepare=lambda: None):
        def trial():
            prepare()
            load = trigger("files", *acts)
            found, (report,) = told(after(fileslower("-p", load.pid, *options), load))
            intact(report)
            assert len(found) == report["events"]
            assert all(line["pid"] == load.pid for line in found)
            return found

        return steady(trial)

    return measure


def done(line):
    values = line["values"]
    return line["event"], values["bytes"], values["offset"], values["error"], values["path"]


def test_each_call(lines, directory):
    path = str(directory / "a")
    found = lines(
        "open", APPEND | os.O_TRUNC, path, "write", 2, 100, "pwrite", 1, 50, "seek", 20,
        "read", 2, 100, "pread", 2, 60, "fsync", 1, "fdatasync", 1, "fault", 1,
        "open", READ | os.O_DIRECTORY, directory, "read", 1, 10, "readdir", 2,
        "open", READ, path + "/none", "badfd", 1)
    directory = str(directory)
    # A pwrite to a file opened with O_APPEND is reported at the offset of the call.
    assert [done(line) for line in found] == [
        ("open", None, None, None, path),
        ("write", 100, 0, None, path), ("write", 100, 100, None, path),
        ("write", 50, 0, None, path),
        ("read", 100, 20, None, path), ("read", 100, 120, None, path),
        ("read", 60, 0, None, path), ("read", 60, 60, None, path),
        ("fsync", None, None, None, path), ("fsync", None, None, None, path),
        ("write", None, None, "EFAULT", path),
        ("open", None, None, None, directory),
        ("read", None, None, "EISDIR", directory),
        ("readdir", None, None, None, directory), ("readdir", None, None, None, directory),
        ("open", None, None, "ENOTDIR", path + "/none"),
    ]
    fs = type_of_fs(directory)
    assert {line["values"]["fs"] for line in found} == {fs, None}
    times = [line["time_ns"] for line in found]
    assert times == sorted(times)
    assert all(0 < line["values"]["took"] <= after_ - before for line, before, after_ in
               zip(found[1:], times, times[1:]))


def test_waits(fileslower, directory, ends):
    """--waits has each wait of a task in a read, from context switches alone."""
    load = Reader(directory, ends, 5)
    tracers = [fileslower("-p", load.pid, "--all-kinds", "--min", "20ms", *more) for more in ((), ("--waits",))]
    load.feed()
    calls, waits = (told(tracer.stop())[0] for tracer in tracers)
    # The first read began before either tool was attached.
    assert len(calls) == load.n - 1 and len(waits) in (load.n - 1, load.n), (calls, waits)
    assert all(each["event"] == "read" and each["values"]["path"] == str(load.path) for each in waits)
    assert all(each["values"]["bytes"] is None and each["values"]["error"] is None for each in waits)
    for call, wait in zip(calls, waits[-len(calls):]):
        assert 20e6 < wait["values"]["took"] <= call["values"]["took"]
        assert call["time_ns"] - call["values"]["took"] <= wait["time_ns"] - wait["values"]["took"]


def test_waits_in_deep_files(fileslower, directory, ends):
    """--waits follows only 32 names, for a short start; without it all of them."""
    deep = directory / "/".join(["d"] * 40)
    deep.mkdir(parents=True)
    load = Reader(deep, ends, 3)
    tracers = [fileslower("-p", load.pid, "--all-kinds", "--min", "20ms", *more) for more in ((), ("--waits",))]
    load.feed()
    paths = [{each["values"]["path"] for each in told(tracer.stop())[0]} for tracer in tracers]
    assert paths == [{str(load.path)}, {".../" + "/".join(load.path.parts[-32:])}]


def test_calls_that_pass_no_offset(lines, directory):
    """preadv2 and pwritev2 with the offset -1 are at the file position, as read and write are."""
    path = str(directory / "a")
    found = lines("open", CREATE | os.O_TRUNC, path, "writev2", 2, 100, "seek", 20, "readv2", 2, 60, "preadv2", 1, 50)
    assert [done(line) for line in found] == [
        ("open", None, None, None, path),
        ("write", 100, 0, None, path), ("write", 100, 100, None, path),
        ("read", 60, 20, None, path), ("read", 60, 80, None, path),
        ("read", 50, 0, None, path),
    ]


@tally.needs_32_bit_calls
def test_32_bit_calls(lines, directory):
    """With their offsets, which they pass in halves, and the paths that they pass to open."""
    path, far = str(directory / "a"), 4 << 30
    found = lines("iopen", CREATE | os.O_TRUNC, path, "iwrite", 1, 100, "ipwrite", 2, 50,
                  "ipread", 2, 50, "iopen", READ, path + "/none")
    assert [done(line) for line in found] == [
        ("open", None, None, None, path), ("write", 100, 0, None, path),
        ("write", 50, far, None, path), ("write", 50, far + 50, None, path),
        ("read", 50, far, None, path), ("read", 50, far + 50, None, path),
        ("open", None, None, "ENOTDIR", path + "/none"),
    ]


def test_mount(lines, directory):
    """Only calls on one mount."""
    path = str(directory / "a")
    found = lines("open", CREATE, path, "write", 2, 10, "open", READ, "/proc/self/stat",
                  "read", 1, 10, options=("--min", "0", "--mount", directory))
    assert [line["event"] for line in found] == ["open", "write", "write"]


def test_threshold(fileslower, trigger, directory):
    """In the kernel: exactly those calls that took at least that long."""

    def trial():
        load = trigger("files", "open", CREATE | os.O_TRUNC, directory / "a", "write", 300, 4096,
                       "fsync", 2, "pread", 100, 100_000)
        tracers = [fileslower("-p", load.pid, "--min", least) for least in ("0", "10us", "1")]
        tally.let_work([load])
        load.settle()
        results = [told(tracer.stop()) for tracer in tracers]
        for _, (report,) in results:
            intact(report)
        every = results[0][0]
        assert len(every) == 1 + 300 + 2 + 100
        # Two tools' programs run one after the other: times differ by the run time of the other.
        for least, (found, _) in zip((10_000, 1_000_000), results[1:]):
            assert all(line["values"]["took"] >= least for line in found)
            sure = [line for line in every if line["values"]["took"] >= 2 * least + 20_000]
            tally.within(len(sure) <= len(found) <= len(every) or tally.GUEST, len(sure),
                         len(found))

    steady(trial)


@pytest.mark.parametrize("ops", ["open", "write,fsync", "read"])
def test_only_these(lines, directory, ops):
    found = lines("open", CREATE | os.O_TRUNC, directory / "a", "write", 3, 10, "fsync", 1,
                  "pread", 2, 10, "open", READ, directory / "none",
                  options=("--min", "0", "--op", ops))
    every = {"open": ["open", "open"], "write": ["write"] * 3, "fsync": ["fsync"],
             "read": ["read"] * 2}
    assert [line["event"] for line in found] == [op for name in ops.split(",")
                                                 for op in every[name]]


def test_calls_that_go_on(fileslower, trigger):
    """A trigger that has ended its work waits for the end of a pipe."""
    load = trigger("files")
    tracer = fileslower("-p", load.pid, "--all-kinds", "--op", "read", "--min", "1ms", "-I", 50)
    tally.let_work([load])
    load.settle()
    inode = os.fstat(load.process.stdin.fileno()).st_ino
    wait_until(lambda: tracer.lines() > 8, "lines of reports")
    result = tracer.stop()
    assert result.code == 0, result
    found = [line for line in map(json.loads, result.text.splitlines()) if "tool" not in line]
    assert {done(line) for line in found} == {
        ("read", None, None, "unfinished", f"pipe:[{inode}]")}
    times = [line["values"]["took"] for line in found]
    assert len(times) > 1 and times == sorted(times) and times[0] >= 1_000_000


def test_hostile_names(lines, tool, trigger, directory):
    """Names of existing files, and of missing ones."""
    path = os.fsencode(directory) + b"/" + HOSTILE
    found = lines("open", READ, path, "open", CREATE, path, "unlink", path)
    assert [name_bytes(line["values"]["path"]) for line in found] == [path, path]
    assert [line["values"]["error"] for line in found] == [errno.errorcode[errno.ENOENT], None]
    load = trigger("files", "open", CREATE, path)
    text = after(tool("-p", load.pid, "--min", 0, tool="fileslower"), load).stdout
    assert b"\x1b" not in text and b"\xff" not in text and b"{path}" in text


def test_paths_that_were_not_opened(lines, directory):
    """Paths as passed: relative, empty, too long, not readable at all."""
    long = "x" * 5000
    found = lines("chdir", directory, "open", READ, "none", "open", READ, "", "open", READ, long)
    assert [(line["values"]["path"], line["values"]["error"]) for line in found] == [
        ("none", "ENOENT"), ("", "ENOENT"), (long[:4095], "ENAMETOOLONG")]


@once
def test_template_and_csv(tool, trigger, directory):
    acts = "open", CREATE | os.O_TRUNC, directory / "a", "write", 2, 10
    load = trigger("files", *acts)
    text = after(tool("-p", load.pid, "--min", 0, "--template", "{event} {bytes} {path}",
                      tool="fileslower"), load).text
    assert text.splitlines()[:3] == [f"open - {directory}/a"] + [f"write 10 {directory}/a"] * 2
    load = trigger("files", *acts)
    text = after(tool("-p", load.pid, "--min", 0, "--csv", tool="fileslower"), load).text
    assert text.splitlines()[0].endswith("event,took,bytes,offset,error,fs,path")


@once
def test_usage(run):
    for args, hint in ((("--min", "soon"), "10ms"), (("--op", "mmap"), "readdir"),
                       (("--fs", "nosuch"), "filesystems"), (("--fs", "x" * 40), "filesystems")):
        result = run(*args, tool="fileslower")
        assert result.code == 2 and hint in result.stderr
    result = run("-n", tool="fileslower")
    assert result.code == 0 and "on_file_exit at tp_btf/sys_exit" in result.text
