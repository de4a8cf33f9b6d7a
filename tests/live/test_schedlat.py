# SPDX-License-Identifier: BSD-2-Clause
"""schedlat: run time, switches and waits against the kernel's books, and against runqlat in the
same run."""

import datetime
import functools
import json
import sys
import time

import pytest

import tally
from accounts import check, exactly, tool_by_the_books, work  # noqa: F401
from tally import TEMPEST, by_key, flaws, scaled

LOADS = (
    ("spin", 3, 30, 0),
    ("spin", 5, 20, -1),
    ("sleepers", 10, scaled(80), 50, -1),
    ("yield", 3, scaled(2000), 0),
    ("migrate", 5, 20),
)
FIGURES = ("runtime", "switches", "wait", "avg", "max")


def name_of(value):
    return "-".join(str(part) for part in value) if isinstance(value, tuple) else ""


@pytest.fixture
def schedlat(tool):
    return functools.partial(tool, "--json", tool="schedlat")


def by_tid(report):
    return {row["tid"]: row for row in report["rows"]}


def as_group(row):
    return {"count": row["switches"], "sum": row["wait"]}


def blur(w, *reports):
    w.blurred |= any(any(flaws(report).values()) for report in reports)
    return w.blurred or w.holes


@pytest.mark.parametrize("load", LOADS, ids=name_of)
def test_books(schedlat, tool, trigger, load):
    """Run time, switches and waits of each thread are those of the kernel; waits and the longest of
    them those of runqlat."""

    def trial():
        started = trigger(*load)
        tracers = schedlat("-p", started.pid), tool("--json", "-p", started.pid, "--by", "tid")
        w = work(started)
        report, waits = (tracer.stop().report for tracer in tracers)
        rows, groups = by_tid(report), by_key(waits, "tid")
        assert report["events"] == sum(row["switches"] for row in rows.values())
        for tid, grown in w.grown.items():
            row = rows[tid]
            assert row["comm"] == load[0]
            check(report, w, grown, [as_group(row)])
            if blur(w, report, waits):
                continue
            group = groups[tid]
            assert row["runtime"] == grown.run_ns
            assert (row["switches"], row["wait"]) == (group["count"], group["sum"])
            assert (row["avg"], row["max"]) == (group["avg"], group["max"])
        return w

    exactly(trial)


def test_pipe_ping_pong(schedlat, trigger):
    def trial():
        load = trigger("pingpong", scaled(1500), 0)
        tracer = schedlat("-p", ",".join(map(str, load.pids)))
        w = work(load)
        report = tracer.stop().report
        for tid, row in by_tid(report).items():
            check(report, w, w.grown[tid], [as_group(row)])
            assert blur(w, report) or row["runtime"] == w.grown[tid].run_ns
        return w

    exactly(trial)


def test_waits_by_timestamps(schedlat, tool, trigger):
    """Both tools take their own: counts are equal, sums nearly."""

    def trial():
        load = trigger("sleepers", 5, scaled(80), 50, 0)
        tracers = (schedlat("-p", load.pid, "--source", "wakeup"),
                   tool("--json", "-p", load.pid, "--by", "tid", "--source", "wakeup"))
        w = work(load)
        report, waits = (tracer.stop().report for tracer in tracers)
        if not blur(w, report, waits):
            groups = by_key(waits, "tid")
            for tid, row in by_tid(report).items():
                assert row["switches"] == groups[tid]["count"]
                assert row["runtime"] == w.grown[tid].run_ns
        return w

    exactly(trial)


def test_fork_storm(schedlat, tool, trigger):
    """By name: tasks that come and go."""

    def trial():
        load = trigger("storm", scaled(300), 4, 0, comm=TEMPEST)
        tracers = (schedlat("--comm", TEMPEST, "--by", "comm"), tool("--json", "--comm", TEMPEST),
                   tool("--json", "--comm", TEMPEST, tool="cpudist"))
        w = work(load)
        report, waits, slices = (tracer.stop().report for tracer in tracers)
        if not blur(w, report, waits, slices):
            (row,) = report["rows"]
            assert row["comm"] == TEMPEST
            assert row["switches"] == waits["events"]
            assert row["wait"] == tally.wait_ns(waits["groups"])
            assert row["runtime"] == tally.wait_ns(slices["groups"])
        return w

    exactly(trial)


def test_intervals(schedlat, tool, trigger):
    """Their sums are those of the whole run, and the longest wait is in one of them."""

    def trial():
        loads = [trigger("spin", 4, 30, 0) for _ in range(2)]
        scope = "-p", ",".join(str(load.pid) for load in loads)
        tracers = schedlat(*scope, "-I", 20), tool("--json", *scope, "--by", "tid")
        w = work(*loads, between=lambda: tracers[0].await_lines(2))
        reports, waits = tracers[0].stop().reports, tracers[1].stop().report
        if blur(w, waits, *reports):
            return w
        for tid, grown in w.grown.items():
            rows = [by_tid(report)[tid] for report in reports if tid in by_tid(report)]
            group = by_key(waits, "tid")[tid]
            assert sum(row["runtime"] for row in rows) == grown.run_ns
            assert sum(row["switches"] for row in rows) == group["count"]
            assert sum(row["wait"] for row in rows) == group["sum"]
            assert max(row["max"] or 0 for row in rows) == group["max"]
            for row in rows:
                assert (row["max"] is None) == (row["switches"] == 0)
        return w

    exactly(trial)


@pytest.mark.everywhere
@pytest.mark.parametrize("load", LOADS, ids=name_of)
def test_totals(schedlat, trigger, load):
    """Without a program at switches: what /proc/PID/schedstat of each thread has grown by, but for sleep in it."""

    def trial():
        started = trigger(*load)
        tracer = schedlat("--totals", "-p", started.pid)
        w = work(started)
        report = tracer.stop().report
        rows = by_tid(report)
        assert report["events"] == sum(row["switches"] for row in rows.values())
        for tid, grown in w.grown.items():
            row = rows.get(tid, {"runtime": 0, "switches": 0, "wait": 0, "max": None})
            assert (row["runtime"], row["switches"], row["max"]) == (grown.run_ns, grown.count, None)
            assert row["wait"] == grown.delay_ns or (report.get("corrected") and row["wait"] < grown.delay_ns)
        assert not any(report["lost"].values())
        return w

    exactly(trial)


@pytest.mark.everywhere
def test_totals_of_tasks_that_come_and_go(schedlat, trigger):
    """By name: the run time that programs at switches see, with that of giving memory back after sched_process_exit.
    The last tasks are freed some time after they have been waited for."""

    def trial():
        load = trigger("storm", scaled(300), 4, 0, comm=TEMPEST)
        tracers = [schedlat(*args, "--comm", TEMPEST, "--by", "comm") for args in (("--totals",), ())]
        w = work(load)
        time.sleep(0.3)
        totals, switches = (tracer.stop().report for tracer in tracers)
        if not blur(w, totals, switches):
            (row,), (other,) = totals["rows"], switches["rows"]
            assert row["runtime"] == other["runtime"]
            assert row["switches"] <= other["switches"] <= row["switches"] * 1.1
        return w

    exactly(trial)


# Runs processes, and prints what wait4(2) says that each has used: {pid: us}.
SPAWNING = """
import json, os, sys, time
used = {}
for _ in range(5):
    pid, _, usage = os.wait4(os.posix_spawn("/bin/true", ["true"], {}), 0)
    used[pid] = round((usage.ru_utime + usage.ru_stime) * 1e6)
time.sleep(0.5)
with open(sys.argv[1], "w") as file:
    json.dump(used, file)
"""


@pytest.mark.parametrize("scope", ((), ("-a",)), ids=name_of)
def test_totals_of_a_command(run, tmp_path, scope):
    """Processes of a command that are freed before its end have all of their time: with that after
    sched_process_exit, which is counted when a task is freed and has left the scope."""
    result = run("--json", "--totals", *scope, "--", sys.executable, "-c", SPAWNING, tmp_path / "used", tool="schedlat")
    rows = by_tid(result.report)
    used = json.loads((tmp_path / "used").read_text())
    assert len(used) == 5
    for pid, us in used.items():
        assert rows[int(pid)]["runtime"] >= us * 1000, rows[int(pid)]


def test_totals_of_intervals(schedlat, trigger):
    def trial():
        load = trigger("spin", 4, 30, 0)
        tracer = schedlat("--totals", "-p", load.pid, "-I", 20)
        w = work(load, between=lambda: tracer.await_lines(2))
        reports = [by_tid(report) for report in tracer.stop().reports]
        for tid, grown in w.grown.items():
            rows = [rows[tid] for rows in reports if tid in rows]
            assert sum(row["runtime"] for row in rows) == grown.run_ns
            assert sum(row["switches"] for row in rows) == grown.count
        return w

    exactly(trial)


def test_totals_look_at_no_switch(run):
    result = run("--totals", "-n", tool="schedlat")
    assert result.code == 0 and "visit_totals" in result.text and "sched_switch" not in result.text
    result = run("-n", tool="schedlat")
    assert "totals" not in result.text
    for args in (("-C", 0), ("--by", "cpu"), ("--source", "wakeup")):
        result = run("--totals", *args, tool="schedlat")
        assert result.code == 2 and "--totals" in result.stderr, result


def clocks():
    return time.monotonic_ns(), datetime.datetime.now()


def test_when_the_longest_wait_was(schedlat, trigger):
    """While the load worked: by the time since the start, which was before the tool was ready, and
    by the time of day, which is cut to milliseconds."""
    load = trigger("spin", 3, 30, 0)
    started, _ = clocks()
    tracer = schedlat("-p", load.pid)
    ready, _ = clocks()
    time.sleep(0.05)
    began, earliest = clocks()
    work(load)
    ended, latest = clocks()
    rows = tracer.stop().report["rows"]
    assert len(rows) == 4
    for row in rows:
        assert began - ready <= row["max_at_ns"] <= ended - started
        of_day = datetime.time.fromisoformat(row["max_at"])
        days = {datetime.datetime.combine(at.date(), of_day) for at in (earliest, latest)}
        assert any(earliest - datetime.timedelta(milliseconds=1) <= day <= latest for day in days)


def test_a_task_that_is_never_switched_out_is_there(schedlat, trigger):
    """Its slice goes on. Reading what it has used brings the kernel's figure up to date, so that
    the two readings are bounds: outside of what is measured, and inside. A slice that another task ends while the
    report is read belongs to the next report (docs/accuracy.md), which a busy machine does now and then."""

    def trial():
        load = trigger("spin", 1, 600_000, 0)
        load.go()
        tally.wait_until(lambda: tally.cpu_ns(load.pid) > 50_000_000, "50 ms of a CPU")
        outside = tally.cpu_ns(load.pid)
        tracer = schedlat("-p", load.pid)
        inside = tally.cpu_ns(load.pid)
        tally.wait_until(lambda: tally.cpu_ns(load.pid) > inside + 100_000_000, "100 ms of a CPU")
        inside = tally.cpu_ns(load.pid) - inside
        report = tracer.stop().report
        outside = tally.cpu_ns(load.pid) - outside
        tally.end_process(load.process)
        runtime = sum(row["runtime"] for row in report["rows"])
        assert runtime <= outside
        tally.within(inside <= runtime, inside, runtime)

    tally.steady(trial)


@pytest.mark.parametrize("by", ("pid", "comm", "cpu", "uid", "cgroup", "pid,comm"))
def test_keys(schedlat, trigger, by):
    """Whatever the rows are about, they add up to the same."""

    def trial():
        load = trigger("sleepers", 3, scaled(60), 100, -1)
        tracers = schedlat("-p", load.pid, "--by", by), schedlat("-p", load.pid)
        w = work(load)
        keyed, threads = (tracer.stop().report for tracer in tracers)
        assert all(set(by.split(",")) <= set(row) for row in keyed["rows"])
        assert by == "cpu" or len(keyed["rows"]) == 1
        if not blur(w, keyed, threads):
            for figure in ("runtime", "switches", "wait"):
                assert sum(row[figure] for row in keyed["rows"]) == \
                    sum(row[figure] for row in threads["rows"])
        return w

    exactly(trial)


def test_order(schedlat, trigger):
    """Largest first, and of equals the smaller tid."""
    load = trigger("sleepers", 8, scaled(60), 100, -1)
    tracers = {order: schedlat("-p", load.pid, "--sort", order) for order in (*FIGURES, "key")}
    few = schedlat("-p", load.pid, "--top", 3)
    work(load)
    for order, tracer in tracers.items():
        rows = tracer.stop().report["rows"]
        assert rows == sorted(rows, key=lambda row: (-row.get(order, 0), row["tid"]))
        assert len(rows) == 9
    report = few.stop().report
    assert len(report["rows"]) == 3 and report["hidden"] == 6
    assert report["events"] > sum(row["switches"] for row in report["rows"])


def test_everything_but_idle_and_itself(schedlat, trigger):
    tracer = schedlat("--max-keys", 50000)
    load = trigger("sleepers", 2, scaled(60), 100, -1)
    work(load)
    rows = by_tid(tracer.stop().report)
    assert not {0, tracer.pid} & set(rows)
    assert set(load.tids()) <= set(rows)


def test_text_has_a_total(tool, trigger):
    load = trigger("spin", 2, 20, 0)
    tracer = tool("-p", load.pid, "--top", 1, tool="schedlat")
    work(load)
    lines = [line.split() for line in tracer.stop().text.splitlines()]
    titles = lines.index(["tid", "comm", "runtime", "switches", "wait", "avg", "max", "max_at"])
    assert lines[titles + 2][0] == "total"
    assert lines[titles + 4] == "2 more not shown (--top)".split()


def test_usage(run):
    result = run("--sort", "p99", tool="schedlat")
    assert result.code == 2 and "switches" in result.stderr
    result = run("--source", "guess", tool="schedlat")
    assert result.code == 2 and "accounting" in result.stderr
    result = run("-n", tool="schedlat")
    assert result.code == 0 and "on_switch_run at tp_btf/sched_switch" in result.text
    result = run("--csv", "-a", "-d", "0.3", tool="schedlat")
    assert result.code == 0
    assert result.text.splitlines()[0].endswith(
        "tid,comm,runtime,switches,wait,avg,max,max_at,max_at_ns")
