# SPDX-License-Identifier: BSD-2-Clause
"""why: threads that each do one kind of thing, against their own clocks, and times that add up."""

import os
import sys
import time
from collections import defaultdict

import pytest

import quota
import tally

# For the threads of the trigger, in its order: the cause, the state, the calls and the file of their waits.
KINDS = {
    "user": ("user", "cpu", None, None),
    "system": ("system", "cpu", None, None),
    "futex": ("futex", "blocked", {"futex"}, None),
    "timer": ("timer", "blocked", {"clock_nanosleep", "nanosleep"}, None),
    "poll": ("events", "idle", {"poll", "ppoll"}, None),
    "epoll": ("events", "idle", {"epoll_wait", "epoll_pwait"}, "anonymous"),
    "accept": ("accept", "idle", {"accept"}, "tcp"),
    "sigwait": ("signal", "idle", {"rt_sigtimedwait"}, None),
    "semop": ("ipc", "blocked", {"semtimedop"}, None),
    "pipe": ("pipe", "blocked", {"read"}, "pipe"),
    "unix": ("socket", "blocked", {"read"}, "unix"),
    "tcp": ("socket", "blocked", {"read"}, "tcp"),
    "udp": ("socket", "blocked", {"read"}, "udp"),
    "eventfd": ("descriptor", "idle", {"read"}, "anonymous"),
    "msgrcv": ("ipc", "blocked", {"msgrcv"}, None),
    "flock": ("file lock", "blocked", {"flock"}, "file"),
    "ofd": ("file lock", "blocked", {"fcntl"}, "file"),
    "wait4": ("child", "blocked", {"wait4"}, None),
    "vfork": ("child", "blocked", {"vfork", "clone", "wait4"}, None),
    "direct": ("disk", "blocked", {"pread64"}, "file"),
}

MS = 600

# Numbers of sleeps of 2 ms, and of 300 ms.
SLEEPS = """
import sys, time
own = []
for seconds in int(sys.argv[1]) * [0.002] + int(sys.argv[2]) * [0.3]:
    begun = time.monotonic_ns()
    time.sleep(seconds)
    own.append(time.monotonic_ns() - begun)
print("slept", *own, file=sys.stderr)
"""


def times(rows, **members):
    return sum(row["time"] for row in rows if all(row[name] == value for name, value in members.items()))


def times_by_tid(reports):
    by_tid = defaultdict(int)
    for report in reports:
        for row in report["rows"]:
            by_tid[row["tid"]] += row["time"]
    return by_tid


def is_blurred(report):
    """A switch for which no program ran (PVM), or a sum that found no memory, leaves a gap, which has a row."""
    return report["lost"]["missed"] or report["lost"]["no_memory"]


def check_kind(kind, rows, own_ns):
    """
    A wait is within the call that the thread has timed, so it is no longer. For the rest of the call the thread was on
    a CPU, was runnable, or waited for a lock or memory.
    """
    cause, state, calls, file = KINDS[kind]
    waits = [row for row in rows if row["cause"] == cause and row["call"] in calls]
    waited = times(waits)
    rest = sum(row["time"] for row in rows if row not in waits and row["call"] != "readv")
    assert {(row["state"], row["kind"]) for row in waits} == {(state, file)}, rows
    assert 0 < waited <= own_ns <= waited + rest, (kind, waited, own_ns, rest, rows)


@pytest.mark.everywhere
def test_kinds_of_waits(trigger, tool, directory):
    path = directory / "file"
    path.write_bytes(os.urandom(1 << 20))

    def trial():
        load = trigger("ledger", MS, path)
        it = tool("--json", "--by", "tid", "-p", load.pid, tool="why")
        load.go()
        numbers = load.done()
        report = it.stop().report
        own = dict(zip(KINDS, zip(numbers[::2], numbers[1::2])))
        by_tid = defaultdict(list)
        for row in report["rows"]:
            by_tid[row["tid"]].append(row)
        for kind, (tid, ns) in own.items():
            rows = by_tid[tid]
            assert times(rows, cause="unknown") == 0 or is_blurred(report), rows
            if KINDS[kind][2] and (kind != "direct" or times(rows, cause="disk")):
                check_kind(kind, rows, ns)
        # A thread that computes is charged by ticks: user and system time have that resolution, and on a busy machine a
        # thread gets few of them.
        tid, ns = own["user"]
        assert times(by_tid[tid], state="cpu") >= ns - 20_000_000
        tally.within(times(by_tid[tid], cause="user") > times(by_tid[tid], cause="system"), by_tid[tid])
        tid, ns = own["system"]
        tally.within(times(by_tid[tid], cause="system") > times(by_tid[tid], cause="user"), by_tid[tid])

    tally.steady(trial)


@pytest.mark.everywhere
def test_times_add_up(trigger, tool):
    """Times of a thread that exists throughout add up to the duration of the measurement, to the nanosecond."""
    load = trigger("sleepers", 5, 400, 1000, -1)
    it = tool("--json", "--by", "tid", "-p", load.pid, tool="why")
    load.go()
    load.done()
    report = it.stop().report
    sums = times_by_tid([report])
    assert len(sums) == 6 and len(set(sums.values())) == 1, sums
    # The report's clock is not read at the same moment as that of the programs.
    assert abs(sums[load.pid] - report["duration_ns"]) < 20_000_000, (sums, report["duration_ns"])
    assert times(report["rows"], cause="unknown") == 0 or is_blurred(report), report["rows"]


def test_intervals_add_up(trigger, tool):
    """Reports of intervals divide the time of a running sleep, and no part counts twice."""
    load = trigger("waits", "pool", 4)
    it = tool("--json", "--by", "tid", "-p", load.pid, "-I", "100", "--reports", "5", tool="why")
    reports = it.wait().reports
    assert len(reports) == 5
    sums = times_by_tid(reports)
    assert len(sums) == 5 and len(set(sums.values())) == 1, sums


@pytest.mark.parametrize("by", (None, "pid", "tid", "comm"))
def test_each_phase_is_one_event(run, by):
    """A slice on a CPU is in the rows of user and of system time, and is one event."""
    program = "for i in range(3): sum(range(3_000_000)); open('/dev/urandom', 'rb').read(3_000_000)"
    args = ("--by", by) if by else ()
    report = run("--json", *args, "--", "sh", "-c", f'{sys.executable} -c "{program}"; :', tool="why").report
    slices = defaultdict(int)
    for row in report["rows"]:
        key = row[by] if by else None
        slices[key] = max(slices[key], row["count"] if row["state"] == "cpu" else 0)
    both = [row for row in report["rows"] if row["cause"] in ("user", "system")]
    assert len(both) > len({row[by] if by else None for row in both}), report["rows"]
    others = sum(row["count"] for row in report["rows"] if row["state"] != "cpu")
    assert report["events"] == sum(slices.values()) + others, report


def test_all_of_a_command(run):
    """From its first to its last switch, its children included: no less than its CPU time."""
    begun = time.monotonic_ns()
    report = run("--json", "--by", "pid", "--", "sh", "-c", "for i in 1 2 3; do sleep 0.1; done", tool="why").report
    took = time.monotonic_ns() - begun
    timers = [row for row in report["rows"] if row["cause"] == "timer"]
    assert sum(row["count"] for row in timers) == 3, report["rows"]
    sleeps = {row["pid"] for row in timers}
    assert len(sleeps) == 3 and times(timers) <= took
    # A sleep begins in the call, which may have waited for a CPU before.
    assert sum(times(report["rows"], pid=pid) for pid in sleeps) >= 300_000_000, report["rows"]
    # The shell waits for each of them; it may begin too late.
    waits = [row for row in report["rows"] if row["cause"] == "child"]
    shell, = {row["pid"] for row in waits}
    assert times(waits) <= took
    assert times(report["rows"], pid=shell) >= times(timers), report["rows"]


@pytest.mark.parametrize("long", [1, 2])
def test_percentiles_of_waits(run, long):
    """
    One of a hundred sleeps is long, or two are: the 99th is a short one, or a long one. A wait is within the call, so
    by rank it is no longer than the call that the program has timed, and a percentile is at most a bucket above. On a
    slow machine a short sleep may end before the thread has blocked: the others have higher ranks then.
    """
    ran = run("--json", "--", sys.executable, "-c", SLEEPS, str(100 - long), str(long), tool="why")
    own = sorted(int(word) for word in ran.stderr.split("slept")[1].split())
    (row,) = [row for row in ran.report["rows"] if row["cause"] == "timer"]
    missing = len(own) - row["count"]
    assert len(own) == 100 and 0 <= missing < 50

    def most(percent):
        return own[-(-row["count"] * percent // 100) + missing - 1] * 1.0625

    # The clock of a sleep starts before the thread leaves its CPU.
    assert 0 < row["p50"] <= most(50)
    assert (150_000_000 if long == 2 else 0) < row["p99"] <= most(99)
    assert 150_000_000 <= row["max"] <= own[99]
    # Time on a CPU is no wait.
    assert {row["p99"] for row in ran.report["rows"] if row["state"] == "cpu"} == {None}


def test_threads_that_sleep_all_the_time_are_idle(trigger, run):
    load = trigger("waits", "condition", 3)
    report = run("--json", "-p", load.pid, "-d", "0.2", tool="why").report
    futexes = [row for row in report["rows"] if row["cause"] == "futex"]
    assert [(row["state"], row["count"]) for row in futexes] == [("idle", 3)], report["rows"]
    assert all(row["share_percent"] is None for row in futexes)


def test_shares_are_of_what_is_not_idle(trigger, tool):
    load = trigger("spin", 2, 200, 0)
    it = tool("--json", "-p", load.pid, tool="why")
    load.go()
    load.done()
    report = it.stop().report
    busy = [row for row in report["rows"] if row["state"] != "idle"]
    assert sum(row["share_percent"] for row in busy) == pytest.approx(100)
    assert {row["busy"] for row in busy} == {sum(row["time"] for row in busy)}
    # Idle threads come last, and others are sorted by time.
    states = [row["state"] == "idle" for row in report["rows"]]
    assert states == sorted(states)
    assert [row["time"] for row in busy] == sorted((row["time"] for row in busy), reverse=True)


def test_waits_for_a_cpu(trigger, tool):
    """Two threads on one CPU: while one computes the other one is runnable."""
    def trial():
        load = trigger("spin", 2, 200, 0)
        before = tally.books_of_threads(load.pid)
        it = tool("--json", "--by", "tid", "-p", load.pid, tool="why")
        load.go()
        load.done()
        load.settle()
        after = tally.books_of_threads(load.pid)
        report = it.stop().report
        if is_blurred(report):
            raise tally.Blurred
        workers = [tid for tid in after if tid != load.pid]
        runnable = {tid: times(report["rows"], tid=tid, state="runnable") for tid in workers}
        computed = {tid: times(report["rows"], tid=tid, state="cpu") for tid in workers}
        # The clock of the kernel's accounting, and of a thread's CPU time, stands still from the begin of a switch on,
        # for some microseconds each time.
        grown = {tid: after[tid].delay_ns - before[tid].delay_ns for tid in workers}
        for tid in workers:
            tally.within(computed[tid] >= 196_000_000, report["rows"])
            tally.within(abs(runnable[tid] - grown[tid]) <= grown[tid] / 50, runnable, grown)
        assert sum(runnable.values()) >= min(computed.values()), (runnable, computed)

    tally.steady(trial)


@pytest.mark.everywhere
@pytest.mark.parametrize("others", [1, 12])
def test_behind_whom(trigger, run, others):
    """
    Loops of two processes on one CPU: while one has it the other one waits, and is charged exactly that time. If a wait
    has more than eight turns, earlier ones are charged by a random draw.
    """
    def behind(row, comm):
        """A share has the resolution of a tenth of a percent. The largest comes first: other tests use the CPU, too."""
        shares = dict(each.rsplit(" ", 2)[:2] for each in (row["behind"] or "").split(", ") if each)
        parts = list(map(float, shares.values()))
        assert parts == sorted(parts, reverse=True), row
        return float(shares.get(comm, 0)) * row["time"] / 100, row["time"] / 2000

    def trial():
        comms = ("loop-one", "loop-two")
        loads = [trigger("spin", n, 60_000, 0, comm=comm) for n, comm in zip((1, others), comms)]
        for load in loads:
            load.go()
        for load in loads:
            tally.wait_until(lambda: tally.cpu_ns(load.pid) > 20_000_000, "the loops to run")   # pylint: disable=W0640
        pids = ",".join(str(load.pid) for load in loads)
        report = run("--json", "--by", "pid", "-p", pids, "-d", "1", tool="why").report
        for load in loads:
            tally.end_process(load.process)
        if is_blurred(report):
            raise tally.Blurred
        ran = times(report["rows"], pid=loads[1].pid, state="cpu")
        (row,) = [r for r in report["rows"] if r["pid"] == loads[0].pid and r["cause"] == "preempted"]
        charged, rounded = behind(row, comms[1])
        # A wait still running at the end is not charged yet. Draws err only as far as others used the CPU: the variance
        # of one is at most wait ** 2 * part * (1 - part).
        part = min(ran / row["time"], 1)
        drawn = 2 * (row["max"] * row["time"] * part * (1 - part)) ** 0.5
        tally.within(-row["max"] - rounded - drawn <= charged - ran <= rounded + drawn, charged, ran, drawn, row)
        assert charged, row

    tally.steady(trial)


@pytest.mark.everywhere
@pytest.mark.parametrize("threads", [1, 2])
def test_throttled(trigger, tool, cgroup, threads):
    """
    Threads on one CPU that may use 5 ms of each 100 ms together: all of them are throttled whenever their cgroup is,
    even those that wait for the CPU then.
    """
    group = quota.held_group(cgroup)
    quota.limit(group, quota.QUOTA)
    before = quota.books_at_rest(group)
    load = trigger("spin", threads, 50, 0)
    group.add(load.pid)
    it = tool("--json", "--by", "tid", "-p", load.pid, tool="why")
    load.go()
    took = load.done()
    rows = it.stop().report["rows"]
    waited = {tid: books.delay_ns for tid, books in tally.books_of_threads(load.pid).items()}
    load.settle()
    _, throttlings, ns = (b - a for a, b in zip(before, quota.books_at_rest(group)))
    period = 1000 * quota.PERIOD
    # The group may also be throttled before the first thread begins, and after the last one has ended.
    assert throttlings >= 3 and throttlings * (period - 1000 * quota.QUOTA) >= ns // 2
    workers = {row["tid"] for row in rows if row["cause"] in ("user", "system", "mode unknown")} - {load.pid}
    assert len(workers) == threads, rows
    for tid in workers:
        throttled = times(rows, tid=tid, cause="throttled")
        # A thread that ends earlier is throttled less often.
        assert throttled >= ns - 2 * period - (max(took) - min(took)), (tid, throttled, ns, took, rows)
        # From 6.18 on it includes the wait for its turn afterwards. The kernel's accounting uses the clock of the run
        # queue, which stands still while the kernel switches.
        turns = waited[tid] if tally.KERNEL >= (6, 18) else 0
        assert throttled <= ns + turns + ns // 50, (tid, throttled, ns, turns, rows)


@pytest.mark.skipif(tally.KERNEL < (5, 19), reason="this kernel does not tell of waits for its locks")
def test_waits_for_locks_of_the_kernel(trigger, tool):
    """Threads fault while another one forks. lockstat has the same total of waits: sleeps, and waits for a CPU."""
    load = trigger("ledger", MS)
    it = tool("--json", f"why -p {load.pid}", f"lockstat -p {load.pid}", tool="run")
    load.go()
    load.done()
    why, lockstat = it.stop().reports
    blocked = times(why["rows"], cause="kernel lock")
    waited = sum(row["total"] for row in lockstat["rows"] if row["type"] not in ("spinlock", "rwlock:R", "rwlock:W"))
    assert blocked <= waited or any(lockstat["lost"].values()), (blocked, waited)


def test_scope_by_cpu_is_refused(run):
    for args in (("-C", "0"), ("--by", "cpu")):
        result = run(*args, "-d", "0.1", tool="why")
        assert result.code == 2 and "threads off CPU have no CPU" in result.stderr, result
