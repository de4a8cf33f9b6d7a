# SPDX-License-Identifier: BSD-2-Clause
"""runqlen: of N tasks that never sleep, pinned to one CPU, each sample finds N - 1 waiting.

Never fewer, while they spin. Sometimes more: other tasks come to that CPU, wait there or make the N wait. So the
minimum must be right, and on a quiet machine it is the usual number. Which samples come is random, and so is how many:
shares need steady().
"""

import os
import re
import signal
import time
from pathlib import Path

import pytest

import cgroups
import tally
from tally import by_key, count, flaws, once, steady, within

pytestmark = pytest.mark.exclusive

LIMIT = Path("/proc/sys/kernel/perf_event_max_sample_rate")
CPU = 1
SECONDS = 1 if tally.GUEST else 0.4
HZ = 49 if tally.GUEST else 199


@pytest.fixture
def spin(trigger, ends):
    """Starts n tasks that spin on CPU until the test ends: spin(3, "chrt", "-f", "1")."""

    def start(n, *command, group=None):
        load = trigger("spin", n, 600_000, CPU, command=command)
        ends.callback(tally.end_process, load.process)
        if group:
            group.add(load.pid)
        load.go()
        workers = [tid for tid in load.tids() if tid != load.pid]
        tally.wait_until(lambda: all(tally.state(load.pid, tid) == "R" for tid in workers),
                         "spinners that run or wait")
        return load

    return start


def running_tasks():
    """Running and runnable tasks, on all CPUs."""
    return int(re.search(r"^procs_running (\d+)", Path("/proc/stat").read_text(), re.M)[1])


def look(run, *args):
    """The report for the CPU, with the number of other tasks as others: a quiet machine has a few."""
    before = running_tasks()
    result = run("--json", "-C", CPU, "-F", HZ, "-d", SECONDS, *args, tool="runqlen")
    assert result.code == 0, result
    report = result.report
    assert {reason for reason, n in flaws(report).items() if n} <= {"missed"}, report
    report["others"] = max(before, running_tasks())
    return report


def share(groups, least, most=float("inf")):
    """The share of samples with so many tasks waiting."""
    within(count(groups) > 0, "no samples")
    wanted = (n for (first, last), n in tally.buckets(groups).items()
              if least <= first and last <= most)
    return sum(wanted) / count(groups)


def check_queue(report, waiting, spinners):
    within(share(report["groups"], waiting) >= 0.95, report)
    if report["others"] <= spinners + 1:
        within(share(report["groups"], waiting, waiting + 2) >= 0.5, report)


@pytest.mark.parametrize("n", (1, 4))
def test_spinners(run, spin, n):
    spin(n)

    def trial():
        report = look(run)
        assert report["value"] == "tasks waiting" and report["unit"] == "count", report
        check_queue(report, n - 1, n)

    steady(trial)


def test_classes(run, spin):
    """One spinner of a real-time class runs while three of the fair class wait: none in the fair class's queue is
    running. (Real-time tasks are throttled for 5 % of the time, when one of the three runs.)"""
    spin(3)
    spin(1, "chrt", "-f", "1")

    def trial():
        everything = look(run)
        assert everything["source"].startswith("tasks of all classes on the run queue"), everything
        check_queue(everything, 3, 4)
        fair = look(run, "--class", "fair")
        assert fair["source"].startswith("tasks of the fair class on the run queue"), fair
        within(share(fair["groups"], 2) >= 0.95 and share(fair["groups"], 3) >= 0.7, fair)

    steady(trial)


def test_tasks_of_cgroups(run, spin, cgroup):
    """cgroups have queues of their own on a CPU, and tasks in all of them count."""
    hierarchy = cgroups.default_hierarchy()
    if hierarchy.name == "v2":
        (hierarchy.mount / "cgroup.subtree_control").write_text("+cpu")
    spin(2, group=cgroup(hierarchy, ""))
    spin(1)

    def trial():
        check_queue(look(run, "--class", "fair"), 2, 3)
        check_queue(look(run), 2, 3)

    steady(trial)


def due(report, hz, cpus):
    return report["duration_ns"] * hz // 1_000_000_000 * cpus


def test_every_sample_is_there_or_missed(run):
    """Idle CPUs, too: missing samples are counted, so that shares can be judged."""

    def trial():
        report = run("--json", "-F", HZ, "-I", 250, "-d", 1, tool="runqlen").reports
        events = sum(r["events"] for r in report)
        missed = sum(r["lost"]["missed"] for r in report)
        expected = sum(due(r, HZ, r["cpus"]) for r in report)
        cpus = report[0]["cpus"]
        within(events + missed >= expected - 2 * cpus, report)
        within(events + missed <= expected + cpus * (len(report) + 2 + HZ // 10), report)

    steady(trial)


def idle_seconds(cpu):
    """The CPU's idle time in the kernel's accounting."""
    fields = re.search(rf"^cpu{cpu} (.*)$", Path("/proc/stat").read_text(), re.M)[1].split()
    return (int(fields[3]) + int(fields[4])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("intervals", ((), ("-I", 200)))
@pytest.mark.skipif(os.cpu_count() < 2, reason="one CPU is busy, the other idle")
def test_idle_cpus_are_zeros(run, spin, intervals):
    """The timer need not wake an idle CPU: its samples are zeros, and not missed."""
    spin(3)

    def trial():
        idle_before = idle_seconds(0)
        reports = run("--json", "-A", "-F", HZ, "-d", SECONDS, *intervals, tool="runqlen").reports
        idle = idle_seconds(0) - idle_before
        groups = [group for report in reports for group in report["groups"] if group["key"]["cpu"] == 0]
        zeros = sum(n for (first, _), n in tally.buckets(groups).items() if first == 0)
        within(zeros >= HZ * min(idle, SECONDS) * 0.8 - 4, idle, reports)

    steady(trial)


@pytest.mark.skipif(bool(tally.GUEST), reason="an emulated CPU is held up all the time")
def test_a_busy_cpu_is_sampled(run, spin):
    spin(1)

    def trial():
        report = look(run)
        within(report["events"] >= due(report, HZ, 1) // 2, report)
        within(abs(report["events"] + report["lost"]["missed"] - due(report, HZ, 1)) <= 3, report)

    steady(trial)


@pytest.mark.parametrize("option", (("-A",), ("--by", "cpu")))
def test_by_cpu(run, spin, option):
    spin(3)

    def trial():
        report = run("--json", "-F", HZ, "-d", SECONDS, *option, tool="runqlen").report
        groups = by_key(report, "cpu")
        assert set(groups) <= set(range(report["cpus"])), report
        within(CPU in groups, report)
        within(share([groups[CPU]], 2) >= 0.95, report)

    steady(trial)


def test_small_numbers_stand_by_themselves(run, spin):
    """A row for each number, an average with decimals, and the share of samples above 0."""
    spin(3)

    def trial():
        text = run("-C", CPU, "-d", SECONDS, tool="runqlen").text
        within(re.search(r"avg \d+\.\d\d  above 0 (100\.0|9\d\.\d)%", text), text)
        if "..." not in text and " - " not in text:
            assert re.search(r"^ +\d {10,}[\d,]+ +[\d.]+% +\|#+$", text, re.M), text

    steady(trial)


@once
def test_a_rate_above_the_limit(run):
    limit = int(LIMIT.read_text())
    result = run("-F", limit + 1, tool="runqlen")
    assert result.code == 2 and str(limit) in result.stderr, result
    assert "kernel.perf_event_max_sample_rate" in result.stderr, result


@once
@pytest.mark.parametrize("args, said", (
    (("-F", "0"), "-F"), (("-F", "9x"), "9x"), (("--by", "pid"), "cpu"),
    (("--class", "rt"), "fair"), (("-p", "1"), "-p"),
))
def test_wrong_usage(run, args, said):
    result = run(*args, tool="runqlen")
    assert result.code == 2 and said in result.stderr and not result.stdout, result


@once
def test_no_such_cpu(run):
    result = run("-C", 4095, tool="runqlen")
    assert result.code in (1, 2) and "-C" in result.stderr, result


def test_explain(run):
    result = run("-n", "-F", 49, tool="runqlen")
    assert result.code == 0 and "49 times a second" in result.text, result


def test_a_command_sets_the_time(run):
    report = run("--json", "--", "sleep", "0.2", tool="runqlen").report
    assert report["duration_ns"] >= 200_000_000 and report["filtered"] == 0, report


def test_a_stopped_tool_misses_nothing(tool):
    """The kernel goes on sampling while the tool is stopped."""

    def trial():
        tracer = tool("--json", "-F", HZ, tool="runqlen")
        tracer.process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        tracer.process.send_signal(signal.SIGCONT)
        report = tracer.stop().report
        sampled = report["events"] + report["lost"]["missed"]
        within(sampled >= due(report, HZ, report["cpus"]) - 4, report)

    steady(trial)
