# SPDX-License-Identifier: BSD-2-Clause
"""runqslower: each wait above the threshold, and who had the CPU, against runqlat, schedlat and
timehist in the same run."""

import functools
import json

import pytest

import tally
from accounts import exactly, tool_by_the_books, work  # noqa: F401
from probing import nothing_lost, told
from tally import by_key, scaled

LOADS = (
    ("spin", 3, 30, 0),
    ("sleepers", 10, scaled(60), 50, -1),
    ("yield", 3, scaled(1000), 0),
    ("migrate", 5, scaled(60)),
)


@pytest.fixture
def runqslower(tool):
    return functools.partial(tool, "--json", tool="runqslower")


def lines_of(result):
    lines, (report,) = told(result)
    assert len(lines) == report["events"]
    return lines, report


def waits_of(lines, tid):
    return [line["values"]["wait"] for line in lines if line["tid"] == tid]


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load[0])
def test_one_run_four_tools(runqslower, tool, trigger, load):
    """Wait by wait what timehist says, and in number, sum and maximum what runqlat and schedlat
    say; all from the kernel's books."""

    def trial():
        started = trigger(*load)
        scope = ("-p", started.pid)
        slower = runqslower(*scope, "--min", "0")
        others = [tool("--json", *scope, *more, tool=name) for name, *more in (
            ("timehist",), ("runqlat", "--by", "tid"), ("schedlat",))]
        w = work(started)
        lines, report = lines_of(slower.stop())
        switches, history = lines_of(others[0].stop())
        runqlat, schedlat = (other.stop().report for other in others[1:])
        w.blurred = not all(map(nothing_lost, (report, history, runqlat, schedlat)))
        if w.blurred or w.holes:
            return w
        groups, rows = by_key(runqlat, "tid"), {row["tid"]: row for row in schedlat["rows"]}
        assert set(groups) == set(rows) == {line["tid"] for line in lines} == set(w.grown)
        for tid, group in groups.items():
            waits = waits_of(lines, tid)
            assert waits == [line["values"]["delay"] for line in switches if line["tid"] == tid]
            assert len(waits) == group["count"] == rows[tid]["switches"]
            assert sum(waits) == group["sum"] == rows[tid]["wait"]
            assert max(waits) == group["max"] == rows[tid]["max"]
        return w

    exactly(trial)


def test_threshold(runqslower, trigger):
    """In the kernel: what is shorter is neither shown nor counted."""

    def trial():
        load = trigger("spin", 4, 30, 0)
        tracers = [runqslower("-p", load.pid, "--min", least) for least in ("0", "3ms", "10")]
        w = work(load)
        (all_of_them, report), (some, _), (few, _) = (lines_of(t.stop()) for t in tracers)
        w.blurred = not nothing_lost(report)
        waits = sorted(line["values"]["wait"] for line in all_of_them)
        tally.within(waits[0] < 3_000_000 or tally.GUEST, waits)
        for lines, least in ((some, 3_000_000), (few, 10_000_000)):
            found = sorted(line["values"]["wait"] for line in lines)
            assert w.blurred or w.holes or found == [wait for wait in waits if wait >= least]
        return w

    exactly(trial)


def test_who_had_the_cpu(runqslower, tool, trigger):
    """The one that timehist saw leave."""

    def trial():
        load = trigger("spin", 3, 30, 0)
        tracers = runqslower("-p", load.pid, "--min", "0"), tool("--json", tool="timehist")
        w = work(load)
        lines, report = lines_of(tracers[0].stop())
        switches, history = lines_of(tracers[1].stop())
        w.blurred = not nothing_lost(report) or not nothing_lost(history)
        if w.blurred or w.holes:
            return w
        for tid in load.tids():
            # timehist shows no idle task that leaves, nor itself.
            left = [(line["tid"], line["comm"]) for line in switches
                    if line["values"]["other_tid"] == tid]
            before = [(line["values"]["prev_tid"], line["values"]["prev_comm"]) for line in lines
                      if line["tid"] == tid and line["values"]["prev_tid"] not in
                      (0, tracers[1].pid)]
            assert left == before
        return w

    exactly(trial)


def test_hostile_names(runqslower, tool, trigger):
    name = b"\x1b]0;a\x07\xff\n\"b"
    load = trigger("spin", 2, 20, 0, comm=name)
    tracers = runqslower("-p", load.pid, "--min", "0"), tool("-p", load.pid, "--min", "0",
                                                            tool="runqslower")
    work(load)
    lines, _ = lines_of(tracers[0].stop())
    escaped = '\\x1b]0;a\\x07\\xff\\x0a"b'
    assert {line["comm"] for line in lines} == {escaped}
    assert any(line["values"]["prev_comm"] == escaped for line in lines)
    text = tracers[1].stop().stdout
    assert b"\x1b" not in text and b"\x07" not in text
    assert b'prev_comm="\\x1b]0;a\\x07\\xff\\x0a\\x22b"' in text


def test_timestamps(runqslower, trigger):
    """Counts are those of the books."""

    def trial():
        load = trigger("sleepers", 5, scaled(60), 50, 0)
        tracers = runqslower("-p", load.pid, "--min", "0", "--source", "wakeup"), \
            runqslower("-p", load.pid, "--min", "0")
        w = work(load)
        (stamped, stamps), (booked, books) = (lines_of(tracer.stop()) for tracer in tracers)
        w.blurred = not nothing_lost(stamps) or not nothing_lost(books)
        if not w.blurred and not w.holes:
            for tid in load.tids():
                assert len(waits_of(stamped, tid)) == len(waits_of(booked, tid))
        return w

    exactly(trial)


def test_intervals_and_forms(run, tool, trigger):
    load = trigger("spin", 2, 60, 0)
    tracer = tool("--json", "-p", load.pid, "--min", "0", "-I", 20, tool="runqslower")
    work(load)
    result = tracer.stop()
    found = [json.loads(line) for line in result.text.splitlines()]
    lines, shown = 0, 0
    for each in found:
        if "tool" in each:
            assert each["events"] == lines
            lines = 0
        else:
            lines, shown = lines + 1, shown + 1
    assert shown > 2 and not lines
    result = run("--csv", "--min", "0", "-d", "0.3", tool="runqslower")
    assert result.code == 0
    assert result.text.startswith("time_ns,comm,pid,tid,cpu,wait,prev_comm,prev_pid,prev_tid\n")


def test_template(tool, trigger):
    load = trigger("spin", 2, 20, 0)
    tracer = tool("-p", load.pid, "--min", "0", "--template", "{comm}/{tid} after {prev_tid}",
                  tool="runqslower")
    work(load)
    assert f"spin/{load.pid} after " in tracer.stop().text


def test_usage(run):
    result = run("--min", "soon", tool="runqslower")
    assert result.code == 2 and "10ms" in result.stderr
    result = run("--template", "{wait", tool="runqslower")
    assert result.code == 2 and "--template" in result.stderr
    result = run("-n", tool="runqslower")
    assert result.code == 0 and "on_switch_wakeup at tp_btf/sched_switch" in result.text
