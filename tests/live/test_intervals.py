# SPDX-License-Identifier: BSD-2-Clause
"""When runqlat reports, and that intervals are differences that add up to the whole run."""

import json
import subprocess
import time

import pytest

import tally
from accounts import check, exactly, tool_by_the_books, work  # noqa: F401
from tally import by_key, count, once, scaled, steady, wait_ns, within


@pytest.mark.parametrize("keys", ((), ("--by", "tid")), ids=("total", "by tid"))
def test_intervals_add_up_to_the_whole(tool, trigger, keys):
    """One tool with many reports, one with a single one, over the same two loads; the second works
    after the first has been reported: equal in every bucket, and in the sum."""

    def trial():
        loads = [trigger("sleepers", 4, scaled(200), 100, -1) for _ in range(2)]
        scope = ("--json", "-p", ",".join(str(load.pid) for load in loads), *keys)
        tracers = tool(*scope, "-I", 10), tool(*scope)
        w = work(*loads, between=lambda: tracers[0].await_lines(2))
        parts, whole = tracers[0].stop().reports, tracers[1].stop().report
        check(whole, w)

        groups = [group for part in parts for group in part["groups"]]
        assert sum(part["events"] for part in parts) == whole["events"]
        assert wait_ns(groups) == wait_ns(whole["groups"])
        assert tally.buckets(groups) == tally.buckets(whole["groups"])
        for counter in ("unaccounted",):
            assert sum(part[counter] for part in parts) == whole[counter]
        if keys:
            for tid, group in by_key(whole, "tid").items():
                own = [g for g in groups if g["key"]["tid"] == tid]
                assert count(own) == group["count"]
                assert wait_ns(own) == group["sum"]
                assert tally.buckets(own) == tally.buckets([group])
                # An interval's own minimum and maximum may be known only to a bucket.
                assert min(g["min"] for g in own) <= group["min"]
                assert max(g["max"] for g in own) >= group["max"]
        return w

    exactly(trial)


def test_intervals_follow_each_other_without_a_gap(run):
    """Together they have the requested length; the timer of the end, though, starts a little
    earlier than the clock of the first report."""

    def trial():
        reports = run("--json", "-I", 20, "-d", 0.3).reports
        for one, next_one in zip(reports, reports[1:]):
            assert one["start_ns"] + one["duration_ns"] == next_one["start_ns"]
        within(len(reports) > 3, len(reports))
        elapsed = sum(r["duration_ns"] for r in reports)
        within(elapsed >= 250_000_000, elapsed)

    steady(trial)


def test_keys_without_events_are_left_out_of_an_interval(tool, trigger):
    """Including the intervals after their last event."""
    load = trigger("sleepers", 1, 5, 100, -1)
    tracer = tool("--json", "-p", load.pid, "--by", "tid", "-I", 10)
    work(load)
    tracer.await_lines(2)
    reports = tracer.stop().reports
    assert any(r["groups"] for r in reports)
    assert not reports[-1]["groups"] and not reports[-1]["events"]
    assert all(g["count"] for r in reports for g in r["groups"])


def test_what_counts_lies_within_the_report(tool, ends):
    """Each event is after the start of the report and before its end, however much there is to read at the end.
    The times of lines and reports are readings of two clocks, between which a CPU may be held up."""
    load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none"])
    ends.callback(tally.end_process, load)

    def trial():
        for _ in range(6):
            tracer = tool("--json", "syscalls:sys_enter_read fd", "--stream", "-p", load.pid, tool="probe")
            tracer.await_lines(3000)
            *lines, report = map(json.loads, tracer.stop().text.splitlines())
            before, behind = lines[0]["time_ns"], lines[-1]["time_ns"]
            start, end = report["start_ns"], report["start_ns"] + report["duration_ns"]
            within(start <= before and behind <= end, before - start, end - behind)

    steady(trial)


@pytest.mark.parametrize("n", (1, 3))
def test_interval_and_count(run, n):
    assert len(run("--json", 0.05, n).reports) == n


@once
@pytest.mark.parametrize("args", (
    ("-d", 0.2), ("-d", "200ms"), ("-d", "0.2s"), ("-d", "200000us"), ("-I", 200, "-d", 0.2),
    ("0.2", "1"), ("200ms", "1"),
), ids=lambda v: " ".join(map(str, v)))
def test_duration(run, args):
    """The requested duration or longer; no test can say how much longer on a busy machine."""

    def trial():
        elapsed = sum(r["duration_ns"] for r in run("--json", *args).reports)
        assert elapsed < tally.PATIENCE * 10 ** 9
        within(elapsed >= 150_000_000, elapsed)     # as above

    steady(trial)


def test_times_are_those_of_the_clock(run):
    before = time.time_ns()
    report = run("--json", "-d", 0.05).report
    assert before <= report["start_ns"] <= time.time_ns() - report["duration_ns"]
    # The text has each digit; a reader that stores numbers as doubles loses some.
    seconds, ns = divmod(report["start_ns"], 10 ** 9)
    assert report["start"] == time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{ns:09}Z", report


def test_lines_come_as_they_are_made(tool):
    """Into a pipe as to a terminal: the first report comes before the end."""
    with tally.Pipe() as pipe:
        tracer = tool("--json", "-a", 0.05, stdout=pipe.write_end)
        pipe.close_write_end()
        assert pipe.reader.readline().startswith(b'{"tool":"runqlat"')
        assert tracer.process.poll() is None


def test_the_end_of_all_processes_ends_the_run(tool, trigger):
    """-p: the run ends with the last of the processes."""
    loads = [trigger("sleepers", 1, 5, 100, -1) for _ in range(2)]
    tracer = tool("--json", "-p", ",".join(str(load.pid) for load in loads))
    w = work(*loads)
    loads[0].close()
    time.sleep(0.1)
    assert tracer.process.poll() is None
    loads[1].close()
    result = tracer.wait()
    assert result.code == 0 and result.report["events"] + w.holes >= 12, result


@pytest.mark.parametrize("ms", (0, 20, 40, 60, 80, 120, 200))
def test_a_process_that_ends_while_programs_are_loaded(tool, ms):
    """The tool finds it gone, or notices its end, and never waits for it for ever."""
    subject = subprocess.Popen(["sleep", str(ms / 1000)])
    try:
        result = tool("--json", "-p", subject.pid, ready=False).wait()
    finally:
        subject.wait()
    assert result.code == 0 and result.report or result.code == 1 and "no process" in result.stderr
