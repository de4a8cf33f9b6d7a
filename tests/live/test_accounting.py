# SPDX-License-Identifier: BSD-2-Clause
"""runqlat compared with the kernel's own books, with the default source: counts and sums are equal.

The only tolerances are those that a test explains (and tally.holes())."""

import signal
import time

import pytest

import tally
from accounts import Work, check, check_threads, exactly, measure, tool_by_the_books, work  # noqa: F401
from tally import TEMPEST, Books, by_key, count, flaws, growth, scaled, steady, total, within

pytestmark = [pytest.mark.everywhere, pytest.mark.exact]


# The number of short-lived processes; guests have time for fewer.
MANY = 1000 if tally.GUEST else 5000


@pytest.mark.parametrize("by_thread", (False, True), ids=("total", "by thread"))
@pytest.mark.parametrize("load, least", (
    (("spin", 3, 30, 0), 6),                            # on one CPU
    (("spin", 4, 30, 1), 8),
    (("spin", 5, 30, -1), 7),                           # more than there are CPUs
    (("sleepers", 20, scaled(100), 50, -1), 20 * scaled(100)),
    (("sleepers", 10, scaled(100), 50, 0), 10 * scaled(100)),
    (("yield", 3, scaled(3000), 0), scaled(3000)),      # nobody preempts a thread that yields
    (("migrate", 5, 20), 20),                           # moved while they wait
    (("migrate", 3, 20), 20),
), ids=lambda v: "-".join(str(a) for a in v) if isinstance(v, tuple) else "")
def test_books(tool, trigger, load, least, by_thread):
    """A wait is one event of the whole length, whatever happens to the task while it waits.

    The design is about threads that are moved from CPU to CPU while they wait: the
    kernel's books add up the parts. The count or the sum exposes a tool that begins again at each move,
    ends there, or counts the parts.

    The scheduler decides how often they wait: least shows that they did."""

    def trial():
        started = trigger(*load)
        keys = ("--by", "tid") if by_thread else ()
        report, w = measure(tool, started, "-p", started.pid, *keys)
        (check_threads if by_thread else check)(report, w)
        within(report["events"] + w.holes >= least, report["events"], least)
        return w

    exactly(trial)


@pytest.mark.parametrize("load", (
    ("migrate", 5, 200), ("sleepers", 50, scaled(400), 20, -1), ("spin", 8, 100, -1),
), ids=lambda v: v[0])
def test_books_of_a_longer_load(tool, trigger, load):
    load = trigger(*load)
    check_threads(*measure(tool, load, "-p", load.pid, "--by", "tid"))


def test_waiting_and_running_is_all_there_is(tool, trigger):
    """An oracle other than the books of waits: a thread that never blocks either runs or waits.

    The tolerance is for the waits at the two barriers, a few time slices of the other thread,
    and time when the processor was away from its tasks (interrupts, a hypervisor), which the kernel
    may count as neither. Errors worth finding, waits missing or counted twice, are near 50 %.
    """

    def trial():
        load = trigger("spin", 2, 200, 0)
        report, w = measure(tool, load, "-p", load.pid, "--by", "tid")
        groups = by_key(report, "tid")
        workers = [tid for tid in load.tids() if tid != load.pid]
        for tid, elapsed in zip(workers, w.said[0]):
            found = groups[tid]["sum"] + w.grown[tid].run_ns
            within(found == pytest.approx(elapsed, rel=0.25 if tally.GUEST else 0.1), found,
                   elapsed)
            within(groups[tid]["sum"] > elapsed / 4, groups[tid]["sum"], elapsed)

    steady(trial)


def test_sleepers_among_spinners(tool, trigger):
    """Each wakeup preempts a spinner, or waits for one."""

    def trial():
        loads = trigger("spin", 2, 40, 0), trigger("sleepers", 4, scaled(80), 200, 0)
        tracer = tool("--json", "-p", ",".join(str(load.pid) for load in loads), "--by", "tid")
        w = work(*loads)
        report = tracer.stop().report
        assert set(by_key(report, "tid")) <= set(w.grown)
        check_threads(report, w)
        return w

    exactly(trial)


@pytest.mark.parametrize("cpu", (0, -1), ids=("on one CPU", "anywhere"))
def test_pipe_ping_pong(tool, trigger, cpu):
    rounds = scaled(2000)

    def trial():
        load = trigger("pingpong", rounds, cpu)
        report, w = measure(tool, load, "-p", ",".join(map(str, load.pids)), "--by", "tid")
        check_threads(report, w)
        for group in report["groups"]:
            # On different CPUs, each may find the other's byte without going to sleep.
            assert group["count"] + w.holes >= (rounds if cpu == 0 else 1)
        return w

    exactly(trial)


def test_first_wait_after_the_start_is_whole(tool, trigger):
    """When the tool starts in the middle of a load, it learns the books of tasks that already wait
    from a walk over all tasks: their first wait is right, whether they are moved while they wait or not.

    The books are opened while threads run and wait, so they give only bounds: a reading before
    the tool begins and one after. The sum may include waits that began before the first reading. They
    are closed when the load, which would never end, has been stopped."""
    load = trigger("migrate", 5, 1_000_000)
    holes = tally.holes()
    began = time.monotonic_ns()
    load.go()
    early = tally.books_of_threads(load.pid)
    tracer = tool("--json", "-p", load.pid, "--by", "tid")
    late = tally.books_of_threads(load.pid)

    def have_waited():
        grown = growth(late, tally.books_of_threads(load.pid))
        return all(grown[tid].count > 5 for tid in late)

    tally.wait_until(have_waited, "some waits of each thread")
    load.process.send_signal(signal.SIGSTOP)
    tally.wait_until(lambda: all(tally.state(load.pid, tid) == "T" for tid in late), "a stop")
    after = load.books()
    elapsed = time.monotonic_ns() - began
    holes = tally.holes() - holes
    report = tracer.stop().report
    tally.end_process(load.process)
    least, most = growth(late, after), growth(early, after)
    slack = report["unaccounted"] + sum(flaws(report).values())
    for tid, group in by_key(report, "tid").items():
        assert least[tid].count - holes <= group["count"] <= most[tid].count + slack
        assert least[tid].delay_ns <= group["sum"] <= elapsed or holes


def storm_of(said):
    """The output of tests/triggers/storm.c: (pids, the children's Books, its own Books)."""
    _, pids, n, delay, n0, delay0, n1, delay1 = said
    return pids, Books(0, delay, n), Books(0, delay1 - delay0, n1 - n0)


@pytest.mark.parametrize("forks, at_once, us", (
    (scaled(400), 1, 0), (scaled(200), 6, 50), (MANY, 4, 0),
), ids=("in a row", "at once", "many"))
def test_fork_storm_by_comm(tool, trigger, forks, at_once, us):
    """Short-lived tasks: each is read when it has run for the last time, as a zombie."""

    def trial():
        load = trigger("storm", forks, at_once, us, comm=TEMPEST)
        report, w = measure(tool, load, "--comm", TEMPEST)
        _, children, _ = storm_of(w.said[0])
        check(report, w, total([children, total(w.grown)]))
        return w

    if forks < MANY:
        exactly(trial)
    else:
        trial()


def test_fork_storm_by_pid(tool, trigger):
    """One key per process, none of them lost or mixed up."""
    forks = MANY
    load = trigger("storm", forks, 4, 0, comm=TEMPEST)
    report, w = measure(tool, load, "--comm", TEMPEST, "--by", "pid", "--max-keys", forks + 10)
    pids, children, _ = storm_of(w.said[0])
    groups = by_key(report, "pid")
    assert {g["key"]["comm"] for g in groups.values()} == {TEMPEST}
    assert pids + 1 - w.holes <= len(groups) <= pids + 1
    check(report, w, groups=[groups.pop(load.pid)])
    check(report, w, children, groups.values())


def test_fork_storm_of_a_command(run, directory):
    """Children of a command are followed from their first wait to their last."""
    forks = MANY

    def trial():
        out = directory / "report"
        holes = tally.holes()
        result = run("--json", "--source", "accounting", "-o", out, "--by", "pid", "--max-keys", forks + 10, "--",
                     tally.BUILD / "triggers/storm", forks, 4, 0)
        w = Work({}, None, tally.holes() - holes)
        assert result.code == 0, result
        pids, children, own = storm_of(int(n) for n in result.text.splitlines()[-1].split()[1:])
        report = tally.Result(0, out.read_bytes(), b"").report
        groups = by_key(report, "pid")
        assert pids + 1 - w.holes <= len(groups) <= pids + 1

        # The command itself: its first wait here, after the tool released it, was before its main;
        # programs are loaded and left in between, which adds some more (a disk, a page fault).
        parent = max(groups.values(), key=lambda g: g["count"])
        check(report, w, children, [g for g in groups.values() if g is not parent])
        assert own.count + 1 - w.holes <= parent["count"]
        assert parent["sum"] >= own.delay_ns or w.holes
        within(parent["count"] <= own.count + 1 + 100, parent["count"], own.count)

    steady(trial)


def test_exiting_threads(tool, trigger):
    """Threads leave nothing to read, so each reads its own books just before it exits, alone and
    at a priority at which nothing preempts it. After that it can only wait for the kernel itself
    (seen on 7.2: a kworker, in one of ten exits): one in four threads may do so; usually none
    does, and then the sums are equal."""

    def trial():
        load = trigger("threads", scaled(16), 20)
        report, w = measure(tool, load, "-p", load.pid, "--by", "tid", "--max-keys", 1000)
        n, events, delay = w.said[0]
        groups = by_key(report, "tid")
        check(report, w, groups=[groups.pop(load.pid)])
        assert n - w.holes <= len(groups) <= n
        late = count(groups.values()) - events
        assert -w.holes <= late
        within(late <= n / 4, late, n)
        if late <= 0:
            check(report, w, Books(0, delay, events), groups.values())
        return w

    exactly(trial)


def test_exiting_under_load(tool, trigger):
    """Processes that are preempted while they exit, on a CPU that a spinner also wants."""

    def trial():
        spin = trigger("spin", 1, 50, 0)
        load = trigger("storm", scaled(50), 4, 500, comm=TEMPEST, command=("taskset", "1"))
        tracer = tool("--json", "--comm", TEMPEST)
        spin.go()
        w = work(load)
        spin.done()
        _, children, _ = storm_of(w.said[0])
        check(tracer.stop().report, w, total([children, total(w.grown)]))
        return w

    exactly(trial)


@pytest.mark.parametrize("scope", ((), ("-a",)), ids=("no scope", "-a"))
def test_everything(tool, trigger, scope):
    """Without a scope everything is counted, except idle time and the tool itself."""

    def trial():
        load = trigger("sleepers", 2, scaled(100), 50, -1)
        tracer = tool("--json", *scope, "--by", "tid", "--max-keys", 50000)
        w = work(load)
        report = tracer.stop().report
        groups = by_key(report, "tid")
        assert 0 not in groups and tracer.pid not in groups
        check_threads(report, w)
        return w

    exactly(trial)


def test_the_tool_itself_is_never_counted(tool):
    """Not even when it is busy: 200 reports a second."""
    tracer = tool("--json", "-a", "--by", "pid", "-I", 5)
    tracer.await_lines(20)
    for report in tracer.stop().reports:
        assert not {0, tracer.pid} & set(by_key(report, "pid"))
