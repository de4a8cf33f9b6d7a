# SPDX-License-Identifier: BSD-2-Clause
"""-p and the children that its processes fork during the measurement: --follow-forks."""

import subprocess

import pytest

import tally
from snooping import exact, nothing_lost
from stackcounting import value
from tally import scaled
from test_pid_reuse import judge, lines_of, options, tools

N, CALLS = scaled(60), 50

# Whether these tools follow by default.
FOLLOWS = {"stat": True, "trace": True, "syscount": False, "probe": False}


@pytest.mark.parametrize("more", ((), ("--follow-forks",), ("--no-follow-forks",)), ids=str)
@tools
@exact
def test_children_made_later(tool, trigger, name, more):
    load, other = trigger("mayflies", N, CALLS, 0), trigger("mayflies", N, CALLS, 0)
    tracer = tool(*options(name), "-p", load.pid, *more, tool=name)
    for each in (load, other):
        each.go()
        each.done()
    follows = {(): FOLLOWS[name], ("--follow-forks",): True, ("--no-follow-forks",): False}[more]
    judge(name, tracer.stop(), N * CALLS if follows else 0)


@exact
def test_children_of_children(tool):
    """Children of a shell that are shells: as with strace -f -p."""
    script = ("read go; for i in 1 2 3; do (/bin/true; (/bin/true; /bin/true) & wait); done; "
              "read end")
    shell = subprocess.Popen(["bash", "-c", script], stdin=subprocess.PIPE)
    try:
        tally.settle(shell.pid)
        tracers = [tool("--json", "-p", shell.pid, "-e", event, tool=name) for name, event in
                   (("stat", "sched:sched_process_exec"), ("trace", "execve"))]
        shell.stdin.write(b"\n")
        shell.stdin.flush()
        tally.wait_until(lambda: tracers[1].lines() >= 9, "nine execs")
        tally.settle(shell.pid)
        stat, trace = (tracer.stop() for tracer in tracers)
        judge("stat", stat, 9)
        assert lines_of(trace) == 9, trace
    finally:
        tally.end_process(shell)


def test_counters_too(tool, trigger):
    """The kernel's own counters, which children inherit: each child has its own page faults."""
    load = trigger("mayflies", N, 1, 0)
    follows, alone = (tool("--json", "-p", load.pid, *more, "-e", "minor-faults", tool="stat")
                      for more in ((), ("--no-follow-forks",)))
    load.go()
    load.done()
    whole, own = (t.stop().report["rows"][0]["count"] for t in (follows, alone))
    assert whole >= own + 2 * N


@pytest.mark.parametrize("way", ("dwarf", "fp"))
@exact
def test_their_stacks_have_names(tool, trigger, way):
    """Children that end between two reports, and during one: each of their calls is counted, in stacks with
    names. There are many reports, so that some are made while a child is at work."""
    n, calls = scaled(400), 300
    load = trigger("mayflies", n, calls, 0)
    tracer = tool("--json", "-U", "syscalls:sys_enter_getppid", "-p", load.pid, "--follow-forks", "-I", 5,
                  "--call-graph", way, tool="stackcount")
    load.go()
    load.done()
    reports = tracer.stop().reports
    stacks = [stack for report in reports for stack in report["stacks"]]
    nameless = [stack for stack in stacks if any(frame["name"] is None for frame in stack["frames"])]
    assert not nameless, (value(nameless), nameless[:3])
    nothing_lost(*reports)
    assert value(stacks) == n * calls


@pytest.mark.parametrize("option", ("--follow-forks", "--no-follow-forks"))
def test_without_processes_it_means_nothing(run, option):
    result = run(option, "-d", "0.1", tool="syscount")
    assert result.code == 2 and option in result.stderr
