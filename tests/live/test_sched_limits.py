# SPDX-License-Identifier: BSD-2-Clause
"""The tools of the scheduler where there is much: thousands of threads, a CPU that goes away and comes
back, and perf looking at the same time."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import tally
from accounts import Work, exactly, work
from probing import nothing_lost
from tally import BUILD, count, scaled

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
    """What all tasks ran, as each tool that knows says."""
    return {
        "schedlat": sum(row["runtime"] for row in reports["schedlat"]["rows"]),
        "cpudist": sum(group["sum"] for group in reports["cpudist"]["groups"]),
        "timehist": sum(row["run"] for row in reports["timehist"]["rows"]),
    }


def check_all(reports, w):
    """Run times are the books', waits as many as the books say, in all of them; timechart's time is
    whole."""
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
    """Tasks are moved off it in the middle of their work: nothing is lost, nothing counted twice."""

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


@tally.once
def test_five_thousand_threads(tool, trigger):
    """Each has its line; no map is full."""
    load = trigger("sleepers", 5000, 2, 1000, -1)
    tracers = start_all(tool, load)
    w = work(load)
    reports = stop_all(tracers)
    for name, report in reports.items():
        lost = {reason for reason, n in report["lost"].items() if n}
        assert lost <= {"missed", "unmatched", "no_state"}, (name, report["lost"])
    assert len(reports["runqlat"]["groups"]) == len(w.grown) == 5001
    assert len(reports["schedlat"]["rows"]) == len(reports["timehist"]["rows"]) == 5001
    others = {row["row"] for row in reports["timechart"]["rows"]}
    assert others == {"cpu", "task", "others"}
    if all(map(nothing_lost, reports.values())) and not w.holes:
        assert {run_ns for run_ns in runtimes(reports).values()} == {tally.total(w.grown).run_ns}


@tally.once
def test_twenty_thousand_forks(tool, trigger):
    """Short lives leave nothing behind that could fill up: all are counted, by name in one line."""
    load = trigger("storm", 20000, 4, -1, comm="tempest")
    tracers = [tool("--json", "--comm", "tempest", "--by", "comm", tool=name)
               for name in ("runqlat", "schedlat")]
    work(load)
    runqlat, schedlat = (tracer.stop().report for tracer in tracers)
    for report in (runqlat, schedlat):
        lost = {reason for reason, n in report["lost"].items() if n}
        assert lost <= {"missed", "unmatched", "no_state"}, report["lost"]
    hidden = 0 if not tally.pvm_guest() else 200
    (row,) = schedlat["rows"]
    assert row["switches"] >= 20000 - hidden
    assert abs(count(runqlat["groups"]) - row["switches"]) <= hidden


def perf_latency(path):
    """{tid: (run time in ms, switches)} as perf sums up a recording."""
    text = subprocess.run(("perf", "sched", "latency", "-p", "-i", str(path)), capture_output=True,
                          check=True, timeout=tally.PATIENCE).stdout.decode()
    found = re.findall(r"(?m)^\s*\S.*:(\d+)\s*\|\s*([\d.]+) ms \|\s*(\d+) \|", text)
    return {int(tid): (float(ms), int(n)) for tid, ms, n in found}


@tally.once
@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
def test_perf_latency_sees_the_same(tool, trigger, directory):
    """The run time of each thread from its first instruction on: perf's, ours, and the books'."""

    def trial():
        path = directory / "perf.data"
        out = directory / "report"
        command = ("perf", "sched", "record", "-q", "-o", path, "--",
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
            ms, switches = theirs[row["tid"]]
            # The first thread was the tool's child before; perf rounds to us.
            begun = row["tid"] == min(each["tid"] for each in spun)
            tally.within(ms - row["runtime"] / 1e6 <= (20 if begun else 0.002), row, ms)
            tally.within(row["runtime"] / 1e6 - ms <= 0.002, row, ms)
            assert switches >= 1

    tally.steady(trial)
