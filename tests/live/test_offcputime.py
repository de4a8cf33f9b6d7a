# SPDX-License-Identifier: BSD-2-Clause
"""offcputime, wakeuptime, offwaketime: blocked time by stack, against programs that block in known functions.

Each task's own clocks bracket its blocked time: at most its elapsed time, and at least its elapsed time less its run
time, unless it was preempted in between.
"""

import os
import re
import signal
import time
from pathlib import Path

import pytest

import tally
from tally import GUEST, Blurred, flaws, steady, within

US = 3000
ROUNDS = 20
VIEWS = "offcputime", "wakeuptime", "offwaketime"
# User stacks are taken when a task leaves its CPU or, with --min, from an interrupt after it has come back.
LATER = ("--min", "100us")
WHEN = ((), LATER)


@pytest.fixture
def view(tool):
    def start(name, *args, **kwargs):
        return tool("--json", *args, tool=name, **kwargs)

    return start


def names(stack):
    return [frame["name"] for frame in stack["frames"]]


def of(report, *wanted, **key):
    """The stacks that have all of these frames, in this order, and these members in their keys."""
    found = []
    for stack in report["stacks"]:
        rest = iter(names(stack))
        if all(name in rest for name in wanted) and \
                all(stack["key"].get(name) == value for name, value in key.items()):
            found.append(stack)
    return found


def value(stacks):
    return sum(stack["value"] for stack in stacks)


def whole(*reports, but=()):
    """Nothing was lost. If the kernel hid switches and wakeups (tally.holes()), or a wakeup was under way when the run
    began, the tool says so, and the figures prove nothing."""
    for report in reports:
        lost = {name: n for name, n in flaws(report).items() if n and name not in but}
        if set(lost) <= {"missed", "unmatched"} and lost and (tally.pvm_guest() or GUEST):
            raise Blurred
        assert not lost, report


def let(load):
    load.go()
    return load.done()


def bracketed(ns, elapsed, cpu, what, share=0.99):
    """Blocked time is at most the elapsed time, and at least that less the time spent waiting for a CPU."""
    assert ns <= elapsed, (what, ns, elapsed)
    within(ns >= share * (elapsed - cpu) - 100_000, what, ns, elapsed, cpu)


# --- offcputime --------------------------------------------------------------------------------------

@pytest.mark.parametrize("args", WHEN, ids=("leaving", "later"))
def test_known_sleeps(view, trigger, args):
    """Two call chains, each with its own time by its own clocks."""
    def trial():
        load = trigger("blocks", 0, ROUNDS, US)
        tracer = view("offcputime", "-p", load.pid, *args)
        a, a_cpu, b, b_cpu = let(load)
        report = tracer.stop().report
        chains = {name: of(report, "main", "work", name, comm="blocks") for name in ("short_naps", "long_naps")}
        whole(report)
        assert value(chains["short_naps"]) >= ROUNDS * US * 1000 * 0.9, report
        bracketed(value(chains["short_naps"]), a, a_cpu, "short")
        bracketed(value(chains["long_naps"]), b, b_cpu, "long")
        for stacks in chains.values():
            assert all(names(s)[-1].endswith("nanosleep") and s["frames"][-1]["module"] == "[kernel]"
                       for s in stacks), stacks
        assert value(report["stacks"]) >= value(chains["short_naps"]) + value(chains["long_naps"])

    steady(trial)


def test_parts(view, trigger):
    """-K and -U have the same times as both together, and one part of the stacks."""
    for part, chain in ("-K", ()), ("-U", ("main", "work")):
        load = trigger("blocks", 0, ROUNDS, US)
        tracer = view("offcputime", "-p", load.pid, part)
        elapsed = sum(let(load)[::2])
        report = tracer.stop().report
        stacks = [s for s in of(report, *chain) if not s["frames"][-1]["name"].startswith("[")]
        kernel = {frame["module"] == "[kernel]" for s in stacks for frame in s["frames"]}
        assert kernel == {part == "-K"}, report
        naps = [s for s in stacks if "nanosleep" in str(names(s)[-1])]
        assert ROUNDS * US * 5 * 900 <= value(naps) <= elapsed, (report, elapsed)


# An emulated CPU, and one that other tests use, may be some ms late: edges need room.
EDGE_US, EDGE_ROUNDS = 30000, 4


@pytest.mark.parametrize("limit, short, long", (
    (("--min", f"{2 * EDGE_US}us"), False, True), (("--max", f"{2 * EDGE_US / 1000}"), True, False),
    (("--min", f"{EDGE_US * 0.9}us", "--max", "1m"), True, True), (("--min", "10m"), False, False),
    (("--min", f"{EDGE_US * 0.9 / 1000}ms", "--max", f"{2 * EDGE_US / 1000}ms"), True, False),
), ids=str)
def test_limits(view, trigger, limit, short, long):
    """Sleeps of EDGE_US and of four times that, with an edge between them."""
    def trial():
        load = trigger("blocks", 0, EDGE_ROUNDS, EDGE_US)
        tracer = view("offcputime", "-p", load.pid, *limit)
        let(load)
        report = tracer.stop().report
        chains = [of(report, "main", "work", name) for name in ("short_naps", "long_naps")]
        # Sleeps may take longer: the right ones are in only if none was held up.
        within([bool(stacks) for stacks in chains] == [short, long], report)
        assert report["filtered"] >= ((not short) + (not long)) * EDGE_ROUNDS / 2, report
        whole(report)

    steady(trial)


def test_edge_is_exact(view, trigger):
    """--min lets nothing shorter through and --max nothing longer; together they have all sleeps."""
    edge = int(US * 1.02)

    def trial():
        load = trigger("blocks", 0, 3 * ROUNDS, US)
        tracers = [view("offcputime", "-p", load.pid, "-K", *limit)
                   for limit in ((), ("--min", f"{edge}us"), ("--max", f"{edge * 1000 - 1}ns"))]
        let(load)
        every, long, short = [tracer.stop().report for tracer in tracers]
        naps = [[s for s in r["stacks"] if "nanosleep" in names(s)[-1]] for r in (every, long, short)]
        each = [value(stacks) for stacks in naps]
        assert each[2] < 3 * ROUNDS * 2 * edge * 1000, each
        # Each tool has its own clock readings.
        within(abs(each[0] - each[1] - each[2]) <= 0.02 * each[0], each)
        within(abs(every["events"] - long["events"] - short["events"]) <= 5, every, long, short)

    steady(trial)


def test_a_lifetime_is_time_on_and_off(view, trigger):
    """Time on the CPU by the kernel's account, off it by ours, and waiting for it by --state preempted."""
    states = "sleep,disk,idle,stopped,traced,other,preempted"

    def trial():
        load = trigger("sleepers", 3, 100, 1000, -1)
        before, began = cpu_of(load), time.monotonic_ns()
        tracer = view("offcputime", "-p", load.pid, "--state", states, "--by", "tid,state", "-K")
        ready = time.monotonic_ns()
        let(load)
        last, after = time.monotonic_ns(), cpu_of(load)
        report = tracer.stop().report
        ended = time.monotonic_ns()
        whole(report)
        for tid in before:
            off = value(of(report, tid=tid))
            on = after[tid] - before[tid]
            assert off <= ended - began, (tid, off)
            within(last - ready - 2_000_000 <= on + off <= ended - began + 2_000_000,
                   tid, on, off, last - ready, ended - began)

    steady(trial)


def cpu_of(load):
    load.settle()
    return {tid: int(open(f"/proc/{load.pid}/task/{tid}/schedstat").read().split()[0]) for tid in load.tids()}


def test_one_that_never_blocks(view, trigger):
    """A preempted task is not blocked, unless --state asks for preempted ones."""
    load = trigger("spin", 2, 100 if GUEST else 200, 0)
    tracers = [view("offcputime", "-p", load.pid, "--by", "state", *args)
               for args in ((), ("--state", "preempted"))]
    let(load)
    blocked, preempted = [tracer.stop().report for tracer in tracers]
    assert {s["key"]["state"] for s in blocked["stacks"]} <= {"sleep", "disk"}, blocked
    assert {s["key"]["state"] for s in preempted["stacks"]} == {"preempted"}, preempted
    # Two threads on one CPU: each waits while the other runs.
    least = (100 if GUEST else 200) * 1_000_000
    assert value(preempted["stacks"]) >= 0.9 * least, preempted


@pytest.mark.parametrize("name", ("offcputime", "offwaketime"))
def test_one_that_never_runs(view, trigger, name):
    """A task blocked before the run and after it counts from the start of the run, and is marked."""
    load = trigger("blocks", 2, 1, 1)
    load.go()
    load.settle()
    tally.wait_until(lambda: "pause" in open(f"/proc/{load.pid}/wchan").read() or tally.state(load.pid) == "S",
                     "the trigger does not block")
    began = time.monotonic_ns()
    tracer = view(name, "-p", load.pid)
    ready = time.monotonic_ns()
    time.sleep(0.3)
    last = time.monotonic_ns()
    report = tracer.stop().report
    assert report["events"] == 1 and len(report["stacks"]) == 1, report
    frames = names(report["stacks"][0])
    assert frames[0] == "[blocked before the run]" and frames[-1] == "[still blocked]", frames
    assert last - ready <= report["stacks"][0]["value"] <= time.monotonic_ns() - began, report
    tally.end_process(load.process)


def test_sleepers_are_left_out_and_told(view, run, trigger):
    """System-wide reports leave sleepers out, which would have almost all of the time; -p and --idle keep them."""
    load = trigger("blocks", 1, 1, 1)
    load.settle()
    tally.wait_until(lambda: tally.state(load.pid) == "S", "it does not block")
    line = ("--by", "pid", "-d", 0.1)
    (brief, full), chosen = (view("offcputime", *more, *line).wait().report for more in ((), ("--idle",))), \
        run("--json", "-p", load.pid, *line, tool="offcputime").report
    assert not of(brief, pid=load.pid) and re.search(
        r"\d+ tasks that slept through the whole run are left out", brief["note"]
    ), brief["note"]
    for report in full, chosen:
        assert len(of(report, "[still blocked]", pid=load.pid)) == 1 and "left out" not in report.get(
            "note", ""
        ), report.get("note")
    assert value(brief["stacks"]) < value(full["stacks"])
    assert "offcputime shows them" in run("--idle", "-n", tool="wakeuptime").stderr


def test_killed_while_blocked(view, trigger):
    """The slice of a killed task ends with the wakeup that kills it."""
    name = tally.own("blocks")
    load = trigger("blocks", 2, 1, 1, comm=name)
    tracer = view("offcputime", "--comm", name)
    load.go()
    load.settle()
    time.sleep(0.3)                         # a task that is about to block is not off its CPU yet
    began = time.monotonic_ns()
    tally.end_process(load.process)
    report = tracer.stop().report
    stacks = of(report, "main", "work", "blocks_for_ever")
    assert value(stacks) >= 200_000_000, report
    assert "[still blocked]" not in names(stacks[0]), (stacks, began)


def test_states(view, trigger):
    load = trigger("blocks", 0, ROUNDS, US)
    tracer = view("offcputime", "-p", load.pid, "--by", "pid,state")
    let(load)
    os.kill(load.pid, signal.SIGSTOP)
    tally.wait_until(lambda: tally.state(load.pid) == "T", "it does not stop")
    load.settle()                           # a task that is about to stop is not off its CPU yet
    time.sleep(0.15)
    os.kill(load.pid, signal.SIGCONT)
    load.settle()
    report = tracer.stop().report
    assert {s["key"]["pid"] for s in report["stacks"]} == {load.pid}, report
    assert of(report, "short_naps", state="sleep") and not of(report, "short_naps", state="stopped"), report
    assert 100_000_000 <= value(of(report, state="stopped")) <= 60_000_000_000, report


def test_rare_states_alone(view, trigger):
    """Most switches are of tasks in other states. All stops are there: before the run, in it, twice, and to its end."""
    loads = [trigger("blocks", 0, ROUNDS, US) for _ in range(3)]

    def send(number, state, *chosen):
        for load in chosen:
            os.kill(load.pid, number)
        for load in chosen:
            tally.wait_until(lambda load=load: (tally.state(load.pid) == "T") == (state == "T"), f"it is not {state}")
        time.sleep(0.2)

    send(signal.SIGSTOP, "T", loads[0])
    chosen = ",".join(str(load.pid) for load in loads)
    tracer = view("offcputime", "--state", "stopped", "-K", "--by", "pid,state", "-p", chosen)
    send(signal.SIGSTOP, "T", *loads[1:])
    send(signal.SIGCONT, "S", *loads[:2])
    send(signal.SIGSTOP, "T", loads[1])
    send(signal.SIGCONT, "S", loads[1])
    report = tracer.stop().report
    send(signal.SIGCONT, "S", loads[2])
    sums = [value(of(report, pid=load.pid)) for load in loads]
    assert {s["key"]["state"] for s in report["stacks"]} == {"stopped"}, report
    assert sums[0] >= 200e6 and sums[1] >= 400e6 and sums[2] >= 800e6, (sums, report)
    whole(report)


def test_intervals_are_differences(view, trigger):
    def trial():
        load = trigger("blocks", 0, 3 * ROUNDS, US)
        tracer = view("offcputime", "-p", load.pid, "-I", 100)
        a, a_cpu, b, b_cpu = let(load)
        time.sleep(0.15)
        reports = tracer.stop().reports
        assert len(reports) >= 2
        stacks = [of(report, "work") for report in reports]
        bracketed(sum(value(s) for s in stacks), a + b, a_cpu + b_cpu, "all")
        for report in reports[:-1]:
            assert not of(report, "[still blocked]"), report
        assert of(reports[-1], "[still blocked]"), reports[-1]

    steady(trial)


# --- wakers ------------------------------------------------------------------------------------------

# This test wakes the triggers, and Python's stacks are deep.
DEEP = ("truncated",)


def convoy(view, trigger, name, *args):
    """The report, how long the thread was away, its CPU time, and how long tasks waited for CPUs. The thread is blocked
    until its wakeup, not until it runs, which may take any time. Waits are by timestamps: run_delay lacks those of
    tasks woken before they have left the run queue (sched_delayed in kernel/sched/fair.c, 6.12)."""
    load = trigger("blocks", 1, ROUNDS, US, comm="waker")
    tracer, waits = view(name, "-p", load.pid, *args), view("schedlat", "-p", load.pid)
    elapsed, cpu = let(load)
    report, waited = (each.stop().report for each in (tracer, waits))
    return report, elapsed, cpu + sum(row["wait"] for row in waited["rows"])


@pytest.mark.parametrize("args", WHEN, ids=("leaving", "later"))
def test_known_waker(view, trigger, args):
    """wakeuptime has the thread's time with the stack of its waker, offwaketime with both stacks."""
    def trial():
        report, elapsed, cpu = convoy(view, trigger, "wakeuptime", *args)
        stacks = of(report, "main", "work", "wakes_there", waker="waker", comm="woken")
        whole(report, but=DEEP)
        assert stacks, report
        own = "bpf_", "__bpf_", "__traceiter"
        assert not any(name.startswith(own) for s in stacks for name in names(s)), stacks
        bracketed(value(stacks), elapsed, cpu, "wakeuptime")

        report, elapsed, cpu = convoy(view, trigger, "offwaketime", *args)
        stacks = of(report, "waits_there", "--", "wakes_there", "work", "main", comm="woken")
        whole(report, but=DEEP)
        assert stacks, report
        assert all(names(s)[-1] == "waker" for s in stacks), stacks
        bracketed(value(stacks), elapsed, cpu, "offwaketime")

    steady(trial)


@pytest.mark.parametrize("name", VIEWS[1:])
def test_timers_are_interrupts(view, trigger, name):
    """The waker is the timer's interrupt, not the task that it interrupted."""
    load = trigger("blocks", 0, ROUNDS, US)
    tracer = view(name, "-p", load.pid)
    let(load)
    report = tracer.stop().report
    if name == "wakeuptime":
        stacks = of(report, waker="[interrupt]", comm="blocks")
    else:
        stacks = of(report, "short_naps", "--", "[interrupt]") + of(report, "long_naps", "--", "[interrupt]")
    assert value(stacks) >= 0.9 * ROUNDS * US * 5000, report
    assert not any("interrupt" not in str(names(s)) for s in stacks), stacks


def test_views_agree(view, trigger):
    """wakeuptime and offwaketime have equal times for the same sleeps in one run; offcputime's, until the task runs,
    are longer."""
    def trial():
        load = trigger("sleepers", 2, ROUNDS, US, -1)
        tracers = {name: view(name, "-p", load.pid) for name in VIEWS}
        let(load)
        reports = {name: tracer.stop().report for name, tracer in tracers.items()}
        whole(*reports.values(), but=DEEP)
        naps = {name: value(of(report, "hrtimer_nanosleep" if name == "offcputime" else "hrtimer_wakeup"))
                for name, report in reports.items()}
        assert naps["wakeuptime"] >= 0.9 * 2 * ROUNDS * US * 1000, naps
        within(naps["wakeuptime"] == pytest.approx(naps["offwaketime"], rel=0.1 if GUEST else 0.02), naps)
        within(naps["offcputime"] >= 0.98 * naps["wakeuptime"], naps)

    steady(trial)


# --- forms -------------------------------------------------------------------------------------------

def test_command(run):
    path = tally.BUILD / "triggers" / "blocks"
    result = run("--format", "folded", "--", path, 0, 3, US, tool="offcputime")
    lines = [line for line in result.text.splitlines() if line.startswith("blocks;")]
    assert any(";main;work;long_naps;" in line for line in lines), result


@pytest.mark.parametrize("name", VIEWS)
def test_tree_and_table(trigger, tool, run, name):
    load = trigger("blocks", 0, 5, US, comm=b"a;b\n\x1b[2J")
    tree = tool("-p", load.pid, tool=name)
    table = tool("-p", load.pid, "--json", "--by", "comm,sym", tool=name)
    let(load)
    text = tree.stop().text
    assert "share    self        time" in text and "\x1b" not in text, text
    rows = table.stop().report["rows"]
    assert rows and {"percent", "time", "comm", "sym"} <= set(rows[0]), rows


@pytest.mark.parametrize("name, args, said", (
    ("offcputime", ("--min", "x"), "--min"), ("offcputime", ("--min", "2s", "--max", "1s"), "--min"),
    ("offcputime", ("--state", "asleep"), "asleep"), ("wakeuptime", ("--state", "preempted"), "offcputime"),
    ("offwaketime", ("-K", "-U"), "-K"), ("offcputime", ("--by", "state,x"), "'x'"),
))
def test_wrong_usage(run, name, args, said):
    result = run(*args, tool=name)
    assert result.code == 2 and said in result.stderr and not result.stdout, result


@pytest.mark.parametrize("name", VIEWS)
def test_explain(run, name):
    result = run("-n", "--min", "1ms", tool=name)
    assert result.code == 0 and "sched_switch" in result.text, result


def is_kernel_thread(pid):
    """PF_KTHREAD, or None if the task has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return bool(int(stat.rpartition(")")[2].split()[6]) & 0x00200000)


@pytest.mark.parametrize("option, kernel", (("--user-threads", False), ("--kernel-threads", True)))
def test_threads_of_programs_or_of_the_kernel(run, option, kernel):
    """kthreadd and this process sleep through the run, at least."""
    there = {int(path.name) for path in Path("/proc").glob("[0-9]*")}
    report = run("--json", "--by", "pid", "--idle", option, "-d", "0.1", tool="offcputime").report
    pids = {each["key"]["pid"] for each in report["stacks"]} & there
    found = {is_kernel_thread(pid) for pid in pids} - {None}
    assert found == {kernel}
    assert (2 in pids) == kernel and (os.getppid() in pids or os.getpid() in pids) != kernel
