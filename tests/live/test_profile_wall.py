# SPDX-License-Identifier: BSD-2-Clause
"""profile --wall: time of tasks on and off the CPU adds up, against clocks, the kernel's accounting and offcputime."""

import json
import time

import pytest

import tally
from tally import GUEST, Blurred, flaws, steady, within

HZ = 97 if GUEST else 499
PERIOD = 1_000_000_000 // HZ
ON, OFF = "[on-CPU]", "[off-CPU: "
STATES = "sleep,disk,idle,stopped,traced,other,preempted"
ROUNDS, US, MS = (20, 5000, 60) if GUEST else (60, 2000, 150)


# The verifier of 5.10 refuses the programs if the scope is a set of processes, or a command.
not_on_old = pytest.mark.skipif(
    tally.KERNEL < (5, 13), reason="--wall with a command: refused by this kernel's verifier"
)


def whole(*reports):
    """As in test_offcputime.py: if the kernel hid switches, the tool says so, and the figures prove nothing."""
    for report in reports:
        lost = {name: n for name, n in flaws(report).items() if n and name not in ("truncated", "incomplete")}
        if set(lost) <= {"missed", "unmatched"} and lost and (tally.pvm_guest() or GUEST):
            raise Blurred
        assert not lost, report


def first(stack):
    return stack["frames"][0]["name"]


def split(report):
    """{tid: {first frame: ns}}"""
    times = {}
    for stack in report["stacks"]:
        place = times.setdefault(stack["key"]["tid"], {})
        place[first(stack)] = place.get(first(stack), 0) + stack["value"]
    return times


def cpu_of(loads):
    for load in loads:
        load.settle()
    return {tid: int(open(f"/proc/{load.pid}/task/{tid}/schedstat").read().split()[0])
            for load in loads for tid in load.tids()}


def of_command(run, *args):
    """The report, which follows the command's own output."""
    text = run("--wall", "--json", *args, tool="profile").text
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


@not_on_old
def test_on_and_off_are_all_there_is(tool, trigger):
    """Threads that sleep and threads that share one CPU, all from before the run until after it: each thread's time is
    the whole run, exactly, and its time on the CPU is that of the kernel's accounting.

    Both ends of each piece are one reading of one clock, and the run ends for all of them at one more reading: so the
    sums of all threads are equal, however few samples there were. A period of the sampling clock is far longer than the
    clocks of two CPUs differ, and is the error of one sample too many or too few. The kernel's accounting uses the
    clock of the run queue, which is read a moment before the switch.
    """
    def trial():
        loads = trigger("sleepers", 3, ROUNDS, US, -1), trigger("spin", 2, MS, 0)
        before, began = cpu_of(loads), time.monotonic_ns()
        tracer = tool(
            "--json",
            "--wall",
            "--idle",
            "-F",
            HZ,
            "-p",
            f"{loads[0].pid},{loads[1].pid}",
            "--by",
            "tid",
            tool="profile",
        )
        ready = time.monotonic_ns()
        for load in loads:
            load.go()
        for load in loads:
            load.done()
        last, after = time.monotonic_ns(), cpu_of(loads)
        report = tracer.stop().report
        ended = time.monotonic_ns()
        whole(report)
        times = split(report)
        sums = {tid: sum(parts.values()) for tid, parts in times.items()}
        assert set(sums) == set(before) == set(after), (sums, before)
        assert max(sums.values()) - min(sums.values()) < PERIOD, (sums, times)
        assert last - ready <= min(sums.values()) and max(sums.values()) <= ended - began, (
            sums,
            last - ready,
            ended - began,
        )
        for tid, parts in times.items():
            ran = after[tid] - before[tid]
            within(abs(parts.get(ON, 0) - ran) <= 0.02 * ran + PERIOD, tid, parts, ran)
        spun = [tid for tid, parts in times.items() if parts.get(ON, 0) >= MS * 900_000]
        assert len(spun) == 2, times
        # Both share one CPU: each waited while the other ran.
        assert all(times[tid][OFF + "preempted]"] >= MS * 500_000 for tid in spun), times

    steady(trial)


def test_off_is_what_offcputime_says(tool, trigger):
    """The same switches in one run, by thread and state."""
    def trial():
        load = trigger("sleepers", 3, ROUNDS, US, -1)
        run = tool("--json", "-p", load.pid, f"profile --wall --idle -F {HZ} --by tid",
                   f"offcputime --state {STATES} --by tid,state", tool="run")
        load.go()
        load.done()
        load.settle()
        wall, blocked = run.stop().reports
        whole(wall, blocked)
        theirs = {}
        for stack in blocked["stacks"]:
            key = stack["key"]["tid"], f"{OFF}{stack['key']['state']}]"
            theirs[key] = theirs.get(key, 0) + stack["value"]
        ours = {(tid, kind): ns for tid, parts in split(wall).items() for kind, ns in parts.items() if kind != ON}
        assert theirs and set(ours) >= set(theirs), (ours, theirs)
        for key, ns in theirs.items():
            # The two measurements read the clock separately, twice for each slice, and end separately.
            within(abs(ours[key] - ns) <= 0.02 * ns + PERIOD, key, ours[key], ns)

    steady(trial)


@tally.once
def test_samples_say_where(run):
    """The functions that a command runs in, by their known shares: some 400 samples, so that shares have a standard
    deviation of 0.023 at most; an emulated CPU takes fewer samples, and takes them late."""
    def trial():
        path = tally.BUILD / "triggers" / "shares"
        report = of_command(run, "-F", HZ, "--", path, 800, -1)
        whole(report)
        on = sum(s["value"] for s in report["stacks"] if first(s) == ON)
        def share(name):
            return sum(s["value"] for s in report["stacks"] if first(s) == ON and
                       name in [f["name"] for f in s["frames"]]) / on
        within(share("seventy") == pytest.approx(0.7, abs=0.12), report)
        within(share("twenty") == pytest.approx(0.2, abs=0.12), report)

    steady(trial)


def test_sleepers_are_left_out_and_told(tool, trigger, run):
    load = trigger("blocks", 2, 1, 1)
    load.go()
    load.settle()
    tally.wait_until(lambda: tally.state(load.pid) == "S", "it does not block")
    report = run("--json", "--wall", "-p", load.pid, "-d", "0.2", tool="profile").report
    assert not report["stacks"] and "1 task that slept through the whole run is left out" in report["note"], report
    report = run("--json", "--wall", "--idle", "-p", load.pid, "-d", "0.2", tool="profile").report
    assert [first(s) for s in report["stacks"]] == [OFF + "sleep]"], report
    assert "left out" not in (report.get("note") or ""), report
    tally.end_process(load.process)


def test_intervals_add_up(tool, trigger):
    """Time missing from one interval is in another."""
    def trial():
        load = trigger("sleepers", 2, ROUNDS, US, -1)
        began = time.monotonic_ns()
        tracer = tool("--json", "--wall", "--idle", "-F", HZ, "-p", load.pid, "--by", "tid", "-I", 50, tool="profile")
        ready = time.monotonic_ns()
        load.go()
        load.done()
        last = time.monotonic_ns()
        reports = tracer.stop().reports
        ended = time.monotonic_ns()
        whole(*reports)
        assert len(reports) > 1
        sums = {}
        for report in reports:
            for tid, parts in split(report).items():
                sums[tid] = sums.get(tid, 0) + sum(parts.values())
        assert max(sums.values()) - min(sums.values()) < PERIOD, sums
        assert last - ready <= min(sums.values()) and max(sums.values()) <= ended - began, (
            sums,
            last - ready,
            ended - began,
        )

    steady(trial)


@not_on_old
def test_forms(run, tmp_path):
    """A flame graph has its own colours for time off the CPU; a table has the state."""
    path = tally.BUILD / "triggers" / "blocks"
    picture = tmp_path / "wall.svg"
    run("--wall", "--format", "flame", "-o", picture, "--", path, 0, 5, 3000, tool="profile")
    text = picture.read_text()
    assert "[off-CPU: sleep]" in text and '<g class="x' in text and '<g class="y' in text, text[:3000]
    lines = run("--wall", "--format", "folded", "--", path, 0, 5, 3000, tool="profile").text.splitlines()
    assert any(";[off-CPU: sleep];" in line and ";main;work;long_naps;" in line for line in lines), lines
    rows = of_command(run, "--by", "sym", "--", path, 0, 5, 3000)["rows"]
    assert {"sleep", "on-CPU"} <= {row["state"] for row in rows}, rows


@pytest.mark.parametrize("args, said", (
    (("-e", "cs"), "--wall and -e"),
    (("-C", "0"), "--wall cannot be combined with -C or --by cpu"),
    (("--by", "cpu"), "--wall cannot be combined with -C or --by cpu"),
    (("--annotate", "main"), "--wall cannot be combined with --live or --annotate"),
    (("--live",), "--wall cannot be combined with --live or --annotate"),
), ids=str)
def test_what_does_not_go_with_it(run, args, said):
    result = run("--wall", *args, "-d", "1", tool="profile")
    assert result.code == 2 and said in result.stderr, result
