# SPDX-License-Identifier: BSD-2-Clause
"""stat's counts and output: by name, beside perf, over intervals and runs."""

import csv
import io
import json
import os
import re
import signal
import stat as modes
import subprocess
import sys
from pathlib import Path

import pytest

import schema
import tally
from counted import (GETPPID, SYSCALLS, again_when_skipped, counts, exactly, lost, since,
                     stat, usage, why_no_perf, work)
from tally import BUILD, TEMPEST, once, scaled, steady, wait_until, within

EVENT = "syscalls:sys_enter_getppid"
CALLER = BUILD / "triggers/syscalls"
WITHOUT_PERF = why_no_perf()
needs_perf = pytest.mark.skipif(bool(WITHOUT_PERF), reason=str(WITHOUT_PERF))


@pytest.fixture
def count(run, directory):
    """Runs stat with JSON into a file, apart from the command's output. Returns the result with the reports."""

    def run_stat(*args, **kwargs):
        out = directory / f"report{len(os.listdir(directory))}"
        result = run("--json", "-o", out, *args, tool="stat", **kwargs)
        written = out.read_bytes() if out.exists() else b""
        result.reports_written = tally.Result(0, written, b"").reports
        return result

    return run_stat


def only(result, code=0):
    assert result.code == code and len(result.reports_written) == 1, result
    return result.reports_written[0]


# --- system calls by name --------------------------------------------------------------------------

def each_its_own_number():
    """Calls of a trigger: {name: number}, all different."""
    return {name: 3 + 2 * i for i, name in enumerate(sorted(SYSCALLS))}


def make_calls(trigger, wanted, *more):
    return trigger("syscalls", 1, *(f"{SYSCALLS[name]}:{n}" for name, n in wanted.items()), *more)


@pytest.mark.parametrize("how", ("by name", "glob"))
def test_system_calls_have_the_right_names(tool, trigger, how):
    """The trigger calls by number. Each call's entry and exit count as often as it was made, and no other call does
    except the futex(2) of its barriers."""
    wanted = each_its_own_number()
    load = make_calls(trigger, wanted)
    if how == "glob":
        events = ["syscalls:sys_enter_*", "syscalls:sys_exit_*"]
    else:
        events = [",".join(f"syscalls:sys_{way}_{name}" for way in ("enter", "exit")
                           for name in wanted)]
    tracer = stat(tool, *(arg for event in events for arg in ("-e", event)), "-t", load.numbers[0])
    descriptors = len(os.listdir(f"/proc/{tracer.pid}/fd"))
    work(load)
    report = tracer.stop().report
    found = counts(report)
    for way in ("enter", "exit"):
        prefix = f"syscalls:sys_{way}_"
        calls = {event.removeprefix(prefix): n for event, n in found.items()
                 if event.startswith(prefix)}
        calls.pop("futex", None)
        assert calls == wanted
    assert not lost(report) and report["events"] == sum(found.values())
    assert descriptors < 60, "a descriptor for each of 600 events is what others take"


@tally.needs_32_bit_calls
def test_calls_of_32_bit_programs_are_other_calls(tool, trigger):
    """getpid(2) has number 20 there, which is writev(2) in the 64-bit table. perf leaves these calls out, too: the
    kernel's tracepoints do not report them."""
    load = trigger("syscalls", 1, "i20:50", "i64:50", f"{GETPPID}:7")
    tracer = stat(tool, "-e", "syscalls:sys_enter_*", "-e", "syscalls:sys_exit_*", "-t",
                  load.numbers[0])
    work(load)
    found = counts(tracer.stop().report)
    assert {event: n for event, n in found.items() if "futex" not in event} == {
        "syscalls:sys_enter_getppid": 7, "syscalls:sys_exit_getppid": 7}


@pytest.mark.parametrize("expression, expected", (
    ("count < 10", 20), ("count == 7", 20), ("count >= 10 && count < 1000", 30),
    ("count == 7 || count == 2000", 60), ("fd == 0", 0),
))
def test_filter(tool, trigger, expression, expected):
    load = trigger("syscalls", 1, "0:20:7", "0:30:100", "0:40:2000")
    tracer = stat(tool, "-e", "syscalls:sys_enter_read", "--filter", expression, "-t",
                  load.numbers[0])
    keyed = stat(tool, "-e", "syscalls:sys_enter_read", "--filter", expression, "--by", "tid,comm",
                 "-t", load.numbers[0])
    work(load)
    assert counts(tracer.stop().report) == {"syscalls:sys_enter_read": expected}
    assert counts(keyed.stop().report, "tid", "comm") == (
        {(load.numbers[0], "syscalls", "syscalls:sys_enter_read"): expected} if expected else {})


# Calls whose arguments are kernel typedefs with other widths and signs than the record's 8 bytes.
TYPEDEFS = """
import ctypes, os
libc = ctypes.CDLL(None)
for n in range(30):
    libc.fchown(-1, -1, n % 3 - 1)
    libc.lseek(-1, ctypes.c_long(n - 10), 0)
"""


@pytest.mark.parametrize("call, expression, expected", (
    ("fchown", "user == 0xffffffff", 30), ("fchown", "group == 4294967295", 10), ("fchown", "group <= 1", 20),
    ("lseek", "offset < 0", 10), ("lseek", "offset >= 0 && offset < 5", 5),
))
@pytest.mark.parametrize("keys", ((), ("--by", "comm")), ids=len)
def test_filter_by_typedefs(count, call, expression, expected, keys):
    """Filters compare the values that probe reads."""
    event = f"syscalls:sys_enter_{call}"
    line = "--filter", f"fd == 0xffffffff && {expression}", "--", sys.executable, "-c", TYPEDEFS
    found = only(count("-e", event, *keys, *line))
    assert sum(row["count"] for row in found["rows"]) == expected, found


def test_each_filter_is_that_of_the_event_before_it(tool, trigger):
    """As in perf; events after the last filter have none."""
    load = trigger("syscalls", 1, "0:20:7", "0:30:100", "18:15:7", "18:25:100", f"{GETPPID}:9")
    read, write, parent = (f"syscalls:sys_enter_{name}" for name in ("read", "pwrite64", "getppid"))
    tracer = stat(tool, "-e", read, "--filter", "count == 7", "-e", write, "--filter", "count > 7",
                  "-e", parent, "-t", load.numbers[0])
    work(load)
    assert counts(tracer.stop().report) == {read: 20, write: 25, parent: 9}


def test_scopes_given_again_are_more_of_them(tool, trigger):
    """-p and -t are lists, however they are typed."""
    loads = [trigger("syscalls", 1, f"{GETPPID}:{n}") for n in (3, 40, 500)]
    tracer = stat(tool, "-e", "syscalls:sys_enter_getppid", "-p", loads[0].pid, "-p", loads[1].pid)
    for load in loads:
        load.go()
        load.done()
    assert counts(tracer.stop().report) == {"syscalls:sys_enter_getppid": 43}


@once
@pytest.mark.parametrize("args, code, parts", (
    (("-e", "syscalls:sys_enter_read", "--filter", "nosuch < 10"), 2, ("nosuch", "count")),
    (("-e", "syscalls:sys_enter_read", "--filter", "count <"), 2, ("--filter",)),
    (("-e", "cs", "--filter", "count < 10"), 2, ("--filter needs a tracepoint among the events",)),
    (("-e", "syscalls:sys_enter_read", "--filter", "count < 9", "--filter", "count > 3"), 2,
     ("--filter 'count > 3' needs an -e after the previous --filter",)),
    (("-e", "cs", "--comm", "a", "--comm", "b"), 2, ("--comm is given twice: 'a' and 'b'",)),
    (("-e", "cs", "-u", "root", "-u", "bin"), 2, ("-u is given twice",)),
    (("-e", "cs", "-G", "/a", "-G", "/b"), 2, ("-G is given twice",)),
    (("-e", "cs", "-C", "0", "-C", "1"), 2, ("-C is given twice",)),
    (("-e", "sched:sched_wakeup", "--filter", "prio < 10", "-p", "1"), 2, ("--filter",)),
    (("-e", "cs", "-a", "-p", "1"), 2, ("-a",)),
    (("-e", "cs", "-r", "2"), 2, ("-r",)),
    (("-e", "cs", "-r", "0", "--", "true"), 2, ("'0'",)),
    (("-e", "cs", "-r", "2", "-A", "--", "true"), 2, ("-r",)),
    (("-e", "cs", "--pre", "true"), 2, ("--pre",)),
    (("-e", "cs", "-A", "--per-core"), 2, ("--per-core",)),
    (("-e", "cs", "-A", "--by", "comm"), 2, ("--by",)),
    (("-e", "nosuchevent_at_all"), 1, ("nosuchevent_at_all",)),
    (("-e", "sched:sched_swich"), 1, ("sched:sched_switch",)),
    (("-e", "cs:q"), 2, ("q",)),
    (("-e", "cs,,cs"), 2, ("cs,,cs",)),
    (("-e", "{cs,page-faults"), 2, ("'{'",)),
    (("-e", ""), 2, ("-e",)),
    (("-e", "cs", "--", "/nonexistent"), 127, ("/nonexistent", "No such file")),
    (("-e", "cs", "-r", "3", "--", "/nonexistent"), 127, ("/nonexistent",)),
), ids=lambda v: " ".join(v) if isinstance(v, tuple) else "")
def test_wrong_command_line(run, args, code, parts):
    """One or two lines, with the text and a caret below it where the error is about a part of it."""
    result = run(*args, tool="stat")
    assert result.code == code, result
    assert result.stdout == b"", result
    lines = result.stderr.splitlines()
    assert 1 <= len(lines) <= 5 and lines[0].startswith("stat: "), result
    for part in parts:
        assert part in result.stderr, result


# --- what cannot be counted ------------------------------------------------------------------------

HAS_PMU = Path("/sys/bus/event_source/devices/cpu/events/cpu-cycles").exists() or any(
    Path("/sys/bus/event_source/devices").glob("cpu*/type"))
no_pmu = pytest.mark.skipif(HAS_PMU, reason="this machine has hardware counters")


@no_pmu
def test_without_hardware_counters(run):
    result = run("-e", "cycles", "-d", 0.05, tool="stat")
    assert result.code == 4 and result.stdout == b"", result
    assert "no hardware counters" in result.stderr and "task-clock" in result.stderr
    assert len(result.stderr.splitlines()) <= 2


@no_pmu
@pytest.mark.parametrize("how", ((), ("--by", "pid"), ("-A",)), ids=" ".join)
def test_what_can_be_counted_is(tool, trigger, how):
    """One warning names all events that cannot be counted; JSON has the reason in each row."""
    load = trigger("pingpong", scaled(200), 0)
    tracer = stat(tool, "-e", "cycles,cs,instructions", "-p", load.pid, *how)
    work(load)
    result = tracer.stop()
    assert result.code == 0
    assert result.stderr.count("warning") == 1 and "cycles, instructions" in result.stderr
    rows = result.report["rows"]
    assert not lost(result.report), result.report
    assert {row["event"] for row in rows} == {"cycles", "cs", "instructions"}
    for row in rows:
        if row["event"] == "cs":
            assert row["why"] is None
        else:
            assert row["count"] is None and "no hardware counters" in row["why"]
    assert sum(row["count"] for row in rows if row["event"] == "cs") >= scaled(200)


def test_a_counter_without_time_is_no_zero(tool, trigger):
    """A process that never ran: nothing was counted, and nothing needs scaling."""
    load = trigger("sleepers", 1, 1, 1, -1)
    tracer = stat(tool, "-e", "cs,page-faults,task-clock", "-p", load.pid)
    report = tracer.stop().report
    assert counts(report) == {"cs": 0, "page-faults": 0, "task-clock": 0}


# --- beside perf -----------------------------------------------------------------------------------

@needs_perf
@pytest.mark.parametrize("events, load", (
    (f"{EVENT},syscalls:sys_enter_read,syscalls:sys_exit_getppid",
     ("syscalls", 2, f"{GETPPID}:{scaled(500)}", "0:33")),
    ("page-faults,minor-faults,major-faults,cs,cpu-migrations", ("faults", scaled(500), 3, 0)),
    ("faults,context-switches,migrations,alignment-faults,emulation-faults",
     ("faults", scaled(500), 3, 0)),
    ("page-faults:u,page-faults:k,cs:u,cs:k", ("faults", scaled(500), 2, 0)),
    ("sched:sched_switch,raw_syscalls:sys_enter", ("pingpong", scaled(500), 0)),
    ("sched:sched_process_fork,sched:sched_process_exec,task:task_newtask",
     ("storm", scaled(100), 2, -1)),
), ids=lambda v: v if isinstance(v, str) else v[0])
def test_same_as_perf(tool, perf, trigger, events, load):
    """The same events of the same process at the same time. -t instead of -p where the load forks: perf -p counts the
    children of a process, too."""
    load = trigger(*load)
    threads = ",".join(map(str, load.tids()))
    tracer, other = stat(tool, "-e", events, "-t", threads), perf("-e", events, "--no-inherit",
                                                                 "-t", threads)
    work(load)
    expected, report = other.stop(), tracer.stop().report
    assert set(expected) == set(events.split(","))
    assert counts(report) == expected
    assert any(expected.values())


@needs_perf
def test_a_glob_same_as_perf(tool, perf, trigger):
    """Tracepoints about the current task: test_stat_scope.py compares those about another task with the kernel's own
    filter."""
    load = trigger("pingpong", scaled(500), 0)
    tracer = stat(tool, "-e", "sched:*", "-t", load.pid)
    other = perf("-e", "sched:*", "--no-inherit", "-t", load.pid)
    work(load)
    expected, found = other.stop(), counts(tracer.stop().report)
    mine = {"sched:sched_switch", "sched:sched_process_fork", "sched:sched_process_exec",
            "sched:sched_process_exit", "sched:sched_process_wait", "sched:sched_move_numa"}
    assert len(expected) > 15 and expected["sched:sched_switch"] >= scaled(500)
    for event, n in expected.items():
        if event in mine:
            assert found.get(event, 0) == n, event
    assert set(found) <= set(expected)


@needs_perf
def test_per_cpu_same_as_perf(tool, perf, trigger):
    """Everything on each CPU, with stat inside of one perf and around another: counts lie between."""
    loads = [trigger("faults", scaled(500), 2, 0, command=("taskset", "-c", str(cpu)))
             for cpu in (0, 1)]
    events = "page-faults,cs,syscalls:sys_enter_futex"
    outer = perf("-a", "-A", "-e", events)
    tracer = stat(tool, "-a", "-A", "-e", events)
    inner = perf("-a", "-A", "-e", events)
    work(*loads)
    least, report, most = inner.stop(True), tracer.stop().report, outer.stop(True)
    found = counts(report, "cpu")
    assert set(found) == set(most) or "syscalls:sys_enter_futex" not in {e for _, e in found}
    for key in most:
        slack = tally.holes() and 2
        assert least[key] - slack <= found.get(key, 0) <= most[key] + slack, key
    assert min(found[0, "page-faults"], found[1, "page-faults"]) >= 2 * scaled(500)


@needs_perf
def test_clocks_same_as_perf(tool, perf, trigger):
    """Two readings of one clock, begun and ended one after the other while the task sleeps; each counter stamps each
    switch by itself, some hundred nanoseconds apart: 1 % (10 % where an emulated processor takes ten times as long)."""

    def trial():
        load = trigger("spin", 2, 50, -1)
        tracer, other = stat(tool, "-e", "task-clock,cpu-clock", "-p", load.pid), \
            perf("-e", "task-clock,cpu-clock", "-p", load.pid)
        work(load)
        expected, found = other.stop(), counts(tracer.stop().report)
        assert set(expected) == set(found)
        for clock, ms in expected.items():
            within(found[clock] / 1e6 == pytest.approx(ms, rel=0.1 if tally.GUEST else 0.01),
                   clock, found[clock], ms)
            within(found[clock] > 95_000_000, clock, found[clock])

    steady(trial)


# --- what is asked for, in other words -------------------------------------------------------------

def test_modifiers_part_user_from_kernel(tool, trigger):
    """The load's faults are in user space; switches never are."""
    load = trigger("faults", scaled(500), 2, 0)
    tracer = stat(tool, "-e", "page-faults,page-faults:u,page-faults:k,cs,cs:u,cs:k,page-faults:uk",
                  "-p", load.pid)
    work(load)
    found = counts(tracer.stop().report)
    assert found["page-faults"] == found["page-faults:u"] + found["page-faults:k"] \
        == found["page-faults:uk"]
    assert found["page-faults:u"] >= 2 * scaled(500)
    assert found["cs"] == found["cs:k"] >= 2 and found["cs:u"] == 0


def test_modifiers_hold_by_key(tool, trigger):
    load = trigger("faults", scaled(500), 2, 0)
    tracer = stat(tool, "-e", "page-faults,page-faults:u,page-faults:k,cs,cs:u,cs:k", "-p", load.pid,
                  "--by", "pid")
    work(load)
    found = {event: n for (_, event), n in counts(tracer.stop().report, "pid").items()}
    assert found["page-faults"] == found["page-faults:u"] + found["page-faults:k"]
    assert found["cs"] == found["cs:k"] >= 2 and found["cs:u"] == 0


@pytest.mark.parametrize("events", ("{cs,page-faults}", "cs,page-faults --group", "{cs,page-faults}:u,minor-faults",
                                    "page-faults:{u,k}"))
def test_groups_and_braces(tool, trigger, events):

    def trial():
        load = trigger("faults", scaled(500), 1, 0)
        tracer = stat(tool, "-e", *events.split(), "-p", load.pid)
        before = usage(load.pid)
        work(load)
        grown = since(before, load.pid)
        found = counts(tracer.stop().report)
        switches = grown.voluntary + grown.involuntary
        expected = {
            "{cs,page-faults}": {"cs": switches, "page-faults": grown.minor},
            "cs,page-faults --group": {"cs": switches, "page-faults": grown.minor},
            "page-faults:{u,k}": {"page-faults:u": found.get("page-faults:u"),
                                  "page-faults:k": grown.minor - found.get("page-faults:u", 0)},
        }.get(events)

        def check():
            if expected:
                assert found == expected
            else:
                assert found["minor-faults"] == grown.minor >= found["page-faults:u"] >= scaled(500)

        return check

    exactly(trial)


def test_the_same_event_twice(tool, trigger):
    """Each -e is a row and counts all of its event, also if it is in another's glob."""
    load = trigger("syscalls", 1, f"{GETPPID}:100")
    twice = "-e", f"{EVENT},cs", "-e", f"{EVENT},cs"
    tracers = [stat(tool, *events, "-t", load.numbers[0], *how)
               for events, how in ((twice, ()), (twice, ("--by", "tid")),
                                   (("-e", "syscalls:sys_enter_get*", "-e", EVENT), ()))]
    work(load)
    whole, keyed, globbed = (tracer.stop().report["rows"] for tracer in tracers)
    for rows in whole, keyed:
        assert [row["event"] for row in rows] == [EVENT, "cs"] * 2
        assert rows[0]["count"] == rows[2]["count"] == 100
        assert rows[1]["count"] == rows[3]["count"]
    assert [(row["event"], row["count"]) for row in globbed] == [(EVENT, 100)] * 2


def test_every_tracepoint_at_once(tool, trigger):
    """One glob for all of them: it opens, and has no row for those that never happened."""
    load = trigger("syscalls", 1, f"{GETPPID}:50")
    tracer = stat(tool, "-e", "*:*", "-t", load.numbers[0])
    work(load)
    result = tracer.stop()
    assert result.code == 0, result
    found = counts(result.report)
    assert all(found.values()) and len(found) < 100
    assert found[EVENT] == found["syscalls:sys_exit_getppid"] == 50
    assert "raw_syscalls:sys_enter" not in found or found["raw_syscalls:sys_enter"] >= 50


def test_zeros_of_a_glob_are_shown_when_asked_for(run):
    quiet = "syscalls:sys_enter_move_*"
    shown = run("--json", "-e", quiet, "-p", os.getpid(), "-d", 0.05, "--zeros", tool="stat").report
    names = {event for event, n in counts(shown).items() if n == 0}
    assert names == {"syscalls:sys_enter_move_pages", "syscalls:sys_enter_move_mount"}
    hidden = run("--json", "-e", quiet, "-p", os.getpid(), "-d", 0.05, tool="stat").report
    assert hidden["rows"] == []
    named = run("--json", "-e", "syscalls:sys_enter_move_pages", "-p", os.getpid(), "-d", 0.05,
                tool="stat").report
    assert counts(named) == {"syscalls:sys_enter_move_pages": 0}


def test_a_glob_shows_the_largest_first(tool, trigger):
    load = trigger("syscalls", 1, "110:30", "39:50", "102:40")
    tracer = stat(tool, "-e", "syscalls:sys_enter_get*", "-t", load.numbers[0])
    work(load)
    assert [row["count"] for row in tracer.stop().report["rows"]] == [50, 40, 30]


def test_top(tool, trigger):
    """--top shows the first events of a glob, and the keys that are first by the first event, not by another."""
    loads = [trigger("syscalls", 1, f"{GETPPID}:{n}", f"39:{1000 - n}", comm=f"load{n}")
             for n in (10, 30, 20, 0)]
    events = f"{EVENT},syscalls:sys_enter_getpid"
    keyed = stat(tool, "-e", events, "--comm", "load*", "--by", "comm", "--top", 2)
    whole = stat(tool, "-e", events, "--comm", "load*", "--by", "comm")
    glob = stat(tool, "-e", "syscalls:sys_enter_getp*id", "--comm", "load*", "--top", 1)
    for load in loads:      # in turn: none preempts another
        work(load)
    keyed, whole, glob = (tracer.stop().report for tracer in (keyed, whole, glob))
    assert not any(map(lost, (keyed, whole, glob)))
    names = [row["comm"] for row in whole["rows"]]
    assert list(dict.fromkeys(names)) == ["load30", "load20", "load10", "load0"]
    assert {row["comm"] for row in keyed["rows"]} == {"load30", "load20"} and keyed["hidden"] == 2
    assert counts(glob) == {"syscalls:sys_enter_getpid": 3940} and glob["hidden"] == 1


def test_defaults(count):
    """Without -e: the usual questions about a command."""
    report = only(count("--", BUILD / "triggers/faults", scaled(500), 1, 0))
    found = counts(report)
    assert {"task-clock", "context-switches", "cpu-migrations", "page-faults", "user-time",
            "system-time"} <= set(found)
    assert found["page-faults"] >= scaled(500)
    assert {row["unit"] for row in report["rows"] if row["event"].endswith(("-clock", "-time"))} \
        == {"ns"}
    detailed = counts(only(count("--detailed", "--", "true")))
    assert {"minor-faults", "major-faults"} <= set(detailed)


def test_metrics_by_name(run, directory):
    """Each metric counts its events, and has its ratio."""
    out = directory / "report"
    assert run("--json", "-o", out, "--metric", "cs_per_second,CPUs_utilized", "--", "sh", "-c", "/bin/true; /bin/true",
               tool="stat").code == 0
    rows = {row["event"]: row for row in json.loads(out.read_text())["rows"]}
    assert set(rows) == {"context-switches", "task-clock"}
    switches, clock = rows["context-switches"], rows["task-clock"]
    assert switches["count"] >= 2 and switches["of"] == "/s of task-clock"
    assert abs(switches["ratio"] / (switches["count"] / clock["count"] * 1e9) - 1) < 1e-9
    assert run("--metric", "cs_per_second,nothing", "--", "true", tool="stat").code == 2


def test_ratios_without_counts(run, directory):
    """Text has no counts; JSON has both."""
    args = ("--metric-only", "-e", "task-clock,page-faults")
    out = directory / "report"
    assert run("-o", out, *args, "--", "true", tool="stat").code == 0
    heading, *rows = [line.split() for line in out.read_text().splitlines() if "task-clock" in line or "ratio" in line]
    assert heading == ["event", "ratio", "of"] and rows[0][0] == "task-clock"
    assert run("--json", "-o", out, *args, "--", "true", tool="stat").code == 0
    assert all(row["count"] > 0 for row in json.loads(out.read_text())["rows"])
    assert run(*args, "--by", "comm", "--", "true", tool="stat").code == 2


def test_ratios(tool, trigger):
    """With a clock, events have a rate per second of it, and the clock a share of the elapsed time."""
    load = trigger("faults", scaled(500), 1, 0)
    tracer = stat(tool, "-e", "task-clock,page-faults", "-p", load.pid)
    work(load)
    report = tracer.stop().report
    clock, faults = report["rows"]
    assert clock["of"] == "CPUs utilised"
    assert clock["ratio"] == pytest.approx(clock["count"] / report["duration_ns"], rel=1e-9)
    assert faults["of"] == "/s of task-clock"
    assert faults["ratio"] == pytest.approx(faults["count"] / clock["count"] * 1e9, rel=1e-9)


# --- intervals -------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", (("-p", "{}"), ("-p", "{}", "--by", "tid"), ("-p", "{}", "-A")),
                         ids=" ".join)
def test_intervals_add_up_to_the_whole(tool, trigger, how):
    """One load works after the other has been reported."""
    loads = [trigger("sleepers", 3, scaled(100), 100, -1) for _ in range(2)]
    pids = ",".join(str(load.pid) for load in loads)
    how = [part.format(pids) for part in how]
    events = "cs,page-faults,syscalls:sys_enter_clock_nanosleep,sched:sched_waking"
    tracers = stat(tool, "-e", events, *how, "-I", 10), stat(tool, "-e", events, *how)
    work(*loads, between=lambda: tracers[0].await_lines(2))
    parts, whole = tracers[0].stop().reports, tracers[1].stop().report
    key = [part for part in ("tid", "cpu") if part in whole["rows"][0]]
    added = {}
    for part in parts:
        assert not lost(part)
        for name, n in counts(part, *key).items():
            added[name] = added.get(name, 0) + n
    expected = {name: n for name, n in counts(whole, *key).items() if n}
    assert {name: n for name, n in added.items() if n} == expected
    for one, following in zip(parts, parts[1:]):
        assert one["start_ns"] + one["duration_ns"] == following["start_ns"]


# Keeps its CPU to itself, and says when it has had it for 0.3 s.
SPINNER = """
import os, sys, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
sys.stdin.readline()
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    pass
end = time.thread_time() + 0.3
while time.thread_time() < end:
    pass
print("spun", flush=True)
end = time.thread_time() + 5
while time.thread_time() < end:
    pass
"""


@pytest.mark.parametrize("how", (("-p", "{}", "--by", "tid"), ("--comm", "python3*", "-p", "{}"), ("-p", "{}", "-A")),
                         ids=" ".join)
def test_a_slice_that_goes_on_at_the_end(tool, how):
    """A thread that has not left its CPU when the run ends has used it, too."""

    def trial():
        with subprocess.Popen([sys.executable, "-c", SPINNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as load:
            tally.settle(load.pid)
            tracer = stat(tool, "-e", "task-clock", *(part.format(load.pid) for part in how))
            print(file=load.stdin, flush=True)
            assert load.stdout.readline() == "spun\n"
            report = tracer.stop().report
            used = tally.books(load.pid).run_ns
            load.kill()
        counted = sum(row["count"] or 0 for row in report["rows"])
        # Clocks of the scheduler and of perf differ a little where interrupts are not a thread's time.
        within(0.95 * 300_000_000 <= counted <= 1.05 * used, counted, used)

    steady(trial)


def test_keys_without_events_are_left_out_of_an_interval(tool, trigger):
    load = trigger("sleepers", 1, 5, 100, -1)
    tracer = stat(tool, "-e", "cs,syscalls:sys_enter_clock_nanosleep", "-p", load.pid, "--by", "tid",
                  "-I", 10)
    work(load)
    tracer.await_lines(2)
    reports = tracer.stop().reports
    assert any(report["rows"] for report in reports)
    assert not reports[-1]["rows"]


@pytest.mark.parametrize("args, n", ((("0.02", "3"), 3), (("-I", "20", "--reports", "3"), 3), (("-I", "20", "-d", "0.1"), None),
                                     (("-d", "0.05"), 1)), ids=lambda v: str(v))
def test_interval_and_count(run, args, n):
    def trial():
        reports = run("--json", "-e", "cs", *args, tool="stat").reports
        assert all(counts(report).keys() == {"cs"} for report in reports)
        if n:
            assert len(reports) == n
        else:
            within(len(reports) > 2, len(reports))

    steady(trial)


def test_intervals_of_a_command(count, directory):
    """The command goes on after two intervals have been reported."""
    reported = f"[ $(wc -l < {directory}/report0) -ge 2 ]"
    result = count("-I", "20", "-e", EVENT, "--", "sh", "-c",
                   f"{CALLER} 1 {GETPPID}:30 </dev/null; until {reported}; do sleep 0.02; done; "
                   f"{CALLER} 2 {GETPPID}:50 </dev/null")
    assert result.code == 0 and len(result.reports_written) > 2
    # The shell itself calls getppid(2) once.
    assert sum(counts(r)[EVENT] for r in result.reports_written) in (130, 131)


# --- again and again -------------------------------------------------------------------------------

def test_runs_of_a_deterministic_command(count):
    """The mean of equal runs is that of each, without an error. -r takes no interval."""
    command = (CALLER, 2, f"{GETPPID}:{scaled(300)}")
    single = counts(only(count("-e", EVENT, "--", *command)))
    report = only(count("-r", 4, "-e", EVENT, "--", *command))
    rows = {row["event"]: row for row in report["rows"]}
    assert rows[EVENT]["count"] == single[EVENT] == 2 * scaled(300)
    assert rows[EVENT]["stderr_percent"] == 0
    assert rows["elapsed"]["count"] == pytest.approx(report["duration_ns"], abs=1)
    assert "4 runs" in report["value"] and report["start_ns"] > 0


def test_mean_and_standard_error(count, directory):
    """Runs with 10, 20 and 30 calls. Their mean is 20, and its standard error is that of three values with a deviation
    of 10: 10 / sqrt(3), 28.87 % of the mean."""
    turn = directory / "turn"
    script = f"echo >> {turn}; exec {CALLER} 1 {GETPPID}:$(($(wc -l < {turn}) * 10)) < /dev/null"
    report = only(count("-r", 3, "-e", EVENT, "--comm", "syscalls", "--", "sh", "-c", script))
    row = report["rows"][0]
    assert (row["event"], row["count"]) == (EVENT, 20)
    assert row["stderr_percent"] == pytest.approx(100 * 10 / 3 ** 0.5 / 20, rel=1e-9)


def test_before_and_after_each_run(count, directory):
    """In this order, each time, and neither is counted."""
    log = directory / "log"
    calls = f"{CALLER} 1 {GETPPID}:9 < /dev/null > /dev/null"
    result = count("-r", 2, "-e", EVENT, "--pre", f"echo pre >> {log}; {calls}",
                   "--post", f"echo post >> {log}; {calls}", "--",
                   "sh", "-c", f"echo run >> {log}; exec {CALLER} 1 {GETPPID}:5 < /dev/null")
    assert log.read_text().split() == ["pre", "run", "post"] * 2
    # The command's shell calls getppid(2) itself, once.
    assert counts(only(result))[EVENT] in (5, 6)


@pytest.mark.parametrize("which, ran", (("--pre", 0), ("--post", 1)))
def test_a_step_that_fails_ends_the_runs(count, directory, which, ran):
    log = directory / "log"
    result = count("-r", 3, "-e", "cs", which, "exit 3", "--", "sh", "-c", f"echo run >> {log}")
    assert result.code == 125, result
    assert "'exit 3' failed with status 3" in result.stderr
    assert (log.read_text() if log.exists() else "").count("run") == ran


def test_a_failing_command_has_been_counted(count):
    report = only(count("-e", "cs,page-faults", "--", "sh", "-c", "exit 42"), 42)
    assert counts(report)["page-faults"] > 0
    assert counts(only(count("-e", "page-faults", "--", "sh", "-c", "kill -9 $$"), 137))["page-faults"]


def begun_runs(log):
    return log.read_text().count("run") if log.exists() else 0


def test_interrupted_runs_are_those_there_were(tool, directory):
    log = directory / "log"
    tracer = tool("--json", "-r", 1000, "-e", "page-faults", "--", "sh", "-c", f"echo run >> {log}",
                  tool="stat", ready=False)
    wait_until(lambda: begun_runs(log) > 2, "the third run")
    result = tracer.stop()
    assert result.code == 0, result
    runs = int(re.search(r"means of (\d+) runs", result.report["value"])[1])
    assert 2 <= runs <= begun_runs(log) + 1 < 1000      # the last one may not have written its line


# --- output ----------------------------------------------------------------------------------------

def test_csv(tool):
    tracer = tool("--csv", "-e", f"{EVENT},cs,task-clock", "-I", 20, tool="stat")
    tracer.await_lines(2 * 3)
    result = tracer.stop()
    assert result.code == 0 and "  " not in result.text, result
    rows = list(csv.DictReader(io.StringIO(result.text)))
    assert result.text.count("start_ns") == 1, "one header"
    assert len(rows) >= 9 and {row["event"] for row in rows} == {EVENT, "cs", "task-clock"}
    for row in rows:
        assert None not in row and int(row["count"]) >= 0 and int(row["start_ns"]) > 0
        assert row["unit"] == ("ns" if row["event"] == "task-clock" else "count")


def test_csv_of_keys_has_their_columns(tool, trigger):
    tracer = tool("--csv=;", "-e", "cs", "--by", "pid,comm,cpu", tool="stat")
    work(trigger("sleepers", 1, 5, 100, -1))
    result = tracer.stop()
    rows = list(csv.DictReader(io.StringIO(result.text), delimiter=";"))
    assert rows and {"pid", "comm", "cpu"} <= set(rows[0])
    assert sum(int(row["count"]) for row in rows) > 0


def test_output_is_a_file_of_ones_own(run, directory):
    out = directory / "report"
    result = run("--json", "-o", out, "-e", "cs", "--", "echo", "said", tool="stat")
    assert result.code == 0 and result.text == "said\n"
    assert modes.S_IMODE(out.stat().st_mode) == 0o600
    report = json.loads(out.read_text())
    schema.check(report)
    assert report["tool"] == "stat"


def test_output_at_the_end_of_a_file(run, directory):
    """--append keeps the file's contents, and refuses links and anything but a regular file."""
    out, link = directory / "report", directory / "link"
    out.write_text("before\n")
    link.symlink_to(out)
    args = ("--json", "--append", "-e", "cs", "--", "true")
    for _ in range(2):
        assert run("-o", out, *args, tool="stat").code == 0
    first, *reports = out.read_text().splitlines()
    assert first == "before" and len(reports) == 2
    assert all(json.loads(each)["tool"] == "stat" for each in reports)
    assert run("-o", link, *args, tool="stat").code == 125
    assert run("-o", "/dev/null", *args, tool="stat").code == 125
    assert len(out.read_text().splitlines()) == 3
    assert run(*args, tool="stat").code == 2


def test_text(run, trigger):
    """A table for people: numbers with separators, a line for each event, and its subject."""
    load = trigger("syscalls", 1, f"{GETPPID}:12345")
    tracer = tally.Tool("-e", f"{EVENT},cs", "-p", load.pid, tool="stat").ready()
    try:
        work(load)
        text = tracer.stop().text
    finally:
        tracer.close()
    assert re.match(r"stat: counts during .*, \d+ CPUs, kernel ", text), text
    assert re.search(rf"^ *12,345  {EVENT}  ", text, re.M), text
    assert "source: " in text and "lost 0" in text


def test_wide_text_by_key(tool, trigger):
    """A line for each key, with a column for each event, sorted by the first event."""
    tracer = tool("-e", "cs,page-faults", "--by", "comm", "--top", 3, tool="stat")
    work(*(trigger("sleepers", 1, 5, 100, -1, comm=comm) for comm in ("one", "two", "three")))
    text = tracer.stop().text
    header = next(line for line in text.splitlines() if line.startswith("comm"))
    assert header.split() == ["comm", "cs", "page-faults"]
    lines = text.split(header)[1].strip().splitlines()[:3]
    column = [int(line[:header.index("cs") + 2].rsplit(None, 1)[1].replace(",", ""))
              for line in lines]
    assert column == sorted(column, reverse=True)


@pytest.mark.parametrize("form", ("--json", "--csv", "text"))
def test_explain(run, form):
    """-n shows the events and how they would be counted; nothing is counted."""
    args = () if form == "text" else (form,)
    result = run(*args, "-n", "-e", f"cs,{EVENT},sched:sched_switch", "--", "/nonexistent",
                 tool="stat")
    assert result.code == 0, result
    for part in ("software", "tracepoint", "counter", "sys_enter", "raw tracepoint"):
        assert part in result.text
    if form == "--json":
        assert [row["event"] for row in result.report["rows"]] == ["cs", EVENT,
                                                                   "sched:sched_switch"]


def test_explain_needs_no_rights(run):
    assert run("-n", "-e", "cs,page-faults", tool="stat", user=tally.NOBODY).code == 0


@pytest.mark.exclusive
def test_more_keys_than_room(run, tool, trigger):
    """Keys without room count as lost, and --strict makes that an error."""
    load = trigger("storm", scaled(2000), 2, -1, comm=TEMPEST)
    tracer = stat(tool, "-e", "sched:sched_process_exit", "--comm", TEMPEST, "--by", "pid",
                  "--max-keys", 1, "--strict")
    work(load)
    result = tracer.stop()
    assert result.code == 3, result
    report = result.report
    kept = sum(row["count"] for row in report["rows"])
    assert set(lost(report)) == {"map_full"}
    assert kept + report["lost"]["map_full"] == scaled(2000)
    assert run("--json", "-e", "cs", "-d", 0.05, "--strict", tool="stat").code == 0


@pytest.mark.everywhere
@pytest.mark.exclusive
def test_what_is_lost_of_each_event(tool, trigger):
    """
    Two runs count the same events, and one has no room for most keys: its note says how many of each event it lost.
    A lost count is one loss, and for a clock, each time slice: those in which the load leaves a CPU.
    """
    events = "page-faults", "cs", "sched:sched_process_exit"

    def trial():
        load = trigger("storm", scaled(500), 2, -1, comm=TEMPEST)
        every, few = (stat(tool, "-e", ",".join((*events, "task-clock")), "--comm", TEMPEST, "--by", "pid", *room)
                      for room in ((), ("--max-keys", 1)))
        work(load)
        every, few = every.stop().report, few.stop().report
        if "recursion" in (*lost(every), *lost(few)):
            raise tally.Blurred
        assert not lost(every) and "note" not in every and set(lost(few)) == {"map_full"}, (every, few)
        said = re.fullmatch(r"without room for their keys: page-faults ([\d,]+), cs ([\d,]+), "
                            r"sched:sched_process_exit ([\d,]+), task-clock [\d,.]+ ms", few["note"])
        assert said, few
        faults, switches, exits = (int(figure.replace(",", "")) for figure in said.groups())
        for event, figure in zip(events, (faults, switches, exits)):
            full, kept = (sum(row["count"] for row in report["rows"] if row["event"] == event)
                          for report in (every, few))
            assert figure and kept + figure == full, (event, every, few)
        assert few["lost"]["map_full"] == faults + switches + exits + switches, few

    tally.steady(trial)


# --- beginning and end -----------------------------------------------------------------------------

def test_the_end_of_a_process_ends_the_run(tool, trigger):
    load = trigger("syscalls", 2, f"{GETPPID}:20")
    tracer = stat(tool, "-e", f"{EVENT},cs", "-p", load.pid)
    work(load)
    load.close()
    result = tracer.wait()
    assert result.code == 0 and counts(result.report)[EVENT] == 40


@pytest.mark.parametrize("how", ("-p", "-t"))
def test_a_process_that_is_not_there(run, how):
    result = run("-e", "cs", how, 4194304, tool="stat")
    assert result.code == 1 and "4194304" in result.stderr


@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
def test_signals_ask_for_the_report(tool, how):
    tracer = stat(tool, "-e", "cs,sched:sched_switch", "-a")
    result = tracer.stop(how)
    assert result.code == 0 and set(counts(result.report)) == {"cs", "sched:sched_switch"}


def ids_of(pid):
    """Programs, maps and links that a process holds: {(kind, id)}."""
    found = set()
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            found |= set(re.findall(r"^(prog|map|link)_id:\s*(\d+)$", path.read_text(), re.M))
        except FileNotFoundError:
            continue
    return found


def still_there(ids):
    there = set()
    for kind in ("prog", "map", "link"):
        shown = subprocess.run(["/usr/sbin/bpftool", kind, "show", "-j"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, timeout=tally.PATIENCE, check=False).stdout
        there |= {(kind, str(entry.get("id"))) for entry in json.loads(shown or "[]")}
    return ids & there


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGINT), ids=lambda s: s.name)
def test_nothing_stays_behind(tool, how):
    """Not even after kill -9, with every way of counting in use."""
    tracer = stat(tool, "-e", f"page-faults,cs,{EVENT},sched:*", "--by", "comm", "-a")
    ids = ids_of(tracer.pid)
    assert {"prog", "map"} <= {kind for kind, _ in ids}
    assert still_there(ids) == ids
    tracer.process.send_signal(how)
    tracer.process.wait(tally.PATIENCE)
    wait_until(lambda: not still_there(ids), f"the end of {ids}")


def test_runs_leave_no_descriptors(tool, directory):
    """Each of many runs opens and closes all that it needs."""
    log, runs = directory / "log", 40
    tracer = tool("--json", "-r", 100000, "-e", f"cs,{EVENT}", "--", "sh", "-c",
                  f"echo run >> {log}", tool="stat", ready=False)
    open_then = []

    def have_been():
        open_then.append(len(os.listdir(f"/proc/{tracer.pid}/fd")))
        return begun_runs(log) > runs

    wait_until(have_been, f"{runs} runs")
    tracer.stop()
    assert max(open_then) < 80
    # Few are open between two runs. One left by each would be twenty more by then; which moments are seen is random.
    half = len(open_then) // 2
    assert min(open_then[half:]) < min(open_then[:half]) + 15


again_when_skipped(globals())
