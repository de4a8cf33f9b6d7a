# SPDX-License-Identifier: BSD-2-Clause
"""snap --waits: threads and processes that stand in each kind of wait, of which it is known who waits for whom."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import tally


class Standing:
    """The trigger at rest. tid: what it says, in its order."""

    def __init__(self, trigger, *args):
        blocks = args[0] in ("kernel-mutex", "rwsem")
        self.load = trigger("waits", *args, blocks=blocks)
        self.tid = self.load.numbers
        pids = {self.load.pid}
        for tid in self.tid:
            status = Path(f"/proc/{tid}/status").read_text()
            pids.add(int(re.search(r"^Tgid:\t(\d+)", status, re.M)[1]))
        self.pids = sorted(pids)
        self.scope = "-p", ",".join(map(str, self.pids))
        # Each stands in the last call that it makes.
        for tid in self.tid:
            tally.wait_until(lambda tid=tid: tally.state(tid) in "SDt", tid)
        for pid in self.pids:
            if tally.state(pid) == "S" and not blocks:
                tally.settle(pid)

    def rows(self, report, **members):
        """Its threads that have these members."""
        return [row for row in report["rows"]
                if row["tid"] in self.tid and all(row[name] == value for name, value in members.items())]


@pytest.fixture
def standing(trigger):
    return lambda *args: Standing(trigger, *args)


@pytest.fixture
def waits(run):
    def look(standing, *args):
        result = run("--json", "--waits", *standing.scope, *args, tool="snap")
        assert result.code == 0, result
        return result.report

    return look


def targets(rows):
    return {row["tid"]: row["to_tid"] for row in rows}


def check_deadlock(standing, report, why):
    """One cycle with all of them, first on the page."""
    number = len(standing.tid)
    rows = report["rows"][:number]
    assert {row["tid"] for row in rows} == set(standing.tid), report
    assert {(row["verdict"], row["why"], row["chain"], row["depth"]) for row in rows} == {("deadlock", why, 1, 0)}, rows
    assert not [row for row in report["rows"][number:] if row["verdict"] == "deadlock"], report
    return rows


@pytest.mark.everywhere
@pytest.mark.parametrize("kind", ("ring", "robust"))
@pytest.mark.parametrize("number", (2, 3, 8))
def test_deadlock_of_threads(standing, waits, kind, number):
    it = standing(kind, number)
    rows = check_deadlock(it, waits(it), "mutex")
    assert targets(rows) == {tid: it.tid[(i + 1) % number] for i, tid in enumerate(it.tid)}
    calls = {tid: (Path(f"/proc/{it.load.pid}/task/{tid}/syscall")).read_text().split() for tid in it.tid}
    assert {row["tid"]: row["object"] for row in rows} == {tid: call[1] for tid, call in calls.items()}


@pytest.mark.everywhere
@pytest.mark.parametrize("kind,why", (("shared", "mutex"), ("pipes", "pipe"), ("full", "pipe"), ("sockets", "socket"),
                                      ("tcp", "socket"), ("tcp6", "socket"), ("poll", "socket"), ("ppoll", "socket"),
                                      ("flocks", "flock")))
def test_deadlock_of_processes(standing, waits, kind, why):
    it = standing(kind)
    rows = check_deadlock(it, waits(it), why)
    assert targets(rows) == {it.tid[0]: it.tid[1], it.tid[1]: it.tid[0]}


def test_a_thread_that_waits_for_itself(standing, waits):
    it = standing("again")
    assert targets(check_deadlock(it, waits(it), "mutex")) == {it.tid[0]: it.tid[0]}


@pytest.mark.everywhere
@pytest.mark.parametrize("kind", ("ring", "shared", "flocks", "chain", "pipes"))
def test_only_deadlocks(standing, waits, run, kind):
    """The rows are the deadlocks of --waits and nothing else; pipes are not looked at."""
    it = standing(kind)
    rows = [row for row in waits(it)["rows"] if row["verdict"] == "deadlock"]
    assert bool(rows) == (kind != "chain")
    report = run("--json", "--deadlocks", *it.scope, tool="snap").report
    assert targets(report["rows"]) == ({} if kind == "pipes" else targets(rows)), report
    none = "no deadlock among mutexes, file locks and waits for children"
    assert (none in report.get("note", "")) == (not report["rows"]), report
    assert all(row["verdict"] == "deadlock" for row in report["rows"])


def test_text_says_who_and_for_what(standing, run):
    it = standing("ring", 3)
    lines = run("--waits", *it.scope, tool="snap").text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("who"))
    for line in lines[first + 1:first + 4]:
        assert re.match(r"deadlock: \d+ \(waits\) waits for \d+ \(waits\) +S +futex +mutex +0x\w+ ", line), lines


@pytest.mark.parametrize("kind", ("timed", "helped", "idle", "polls"))
def test_what_may_end_is_no_deadlock(standing, waits, kind):
    """A timeout, or a process or a thread that may write to the pipes."""
    it = standing(kind)
    report = waits(it)
    assert not [row for row in report["rows"] if row["verdict"] == "deadlock"], report
    if kind == "timed":
        rows = it.rows(report, verdict="maybe")
        assert targets(rows) == {it.tid[0]: it.tid[1], it.tid[1]: it.tid[0]}, report
    elif kind == "polls":
        assert targets(it.rows(report, why="socket")) == {it.tid[0]: it.tid[1], it.tid[1]: it.tid[0]}, report
    elif kind == "idle":
        assert targets(it.rows(report, why="pipe")) == {it.tid[0]: it.tid[1], it.tid[1]: it.tid[2]}, report
    else:
        assert targets(it.rows(report, why="pipe")) == {it.tid[0]: it.tid[2], it.tid[1]: it.tid[2]}, report


@pytest.mark.everywhere
def test_a_chain_to_one_that_sleeps(standing, waits, run):
    """The first wants a mutex of the last, which sleeps, and the others that of the first."""
    it = standing("chain", 5)
    report = waits(it, "--each")
    rows = it.rows(report, verdict="chain")
    first, *others, last = it.tid
    assert targets(rows) == {last: None, first: last, **dict.fromkeys(others, first)}, report
    end = rows[0]
    assert (end["tid"], end["waiters"], end["depth"], end["call"], end["why"]) == (
        last, 5, 0, "clock_nanosleep", None), report
    assert {row["tid"]: (row["depth"], row["waiters"]) for row in rows[1:]} == {
        first: (1, 4), **dict.fromkeys(others, (2, 0))}
    assert len({row["chain"] for row in rows}) == 1
    # Four that wait alike share a row.
    folded = it.rows(waits(it), depth=2)
    assert [(row["threads"], row["to_tid"]) for row in folded] == [(4, first)]
    text = run("--waits", *it.scope, tool="snap").text
    assert re.search(rf"^5 threads wait for {last} \(waits\) +S +clock_nanosleep ", text, re.M), text
    assert re.search(r"^    4 threads like \d+ \(waits\) +S +futex +mutex ", text, re.M), text


def test_owner_of_a_mutex_with_priority_inheritance(standing, waits):
    it = standing("pi", 3)
    *others, last = it.tid
    assert targets(it.rows(waits(it, "--each"), why="mutex")) == dict.fromkeys(others, last)


@pytest.mark.parametrize("kind,call", (("child", "wait4"), ("vfork", "vfork"), ("join", "futex"), ("fcntls", "fcntl")))
def test_other_waits(standing, waits, kind, call):
    """For a process or a thread that sleeps."""
    it = standing(kind)
    report = waits(it)
    row = it.rows(report, to_tid=it.tid[1])[0]
    assert (row["tid"], row["why"]) == (it.tid[0], kind.rstrip("s")), report
    assert row["call"] in (call, "clone", "clone3"), report
    assert it.rows(report, tid=it.tid[1])[0]["call"] == "clock_nanosleep"


@pytest.mark.everywhere
@pytest.mark.parametrize("kind,why", (("kernel-mutex", "kernel mutex"), ("rwsem", "rwsem:W")))
def test_owner_of_a_lock_of_the_kernel(standing, waits, run, kind, why):
    """Writers of a pipe or a file wait for the one that holds its lock, although the call is a write to a pipe; and the
    kernel itself records the lock."""
    it = standing(kind, 3)
    *others, holder = it.tid
    report = waits(it, "--each")
    if not tally.kernel_has("struct task_struct blocker"):
        assert not it.rows(report, why=why)
        pytest.skip("this kernel does not record locks that tasks wait for (6.16)")
    rows = it.rows(report, why=why)
    if not rows and kind == "rwsem":
        pytest.skip("this kernel does not record rw_semaphores (6.17)")
    assert targets(rows) == dict.fromkeys(others, holder), report
    call = "pwrite64" if kind == "rwsem" else "write"
    assert {(row["state"], row["call"], row["verdict"], row["depth"]) for row in rows} == {("D", call, "chain", 1)}
    assert len({row["object"] for row in rows}) == 1 and rows[0]["object"].startswith("0x"), rows
    root, = it.rows(report, tid=holder)
    assert (root["waiters"], root["to_tid"], root["depth"]) == (3, None, 0), report
    assert root["lock_wait"] == max(row["time"] for row in rows), report
    assert {row["lock_wait"] for row in rows} == {None}, report
    for only in ("--locks",), ("--deadlocks", "--servers", "--locks"):
        few = run("--json", *only, "--each", *it.scope, tool="snap").report
        assert targets(it.rows(few, why=why)) == targets(rows) and len(few["rows"]) == 1 + len(rows), few
    assert not run("--json", "--deadlocks", "--servers", *it.scope, tool="snap").report["rows"]
    text = run("--waits", *it.scope, tool="snap").text
    assert re.search(rf"^3 threads wait for {holder} \(waits\) ", text, re.M), text
    assert re.search(rf"^  3 threads like \d+ \(waits\) +D +{call} +{why} +0x\w+ ", text, re.M), text


def test_a_thread_that_has_stopped_for_its_tracer(standing, waits):
    it = standing("traced")
    row = it.rows(waits(it), tid=it.tid[0])[0]
    assert (row["state"], row["why"], row["to_tid"], row["verdict"]) == ("t", "tracer", it.tid[1], "chain"), row


def check_nobody_is_known(standing, report, number):
    rows = standing.rows(report, why="futex")
    assert sum(row["threads"] for row in rows) == number, report
    assert {(row["verdict"], row["to_tid"], row["waiters"]) for row in rows} == {("unknown", None, 0)}, report
    return rows


def test_a_condition_has_no_owner(standing, waits):
    it = standing("condition", 4)
    rows = check_nobody_is_known(it, waits(it), 4)
    assert len(rows) == 1, rows


def test_owners_in_another_pid_namespace(run):
    """A mutex has the number that its owner has there."""
    comm = f"in-{os.getpid()}"
    command = ["unshare", "--pid", "--fork", tally.BUILD / "triggers" / "waits", "ring", "3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env={**os.environ, "TRIGGER_COMM": comm}) as process:
        process.stdout.readline()

        def deadlock():
            report = run("--json", "--waits", "-p", comm, tool="snap").report
            return [row for row in report["rows"] if row["verdict"] == "deadlock"]

        rows = tally.wait_until(deadlock, "no deadlock")
        process.stdin.close()
    assert len(rows) == 3 and set(targets(rows)) == set(targets(rows).values()), rows


@pytest.mark.parametrize("whose", ("ours", "nobody's"))
def test_a_forged_owner(standing, waits, whose):
    """A mutex may say what it likes: a thread that does not share it is no owner."""
    it = standing("forged", os.getpid() if whose == "ours" else 2 ** 22 + 1)
    check_nobody_is_known(it, waits(it), 1)


def test_owners_that_do_not_share_the_mutex(standing, waits):
    """Each of two processes has a shared mutex of its own, at the same address, which says that the other has it."""
    it = standing("hidden")
    check_nobody_is_known(it, waits(it), 2)


def test_a_pool_at_rest_is_no_deadlock(standing, waits):
    it = standing("pool", 9)
    report = waits(it)
    assert not [row for row in report["rows"] if row["verdict"] in ("deadlock", "maybe")], report
    check_nobody_is_known(it, report, 3)


def test_busy_threads_are_no_deadlock(trigger, run):
    """Threads that take mutexes from each other, looked at while they do."""
    load = trigger("waits", "busy", 6)
    load.go()
    result = run("--json", "--waits", "--each", "-p", load.pid, "-I", "10", "--reports", "30", tool="snap")
    assert result.code == 0 and len(result.reports) == 30, result
    for report in result.reports:
        assert not [row for row in report["rows"] if row["verdict"] == "deadlock"], report


def test_whom_they_wait_for_may_be_out_of_scope(standing, waits):
    """The end of the chain is told, too."""
    it = standing("child")
    it.scope = "-p", str(it.tid[0])
    report = waits(it)
    assert targets(report["rows"]) == {it.tid[1]: None, it.tid[0]: it.tid[1]}, report


def test_no_room_for_all_rows(standing, waits):
    it = standing("ring", 8)
    report = waits(it, "--top", "3")
    assert len(report["rows"]) == 3 and report["hidden"] >= 5, report


def test_hostile_names(trigger, run):
    load = trigger("waits", "ring", 2, comm=b"\x1b[2J\n<b>\"")
    text = run("--waits", "-p", load.pid, tool="snap").text
    assert "\x1b" not in text and "\\x1b[2J\\x0a<b>" in text, text


@pytest.mark.parametrize("args", (("-g",), ("--by", "pid"), ("--sort", "longest")))
def test_what_does_not_fit(run, args):
    result = run("--waits", *args, tool="snap")
    assert result.code == 2 and "--waits" in result.stderr, result
