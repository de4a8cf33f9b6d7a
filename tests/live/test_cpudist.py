# SPDX-License-Identifier: BSD-2-Clause
"""cpudist: slices compared with the kernel's run time and switches, to the nanosecond and to the switch;
absences compared with slices, and with runqlat in the same run."""

import functools

import pytest

import tally
from accounts import exactly, tool_by_the_books, work  # noqa: F401
from tally import TEMPEST, by_key, count, flaws, scaled, steady, threads, wait_ns, within

LOADS = (
    ("spin", 3, 30, 0),
    ("spin", 5, 20, -1),
    ("sleepers", 20, scaled(80), 50, -1),
    ("yield", 3, scaled(2000), 0),
    ("migrate", 5, 20),
)


def name_of(value):
    return "-".join(str(part) for part in value) if isinstance(value, tuple) else ""


@pytest.fixture
def cpudist(tool):
    return functools.partial(tool, "--json", tool="cpudist")


def departures(*loads):
    """{tid: number of switches} away from each thread of the loads."""
    found = {}
    for pid in (pid for load in loads for pid in load.pids):
        for tid in threads(pid):
            with open(f"/proc/{pid}/task/{tid}/status") as status:
                found[tid] = sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return found


def work_and_leave(*loads, **kwargs):
    """accounts.work(), and the number of switches away from each thread."""
    before = departures(*loads)
    w = work(*loads, **kwargs)
    return w, {tid: n - before[tid] for tid, n in departures(*loads).items()}


def is_exact(w, *reports):
    """Figures need not be equal if the tool reported losses, or if the kernel hides switches."""
    w.blurred |= any(any(flaws(report).values()) for report in reports)
    return not w.blurred and not w.holes


@pytest.mark.parametrize("by_thread", (False, True), ids=("total", "by thread"))
@pytest.mark.parametrize("load", LOADS, ids=name_of)
def test_slices(cpudist, trigger, load, by_thread):
    """Each switch-out ends a slice, and slices add up to the run time that the kernel charged."""

    def trial():
        started = trigger(*load)
        tracer = cpudist("-p", started.pid, *(("--by", "tid") if by_thread else ()))
        w, left = work_and_leave(started)
        report = tracer.stop().report
        if not is_exact(w, report):
            return w
        if not by_thread:
            assert count(report["groups"]) == sum(left.values())
            assert wait_ns(report["groups"]) == tally.total(w.grown).run_ns
            return w
        groups = by_key(report, "tid")
        for tid, grown in w.grown.items():
            assert groups[tid]["count"] == left[tid]
            assert groups[tid]["sum"] == grown.run_ns
        return w

    exactly(trial)


@pytest.mark.parametrize("cpu", (0, -1), ids=("on one CPU", "anywhere"))
def test_slices_of_a_pipe(cpudist, trigger, cpu):
    def trial():
        load = trigger("pingpong", scaled(1500), cpu)
        tracer = cpudist("-p", ",".join(map(str, load.pids)), "--by", "tid")
        w, left = work_and_leave(load)
        report = tracer.stop().report
        if is_exact(w, report):
            for tid, group in by_key(report, "tid").items():
                assert (group["count"], group["sum"]) == (left[tid], w.grown[tid].run_ns)
        return w

    exactly(trial)


@pytest.mark.parametrize("load", LOADS, ids=name_of)
def test_absences(cpudist, tool, trigger, load):
    """There is an absence between two slices. It began with going to sleep or with being preempted, and
    preempted threads wait for a CPU all the time. Slices and absences of a pinned task do not overlap;
    their sum fits into the run."""

    def trial():
        started = trigger(*load)
        scope = ("-p", started.pid, "--by", "tid")
        tracers = [cpudist(*scope, *off) for off in
                   ((), ("--off",), ("--off=blocked",), ("--off=preempted",))]
        tracers.append(tool("--json", *scope))
        w, _ = work_and_leave(started)
        reports = [tracer.stop().report for tracer in tracers]
        if not is_exact(w, *reports):
            return w
        on, off, blocked, preempted, waits = (by_key(report, "tid") for report in reports)
        nothing = {"count": 0, "sum": 0}
        for tid in w.grown:
            parts = blocked.get(tid, nothing), preempted.get(tid, nothing)
            assert off[tid]["count"] == on[tid]["count"] - 1
            assert off[tid]["count"] == sum(part["count"] for part in parts)
            assert off[tid]["sum"] == sum(part["sum"] for part in parts)
            assert parts[1]["count"] < waits[tid]["count"]
            together = on[tid]["sum"] + off[tid]["sum"]
            within(together <= w.elapsed_ns, together, w.elapsed_ns)
            if load[0] != "migrate" and load[-1] != -1:
                assert parts[1]["sum"] <= waits[tid]["sum"]
        return w

    exactly(trial)


def test_a_task_that_never_blocks_is_preempted_only(cpudist, trigger):
    """Two at a time on one CPU: one's slice is the other's absence."""

    def trial():
        load = trigger("spin", 2, 100, 0)
        tracers = [cpudist("-p", load.pid, "--by", "tid", *off) for off in ((), ("--off=preempted",))]
        w, _ = work_and_leave(load)
        on, off = (tracer.stop().report for tracer in tracers)
        if not is_exact(w, on, off):
            return w
        first, second = [tid for tid in w.grown if tid != load.pid]
        on, off = by_key(on, "tid"), by_key(off, "tid")
        # While both spin; the scheduler decides when, and at the end one is alone.
        for one, other in ((first, second), (second, first)):
            within(off[one]["sum"] >= 0.3 * on[other]["sum"], off[one]["sum"], on[other]["sum"])
        return w

    exactly(trial)


def test_fork_storm(cpudist, tool, trigger):
    """All slices of short-lived tasks are seen: as many as runqlat sees waits."""

    def trial():
        load = trigger("storm", scaled(300), 4, 0, comm=TEMPEST)
        tracers = cpudist("--comm", TEMPEST), tool("--json", "--comm", TEMPEST)
        w = work(load)
        slices, waits = (tracer.stop().report for tracer in tracers)
        if is_exact(w, slices, waits):
            assert slices["events"] == waits["events"] >= scaled(300)
        return w

    exactly(trial)


def test_a_slice_from_before_the_start_does_not_count(cpudist, trigger):
    """Two threads take turns on a CPU; time that they ran before the tool began does not count."""
    load = trigger("spin", 2, 600_000, 0)
    load.go()
    tally.wait_until(lambda: tally.cpu_ns(load.pid) > 50_000_000, "50 ms of a CPU")
    before = tally.cpu_ns(load.pid)
    tracer = cpudist("-p", load.pid)
    ready = departures(load)
    ready.pop(load.pid)
    tally.wait_until(lambda: all(departures(load)[tid] > n + 2 for tid, n in ready.items()),
                     "three turns each")
    report = tracer.stop().report
    since = tally.cpu_ns(load.pid) - before
    tally.end_process(load.process)
    assert report["events"] + report["lost"]["missed"] + report["lost"]["unmatched"] >= 4
    assert 0 < wait_ns(report["groups"]) <= since


def test_idle_counts_only_if_asked_for(cpudist, trigger):
    """With idle tasks a CPU has no gaps and no overlaps: time that others leave is idle. The
    clock of the run queue differs from that of the report's duration."""

    def trial():
        tracers = [cpudist("-C", 0, "--by", "tid", *idle)
                   for idle in ((), ("--idle",), ("--idle", "--off"))]
        work(trigger("sleepers", 2, scaled(200), 100, 0))
        without, with_idle, off = (tracer.stop().report for tracer in tracers)
        assert 0 not in by_key(without, "tid")
        within(wait_ns(with_idle["groups"]) <= with_idle["duration_ns"] * 1.02,
               wait_ns(with_idle["groups"]), with_idle["duration_ns"])
        if wait_ns(without["groups"]) < 0.8 * without["duration_ns"]:
            # Or it is nobody's: a virtual CPU that has to wait for a real one.
            idle = [by_key(report, "tid").get(0, {"count": 0})["count"] for report in (with_idle, off)]
            within(all(idle), idle)

    steady(trial)


def test_keys_agree(cpudist, trigger):
    load = trigger("sleepers", 4, scaled(60), 100, -1)
    tracers = [cpudist("-p", load.pid, *by) for by in ((), ("--by", "cpu"), ("--by", "pid,comm"), ("-L",))]
    work(load)
    reports = [tracer.stop().report for tracer in tracers]
    if not any(any(flaws(report).values()) for report in reports):
        assert len({report["events"] for report in reports}) == 1
        assert len({wait_ns(report["groups"]) for report in reports}) == 1
    (group,) = reports[2]["groups"]
    assert group["key"] == {"pid": load.pid, "comm": "sleepers"}


def test_intervals_are_differences(cpudist, trigger):
    def trial():
        loads = [trigger("sleepers", 3, scaled(100), 100, -1) for _ in range(2)]
        tracer = cpudist("-p", ",".join(str(load.pid) for load in loads), "-I", 20)
        w, left = work_and_leave(*loads, between=lambda: tracer.await_lines(2))
        reports = tracer.stop().reports
        if is_exact(w, *reports):
            assert sum(report["events"] for report in reports) == sum(left.values())
            assert sum(wait_ns(r["groups"]) for r in reports) == tally.total(w.grown).run_ns
        return w

    exactly(trial)


def test_command(run, directory):
    out = directory / "report"
    result = run("--json", "-o", out, "--by", "comm", "--", tally.BUILD / "triggers/storm", 20, 2, 0,
                 tool="cpudist")
    assert result.code == 0, result
    report = tally.Result(0, out.read_bytes(), b"").report
    assert report["tool"] == "cpudist" and report["value"] == "time on CPU"
    assert by_key(report, "comm")["storm"]["count"] >= 20


def test_usage(run):
    result = run("--off=sometimes", tool="cpudist")
    assert result.code == 2 and "all, blocked, preempted" in result.stderr
    for args, program in (((), "on_switch_on"), (("--off",), "on_switch_off")):
        result = run("-n", *args, tool="cpudist")
        assert result.code == 0 and f"{program} at tp_btf/sched_switch" in result.text
        assert len([line for line in result.text.splitlines() if "sched_switch" in line
                    and line.startswith("program")]) == 1
    assert run("--off", "--csv", "-d", "0.1", tool="cpudist").text.startswith("start_ns,")
