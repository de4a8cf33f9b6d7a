# SPDX-License-Identifier: BSD-2-Clause
"""Compares a tool's report with the kernel's own books of a load.

    load = trigger("spin", 3, 100, 0)       # ready, and asleep
    tracer = tool("--json", "-p", load.pid) # measures from here on
    w = work(load)                          # the books of all its threads, before and after
    check(tracer.stop().report, w)          # equal

The triggers sleep when their books are opened and when they are closed, and the tool measures
during all of that time, so both cover the same events.
"""

import time
from dataclasses import dataclass

import pytest

import tally
from tally import Blurred, by_key, count, flaws, total, wait_ns


# Tools that time waits for a CPU (bpf/sched/wait.bpf.h).
TIMES_WAITS = {"runqlat", "runqslower", "schedlat", "timehist", "schedmap"}


@pytest.fixture(name="tool")
def tool_by_the_books(tool):
    """The fixture "tool" for tests that compare waits with the kernel's books, or one tool's with another's, to the
    nanosecond: makes all tools use the kernel's own clock. (test_sources.py compares it with timestamps.)"""
    def start(*args, **kwargs):
        timed = kwargs.get("tool", "runqlat") in TIMES_WAITS and not {"--source", "--totals", "--read"} & set(args)
        return tool(*(("--source", "accounting") if timed else ()), *args, **kwargs)

    return start


@dataclass
class Work:
    """The result of letting loads work."""
    grown: dict             # growth of the books of their threads: {tid: Books}
    said: list              # the output of each load at its end
    holes: int              # arrivals that the kernel may have hidden: tally.holes()
    elapsed_ns: int = 0     # from rest to rest
    blurred: bool = False   # check() met losses, which the tool reported


def work(*loads, between=None):
    """Lets triggers do their work: all at once, or one after the other with between() before each
    except the first."""
    holes = tally.holes()
    before = [load.books() for load in loads]
    began = time.monotonic_ns()
    said = tally.let_work(loads, between)
    grown = {}
    for load, books in zip(loads, before):
        grown.update(tally.growth(books, load.books()))
    return Work(grown, said, tally.holes() - holes, time.monotonic_ns() - began)


def measure(tool, load, *args):
    """Runs a tool on one load (-p by default). Returns its report and the Work."""
    tracer = tool("--json", *(args or ("-p", load.pid)))
    w = work(load)
    return tracer.stop().report, w


def check(report, w, grown=None, groups=None):
    """Checks that groups (default: all) of a report equal the growth of the books (default: of all
    threads): the number of waits, and their sum.

    The kernel leaves some arrivals out of its books, those of tasks preempted while falling
    asleep. Since 5.13 it does not count them at all; before, it counts them with no
    delay. runqlat measures them and reports their number: "unaccounted".

    Where the kernel was busy with the storage of tasks (one preempted while its storage was being
    freed), a wait may be too short: "no_state". A hidden arrival is "missed" if the task arrived
    again; a hidden preemption of a task that was falling asleep is "unmatched". A wait
    that was too short was not recorded for comparison with the task's next one: that reports one
    "missed". Nothing else may be lost.

    As many waits as were "missed" may be in the books only.
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
    # Since 6.12 the books can count sleep as waiting; runqlat leaves it out: "corrected".
    if not w.holes and not lost and not report["corrected"]:
        assert wait_ns(groups) >= grown.delay_ns
    if not unaccounted:
        assert wait_ns(groups) <= grown.delay_ns


def check_threads(report, w, tids=None):
    """The same for each thread (default: all), for a report by tid."""
    groups = by_key(report, "tid")
    for tid in w.grown if tids is None else tids:
        check(report, w, w.grown[tid], [groups[tid]] if tid in groups else [])


def exactly(trial):
    """Repeats a trial, which checks and returns its Work, until the kernel hid nothing from it and
    nothing was lost: then its checks were for equality. The first trial usually suffices."""

    def judged():
        w = trial()
        if w.holes or w.blurred:
            raise Blurred
        return w

    return tally.steady(judged)
