# SPDX-License-Identifier: BSD-2-Clause
"""fsdist: the number and duration of file operations, compared with the trigger's."""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tally
from filing import (CREATE, READ, Reader, after, in_namespace, intact, mount_of, type_of_fs)
from probing import told
from tally import by_key, flaws, once, scaled, steady


@pytest.fixture
def fsdist(tool):
    return functools.partial(tool, "--json", tool="fsdist")


@pytest.fixture
def counts(fsdist, trigger):
    """{key: count} of a trigger's calls, from a trial that lost nothing."""

    def measure(acts, *options, key=("op",), **kwargs):
        def trial():
            load = trigger("files", *acts, **kwargs)
            report = after(fsdist("-p", load.pid, *options), load).report
            intact(report)
            return {name: group["count"] for name, group in by_key(report, *key).items()}

        return steady(trial)

    return measure


@pytest.mark.parametrize("name", ("fsdist", "filetop", "fileslower"))
def test_a_call_that_began_before(tool, trigger, directory, name):
    """The trigger waits in the read of a pipe: reported if pipes are traced, but not counted."""

    def report_of(*options):
        load = trigger("files", "open", CREATE, directory / "a", "write", 1, 100)
        load.settle()
        result = after(tool("--json", "-p", load.pid, *options, tool=name), load)
        report = json.loads(result.stdout.splitlines()[-1])
        intact(report)
        return report

    def trial():
        assert report_of("--all-kinds")["begun_before"] == 1
        assert "begun_before" not in report_of()

    steady(trial)


def acts_on(path):
    return ("open", CREATE | os.O_TRUNC, path, "write", 70, 100, "pwrite", 5, 10, "fsync", 2,
            "fdatasync", 1, "pread", 40, 100, "fault", 3, "open", READ, f"{path}.none",
            "open", READ | os.O_DIRECTORY, os.path.dirname(path), "readdir", 2, "badfd", 9)


DONE = {"open": 2, "open failed": 1, "write": 75, "write failed": 3, "fsync": 3, "read": 40,
        "readdir": 2}


def test_each_operation(counts, directory):
    """Failures are separate. A closed descriptor belongs to no file, and a pipe ("done") is no file."""
    assert counts(acts_on(directory / "a")) == DONE


def test_all_kinds(counts, directory):
    acts = *acts_on(directory / "a"), "open", READ, "/dev/zero", "read", 7, 100
    assert counts(acts) == DONE
    assert counts(acts, "--all-kinds") == {
        **DONE, "open": DONE["open"] + 1, "read": DONE["read"] + 7, "write": DONE["write"] + 1}


def test_only_these(counts, directory):
    acts = acts_on(directory / "a")
    assert counts(acts, "--op", "fsync") == {"fsync": 3}
    assert counts(acts, "--op", "read,open") == {
        name: DONE[name] for name in ("open", "open failed", "read")}


def test_file_systems(counts, directory):
    scratch, disk = directory / "scratch", type_of_fs(directory)
    scratch.mkdir()
    acts = ("open", CREATE, scratch / "a", "write", 3, 10, "open", CREATE, directory / "b",
            "write", 5, 10, "open", READ, "/none")
    command = in_namespace(f"mount -t ramfs none {scratch}")
    assert counts(acts, "--by", "fs", key=("op", "fs"), command=command) == {
        ("open", "ramfs"): 1, ("write", "ramfs"): 3, ("open", disk): 1, ("write", disk): 5,
        ("open failed", "-"): 1}
    assert counts(acts, "--fs", "ramfs", command=command) == {"open": 1, "write": 3}
    assert counts(acts, "--fs", disk, "--op", "write", command=command) == {"write": 5}


def test_mounts(counts, directory):
    """By mount point, in whatever namespace it is, even one that has gone by the time of
    the report. A bind mount is a separate mount."""
    scratch, bound = directory / "scratch pad", directory / "bound"
    inner = scratch / "in"
    scratch.mkdir()
    bound.mkdir()
    disk = mount_of(directory)[0]
    acts = ("open", CREATE, scratch / "a", "write", 3, 10, "open", CREATE, inner / "b",
            "write", 5, 10, "open", CREATE, bound / "c", "write", 7, 10, "open", READ, "/none",
            "open", READ, "/proc/self/stat", "read", 1, 10)
    command = in_namespace(f"mount -t ramfs none '{scratch}'; mkdir '{inner}';"
                           f"mount -t tmpfs none '{inner}'; mount --bind {directory} {bound}")
    found = counts(acts, "--by", "mount", key=("op", "mount"), command=command)
    foreign = {mount.rpartition(" (")[2] for _, mount in found if "(" in mount}
    assert len(foreign) == 1 and re.fullmatch(r"mnt:\[\d+\]\)", *foreign)
    assert f"mnt:[{os.stat('/proc/self/ns/mnt').st_ino}])" not in foreign
    assert {(op, mount.rpartition(" (")[0] or mount): n for (op, mount), n in found.items()} == {
        ("open", str(scratch)): 1, ("write", str(scratch)): 3, ("open", str(inner)): 1,
        ("write", str(inner)): 5, ("open", str(bound)): 1, ("write", str(bound)): 7,
        ("open failed", "-"): 1, ("open", "/proc"): 1, ("read", "/proc"): 1}

    acts = ("open", CREATE, directory / "a", "write", 3, 10, "open", READ, "/proc/self/stat",
            "read", 1, 10)
    assert counts(acts, "--by", "mount,fs", key=("op", "mount", "fs")) == {
        ("open", disk, type_of_fs(directory)): 1, ("write", disk, type_of_fs(directory)): 3,
        ("open", "/proc", "proc"): 1, ("read", "/proc", "proc"): 1}
    assert counts(acts, "--mount", directory) == {"open": 1, "write": 3}
    assert counts(acts, "--mount", "/proc/self") == {"open": 1, "read": 1}


def test_mount_of_another_namespace(fsdist, trigger, directory):
    """The same path in two namespaces: only operations in one of them count."""

    def trial():
        loads = [trigger("files", "open", CREATE, directory / "a", "write", n, 10,
                         command=in_namespace(f"mount -t tmpfs none {directory}")) for n in (3, 5)]
        report = after(fsdist("--mount", f"/proc/{loads[1].pid}/root/{directory}"), *loads).report
        intact(report)
        assert {op: g["count"] for op, g in by_key(report, "op").items()} == {"open": 1, "write": 5}

    steady(trial)


@tally.needs_32_bit_calls
def test_32_bit_calls(counts, directory):
    """Their numbers and registers differ; the files are the same."""
    path = directory / "a"
    assert counts(("iopen", CREATE | os.O_TRUNC, path, "iwrite", 7, 100, "ipwrite", 5, 10,
                   "ifsync", 2, "ipread", 4, 10, "iopen", READ, f"{path}.none",
                   "iopen", READ | os.O_DIRECTORY, directory, "ireaddir", 2)) == {
        "open": 2, "open failed": 1, "write": 12, "fsync": 2, "read": 4, "readdir": 2}


def test_by_task(counts, directory):
    acts = "open", CREATE | os.O_TRUNC, directory / "a", "write", 3, 10
    assert counts(acts, "--by", "comm", key=("comm", "op"), comm="some name") == {
        ("some name", "open"): 1, ("some name", "write"): 3}


def test_times(fsdist, tool, trigger, directory):
    """One time for each call, equal to fileslower's, except for the run time of their programs."""

    def trial():
        load = trigger("files", "open", CREATE | os.O_TRUNC, directory / "a", "write", 200, 4096,
                       "fsync", 3)
        slower = tool("--json", "-p", load.pid, "--min", "0", tool="fileslower")
        report = after(fsdist("-p", load.pid), load).report
        lines, (other,) = told(slower.stop())
        intact(report)
        intact(other)
        for op, group in by_key(report, "op").items():
            took = [line["values"]["took"] for line in lines if line["event"] == op]
            assert len(took) == group["count"]
            # One program runs inside the time that the other one measures, some us at most each time.
            tally.within(abs(sum(took) - group["sum"]) <= 20_000 * len(took) or tally.GUEST,
                         sum(took), group["sum"])
        return report

    steady(trial)


def test_many_at_once(fsdist, trigger, directory):
    """From several processes, on all CPUs; no more calls are missing than were lost."""
    path, n = directory / "a", scaled(4000)
    loads = [trigger("files", "open", CREATE, path, "pread", n, 1) for _ in range(4)]
    report = after(fsdist("-p", ",".join(str(load.pid) for load in loads)), *loads).report
    lost = sum(flaws(report).values())
    assert lost == report["lost"]["recursion"]
    assert report["events"] <= 4 * (n + 1) <= report["events"] + lost


def test_intervals_add_up(fsdist, trigger, directory):
    def trial():
        n = scaled(3000)
        load = trigger("files", "open", CREATE, directory / "a", "write", n, 10)
        reports = after(fsdist("-p", load.pid, "-I", 10), load).reports
        for report in reports:
            intact(report)
        groups = [by_key(report, "op") for report in reports]
        assert sum(group["write"]["count"] for group in groups if "write" in group) == n

    steady(trial)


def test_commands(run, directory):
    """From its exec on: calls of the tool's child before that are not the command's."""
    result = run("--json", "--op", "fsync", "--", tally.BUILD / "triggers/files",
                 "open", CREATE, directory / "a", "fsync", 5, tool="fsdist")
    report = json.loads(result.text.splitlines()[-1])
    assert by_key(report, "op")["fsync"]["count"] == 5


@once
def test_usage(run):
    for args, hint in ((("--op", "mmap"), "readdir"), (("--fs", "nosuch"), "filesystems"),
                       (("--mount", "/nosuch"), "/proc/PID/root"),
                       (("--by", "disk"), "op, fs, mount")):
        result = run(*args, tool="fsdist")
        assert result.code == 2 and hint in result.stderr
    result = run("-n", tool="fsdist")
    assert result.code == 0 and "on_file_enter at tp_btf/sys_enter" in result.text


def voluntary_switches(pid):
    """How often it has left its CPU to wait, from /proc/PID/status."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", f.read(), re.MULTILINE)[1])


def test_waits(fsdist, directory, ends):
    """--waits has each wait of a task in a read, from context switches alone: as many as the kernel has counted."""
    load, seen = Reader(directory, ends, 5), []
    tracer = fsdist("-p", load.pid, "--all-kinds", "--op", "read", "--waits")
    before = voluntary_switches(load.pid)
    load.feed(lambda: seen.append(voluntary_switches(load.pid)))
    waits = seen[-1] - before
    assert waits >= load.n - 1
    groups = by_key(tracer.stop().report, "op")
    assert {op: group["count"] for op, group in groups.items()} == {"read": waits}
    assert groups["read"]["min"] < groups["read"]["max"] and groups["read"]["sum"] >= (load.n - 1) * 20_000_000


# Reads of 512 bytes that never wait, by a process that shares its CPU.
READS = """
import os, sys
zero = os.open("/dev/zero", os.O_RDONLY)
sys.stdin.readline()
for _ in range(%d):
    os.read(zero, 512)
print("done", flush=True)
sys.stdin.readline()
"""


def involuntary_switches(pid):
    """How often another task has taken its CPU, from /proc/PID/status."""
    return int(re.search(r"^nonvoluntary_ctxt_switches:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)[1])


@once
def test_preemptions_are_no_waits(fsdist, ends):
    """A task that loses its CPU on the way back from a read is as runnable as one that loses it elsewhere."""
    spinner = ends.enter_context(subprocess.Popen(["taskset", "-c", "1", "sh", "-c", "while :; do :; done"]))
    ends.callback(spinner.kill)
    load = ends.enter_context(subprocess.Popen(
        ["taskset", "-c", "1", sys.executable, "-c", READS % scaled(1_000_000)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    ends.callback(load.kill)
    tally.settle(load.pid)
    tracer = fsdist("-p", load.pid, "--all-kinds", "--op", "read", "--waits")
    before = involuntary_switches(load.pid)
    print(file=load.stdin, flush=True)
    assert load.stdout.readline() == "done\n"
    assert involuntary_switches(load.pid) - before > 10
    report = tracer.stop().report
    assert not report["groups"] and not report["events"], report
