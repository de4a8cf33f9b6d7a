# SPDX-License-Identifier: BSD-2-Clause
"""Stacks that are not counted by any more leave: there is room for those of each interval, and not of the whole run.

One process with many more different stacks than there is room for, all of them once; then nothing is lost, and
nothing counted twice or without its stack, while stacks leave."""

import pytest

import tally
from tally import flaws, scaled, steady, within
from test_keys_leave import without_loss

N, CALLS, ROOM = scaled(1200), 5, max(64, scaled(400))
# Reports take longer in an emulated guest, so intervals do.
US = 60000 if tally.GUEST else 1000
TURN = ("left", "right")


def turns(stack):
    """The way that a stack came through the maze; () of others."""
    return tuple(frame["name"] for frame in stack["frames"] if frame["name"] in TURN)


def values(reports):
    """{way: value} over all reports; each way has as many turns as there are levels."""
    sums = {}
    for report in reports:
        for stack in report["stacks"]:
            way = turns(stack)
            assert way and len(way) == 14, stack
            sums[way] = sums.get(way, 0) + stack["value"]
    return sums


@pytest.mark.parametrize("parts", (("-U",), ()), ids=("user", "both"))
def test_counts_by_stack(tool, trigger, parts):
    def trial():
        load = trigger("mazes", N, CALLS, US)
        tracer = tool("--json", "syscalls:sys_enter_getppid", *parts, "-p", load.pid, "--max-keys", ROOM, "-I", 50,
                      tool="stackcount")
        load.go()
        load.done()
        reports = tracer.stop().reports
        # A tool that gets no CPU for the time of some hundred ways takes none of their stacks out.
        within(not any(flaws(report).get("stacks_full") for report in reports))
        without_loss(reports)
        assert sorted(values(reports).values()) == [CALLS] * N
        assert sum(report["events"] for report in reports) == N * CALLS

    steady(trial)


@pytest.mark.parametrize("options", ((), ("--min", "100us")), ids=("when it leaves", "when it is back"))
def test_blocked_time_by_stack(tool, trigger, options):
    """Each way sleeps once. Where the kernel hides switches (tally.holes()) some are missing, early and late."""
    def trial():
        load = trigger("mazes", N, 1, US)
        tracer = tool("--json", "-U", "--state", "sleep", *options, "-p", load.pid, "--max-keys", ROOM, "-I", 50,
                      tool="offcputime")
        load.go()
        load.done()
        reports = tracer.stop().reports
        lost = {name for report in reports for name, n in flaws(report).items() if n}
        # A tool that gets no CPU for the time of some hundred ways takes none of their stacks out.
        within("stacks_full" not in lost, lost)
        assert lost <= {"missed", "unmatched", "truncated"}, lost
        ways = [turns(stack) for report in reports for stack in report["stacks"] if turns(stack)]
        assert "[stack lost]" not in str(reports) and len(set(ways)) == len(ways)
        numbers = {sum((name == "right") << level for level, name in enumerate(way)) for way in ways}
        assert numbers <= set(range(N))
        for quarter in range(4):
            those = range(N * quarter // 4, N * (quarter + 1) // 4)
            assert 2 * len(numbers & set(those)) >= len(those), those
        assert lost or tally.pvm_guest() or len(ways) == N

    steady(trial)


def test_long_sleepers_keep_their_stacks(tool, trigger):
    """A stack that was taken before others left, of a sleep that ends after that."""
    sleeper = trigger("mazes", 1, 1, 3_000_000)
    load = trigger("mazes", N, 1, US)
    tracer = tool("--json", "-U", "--state", "sleep", "-p", f"{load.pid},{sleeper.pid}", "--by", "pid",
                  "--max-keys", ROOM, "-I", 50, tool="offcputime")
    sleeper.go()
    load.go()
    load.done()
    sleeper.done()
    reports = tracer.stop().reports
    long = [stack for report in reports for stack in report["stacks"]
            if stack["key"]["pid"] == sleeper.pid and stack["value"] >= 3e9 and "[still blocked]" not in str(stack)]
    assert len(long) == 1 and len(turns(long[0])) == 14, long


@pytest.mark.parametrize("name", ("kmem", "memleak"))
def test_of_what_is_outstanding(tool, trigger, name):
    """All that the mazes allocate is freed at once: it is stacks that there is no room for."""
    load = trigger("mazes", N, 1, US)
    options = ("--leak", "-g", "-U") if name == "kmem" else ("--format", "json")
    tracer = tool("--json", *options, "-p", load.pid, "--max-keys", ROOM, "-I", 50, tool=name)
    load.go()
    load.done()
    reports = tracer.stop().reports
    assert not sum(report["inexact"]["stacks_full"] for report in reports)
