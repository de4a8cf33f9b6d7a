# SPDX-License-Identifier: BSD-2-Clause
"""profile -e: samples of events other than the clock, against the kernel's own counts."""

import functools
import os

import pytest

import schema
import tally
from counted import exactly, since, usage
from tally import GUEST, scaled, steady, within

CPU = 1
GETPPID = 110
HAS_PMU = os.path.exists("/sys/bus/event_source/devices/cpu")


@pytest.fixture
def profile(tool):
    return functools.partial(tool, "--json", tool="profile")


def work(load):
    """Runs the load until it rests: it says that it is done before its last switch."""
    load.go()
    load.done()
    load.settle()


def checked(report, event):
    """The kernel runs no program on a CPU that is writing to a map of another one: nobody knows whose events it left
    out."""
    if report["lost"]["missed"] or report["lost"]["recursion"]:
        raise tally.Blurred
    schema.check(report)
    assert report["value"] == event, report
    assert report["events"] == sum(stack["value"] for stack in report["stacks"]), report
    return report


# --- every one -------------------------------------------------------------------------------------

def test_each_page_fault(profile, trigger):
    """As many faults as the kernel charges to the process, and they come from touch()."""
    def trial():
        load = trigger("faults", scaled(500), 2, 0)
        tracer = profile("-e", "page-faults", "-c", 1, "-p", load.pid)
        before = usage(load.pid)
        work(load)
        happened = since(before, load.pid)
        report = checked(tracer.stop().report, "page-faults")
        assert report["events"] == happened.minor + happened.major, (report["events"], happened)
        touched = sum(s["value"] for s in report["stacks"] if "touch" in [f["name"] for f in s["frames"]])
        assert 2 * scaled(500) <= touched <= report["events"], touched

    steady(trial)


def test_modifiers(profile, trigger):
    """touch() makes no system call that needs new memory: all of its faults are in user mode."""
    def trial():
        load = trigger("faults", scaled(500), 1, 0)
        tracers = [profile("-e", f"page-faults{of}", "-c", 1, "-p", load.pid) for of in ("", ":u", ":k")]
        work(load)
        both, user, kernel = (checked(tracer.stop().report, f"page-faults{of}")
                              for tracer, of in zip(tracers, ("", ":u", ":k")))
        assert user["events"] >= scaled(500) and user["events"] + kernel["events"] == both["events"]
        assert not any("touch" == s["frames"][-1]["name"] for s in kernel["stacks"]), kernel

    steady(trial)


def test_each_switch(profile, trigger):
    def trial():
        load = trigger("pingpong", scaled(500), 0)
        tracer = profile("-e", "cs", "-c", 1, "-t", load.pid, "-K")
        before = usage(load.pid, load.pid)
        work(load)
        report = checked(tracer.stop().report, "cs")
        happened = since(before, load.pid, load.pid)    # includes its last switch, possibly after "done"

        def check():
            assert report["events"] == happened.voluntary + happened.involuntary, (report["events"], happened)
            assert report["events"] >= scaled(500)

        return check

    exactly(trial)


# --- some of them ----------------------------------------------------------------------------------

@pytest.mark.parametrize("n, every", ((1000, 1), (1000, 7), (5, 7), (700, 100)))
def test_every_nth_of_a_tracepoint(profile, trigger, n, every):
    """Only the load makes this call, on one CPU: each N calls make one sample, which counts as N."""
    def trial():
        load = trigger("syscalls", 1, f"{GETPPID}:{n}", command=("taskset", "-c", str(CPU)))
        tracer = profile("-e", "syscalls:sys_enter_getppid", "-c", every, "-p", load.pid)
        work(load)
        report = checked(tracer.stop().report, "syscalls:sys_enter_getppid")
        assert report["events"] == n // every * every, report

    steady(trial)


def test_every_nth_of_a_counter(profile, trigger):
    """The sum of the samples is a multiple of N and, on each CPU, within N of the kernel's own count; no sample is
    missed."""
    steady(functools.partial(compare_with_stat, profile, trigger))


def compare_with_stat(profile, trigger):
    load = trigger("faults", scaled(2000), 2, 0)
    counter = tally.Tool("--json", "-a", "-e", "page-faults", tool="stat")
    try:
        before = usage(load.pid)
        tracer = profile("-e", "page-faults", "-c", 100, "--idle")
        work(load)
        happened = since(before, load.pid)
        report = checked(tracer.stop().report, "page-faults")
        most = next(row["count"] for row in counter.stop().report["rows"])
    finally:
        counter.close()
    found = report["events"] + report["filtered"]
    assert found % 100 == 0, report
    assert happened.minor + happened.major - 100 * os.cpu_count() < found <= most + 100 * os.cpu_count(), (
        found, happened, most)


def test_a_frequency_is_weighted(profile, trigger):
    """Samples stand for the events of their period: the sum is the number of events, not of samples."""
    def trial():
        load = trigger("faults", scaled(200_000), 1, 0)
        tracer = profile("-e", "page-faults", "-F", 999, "-p", load.pid)
        before = usage(load.pid)
        work(load)
        happened = since(before, load.pid)
        report = checked(tracer.stop().report, "page-faults")
        within(0.5 * happened.minor <= report["events"] <= 1.5 * happened.minor, report["events"], happened)

    steady(trial)


def test_a_clock_is_time(profile, trigger):
    """The period is in nanoseconds, and there is a sample for each period of CPU time."""
    def trial():
        load = trigger("shares", 300, CPU)
        tracer = profile("-e", "task-clock", "-c", 5_000_000, "-p", load.pid)
        load.go()
        due = sum(load.done()) / 1e6 / 0.005
        report = tracer.stop().report
        assert report["value"] == "CPU time", report
        within((0.1 if GUEST else 0.9) * due - 3 <= report["events"] <= 1.1 * due + 3, report["events"], due)

    steady(trial)


# --- what is refused -------------------------------------------------------------------------------

@pytest.mark.parametrize("args, said", (
    (("-c", 3), "-c needs -e"),
    (("-e", "cs", "-c", 3, "-F", 9), "-c and -F cannot be combined"),
    (("-e", "cs", "-c", 0), "'0' is not a number of events"),
    (("-e", "sched:*"), "one run samples at most 8 events"),
    (("-e", "nosuch:*"), "no tracepoint system 'nosuch'"),
    (("-e", "sched:sched_switch", "-F", 99), "-c N"),
    (("-e", "vfs_read"), "neither a counter nor a tracepoint"),
    (("-e", "duration_time"), "duration_time cannot be used for sampling"),
    (("-e", "page-fualts"), "did you mean page-faults?"),
    (("-F", 100_000_000), "samples per second exceed kernel.perf_event_max_sample_rate, which is"),
), ids=str)
def test_refused(run, args, said):
    result = run(*args, "-d", 0.1, tool="profile")
    assert result.code == 2 and said in result.stderr and not result.stdout, result


@pytest.mark.parametrize("event, said", (
    ("nosuch:*", "`list --summary` shows the systems"), ("nosuch:sched_sw*", "`list --summary` shows the systems"),
    ("shed:*", "did you mean sched:*?"), ("nosuch:sched_switch", "did you mean sched:sched_switch?"),
    ("shed:sched_switch", "did you mean sched:sched_switch?"), ("sched:nosuch*", "`list 'sched:*'` shows"),
), ids=str)
def test_only_near_names_are_suggested(run, event, said):
    """Names that a glob matches in other systems are no suggestion for a system that does not exist."""
    result = run("-e", event, "-d", 0.1, tool="profile")
    assert result.code == (2 if "*" in event else 1) and said in result.stderr, result
    assert result.stderr.count("did you mean") <= 1, result


@pytest.mark.skipif(HAS_PMU, reason="there are hardware counters here")
def test_no_hardware_counters(run):
    """The message is one sentence; nothing else is sampled instead."""
    result = run("-e", "LLC-load-misses", "-c", 100, "-d", 0.1, tool="profile")
    assert result.code == 4 and "no hardware counters" in result.stderr and not result.stdout, result


def test_explained(run):
    result = run("-n", "-e", "page-faults", "-c", 10, tool="profile")
    assert result.code == 0 and "page-faults, one sample per 10 events" in result.text, result
