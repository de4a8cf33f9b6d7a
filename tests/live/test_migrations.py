# SPDX-License-Identifier: BSD-2-Clause
"""migrations against what the kernel keeps of each task: se.nr_migrations of
/proc/PID/task/TID/sched, one more for each time a task is given another CPU."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

import counted
import tally
from tally import scaled

THREADS, ROUNDS = 3, scaled(200)


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
def load(trigger):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU is not enough")
    return trigger("migrate", THREADS, ROUNDS, comm="wanderer")


def work(load):
    """Lets it work: what the kernel counted for each thread that moved."""
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


def nothing_lost(report):
    assert not any(report["lost"].values()), report
    assert report["events"] == sum(row["count"] for row in report["rows"]), report


def test_each_task_as_the_kernel_counts(tool, load):
    """The default: by thread. The subject is the thread that moves, not the one that moves it."""
    tracer = tool("--json", "-p", load.pid, tool="migrations")
    grown = work(load)
    report = tracer.stop().report
    nothing_lost(report)
    assert by_tid(report) == grown
    assert sum(grown.values()) >= ROUNDS, grown
    assert {row["comm"] for row in report["rows"]} == {"wanderer"}
    assert [row["count"] for row in report["rows"]] == \
        sorted((row["count"] for row in report["rows"]), reverse=True)


def test_from_and_to(tool, load):
    """To another CPU, where the next move begins: of 2, there and back differ by one at most."""
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


def test_intervals_add_up(tool, load):
    tracers = [tool("--json", "-p", load.pid, *args, tool="migrations")
               for args in ((), ("-I", 50))]
    work(load)
    whole, parts = (tracer.stop() for tracer in tracers)
    summed = Counter()
    for report in parts.reports:
        nothing_lost(report)
        assert all(row["count"] for row in report["rows"]), report
        summed.update(by_tid(report))
    assert dict(summed) == by_tid(whole.report)


def test_stat_counts_the_same(tool, load):
    """stat knows the tracepoint's subject, too."""
    counter = tool("--json", "-p", load.pid, "-e", "sched:sched_migrate_task", tool="stat")
    tracer = tool("--json", "-p", load.pid, tool="migrations")
    work(load)
    events = tracer.stop().report["events"]
    assert sum(row["count"] for row in counter.stop().report["rows"]) == events


@pytest.mark.skipif(counted.why_no_perf() is not None, reason=str(counted.why_no_perf()))
def test_perf_counts_no_more_within_and_no_less_around(tool, load, ends):
    """Of the whole machine, perf has no subject: two of it, one that starts later and stops earlier
    than the tool, and one the other way around."""
    def perf():
        each = counted.Perf("-a", "-e", "sched:sched_migrate_task")
        ends.callback(each.close)
        return each

    around = perf()
    tracer = tool("--json", tool="migrations")
    within = perf()
    work(load)
    least = within.stop()["sched:sched_migrate_task"]
    report = tracer.stop().report
    most = around.stop()["sched:sched_migrate_task"]
    nothing_lost(report)
    assert ROUNDS <= least <= report["events"] + report["filtered"] <= most


def test_scope_is_about_the_task_that_moves(tool, load, trigger):
    """The main thread moves the others: it is not the subject. Nor are tasks of other names."""
    other = trigger("migrate", 1, ROUNDS, comm="other")
    tracers = [tool("--json", *args, tool="migrations")
               for args in (("-t", load.pid), ("--comm", "wander*", "--by", "comm"))]
    grown = work(load)
    other.go()
    other.done()
    mover, named = (tracer.stop().report for tracer in tracers)
    assert mover["events"] == grown.get(load.pid, 0)
    assert {row["comm"] for row in named["rows"]} == {"wanderer"}
    assert named["events"] == sum(grown.values()) and named["filtered"] >= ROUNDS // 2


def test_top(tool, load):
    tracers = [tool("--json", "-p", load.pid, *args, tool="migrations")
               for args in ((), ("--top", 2))]
    work(load)
    all_rows, top = (tracer.stop().report for tracer in tracers)
    assert top["rows"] == all_rows["rows"][:2] and top["events"] == all_rows["events"]
    assert top["hidden"] == len(all_rows["rows"]) - 2


def test_a_full_map_is_counted(tool, trigger):
    """What finds no room is counted: moved and lost are what the kernel counts."""
    load = trigger("migrate", 40, scaled(80))
    tracer = tool("--json", "-p", load.pid, "--max-keys", 1, tool="migrations")
    grown = work(load)
    report = tracer.stop().report
    assert report["lost"]["map_full"] > 0, report
    assert report["events"] + report["lost"]["map_full"] == sum(grown.values())


def test_csv_of_a_matrix_has_one_header(tool, load):
    tracer = tool("--matrix", "--csv", "-p", load.pid, "-I", 20, tool="migrations")
    work(load)
    lines = tracer.stop().text.splitlines()
    assert [line for line in lines if line.startswith("start_ns")] == lines[:1] and len(lines) > 1
    assert len({line.count(",") for line in lines}) == 1


@pytest.mark.parametrize("args", (
    ("--by", "cpu"), ("--matrix", "--by", "comm"), ("--matrix", "-P"),
))
def test_wrong_usage(run, args):
    result = run(*args, tool="migrations")
    assert result.code == 2 and args[0] in result.stderr and not result.stdout, result


def test_explain(run):
    result = run("-n", "-p", os.getpid(), tool="migrations")
    assert result.code == 0 and "sched_migrate_task" in result.text, result
