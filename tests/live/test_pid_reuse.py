# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of processes are used again: what is known by a number is not another process's.

reborn.c makes one process after the other with the same number, at once: each is there before the
kernel has freed the last one."""

import subprocess

import pytest

import tally
from snooping import events_of, exact
from tally import KERNEL, scaled

CALLS = 100
ROUNDS = scaled(400)
REBORN = tally.BUILD / "triggers" / "reborn"


def count_of(result):
    return result.report["events"]


def lines_of(result):
    return len(events_of(result)[0])


# Programs that have a typed current task, that have none, that are told the task, that are compiled.
COUNTERS = {
    "syscount": (("--by", "pid", "-e", "getppid"), count_of),
    "stat": (("-e", "syscalls:sys_enter_getppid"), lambda r: r.report["rows"][0]["count"]),
    "probe": (("syscalls:sys_enter_getppid",), count_of),
    "trace": (("-e", "getppid", "--ring-size", "16M"), lines_of),
}
tools = pytest.mark.parametrize("name", COUNTERS)


def judge(name, result, expected):
    if name != "trace" and KERNEL >= (7, 0) and result.report["lost"]["recursion"]:
        raise tally.Blurred     # of lines events_of() says so
    assert COUNTERS[name][1](result) == expected, result


def options(name):
    return ("--json", *COUNTERS[name][0])


@tools
@exact
def test_a_number_in_the_scope_is_that_of_who_had_it(tool, trigger, name):
    """-p A,B: A ends, others are given its number, the run goes on because of B."""
    load, other = trigger("reborn", ROUNDS, CALLS), trigger("sleepers", 1, 1, 100, -1)
    tracer = tool(*options(name), "-p", f"{load.numbers[0]},{other.pid}", tool=name)
    load.go()
    load.done()
    judge(name, tracer.stop(), CALLS)


@tools
@exact
def test_the_only_number_too(tool, trigger, name):
    """-p A: the run ends with A, but not before others that have its number may have made calls."""
    load = trigger("reborn", ROUNDS, CALLS)
    tracer = tool(*options(name), "-p", load.numbers[0], tool=name)
    load.go()
    load.done()
    judge(name, tracer.wait(), CALLS)


@tools
@exact
def test_threads_too(tool, trigger, name):
    load, other = trigger("reborn", ROUNDS, CALLS), trigger("sleepers", 1, 1, 100, -1)
    tids = f"{load.numbers[0]},{other.pid}"
    both, one = (tool(*options(name), "-t", t, tool=name) for t in (tids, load.numbers[0]))
    load.go()
    load.done()
    for tracer in (both, one):
        judge(name, tracer.stop(), CALLS)


@tools
@exact
def test_children_of_a_command_are_in_its_scope(tool, name):
    """Though each has the number of one that is just leaving it."""
    silent = (f"import os; os.dup2(os.open('/dev/null', 1), 1); "
              f"os.execv({str(REBORN)!r}, ['reborn', '{ROUNDS}', '{CALLS}'])")
    tracer = tool(*options(name), "--", "/usr/bin/python3", "-c", silent, tool=name, ready=False)
    judge(name, tracer.wait(), (ROUNDS + 1) * CALLS)


@exact
def test_each_exit_is_told(tool, trigger):
    load = trigger("reborn", ROUNDS, 1)
    tracer = tool("--json", "--comm", "reborn", "--ring-size", "16M", tool="exitsnoop")
    load.go()
    load.done()
    lines, _ = events_of(tracer.stop())
    assert [line["pid"] for line in lines] == [load.numbers[0]] * (ROUNDS + 1)


def test_a_thread_that_executes_a_program_is_the_first_one(tool, trigger):
    """It has its number from then on, and its place in the scope of -t."""
    script = ("import os, threading\n"
              "print('ready', flush=True)\ninput()\n"
              f"run = lambda: os.execv({str(REBORN)!r}, ['reborn', '0', '0'])\n"
              "threading.Thread(target=run).start()\n"
              "threading.Event().wait()\n")
    load = subprocess.Popen(["/usr/bin/python3", "-c", script], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
    try:
        assert load.stdout.readline() == b"ready\n"
        tally.settle(load.pid)
        other = trigger("sleepers", 1, 1, 100, -1)
        tracers = [tool("--json", "--by", "tid", "-t", t, "-e", "wait4", tool="syscount")
                   for t in (load.pid, f"{load.pid},{other.pid}")]
        load.stdin.write(b"\n")
        load.stdin.close()
        load.wait(tally.PATIENCE)
        for tracer in tracers:      # the only wait4() is that of reborn, for its child
            assert tracer.stop().report["events"] == 1
    finally:
        tally.end_process(load)
