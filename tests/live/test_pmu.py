# SPDX-License-Identifier: BSD-2-Clause
"""A processor's own counters, beside perf on the same load.

Both count the same task at the same time. User-space counts (:u) cannot differ: counters are switched on and off in the
kernel. Without counters nothing here runs; make check-arm64 boots a machine that has some (QEMU's, which count
instructions exactly under -icount).
"""

import os
import re
import subprocess

import pytest

import tally
from counted import counts, lost, stat, why_no_perf, work
from tally import BUILD, LEAPS, PERF

BOTH = ("cycles:u", "instructions:u")
ARM_PMU = next((each for each in os.listdir("/sys/bus/event_source/devices") if each.startswith("armv8")), None)


def why_no_pmu():
    """None, or why nothing can be compared."""
    reason = why_no_perf()
    if reason:
        return reason
    said = subprocess.run(
        [*PERF, "stat", "-x;", "-e", "cycles:u,instructions:u", "true"], capture_output=True, text=True
    )
    numbers = re.findall(r"^(\d+);", said.stderr, re.M)
    return None if len(numbers) == 2 and all(map(int, numbers)) else "no hardware counters"


WITHOUT = why_no_pmu()
pytestmark = [pytest.mark.skipif(bool(WITHOUT), reason=str(WITHOUT)), pytest.mark.exclusive]


def spinning(trigger, ms=60, threads=1, **more):
    return trigger("spin", threads, ms, -1, **more)


def exact(report):
    """The counts by event; no event had to share its counter, and nothing was lost."""
    assert not lost(report) and all(row["running_percent"] == 100 for row in report["rows"]), report
    return counts(report)


@pytest.mark.parametrize("threads", (1, 3))
def test_counts_of_user_space_are_perfs(tool, trigger, perf, threads):
    """Exact to the instruction, for processes with one thread and with several."""
    load = spinning(trigger, threads=threads)
    theirs = perf("-e", ",".join(BOTH), "-p", load.pid)
    ours = stat(tool, "-e", ",".join(BOTH), "-p", load.pid)
    work(load)
    found = exact(ours.stop().report)
    assert found == theirs.stop() and all(found.values())


def test_kernel_and_user_are_the_whole(tool, trigger, perf):
    """The events are one group, which is on its counters all the time or not at all."""
    load = spinning(trigger)
    events = "{instructions:u,instructions:k,instructions}"
    theirs = perf("-e", events, "-p", load.pid)
    ours = stat(tool, "-e", events, "-p", load.pid)
    work(load)
    found, expected = exact(ours.stop().report), theirs.stop()
    assert found["instructions:u"] == expected["instructions:u"]
    # The first counter to start also counts the few instructions until the next one starts.
    whole = found["instructions:u"] + found["instructions:k"]
    assert abs(found["instructions"] - whole) < whole / 100
    # The kernel's code that switches counters is counted, and each of the two tools has its own counters to switch.
    assert expected["instructions:k"] / 2 < found["instructions:k"] < expected["instructions:k"] * 2


def test_ratio(tool, trigger):
    """insn per cycle is the ratio of the two counts; under -icount the guest's clock determines it."""
    load = spinning(trigger)
    ours = stat(tool, "-e", ",".join(BOTH), "-p", load.pid)
    work(load)
    report = ours.stop().report
    found = exact(report)
    row, = (row for row in report["rows"] if row["event"] == "instructions:u")
    assert row["of"] == "insn per cycle"
    assert row["ratio"] == pytest.approx(found["instructions:u"] / found["cycles:u"])
    if LEAPS:
        assert row["ratio"] == pytest.approx(0.25, rel=0.001)


def test_by_name(tool, trigger, perf):
    """Two programs on the same CPUs at once, each with its own counts."""
    loads = [spinning(trigger, ms, comm=comm) for ms, comm in ((40, "first"), (80, "second"))]
    each = [perf("-e", "instructions:u", "-p", load.pid) for load in loads]
    pids = ",".join(str(load.pid) for load in loads)
    ours = stat(tool, "-e", "instructions:u", "--by", "comm", "-p", pids)
    work(*loads)
    report = ours.stop().report
    assert not lost(report), report
    expected = {(comm, "instructions:u"): one.stop()["instructions:u"] for comm, one in zip(("first", "second"), each)}
    assert counts(report, "comm") == expected


def test_intervals_are_the_whole(tool, trigger, perf):
    load = spinning(trigger, 250)
    theirs = perf("-e", "instructions:u", "-p", load.pid)
    ours = stat(tool, "-e", "instructions:u", "-p", load.pid, "-I", 50)
    work(load)
    reports = ours.stop().reports
    assert len(reports) >= 2
    assert sum(exact(each)["instructions:u"] for each in reports) == theirs.stop()["instructions:u"]


@pytest.mark.skipif(not ARM_PMU, reason="its names are those of arm64")
def test_raw_and_named_events(tool, trigger, perf):
    """The same event by three names."""
    names = ["instructions:u", "r08:u", f"{ARM_PMU}/inst_retired/u"]
    load = spinning(trigger)
    theirs = perf("-e", names[0], "-p", load.pid)
    ours = stat(tool, "-e", ",".join(names), "-p", load.pid)
    work(load)
    assert exact(ours.stop().report) == dict.fromkeys(names, theirs.stop()[names[0]])


@pytest.mark.skipif(not ARM_PMU, reason="how many counters there are is known of QEMU's")
def test_more_events_than_counters(tool, trigger):
    """Nine events take turns on seven counters. Counts are scaled up, and a column has the share of the time that each
    one counted."""
    load = spinning(trigger, 600)
    one = stat(tool, "-e", "instructions:u", "-p", load.pid)
    work(load)
    alone = exact(one.stop().report)["instructions:u"]

    load = spinning(trigger, 600)
    names = [
        "instructions:u",
        "r08:u",
        "instructions:k",
        "r08:k",
        "instructions",
        "r08",
        "cycles:u",
        "cycles:k",
        "cycles",
    ]
    nine = stat(tool, "-e", ",".join(names), "-p", load.pid)
    work(load)
    report = nine.stop().report
    found = counts(report)
    assert set(found) == set(names)
    for row in report["rows"]:
        # A turn is one tick, and the last one is not whole.
        assert row["running_percent"] == pytest.approx(100 * 7 / 9, abs=5), report["rows"]
    # The loop does the same all the time: 7 of 9 turns represent all of them. Not exactly: spin() ends by the clock,
    # and an emulated machine's interrupts take a share.
    for same in ("instructions:u", "r08:u"):
        assert found[same] == pytest.approx(alone, rel=0.05)


def slices(pid):
    """How often it was put on a CPU."""
    return tally.total(tally.books_of_threads(pid)).count


# Some hundred samples a second: the kernel holds some back if there are more and they take long
# (perf_event_max_sample_rate).
PERIOD = 2_000_000


@pytest.mark.parametrize("event", BOTH)
def test_a_sample_each_period(tool, trigger, perf, directory, event):
    """Counters belong to CPUs, and the next sample includes events of other tasks there since the last one: so each
    slice on a CPU may have one sample more or less than the task's own counter implies."""
    def trial():
        load = spinning(trigger, 120)
        counted = perf("-e", event, "-p", load.pid)
        data = directory / f"perf.data{len(os.listdir(directory))}"
        recorder = perf("-e", event, "-c", PERIOD, "-p", load.pid, record=data)
        ours = tool("--json", "-e", event, "-c", PERIOD, "-p", load.pid, tool="profile")
        before = slices(load.pid)
        work(load)
        turns = slices(load.pid) - before
        report = ours.stop().report
        recorder.end()
        expected = counted.stop()[event] / PERIOD
        said = subprocess.run([*PERF, "script", "-F", "pid", "-i", data], capture_output=True, text=True, check=True)
        theirs = said.stdout.count("\n")
        samples = sum(each["value"] for each in report["stacks"]) / PERIOD
        figures = samples, theirs, expected, turns
        assert expected > 5 and theirs <= expected + 1 and samples <= expected + turns + 1, figures
        if not lost(report) and not report.get("throttled"):
            assert samples >= expected - turns - 1, figures
        elif LEAPS and "instructions" in event:
            # Under -icount QEMU counts the instructions of all CPUs on each: more are counted than samples can show.
            assert samples >= expected / 2, figures
        else:
            raise tally.Blurred     # the kernel held samples back (perf has fewer, too), and the report says so

    tally.steady(trial)


def test_a_frequency(tool, trigger, perf):
    """profile -F on a counter: the kernel changes the period while it samples. Each sample weighs its period, so the
    sum of samples is the count, except for periods under way."""
    load = spinning(trigger, 500)
    counted = perf("-e", "cycles:u", "-p", load.pid)
    ours = tool("--json", "-e", "cycles:u", "-F", 200, "-p", load.pid, tool="profile")
    work(load)
    report = ours.stop().report
    assert not lost(report), report
    assert sum(each["value"] for each in report["stacks"]) == pytest.approx(counted.stop()["cycles:u"], rel=0.05)


LOOP = {"x86_64": 6, "aarch64": 4}.get(os.uname().machine)
ROUNDS = 1_000_000


@pytest.mark.skipif(not LOOP, reason="its loop is written for other machines")
def test_instructions_of_a_call(tool, trigger):
    """probe --with: a function with a known number of instructions in its loop, and fewer than a hundred around it."""
    load = trigger("hotspot", 40, -1)
    ours = tool(
        "--json",
        "-p",
        load.pid,
        "-x",
        BUILD / "triggers" / "hotspot",
        "hot",
        "--latency",
        "--with",
        "instructions:u",
        tool="probe",
    )
    work(load)
    report = ours.stop().report
    assert not lost(report), report
    row, = report["rows"]
    # QEMU adds the instructions of its other CPUs: see above.
    around = ROUNDS // 25 if LEAPS else 100
    assert row["count"] > 0 and ROUNDS * LOOP <= row["instructions:u"] / row["count"] < ROUNDS * LOOP + around, row


@pytest.mark.skipif(not LOOP or not tally.takes_code_apart(), reason="needs its loop, and capstone")
def test_where_instructions_are(tool, trigger):
    """profile --annotate by a counter: samples are in the loop."""
    load = trigger("hotspot", 120, -1)
    ours = tool("--json", "-e", "instructions:u", "-c", PERIOD, "-p", load.pid, "--annotate", "hot", tool="profile")
    work(load)
    report = ours.stop().report
    function, = report["functions"]
    code = function["instructions"]
    nops = [i for i, each in enumerate(code) if each["mnemonic"] == "nop"]
    begin, = (i + 1 for i in nops if i + 1 not in nops and i != nops[-1])
    inside = sum(each["value"] for each in code[begin:begin + LOOP])
    # Emulated CPUs take interrupts where a translated block of code begins: before the loop, at the function.
    assert inside >= 5 * PERIOD and inside >= 0.9 * sum(each["value"] for each in code), code
