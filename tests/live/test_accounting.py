# SPDX-License-Identifier: BSD-2-Clause
"""runqlat against the kernel's own books, with the default source: counts and sums are equal.

Every trigger sleeps when the books are opened and when they are closed, and the tool measures
during all of that time, so nothing is in one and not in the other. What comes between is exact:
there are no tolerances here but those that a test explains, and tally.holes().
"""

import time
from collections import namedtuple

import pytest

import tally
from tally import Books, by_key, count, growth, scaled, total, wait_ns

# A report, what the books of the trigger's threads grew by meanwhile ({tid: Books}), what the
# trigger said at its end, and how many arrivals the kernel may have hidden (0 on sound kernels).
Measured = namedtuple("Measured", "report grown said holes")


def measure(tool, load, *args):
    """Lets a trigger do its work under a tool."""
    load.settle()
    tracer = tool("--json", *(args or ("-p", load.pid)))
    holes = tally.holes()
    before = load.books()
    load.go()
    said = load.done()
    grown = growth(before, load.books())
    holes = tally.holes() - holes
    return Measured(tracer.stop().report, grown, said, holes)


def check(m, grown=None, groups=None):
    """Groups (default: all) of a report hold what the books (default: those of all threads)
    grew by.

    The kernel leaves some arrivals out of its books, those of tasks preempted while falling
    asleep. Since 5.13 (4e29fb709885) it does not count them; before, it counts them with no
    delay. runqlat measures them and says how many there were: "unaccounted".
    """
    grown = total(m.grown) if grown is None else grown
    groups = m.report["groups"] if groups is None else groups
    events, unaccounted = count(groups), m.report["unaccounted"]

    assert not any(m.report["lost"].values()), m.report["lost"]
    if tally.KERNEL < (5, 13):
        assert events <= grown.count <= events + m.holes
    else:
        assert events - unaccounted <= grown.count <= events + m.holes
    if not m.holes:
        assert wait_ns(groups) >= grown.delay_ns
    if not unaccounted:
        assert wait_ns(groups) <= grown.delay_ns


def check_threads(m):
    """The same for each thread, of a report by tid."""
    groups = by_key(m.report, "tid")
    assert set(groups) <= set(m.grown)
    for tid, grown in m.grown.items():
        check(m, grown, [groups[tid]] if tid in groups else [])


def exactly(trial):
    """Repeats a trial, which measures and checks, until the kernel hid nothing from it: then
    its checks were for equality. The first time on a sound kernel."""
    for _ in range(50):
        measured = trial()
        if not measured.holes:
            return measured
    pytest.fail("this machine hides too many switches to test for equality")


@pytest.fixture
def trial(tool, trigger):
    """Measures and checks a load: trial("spin", 3, 100, 0). Returns what was measured."""

    def one(name, *args, by_thread=True, least=0):
        load = trigger(name, *args)
        m = measure(tool, load, "-p", load.pid, *(("--by", "tid") if by_thread else ()))
        if by_thread:
            check_threads(m)
        else:
            check(m)
        assert m.report["events"] + m.holes >= least
        return m

    return lambda *args, **kwargs: exactly(lambda: one(*args, **kwargs))


@pytest.mark.parametrize("by_thread", (False, True), ids=("total", "by thread"))
@pytest.mark.parametrize("load, least", (
    (("spin", 3, 30, 0), 6),                            # on one CPU
    (("spin", 4, 30, 1), 8),
    (("spin", 5, 30, -1), 7),                           # more than there are CPUs
    (("sleepers", 20, scaled(100), 50, -1), 20 * scaled(100)),
    (("sleepers", 10, scaled(100), 50, 0), 10 * scaled(100)),
    (("yield", 3, scaled(3000), 0), scaled(3000)),      # nobody preempts who yields
    (("migrate", 5, scaled(80)), scaled(80)),         # moved while they wait
    (("migrate", 3, scaled(80)), scaled(80)),
), ids=lambda v: "-".join(str(a) for a in v) if isinstance(v, tuple) else "")
def test_books(trial, load, least, by_thread):
    """A wait is one event of the whole length, whatever happens to the task while it waits.

    Threads that are moved from CPU to CPU while they wait are what the design is about: the
    kernel's books add up the parts; a tool that begins again at each move, or ends there, or
    counts the parts, is found out by the count or by the sum."""
    trial(*load, least=least, by_thread=by_thread)


@pytest.mark.parametrize("load", (
    ("migrate", 5, scaled(800)),
    ("sleepers", 50, scaled(400), 20, -1),
    ("spin", 8, 100, -1),
), ids=lambda v: v[0])
def test_books_of_a_longer_load(tool, trigger, load):
    load = trigger(*load)
    check_threads(measure(tool, load, "-p", load.pid, "--by", "tid"))


def test_waiting_and_running_is_all_there_is(tool, trigger):
    """Another oracle than the books of waits: a thread that never blocks either runs or waits.

    What is left to chance: the waits at the two barriers, a few time slices of the other thread,
    and time the processor was away from its tasks (interrupts, a hypervisor), which the kernel
    may count as neither. Errors worth finding, waits missing or counted twice, are near 50 %.
    """
    load = trigger("spin", 2, 500, 0)
    m = measure(tool, load, "-p", load.pid, "--by", "tid")
    groups = by_key(m.report, "tid")
    workers = [tid for tid in tally.threads(load.pid) if tid != load.pid]
    for tid, elapsed in zip(workers, m.said):
        found = groups[tid]["sum"] + m.grown[tid].run_ns
        assert found == pytest.approx(elapsed, rel=0.25 if tally.GUEST else 0.1)
        assert groups[tid]["sum"] > elapsed / 4


def test_sleepers_among_spinners(tool, trigger):
    """Each wakeup preempts, or waits for, a spinner."""

    def trial():
        loads = [trigger("spin", 2, 40, 0), trigger("sleepers", 4, scaled(80), 200, 0)]
        for load in loads:
            load.settle()
        tracer = tool("--json", "-p", ",".join(str(load.pid) for load in loads), "--by", "pid")
        holes = tally.holes()
        before = [load.books() for load in loads]
        for load in loads:
            load.go()
        for load in loads:
            load.done()
        grown = [growth(b, load.books()) for b, load in zip(before, loads)]
        holes = tally.holes() - holes
        m = Measured(tracer.stop().report, None, None, holes)
        groups = by_key(m.report, "pid")
        assert set(groups) == {load.pid for load in loads}
        for load, g in zip(loads, grown):
            check(m, total(g), [groups[load.pid]])
        return m

    exactly(trial)


@pytest.mark.parametrize("cpu", (0, -1))
def test_pipe_ping_pong(tool, trigger, cpu):
    rounds = scaled(2000)

    def books(load):
        for pid in load.numbers:
            tally.settle(pid)
        return {pid: tally.books(pid) for pid in load.numbers}

    def trial():
        load = trigger("pingpong", rounds, cpu)
        books(load)
        tracer = tool("--json", "-p", ",".join(str(pid) for pid in load.numbers), "--by", "pid")
        holes = tally.holes()
        before = books(load)
        load.go()
        load.done()
        grown = growth(before, books(load))
        holes = tally.holes() - holes
        m = Measured(tracer.stop().report, grown, None, holes)
        groups = by_key(m.report, "pid")
        for pid in load.numbers:
            check(m, grown[pid], [groups[pid]])
            # Unpinned, each may find the other's byte without going to sleep.
            assert groups[pid]["count"] + holes >= (rounds if cpu == 0 else 1)
        return m

    exactly(trial)


def test_first_wait_after_the_start_is_whole(tool, trigger):
    """When the tool starts in the middle of a load, the books of tasks that wait already are
    known from a walk over all tasks: their first wait is right, moved while they wait or not.

    The books are opened while threads run and wait, so they give bounds only: a reading before
    the tool begins and one after. The sum may hold waits that began before the first reading."""

    def trial():
        load = trigger("migrate", 5, scaled(800))
        began = time.monotonic_ns()
        load.go()
        early = tally.books_of_threads(load.pid)
        holes = tally.holes()
        tracer = tool("--json", "-p", load.pid, "--by", "tid")
        late = tally.books_of_threads(load.pid)
        load.done()
        after = load.books()
        elapsed = time.monotonic_ns() - began
        holes = tally.holes() - holes
        report = tracer.stop().report
        groups = by_key(report, "tid")
        least, most = growth(late, after), growth(early, after)
        slack = report["unaccounted"] + sum(report["lost"].values())
        for tid in groups:
            assert least[tid].count - holes <= groups[tid]["count"] <= most[tid].count + slack
            assert least[tid].delay_ns <= groups[tid]["sum"] <= elapsed or holes
        return Measured(report, None, None, holes)

    # On a machine with holes, one this long is never without them.
    trial()


def storm_of(said):
    """What tests/triggers/storm.c says: (pids, the children's Books, its own Books)."""
    _, pids, n, delay, n0, delay0, n1, delay1 = said
    return pids, Books(0, delay, n), Books(0, delay1 - delay0, n1 - n0)


@pytest.mark.parametrize("forks, at_once, us", (
    (scaled(400), 1, 0), (scaled(200), 6, 50), (scaled(20000), 4, 0),
), ids=("in a row", "at once", "many"))
def test_fork_storm_by_comm(tool, trigger, forks, at_once, us):
    """Tasks that come and go: each is read when it has run for the last time, as a zombie."""

    def trial():
        load = trigger("storm", forks, at_once, us, comm="tempest")
        m = measure(tool, load, "--comm", "tempest")
        _, children, _ = storm_of(m.said)
        check(m, total({0: children, 1: total(m.grown)}))
        return m

    if forks < 1000:
        exactly(trial)
    else:
        trial()


def test_fork_storm_by_pid(tool, trigger):
    """A key for each process, and none of them lost or mixed up."""
    forks = scaled(20000)
    load = trigger("storm", forks, 4, 0, comm="tempest")
    m = measure(tool, load, "--comm", "tempest", "--by", "pid", "--max-keys", forks + 10)
    pids, children, _ = storm_of(m.said)
    groups = by_key(m.report, "pid")
    assert {g["key"]["comm"] for g in groups.values()} == {"tempest"}
    assert pids + 1 - m.holes <= len(groups) <= pids + 1
    check(m, groups=[groups.pop(load.pid)])
    check(m, children, groups.values())


def test_fork_storm_of_a_command(run, directory):
    """Children of a command are followed from their first wait on to their last."""
    forks = scaled(20000)
    out = directory / "report"
    holes = tally.holes()
    result = run("--json", "-o", out, "--by", "pid", "--max-keys", forks + 10, "--",
                 tally.BUILD / "triggers/storm", forks, 4, 0)
    holes = tally.holes() - holes
    assert result.code == 0, result
    pids, children, own = storm_of(int(n) for n in result.text.splitlines()[-1].split()[1:])
    m = Measured(tally.Result(0, out.read_bytes(), b"").report, None, None, holes)
    groups = by_key(m.report, "pid")
    assert pids + 1 - holes <= len(groups) <= pids + 1

    # The command itself: its first wait here, after the tool let it go, was before its main;
    # programs are loaded and left in between, which takes some more (a disk, a page fault).
    parent = max(groups.values(), key=lambda g: g["count"])
    check(m, children, [g for g in groups.values() if g is not parent])
    assert own.count + 1 - holes <= parent["count"] <= own.count + 1 + 100
    assert parent["sum"] >= own.delay_ns or holes


def test_exiting_threads(tool, trigger):
    """Threads leave nothing to read, so each reads its own books just before it exits, at a
    priority at which only its fellows run, who do not preempt it. Waits after that are those for
    a lock on its way out: rare, so one in a hundred threads is allowed; none is the rule, and
    then the sums are equal."""

    def trial():
        load = trigger("threads", scaled(16), 20)
        m = measure(tool, load, "-p", load.pid, "--by", "tid", "--max-keys", 1000)
        n, events, delay = m.said
        groups = by_key(m.report, "tid")
        check(m, groups=[groups.pop(load.pid)])
        assert n - m.holes <= len(groups) <= n
        late = count(groups.values()) - events
        assert -m.holes <= late <= 1 + n / 100
        if late <= 0:
            check(m, Books(0, delay, events), groups.values())
        return m

    exactly(trial)


def test_exiting_under_load(tool, trigger):
    """Processes that are preempted while they exit, on a CPU that a spinner wants too."""

    def trial():
        spin = trigger("spin", 1, 100, 0)
        load = trigger("storm", scaled(100), 4, 500, comm="tempest", command=("taskset", "1"))
        spin.go()
        m = measure(tool, load, "--comm", "tempest")
        spin.done()
        _, children, _ = storm_of(m.said)
        check(m, total({0: children, 1: total(m.grown)}))
        return m

    exactly(trial)


@pytest.mark.parametrize("scope", ((), ("-a",)), ids=("no scope", "-a"))
def test_everything(tool, trigger, scope):
    """Without a scope everything is in, but never idle time and never the tool itself."""

    def trial():
        load = trigger("sleepers", 2, scaled(100), 50, -1)
        m = measure(tool, load, *scope, "--by", "pid,tid", "--max-keys", 50000)
        groups = {key[1]: group for key, group in by_key(m.report, "pid", "tid").items()}
        assert 0 not in groups
        assert not any(pid == 0 for pid, _ in by_key(m.report, "pid", "tid"))
        for tid, grown in m.grown.items():
            check(m, grown, [groups[tid]])
        return m

    exactly(trial)


def test_the_tool_itself_is_never_counted(tool):
    """Not even where it is busy: 200 reports a second."""
    tracer = tool("--json", "-a", "--by", "pid", "-I", 5, stdout=None)
    time.sleep(0.3)
    reports = tracer.stop().reports
    assert len(reports) > 5
    for report in reports:
        assert tracer.pid not in by_key(report, "pid")
