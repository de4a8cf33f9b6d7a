# SPDX-License-Identifier: BSD-2-Clause
"""The two sources of runqlat measure the same waits."""

import pytest

import tally
from accounts import check, exactly, measure, work
from tally import by_key, count, scaled, steady, wait_ns, within


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
    one that waits, so only the sum over all of them is compared. What a hypervisor takes away in
    between, once in a while, and the moments between two run queues when a waiting task is
    moved, are 5 % at most.
    """
    def trial():
        started = trigger(*load)
        scope = ("--json", "-p", ",".join(map(str, started.pids)), "--by", "tid", "--source")
        tracers = tool(*scope, "accounting"), tool(*scope, "wakeup")
        w = work(started)
        books, stamps = (tracer.stop().report for tracer in tracers)
        check(books, w)
        if any(stamps["lost"].values()):
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
    """What --source wakeup is for. On an idle CPU a wakeup is followed by a switch at once. On a
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
    ((), "sched_info"), (("--source", "auto"), "sched_info"),
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
