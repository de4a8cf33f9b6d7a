# SPDX-License-Identifier: BSD-2-Clause
"""probe --with: by how much counters advance between a begin and its end, in that thread and no other."""

from pathlib import Path

import pytest

from probing import Probe, alike, binary, nothing_lost, report_of
from tally import Blurred, count, needs_dwarf, pvm_guest, scaled, steady, within

COSTS = binary("costs")
COSTLY = ("-x", COSTS, "costly", "--latency")


def whole(report):
    """A report without gaps. Some virtual machines hide switches: calls with a hidden switch are lost, and the report
    says so."""
    if report["lost"]["missed"] and pvm_guest():
        raise Blurred
    assert nothing_lost(report), report
    return report


def costs(tool, trigger, load, *args):
    """(the report, faults and switches (inside, around) the calls by getrusage(2), ns slept)"""
    each = Probe(tool, trigger("costs", *load), *args)
    report = whole(report_of(each.work()))
    faults_in, faults_around, switches_in, switches_around, slept = each.numbers[0]
    return report, (faults_in, faults_around), (switches_in, switches_around), slept


def between(n, bounds):
    return bounds[0] <= n <= bounds[1]


def test_faults_and_switches(tool, trigger):
    """Threads sleep and move between CPUs inside the call: counts are exact, by getrusage()."""
    n, threads, moves = scaled(40), 2, 2

    def trial():
        report, faults, switches, _ = costs(
            tool, trigger, (n, 10, 500, moves, threads), *COSTLY, "--count", "--with",
            "page-faults,context-switches,cpu-migrations")
        row, = report["rows"]
        assert row["count"] == n * threads
        assert between(row["page-faults"], faults) and faults[0] >= n // 2 * 10 * threads
        assert between(row["context-switches"], switches) and switches[0] >= n * threads * (moves + 1)
        assert row["cpu-migrations"] >= n * threads * moves
        assert row["page-faults/call"] == pytest.approx(row["page-faults"] / row["count"], abs=0.01)

    steady(trial)


def test_others_on_the_same_cpu_are_not_counted(tool, trigger):
    """While a call sleeps, another process has hundreds of faults on its CPU."""
    n = scaled(40)

    def trial():
        pinned = ("taskset", "-c", "1")
        other = trigger("costs", 100 * n, 100, 0, 0, 1, command=pinned)
        load = trigger("costs", n, 4, 5000, 0, 1, command=pinned)
        tracer = Probe(tool, load, *COSTLY, "--count", "--with", "page-faults,page-faults:u")
        other.go()
        report = whole(report_of(tracer.work()))
        noise = other.done()[0]
        inside, around, *_ = tracer.numbers[0]
        row, = report["rows"]
        assert between(row["page-faults"], (inside, around)), (row, inside, around)
        assert row["page-faults:u"] <= row["page-faults"]
        assert noise > 100 * around

    steady(trial)


def test_time_on_the_cpu(tool, trigger):
    """Sleep in a call is in its latency, and not in its task-clock."""
    n = scaled(40)

    def trial():
        report, _, _, slept = costs(tool, trigger, (n, 0, 2000, 1, 1), *COSTLY, "--with", "task-clock")
        row, = report["rows"]
        assert row["count"] == n and row["avg"] == row["sum"] // n
        assert row["task-clock/call"] == row["task-clock"] // n
        assert row["sum"] >= slept
        # Half of the sleep allows for the time until the sleeper leaves its CPU; on this machine a hundredth would do.
        assert 0 < row["task-clock"] <= row["sum"] - slept // 2

    steady(trial)


@needs_dwarf
def test_by_key_and_with_other_figures(tool, trigger):
    """Calls with an odd argument touch pages, the others none."""
    n = scaled(40) // 2 * 2

    def trial():
        report, faults, *_ = costs(tool, trigger, (n, 10, 0, 0, 2), *COSTLY, "--max", "i", "--by",
                                   "odd=$arg1 & 1,tid", "--with", "page-faults")
        rows = report["rows"]
        assert [row["count"] for row in rows] == [n // 2] * 4
        assert {row["odd"]: row["max"] for row in rows} == {0: n - 2, 1: n - 1}
        assert between(sum(row["page-faults"] for row in rows), faults)
        assert all(row["page-faults"] >= 10 * (n // 2) for row in rows if row["odd"])
        # Other faults, on pages of the program itself, count for the first call.
        assert sum(row["page-faults"] for row in rows if not row["odd"]) < 20

    steady(trial)


def test_intervals_add_up(tool, trigger):
    n = 80

    def trial():
        load = trigger("costs", n, 6, 3000, 0, 1)
        tracer = tool("--json", *COSTLY, "--count", "--with", "faults", "-I", 50, "-p", load.pid,
                      tool="probe")
        load.go()
        inside, around, *_ = load.done()
        reports = [whole(report) for report in tracer.stop().reports]
        within(len(reports) > 2, len(reports))
        assert sum(count(report["rows"]) for report in reports) == n
        assert between(sum(row["faults"] for report in reports for row in report["rows"]),
                       (inside, around))

    steady(trial)


def test_filtered_calls_are_left_out(tool, trigger):
    n = scaled(40) // 2 * 2

    def trial():
        report, *_ = costs(tool, trigger, (n, 10, 0, 0, 1), *COSTLY, "--count", "--filter",
                           "!($arg1 & 1) && $elapsed > 0", "--with", "faults")
        row, = report["rows"]
        assert row["count"] == n // 2 == report["filtered"] and row["faults"] < 20

    steady(trial)


def test_system_calls_by_thread(tool, trigger):
    """From one event to another in the same thread: a sleep is a switch, unless it ends before the switch."""
    n = scaled(40)

    def trial():
        report, _, switches, _ = costs(
            tool, trigger, (n, 0, 5000, 0, 2), "--from", "syscalls:sys_enter_clock_nanosleep", "--to",
            "syscalls:sys_exit_clock_nanosleep", "--match", "tid", "--count", "--with", "cs,faults")
        row, = report["rows"]
        assert row["count"] == 2 * n and row["faults"] == 0
        assert n <= row["cs"] <= switches[1]

    steady(trial)


def test_functions_of_the_kernel(tool, trigger):
    """The same by fentry or kprobes, where this kernel has them."""
    if not Path("/sys/bus/event_source/devices/kprobe").exists():
        pytest.skip("this kernel has no kprobes")
    n = scaled(40)

    def trial():
        report, _, switches, _ = costs(tool, trigger, (n, 0, 5000, 0, 2), "hrtimer_nanosleep",
                                       "--latency", "--count", "--with", "cs")
        row, = report["rows"]
        assert row["count"] == 2 * n and n <= row["cs"] <= switches[1]

    steady(trial)


# --- what is wrong -------------------------------------------------------------------------------

@alike
@pytest.mark.parametrize("args, said", (
    (("costly", "--with", "faults"), "--with needs two events: --latency, or --from and --to"),
    (("costly", "--latency", "--with", "sched:sched_switch"), "is not a counter"),
    (("costly", "--latency", "--with", "costly"), "is not a counter"),
    (("costly", "--latency", "--with", "faults,faults"), "faults is given twice"),
    (("costly", "--latency", "--with", "cs,faults,task-clock,cpu-clock,migrations"), "4 counters at most"),
    (("costly", "--latency", "--with", "duration_time"), "$elapsed already gives the time"),
    (("costly", "--latency", "--with", "cs", "--hist", "i"), "cannot be combined with a distribution"),
    (("costly", "--latency", "--with", "cs", "--stream"), "cannot be combined with a distribution"),
    (("--from", "costly", "--to", "costly%return", "--match", "1", "--with", "cs"), "needs tid in --match"),
))
def test_mistakes(run, args, said):
    result = run("-x", COSTS, *args, tool="probe")
    assert result.code == 2 and said in result.stderr, result


@alike
def test_without_hardware_counters(run):
    if Path("/sys/bus/event_source/devices/cpu").exists():
        pytest.skip("this machine has a PMU")
    result = run(*COSTLY, "--with", "faults,instructions", tool="probe")
    assert result.code == 4, result
    assert "--with: cannot count instructions: no hardware counters" in result.stderr
    assert "task-clock works here" in result.stderr
