# SPDX-License-Identifier: BSD-2-Clause
"""Holding what a tool reports against the kernel's own books of a load.

    load = trigger("spin", 3, 100, 0)       # ready, and asleep
    tracer = tool("--json", "-p", load.pid) # measures from here on
    w = work(load)                          # the books of all its threads, before and after
    check(tracer.stop().report, w)          # equal

The triggers sleep when their books are opened and when they are closed, and the tool measures
during all of that time, so nothing is in one and not in the other.
"""

import time
from dataclasses import dataclass

import pytest

import tally
from tally import Blurred, by_key, count, flaws, total, wait_ns


# Those that time waits for a CPU (bpf/sched/wait.bpf.h).
TIMES_WAITS = {"runqlat", "runqslower", "schedlat", "timehist", "schedmap"}


@pytest.fixture(name="tool")
def tool_by_the_books(tool):
    """The fixture "tool" for tests that hold waits against the kernel's books, or one tool's against another's
    to the nanosecond: all go by the same clock then. (How far timestamps are from it: test_sources.py.)"""
    def start(*args, **kwargs):
        timed = kwargs.get("tool", "runqlat") in TIMES_WAITS and not {"--source", "--totals", "--read"} & set(args)
        return tool(*(("--source", "accounting") if timed else ()), *args, **kwargs)

    return start


@dataclass
class Work:
    """What came of letting loads work."""
    grown: dict             # what the books of their threads grew by: {tid: Books}
    said: list              # what each load said at its end
    holes: int              # arrivals the kernel may have hidden: tally.holes()
    elapsed_ns: int = 0     # from rest to rest
    blurred: bool = False   # check() met losses; the tool told of them


def work(*loads, between=None):
    """Lets triggers do their work: all at once, or one after the other with between() before each
    but the first."""
    holes = tally.holes()
    before = [load.books() for load in loads]
    began = time.monotonic_ns()
    said = tally.let_work(loads, between)
    grown = {}
    for load, books in zip(loads, before):
        grown.update(tally.growth(books, load.books()))
    return Work(grown, said, tally.holes() - holes, time.monotonic_ns() - began)


def measure(tool, load, *args):
    """A tool, about one load (-p if nothing else is said). Returns its report and the Work."""
    tracer = tool("--json", *(args or ("-p", load.pid)))
    w = work(load)
    return tracer.stop().report, w


def check(report, w, grown=None, groups=None):
    """Groups (default: all) of a report hold what the books (default: those of all threads)
    grew by: all waits, and their sum.

    The kernel leaves some arrivals out of its books, those of tasks preempted while falling
    asleep. Since 5.13 it does not count them at all; before, it counts them with no
    delay. runqlat measures them and says how many there were: "unaccounted".

    Where the kernel was busy with the storage of tasks (one preempted while its storage was being
    freed), a wait may be too short: "no_state". Where it hid an arrival, it is "missed", if the
    task came again; where it hid that a task was preempted while falling asleep, "unmatched". A wait
    that was too short was not noted for the task's next one to be held against: that tells of one
    "missed". Nothing else may be lost.

    Where "missed" was told, that many may be in the books only.
    """
    grown = total(w.grown) if grown is None else grown
    groups = report["groups"] if groups is None else groups
    events, unaccounted = count(groups), report["unaccounted"]
    lost = {reason for reason, n in flaws(report).items() if n}

    hidden = {"missed", "unmatched"} if tally.pvm_guest() else set()
    missed = report["lost"].get("missed", 0)
    if missed <= report["inexact"]["no_state"]:
        hidden.add("missed")
    assert lost <= {"no_state", *hidden}, report
    w.blurred |= bool(lost or report["corrected"])
    if tally.KERNEL < (5, 13):
        assert events <= grown.count <= events + w.holes + missed
    else:
        assert events - unaccounted <= grown.count <= events + w.holes + missed
    # Since 6.12 the books can hold sleep as waiting; runqlat leaves it out: "corrected".
    if not w.holes and not lost and not report["corrected"]:
        assert wait_ns(groups) >= grown.delay_ns
    if not unaccounted:
        assert wait_ns(groups) <= grown.delay_ns


def check_threads(report, w, tids=None):
    """The same for each thread (default: all there are), of a report by tid."""
    groups = by_key(report, "tid")
    for tid in w.grown if tids is None else tids:
        check(report, w, w.grown[tid], [groups[tid]] if tid in groups else [])


def exactly(trial):
    """Makes a trial, which checks and returns its Work, until nothing was hidden from it and
    nothing was lost: then its checks were for equality. The first time is the rule."""

    def judged():
        w = trial()
        if w.holes or w.blurred:
            raise Blurred
        return w

    return tally.steady(judged)
