# SPDX-License-Identifier: BSD-2-Clause
"""replay: a recording as a load, with as many threads and wakeups and as much run time as recorded, and with an end
whatever the file contains."""

import random
import struct
import time

import pytest

import tally
from accounts import work
from probing import nothing_lost
from tally import BUILD, scaled, steady, within

HEAD, RECORD = 128, 96
SWITCH, ARRIVAL, _, WAKEUP, MIGRATION = range(5)


@pytest.fixture
def replay(run):
    def replayed(*args):
        result = run("--json", *args, tool="replay")
        assert result.code == 0, result
        return [tally.json.loads(line) for line in result.text.splitlines()]

    return replayed


@pytest.fixture
def record(tool, trigger, directory):
    """Records a trigger. Returns the file, the load's Work, and whether nothing was lost."""

    def recorded(name, *args, **kwargs):
        path = directory / "recording"
        load = trigger(name, *args, **kwargs)
        tracer = tool("--json", "--record", path, "-p", ",".join(map(str, load.pids)),
                      tool="timehist")
        w = work(load)
        return path, w, nothing_lost(tracer.stop().report)

    return recorded


def rows_by_tid(report):
    return {row["tid"]: row for row in report["rows"]}


def check_counts(rows):
    assert all(row["wakeups"] == row["replayed_wakeups"] for row in rows)
    # Other work of the thread may make a step late, but never early.
    assert all(row["replayed_run"] >= row["run"] for row in rows)


def test_run_times(record, replay):
    """Run time is that of the kernel's accounting, and of the replay again; it takes at least as long as its sleeps."""

    def trial():
        path, w, whole = record("phases", 0, 4, scaled(80))
        (report,) = replay(path)
        (row,) = report["rows"]
        check_counts([row])
        (grown,) = w.grown.values()
        if not whole or (w.holes and row["run"] != grown.run_ns):
            raise tally.Blurred
        assert row["run"] == grown.run_ns and row["switches"] >= 4
        # The thread reads the clock every 20 us while it computes.
        within(row["replayed_run"] <= row["run"] * 1.02 + 2000000, row)
        slept = 4 * scaled(80) * 1000000
        assert row["replayed_end"] >= row["run"] + slept * 9 // 10

    steady(trial)


def test_tasks_and_wakeups(record, replay):
    """One thread per task; each wakes others as often as was recorded."""
    path, w, _ = record("pingpong", scaled(400), -1, comm="ping")
    for report in replay("-r", 3, path):
        rows = rows_by_tid(report)
        assert set(rows) == set(w.grown)
        check_counts(rows.values())
        assert sum(row["wakeups"] for row in rows.values()) > 0


def test_seen_by_others(record, run):
    """schedlat measures a replay: the same run times under the same names; and the replay's own report is right.

    A thread on an emulated CPU that is held up while it computes runs longer by any clock: there, only the second part
    is checked.
    """

    def trial():
        path, w, whole = record("spin", 3, scaled(60), -1, comm="again")
        out = path.with_suffix(".out")
        result = run("--json", "--by", "tid,comm", "--comm", "again", "--", BUILD / "replay", "--json", "-o", out, path,
                     tool="schedlat")
        assert result.code == 0, result
        rows, said = result.report["rows"], tally.json.loads(out.read_text())["rows"]
        check_counts(said)
        if not whole or not nothing_lost(result.report):
            raise tally.Blurred
        recorded = sum(grown.run_ns for grown in w.grown.values())
        assert len(rows) == len([grown for grown in w.grown.values() if grown.run_ns])
        # Threads exist before they begin, and wait at a gate.
        runtime, replayed = sum(row["runtime"] for row in rows), sum(row["replayed_run"] for row in said)
        within(replayed <= runtime * 1.001 <= replayed * 1.05 + 10e6, replayed, rows)
        if not tally.GUEST:
            within(recorded <= runtime * 1.001 <= recorded * 1.05 + 10e6, recorded, rows)

    steady(trial)


def test_choice(record, replay, run):
    path, w, _ = record("pingpong", scaled(200), -1)
    first, second = sorted(w.grown)
    (report,) = replay("-p", first, path)
    assert [row["tid"] for row in report["rows"]] == [first]
    # The task that would wake it is not replayed: it sleeps for as long instead.
    assert report["rows"][0]["wakeups"] == 0
    (report,) = replay("--comm", "po*", path)
    assert [row["tid"] for row in report["rows"]] == [second]
    assert run("-p", 1, path, tool="replay").code == 1
    assert w.grown


@tally.once
def test_losses_are_said(record, replay):
    """Each replay's report has the losses of the recording."""
    path, _, _ = record("spin", 1, 5, 0)
    (report,) = replay(path)
    # The loss counters are at the end of the file, one for each reason.
    end = -8 * (len(report["lost"]) + len(report["inexact"]))
    data = bytearray(path.read_bytes())
    data[end:end + 8] = struct.pack("Q", 7)
    path.write_bytes(data)
    (report,) = replay(path)
    assert report["lost"]["map_full"] == 7


def record_of(kind, at_ns, cpu, task, other, off, wait, ran):
    def who(tid):
        return struct.pack("II16s", tid, tid, b"hostile")

    return struct.pack("QHHI", at_ns, kind, 0, cpu) + who(task) + who(other) + \
        struct.pack("QQQII", off, wait, ran, 0, 0)


@tally.once
@pytest.mark.parametrize("seed", range(4))
def test_ends_always(record, run, seed):
    """Records in random order, tasks that wake each other in circles, and impossible times."""
    rng = random.Random(seed)
    path, _, _ = record("spin", 1, 1, 0)
    head, records, now = path.read_bytes()[:HEAD], [], 1000000
    for _ in range(1000):
        now += rng.choice((0, 1, 100, 2000)) - rng.choice((0, 0, 500))
        times = [rng.choice((0, 1000, 1 << 63, (1 << 64) - 1)) for _ in range(3)]
        records.append(record_of(rng.choice((SWITCH, SWITCH, ARRIVAL, WAKEUP, WAKEUP, MIGRATION)),
                                 now, rng.randrange(4), rng.randrange(6), rng.randrange(6), *times))
    path.write_bytes(head + b"".join(records))
    began = time.monotonic()
    result = run("--json", path, tool="replay")
    assert result.code == 0, result
    assert "has no end" in result.stderr
    check_counts(tally.json.loads(result.text)["rows"])
    assert time.monotonic() - began < tally.PATIENCE


@tally.once
def test_usage(run, directory):
    nothing = directory / "nothing"
    nothing.write_bytes(b"no recording")
    for args, code, said in (((), 2, "no file given"), (("-r", "0", "x"), 2, "-r"),
                             ((directory / "none",), 1, "No such file"), ((nothing,), 1, "too short"),
                             (("a", "b"), 2, "one file"), (("-p", "x", "a"), 2, "-p")):
        result = run(*args, tool="replay")
        assert result.code == code and said in result.stderr and not result.text
