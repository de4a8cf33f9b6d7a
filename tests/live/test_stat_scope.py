# SPDX-License-Identifier: BSD-2-Clause
"""Whose events stat counts: each scope and each key, by every way of counting.

Programs count tracepoints, among them each call of getppid(2) that a trigger reports. Counters are the kernel's own if
it knows the scope, and are charged at context switches otherwise: both must agree with the kernel's accounting of the
task, /proc/PID/stat and status.
"""

import os

import pytest

import cgroups
import tally
from counted import GETPPID, again_when_skipped, counts, exactly, lost, since, stat, usage, work
from tally import NOBODY, TEMPEST, Blurred, scaled, steady, within

EVENT = "syscalls:sys_enter_getppid"
FAULTS = "minor-faults,major-faults,cs"
CALLS = scaled(1000)
SOMEBODY = 58731                # a user without processes: nobody has some at times
THREADS = 3


def caller(trigger, n=CALLS, threads=THREADS, **kwargs):
    return trigger("syscalls", threads, f"{GETPPID}:{n}", **kwargs)


def faulter(trigger, **kwargs):
    return trigger("faults", scaled(400), THREADS, 0, **kwargs)


def total(report):
    assert not lost(report), report
    return counts(report)[EVENT]


def sums(report, *key):
    """{key: count} of the one event of a report by keys."""
    assert not lost(report), report
    return {name[:-1] if len(name) > 2 else name[0]: n for name, n in counts(report, *key).items()}


# --- tracepoints -----------------------------------------------------------------------------------

SCOPES = {
    "process": lambda load, group: ("-p", load.pid),
    "thread": lambda load, group: ("-t", load.numbers[0]),
    "two threads": lambda load, group: ("-t", ",".join(map(str, load.numbers[:2]))),
    "name": lambda load, group: ("--comm", "coun*"),
    "user": lambda load, group: ("-u", SOMEBODY),
    "cgroup": lambda load, group: ("-G", group.path),
    "pid and thread": lambda load, group: ("-p", load.pid, "-t", load.numbers[1]),
    "user and name": lambda load, group: ("-u", "nobody", "--comm", "counted"),
    "pid namespace": lambda load, group: ("--pidns", "-p", load.pid),
}
THREADS_INSIDE = {"thread": 1, "two threads": 2, "pid and thread": 1}


@pytest.mark.exclusive
@pytest.mark.parametrize("scope", SCOPES)
def test_calls_in_scope(tool, trigger, cgroup, scope):
    """Calls of one load, and none of another load outside of the scope."""
    group = cgroup(cgroups.default_hierarchy(), "")
    user = NOBODY if scope == "user and name" else SOMEBODY
    load, other = caller(trigger, comm="counted", user=user), caller(trigger, comm="other")
    group.add(load.pid)
    tracer = stat(tool, "-e", EVENT, *SCOPES[scope](load, group))
    work(load, other)
    report = tracer.stop().report
    assert total(report) == report["events"] == THREADS_INSIDE.get(scope, THREADS) * CALLS
    assert report["filtered"] >= THREADS * CALLS


@pytest.mark.parametrize("cpus", ("0", "1", "0,1"))
def test_calls_on_a_cpu(tool, trigger, cpus):
    loads = [caller(trigger, comm="counted", command=("taskset", "-c", str(cpu)))
             for cpu in (0, 1)]
    tracer = stat(tool, "-e", EVENT, "--comm", "counted", "-C", cpus)
    work(*loads)
    assert total(tracer.stop().report) == len(cpus.split(",")) * THREADS * CALLS


def test_calls_of_everybody(tool, trigger):
    """Other processes may make such calls too, so the load's calls are the whole only by name."""
    load = caller(trigger, comm="counted")
    tracers = stat(tool, "-e", EVENT, "-a"), stat(tool, "-e", EVENT, "-a", "--by", "comm")
    work(load)
    whole, by_comm = (tracer.stop().report for tracer in tracers)
    assert total(whole) >= THREADS * CALLS
    assert sums(by_comm, "comm")["counted"] == THREADS * CALLS


def test_calls_of_a_command(run, directory):
    """Counted from the command's exec on: calls of the tool before it are left out."""
    out = directory / "report"
    result = run("--json", "-o", out, "-e", EVENT, "--", tally.BUILD / "triggers/syscalls", 2,
                 f"{GETPPID}:{CALLS}", tool="stat", stdout=None)
    assert result.code == 0, result
    assert total(tally.Result(0, out.read_bytes(), b"").report) == 2 * CALLS


KEYS = {
    "pid": lambda load, group: {load.pid: THREADS * CALLS},
    "tid": lambda load, group: dict.fromkeys(load.numbers, CALLS),
    "comm": lambda load, group: {"counted": THREADS * CALLS},
    "uid": lambda load, group: {NOBODY: THREADS * CALLS},
    "cgroup": lambda load, group: {group.name: THREADS * CALLS},
    "pidns": lambda load, group: {os.stat("/proc/self/ns/pid").st_ino: THREADS * CALLS},
    "cpu": lambda load, group: {1: THREADS * CALLS},
    "tid,comm": lambda load, group: {(t, "counted"): CALLS for t in load.numbers},
    "cpu,uid": lambda load, group: {(1, NOBODY): THREADS * CALLS},
}


@pytest.mark.parametrize("key", KEYS)
def test_calls_by_key(tool, trigger, cgroup, key):
    """Each key has exactly its own calls, and all keys add up to the total."""
    group = cgroup(cgroups.default_hierarchy(), "")
    load = caller(trigger, comm="counted", user=NOBODY)
    for tid in load.tids():
        os.sched_setaffinity(tid, {1})
    group.add(load.pid)
    tracer = stat(tool, "-e", EVENT, "-p", load.pid, "--by", key)
    work(load)
    report = tracer.stop().report
    found = sums(report, *key.split(","))
    assert found == KEYS[key](load, group)
    assert sum(found.values()) == report["events"] == THREADS * CALLS


def test_each_cgroup_with_what_is_below(tool, trigger, cgroup):
    """A cgroup in the list has the events in it and below it, an empty one has zero, and others have no row."""
    above, below, empty, other = (cgroup(cgroups.default_hierarchy(), name)
                                  for name in ("above", "above/below", "empty", "above-not"))
    loads = [caller(trigger, n * CALLS) for n in (1, 2, 4)]
    for load, group in zip(loads, (above, below, other)):
        group.add(load.pid)
    pids = ",".join(str(load.pid) for load in loads)
    asked = ",".join(group.name for group in (above, below, empty))
    tracers = [stat(tool, "-e", EVENT, "-p", pids, "--for-each-cgroup", names) for names in (asked, "/")]
    work(*loads)
    found, whole = (tracer.stop().report for tracer in tracers)
    assert sums(found, "cgroup") == {above.name: 3 * THREADS * CALLS, below.name: 2 * THREADS * CALLS, empty.name: 0}
    assert sums(whole, "cgroup") == {"/": 7 * THREADS * CALLS}
    assert (found["events"], whole["events"]) == (3 * THREADS * CALLS, 7 * THREADS * CALLS)
    assert found["filtered"] >= 4 * THREADS * CALLS


def test_each_cgroup_of_counters(tool, trigger, cgroup):
    """Also for the kernel's own counters: no task of a cgroup takes longer than the whole cgroup."""
    above, below = (cgroup(cgroups.default_hierarchy(), name) for name in ("above", "above/below"))
    load = faulter(trigger)
    below.add(load.pid)
    tracer = stat(tool, "-e", FAULTS, "-e", "duration_time", "--for-each-cgroup", f"{above.name},{below.name}")
    work(load)
    report = tracer.stop().report
    found = counts(report, "cgroup")
    for event in FAULTS.split(","):
        assert found[above.name, event] == found[below.name, event]
    assert found[below.name, "minor-faults"] >= THREADS * scaled(400)
    assert found[above.name, "duration_time"] == found[below.name, "duration_time"] == report["duration_ns"]


@pytest.mark.parametrize("args, words", (
    (("--for-each-cgroup", "/,no/such"), "--for-each-cgroup: no cgroup 'no/such'"),
    (("--for-each-cgroup", "/", "--by", "comm"), "--for-each-cgroup and --by cannot be combined"),
    (("--for-each-cgroup", "/", "-G", "/"), "-G and --for-each-cgroup cannot be combined")))
def test_each_cgroup_as_typed(run, args, words):
    result = run("-n", "-e", EVENT, *args, tool="stat")
    assert result.code in (1, 2) and words in result.stderr, result


def test_one_result_per_cpu(tool, trigger):
    """-A, and --by cpu, which is the same."""
    loads = [caller(trigger, (cpu + 1) * CALLS, command=("taskset", "-c", str(cpu)))
             for cpu in (0, 1)]
    pids = ",".join(str(load.pid) for load in loads)
    tracers = [stat(tool, "-e", EVENT, "-p", pids, *how) for how in (("-A",), ("--by", "cpu"))]
    work(*loads)
    for tracer in tracers:
        assert sums(tracer.stop().report, "cpu") == {0: THREADS * CALLS, 1: 2 * THREADS * CALLS}


def test_places_add_up(tool, trigger):
    load = caller(trigger)
    options = [(), ("-A",), ("--per-core",), ("--per-socket",), ("--by", "cpu,tid")]
    tracers = [stat(tool, "-e", EVENT, "-p", load.pid, *each) for each in options]
    work(load)
    for tracer in tracers:
        report = tracer.stop().report
        assert not lost(report), report
        assert sum(row["count"] for row in report["rows"]) == THREADS * CALLS


@pytest.mark.parametrize("who", (0, 1), ids=("parent", "child"))
def test_a_wakeup_is_an_event_of_who_is_woken(tool, trigger, who):
    """Two processes wake each other: wakeups of one happen while the other is current. The kernel's record has the pid
    of the task woken, for a filter on the trace event."""

    def trial():
        load = trigger("pingpong", scaled(500), 0)
        pid = load.pids[who]
        tracers = [stat(tool, "-e", "sched:sched_wakeup,sched:sched_waking", *each) for each in
                   (("-p", pid), ("--by", "pid"), ("--filter", f"pid == {pid}", "-a"))]
        before = usage(pid)
        work(load)
        grown = since(before, pid)
        scoped, keyed, filtered = (tracer.stop().report for tracer in tracers)
        assert not lost(scoped) and not lost(keyed), (scoped, keyed)
        found = counts(scoped)
        for event in found:
            assert found[event] == counts(filtered)[event]
            assert counts(keyed, "pid")[pid, event] == found[event]
        # It is woken once for each time it blocked, and was asleep before and after. Since 6.12 a task that is
        # preempted by the one it wakes may find the answer before it has blocked at all; and one that is preempted
        # while it falls asleep is woken without having blocked.
        woken = found["sched:sched_wakeup"]
        assert woken > 0
        within(abs(woken - grown.voluntary) <= 1, woken, grown.voluntary)

    steady(trial)


@pytest.mark.parametrize("name, who", (("ping*", 0), ("pong", 1)))
def test_a_wakeup_bears_the_name_of_who_is_woken(tool, trigger, name, who):
    load = trigger("pingpong", scaled(500), 0)
    tracers = (stat(tool, "-e", "sched:sched_wakeup", "--comm", name, "--by", "tid"),
               stat(tool, "-e", "sched:sched_wakeup", "--by", "tid,comm"))
    work(load)
    scoped = sums(tracers[0].stop().report, "tid")
    keyed = sums(tracers[1].stop().report, "tid", "comm")
    tid = load.pids[who]
    assert load.pids[1 - who] not in scoped
    # How many wakeups it needs is up to the scheduler, but at least one: it was asleep.
    assert scoped[tid] == keyed[tid, "pingpong" if who == 0 else "pong"] > 0


# --- counters --------------------------------------------------------------------------------------

def check_faults(found, grown, *key):
    """Faults and switches of one thread, or of one process, against the kernel's accounting."""
    assert found[(*key, "minor-faults") if key else "minor-faults"] == grown.minor
    assert found[(*key, "major-faults") if key else "major-faults"] == grown.major
    assert found[(*key, "cs") if key else "cs"] == grown.voluntary + grown.involuntary


COUNTER_SCOPES = {
    # Before 5.13 counters cannot be inherited by threads without being inherited by children.
    "process": (tally.KERNEL < (5, 13), lambda load, group: ("-p", load.pid)),
    "each CPU": (True, lambda load, group: ("-t", ",".join(map(str, load.tids())), "--per-socket")),
    "threads": (False, lambda load, group: ("-t", ",".join(map(str, load.tids())))),
    "CPUs": (True, lambda load, group: ("-p", load.pid, "-C", "0-1")),
    "name": (True, lambda load, group: ("--comm", "counted")),
    "user": (True, lambda load, group: ("-u", SOMEBODY)),
    "cgroup": (True, lambda load, group: ("-G", group.path)),
    "pid and user": (True, lambda load, group: ("-p", load.pid, "-u", SOMEBODY)),
    "key": (True, lambda load, group: ("-p", load.pid, "--by", "pid")),
}


@pytest.mark.exclusive
@pytest.mark.parametrize("scope", COUNTER_SCOPES)
def test_faults_and_switches_in_scope(tool, trigger, cgroup, scope):
    """Counted by the kernel, and charged at switches: both agree with /proc."""
    charged, options = COUNTER_SCOPES[scope]

    def trial():
        group = cgroup(cgroups.default_hierarchy(), "")
        load, other = (faulter(trigger, comm="counted", user=SOMEBODY),
                       faulter(trigger, comm="other"))
        group.add(load.pid)
        tracer = stat(tool, "-e", FAULTS, *options(load, group))
        before = usage(load.pid)
        work(load, other)
        grown = since(before, load.pid)
        report = tracer.stop().report
        load.close()

        def check():
            assert ("charged" in report["source"]) == charged
            assert not lost(report), report
            key = (load.pid,) if scope == "key" else ()
            check_faults(counts(report, *(("pid",) if key else ())), grown, *key)
            assert grown.minor >= THREADS * scaled(400)

        return check

    exactly(trial)


def test_faults_and_switches_by_thread(tool, trigger):
    def trial():
        load = faulter(trigger)
        tracer = stat(tool, "-e", FAULTS, "--by", "tid", "-p", load.pid)
        before = {tid: usage(load.pid, tid) for tid in load.tids()}
        work(load)
        grown = {tid: since(before[tid], load.pid, tid) for tid in before}
        report = tracer.stop().report

        def check():
            found = counts(report, "tid")
            assert {tid for tid, _ in found} == set(grown)
            for tid in grown:
                check_faults(found, grown[tid], tid)

        return check

    exactly(trial)


@pytest.mark.parametrize("scope", ("-p", "-t", "--by"))
def test_switches_of_ping_pong(tool, trigger, scope):
    """On one CPU each turn is a switch."""

    def trial():
        load = trigger("pingpong", scaled(500), 0)
        pids = ",".join(map(str, load.pids))
        options = ("-p", pids, "--by", "pid") if scope == "--by" else (scope, pids)
        tracer = stat(tool, "-e", "cs", *options)
        before = [usage(pid) for pid in load.pids]
        work(load)
        grown = [since(b, pid) for b, pid in zip(before, load.pids)]
        report = tracer.stop().report

        def check():
            books = [g.voluntary + g.involuntary for g in grown]
            assert min(books) >= scaled(500)
            if scope == "--by":
                assert {pid: n for (pid, _), n in counts(report, "pid").items()} \
                    == dict(zip(load.pids, books))
            else:
                assert counts(report)["cs"] == sum(books)

        return check

    exactly(trial)


def test_threads_made_later_are_counted(tool, trigger):
    """A process's counters are inherited by its new threads, and outlive them. The switches of a dead thread are not in
    /proc any more; its faults are in those of the process."""

    def trial():
        load = trigger("threads", 2, 10)
        tracers = [stat(tool, "-e", "minor-faults,major-faults", "-p", load.pid, *how)
                   for how in ((), ("--by", "pid"))]
        before = usage(load.pid)
        work(load)
        grown = since(before, load.pid)
        native, charged = (tracer.stop().report for tracer in tracers)

        def check():
            assert counts(native) == {"minor-faults": grown.minor, "major-faults": grown.major}
            assert counts(charged, "pid")[load.pid, "minor-faults"] == grown.minor

        return check

    exactly(trial)


@pytest.mark.parametrize("how", ((), ("--by", "pid")), ids=("natively", "charged"))
def test_children_are_not_in_the_process_of_their_parent(tool, trigger, how):
    """Without following children: -- COMMAND, and -p by default, include them."""

    def trial():
        load = trigger("faults", scaled(400), 1, 3)
        tracer = stat(tool, "-e", "minor-faults,major-faults", "-p", load.pid,
                      "--no-follow-forks", *how)
        before = usage(load.pid)
        work(load)
        grown = since(before, load.pid)
        report = tracer.stop().report

        def check():
            assert sum(row["count"] for row in report["rows"]) == grown.minor + grown.major

        return check

    exactly(trial)


def test_children_of_a_command_are_counted(run, directory):
    """From the exec on: the kernel's accounting of the command, which begins at main, lacks only the dynamic linker and
    the exit of each process, some fifty faults each. The number of switches there depends on other tasks on the
    CPUs."""
    out, pages, children = directory / "report", scaled(2000), 4

    def trial():
        result = run("--json", "-o", out, "-e",
                     "minor-faults,major-faults,cs,sched:sched_process_fork", "--",
                     tally.BUILD / "triggers/faults", pages, 2, children, tool="stat")
        assert result.code == 0, result
        minor, major, voluntary, involuntary = map(int, result.text.splitlines()[-1].split()[1:])
        found = counts(tally.Result(0, out.read_bytes(), b"").report)
        assert minor >= (2 + children) * pages
        assert 0 <= found["minor-faults"] - minor <= 100 * (1 + children)
        assert 0 <= found["major-faults"] - major <= 100
        # Threads are created by the same call and are tasks of their own.
        assert found["sched:sched_process_fork"] == children + 2
        # Counters leave a task when it exits, before its last switch and those while it dies.
        more = found["cs"] - voluntary - involuntary
        within(-5 * children <= more <= 50, more)

    steady(trial)


@pytest.mark.parametrize("scope", ("command", "name", "key"))
def test_fork_storm(run, tool, trigger, directory, scope):
    """Every fork counts, however short the child's life."""
    forks = scaled(2000)
    options = ("-e", "sched:sched_process_fork,page-faults", "--max-keys", 2 * forks)
    if scope == "command":
        out = directory / "report"
        result = run("--json", "-o", out, *options, "--", tally.BUILD / "triggers/storm", forks, 4,
                     -1, tool="stat")
        assert result.code == 0, result
        report = tally.Result(0, out.read_bytes(), b"").report
    else:
        load = trigger("storm", forks, 4, -1, comm=TEMPEST)
        tracer = stat(tool, *options, "--comm", TEMPEST, *(("--by", "pid,comm")
                                                           if scope == "key" else ()))
        work(load)
        report = tracer.stop().report
    assert not lost(report), report
    if scope != "key":
        found = counts(report)
        assert found["sched:sched_process_fork"] == forks
        assert found["page-faults"] >= forks
        return
    found = counts(report, "pid", "comm")
    assert {comm for _, comm, _ in found} == {TEMPEST}
    assert found[load.pid, TEMPEST, "sched:sched_process_fork"] == forks
    assert len({pid for pid, _, _ in found}) >= 0.99 * forks


def test_all_keys_together_are_the_counters_themselves(tool, trigger):
    """Counters charged to tasks, idle tasks included, against the plain counters of all CPUs. One run lies inside of
    the other: the sum lies between. The clock differs by the time to read it, on each CPU and at both ends: 1 % or 2
    ms."""
    events = ("task-clock", "cs", "page-faults")

    def trial():
        before = tally.holes()
        load = trigger("spin", 2, 50, -1), faulter(trigger)
        outer = stat(tool, "-e", ",".join(events), "-A")
        keyed = stat(tool, "-e", ",".join(events), "--by", "comm", "-a", "--max-keys", 50000)
        inner = stat(tool, "-e", ",".join(events), "-A")
        work(*load)
        inner, keyed, outer = (tracer.stop().report for tracer in (inner, keyed, outer))
        if tally.holes() != before:
            raise Blurred
        assert not lost(keyed), keyed
        summed = [{event: sum(n for name, n in counts(report, part).items() if name[-1] == event)
                   for event in events}
                  for report, part in ((inner, "cpu"), (keyed, "comm"), (outer, "cpu"))]
        for event in events[1:]:
            least, found, most = (s[event] for s in summed)
            assert least <= found <= most, (event, summed)
        least, found, most = (s["task-clock"] for s in summed)
        within(least - 8_000_000 <= found <= most + 8_000_000, summed)
        clock = keyed["cpus"] * keyed["duration_ns"]
        within(found == pytest.approx(clock, rel=0.1 if tally.GUEST else 0.01, abs=4_000_000),
               found, clock)

    steady(trial)


def test_clocks_of_tasks_are_those_of_their_books(tool, trigger):
    """task-clock against the scheduler's run time: two clocks, read at two ends of a switch. They differ by some
    microseconds at each switch, and on virtual machines by the time the processor was away: 10 % or 3 ms."""

    def trial():
        load = trigger("spin", 3, 60, -1)
        tracer = stat(tool, "-e", "task-clock", "--by", "tid", "-p", load.pid)
        before = {tid: usage(load.pid, tid) for tid in load.tids()}
        work(load)
        found = counts(tracer.stop().report, "tid")
        for tid in before:
            ran = since(before[tid], load.pid, tid).run_ns
            charged = found.get((tid, "task-clock"), 0)
            within(charged == pytest.approx(ran, rel=0.25 if tally.GUEST else 0.1, abs=3_000_000),
                   charged, ran)

    steady(trial)


@pytest.mark.parametrize("how", (("-C", "0", "--by", "comm"), ("-C", "1", "-u", "0"),
                                 ("-C", "0", "--by", "cpu,pid")), ids=" ".join)
def test_charging_on_some_cpus(tool, trigger, how):
    """Tasks on other CPUs have no counters to read, and lose nothing."""
    loads = [faulter(trigger, command=("taskset", "-c", str(cpu))) for cpu in (0, 1)]
    tracer = stat(tool, "-e", FAULTS, *how)
    work(*loads)
    report = tracer.stop().report
    assert not lost(report), report
    assert sum(row["count"] for row in report["rows"] if row["event"] == "minor-faults") \
        >= THREADS * scaled(400)
    assert {row.get("cpu", 0) for row in report["rows"]} == {0}


def test_a_counter_that_is_refused_costs_the_others_nothing(tool, trigger):
    """Also for charged counters: cs is exact and nothing is lost."""

    def trial():
        load = trigger("pingpong", scaled(500), 0)
        tracer = stat(tool, "-e", "cycles,cs,minor-faults", "--by", "pid", "-p", load.pids[0])
        before = usage(load.pids[0])
        work(load)
        grown = since(before, load.pids[0])
        report = tracer.stop().report

        def check():
            found = counts(report, "pid")
            assert found[load.pids[0], "cs"] == grown.voluntary + grown.involuntary
            assert found[load.pids[0], "minor-faults"] == grown.minor
            assert not lost(report), report

        return check

    exactly(trial)


def test_the_tool_itself_is_no_key(tool):
    """Not even where the tool is busy."""
    tracer = stat(tool, "-e", "page-faults,cs,syscalls:sys_enter_read", "-a", "--by", "pid",
                  "-I", 10)
    tracer.await_lines(20)
    for report in tracer.stop().reports:
        assert tracer.pid not in {row["pid"] for row in report["rows"]}


again_when_skipped(globals())
