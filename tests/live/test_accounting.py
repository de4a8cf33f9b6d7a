# SPDX-License-Identifier: BSD-2-Clause
"""runqlat against the kernel's own books, the default source: counts and sums are equal.

Every trigger sleeps when the books are opened and when they are closed, and the tool measures
during all of that time, so nothing is in one and not in the other. What comes between is exact:
there are no tolerances here but for what each test explains.
"""

import pytest

import tally
from tally import Books, count, growth, scaled, total, wait_ns


def check(report, grown, groups=None):
    """The groups (all) of a report hold what the books grew by: Books, or all threads' Books.

    The kernel leaves some arrivals out of its books, those of tasks preempted while falling
    asleep. Since 5.13 (4e29fb709885) it does not count them; before, it counts them with no
    delay. runqlat measures them and says how many there were: "unaccounted".
    """
    grown = grown if isinstance(grown, Books) else total(grown)
    groups = report["groups"] if groups is None else groups
    events, unaccounted = count(groups), report["unaccounted"]

    assert not any(report["lost"].values()), report["lost"]
    if tally.KERNEL < (5, 13):
        assert events == grown.count
    else:
        assert events - unaccounted <= grown.count <= events
    if unaccounted:
        assert wait_ns(groups) >= grown.delay_ns
    else:
        assert wait_ns(groups) == grown.delay_ns


def check_each(report, grown):
    """The same for each thread, of a report by tid."""
    groups = tally.by_key(report, "tid")
    silent = {tid for tid in grown if not grown[tid].count}
    assert set(grown) - silent <= set(groups) <= set(grown)
    for tid in groups:
        check(report, grown[tid], [groups[tid]])


def measure(tool, load, *args):
    """Lets a trigger do its work under a tool. Returns the report, what the books of the
    trigger's threads grew by, and what the trigger said at the end."""
    load.settle()
    tracer = tool("--json", *(args or ("-p", load.pid)))
    before = load.books()
    load.go()
    said = load.done()
    after = load.books()
    return tracer.stop().report, growth(before, after), said


def test_pinned_spinners(tool, trigger):
    report, grown, _ = measure(tool, trigger("spin", 3, 150, 0))
    check(report, grown)
    assert report["events"] > 6


def test_preempted_spinners_by_thread(tool, trigger):
    load = trigger("spin", 4, 100, 1)
    report, grown, _ = measure(tool, load, "-p", load.pid, "--by", "tid")
    check_each(report, grown)


def test_more_spinners_than_cpus(tool, trigger):
    load = trigger("spin", 5, 100, -1)
    report, grown, _ = measure(tool, load, "-p", load.pid, "--by", "tid")
    check_each(report, grown)


def test_waiting_and_running_is_all_there_is(tool, trigger):
    """Another oracle than the books of waits: a thread that never blocks either runs or waits.

    What is left to chance: the waits at the two barriers, a few time slices of the other thread,
    and time the processor was away from its tasks (interrupts, a hypervisor), which the kernel
    may count as neither. Errors worth finding, waits missing or counted twice, are near 50 %.
    """
    report, grown, took = measure(tool, load := trigger("spin", 2, 500, 0), "-p", load.pid,
                                  "--by", "tid")
    groups = tally.by_key(report, "tid")
    workers = [tid for tid in tally.threads(load.pid) if tid != load.pid]
    for tid, elapsed in zip(workers, took):
        found = groups[tid]["sum"] + grown[tid].run_ns
        assert found == pytest.approx(elapsed, rel=0.25 if tally.GUEST else 0.1)
        assert groups[tid]["sum"] > elapsed / 4


def test_sleepers(tool, trigger):
    rounds = scaled(500)
    report, grown, _ = measure(tool, trigger("sleepers", 20, rounds, 50, -1))
    check(report, grown)
    assert report["events"] >= 20 * rounds


def test_sleepers_on_one_cpu_by_thread(tool, trigger):
    load = trigger("sleepers", 10, scaled(500), 50, 0)
    report, grown, _ = measure(tool, load, "-p", load.pid, "--by", "tid")
    check_each(report, grown)


def test_sleepers_among_spinners(tool, trigger):
    """Each wakeup preempts, or waits for, a spinner."""
    spin = trigger("spin", 2, 300, 0)
    naps = trigger("sleepers", 4, scaled(200), 200, 0)
    for load in (spin, naps):
        load.settle()
    tracer = tool("--json", "-p", f"{spin.pid},{naps.pid}", "--by", "pid")
    before = {load.pid: load.books() for load in (spin, naps)}
    spin.go()
    naps.go()
    for load in (spin, naps):
        load.done()
    grown = {load.pid: growth(before[load.pid], load.books()) for load in (spin, naps)}
    report = tracer.stop().report
    groups = tally.by_key(report, "pid")
    assert set(groups) == set(grown)
    for pid in grown:
        check(report, grown[pid], [groups[pid]])


@pytest.mark.parametrize("cpu", (0, -1))
def test_pipe_ping_pong(tool, trigger, cpu):
    rounds = scaled(5000)
    load = trigger("pingpong", rounds, cpu)
    ping, pong = load.numbers
    for pid in load.numbers:
        tally.settle(pid)
    tracer = tool("--json", "-p", f"{ping},{pong}", "--by", "pid")
    before = {pid: tally.books(pid) for pid in load.numbers}
    load.go()
    load.done()
    for pid in load.numbers:
        tally.settle(pid)
    grown = growth(before, {pid: tally.books(pid) for pid in load.numbers})
    report = tracer.stop().report
    groups = tally.by_key(report, "pid")
    for pid in load.numbers:
        check(report, grown[pid], [groups[pid]])
        # Unpinned, each may find the other's byte without going to sleep.
        assert groups[pid]["count"] >= (rounds if cpu == 0 else 1)
    assert report["events"] == count(groups.values())


def test_yielding(tool, trigger):
    """A thread that yields is runnable and waits, though nobody preempted it."""
    load = trigger("yield", 3, scaled(3000), 0)
    report, grown, _ = measure(tool, load, "-p", load.pid, "--by", "tid")
    check_each(report, grown)
    assert report["events"] > scaled(3000)


def test_migrating_under_load(tool, trigger):
    """Threads that are moved to another CPU while they wait have one wait, of the whole length.

    The kernel's books add up its parts; a wait that begins again at each move, or one that ends
    there, is seen in the sum."""
    load = trigger("migrate", 5, scaled(3000))
    report, grown, _ = measure(tool, load, "-p", load.pid, "--by", "tid")
    check_each(report, grown)
    assert report["events"] > scaled(3000)


def test_first_wait_after_the_start_is_whole(tool, trigger):
    """The same when the tool starts in the middle of it: the books of a thread that waits are
    known from a walk over all tasks. (-p alone, so that what is seen is the tool's own.)

    The books are opened while threads run and wait, so what they say is between two readings:
    one before the tool measures, one after."""
    load = trigger("migrate", 5, scaled(3000))
    load.go()
    early = tally.books_of_threads(load.pid)
    tracer = tool("--json", "-p", load.pid, "--by", "tid")
    late = tally.books_of_threads(load.pid)
    load.done()
    after = load.books()
    report = tracer.stop().report
    groups = tally.by_key(report, "tid")
    least, most = growth(late, after), growth(early, after)
    for tid in groups:
        slack = report["unaccounted"] + report["lost"]["unmatched"]
        assert least[tid].count <= groups[tid]["count"] + slack
        assert groups[tid]["count"] <= most[tid].count + slack
        assert groups[tid]["sum"] >= least[tid].delay_ns


def storm_of(said):
    """What tests/triggers/storm.c says: (forks, pids, the children's Books, its own Books)."""
    forks, pids, n, delay, n0, delay0, n1, delay1 = said
    return forks, pids, Books(0, delay, n), Books(0, delay1 - delay0, n1 - n0)


@pytest.mark.parametrize("at_once, us", ((1, 0), (6, 50)), ids=("in a row", "at once"))
def test_fork_storm_by_comm(tool, trigger, at_once, us):
    """Tasks that come and go: each is read when it has run for the last time, as a zombie."""
    load = trigger("storm", scaled(20000 if at_once == 1 else 5000), at_once, us, comm="tempest")
    report, grown, said = measure(tool, load, "--comm", "tempest")
    _, _, children, _ = storm_of(said)
    own = total(grown)
    check(report, Books(0, own.delay_ns + children.delay_ns, own.count + children.count))


def test_fork_storm_by_pid(tool, trigger):
    """A key for each process, and none of them lost or mixed up."""
    forks = scaled(20000)
    load = trigger("storm", forks, 4, 0, comm="tempest")
    report, grown, said = measure(tool, load, "--comm", "tempest", "--by", "pid", "--max-keys",
                                  forks + 10)
    _, pids, children, _ = storm_of(said)
    groups = tally.by_key(report, "pid")
    assert {g["key"]["comm"] for g in groups.values()} == {"tempest"}
    assert len(groups) == pids + 1
    check(report, grown, [groups.pop(load.pid)])
    check(report, children, groups.values())


def test_fork_storm_of_a_command(run, directory):
    """Children of a command are followed from their first wait on to their last."""
    forks = scaled(20000)
    out = directory / "report"
    result = run("--json", "-o", out, "--by", "pid", "--max-keys", forks + 10, "--",
                 tally.BUILD / "triggers/storm", forks, 4, 0)
    assert result.code == 0, result
    done = result.text.splitlines()[-1].split()
    forks, pids, children, own = storm_of(int(n) for n in done[1:])
    report = tally.Result(0, out.read_bytes(), b"").report
    groups = tally.by_key(report, "pid")
    assert len(groups) == pids + 1

    # The command itself: its first wait here, after the tool let it go, was before its main;
    # programs are loaded and left in between, which may take some more.
    parent = max(groups.values(), key=lambda g: g["count"])
    check(report, children, [g for g in groups.values() if g is not parent])
    assert own.count < parent["count"] <= own.count + 1 + 100
    assert parent["sum"] >= own.delay_ns


def test_exiting_threads(tool, trigger):
    """Threads leave nothing to read, so each reads its own books just before it exits, at a
    priority at which only its fellows run, who do not preempt it. Waits after that are those for
    a lock on its way out: rare, so one in a hundred threads is allowed; none is the rule, and
    then the sums are equal."""
    load = trigger("threads", scaled(100), 20)
    report, grown, (n, events, delay) = measure(tool, load, "-p", load.pid, "--by", "tid",
                                                "--max-keys", scaled(2000) + 10)
    groups = tally.by_key(report, "tid")
    check(report, grown, [groups.pop(load.pid)])
    assert len(groups) == n
    late = count(groups.values()) - events
    assert 0 <= late <= n / 100
    if late:
        assert wait_ns(groups.values()) >= delay
    else:
        check(report, Books(0, delay, events), groups.values())


def test_exiting_under_load(tool, trigger):
    """Processes that are preempted while they exit, on a CPU that a spinner wants too."""
    spin = trigger("spin", 1, 500, 0)
    load = trigger("storm", scaled(500), 4, 1000, comm="tempest", command=("taskset", "1"))
    spin.go()
    report, grown, said = measure(tool, load, "--comm", "tempest")
    spin.done()
    _, _, children, _ = storm_of(said)
    own = total(grown)
    check(report, Books(0, own.delay_ns + children.delay_ns, own.count + children.count))


def test_idle_and_the_tool_itself_are_never_counted(tool, trigger):
    load = trigger("sleepers", 2, scaled(200), 100, -1)
    load.settle()
    tracer = tool("--json", "-a", "--by", "pid")
    before = load.books()
    load.go()
    load.done()
    grown = growth(before, load.books())
    report = tracer.stop().report
    groups = tally.by_key(report, "pid")
    assert 0 not in groups
    assert tracer.pid not in groups
    check(report, grown, [groups[load.pid]])


def test_without_a_scope_everything_is_in(tool, trigger):
    load = trigger("sleepers", 2, scaled(200), 100, -1)
    load.settle()
    tracer = tool("--json", "--by", "tid", "--max-keys", 50000)
    before = load.books()
    load.go()
    load.done()
    grown = growth(before, load.books())
    report = tracer.stop().report
    groups = tally.by_key(report, "tid")
    for tid in grown:
        check(report, grown[tid], [groups[tid]])
