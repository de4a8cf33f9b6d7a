# SPDX-License-Identifier: BSD-2-Clause
"""Keys of ended processes are removed: the map needs room for the keys of an interval, not of the whole run.

One short process after the other, ten times as many as there is room for; nothing may be lost, and
nothing counted twice, when keys are removed while others are counted."""

from pathlib import Path

import pytest

import tally
from tally import KERNEL, flaws, scaled

pytestmark = pytest.mark.exclusive

N, CALLS, ROOM = scaled(900), 20, max(8, scaled(100))
# Between two processes: an interval needs less than half the room, in a guest as on a real machine.
PAUSE_US = 2000 * 900 // N
# The kernel gives out the first 300 only once (RESERVED_PIDS of kernel/pid.c).
PIDS = int(Path("/proc/sys/kernel/pid_max").read_text()) - 300


def groups(report):
    """{pid: figure} of a report: counts, or the numbers of values in histograms."""
    rows = report.get("rows") or report.get("groups") or ()
    return {row["key"]["pid"] if "key" in row else row["pid"]:
            next(row[name] for name in ("calls", "count") if name in row) for row in rows}


TOOLS = {
    "syscount": ("syscount", "-P", "-e", "getppid"),
    "syscount times": ("syscount", "-P", "-e", "getppid", "--latency"),
    "stat": ("stat", "--by", "pid", "-e", "syscalls:sys_enter_getppid"),
    "probe": ("probe", "syscalls:sys_enter_getppid", "--by", "pid"),
    "probe sums": ("probe", "syscalls:sys_exit_getppid", "--sum", "ret", "--by", "pid"),
    "probe histograms": ("probe", "syscalls:sys_exit_getppid", "--hist", "ret", "--by", "pid"),
}


def too_many(reports):
    """Whether there may have been more processes than there is room for in two neighbouring intervals, which
    lasted longer than they should, since the machine stood still."""
    lasted = [report["duration_ns"] for report in reports]
    return max(map(sum, zip([0, *lasted], lasted))) > ROOM * PAUSE_US * 1000


def without_loss(reports):
    lost = {reason for report in reports for reason, n in flaws(report).items() if n}
    if KERNEL >= (7, 0) and lost == {"recursion"} or lost == {"map_full"} and too_many(reports):
        raise tally.Blurred
    assert not lost, lost


@pytest.mark.parametrize("which", TOOLS)
def test_new_keys_find_room(tool, trigger, which):
    name, *options = TOOLS[which]

    def trial():
        load = trigger("mayflies", N, CALLS, PAUSE_US)
        tracer = tool("--json", *options, "--comm", "mayflies", "--max-keys", ROOM, "-I", 100,
                      tool=name)
        load.go()
        load.done()
        reports = tracer.stop().reports
        without_loss(reports)
        sums = {}
        for report in reports:
            for pid, figure in groups(report).items():
                sums[pid] = sums.get(pid, 0) + figure
        assert sum(sums.values()) == sum(report["events"] for report in reports) == N * CALLS
        # A pid that is reused has the calls of two processes.
        assert not [n for n in sums.values() if n % CALLS]
        assert len(sums) == N or PIDS < 2 * N

    tally.steady(trial)


# Other tools have no known count: the oracle is the same tool with room for all. Both read the
# kernel's books, since each would take its own timestamps.
OTHERS = {
    "runqlat --source accounting": ("runqlat", lambda r: [(g["count"], g["sum"]) for g in r["groups"]]),
    "cpudist": ("cpudist", lambda r: [(g["count"], g["sum"]) for g in r["groups"]]),
    "schedlat": ("schedlat", lambda r: [(row["switches"], row["runtime"]) for row in r["rows"]]),
    "kmem --pages --follow": ("kmem", lambda r: [(row["allocs"], row["requested"]) for row in r["rows"]]),
    "faults": ("faults", lambda r: [(row["minor"], row["major"]) for row in r["rows"]]),
}


@pytest.mark.parametrize("which", OTHERS)
def test_sums_are_those_of_a_run_with_room(tool, trigger, which):
    name, figures = OTHERS[which]

    def trial():
        load = trigger("mayflies", N, 1, PAUSE_US)
        common = ("--json", "--by", "tid", "--comm", "mayflies", *which.split()[1:])
        tight = tool(*common, "--max-keys", ROOM, "-I", 100, tool=name)
        wide = tool(*common, "--max-keys", 20000, tool=name)
        load.go()
        load.done()
        # Between the starts of the two, and between their ends, only the parent runs, and it sleeps.
        reports, whole = tight.stop().reports, wide.stop().report
        if too_many(reports) and any(report["lost"]["map_full"] for report in reports):
            raise tally.Blurred
        for report in (*reports, whole):        # this kernel hides the same events from both
            assert not report["lost"]["map_full"] and not report["lost"]["no_memory"]
        sums = [sum(column) for report in reports for column in zip(*figures(report))]
        columns = [sum(sums[i::2]) for i in range(2)]
        tally.within(columns == [sum(column) for column in zip(*figures(whole))], columns)

    tally.steady(trial)
