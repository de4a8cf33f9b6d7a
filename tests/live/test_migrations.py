# SPDX-License-Identifier: BSD-2-Clause
"""migrations against the kernel's own count per task: se.nr_migrations in /proc/PID/task/TID/sched, which grows by one
whenever a task is given another CPU."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

import counted
import tally
from tally import TEMPEST, flaws, once, steady, within

THREADS, ROUNDS = 3, 25


def moves(tid, pid):
    try:
        text = Path(f"/proc/{pid}/task/{tid}/sched").read_text()
    except FileNotFoundError:
        pytest.skip("this kernel shows no se.nr_migrations (CONFIG_SCHED_DEBUG)")
    return int(re.search(r"^se\.nr_migrations\s*:\s*(\d+)", text, re.M)[1])


def moves_of_threads(load):
    load.settle()
    return {tid: moves(tid, load.pid) for tid in load.tids()}


@pytest.fixture
def wanderer(trigger):
    """A function that starts the load."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU is not enough")
    return lambda: trigger("migrate", THREADS, ROUNDS, comm="wanderer")


@pytest.fixture
def load(wanderer):
    return wanderer()


def work(load):
    """Runs the load and returns the kernel's count of moves for each thread that moved."""
    before = moves_of_threads(load)
    load.go()
    load.done()
    after = moves_of_threads(load)
    return {tid: after[tid] - n for tid, n in before.items() if after[tid] > n}


def by_tid(report):
    found = Counter()
    for row in report["rows"]:
        found[row["tid"]] += row["count"]
    return dict(found)


def nothing_missed(report):
    """Where the kernel hides moves from all tracers, as it hides switches (tally.holes()), the report says so."""
    if report["lost"]["missed"] and tally.holes():
        raise tally.Blurred


def nothing_lost(report):
    """From 7.0 on programs on tracepoints can be preempted; the report counts runs that were skipped because of
    that."""
    nothing_missed(report)
    if tally.KERNEL >= (7, 0) and report["lost"]["recursion"]:
        raise tally.Blurred
    assert not any(flaws(report).values()), report
    assert report["events"] == sum(row["count"] for row in report["rows"]), report


def test_each_task_as_the_kernel_counts(tool, wanderer):
    """By thread, which is the default. The subject is the thread that moves, not the one that moves it."""

    def trial():
        load = wanderer()
        tracer = tool("--json", "-p", load.pid, tool="migrations")
        grown = work(load)
        report = tracer.stop().report
        nothing_lost(report)
        assert by_tid(report) == grown
        assert {row["comm"] for row in report["rows"]} == {"wanderer"}
        assert [row["count"] for row in report["rows"]] == \
            sorted((row["count"] for row in report["rows"]), reverse=True)
        # A thread can be moved once it has begun.
        within(sum(grown.values()) >= ROUNDS, grown)

    steady(trial)


def test_from_and_to(tool, load):
    """Each move begins on the CPU where the last one ended: between two CPUs, moves there and back differ by one at
    most."""
    tracer = tool("--json", "-p", load.pid, tool="migrations")
    work(load)
    report = tracer.stop().report
    ways = {(row["tid"], row["from"], row["to"]): row["count"] for row in report["rows"]}
    assert len(ways) == len(report["rows"])
    assert all(start != end for _, start, end in ways)
    for tid in {tid for tid, _, _ in ways}:
        balance = Counter()
        for (each, start, end), n in ways.items():
            if each == tid:
                balance[start] -= n
                balance[end] += n
        assert all(-1 <= n <= 1 for n in balance.values()), ways


def test_matrix_is_the_sum_of_the_ways(tool, load):
    tracers = [tool("--json", "-p", load.pid, *args, tool="migrations")
               for args in ((), ("--matrix",), ("--by", "comm,pid"))]
    work(load)
    ways, matrix, named = (tracer.stop().report for tracer in tracers)
    summed = Counter()
    for row in ways["rows"]:
        summed[row["from"], row["to"]] += row["count"]
    cells = {(row["from"], int(name[3:])): n for row in matrix["rows"] for name, n in row.items()
             if name.startswith("to ") and n}
    assert cells == dict(summed) and matrix["events"] == ways["events"]
    assert all(row["total"] == sum(n for (start, _), n in cells.items() if start == row["from"])
               for row in matrix["rows"])
    assert {(row["pid"], row["comm"]) for row in named["rows"]} == {(load.pid, "wanderer")}
    assert {(row["from"], row["to"]): row["count"] for row in named["rows"]} == dict(summed)


def test_intervals_add_up(tool, wanderer):
    """One load works after the other has been reported."""

    def trial():
        loads = wanderer(), wanderer()
        tracers = [tool("--json", "-p", ",".join(str(load.pid) for load in loads), *args,
                        tool="migrations") for args in ((), ("-I", 20))]
        counted.work(*loads, between=lambda: tracers[1].await_lines(2))
        whole, parts = (tracer.stop() for tracer in tracers)
        summed = Counter()
        for report in parts.reports:
            nothing_lost(report)
            assert all(row["count"] for row in report["rows"]), report
            summed.update(by_tid(report))
        assert dict(summed) == by_tid(whole.report)

    steady(trial)


def test_what_moved_before_is_not_missed(tool, wanderer):
    """The kernel counted moves of these threads before the run and before their first report: they are not missed."""

    def trial():
        load = wanderer()
        work(load)
        tracer = tool("--json", "-p", load.pid, "-I", 50, tool="migrations")
        tracer.await_lines(2)
        for report in tracer.stop().reports:
            nothing_lost(report)

    steady(trial)


def test_short_lives_are_not_missed(tool, trigger):
    """The kernel's count of a new task starts with the task: no move is missed up to its end."""

    def trial():
        load = trigger("storm", tally.scaled(500), 4, -1, comm=TEMPEST)
        tracer = tool("--json", "--comm", TEMPEST, tool="migrations")
        load.go()
        load.done()
        report = tracer.stop().report
        nothing_lost(report)
        within(report["events"] > 0, report)

    steady(trial)


def test_stat_counts_the_same(tool, load):
    """stat knows the tracepoint's subject, too."""
    counter = tool("--json", "-p", load.pid, "-e", "sched:sched_migrate_task", tool="stat")
    tracer = tool("--json", "-p", load.pid, tool="migrations")
    work(load)
    events = tracer.stop().report["events"]
    assert sum(row["count"] for row in counter.stop().report["rows"]) == events


@pytest.mark.skipif(counted.why_no_perf() is not None, reason=str(counted.why_no_perf()))
def test_perf_counts_no_more_within_and_no_less_around(tool, wanderer, ends):
    """perf -a counts the whole machine, for its own time: one perf runs within the tool's time, another around it."""
    def perf():
        each = counted.Perf("-a", "-e", "sched:sched_migrate_task")
        ends.callback(each.close)
        return each

    def trial():
        load = wanderer()
        around = perf()
        tracer = tool("--json", tool="migrations")
        inside = perf()
        work(load)
        least = inside.stop()["sched:sched_migrate_task"]
        report = tracer.stop().report
        most = around.stop()["sched:sched_migrate_task"]
        missed = report["lost"]["missed"]
        assert sum(flaws(report).values()) == missed and (not missed or tally.holes()), report
        assert least <= report["events"] + report["filtered"] + missed <= most
        within(least >= ROUNDS, least)

    steady(trial)


def test_scope_is_about_the_task_that_moves(tool, wanderer, trigger):
    """The main thread moves the others, so it is not the subject. Neither are tasks with other names."""

    def trial():
        load, other = wanderer(), trigger("migrate", 1, ROUNDS, comm="other")
        tracers = [tool("--json", *args, tool="migrations")
                   for args in (("-t", load.pid), ("--comm", "wander*", "--by", "comm"))]
        grown = work(load)
        tally.let_work([other])
        mover, named = (tracer.stop().report for tracer in tracers)
        assert mover["events"] == grown.get(load.pid, 0)
        assert {row["comm"] for row in named["rows"]} == {"wanderer"}
        assert named["events"] == sum(grown.values())
        within(named["filtered"] >= ROUNDS // 2, named["filtered"])

    steady(trial)


def test_top(tool, load):
    tracers = [tool("--json", "-p", load.pid, *args, tool="migrations")
               for args in ((), ("--top", 2))]
    work(load)
    all_rows, top = (tracer.stop().report for tracer in tracers)
    assert top["rows"] == all_rows["rows"][:2] and top["events"] == all_rows["events"]
    assert top["hidden"] == len(all_rows["rows"]) - 2


def test_a_full_map_is_counted(tool, trigger):
    """Moves that find no room in the map are counted: moves seen and lost add up to the kernel's count."""

    def trial():
        load = trigger("migrate", 40, 20)
        tracer = tool("--json", "-p", load.pid, "--max-keys", 1, tool="migrations")
        grown = work(load)
        report = tracer.stop().report
        lost = {reason: n for reason, n in flaws(report).items() if n}
        # The kernel may have no memory at hand for an element (seen on 5.10); from 7.0 on it may skip programs of tasks
        # that preempt. The report counts both.
        told = {"map_full", "no_memory"} | ({"recursion"} if tally.KERNEL >= (7, 0) else set())
        nothing_missed(report)
        assert set(lost) <= told, lost
        # No skipped run is that of a move: the kernel makes one move at a time on a CPU.
        lost.pop("recursion", 0)
        assert report["events"] + sum(lost.values()) == sum(grown.values()), lost
        # The scheduler decides how many of them have begun and can be moved.
        within(report["lost"]["map_full"] > 0, grown)

    steady(trial)


def test_csv_of_a_matrix_has_one_header(tool, load):
    tracer = tool("--matrix", "--csv", "-p", load.pid, "-I", 20, tool="migrations")
    work(load)
    lines = tracer.stop().text.splitlines()
    assert [line for line in lines if line.startswith("start_ns")] == lines[:1] and len(lines) > 1
    assert len({line.count(",") for line in lines}) == 1


def innermost(stack):
    return [frame["name"] for frame in stack["frames"]][::-1]


def test_stacks_are_those_of_who_moves(tool, load):
    """-g counts moves of the task that moves, as often as without it, by the stack of the task that moves it: here a
    thread that sets affinities."""
    tracers = [tool("--json", "-p", load.pid, "--by", "tid", *more, tool="migrations")
               for more in ((), ("-g",))]
    work(load)
    ways, stacks = (tracer.stop().report for tracer in tracers)
    moved = {}
    for row in ways["rows"]:
        moved[row["tid"]] = moved.get(row["tid"], 0) + row["count"]
    by_tid = {}
    for stack in stacks["stacks"]:
        tid = stack["key"]["tid"]
        by_tid[tid] = by_tid.get(tid, 0) + stack["value"]
        assert not any(name and name.startswith(("bpf_", "__bpf_trace", "__traceiter"))
                       for name in innermost(stack)[:3]), stack
    if not any(flaws(ways).values()) and not any(flaws(stacks).values()):
        assert by_tid == moved
    names = [name for stack in stacks["stacks"] for name in innermost(stack) if name]
    assert any("setaffinity" in name for name in names), names


@once
@pytest.mark.parametrize("args", (
    ("-K",), ("--format", "flame"), ("-g", "--matrix"), ("-g", "--by", "cpu"), ("--by", "nonsense"),
    ("--by", "cpu"), ("--matrix", "--by", "comm"), ("--matrix", "-P"),
))
def test_wrong_usage(run, args):
    result = run(*args, tool="migrations")
    assert result.code == 2 and not result.stdout, result
    assert any(word in result.stderr for word in (*args, "-g")), result


def test_explain(run):
    result = run("-n", "-p", os.getpid(), tool="migrations")
    assert result.code == 0 and "sched_migrate_task" in result.text, result
