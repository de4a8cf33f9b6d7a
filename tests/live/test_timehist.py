# SPDX-License-Identifier: BSD-2-Clause
"""timehist and schedmap: switches, one by one, against the kernel's accounting and the tools that sum up; recordings
against live output."""

import functools
import json
import re
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import tally
from accounts import exactly, tool_by_the_books, work  # noqa: F401
from probing import check_header, check_line, nothing_lost
from tally import by_key, scaled

LOADS = (
    ("spin", 3, 30, 0),
    ("sleepers", 10, scaled(60), 50, -1),
    ("yield", 3, scaled(1000), 0),
    ("migrate", 5, scaled(60)),
)

HEAD, RECORD = 128, 96


@pytest.fixture
def timehist(tool):
    return functools.partial(tool, "--json", tool="timehist")


def told(result):
    """The lines, and the only report."""
    assert result.code == 0, result
    *lines, report = (json.loads(line) for line in result.text.splitlines())
    check_header(report)
    assert len({tuple(row) for row in report["rows"]}) <= 1
    return [check_line(line) for line in lines], report


def lines_of(result):
    lines, report = told(result)
    assert len(lines) == report["events"]
    return lines, report


def of_kind(lines, kind):
    return [line for line in lines if line["event"] == kind]


def values(lines, name, tid):
    return [line["values"][name] for line in lines if line["tid"] == tid]


def switches_of(pid, tid, kinds="(?:non)?voluntary"):
    """The kernel's counts of voluntary and other switches."""
    text = Path(f"/proc/{pid}/task/{tid}/status").read_text()
    return sum(int(n) for n in re.findall(rf"(?m)^{kinds}_ctxt_switches:\s+(\d+)", text))


@pytest.mark.parametrize("load", LOADS, ids=lambda load: "-".join(map(str, load)))
def test_books(timehist, tool, trigger, load):
    """Run times add up to the kernel's, with a line for each switch; absences are those of cpudist, moves those of
    migrations."""

    def trial():
        started = trigger(*load)
        tracer = timehist("-p", started.pid, "--migrations")
        others = [tool("--json", "-p", started.pid, "--by", "tid", *more, tool=name)
                  for name, *more in (("cpudist", "--off"), ("migrations",))]
        tids = started.tids()
        before = {tid: switches_of(started.pid, tid) for tid in tids}
        w = work(started)
        after = {tid: switches_of(started.pid, tid) for tid in tids}
        lines, report = lines_of(tracer.stop())
        absences, moves = (other.stop().report for other in others)
        w.blurred = not all(map(nothing_lost, (report, absences, moves)))
        if w.blurred or w.holes:
            return w
        groups = by_key(absences, "tid")
        moved = Counter(line["tid"] for line in of_kind(lines, "migration"))
        switched = of_kind(lines, "switch")
        assert {line["tid"] for line in switched} == set(w.grown)
        for tid, grown in w.grown.items():
            assert sum(values(switched, "run", tid)) == grown.run_ns
            assert len(values(switched, "run", tid)) == after[tid] - before[tid]
            off = [ns for ns in values(switched, "wait", tid) if ns is not None]
            delay = values(switched, "delay", tid)
            assert sum(off) == (groups[tid]["sum"] if off else 0)
            assert report["corrected"] or sum(delay) >= grown.delay_ns
            assert all(line["values"]["wait"] is None or
                       line["values"]["wait"] >= line["values"]["delay"] for line in switched)
        assert moved == Counter({row["tid"]: row["count"] for row in moves["rows"]}) or \
            sum(moved.values()) == moves["events"]
        return w

    exactly(trial)


def test_summary(timehist, trigger):
    """The same figures, added up, with lines or without."""

    def trial():
        load = trigger("migrate", 5, scaled(60))
        tracers = timehist("-p", load.pid, "--migrations", "--summary"), \
            timehist("-p", load.pid, "--summary=only")
        w = work(load)
        lines, report = told(tracers[0].stop())
        silent, only = told(tracers[1].stop())
        assert not silent and len(lines) == report["events"]
        rows = {row["tid"]: row for row in report["rows"]}
        switched = of_kind(lines, "switch")
        assert set(rows) == {line["tid"] for line in lines}
        for tid, row in rows.items():
            runs = values(switched, "run", tid)
            delays = values(switched, "delay", tid)
            known = [ns for ns in runs if ns is not None]
            assert row["slices"] == len(runs) and row["run"] == sum(known)
            assert (row["min"], row["max"]) == (min(known), max(known))
            assert row["avg"] == sum(known) // len(known)
            assert row["delay"] == sum(ns or 0 for ns in delays)
            assert row["migrations"] == len(values(of_kind(lines, "migration"), "from", tid))
        w.blurred = not nothing_lost(report) or not nothing_lost(only)
        if not w.blurred and not w.holes:
            assert report["rows"] == only["rows"]
            assert [row["run"] for row in only["rows"]] == \
                sorted((grown.run_ns for grown in w.grown.values()), reverse=True)
        return w

    exactly(trial)


def test_wakeups(timehist, trigger):
    """A task that went to sleep is woken, at least once; of two tasks, each by the other."""

    def trial():
        load = trigger("pingpong", scaled(800), 0)
        tracer = timehist("-p", ",".join(map(str, load.pids)), "--wakeups")
        before = [switches_of(pid, pid, "voluntary") for pid in load.pids]
        w = work(load)
        slept = [switches_of(pid, pid, "voluntary") - n for pid, n in zip(load.pids, before)]
        lines, report = lines_of(tracer.stop())
        w.blurred = not nothing_lost(report)
        if w.blurred or w.holes:
            return w
        by = Counter((line["values"]["other_tid"], line["tid"])
                     for line in of_kind(lines, "wakeup"))
        (a, b), rounds = load.pids, scaled(800)
        assert slept[1] <= by[a, b] <= rounds
        assert slept[0] - 1 <= by[b, a] <= rounds       # plus its start order
        return w

    exactly(trial)


def test_who_comes_is_who_leaves_next(tool, run, directory):
    """On each CPU, from a recording of everything."""
    path = directory / "switches"
    tool("--record", path, "-d", 0.5, tool="timehist").wait()
    lines, report = lines_of(run("--json", "--read", path, tool="timehist"))
    running, wrong = {}, 0
    for line in lines:
        comes = running.get(line["cpu"], 0)
        wrong += bool(comes) and comes != line["tid"]
        running[line["cpu"]] = line["values"]["other_tid"]
    # The tool's own switches have no lines; and some kernels hide switches.
    assert len(lines) > 10 and wrong <= 10 + len(lines) // 10, (wrong, report)


@pytest.mark.parametrize("order, source", (
    ("delay", "accounting"), ("wait", "accounting"), ("run", "wakeup")))
def test_worst(timehist, trigger, order, source):
    """Exactly the longest of all CPUs."""

    def trial():
        load = trigger("spin", 5, 30, -1)
        scope = ("-p", load.pid, "--source", source)
        tracers = timehist(*scope), timehist(*scope, "--worst", 20, "--sort", order)
        w = work(load)
        lines, report = lines_of(tracers[0].stop())
        _, worst = told(tracers[1].stop())
        found = [row[order] for row in worst["rows"]]
        assert found == sorted(found, reverse=True) and len(found) <= 20
        w.blurred = not nothing_lost(report) or not nothing_lost(worst)
        if w.blurred or w.holes:
            return w
        longest = sorted((line["values"][order] or 0 for line in lines), reverse=True)[:20]
        assert found == [ns for ns in longest if ns]
        for row in worst["rows"]:
            assert row["prev_tid"] != row["tid"] != row["next_tid"]
        return w

    exactly(trial)


def test_worst_includes_those_that_still_run(timehist, trigger):
    """A task with a realtime priority keeps its CPU for most of a second before others can take it. It ends with the
    trial."""

    def trial():
        load = trigger("spin", 1, 600_000, 1, command=("chrt", "-f", "1"))
        tracer = timehist("-p", load.pid, "--worst", 100, "--source", "wakeup")
        try:
            (tid,) = set(load.tids()) - {load.pid}
            waited = tally.books(load.pid, tid).count
            load.go()
            tally.wait_until(lambda: tally.books(load.pid, tid).count > waited, "it begins")
            _, report = told(tracer.stop())
            left = switches_of(load.pid, tid, "nonvoluntary")
        finally:
            tally.end_process(load.process)
        if left:
            raise tally.Blurred         # the kernel throttled it meanwhile
        assert report["events"] == len(report["rows"])
        assert all(row["delay"] > 0 for row in report["rows"])
        (running,) = [row for row in report["rows"] if row["run"] is None]
        assert (running["comm"], running["tid"], running["cpu"]) == ("spin", tid, 1)
        assert (running["next_tid"], running["next_comm"]) == (0, "")

    tally.steady(trial)


def test_record_and_read(timehist, tool, run, trigger, directory):
    """The recording has the same events as the live output."""

    def trial():
        load = trigger("spin", 3, 30, 0)
        path = directory / "switches"
        tracers = timehist("-p", load.pid, "--wakeups", "--migrations"), \
            tool("-p", load.pid, "--record", path, tool="timehist")
        w = work(load)
        lines, report = lines_of(tracers[0].stop())
        recorded = tracers[1].stop()
        assert recorded.code == 0 and path.stat().st_mode & 0o777 == 0o600
        read, again = lines_of(run("--json", "--read", path, "--wakeups", "--migrations",
                                   tool="timehist"))
        assert again["lost"]["ring_full"] == 0
        w.blurred = not nothing_lost(report) or not nothing_lost(again)
        if not w.blurred and not w.holes:
            assert [{**line, "time_ns": 0} for line in lines] == \
                [{**line, "time_ns": 0} for line in read]
            for tid, grown in w.grown.items():
                assert sum(values(of_kind(read, "switch"), "run", tid)) == grown.run_ns
        return w

    exactly(trial)


def test_map(tool, run, trigger, directory):
    """One CPU at a time changes; codes stand for tasks, and each is explained once."""
    load = trigger("spin", 3, 30, 0, comm=b"\x1b[7m")
    path = directory / "switches"
    tracer = tool("--record", path, tool="schedmap")
    work(load)
    tracer.stop()
    text = run("--read", path, tool="schedmap").text
    assert "\x1b" not in text and "\\x1b[7m[" in text
    lines = [line for line in text.splitlines() if re.search(r"  \d\d:\d\d:\d\d\.\d{6}", line)]
    codes = {}
    for line in lines:
        cells, rest = re.fullmatch(r"(.*?)  (\d\d:\d\d:\d\d\.\d{6}.*)", line).groups()
        assert cells.count("*") == 1 and len(cells) % 3 == 0
        code = cells[cells.index("*") + 1:][:2].strip()
        legend = re.search(r"  (\w\w) => (.*)", rest)
        if legend:
            assert legend[1] == code and code not in codes
            codes[code] = legend[2]
        assert code in codes or code in (".", "-")
    assert {str(tid) for tid in load.tids()} <= \
        {re.search(r"\[(\d+)(?:/\d+)?\]$", name)[1] for name in codes.values()}
    rows, report = lines_of(run("--json", "--read", path, tool="schedmap"))
    assert len(rows) == len(lines) == report["events"]
    assert {row["values"]["code"] for row in rows} >= set(codes)


def test_files_of_anybody(tool, run, directory):
    good = directory / "good"
    tool("--record", good, "-d", 0.3, tool="timehist").wait()
    data = good.read_bytes()
    bad = directory / "bad"

    def read(content):
        bad.write_bytes(content)
        return [run("--read", bad, tool=name) for name in ("timehist", "schedmap")]

    def damaged(at, form, value):
        return data[:at] + struct.pack(form, value) + data[at + struct.calcsize(form):]

    wrong = {
        "too short": data[:100], "made by --record": b"x" * 4096,
        "byte order": damaged(12, ">I", 0x01020304), "another version": damaged(8, "I", 3),
        "its header is damaged": damaged(20, "I", 0xffffffff),
        "a record is damaged": damaged(HEAD + 8, "H", 77),
        "something": None,
    }
    for why, content in wrong.items():
        for result in read(content) if content else ():
            assert result.code == 1 and why in result.stderr, (why, result)
    for result in read(damaged(HEAD + 12, "I", 1 << 31)):
        assert result.code == 1
    for result in read(data[:HEAD] + data[HEAD + RECORD:]) + read(data + b"x"):
        assert result.code == 1
    # The writer was killed: the records are shown, and reported as incomplete.
    for result in read(data[:HEAD + 5 * RECORD + 10]):
        assert result.code == 0 and "no end" in result.stderr
    assert run("--read", directory, tool="timehist").code == 1
    assert run("--read", "/dev/zero", tool="schedmap").code == 1
    (directory / "link").symlink_to(good)
    result = run("--record", directory / "link", "-d", 0.1, tool="timehist")
    assert result.code == 1 and "regular file" in result.stderr


def test_columns(timehist, tool, trigger):
    """Long names and ids do not move them; the picture has a letter for each CPU."""
    load = trigger("sleepers", 2, 20, 1000, 0, comm="fifteen-letters")
    tracer = tool("-p", load.pid, "--cpu-picture", "--next", "--wakeups", tool="timehist")
    work(load)
    lines = tracer.stop().text.splitlines()
    titles = next(line for line in lines if line.startswith("time "))
    end = titles.index("run time") + len("run time")
    column = titles.index("  0") + 2
    switched = [line for line in lines if "  next: " in line]
    assert len(switched) > 5
    for line in switched:
        assert line[end:].startswith("  next: ")
        assert re.fullmatch(r"\d+\.\d{3}|-", line[:end].split()[-1])
        assert line[column] in "si" and "fifteen-letters[" in line
    woken = [line for line in lines if "  awakened: " in line]
    assert woken and all(line.index("  awakened: ") == end for line in woken)


def test_usage(run, directory):
    for args in (("--worst", "0"), ("--worst", "5000"), ("--worst", "3", "--next"),
                 ("--sort", "run"), ("--sort", "name", "--worst", "3"), ("--summary=all",),
                 ("--worst", "3", "1"), ("--record", "x", "--read", "y"),
                 ("--read", "x", "-p", "1"), ("--record", "x", "1"),
                 ("--record", "x", "--summary")):
        assert run(*args, tool="timehist").code == 2, args
    assert run("--read", directory / "none", tool="timehist").code == 1
    result = run("-n", "--worst", "3", tool="timehist")
    assert result.code == 0 and "on_switch_show at tp_btf/sched_switch" in result.text
    result = run("--csv", "-d", "0.2", tool="timehist")
    assert result.text.startswith("time_ns,comm,pid,tid,cpu,event,wait,delay,run,other_comm,")


def perf_timehist(path):
    """{tid: [(wait, delay, run), ...]} in ms, from perf's output for a recording."""
    text = subprocess.run((*tally.PERF, "sched", "timehist", "-i", str(path)), capture_output=True,
                          check=True, timeout=tally.PATIENCE).stdout.decode()
    found = {}
    for line in text.splitlines():
        shown = re.match(r"\s*[\d.]+ \[\d+\]\s+.*\[(\d+)(?:/\d+)?\]" + 3 * r"\s+([\d.]+)", line)
        if shown:
            found.setdefault(int(shown[1]), []).append(tuple(map(float, shown.groups()[1:])))
    return found


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
def test_perf_sees_the_same(timehist, trigger, directory):
    """Line by line, within the time between two readings of the clock and a switch."""

    def trial():
        path = directory / "perf.data"
        load = trigger("sleepers", 3, scaled(40), 500, 0,
                       command=(*tally.PERF, "sched", "record", "-q", "-o", str(path), "--"), forks=True)
        tracer = timehist("-p", load.pid)
        w = work(load)
        lines, report = lines_of(tracer.stop())
        load.close()
        w.blurred = not nothing_lost(report)
        if w.blurred or w.holes:
            return w
        perf = perf_timehist(path)
        near = 2 if tally.GUEST else 0.5
        for tid in w.grown:
            ours = [tuple((line["values"][name] or 0) / 1e6 for name in ("wait", "run"))
                    for line in of_kind(lines, "switch") if line["tid"] == tid]
            # perf saw its beginning and end, too, and each time it was off the CPU before.
            pairs = ([(our, their) for our, their in zip(ours, perf[tid][at:])]
                     for at in range(len(perf[tid]) - len(ours) + 1))
            best = min(pairs, key=lambda pairs: sum(abs(our[1] - their[2]) for our, their in pairs))
            assert len(best) == len(ours) > 1
            tally.within(all(abs(our[1] - their[2]) < near for our, their in best), best)
            tally.within(all(abs(our[0] - their[0]) < near for our, their in best[1:]), best)
        return w

    exactly(trial)
