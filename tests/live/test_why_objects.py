# SPDX-License-Identifier: BSD-2-Clause
"""why: the objects that threads waited for, against the clocks of programs that know them."""

import os
import re
import sys
from collections import defaultdict

import pytest

import tally

WAITS = 10

# Locks a file that another description has locked, and more files that nobody has, each under a name of its own.
LOCKS = """
import fcntl, os, sys, threading, time
for name in sys.argv[1:]:
    with open(name, "w") as ours, open(name, "w") as others:
        fcntl.flock(others, fcntl.LOCK_EX)
        threading.Timer(0.05, fcntl.flock, (others, fcntl.LOCK_UN)).start()
        fcntl.flock(ours, fcntl.LOCK_EX)
"""

# Two processes, the second one a copy of the first, that each wait for 200 ms for a lock that is never released.
FORKED = """
import os, threading
lock = threading.Lock()
lock.acquire()
child = os.fork()
lock.acquire(timeout=0.2)
if child:
    os.waitpid(child, 0)
"""


def shares(row):
    """{object: ns}, and what a share of a tenth of a percent leaves open, in ns."""
    found = re.findall(r"(?:^|, )(.*?) ([\d.]+) %(?=, |$)", row["object"] or "", re.DOTALL)
    return {name: float(percent) * row["time"] / 100 for name, percent in found}, row["time"] / 2000


def time_of(rows, name):
    """The time of an object in all rows of a thread, and what rounding leaves open."""
    each = [shares(row) for row in rows]
    return sum(times.get(name, 0) for times, _ in each), sum(rounded for _, rounded in each)


def check(rows, own):
    """
    own: {object: ns in the calls that wait for it}. A wait is within its call, so it is no longer. For the rest of
    its calls a thread was on a CPU, was runnable, or waited for something else.
    """
    named = {name: time_of(rows, name) for name in own}
    rest = sum(row["time"] for row in rows) - sum(ns for ns, _ in named.values())
    for name, ns in own.items():
        waited, rounded = named[name]
        assert 0 < waited <= ns + rounded, (name, waited, ns, rows)
        assert ns <= waited + max(rest, 0) + len(own) * rounded, (name, waited, ns, rest, rows)


def by_tid(report):
    rows = defaultdict(list)
    for row in report["rows"]:
        rows[row["tid"]].append(row)
    return rows


def is_blurred(report):
    return report["lost"]["missed"] or report["lost"]["no_memory"]


@pytest.mark.everywhere
def test_known_objects(trigger, tool, directory):
    def trial():
        here = directory / os.urandom(4).hex()
        here.mkdir()
        load = trigger("awaited", WAITS, here)
        pipe, port, futex = load.numbers
        it = tool("--json", "--by", "tid", "-p", load.pid, tool="why")
        load.go()
        *numbers, long, short = load.done()
        report = it.stop().report
        if is_blurred(report):
            raise tally.Blurred
        rows = by_tid(report)
        names = (f"{here}/fifo", f"pipe:[{pipe}]", f"127.0.0.1:{port}", "socket", f"{futex:#x}")
        for name, tid, ns in zip(names, numbers[::2], numbers[1::2]):
            check(rows[tid], {name: ns})
        tid = numbers[2 * len(names)]
        check(rows[tid], {f"{here}/long": long, f"{here}/short": short})
        (row,) = [row for row in rows[tid] if row["cause"] == "file lock"]
        assert list(shares(row)[0]) == [f"{here}/long", f"{here}/short"], row

    tally.steady(trial)


@pytest.mark.skipif(tally.KERNEL < (5, 19), reason="this kernel does not tell of waits for its locks")
def test_locks_of_the_kernel(trigger, tool):
    """A wait of the file's lock has the name that lockstat has for it, and is within the calls of the thread."""
    load = trigger("locked", "rwsem", WAITS, 10000, 0)
    waiter = load.numbers[1]
    it = tool("--json", f"why --by tid -p {load.pid}", f"lockstat --by tid,lock,type -p {load.pid}", tool="run")
    load.go()
    in_call, _ = load.done()
    why, lockstat = it.stop().reports
    locks = {row["lock"] for row in lockstat["rows"] if row["tid"] == waiter and row["type"] == "rwsem:W"}
    rows = [row for row in why["rows"] if row["tid"] == waiter and row["cause"] == "kernel lock"]
    assert rows and len(locks) == 1, (rows, lockstat["rows"])
    (lock,) = locks
    waited, rounded = time_of(rows, lock)
    assert 0 < waited <= in_call + rounded, (waited, in_call, rows)
    assert waited >= sum(row["time"] for row in rows) - rounded, rows


def test_waits_that_go_on(trigger, run):
    """A thread that waits for the whole run has its object, too: main() for the end of its standard input."""
    load = trigger("spin", 1, 1, 0)
    inode = os.stat(f"/proc/{load.pid}/fd/0").st_ino
    report = run("--json", "-p", load.pid, "-d", "0.2", tool="why").report
    (row,) = [row for row in report["rows"] if row["call"] == "read"]
    assert (row["state"], row["object"]) == ("idle", f"pipe:[{inode}] 100.0 %"), row


def test_intervals(trigger, run):
    """
    A wait of many intervals is divided among them, as the row's time is. The times of objects and those of rows are not
    read at the same moment, so a share is less than the whole if the machine stalls between the two.
    """
    load = trigger("spin", 1, 1, 0)
    inode = os.stat(f"/proc/{load.pid}/fd/0").st_ino

    def trial():
        reports = run("--json", "-p", load.pid, "-I", "100", "--reports", "5", tool="why").reports
        assert len(reports) == 5
        for report in reports:
            (row,) = [row for row in report["rows"] if row["call"] == "read"]
            ns, _ = time_of([row], f"pipe:[{inode}]")
            assert 0 < ns <= row["time"] and len(shares(row)[0]) == 1, row
            tally.within(ns > row["time"] / 2, row)

    tally.steady(trial)


def test_one_name_for_many(run):
    """
    Futexes of two processes at the same address are one object for the reader: it has the time of more than the longest
    wait, unless one of the two waits has hardly slept.
    """
    def trial():
        report = run("--json", "--", sys.executable, "-c", FORKED, tool="why").report
        (row,) = [row for row in report["rows"] if row["cause"] == "futex"]
        named, rounded = shares(row)
        (first, *_) = named
        assert row["object"].count(first) == 1, row
        tally.within(named[first] > row["max"] + rounded, row)

    tally.steady(trial)


def test_more_objects_than_room(run, directory):
    """Objects without room are not named; the times of rows are the same as ever, and nothing counts as lost."""
    names = [directory / f"{i:03}" for i in range(60)]
    report = run("--json", "--max-keys", "20", "--", sys.executable, "-c", LOCKS, *names, tool="why").report
    (row,) = [row for row in report["rows"] if row["cause"] == "file lock"]
    assert row["count"] > 50 and row["time"] > 50 * 40_000_000, row
    assert not report["lost"]["map_full"], report["lost"]
    named, rounded = shares(row)
    assert len(named) == 3 and set(named) <= {str(name) for name in names}, row
    assert sum(named.values()) <= row["time"] / 10 + 3 * rounded, row


@pytest.mark.parametrize("name, shown", (
    ("x" * 200 + "/" + "y" * 100, "..." + "/" + "y" * 100),
    ("z" * 250, None),
))
def test_long_names(run, directory, name, shown):
    """The last directories of a path, as many as there is room for; or the begin of the file's own name."""
    path = directory / name
    path.parent.mkdir(exist_ok=True)
    report = run("--json", "--", sys.executable, "-c", LOCKS, path, tool="why").report
    (row,) = [row for row in report["rows"] if row["cause"] == "file lock"]
    (found,) = shares(row)[0]
    assert found == shown or (not shown and re.fullmatch(r"/z{100,}\.\.\.", found)), row


def test_names_of_files_are_escaped(run, directory):
    path = directory / "a\x1b[31m\nb"
    text = run("--", sys.executable, "-c", LOCKS, path, tool="why").text
    assert "\x1b" not in text
    assert r"a\x1b[31m\x0ab" in text, text


@pytest.mark.everywhere
def test_a_wait_without_an_object(run):
    report = run("--json", "--", "sleep", "0.1", tool="why").report
    (row,) = [row for row in report["rows"] if row["cause"] == "timer"]
    assert row["object"] is None
