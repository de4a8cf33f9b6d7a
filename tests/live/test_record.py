# SPDX-License-Identifier: BSD-2-Clause
"""record, show, triage FILE: a window of a recording has exactly the counts of the tools; if the recorder is killed,
the disk is full or the file is damaged, only the last interval is lost."""

import contextlib
import csv
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import services
import tally
from tally import PAGE, once

pytest.importorskip("sqlite3")

GETPPID, READ = 110, 0
THREADS = 2

# As in test_run.py: lines that each count a known number of calls, and that number in their reports.
LINES = {
    "syscount -e getppid": lambda r: sum(row["calls"] for row in r["rows"]),
    "syscount --failed -e read": lambda r: sum(row["errors"] for row in r["rows"]),
    "probe syscalls:sys_enter_getppid": lambda r: sum(row["count"] for row in r["rows"]),
    "probe syscalls:sys_exit_read --filter 'ret == -9' --sum ret": lambda r: -sum(row["sum"] for row in r["rows"]) // 9,
    "stat -e syscalls:sys_enter_getppid": lambda r: sum(row["count"] for row in r["rows"]),
    "stackcount -K syscalls:sys_enter_getppid": lambda r: sum(s["value"] for s in r["stacks"]),
    "trace --summary -e read": lambda r: sum(row["calls"] for row in r["rows"]),
    "syscount --hist --by tid -e getppid": lambda r: sum(g["count"] for g in r["groups"]),
    "probe syscalls:sys_enter_getppid --by comm,tid": lambda r: sum(row["count"] for row in r["rows"]),
    "syscount --by tid,errno -e read": lambda r: sum(row["calls"] for row in r["rows"]),
}


def of(result):
    assert result.code == 0, result
    return result.reports


def show(run, path, *args):
    return of(run(str(path), *args, "--json", tool="show"))


def query(path, sql):
    """The result of a query by any SQLite client. Connections are closed: the last one to close moves the journal into
    the file."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        return db.execute(sql).fetchall()


def intervals(path):
    """(id, start, duration) of each interval, as any SQLite client reads them."""
    return query(path, "SELECT id, start_ns, duration_ns FROM interval ORDER BY id")


class Recorder:
    """A tally record, and the intervals that it has written."""

    def __init__(self, path, *args, **kwargs):
        self.tool = tally.Tool("-o", str(path), *args, tool="record", **kwargs)
        self.path = path

    def await_intervals(self, n):
        tally.wait_until(
            lambda: os.path.exists(self.path) and len(intervals(self.path)) >= n, "no interval was written"
        )

    def __enter__(self):
        self.tool.ready()
        return self

    def __exit__(self, *_):
        self.tool.close()


def test_a_window_has_what_was_counted_in_it(run, trigger, tmp_path):
    """Ten lines over many intervals: they add up to the number of calls, and so do those of two windows."""
    path = tmp_path / "recording"
    each = tally.scaled(6000)
    load = trigger("syscalls", THREADS, f"{GETPPID}:{each}", f"{READ}:{each // 2}")
    with Recorder(path, *LINES, "-p", load.pid, "0.05") as recorder:
        load.go()
        load.done()
        load.settle()
        recorder.await_intervals(4)
        assert recorder.tool.stop().code == 0
    found = intervals(path)
    # Intervals follow each other, as those of each line do.
    assert all(a[1] + a[2] == b[1] for a, b in zip(found, found[1:])), found
    middle = found[len(found) // 2][1]
    for line, count in LINES.items():
        name = line.replace("'", "")
        calls = THREADS * (each if "getppid" in line else each // 2)
        # The trigger itself reads twice from its standard input, which does not fail.
        more = 2 if line.startswith(("trace", "syscount --by")) else 0
        whole, = show(run, path, name)
        assert whole["command"] == name and sum(whole["lost"].values()) == 0, whole
        assert calls <= count(whole) <= calls + more, (line, whole)
        parts = [
            show(run, path, name, *args)
            for args in (("--to", f"@{middle / 1e9:.9f}"), ("--from", f"@{middle / 1e9:.9f}"))
        ]
        assert sum(count(r) for part in parts for r in part) == count(whole), line
        apart = show(run, path, name, "--each")
        assert len(apart) == len(found) and sum(map(count, apart)) == count(whole), line
        assert whole["duration_ns"] == sum(r["duration_ns"] for r in apart)


def test_histograms_add_up(run, trigger, tmp_path):
    """Buckets, sums, minima and maxima add up to those of one long interval."""
    path = tmp_path / "recording"
    load = trigger("syscalls", THREADS, f"{GETPPID}:{tally.scaled(20000)}")
    with Recorder(path, "syscount --hist --by tid -e getppid", "-p", load.pid, "0.02") as recorder:
        load.go()
        load.done()
        load.settle()
        recorder.await_intervals(2)
        recorder.tool.stop()
    whole, = show(run, path, "syscount")
    apart = show(run, path, "syscount", "--each")
    for group in whole["groups"]:
        parts = [g for r in apart for g in r["groups"] if g["key"] == group["key"]]
        buckets = {}
        for low, high, n in (bucket for part in parts for bucket in part["buckets"]):
            buckets[low, high] = buckets.get((low, high), 0) + n
        assert [[*ends, n] for ends, n in sorted(buckets.items())] == group["buckets"]
        assert (group["count"], group["sum"]) == tuple(sum(p[name] for p in parts) for name in ("count", "sum"))
        assert (group["min"], group["max"]) == (min(p["min"] for p in parts), max(p["max"] for p in parts))


# Lines of tables, and the column that counts their events if their text has a total.
TABLES = {
    "softirqs": "count", "hardirqs": "count", "timers": "count", "runqlat --table --by comm": "count",
    "cpudist --table --by comm": "count", "schedlat": "switches", "syscount --by comm": "calls",
    "trace --summary": "calls", "filetop": None, "faults": None, "migrations": None,
    "stat -e cs --by comm": None, "probe sched:sched_switch --by comm": None,
}


def totals(text):
    return [line for line in text.splitlines() if re.match(" *total ", line)]


@once
def test_a_table_has_the_total_of_the_tool(run, tmp_path):
    """Where the text of a tool has a total, so has that of one interval, of several, and of the first rows."""
    path = tmp_path / "recording"
    with Recorder(path, *TABLES, "0.2") as recorder:
        recorder.await_intervals(3)
        assert recorder.tool.stop().code == 0
    for line, column in TABLES.items():
        name, *args = line.split()
        live = run(*args, "-d", "0.3", tool=name)
        assert live.code == 0 and bool(totals(live.text)) == bool(column), live
        for more in ((), ("--each",), ("--top", "1")):
            result = run(str(path), line, *more, tool="show")
            reports = show(run, path, line, *(more if more == ("--each",) else ()))         # with all rows
            assert result.code == 0 and any(len(report["rows"]) > 1 for report in reports), (result, reports)
            found = totals(result.text)
            if not column:
                assert not found, result
                continue
            least = 1 if name in ("schedlat", "syscount", "trace") else 2
            sums = [sum(row[column] for row in report["rows"]) for report in reports if len(report["rows"]) >= least]
            assert len(found) == len(sums), (result, reports)
            assert all(f"{n:,}" in line.split() for line, n in zip(found, sums)), (result, sums)


# Does each thing that ten tools count this many times.
ACTING = """
import os, signal, socket, subprocess, sys, time
open("/proc/self/comm", "w").write("acting")
signal.signal(signal.SIGUSR1, lambda *_: None)
print(flush=True)
sys.stdin.readline()
with (socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sender, socket.socket() as free):
    receiver = server.accept()[0]
    free.bind(("127.0.0.1", 0))
    for n in range(int(sys.argv[1])):
        with open(sys.argv[2], "wb", buffering=0) as file:
            file.write(bytes(1000))
        try:
            open("/nosuch/file")
        except OSError:
            pass
        os.kill(os.getpid(), signal.SIGUSR1)
        sender.sendall(bytes(500))
        receiver.recv(500)
        with socket.socket() as refused:
            refused.connect_ex(free.getsockname())
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
        time.sleep(0.01)
    print(flush=True)
    sys.stdin.readline()
"""


def lines_of(found, **wanted):
    """The number of single events with these values."""
    return sum(all({**line, **line["values"]}.get(name) == value for name, value in wanted.items()) for line in found
               if "time_ns" in line)


def rows_of(found, figure, **wanted):
    return sum(row[figure] for report in found for row in report.get("rows", ())
               if all(row[name] == value for name, value in wanted.items()))


# {line: a check that it has all of them}
TEN = {
    "opensnoop --failed": lambda found, n: lines_of(found, path="/nosuch/file") == n,
    "signals": lambda found, n: lines_of(found, signal="SIGUSR1", result="delivered") == n,
    "connsnoop": lambda found, n: lines_of(found, event="connect", error="ECONNREFUSED") == n,
    "exitsnoop": lambda found, n: lines_of(found, comm="true", status=0) == n,
    "execsnoop": lambda found, n: lines_of(found, path="/bin/true", error=None) == n,
    "syscount -e kill": lambda found, n: rows_of(found, "calls") == n,
    "tcptop": lambda found, n: rows_of(found, "sent") == rows_of(found, "received") == 500 * n,
    "filetop --by comm": lambda found, n: rows_of(found, "write_bytes", comm="acting") == 1000 * n,
    "fsdist": lambda found, n: sum(
        g["count"] for r in found for g in r.get("groups", ()) if g["key"]["op"] == "write"
    )
    == n,
    "probe syscalls:sys_exit_kill --sum ret+3": lambda found, n: rows_of(found, "sum") == 3 * n,
}


@once
def test_ten_tools_count_what_was_done(run, tmp_path):
    """Known numbers of ten different things: in the whole recording, in two windows together, and in all intervals."""
    path, n = tmp_path / "recording", 60
    with subprocess.Popen([sys.executable, "-c", ACTING, str(n), str(tmp_path / "written")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as load:
        load.stdout.readline()
        with Recorder(path, *TEN, "-p", load.pid, "--follow-forks", "0.2") as recorder:
            began = time.time_ns()
            load.stdin.write("\n")
            load.stdin.flush()
            load.stdout.readline()
            half = (began + time.time_ns()) // 2
            recorder.await_intervals(len(intervals(path)) + 2)
            assert recorder.tool.stop().code == 0
        load.stdin.close()
    found = intervals(path)
    middle = f"@{min((start for _, start, _ in found), key=lambda start: abs(start - half)) / 1e9:.9f}"
    for line, has in TEN.items():
        def shown(*args, line=line):
            ran = run(str(path), line, *args, "--json", tool="show")
            assert ran.code == 0, ran
            return [json.loads(each) for each in ran.text.splitlines()]

        halves = shown("--to", middle), shown("--from", middle)
        for each in shown(), halves[0] + halves[1], shown("--each"):
            assert has(each, n), (line, each)
        assert len(found) > 3 and not has(halves[0], n) and not has(halves[1], n), line


def last_of_bucket(index):
    """The largest value of a bucket in bpf/lib/hist.h: one value each below 32, then 16 buckets of equal width per
    power of two."""
    if index < 32:
        return index
    width = 2 << (index - 32) // 16
    return (16 + index % 16) * width + width - 1


def percentile(buckets, most, per_cent):
    seen, rank = 0, (sum(buckets.values()) * per_cent + 99) // 100
    for index, n in sorted(buckets.items()):
        seen += n
        if seen >= rank:
            return min(last_of_bucket(index), most)
    raise AssertionError(buckets)


@once
def test_tables_have_their_percentiles(run, tmp_path):
    """Percentiles over several intervals, from the buckets that the file has for each: any SQLite client can add them
    up."""
    path = tmp_path / "recording"
    with Recorder(path, "softirqs", "0.1") as recorder:
        recorder.await_intervals(5)
        recorder.tool.stop()
    whole, = show(run, path, "softirqs")
    (table,), = query(path, "SELECT name FROM shape WHERE kind = 'tables'")
    expected, duration_ns = {}, sum(duration for _, _, duration in intervals(path))
    for name, count, total, most, buckets in query(
        path, f'SELECT softirq, _count, _sum, _max, _buckets FROM "{table}"'
    ):
        row = expected.setdefault(name, {"count": 0, "total": 0, "max": 0, "buckets": {}})
        row.update(count=row["count"] + count, total=row["total"] + total, max=max(row["max"], most))
        for index, n in json.loads(buckets):
            row["buckets"][index] = row["buckets"].get(index, 0) + n
    assert {row["softirq"] for row in whole["rows"]} == set(expected) and whole["duration_ns"] == duration_ns
    for row in whole["rows"]:
        of_it = expected[row["softirq"]]
        assert {name: row[name] for name in ("count", "total", "max")} == {
            name: of_it[name] for name in ("count", "total", "max")
        }
        assert (row["p50"], row["p99"]) == tuple(
            percentile(of_it["buckets"], of_it["max"], each) for each in (50, 99)
        ), row
        assert row["avg"] == row["total"] // row["count"]
        assert row["cpu_percent"] == pytest.approx(100 * row["total"] / duration_ns, abs=0.001), row


def test_switches_are_recorded(run, trigger, tmp_path):
    """Lines of timehist and schedmap are shown again; the list has the number of events of each line."""
    path = tmp_path / "recording"
    lines = "timehist", "schedmap", "syscount -e getppid", "probe syscalls:sys_enter_getppid", "stat -e cs"
    load = trigger("syscalls", THREADS, f"{GETPPID}:{tally.scaled(1000)}")
    with Recorder(path, *lines, "-p", load.pid, "0.1") as recorder:
        load.go()
        load.done()
        recorder.await_intervals(2)
        assert recorder.tool.stop().code == 0
    listed = {row["line"]: row["events"] for row in of(run(str(path), "--json", tool="show"))[0]["rows"]}
    assert listed["probe syscalls:sys_enter_getppid"] == THREADS * tally.scaled(1000)
    assert listed.pop("stat -e cs") is None
    for line, events in listed.items():
        shown = [json.loads(text) for text in run(str(path), line, "--json", tool="show").text.splitlines()]
        assert events == sum(one["events"] for one in shown if "tool" in one), (line, listed)
        if line in ("timehist", "schedmap"):
            assert events == sum("tool" not in one for one in shown) > 0, (line, listed)


def test_single_events_and_their_texts(run, tmp_path):
    """A hostile name is escaped in the file as it is on the screen, and is unchanged when shown."""
    path = tmp_path / "recording"
    with Recorder(path, "exitsnoop", "execsnoop", "10") as recorder:
        pids = []
        for _ in range(3):
            child = subprocess.Popen(["/bin/sh", "-c", "printf '\\033[2J;x' > /proc/self/comm; exit 3; :"])
            assert child.wait() == 3
            pids.append(child.pid)
        assert recorder.tool.stop().code == 0
    shown = run(str(path), "exitsnoop", "--json", tool="show")
    assert shown.code == 0, shown
    ends = [line for line in map(json.loads, shown.text.splitlines()) if line.get("pid") in pids]
    assert [(line["pid"], line["values"]["status"]) for line in ends] == [(pid, 3) for pid in pids], ends
    text = run(str(path), "all", tool="show").text
    assert all(c == "\n" or c.isprintable() for c in text)
    (table,), *_ = query(path, "SELECT name FROM shape WHERE kind = 'lines' AND name LIKE 'exitsnoop%'")
    comms = {comm for comm, in query(path, f'SELECT _comm FROM "{table}"')}
    assert all(comm.isprintable() for comm in comms), comms


@once
def test_it_is_listed(run, tmp_path):
    path = tmp_path / "recording"
    assert run("-o", str(path), "runqlat --by comm", "syscount", "0.1", "3", tool="record").code == 0
    report, = show(run, path)
    assert [row["line"] for row in report["rows"]] == ["runqlat --by comm", "syscount"]
    assert [row["intervals"] for row in report["rows"]] == [3, 3]
    assert run(str(path), "offcputime", tool="show").code == 2
    assert run(str(path), "all", "--csv", tool="show").code == 2
    assert run(str(path), "syscount", "--at", "yesterday", tool="show").code == 2
    rows = run(str(path), "syscount", "--csv", tool="show")
    assert rows.code == 0 and len(rows.text.splitlines()) > 1
    # A second recorder continues the file.
    assert run("-o", str(path), "syscount", "0.1", "2", tool="record").code == 0
    assert [row["intervals"] for row in show(run, path)[0]["rows"]] == [3, 5]


@once
def test_stacks_keep_their_names(run, trigger, tmp_path):
    """The program has exited but its names are there; stack formats are written from them."""
    path = tmp_path / "recording"
    load = trigger("syscalls", 1, f"{GETPPID}:{tally.scaled(2000)}")
    with Recorder(path, "stackcount syscalls:sys_enter_getppid", "-p", load.pid, "0.05") as recorder:
        load.go()
        load.done()
        recorder.await_intervals(2)
        recorder.tool.stop()
    load.close()
    report, = show(run, path, "stackcount")
    names = {frame["name"] for stack in report["stacks"] for frame in stack["frames"]}
    assert "main" in names or "worker" in names or "syscall" in names, names
    folded = run(str(path), "stackcount", "--format", "folded", tool="show")
    assert folded.code == 0 and sum(int(line.rsplit(" ", 1)[1]) for line in folded.text.splitlines()) == \
        sum(stack["value"] for stack in report["stacks"])
    pictures = [run(str(path), "stackcount", "--format", name, tool="show") for name in ("flame", "svg")]
    assert all(picture.code == 0 and "</svg>" in picture.text for picture in pictures), pictures


@once
def test_pictures_do_not_add_up(run, trigger, tmp_path):
    """A thread that is in every picture is one thread."""
    path, sleepers = tmp_path / "recording", 5
    load = trigger("sleepers", sleepers, 1, 1000, -1)
    with Recorder(path, "snap --by state", "snap -g", "-p", load.pid, "0.05") as recorder:
        recorder.await_intervals(3)
        recorder.tool.stop()
    rows, = show(run, path, "snap --by state")
    assert sum(row["threads"] for row in rows["rows"]) == rows["events"] == sleepers + 1, rows
    stacks, = show(run, path, "snap -g")
    assert sum(stack["value"] for stack in stacks["stacks"]) == stacks["events"] == sleepers + 1, stacks
    text = run(str(path), "snap --by state", tool="show").text
    assert text.startswith(f"snap: {sleepers + 1} threads, read in "), text


@pytest.mark.exclusive
@once
def test_the_incident_that_is_over(run, tmp_path):
    """The recording alone says when it was, and what."""
    path = tmp_path / "recording"
    with Recorder(path, "0.5") as recorder:
        recorder.await_intervals(2)
        before = time.time()
        for _ in range(5):
            subprocess.run(["/bin/sh", "-c", "kill -SEGV $$"], check=False)
        after = time.time()
        recorder.await_intervals(len(intervals(path)) + 4)
        assert recorder.tool.stop().code == 0
    findings = of(run(str(path), "--json", tool="triage"))[0]["rows"]
    assert [row["rule"] for row in findings if row["level"] == "PROBLEM" and "SIGSEGV" in row["worst"]] == [
        "crash"
    ], findings
    for when in (("--from", f"@{before - 1}", "--to", f"@{after + 1}"), ("--at", f"@{before}")):
        page = json.loads(run(str(path), "--json", *when, tool="triage").text)
        crash = next(each for each in page["findings"] if each["rule"] == "crash")
        mine = [each for each in crash["evidence"] if each["row"]["comm"] == "sh"]
        assert sum(each["value"] for each in mine) == 5, (when, crash)
    assert run(str(path), "--at", f"@{before - 86400}", tool="triage").code == 2


@once
def test_two_windows_compared(run, trigger, tmp_path):
    """The second window has twice as many calls: windows of one recording compare like two saved runs."""
    path = tmp_path / "recording"
    args = ("syscount -e getppid --by syscall", "syscount --hist -e getppid", "--comm", "compared", "0.1")
    ends = []
    with Recorder(path, *args) as recorder:
        for calls in (1000, 2000):
            load = trigger("syscalls", 1, f"{GETPPID}:{calls}", comm="compared")
            load.go()
            load.done()
            # The next interval to be written may have been read before the load ended.
            recorder.await_intervals(len(intervals(path)) + 3)
            ends.append(intervals(path)[-1][1])
        recorder.tool.stop()
    begin = intervals(path)[0][1]
    windows = [
        f"{path}@@{begin / 1e9:.9f}-@{ends[0] / 1e9:.9f}",
        f"{path}@@{ends[0] / 1e9:.9f}-@{ends[1] / 1e9 + 1:.9f}",
    ]
    ran = run("diff", *windows, "syscount -e getppid --by syscall", "--json", tool="tally")
    rows = of(ran)[0]["rows"]
    calls = next(row for row in rows if row["figure"] == "calls")
    assert (calls["before"], calls["after"]) == (1000, 2000), rows
    assert run("diff", *windows, "syscount", tool="tally").code == 1         # which of the two?
    assert run("diff", *windows, tool="tally").code == 1
    assert run("diff", f"{path}@03:00", windows[1], "syscount", tool="tally").code == 1


@once
def test_a_line_that_is_the_name_of_its_tool(run, tmp_path):
    """It is the one to compare, and to show where there can be only one, although the tool has another line."""
    path = tmp_path / "recording"
    assert run("record", "-o", path, "softirqs", "softirqs --latency", "0.2", "3", tool="tally").code == 0
    begin = intervals(path)[0][1] / 1e9
    window = f"{path}@@{begin:.9f}-end"
    for line in ("softirqs", "softirqs --latency"):
        (report,) = of(run("diff", window, window, line, "--json", tool="tally"))
        assert report["rows"] and all(row["before"] == row["after"] for row in report["rows"]), report
        assert any(row["figure"] == "cpu_percent" for row in report["rows"]) == (line == "softirqs"), report
        heading = run(path, line, "--csv", tool="show").text.splitlines()[0]
        assert ("cpu_percent" in heading) == (line == "softirqs"), heading
    assert len(show(run, path, "softirqs")) == 2


@once
def test_it_is_read_while_it_is_written_by_one(run, tmp_path):
    path = tmp_path / "recording"
    with Recorder(path, "syscount", "0.1") as recorder:
        recorder.await_intervals(2)
        assert show(run, path, "syscount")[0]["events"] > 0
        # Also between two of its intervals, when it has no transaction.
        for _ in range(5):
            second = run("-o", str(path), "syscount", "0.1", "1", tool="record")
            assert second.code == 1 and "another process is recording into it" in second.stderr, second
        assert recorder.tool.stop().code == 0
    assert oct(path.stat().st_mode & 0o777) == "0o600"


# How many times a recorder is killed; the random moments are the same each time.
KILLS = 100 if os.environ.get("TALLY_SOAK") or os.environ.get("TALLY_WHOLE") else 20


@once
def test_a_recorder_that_is_killed_loses_one_interval(run, tmp_path):
    """Whenever it is killed, intervals written before are there, and each is whole."""
    path = tmp_path / "recording"
    moments = random.Random(4711)
    seen = 0
    for _ in range(KILLS):
        recorder = tally.Tool("-o", str(path), "syscount --by comm", "0.02", tool="record")
        try:
            recorder.ready()
            tally.wait_until(lambda: os.path.exists(path) and len(intervals(path)) > seen, "no interval was written")
            time.sleep(moments.uniform(0, 0.1))
            written = len(intervals(path))
        finally:
            tally.end_process(recorder.process)
            recorder.close()
        seen = len(intervals(path))
        assert seen >= written
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    assert query(path, "SELECT count(*) FROM interval WHERE id NOT IN (SELECT interval FROM report)") == [(0,)]
    assert query(path, "SELECT count(*) FROM recording") == [(KILLS,)]
    assert len(show(run, path, "syscount", "--each")) == seen


@once
def test_an_interval_longer_than_what_is_kept(run, ends, tmp_path):
    """The newest interval stays, whatever --keep is: neither it nor its rows are dropped before they could be seen."""
    path = tmp_path / "recording"
    ends.callback(
        tally.end_process, subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stderr=subprocess.DEVNULL)
    )
    assert run("-o", str(path), "syscount --by comm", "0.2", "4", "--keep", "0.02", tool="record").code == 0
    assert len(intervals(path)) == 1
    (report,) = show(run, path, "syscount")
    assert report["rows"]


@once
def test_a_recorder_that_is_stopped_and_goes_on(run, trigger, tmp_path):
    """As in a suspended machine, no interval ends meanwhile. Calls made then belong to the next interval that ends."""
    path = tmp_path / "recording"
    load = trigger("syscalls", 1, f"{GETPPID}:1234")
    with Recorder(path, "syscount -e getppid", "-p", load.pid, "0.05") as recorder:
        recorder.await_intervals(2)
        os.kill(recorder.tool.process.pid, signal.SIGSTOP)
        tally.wait_until(lambda: tally.state(recorder.tool.process.pid) == "T", "it was not stopped")
        before = len(intervals(path))
        load.go()
        load.done()
        time.sleep(1)
        assert len(intervals(path)) == before
        os.kill(recorder.tool.process.pid, signal.SIGCONT)
        recorder.await_intervals(before + 3)
        assert recorder.tool.stop().code == 0
    found = intervals(path)
    assert max(duration for _, _, duration in found) >= 1e9, found
    assert all(a[1] + a[2] <= b[1] for a, b in zip(found, found[1:])), found
    assert show(run, path, "syscount")[0]["rows"][0]["calls"] == 1234


# A clock for one process that is ahead of the machine's by this many seconds.
CLOCK = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
	long ahead = 0, err = syscall(SYS_clock_gettime, clock, t);
	int fd = clock == CLOCK_REALTIME ? open(getenv("AHEAD"), O_RDONLY) : -1;

	if (fd >= 0) {
		if (read(fd, &ahead, sizeof(ahead)) == sizeof(ahead))
			t->tv_sec += ahead;
		close(fd);
	}
	return err;
}
"""


@once
@pytest.mark.skipif(tally.SANITIZED, reason="the sanitizer's library has to be the first one")
def test_the_clock_is_set(run, trigger, tmp_path):
    """Set an hour ahead, then two back: intervals have the time of day at their start, and their true length."""
    (tmp_path / "clock.c").write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "clock.so", tmp_path / "clock.c"], check=True)
    path, ahead = tmp_path / "recording", tmp_path / "ahead"
    env = {**os.environ, "LD_PRELOAD": str(tmp_path / "clock.so"), "AHEAD": str(ahead)}
    steps, began = (0, 3600, -3600), time.time()
    with Recorder(path, "syscount -e getppid", "--comm", "clocked", "0.05", env=env) as recorder:
        for n, step in enumerate(steps, 1):
            ahead.write_bytes(step.to_bytes(8, "little", signed=True))
            recorder.await_intervals(len(intervals(path)) + 2)
            load = trigger("syscalls", 1, f"{GETPPID}:{1000 * n}", comm="clocked")
            load.go()
            load.done()
            recorder.await_intervals(len(intervals(path)) + 2)
        assert recorder.tool.stop().code == 0
        took = time.time() - began
    found = intervals(path)
    gaps = [round((b[1] - a[1] - a[2]) / 1e9) for a, b in zip(found, found[1:])]
    assert [gap for gap in gaps if gap] == [3600, -7200], gaps
    assert sum(duration for _, _, duration in found) < took * 1e9
    for n, step in enumerate(steps, 1):
        window = show(
            run, path, "syscount", "--from", f"@{began + step - 60:.6f}", "--to", f"@{began + step + took + 60:.6f}"
        )
        assert sum(row["calls"] for report in window for row in report["rows"]) == 1000 * n, window


@once
def test_a_full_disk(run, tmp_path):
    """Intervals that find no room are left out and counted, and those on the disk stay."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
    try:
        path = disk / "recording"
        with Recorder(path, "syscount --by comm,tid,syscall", "0.05") as recorder:
            recorder.await_intervals(3)
            (disk / "filling").write_bytes(b"")
            with open(disk / "filling", "wb", buffering=0) as filling, pytest.raises(OSError):
                while True:
                    filling.write(bytes(4096))
            full = len(intervals(path))
            time.sleep(1)
            ended = recorder.tool.stop()
        assert ended.code == 3 and "not written: there was no room" in ended.stderr, ended
        (disk / "filling").unlink()
        assert len(show(run, path, "syscount", "--each")) >= full
        assert run("-o", str(path), "syscount", "0.05", "2", tool="record").code == 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@once
def test_files_that_are_no_recordings(run, tmp_path):
    """Foreign files are not written to, and the message says what each is."""
    other = tmp_path / "other.db"
    query(other, "CREATE TABLE mine (a)")
    text = tmp_path / "text"
    text.write_text("no database at all, and long enough to be looked at\n" * 100)
    newer, older = tmp_path / "newer", tmp_path / "older"
    for path, version in ((newer, 99), (older, 1)):
        assert run("-o", str(path), "syscount", "0.05", "1", tool="record").code == 0
        query(path, f"PRAGMA user_version = {version}")
    for path, said in (
        (other, "it was not made by tally record"),
        (text, "damaged"),
        (newer, "version 99"),
        (older, "version 1"),
        (tmp_path, "regular file"),
    ):
        before = path.read_bytes() if path.is_file() else b""
        for args in ((str(path),), (str(path), "syscount")):
            ran = run(*args, tool="show")
            assert ran.code == 1 and said in ran.stderr, ran
        ran = run("-o", str(path), "syscount", "0.05", "1", tool="record")
        assert ran.code == 1 and (said in ran.stderr or path == tmp_path), ran
        assert not path.is_file() or path.read_bytes() == before, path
    assert run(str(tmp_path / "nothing"), tool="show").code == 1
    assert not (tmp_path / "nothing").exists()


@once
def test_damaged_pages(run, tmp_path):
    """Whatever a page holds: an answer or a sentence, never a crash."""
    path = tmp_path / "recording"
    assert (
        run(
            "-o",
            str(path),
            "syscount --by comm",
            "stackcount -K syscalls:sys_enter_openat",
            "runqlat --by comm",
            "0.1",
            "4",
            tool="record",
        ).code
        == 0
    )
    good = path.read_bytes()
    for page in range(0, len(good), PAGE):
        bad = bytearray(good)
        begin = page + (100 if page == 0 else 0)
        bad[begin:begin + 600] = bytes((7 * i + page // PAGE) & 0xff for i in range(600))
        for content in (bad, tally.without_checksums(bad)):
            path.write_bytes(content)
            ran = run(str(path), "all", "--json", tool="show")
            assert ran.code in (0, 1) and (ran.code == 0 or ran.stderr), (page, ran)


@once
def test_flipped_bits(run, tmp_path):
    """A disk or a copy that changes a single bit: the report is the same, or the file is called damaged."""
    path = tmp_path / "recording"
    lines = "syscount --by comm,syscall", "runqlat --by comm", "stackcount -K syscalls:sys_enter_openat"
    assert run("-o", str(path), *lines, "0.1", "5", tool="record").code == 0
    good, luck = path.read_bytes(), random.Random(1)
    shown = {line: run(str(path), line, "--each", "--json", tool="show").text for line in lines}
    assert all(shown.values()), shown
    refused = 0
    for page in range(0, len(good), PAGE):
        for _ in range(3):
            bad = bytearray(good)
            # The version is checked first, so a file of another version gets another message.
            at = page + luck.randrange(PAGE) if page else luck.choice((*range(60), *range(72, PAGE)))
            bad[at] ^= 1 << luck.randrange(8)
            path.write_bytes(bad)
            for line in lines:
                ran = run(str(path), line, "--each", "--json", tool="show")
                assert (ran.code, ran.text) == (0, shown[line]) or (ran.code == 1 and "damaged" in ran.stderr), ran
                refused += ran.code
    # Each line reads at least its own rows, the list of tables and the intervals.
    assert refused >= 3 * 3 * len(lines)


@once
def test_a_recording_without_tables(run, tmp_path):
    """A recorder that is killed before its first transaction leaves one page, which the next one continues."""
    path = tmp_path / "recording"
    assert run("-o", str(path), "syscount", "0.05", "1", tool="record").code == 0
    for table, in query(path, "SELECT name FROM sqlite_master WHERE type = 'table'"):
        query(path, f'DROP TABLE "{table}"')
    query(path, "VACUUM")
    assert path.stat().st_size == PAGE
    ran = run(str(path), tool="show")
    assert ran.code == 1 and "empty: nothing was recorded" in ran.stderr, ran
    assert run("-o", str(path), "syscount", "0.05", "2", tool="record").code == 0
    assert len(show(run, path, "syscount", "--each")) == 2


@once
def test_no_room_for_the_first_page(run, tmp_path):
    """Nothing is left that the next recorder would take for a damaged recording."""
    path = tmp_path / "recording"
    line = f"ulimit -f 1; exec {tally.BUILD}/record -o {path} syscount 0.05 1"   # blocks of 512 bytes
    ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and path.stat().st_size == 0, ended
    assert run("-o", str(path), "syscount", "0.05", "1", tool="record").code == 0


@once
def test_pages_that_other_programs_have_written(run, tmp_path):
    """The last one to close a recording moves its log into the file: the rest of a killed recorder, by any program."""
    path, kept = tmp_path / "recording", tmp_path / "kept"
    with Recorder(path, "syscount --by comm", "0.05") as recorder:
        recorder.await_intervals(3)
        recorder.tool.process.kill()
        recorder.tool.process.wait()
    log = tmp_path / "recording-wal"
    assert log.stat().st_size > PAGE
    shutil.copy(path, kept)
    shutil.copy(log, tmp_path / "kept-wal")
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    assert not log.exists()
    moved = path.read_bytes()
    assert any(not any(moved[end - 8:end]) for end in range(PAGE, len(moved) + 1, PAGE)), "it had no changed pages"
    assert show(run, path, "syscount") == show(run, kept, "syscount")
    # Our own readers move it with checksums.
    moved = kept.read_bytes()
    assert not (tmp_path / "kept-wal").exists() and len(moved) == path.stat().st_size
    assert all(any(moved[end - 8:end]) for end in range(PAGE, len(moved) + 1, PAGE))
    query(kept, "VACUUM")
    assert show(run, kept, "syscount") == show(run, path, "syscount")


@once
def test_the_oldest_goes(run, tmp_path):
    """--keep limits measured time; --size limits the file."""
    path = tmp_path / "recording"
    began = time.monotonic_ns()
    assert run("-o", str(path), "syscount", "0.05", "40", "--keep", "0.5", tool="record").code == 0
    ran = time.monotonic_ns() - began
    kept = intervals(path)
    assert [number for number, _, _ in kept] == list(range(kept[0][0], 41)), kept
    total = sum(duration for _, _, duration in kept)
    assert total <= 0.5e9 or len(kept) == 1, kept
    # Each interval dropped lasted 50 ms, unless the machine stood still, which made the run longer by as much.
    assert total >= 0.5e9 - 0.05e9 - max(0, ran - 40 * 0.05e9), (kept, ran)
    assert query(path, "SELECT min(interval) FROM report") == [(kept[0][0],)]
    (first,), = query(path, "SELECT min(id) FROM report")
    for table, in query(path, "SELECT name FROM shape"):
        (least,), = query(path, f'SELECT min(_report) FROM "{table}"')
        assert least is None or least >= first
    small = tmp_path / "small"
    ran = run(
        "-o",
        str(small),
        "trace --comm nobody",
        "syscount --by comm,tid,syscall,errno",
        "0.01",
        "600",
        "--size",
        "1M",
        tool="record",
    )
    assert ran.code == 0 and small.stat().st_size < (1 << 20) + (256 << 10), ran


@once
def test_ever_new_stacks(run, tmp_path):
    """Stacks and frames are dropped after the last interval that has them."""
    path = tmp_path / "recording"
    trigger = tally.BUILD / "triggers/mazes"
    # Half of the stacks fill the file. If the machine stands still for a second, that interval still has room in it.
    ran = run("-o", str(path), "--size", "2M", "stackcount syscalls:sys_enter_getppid", "0.1", "200", "--", trigger,
              "14000", "1", "100", tool="record")
    assert ran.code == 0 and path.stat().st_size < (2 << 20) + (256 << 10), ran
    kept = intervals(path)
    assert kept[0][0] > 1, kept
    (report,) = show(run, path, "stackcount")
    assert sum(stack["value"] for stack in report["stacks"]) == report["events"] == len(report["stacks"])
    # room.c drops unused stacks when it needs the room, and every so many intervals: some may be left.
    (stacks,), = query(path, "SELECT count(*) FROM stack")
    assert report["events"] <= stacks < 14000


@once
def test_a_reader_that_stays(run, tmp_path):
    """A reader keeps the log from being emptied: it stops growing at --size, and intervals left out are reported."""
    path = tmp_path / "recording"
    with Recorder(path, "syscount --by comm,tid,syscall", "0.005", "--size", "1M") as recorder:
        recorder.await_intervals(1)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM interval").fetchall()
            time.sleep(6)
            log = (tmp_path / "recording-wal").stat().st_size
        ended = recorder.tool.stop()
    assert log < (1 << 20) + (256 << 10), log
    assert ended.code == 0 or (ended.code == 3 and "keeps the recording open for reading" in ended.stderr), ended


def has_intervals(path, n):
    """A file just created has no tables yet."""
    with contextlib.suppress(sqlite3.OperationalError):
        return path.exists() and len(intervals(path)) >= n


def measured(path):
    """The lines that have reports of intervals."""
    return {line for line, in query(path, "SELECT m.line FROM report r JOIN measurement m ON m.id = r.measurement")}


def vitals_in(path):
    shown = subprocess.run([tally.BUILD / "tally", "show", path, "vitals", "--json"], capture_output=True, check=True)
    return {row["vital"] for row in json.loads(shown.stdout)["rows"]}


@once
@services.needs_setpriv
def test_the_rights_of_the_service_are_enough(ends, tmp_path):
    """The unit's command records the same lines with its own capabilities as with all rights."""
    found = []
    for name, limited in (("all", []), ("unit", services.limited("record"))):
        path = tmp_path / name
        args = [str(path) if arg.startswith("/var/lib/tally/") else arg for arg in services.command("record")]
        assert str(path) in args and "--size" in args
        process = subprocess.Popen([*limited, tally.BUILD / "tally", *args, "0.3"], stderr=subprocess.DEVNULL)
        ends.callback(tally.end_process, process)
        tally.wait_until(lambda: has_intervals(path, 2), "no interval was written")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        found.append((measured(path), vitals_in(path)))
    assert found[0] == found[1] and len(found[0][0]) > 5, found


@once
def test_the_service_sees_messages_of_the_kernel():
    """A unit with private devices has no /dev/kmsg; its rights are enough to read it (above)."""
    text = services.unit("record").read_text()
    assert "PrivateDevices=yes" not in text
    assert (services.setting("record", "DevicePolicy"), services.setting("record", "DeviceAllow")) == (
        "closed", "/dev/kmsg r")


@once
@services.needs_systemd
def test_the_page_has_the_exposure_of_the_service():
    services.check_exposure("record", "docs/recordings.md")


@once
def test_wrong_usage(run, tmp_path):
    path = str(tmp_path / "recording")
    for args, said in ((("syscount",), "-o FILE"), (("-o", path, "--keep", "soon"), "--keep"),
                       (("-o", path, "--size", "10"), "--size"), (("-o", path, "nosuchtool"), "nosuchtool"),
                       (("-o", path, "--listen", "9435"), "unknown option '--listen'")):
        ran = run(*args, tool="record")
        assert ran.code == 2 and said in ran.stderr, ran
    assert run(tool="show").code == 2
    assert run("--at", "03:14", tool="triage").code == 2

LOOP = (sys.executable, "-c", "import os, sys\nfor _ in range(int(sys.argv[1])): os.getppid()")


def headings(text):
    """The heading of a strict CSV, and the number of rows below it."""
    heading, *rows = csv.reader(io.StringIO(text), strict=True)
    assert heading and len(set(heading)) == len(heading) and {len(row) for row in rows} <= {len(heading)}, text
    return heading, len(rows)


@once
@pytest.mark.parametrize("each", ((), ("--each",)), ids=("whole", "each"))
def test_headings_in_csv(run, tmp_path, each):
    """The heading is the same with no row, one row and many rows."""
    lines = ["probe syscalls:sys_enter_getppid --by tid", "timehist", "runqlat --by tid",
             "probe 'syscalls:sys_enter_getppid h=comm'", "stackcount -U syscalls:sys_enter_getppid"]
    seen, counts = {}, set()
    for calls in (0, 1, 50):
        path = tmp_path / str(calls)
        load = ["--comm", "no such"] if not calls else ["--", *LOOP, str(calls)]
        assert run("-o", str(path), *lines, *load, *(() if calls else ("0.05", "2")), tool="record").code == 0
        for line in lines:
            shown = run(str(path), line.replace("'", ""), "--csv", *each, tool="show")
            heading, n = headings(shown.text)
            assert shown.code == 0 and seen.setdefault(line, heading) == heading, (line, calls)
            counts.add(min(n, 2))
    assert counts == {0, 1, 2}
