# SPDX-License-Identifier: BSD-2-Clause
"""tally diff: two runs of one load with different numbers; it reports exactly the differences."""

import contextlib
import csv
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

import tally
from tally import once

PREAD = ("syscalls:sys_enter_pread64", "--hist", "count")


@pytest.fixture
def record(tool, trigger, tmp_path):
    """Saves a run of a tool with a load: record(tool, args, load) is the file."""
    saved = []

    def record_run(name, args, load):
        started = trigger(*load)
        path = tmp_path / f"{len(saved)}.json"
        saved.append(path)
        tracer = tool(*args, "-p", started.pid, "--json", "-o", path, tool=name)
        started.go()
        started.done()
        assert tracer.stop().code == 0
        return path

    return record_run


def diff(*args):
    """Returns the exit status and both outputs. Not by a link: diff(1) is another program."""
    done = subprocess.run([tally.BUILD / "tally", "diff", *args], capture_output=True, text=True,
                          timeout=tally.PATIENCE)
    return done.returncode, done.stdout, done.stderr


def rows(*args):
    code, out, err = diff("--json", *args)
    assert code == 0 and not err
    report = json.loads(out)
    assert report["tool"] == "diff"
    return report["rows"]


def figures(*args):
    return {row["figure"]: row for row in rows(*args)}


def test_percentiles_and_counts(record):
    """900 of 1000 reads ask for 64 bytes, then for 512; the others do not change."""
    before = record("probe", PREAD, ("reads", 900, 64, 99, 4096, 1, 65536))
    after = record("probe", (*PREAD, "-I", 20), ("reads", 900, 512, 99, 4096, 1, 65536))
    found = figures(before, after)
    assert {name: (row["before"], row["after"]) for name, row in found.items()} == {
        "count": (1000, 1000),
        "avg": ((900 * 64 + 99 * 4096 + 65536) / 1000, (900 * 512 + 99 * 4096 + 65536) / 1000),
        "p50": (67, 543), "p90": (67, 543), "p99": (4351, 4351), "p99.9": (4351, 4351),
        "max": (65536, found["max"]["after"]),
    }
    assert found["p50"]["verdict"].startswith("grew by 476, to 8.1")
    assert found["p99"]["verdict"] == "same"
    # With several intervals, the maximum may be known only to a bucket.
    assert 65536 <= found["max"]["after"] < 65536 * 17 // 16
    assert found["max"]["verdict"] in ("same", "within a bucket")
    assert found["count"]["change_percent"] == 0

    code, text, _ = diff(before, after)
    assert code == 0 and "grew by 476" in text and "p99.9" in text
    assert len(diff("--csv", before, after)[1].splitlines()) == 1 + len(found)


def test_a_bucket_is_not_a_move(record):
    one, two = (record("probe", PREAD, ("reads", 100, size)) for size in (1024, 1100))
    assert figures(one, two)["p50"]["verdict"] == "within a bucket"


def test_tables(record):
    """Rows are matched by their keys; one is new, one is gone."""
    args = ("syscalls:sys_enter_pread64", "--count", "--by", "count")
    before = record("probe", args, ("reads", 5, 10, 7, 20))
    after = record("probe", args, ("reads", 9, 10, 3, 30))
    found = {(row["before"], row["after"], row["verdict"]) for row in rows(before, after)
             if row["figure"] == "count"}
    assert found == {(5, 9, ""), (7, None, "gone"), (None, 3, "new")}


def test_stacks_and_flame_graph(record, tmp_path):
    """Stacks of reads: exact counts; in a flame graph, shares."""
    args = ("syscalls:sys_enter_pread64",)
    before, after = (record("stackcount", args, ("reads", n, 10)) for n in (100, 250))
    stacks = [row for row in rows(before, after) if row["part"] == "stack"]
    assert sum(row["before"] for row in stacks) == 100
    assert sum(row["after"] for row in stacks) == 250
    path = tmp_path / "diff.svg"
    code, out, err = diff(before, after, "--format", "flame", "-o", path)
    assert (code, out, err) == (0, "", "")
    said = "".join(ET.fromstring(path.read_bytes()).itertext())
    assert "all\n250 events, 100.00%\nbefore: 100 events, 100.00%; +0.00 points" in said


@once
@pytest.mark.parametrize("name, args", (
    ("syscount", ()), ("runqlat", ("--by", "tid")), ("stackcount", ("syscalls:sys_enter_pread64",)),
    ("probe", ("syscalls:sys_enter_pread64", "--by", "count")), ("probe", PREAD),
))
def test_csv_without_rows_has_a_heading(run, record, tmp_path, name, args):
    """The heading of a comparison with rows, but without the keys, which only rows could tell."""
    none = tmp_path / "none.json"
    assert run(*args, "--comm", "no such", "-d", 0.01, "--json", "-o", none, tool=name).code == 0
    many = record(name, args, ("reads", 5, 10, 7, 20))
    (empty, *no_rows), (full, *rows) = (
        list(csv.reader(io.StringIO(diff("--csv", path, path)[1]), strict=True)) for path in (none, many))
    assert rows and not any(row[empty.index("before")] not in ("", "0") for row in no_rows)
    assert set(empty) <= set(full) and {"before", "after"} <= set(empty), (empty, full)


@once
def test_what_cannot_be_compared(record, tmp_path):
    reads = record("probe", PREAD, ("reads", 1, 10))
    other = record("runqlat", (), ("spin", 1, 1, 0))
    bad = tmp_path / "bad.json"
    bad.write_text(reads.read_text() + '{"tool":\n')
    os.mkfifo(tmp_path / "fifo")
    for args, code, says in (
            ((reads, other), 1, "different measurements cannot be compared"),
            ((reads, bad), 1, "bad.json:2: not a report written by tally"),
            ((reads, "/no/such"), 1, "/no/such: No such file or directory"),
            ((reads, tmp_path), 1, "Is a directory"),
            ((reads,), 2, "expected two files: the run before and the run after"),
            ((reads, reads, reads), 2, "two files are compared"),
            ((reads, reads, "--format", "flame"), 1, "needs stacks"),
            ((reads, reads, "--format", "folded"), 2, "not one of"),
    ):
        got, out, err = diff(*args)
        assert (got, out) == (code, ""), (args, got, out, err)
        assert says in err


@once
def test_formats_by_name(record):
    """--format json is --json, as in other tools."""
    files = [record("probe", PREAD, ("reads", 9, 64)) for _ in range(2)]
    for name in ("json", "csv"):
        short = diff(*files, f"--{name}")
        assert diff(*files, "--format", name) == short and short[0] == 0 and short[1], short
    assert diff(*files, "--format", "text") == diff(*files)
    assert "<html" in diff(*files, "--format", "html")[1]


@once
def test_is_no_program_of_its_own():
    """A link of that name would hide diff(1)."""
    assert not (tally.BUILD / "diff").exists()
    assert "diff" in subprocess.run([tally.BUILD / "tally"], capture_output=True, text=True).stdout


@once
def test_lengths_of_the_runs(record):
    """Both are named if they differ by more than 2 %: a difference of 7 % does not prevent the comparison."""
    files = [record("probe", PREAD, ("reads", 9, 64)) for _ in range(2)]
    for path, ns in zip(files, (2_000_000_000, 2_140_000_000)):
        path.write_text(json.dumps({**json.loads(path.read_text()), "duration_ns": ns}))
    code, out, err = diff("--json", *files)
    assert code == 0 and not err
    assert json.loads(out)["note"] == "the runs took 2.00 s and 2.14 s: counts and sums differ for that reason alone"


# --- --test ----------------------------------------------------------------------------------------

COLUMNS = {"syscall": {"role": "key"}, "calls": {"role": "counter"}, "total": {"role": "counter"},
           "avg": {"role": "mean", "of": "total", "per": "calls"}, "max": {"role": "maximum"}}
CALLS = {f"call{i}": 100 * (i + 1) for i in range(10)}


def saved(path, calls, seed, n=30, took=1000):
    """A run of n intervals of a second, each with about this many calls, which take about took nanoseconds each."""
    chance = random.Random(seed)

    def row(name, mean):
        count = round(mean * chance.gauss(1, 0.05))
        total = round(count * took * chance.gauss(1, 0.03))
        return {"syscall": name, "calls": count, "total": total, "avg": total // count, "max": total}

    path.write_text("".join(json.dumps({
        "tool": "syscount", "value": "system calls", "start_ns": 1, "duration_ns": 10 ** 9 + chance.randrange(10 ** 6),
        "events": 1, "rows": [row(*each) for each in calls.items()], "units": {"total": "ns", "avg": "ns", "max": "ns"},
        "columns": COLUMNS}) + "\n" for _ in range(n)))
    return path


def judged(*args):
    code, out, err = diff("--test", "--json", *args)
    assert code in (0, 1) and not err, err
    report = json.loads(out)
    assert (report["different"] > 0) == code
    return report


def test_no_difference_of_one_distribution(tmp_path):
    before, after = (saved(tmp_path / f"{seed}.json", CALLS, seed) for seed in (1, 2))
    report = judged(before, after)
    assert report["tested"] == 30 and not report["rows"] and report["intervals"] == [30, 30], report
    assert report["block"] == [5, 5] and 2 < report["reach_percent"] < 10, report
    code, text, err = diff("--test", before, after)
    assert code == 0 and not err and "30 intervals in blocks of 5" in text
    assert text.splitlines()[-1] == "no difference beyond noise in 30 rows; a change of " \
        f"{report['reach_percent']:.1f} % would have been seen in half of them"
    every = judged(before, after, "--all")["rows"]
    assert {(row["syscall"], row["figure"]) for row in every} == {
        (name, figure) for name in CALLS for figure in ("calls/s", "total/s", "avg")}
    assert {row["verdict"] for row in every} == {"within noise"}
    assert all(row["low_percent"] <= row["change_percent"] <= row["high_percent"] for row in every)


def test_the_row_that_differs(tmp_path):
    before = saved(tmp_path / "before.json", CALLS, 1)
    after = saved(tmp_path / "after.json", {**CALLS, "call4": 750}, 2)
    report = judged(before, after)
    found = {(row["syscall"], row["figure"]): row for row in report["rows"]}
    assert set(found) == {("call4", "calls/s"), ("call4", "total/s")}, report
    calls = found["call4", "calls/s"]
    assert abs(calls["before"] - 500) < 25 and abs(calls["after"] - 750) < 40 and calls["verdict"] == "grew", calls
    assert calls["low_percent"] < 50 < calls["high_percent"] and calls["p"] < 0.001, calls
    assert report["verdict"].startswith("different: 2 of 30 rows beyond noise (largest: syscall call4, ")
    # In the other direction it shrank by a third.
    less = judged(after, before)["rows"]
    assert len(less) == 2 and {row["verdict"] for row in less} == {"shrank"}, less
    assert all(-36 < row["change_percent"] < -31 for row in less), less
    assert not judged(before, after, "--least", "80")["rows"]
    assert judged(before, after, "--least=40%")["different"] == 2
    assert {row["verdict"] for row in judged(before, after, "--least", "80", "--all")["rows"]} == {
        "below --least", "within noise"}


def test_rare_rows_hide_no_others(tmp_path):
    """Rows in few intervals are not tested: they do not make the level of the others stricter."""
    before, after = (saved(tmp_path / f"{seed}.json", CALLS, seed) for seed in (1, 2))
    alone = judged(before, after, "--all")
    for path, times in ((before, 2), (after, 3)):
        reports = [json.loads(line) for line in path.read_text().splitlines()]
        for i in range(100):
            for report in reports[i % 20:i % 20 + times]:
                report["rows"].append({"syscall": f"rare{i}", "calls": 10, "total": 10, "avg": 1, "max": 1})
        path.write_text("".join(json.dumps(report) + "\n" for report in reports))
    some = judged(before, after, "--all")
    assert some["tested"] == alone["tested"] and some["rows"] == alone["rows"], some
    # One more interval of one of them makes it a row.
    reports[29]["rows"].append({"syscall": "rare0", "calls": 10, "total": 10, "avg": 1, "max": 1})
    after.write_text("".join(json.dumps(report) + "\n" for report in reports))
    assert judged(before, after)["tested"] == alone["tested"] + 2


def test_a_mean_that_differs(tmp_path):
    """The same number of calls, each of which takes longer."""
    before = saved(tmp_path / "before.json", {"read": 100}, 1)
    report = judged(before, saved(tmp_path / "after.json", {"read": 100}, 2, took=1200))
    average, = (row for row in report["rows"] if row["figure"] == "avg")
    assert average["unit"] == "ns" and average["low_percent"] < 20 < average["high_percent"], report
    assert not any(row["figure"] == "calls/s" for row in report["rows"]), report


def saved_histograms(path, seed, weight, n=20, spread=0.1):
    """weight: {(first, last) of a bucket: approximate number of values per interval}."""
    chance = random.Random(seed)

    def report():
        buckets = [[first, last, round(mean * chance.uniform(1 - spread, 1 + spread))]
                   for (first, last), mean in weight.items()]
        total = sum(first * n for first, _, n in buckets)
        count = sum(n for *_, n in buckets)
        return {"tool": "runqlat", "value": "wait", "unit": "count", "start_ns": 1, "duration_ns": 10 ** 9,
                "events": count, "groups": [{
                    "key": {}, "count": count, "sum": total, "min": buckets[0][0], "avg": total // count,
                    "max": buckets[-1][1], "p50": 0, "buckets": buckets}]}

    path.write_text("".join(json.dumps(report()) + "\n" for _ in range(n)))
    return path


@pytest.mark.parametrize("before, after, said", (
    ({0: 9, 1: 1}, {0: 1, 1: 9}, "grew by 0.80, to 9.00 times"),
    ({0: 1, 1: 9}, {0: 9, 1: 1}, "shrank by 0.80, to 0.111 times"),
    ({0: 1, 1: 1}, {0: 4, 1: 4}, "same"),
    ({0: 4}, {0: 1, 1: 1}, "grew by 0.50"),
))
def test_averages_of_counts_have_decimals(tmp_path, before, after, said):
    """The mean length of a queue is mostly below 1, such as 0.1 or 0.9."""
    paths, means = [], []
    for name, values in (("before", before), ("after", after)):
        paths.append(saved_histograms(tmp_path / f"{name}.json", 1, {(v, v): n for v, n in values.items()}, spread=0))
        means.append(sum(v * n for v, n in values.items()) / sum(values.values()))
    average = figures(*paths)["avg"]
    assert [average["before"], average["after"]] == means and average["verdict"] == said


def test_percentiles_that_differ(tmp_path):
    """The median doubles from about 100 to about 200; p99 stays, and a step to the next bucket is no change."""
    few = {(640, 671): 40}
    before = saved_histograms(tmp_path / "before.json", 1, {(100, 103): 960, **few})
    near = saved_histograms(tmp_path / "near.json", 2, {(104, 107): 960, **few})
    after = saved_histograms(tmp_path / "after.json", 3, {(200, 207): 960, **few})
    found = {row["figure"]: row for row in judged(before, after, "--all")["rows"]}
    assert set(found) == {"count/s", "avg", "p50", "p90", "p99", "p99.9"}
    assert {name for name, row in found.items() if row["verdict"] == "grew"} == {"avg", "p50", "p90"}, found
    assert (found["p50"]["before"], found["p50"]["after"]) == (103, 207)
    # The confidence interval includes a bucket on either side.
    assert found["p50"]["low_percent"] < 95 and found["p50"]["high_percent"] > 107, found
    found = {row["figure"]: row["verdict"] for row in judged(before, near, "--all")["rows"]}
    assert found["p50"] == found["p99"] == "within noise" and found["avg"] == "grew", found


def test_new_and_gone_rows_with_hostile_names(tmp_path):
    before = saved(tmp_path / "before.json", {"read": 100}, 1)
    after = saved(tmp_path / "after.json", {"read": 100, "\x1b[31mhostile\n": 70}, 2)
    for pair, verdict in (((before, after), "new"), ((after, before), "gone")):
        report = judged(*pair)
        assert {(row["figure"], row["verdict"]) for row in report["rows"]} == {
            ("calls/s", verdict), ("total/s", verdict)}
        for args in ((), ("--json",), ("--csv",), ("--format", "html")):
            code, out, err = diff("--test", *pair, *args)
            assert code == 1 and not err and "\x1b" not in out and "hostile\n" not in out, out
            assert "\\x1b[31mhostile\\x0a" in out.replace("\\\\", "\\"), out


def test_same_input_same_output(tmp_path):
    before = saved(tmp_path / "before.json", CALLS, 1)
    after = saved(tmp_path / "after.json", {**CALLS, "call2": 400}, 2, n=57)
    for args in (("--json",), ("--all",), ("--csv", "--all")):
        assert diff("--test", before, after, *args) == diff("--test", before, after, *args)
    same = judged(before, before, "--all", "--least", "0")
    assert not same["different"] and all(row["p"] == 1 and row["change_percent"] == 0 for row in same["rows"])


@once
def test_without_noise_to_compare_with(record, tmp_path):
    """The status is neither 0 nor 1, which CI would take for an answer, and the message says how to get intervals."""
    reads = record("probe", PREAD, ("reads", 9, 64))
    stacks = record("stackcount", ("syscalls:sys_enter_pread64",), ("reads", 9, 64))
    few = saved(tmp_path / "few.json", CALLS, 1, n=11)
    enough = saved(tmp_path / "enough.json", CALLS, 1, n=12)
    empty = saved(tmp_path / "empty.json", {}, 1)
    for args, code, says in (
            ((reads, reads), 125, "has 1 interval; --test needs at least 12"),
            ((reads, reads), 125, "probe -I 1000 -d 30 --json -o FILE, or a longer window of tally record"),
            ((enough, few), 125, "few.json has 11 intervals"),
            ((stacks, stacks), 125, "--test compares tables and histograms"),
            ((empty, empty), 125, "nothing can be tested"),
            ((enough, "/no/such"), 125, "No such file"),
            ((enough, enough, "--least", "some"), 2, "expected a change in percent"),
            ((enough, enough, "--least", "-1"), 2, "expected a change in percent"),
            ((enough, enough, "--format", "flame"), 2, "cannot be combined with a flame graph"),
            ((enough,), 2, "expected two files: the run before and the run after"),
    ):
        got, out, err = diff("--test", *args)
        assert (got, out) == (code, ""), (args, got, out, err)
        assert says in err, (args, err)
    assert diff("--test", enough, enough)[0] == 0
    for option in ("--all", "--least=3"):
        got, out, err = diff(option, enough, enough)
        assert (got, out) == (2, "") and f"{option[:5]}" in err and "needs --test" in err


# Calls getppid, getuid and getgid this often every 5 ms, in two processes: one calls the third twice as often.
LOAD = """
import os, sys, time
times = tuple(map(int, sys.argv[1:]))
child = os.fork() if len(times) > 3 else -1
open("/proc/self/comm", "w").write("alike" if child == 0 else "changed")
mine = times[3:] if child == 0 else times[:3]
print(child, flush=True) if child else None
parent = os.getppid()
while child or os.getppid() == parent:
    for call, n in zip((os.getppid, os.getuid, os.getgid), mine):
        for _ in range(n):
            call()
    time.sleep(0.005)
"""


class Load:
    def __init__(self, *times):
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOAD, *map(str, times)], stdout=subprocess.PIPE, text=True)
        child = self.process.stdout.readline().strip()
        self.pids = f"{self.process.pid}" if child == "-1" else f"{self.process.pid},{child}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def three_runs(tool, tmp_path, pids, seconds):
    """Three runs at the same time, each for another system call: all of them see the machine equally busy."""
    paths = [tmp_path / f"{call}-{seconds}.json" for call in ("getppid", "getuid", "getgid")]
    tracers = [tool("--by", "comm", "-e", path.name.split("-")[0], "-p", pids, "-I", seconds * 50, "-d", seconds,
                    "--json", "-o", path, tool="syscount") for path in paths]
    assert all(tracer.wait().code == 0 for tracer in tracers)
    return paths


def test_twice_the_load(tool, tmp_path):
    """Two runs of an equal load show no difference; if one of two processes does twice as much, it is named."""
    with Load(20, 20, 40, 20, 20, 20) as load:
        for seconds in (2, 4, 8, 16, 32):
            one, same, twice = three_runs(tool, tmp_path, load.pids, seconds)
            alike = judged(one, same, "--least", "20", "--all")
            assert not alike["different"] and {row["comm"] for row in alike["rows"]} >= {"alike", "changed"}, alike
            if alike["reach_percent"] < 35:
                break
        else:
            pytest.skip(f"another load on this machine hides all below {alike['reach_percent']} %")
    report = judged(one, twice, "--least", "20")
    found = {(row["comm"], row["figure"]): row for row in report["rows"]}
    assert set(found) >= {("changed", "calls/s")} and {comm for comm, _ in found} == {"changed"}, report
    assert 80 < found["changed", "calls/s"]["change_percent"] < 125, report


def test_windows_of_a_recording(tool, tmp_path):
    """Interval by interval: a window is the same as itself, and differs from twenty times the calls."""
    path = tmp_path / "recording"

    def begins():
        with contextlib.closing(sqlite3.connect(path)) as db:
            return [ns for ns, in db.execute("SELECT start_ns FROM interval ORDER BY 1")]

    lines = ("syscount --by comm -e getppid", "syscount --hist -e getppid --by comm")
    recorder = tool("-o", path, *lines, "--comm", "changed", "0.1", tool="record")
    first = len(begins())
    edges = []
    for times in (5, 100):
        with Load(times, 0, 0):
            tally.wait_until(lambda: len(begins()) > first + 3, "no interval was written")
            edges.append(begins()[-2])
            first = len(begins())
            tally.wait_until(lambda: len(begins()) > first + 25, "no interval was written")
            first = len(begins())
            edges.append(begins()[-2])
    assert recorder.stop().code == 0
    few, many = (f"{path}@@{a / 1e9:.9f}-@{b / 1e9:.9f}" for a, b in (edges[:2], edges[2:]))
    for line in lines:
        assert not judged(few, few, line)["different"]
        report = judged(few, many, line)
        assert any(row["figure"].endswith("/s") and row["verdict"] == "grew" for row in report["rows"]), report
        assert all(n >= 20 for n in report["intervals"]), report
    assert diff("--test", few, many)[0] == 125         # which of the two?
