# SPDX-License-Identifier: BSD-2-Clause
"""The two sources of runqlat measure the same waits."""

import json

import pytest

import tally
from accounts import check, exactly, measure, work
from tally import by_key, count, flaws, scaled, steady, wait_ns, within


@pytest.mark.parametrize("load", (
    ("spin", 3, 40, 0),
    ("spin", 5, 40, -1),
    ("sleepers", 20, scaled(100), 50, -1),
    ("yield", 3, scaled(2000), 0),
    ("pingpong", scaled(2000), 0),
    ("migrate", 5, 20),
), ids=lambda v: "-".join(str(a) for a in v))
def test_wakeup_beside_accounting(tool, trigger, load):
    """Both at once over one load.

    Counts: every switch-in of a task that was woken, preempted or gave way is one wait for
    either, tasks preempted while falling asleep included (that is where they differ from the
    kernel's books, by "unaccounted"). So they are equal, for each thread.

    Sums: the run queue's clock is read when the scheduler begins to act, the timestamps are
    taken when it is nearly done, at both ends of a wait: some microseconds apart. Where a wakeup
    preempts, the books give the time between the two to the task that is preempted, not to the
    one that waits, so only the sum over all of them is compared. Time stolen by the hypervisor in
    between, and the moments between two run queues when a waiting task is moved, are 5 % at
    most.
    """
    def trial():
        started = trigger(*load)
        scope = ("--json", "-p", ",".join(map(str, started.pids)), "--by", "tid", "--source")
        tracers = tool(*scope, "accounting"), tool(*scope, "wakeup")
        w = work(started)
        books, stamps = (tracer.stop().report for tracer in tracers)
        check(books, w)
        if any(flaws(stamps).values()):
            w.blurred = True
            return w
        assert stamps["unaccounted"] == 0
        books, stamps = by_key(books, "tid"), by_key(stamps, "tid")
        assert set(books) == set(stamps)
        for tid, group in books.items():
            assert stamps[tid]["count"] == group["count"]
        apart = count(books.values()) * (200_000 if tally.GUEST else 20_000)
        within(wait_ns(stamps.values()) == pytest.approx(wait_ns(books.values()), rel=0.05,
                                                         abs=apart),
               wait_ns(stamps.values()), wait_ns(books.values()), apart)
        return w

    exactly(trial)


def test_wakeup_sees_waits_that_accounting_reads_as_zero(tool, trigger):
    """Why timestamps are the default. On an idle CPU a wakeup is followed by a switch at once. On a
    busy one waits are as long as the others' time slices, for either."""

    def trial():
        load = trigger("sleepers", 1, scaled(300), 100, 0)
        scope = ("--json", "-p", load.pid, "--source")
        tracers = tool(*scope, "accounting"), tool(*scope, "wakeup")
        work(load)
        (books,), (stamps,) = (tracer.stop().report["groups"] for tracer in tracers)
        assert stamps["min"] > 0
        within(books["sum"] < stamps["sum"], books["sum"], stamps["sum"])

    steady(trial)


@pytest.mark.parametrize("source, hook", (
    ((), "sched_wakeup"), (("--source", "auto"), "sched_wakeup"),
    (("--source", "accounting"), "sched_info"), (("--source", "wakeup"), "sched_wakeup"),
), ids=lambda v: v[-1] if isinstance(v, tuple) and v else "")
def test_the_source_is_named(run, source, hook):
    for form in ("json", "text"):
        result = run("-d", "0.01", "--format", form, *source)
        assert result.code == 0, result
        assert hook in result.text


@pytest.mark.parametrize("source", ("auto", "accounting", "wakeup"))
def test_sleep_is_not_a_wait(tool, trigger, source):
    """Whatever a thread does, it cannot have waited while it ran or slept.

    Since 6.12 a task that goes to sleep may stay on its run queue for a while (delayed dequeue).
    When it is moved to another CPU in that state, the kernel's own books begin a wait, which
    lasts until the task is woken and runs. (Running and waiting are on other clocks than the time
    there was, and with timestamps on two: they may overlap by what lies between their readings.)"""

    def trial():
        load = trigger("drowsy", 6, 50)
        report, w = measure(tool, load, "-p", load.pid, "--by", "tid", "--source", source)
        (slept,) = w.said[0]
        groups = by_key(report, "tid")
        for tid in load.tids()[1:]:
            ran, waited = w.grown[tid].run_ns, groups[tid]["sum"]
            within(ran + waited <= w.elapsed_ns - slept,
                   f"of {w.elapsed_ns / 1e6:.0f} ms {slept / 1e6:.0f} asleep, "
                   f"{ran / 1e6:.0f} running, and {waited / 1e6:.0f} waiting?")

    steady(trial)


@pytest.mark.parametrize("source", (None, "accounting"), ids=("default", "accounting"))
def test_known_delays(tool, trigger, source):
    """A task of a higher priority keeps the CPU for a known time after it woke another: each single wait is
    between what the two threads can tell of it. The kernel's clock is behind by some us at either end."""
    rounds, busy_us = scaled(80), 1000
    slack = 0 if source is None else 1_000_000 if tally.GUEST else 100_000

    def trial():
        load = trigger("delays", rounds, 0, busy_us)
        waits = waits_of(tool, load, source, "--min", f"{busy_us // 2}us")
        within(all(least - slack <= wait <= most + slack for wait, (least, most) in waits), waits)

    steady(trial)


def test_waits_of_who_takes_the_cpu_at_once(tool, trigger):
    """Woken by the task whose CPU it takes, a task waits for as long as the switch lasts: never 0, and not
    longer than it took from before the wakeup to its return."""
    rounds = scaled(80)

    def trial():
        load = trigger("delays", rounds, 0, 0)
        waits = waits_of(tool, load, None, "--min", "0")
        within(all(least <= wait <= most for wait, (least, most) in waits), waits)

    steady(trial)


def waits_of(tool, load, source, *args):
    """[(wait, (least, most))] of the one that tests/triggers/delays.c wakes. Its first wait is at the barrier."""
    tracer = tool("--json", "-p", load.pid, *args, *(("--source", source) if source else ()), tool="runqslower")
    load.go()
    tid, *bounds = load.done()
    lines = [json.loads(line) for line in tracer.stop().text.splitlines()]
    waits = [line["values"]["wait"] for line in lines if line.get("tid") == tid]
    bounds = list(zip(bounds[::2], bounds[1::2]))
    within(len(waits) >= len(bounds), waits, bounds)        # where the kernel hides a switch
    best = max(range(len(waits) - len(bounds) + 1),
               key=lambda at: sum(low <= wait <= high for wait, (low, high) in zip(waits[at:], bounds)))
    return list(zip(waits[best:], bounds))
