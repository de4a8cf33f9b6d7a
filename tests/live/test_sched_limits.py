# SPDX-License-Identifier: BSD-2-Clause
"""The scheduler's tools under extremes: thousands of threads, a CPU that goes offline and comes back, and perf at the
same time. All of them report the same delays."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import tally
from accounts import Work, exactly, tool_by_the_books, work  # noqa: F401
from probing import nothing_lost
from tally import BUILD, TEMPEST, by_key, count, flaws, scaled, steady, within
from test_listen import ask, free_port

CPU1 = Path("/sys/devices/system/cpu/cpu1/online")
TOOLS = {
    "runqlat": ("--by", "tid"),
    "schedlat": (),
    "cpudist": ("--by", "tid"),
    "timechart": (),
    "timehist": ("--summary=only",),
}


def start_all(tool, load, *args):
    return {name: tool("--json", "-p", load.pid, *options, *args, tool=name)
            for name, options in TOOLS.items()}


def stop_all(tracers):
    return {name: tally.json.loads(tracer.stop().text.splitlines()[-1])
            for name, tracer in tracers.items()}


def runtimes(reports):
    """The run time of all tasks, from each tool that has it."""
    return {
        "schedlat": sum(row["runtime"] for row in reports["schedlat"]["rows"]),
        "cpudist": sum(group["sum"] for group in reports["cpudist"]["groups"]),
        "timehist": sum(row["run"] for row in reports["timehist"]["rows"]),
    }


def check_all(reports, w):
    """Run times and numbers of waits are those of the kernel's accounting in all tools; timechart accounts for all of
    the time."""
    grown = tally.total(w.grown)
    for name, run_ns in runtimes(reports).items():
        assert run_ns == grown.run_ns, name
    events = count(reports["runqlat"]["groups"])
    assert events == sum(row["switches"] for row in reports["schedlat"]["rows"])
    if tally.KERNEL < (5, 13):
        assert events <= grown.count
    else:
        assert events - reports["runqlat"]["unaccounted"] <= grown.count <= events
    chart = reports["timechart"]
    by_kind = {kind: [row for row in chart["rows"] if row["row"] == kind]
               for kind in ("cpu", "task", "others")}
    assert sum(row["run"] for row in by_kind["cpu"]) == \
        sum(row["run"] for kind in ("task", "others") for row in by_kind[kind])
    whole = {}
    for row in by_kind["task"]:
        whole.setdefault(row["tid"], 0)
        whole[row["tid"]] += row["run"] + row["wait"] + row["sleep"] + row["block"]
    assert set(whole.values()) == {chart["duration_ns"]}


@pytest.mark.skipif(not tally.GUEST, reason="CPUs are taken away in guests only")
def test_a_cpu_goes_and_comes_back(tool, trigger):
    """Tasks are moved off it in the middle of their work: nothing is lost or counted twice."""

    def trial():
        load = trigger("spin", 4, 300, -1)
        tracers = start_all(tool, load)
        holes, before = tally.holes(), load.books()
        load.go()
        try:
            for online in ("0", "1", "0", "1"):
                CPU1.write_text(online)
                time.sleep(0.1)
        finally:
            CPU1.write_text("1")
        said = load.done()
        w = Work(tally.growth(before, load.books()), [said], tally.holes() - holes)
        reports = stop_all(tracers)
        w.blurred = not all(map(nothing_lost, reports.values())) or \
            bool(reports["runqlat"]["corrected"])
        if not w.blurred and not w.holes:
            check_all(reports, w)
        return w

    exactly(trial)


@pytest.mark.skipif(not tally.GUEST, reason="CPUs are taken away in guests only")
def test_those_that_look_at_cpus_when_one_goes(tool, trigger):
    """A sampler ends with its CPU, says so and misses nothing; moves are at most those that the kernel counts."""

    def moves(pid):
        text = {tid: Path(f"/proc/{pid}/task/{tid}/sched").read_text() for tid in tally.threads(pid)}
        return {tid: int(re.search(r"nr_migrations\s*:\s*(\d+)", each)[1]) for tid, each in text.items()}

    load = trigger("spin", 4, 300, -1)
    samplers = {name: tool("--json", *args, tool=name) for name, args in (
        ("runqlen", ("--by", "cpu")), ("profile", ("--by", "cpu", "-K")))}
    mover = tool("--json", "-p", load.pid, "--by", "tid", tool="migrations")
    has_books = Path("/proc/self/sched").exists()
    load.settle()
    before = moves(load.pid) if has_books else {}
    load.go()
    try:
        time.sleep(0.3)
        CPU1.write_text("0")
        time.sleep(0.3)
        results = {name: tracer.stop() for name, tracer in samplers.items()}
    finally:
        CPU1.write_text("1")
    load.done()
    load.settle()
    after = moves(load.pid) if has_books else {}
    for name, result in results.items():
        assert result.code == 0 and "CPU 1 went offline" in result.stderr, result
        report = result.report
        groups = report["groups"] if "groups" in report else report["stacks"]
        seen = {cpu: sum(each.get("count", each.get("value")) for each in groups if each["key"]["cpu"] == cpu)
                for cpu in (0, 1)}
        # The other CPU gets all samples; profile leaves out those of an idle CPU, so that either CPU may have more.
        assert 0 < seen[1] and (seen[1] < seen[0] or name == "profile" and seen[0]), (name, seen)
        due = report["duration_ns"] * 99 // 10**9 - 3
        assert name == "profile" or seen[0] + report["lost"]["missed"] >= due, report
    report = mover.stop().report
    lost = {reason: n for reason, n in flaws(report).items() if n}
    # The kernel skips tracepoints on a CPU that is already offline (include/linux/tracepoint.h): moves away from one
    # were missed on 5.10 and 6.12. The report counts each of them.
    assert set(lost) <= {"missed"}, lost
    if has_books:
        seen = {}
        for row in report["rows"]:
            seen[row["tid"]] = seen.get(row["tid"], 0) + row["count"]
        moved = {tid: after[tid] - before[tid] for tid in after if after[tid] > before[tid]}
        assert seen and all(n <= moved.get(tid, 0) for tid, n in seen.items()), (seen, moved)
        assert sum(seen.values()) + lost.get("missed", 0) == sum(moved.values()), (seen, moved, lost)


def on_cpu(report, cpu):
    """Samples, or milliseconds of stat's cpu-clock."""
    rows = report.get("groups") or report.get("stacks") or report.get("rows") or ()
    key = [each.get("key", each) for each in rows]
    return sum(each.get("value", each.get("count")) for each, where in zip(rows, key) if where["cpu"] == cpu)


def warnings(tracer):
    """The number of warnings so far. pread() leaves the file position to the tool."""
    fd = tracer.err.fileno()
    return os.pread(fd, os.fstat(fd).st_size, 0).count(b"warning: CPU 1 ")


SAMPLERS = {
    "runqlen": ("--by", "cpu"),
    "profile": ("-a", "-K", "--idle", "--by", "cpu"),
    "event": ("-a", "-K", "-e", "context-switches", "--by", "cpu"),
    "stat": ("-a", "-A", "-e", "cpu-clock"),
}


@pytest.mark.skipif(not tally.GUEST, reason="CPUs are taken away in guests only")
@pytest.mark.parametrize("how", ("once", "intervals", "chosen", "other"))
@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_when_a_cpu_comes(tool, name, how):
    """A CPU goes, comes, goes and comes: it is sampled while it is online, and the report says for how long it was not.
    No message is about a CPU outside of -C."""
    more = {"once": (), "intervals": ("-I", "200"), "chosen": ("-C", "0,1"), "other": ("-C", "0")}[how]
    options = [word for word in SAMPLERS[name] if word != "-a" or how in ("once", "intervals")]
    try:
        CPU1.write_text("0")
        tracer = tool("--json", *options, *more, tool="profile" if name == "event" else name)
        for n, online in enumerate(("1", "0", "1"), 1):
            CPU1.write_text(online)
            if how != "other":
                tally.wait_until(lambda n=n: warnings(tracer) == n, f"no warning of CPU 1 when {online} was written")
            time.sleep(0.3)
        result = tracer.stop()
    finally:
        CPU1.write_text("1")
    assert result.code == 0, result
    last = result.reports[-1]
    if how == "other":
        assert "CPU 1" not in result.stderr + last["source"] and not any(on_cpu(r, 1) for r in result.reports), result
        return
    assert result.stderr.count("CPU 1 came online") == 2 and result.stderr.count("CPU 1 went offline") == 1, result
    absent = re.search(r"; not (sampled|counted): CPU 1 for ([0-9,.]+) (m?s) \(offline\)$", last["source"])
    assert absent, last["source"]
    absent_ms = float(absent[2].replace(",", "")) * (1 if absent[3] == "ms" else 1000)
    run_ms = sum(report["duration_ns"] for report in result.reports) / 1e6
    assert 0 < absent_ms < run_ms, (absent_ms, run_ms)
    seen = sum(on_cpu(report, 1) for report in result.reports)
    assert seen, result
    due = {"runqlen": 0.099, "profile": 0.099, "stat": 1e6}
    # At most the samples due while it was online, within the period at which each of two timers began.
    assert name == "event" or seen <= (run_ms - absent_ms + 50) * due[name] + 2, (name, seen, run_ms, absent_ms)


@pytest.mark.skipif(not tally.GUEST, reason="CPUs are taken away in guests only")
def test_a_recording_and_a_scrape_when_a_cpu_comes(tool, run, tmp_path):
    """Both have the samples of the CPU, and the recording says which CPU was not sampled."""
    path, port = tmp_path / "recording", free_port()
    try:
        CPU1.write_text("0")
        recorder = tool("-o", path, "runqlen --by cpu", "0.2", tool="record")
        listener = tool("--listen", port, "--by", "cpu", tool="runqlen")
        CPU1.write_text("1")
        for tracer in recorder, listener:
            tally.wait_until(lambda tracer=tracer: warnings(tracer) == 1, "no warning of CPU 1")
        time.sleep(0.5)
        scraped = ask(port).text
        recorded, scrapes = recorder.stop(), listener.stop()
    finally:
        CPU1.write_text("1")
    for result in (recorded, scrapes):
        assert result.code == 0 and "CPU 1 came online" in result.stderr, result
    assert re.search(r"_count\{.*cpu=\"1\".*\} [1-9]", scraped), scraped
    shown = run("--json", path, "runqlen --by cpu", tool="show").report
    assert on_cpu(shown, 1) and "not sampled: CPU 1 for" in shown["source"], shown


@tally.once
def test_five_thousand_threads(tool, trigger):
    """Each thread has its line; no map is full."""
    load = trigger("sleepers", 5000, 2, 1000, -1)
    tracers = start_all(tool, load)
    w = work(load)
    reports = stop_all(tracers)
    for name, report in reports.items():
        lost = {reason for reason, n in flaws(report).items() if n}
        assert lost <= {"missed", "unmatched", "no_state"}, (name, report["lost"])
    assert len(reports["runqlat"]["groups"]) == len(w.grown) == 5001
    assert len(reports["schedlat"]["rows"]) == len(reports["timehist"]["rows"]) == 5001
    others = {row["row"] for row in reports["timechart"]["rows"]}
    assert others == {"cpu", "task", "others"}
    if all(map(nothing_lost, reports.values())) and not w.holes:
        assert {run_ns for run_ns in runtimes(reports).values()} == {tally.total(w.grown).run_ns}


@tally.once
def test_twenty_thousand_forks(tool, trigger):
    """Short-lived tasks leave nothing behind that could fill up: all are counted, by name in one line or in a line
    each, and all tools have the same run time."""
    def trial():
        load = trigger("storm", 20000, 4, -1, comm=TEMPEST)
        by_comm = "--json", "--comm", TEMPEST, "--by", "comm"
        tracers = {name: tool(*by_comm, *more, tool=name) for name, *more in (
            ("runqlat",), ("schedlat",), ("cpudist",), ("offcputime", "-K"))}
        tracers["timehist"] = tool("--json", "--comm", TEMPEST, "--summary=only", tool="timehist")
        work(load)
        reports = stop_all(tracers)
        for name, report in reports.items():
            lost = {reason for reason, n in flaws(report).items() if n}
            # A tool that gets no CPU for a while does not empty its buffer; nor does the kernel then refill the memory
            # that keys come from.
            within(not lost & {"ring_full", "no_memory", "no_storage"}, name, report["lost"])
            assert lost <= {"missed", "unmatched", "no_state"}, (name, report["lost"])
        # The busier the machine, the more switches are hidden: tally.holes(). The report counts most of them.
        hidden = 0 if not tally.pvm_guest() else 200 + max(sum(flaws(report).values()) for report in reports.values())
        (row,) = reports["schedlat"]["rows"]
        slices = sum(each["slices"] for each in reports["timehist"]["rows"])
        assert row["switches"] >= 20000 - hidden and len(reports["timehist"]["rows"]) >= 20000 - hidden
        for n in (count(reports["runqlat"]["groups"]), slices, count(reports["cpudist"]["groups"])):
            within(abs(n - row["switches"]) <= hidden, n, row["switches"])
        ran = runtimes(reports)
        # If a task's last switch was hidden, its last slice is not known.
        near = 0 if all(map(nothing_lost, reports.values())) else max(ran.values()) // 100
        assert max(ran.values()) - min(ran.values()) <= near, ran
        assert {stack["key"]["comm"] for stack in reports["offcputime"]["stacks"]} == {TEMPEST}

    steady(trial)


def test_the_same_delays_everywhere(tool, trigger):
    """Waits of three tasks that share a CPU, in four tools at once: the same number, sum and maximum, and the same
    waits one by one where they are listed."""

    def trial():
        load = trigger("spin", 3, 60, 0)
        tracers = {name: tool("--json", "-p", load.pid, *args, tool=name) for name, args in (
            ("runqlat", ()), ("schedlat", ()), ("timehist", ()), ("runqslower", ("--min", "0us")))}
        w = work(load)
        lines = {name: [tally.json.loads(line) for line in tracer.stop().text.splitlines()]
                 for name, tracer in tracers.items()}
        reports = {name: found.pop() for name, found in lines.items()}
        w.blurred = not all(map(nothing_lost, reports.values()))
        if w.blurred or w.holes:
            return w
        one_by_one = {name: sorted((line["tid"], line["values"][column]) for line in lines[name]
                                   if line["values"][column] is not None)
                      for name, column in (("timehist", "delay"), ("runqslower", "wait"))}
        assert one_by_one["timehist"] == one_by_one["runqslower"]
        waits = [ns for _, ns in one_by_one["timehist"]]
        (group,), rows = reports["runqlat"]["groups"], reports["schedlat"]["rows"]
        assert len(waits) == group["count"] == sum(row["switches"] for row in rows)
        assert sum(waits) == group["sum"] == sum(row["wait"] for row in rows)
        assert max(waits) == group["max"] == max(row["max"] for row in rows)
        assert max(waits) > 1_000_000
        return w

    exactly(trial)


def test_on_and_off_make_a_life(tool, trigger):
    """A thread's time on and off its CPU adds up to the time between its first and its last switch."""

    def trial():
        load = trigger("sleepers", 3, scaled(80), 500, -1)
        lives = tool("--json", "-p", load.pid, tool="timehist")
        on, off = (tool("--json", "-p", load.pid, "--by", "tid", *more, tool="cpudist")
                   for more in ((), ("--off",)))
        w = work(load)
        *lines, report = (tally.json.loads(line) for line in lives.stop().text.splitlines())
        reports = on.stop().report, off.stop().report
        w.blurred = not all(map(nothing_lost, (report, *reports)))
        if w.blurred or w.holes:
            return w
        ran, away = (by_key(each, "tid") for each in reports)
        for tid in w.grown:
            mine = [line for line in lines if line["tid"] == tid]
            life = mine[-1]["time_ns"] - mine[0]["time_ns"]
            # The slice before its first switch is not part of this time.
            both = ran[tid]["sum"] - mine[0]["values"]["run"] + away[tid]["sum"] - \
                (mine[0]["values"]["wait"] or 0)
            # Clocks are read some us apart; a slice's time in interrupts may not be charged to the task.
            tally.within(abs(both - life) <= life // 50 + 100_000, tid, both, life)
        return w

    exactly(trial)


def test_one_that_never_runs_is_nowhere(tool, trigger):
    """A task that sleeps throughout has no line, no row and no group (timechart has its sleep)."""
    load = trigger("sleepers", 1, 1, 1, 0)
    tracers = start_all(tool, load)
    time.sleep(0.2)
    reports = stop_all(tracers)
    for name in ("runqlat", "schedlat", "cpudist", "timehist"):
        report = reports[name]
        assert not report["events"] and not report.get("rows") and not report.get("groups"), report


def perf_latency(path):
    """{tid: (run time in ms, switches)}, from perf's summary of a recording."""
    text = subprocess.run((*tally.PERF, "sched", "latency", "-p", "-i", str(path)), capture_output=True,
                          check=True, timeout=tally.PATIENCE).stdout.decode()
    found = re.findall(r"(?m)^\s*\S.*:(\d+)\s*\|\s*([\d.]+) ms \|\s*(\d+) \|", text)
    return {int(tid): (float(ms), int(n)) for tid, ms, n in found}


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
def test_perf_latency_sees_the_same(tool, trigger, directory):
    """The run time of each thread from its first instruction on: perf's, ours, and the kernel's."""

    def trial():
        path = directory / "perf.data"
        out = directory / "report"
        command = (*tally.PERF, "sched", "record", "-q", "-o", path, "--",
                   BUILD / "schedlat", "--json", "-o", out, "--",
                   BUILD / "triggers/spin", 2, scaled(40), 0)
        subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, check=True,
                       capture_output=True, timeout=tally.PATIENCE)
        report = tally.json.loads(out.read_text())
        if not nothing_lost(report):
            raise tally.Blurred
        theirs = perf_latency(path)
        spun = [row for row in report["rows"] if row["comm"] == "spin"]
        assert len(spun) == 3
        for row in spun:
            # perf may have lost all records of a thread: its buffers overflow.
            tally.within(row["tid"] in theirs, row, theirs)
            ms, switches = theirs[row["tid"]]
            # The first thread was the tool's child before; perf rounds to us.
            begun = row["tid"] == min(each["tid"] for each in spun)
            tally.within(ms - row["runtime"] / 1e6 <= (20 if begun else 0.002), row, ms)
            tally.within(row["runtime"] / 1e6 - ms <= 0.002, row, ms)
            assert switches >= 1

    tally.steady(trial)
