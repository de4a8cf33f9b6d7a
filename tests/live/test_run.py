# SPDX-License-Identifier: BSD-2-Clause
"""Several measurements in one run: they agree with each other, with the tools run alone and with the trigger's calls;
one that is impossible is named, and the others go on."""

import json
import os
import re
import shlex
import signal
import subprocess

import pytest

import tally
from snooping import exact, nothing_lost
from tally import once

GETPPID, READ = 110, 0
THREADS = 2

# {line: the number of calls of the load in its JSON report}
LINES = {
    "syscount -e getppid": lambda r: sum(row["calls"] for row in r["rows"]),
    "syscount --failed -e read": lambda r: sum(row["errors"] for row in r["rows"]),
    "probe syscalls:sys_enter_getppid": lambda r: sum(row["count"] for row in r["rows"]),
    "probe syscalls:sys_exit_read --filter 'ret == -9' --sum ret": lambda r: -sum(row["sum"] for row in r["rows"]) // 9,
    "stat -e syscalls:sys_enter_getppid": lambda r: r["rows"][0]["count"],
    "stackcount -K syscalls:sys_enter_getppid": lambda r: sum(s["value"] for s in r["stacks"]),
    "trace --summary -e read": lambda r: sum(row["calls"] for row in r["rows"]),
    "syscount --hist --by tid -e getppid": lambda r: sum(g["count"] for g in r["groups"]),
}


def measure(trigger, tool, lines, each):
    """The result of a run of these lines on one load."""
    load = trigger("syscalls", THREADS, f"{GETPPID}:{each}", f"{READ}:{each // 2}")
    if len(lines) == 1:
        name, *args = shlex.split(lines[0])
        measuring = tool("--json", "-p", load.pid, *args, tool=name)
    else:
        measuring = tool("--json", "-p", load.pid, *lines, tool="run")
    load.go()
    load.done()
    load.settle()
    return measuring.stop()


@exact
def test_eight_at_once_agree_with_each_alone(tool, trigger):
    """Calls are counted exactly in one run of eight lines, and in eight runs of one."""
    each = tally.scaled(4000)
    wanted = {"getppid": THREADS * each, "read": THREADS * (each // 2)}
    together = measure(trigger, tool, list(LINES), each)
    assert together.code == 0, together
    reports = together.reports
    assert [r["command"] for r in reports] == [line.replace("'", "") for line in LINES]
    # Each has a begin and an end of its own, and the load lies between all of them.
    assert max(r["start_ns"] for r in reports) < min(r["start_ns"] + r["duration_ns"] for r in reports)
    for line, report in zip(LINES, reports):
        by_itself = measure(trigger, tool, [line], each).report
        nothing_lost(report, by_itself)
        got, alone = LINES[line](report), LINES[line](by_itself)
        calls = wanted["getppid" if "getppid" in line else "read"]
        # The trigger itself reads twice from its standard input, which does not fail.
        least, most = (calls, calls + 2) if line.startswith("trace") else (calls, calls)
        assert least <= got <= most, line
        assert least <= alone <= most, line


@exact
def test_the_same_tool_twice(tool, trigger):
    """Measurements of the same tool share nothing."""
    load = trigger("syscalls", 2, f"{GETPPID}:500", f"{READ}:300")
    measuring = tool("--json", "-p", load.pid, "syscount -e getppid", "syscount -e read --by tid",
                     "syscount -e getppid --by tid", tool="run")
    load.go()
    load.done()
    first, second, third = measuring.stop().reports
    nothing_lost(first, second, third)
    assert [row["calls"] for row in first["rows"]] == [1000]
    assert sorted(row["tid"] for row in third["rows"]) == sorted(load.numbers)
    assert [row["calls"] for row in third["rows"]] == [500, 500]
    assert {row["tid"]: row["calls"] for row in second["rows"]}[load.numbers[0]] == 300


def test_a_command(run):
    """The command is the subject of all measurements, and its end is the end of the run."""
    result = run("--json", "execsnoop", "syscount -e getppid", "exitsnoop", "--",
                 tally.BUILD / "triggers" / "syscalls", "1", f"{GETPPID}:70", tool="run")
    assert result.code == 0, result
    objects = [json.loads(line) for line in result.text.splitlines() if line.startswith("{")]
    reports = {o["tool"]: o for o in objects if "duration_ns" in o}
    assert reports["execsnoop"]["events"] == 1
    executed, = (o for o in objects if o["tool"] == "execsnoop" and "time_ns" in o)
    assert executed["comm"] == "syscalls"
    assert reports["syscount"]["rows"] == [{"syscall": "getppid", "calls": 70, "errors": 0}]
    assert reports["exitsnoop"]["events"] in (0, 1)     # the run may end before the event is seen


def test_single_events_say_whose_they_are(run):
    """Text has a column for the tool, too, but a run of one tool needs none."""
    program = tally.BUILD / "triggers" / "syscalls"
    both = run("execsnoop", "exitsnoop", "syscount", "--", program, "1", f"{GETPPID}:1", tool="run")
    assert re.search(r"^\d\d:\d\d:\d\d\.\d{6} execsnoop   syscalls ", both.text, re.MULTILINE), both
    alone = run("--", program, "1", f"{GETPPID}:1", tool="execsnoop")
    assert re.search(r"^\d\d:\d\d:\d\d\.\d{6} syscalls ", alone.text, re.MULTILINE), alone


def test_intervals(tool):
    """Each measurement has its own intervals, without gaps between them."""
    measuring = tool("--json", "-I", "100", "stat -e context-switches", "syscount", "runqlat", tool="run")
    measuring.await_lines(9)
    reports = measuring.stop().reports
    for name in ("stat", "syscount", "runqlat"):
        mine = [r for r in reports if r["tool"] == name]
        assert len(mine) >= 3
        for one, next_one in zip(mine, mine[1:]):
            assert abs(one["start_ns"] + one["duration_ns"] - next_one["start_ns"]) <= 1


@pytest.mark.parametrize("line", ("offcputime", "offwaketime"))
def test_what_goes_on_is_in_the_last_report(run, trigger, line):
    """And in no earlier one, though this line's programs were loaded long before those of the others."""
    load = trigger("sleepers", 1, 1, 100, -1)
    others = ["execsnoop", "syscount", "stackcount sched:sched_switch"]
    result = run("--json", "-p", load.pid, "-I", "50", "-d", "0.5", line, *others, tool="run")
    assert result.code == 0, result
    reports = [r for r in map(json.loads, result.text.splitlines()) if r["tool"] == line]
    still = [sum(f["name"] == "[still blocked]" for s in r["stacks"] for f in s["frames"]) for r in reports]
    assert still[:-1] == [0] * (len(reports) - 1) and still[-1] == len(load.tids()), still


def test_durations_are_those_of_each(run, trigger):
    """vitals reads many files at the begin and the end, which is no part of what the line beside it measures."""
    load = trigger("sleepers", 3, 1, 1000, -1)

    def trial():
        result = run("--json", "-p", load.pid, "-d", "0.5", "offcputime --idle", "vitals", tool="run")
        assert result.code == 0, result
        report, = (r for r in map(json.loads, result.text.splitlines()) if r["tool"] == "offcputime")
        slept = sum(stack["value"] for stack in report["stacks"])
        assert slept <= 4 * report["duration_ns"], report
        # Between two clock readings, this process may have to wait for its CPU.
        tally.within(slept >= 4 * (report["duration_ns"] - 1_000_000), slept, report["duration_ns"])

    tally.steady(trial)


def test_scope_of_run_and_line(tool, trigger):
    """A line narrows the scope of the run for itself only."""
    load = trigger("syscalls", 2, f"{GETPPID}:200")
    measuring = tool("--json", "-p", load.pid, "syscount -e getppid", "syscount -e getppid --comm nobody*",
                     tool="run")
    load.go()
    load.done()
    all_of_it, none = measuring.stop().reports
    assert all_of_it["events"] == 400
    assert none["events"] == 0


@once
def test_text_has_each_report_under_its_own_heading(run):
    result = run("-d", "0.1", "runqlat", "cpudist", "syscount", tool="run")
    assert result.code == 0, result
    assert re.findall(r"^(\w+): .* during", result.text, re.M) == ["runqlat", "cpudist", "syscount"]


@once
@pytest.mark.parametrize("args, said", (
    ((), "nothing to measure"),
    (("nosuchtool",), "does not begin with a measuring tool"),
    (("list sched:*",), "does not begin with a measuring tool"),
    (("runqlat 'x",), "quote"),
    (("runqlat -d 1",), "unknown option"),
    (("runqlat --json",), "unknown option"),
    (("profile --format pprof", "runqlat"), "the format applies to the whole run: give"),
    (("stat -r 3", "runqlat"), "-r"),
    (("timehist --record /dev/null",), "--record"),
    (("-p", "1", "runqlat -p 1"), "-p"),
    (("--csv", "runqlat", "syscount"), "--csv"),
    (("--listen", "9435", "runqlat", "runqlat"), "twice"),
    (("--listen", "9435", "profile"), "stacks"),
    (("runqlat --help",), "--help cannot be part"),
    (("runqlat --wrong",), "runqlat: "),
), ids=str)
def test_wrong_usage(run, args, said):
    result = run("-d", "0.1", *args, tool="run")
    assert result.code == 2, result
    assert said in result.stderr, result
    assert result.text == ""


@once
@pytest.mark.parametrize("tool", ("run", "record", "export"))
def test_more_than_a_run_holds(run, directory, tool):
    options = ("-n", *(("-o", directory / "recording") if tool == "record" else ()))
    assert "at most" not in run(*options, *["runqlat"] * 64, tool=tool).stderr
    result = run(*options, *["runqlat"] * 65, tool=tool)
    assert result.code == 2 and "at most 64 measurements" in result.stderr, result


def test_one_that_cannot_be_had_is_named(run):
    """The others go on; without others, the exit status is that of the tool alone."""
    result = run("--json", "-d", "0.1", "probe nosuch:event", "runqlat", tool="run")
    assert result.code == 0, result
    assert "probe: no tracepoint system 'nosuch'" in result.stderr
    assert "'probe nosuch:event' is left out" in result.stderr
    assert [r["tool"] for r in result.reports] == ["runqlat"]
    alone = run("-d", "0.1", "nosuch:event", tool="probe")
    assert run("-d", "0.1", "probe nosuch:event", "probe nosuch:one", tool="run").code == alone.code != 0


def test_nobody_reads_what_would_be_done():
    """The run ends at the first line that cannot be written: no other measurement is called impossible."""
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run([tally.BUILD / "run", "-n", "runqlat", "syscount", "cpudist"], stdout=writer,
                         stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert not ran.stderr and ran.returncode in (0, -signal.SIGPIPE), ran


@pytest.mark.parametrize("scope", ("--pidns=4194304", "-p 4194304", "-G /nonexistent"))
@pytest.mark.parametrize("place", (0, 1, 2))
def test_a_line_whose_scope_is_not_there(run, scope, place):
    """The process or the cgroup of a line may have ended: the line is named, and the others measure."""
    others = ["syscount", "runqlat"]
    lines = [*others[:place], f"cpudist {scope}", *others[place:]]
    result = run("--json", "-d", "0.1", *lines, tool="run")
    assert result.code == 0 and f"'cpudist {scope}' is left out" in result.stderr, result
    assert [report["command"] for report in result.reports] == others


def test_no_line_whose_scope_is_there(run):
    result = run("-d", "0.1", "cpudist -G /nonexistent", "runqlat --pidns=4194304", tool="run")
    assert result.code == 1 and not result.stdout and result.stderr.count("is left out") == 2, result
