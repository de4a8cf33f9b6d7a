# SPDX-License-Identifier: BSD-2-Clause
"""hardirqs, softirqs, timers and workqueues compared with the kernel's own counts.

/proc/interrupts and /proc/softirqs are read before the tool begins, when it has begun, before and
after it ends: the tool's count is between the inner and the outer growth. Work is done
inside, so that the two are near. The test makes a known number of timers and works.
"""

import functools
import os
import pty
import signal
import tempfile
import time
import tty

import pytest

import counted
import tally
from tally import flaws, once, scaled
from tracefs import tracing

pytestmark = pytest.mark.exclusive

TOOLS = ("hardirqs", "softirqs", "timers", "workqueues")


def seen(test):
    """Repeats a test of equality that failed while the kernel ran tasks that are hidden from tracers
    (tally.holes()): interrupts of these do not pass the tracepoints either."""

    @functools.wraps(test)
    def judged(*args, **kwargs):
        def trial():
            hidden = tally.holes()
            try:
                test(*args, **kwargs)
            except AssertionError as error:
                if tally.holes() == hidden:
                    raise
                raise tally.Blurred from error

        tally.steady(trial)

    return judged


def nothing_lost(*reports):
    for report in reports:
        assert not any(flaws(report).values()), report["lost"]


def interrupts():
    """{(line, cpu): n} of lines with a single handler: numbers, and LOC, RES, ..."""
    with open("/proc/interrupts") as file:
        cpus = [int(name[3:]) for name in file.readline().split()]
        lines = [line.split() for line in file]
    return {(words[0].rstrip(":"), cpu): int(n) for words in lines if not words[-2].endswith(",")
            for cpu, n in zip(cpus, words[1:]) if n.isdigit()}


def softirqs():
    with open("/proc/softirqs") as file:
        cpus = [int(name[3:]) for name in file.readline().split()]
        return {(words[0].rstrip(":"), cpu): int(n) for words in map(str.split, file)
                for cpu, n in zip(cpus, words[1:])}


def timers_and_disks(trigger):
    """Some of each: timers on all CPUs, wakeups between CPUs, and interrupts of a disk or 9p."""
    load = trigger("sleepers", 4, scaled(400), 500, -1)

    def work():
        load.go()
        for path in os.scandir("/usr/bin"):
            os.stat(path, follow_symlinks=False)
        with tempfile.TemporaryFile(dir="/var/tmp") as file:
            for _ in range(20):
                os.pwrite(file.fileno(), b"x" * 4096, 0)
                os.fsync(file.fileno())
        load.done()

    return work


def bracketed(start, books, work, *args, **kwargs):
    """The report of a tool that ran around work, and the minimum and maximum of each count in it."""
    outer = books()
    tracer = start("--json", *args, **kwargs)
    inner = books()
    work()
    inside = {key: n - inner.get(key, 0) for key, n in books().items()}
    report = tracer.stop().report
    outside = {key: n - outer.get(key, 0) for key, n in books().items()}
    return report, inside, outside


def check_bracket(inside, found, outside, borders, what):
    """A count is between the two. The kernel counts at the start of a handler and the tool at its end: one that is
    running at a border, on a CPU that may be held up, is on different sides of it for the two."""
    assert inside - borders <= found <= outside + borders, (what, inside, found, outside)
    tally.within(inside <= found <= outside, what, inside, found, outside)


def check_brackets(found, inside, outside, wanted):
    for key in wanted:
        check_bracket(inside[key], found.get(key, 0), outside[key], 1, key)
    assert sum(inside[key] for key in wanted), "nothing to compare"


def counts(report, *names):
    """{key: count} of a table; several rows with one key are added up."""
    found = {}
    for row in report["rows"]:
        key = tuple(row[name] for name in names)
        found[key] = found.get(key, 0) + row["count"]
    return found


# --- hardirqs -----------------------------------------------------------------------------------

def has_vectors():
    return (tracing() / "events/irq_vectors/local_timer_entry").is_dir()


@seen
def test_interrupts_of_proc(tool, trigger):
    """By line and CPU, those of /proc/interrupts: the devices' and the CPUs' own."""
    report, inside, outside = bracketed(tool, interrupts, timers_and_disks(trigger), "--by",
                                        "irq,cpu", tool="hardirqs")
    nothing_lost(report)
    found = counts(report, "irq", "cpu")
    assert report["events"] == sum(found.values())
    devices = [key for key in inside if key[0].isdigit()]
    check_brackets(found, inside, outside, devices)
    if has_vectors():
        own = [key for key in inside if key[0] in ("LOC", "RES", "IWI")]
        check_brackets(found, inside, outside, own)
        assert sum(n for (line, _), n in found.items() if line == "LOC") >= scaled(400)
    assert all(line.isdigit() or line.isupper() for line, _ in found), found


def name_of_line(line):
    with open("/proc/interrupts") as file:
        return next(words[-1] for words in map(str.split, file) if words[0] == line + ":")


@seen
def test_names_of_devices(tool, trigger):
    """--devices has no others, and lines have the names of /proc/interrupts; --irq selects by name."""
    work = timers_and_disks(trigger)
    report, inside, outside = bracketed(tool, interrupts, work, "--devices", tool="hardirqs")
    nothing_lost(report)
    lines = {line for line, _ in inside}
    rows = {row["irq"]: row for row in report["rows"] if row["irq"] in lines}
    assert rows and all(line.isdigit() for line in rows)
    for line, row in rows.items():
        assert name_of_line(line)[:31].endswith(row["name"]) or row["name"] in name_of_line(line)
    some = max(rows.values(), key=lambda row: row["count"])
    report, *_ = bracketed(tool, interrupts, timers_and_disks(trigger), "--irq", some["name"],
                           tool="hardirqs")
    nothing_lost(report)
    assert {row["name"] for row in report["rows"]} == {some["name"]}
    assert report["filtered"]


# --- softirqs -----------------------------------------------------------------------------------

@pytest.mark.parametrize("option", ((), ("--latency",)))
@seen
def test_softirqs_of_proc(tool, trigger, option):
    """By vector and CPU, those of /proc/softirqs; with --latency except those that were raised
    before the run, at most one per vector and CPU."""
    report, inside, outside = bracketed(tool, softirqs, timers_and_disks(trigger), *option, "--by",
                                        "softirq,cpu", tool="softirqs")
    nothing_lost(report)
    found = counts(report, "softirq", "cpu")
    early = report.get("begun_before", 0)
    if not early:
        check_brackets(found, inside, outside, inside)
    check_bracket(sum(inside.values()) - early, sum(found.values()), sum(outside.values()), len(inside), "all")
    assert early <= len(inside)
    assert sum(n for (name, _), n in found.items() if name in ("TIMER", "SCHED", "RCU"))


@seen
def test_one_cpu(tool, trigger):
    """-C selects the CPU on which a softirq runs; others are filtered."""
    report, inside, outside = bracketed(tool, softirqs, timers_and_disks(trigger), "-C", 0, "--by",
                                        "softirq,cpu", tool="softirqs")
    nothing_lost(report)
    found = counts(report, "softirq", "cpu")
    check_brackets(found, inside, outside, [key for key in inside if key[1] == 0])
    assert {cpu for _, cpu in found} == {0}
    others = [key for key in inside if key[1] != 0]
    check_bracket(sum(inside[key] for key in others), report["filtered"], sum(outside[key] for key in others),
                  len(others), "filtered")


@seen
def test_a_full_map_is_told(tool, trigger):
    """With room for only some of the keys, events without a row are counted as lost: map_full."""
    report, inside, outside = bracketed(tool, softirqs, timers_and_disks(trigger), "--max-keys", 1,
                                        "--by", "softirq,cpu", tool="softirqs")
    full = report["lost"]["map_full"]
    assert sum(flaws(report).values()) == full
    check_bracket(sum(inside.values()), report["events"] + full, sum(outside.values()), len(inside), "all")


# --- timers -------------------------------------------------------------------------------------

ROUNDS = scaled(80)
DELAY = 0.0005


def alarms(rounds=ROUNDS):
    """Runs this many expiries of it_real_fn(), one after the other. Returns the sum of their delays
    in ns, as seen from here."""
    late = 0
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    # The kernel may pick any thread of this process for the signal; in one that does not block it, it would end us all.
    handler, wakeup = signal.signal(signal.SIGALRM, lambda *_: None), signal.set_wakeup_fd(write_end)
    try:
        for _ in range(rounds):
            begin = time.monotonic_ns()
            signal.setitimer(signal.ITIMER_REAL, DELAY)
            os.read(read_end, 1)
            late += time.monotonic_ns() - begin - int(DELAY * 1e9)
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGALRM, handler)
        os.close(read_end)
        os.close(write_end)
    return late


def check_count(count):
    """The exact number of the test's own timers and works. Others may come in between, such as those of
    a terminal."""
    if count > ROUNDS:
        raise tally.Blurred
    assert count == ROUNDS


def row_of(report, function):
    rows = [row for row in report["rows"] if row["function"] == function]
    assert len(rows) == 1, report["rows"]
    return rows[0]


@seen
def test_timers_expire(tool):
    tracer = tool("--json", tool="timers")
    alarms()
    report = tracer.stop().report
    nothing_lost(report)
    row = row_of(report, "it_real_fn")
    assert row["kind"] == "hrtimer"
    check_count(row["count"])
    assert 0 < row["p50"] <= row["p99"] <= row["max"] <= row["total"] < report["duration_ns"]
    assert row["cpu_percent"] == pytest.approx(100 * row["total"] / report["duration_ns"])
    assert {row["kind"] for row in report["rows"]} <= {"timer", "hrtimer", "hrtimer-soft"}


@seen
def test_timers_are_late(tool):
    """The delay is no more than the one seen by the waiter; and high-resolution timers are never early."""
    tracer = tool("--json", "--latency", tool="timers")
    late = alarms()
    report = tracer.stop().report
    nothing_lost({**report, "lost": dict(report["lost"], negative=0)})
    row = row_of(report, "it_real_fn")
    check_count(row["count"])
    assert 0 < row["total"] <= late


@seen
def test_timers_by_kind(tool):
    """The same events by other keys, over intervals."""
    tracer = tool("--json", "--by", "kind,cpu", "-I", 100, tool="timers")
    alarms()
    tracer.await_lines(2)
    reports = tracer.stop().reports
    nothing_lost(*reports)
    assert len(reports) >= 3
    for report in reports:
        found = counts(report, "kind", "cpu")
        assert len(found) == len(report["rows"]) and sum(found.values()) == report["events"]
    assert sum(report["events"] for report in reports) >= ROUNDS


# --- workqueues ---------------------------------------------------------------------------------

def write_to_a_terminal(rounds=ROUNDS):
    """Makes this many works flush_to_ldisc(), one for each byte that comes out at the other end."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    for _ in range(rounds):
        os.write(master, b"x")
        assert os.read(slave, 1) == b"x"
    # The last work wakes us, and then ends: closing both ends waits for that (tty_buffer_cancel_work()).
    os.close(slave)
    os.close(master)


@pytest.mark.parametrize("option", ((), ("--latency",)))
@seen
def test_works(tool, option):
    tracer = tool("--json", *option, tool="workqueues")
    write_to_a_terminal()
    report = tracer.stop().report
    nothing_lost(report)
    row = row_of(report, "flush_to_ldisc")
    assert row["workqueue"] == "events_unbound"
    check_count(row["count"])
    assert 0 < row["p50"] <= row["max"] <= row["total"]
    assert ("cpu_percent" in row) == (not option)


@seen
def test_works_without_their_queue(tool):
    """By function alone, executions are counted even if the queueing was not seen."""
    tracer = tool("--json", "--by", "function", tool="workqueues")
    write_to_a_terminal()
    report = tracer.stop().report
    nothing_lost(report)
    check_count(row_of(report, "flush_to_ldisc")["count"])


# --- by the kernel's counters --------------------------------------------------------------------

TIMERS, HIGH, WORKS = ("timer:timer_expire_exit", "timer:hrtimer_expire_exit",
                       "workqueue:workqueue_execute_end")


@seen
def test_all_events_are_counted(tool, trigger):
    """As many ends as in perf's counters of the tracepoints: no fewer than the inner counters,
    no more than the outer ones. Timers of the wheel, too."""
    events = [part for event in (TIMERS, HIGH, WORKS) for part in ("-e", event)]
    work = timers_and_disks(trigger)
    outer = counted.stat(tool, *events)
    tracers = [tool("--json", "--by", by, tool=name)
               for name, by in (("timers", "kind"), ("workqueues", "function"))]
    inner = counted.stat(tool, *events)
    work()
    write_to_a_terminal()
    least = counted.counts(inner.stop().report)
    timers, works = (tracer.stop().report for tracer in tracers)
    most = counted.counts(outer.stop().report)
    nothing_lost(timers, works)
    kinds = {kind: n for (kind,), n in counts(timers, "kind").items()}
    wheel = kinds.pop("timer", 0)
    assert least[TIMERS] <= wheel <= most[TIMERS]
    assert 0 < least[HIGH] <= sum(kinds.values()) <= most[HIGH]
    ended = works["events"] + works.get("begun_before", 0)
    assert 0 < least[WORKS] <= ended <= most[WORKS]


# --- all ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", TOOLS)
@seen
def test_histograms(tool, name):
    """--hist has the keys of the table, in the form of all histograms."""
    tracer = tool("--json", "--hist", tool=name)
    alarms()
    write_to_a_terminal()
    report = tracer.stop().report
    nothing_lost(report)
    assert report["unit"] == "ns" and report["groups"]
    if name == "timers":
        groups = tally.by_key(report, "function")
        check_count(groups["it_real_fn"]["count"])
    if name == "workqueues":
        groups = tally.by_key(report, "function", "workqueue")
        check_count(groups["flush_to_ldisc", "events_unbound"]["count"])


@once
@pytest.mark.parametrize("name", TOOLS)
def test_text(tool, name):
    """A table with a total, sorted by total time."""
    tracer = tool(tool=name)
    alarms()
    write_to_a_terminal()
    result = tracer.stop()
    assert result.code == 0 and not result.stderr, result
    lines = result.text.splitlines()
    title = next(line for line in lines if "cpu_percent" in line).split()
    assert title[-7:] == ["count", "total", "cpu_percent", "avg", "p50", "p99", "max"]
    assert sum(line.startswith("total ") for line in lines) == 1


@once
@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("args, said", (
    (("-p", "1"), "-p"), (("-u", "root"), "-u"), (("--by", "pid"), "keys are cpu"),
    (("--by", "x"), "--by"), (("--sort", "x"), "--sort"),
))
def test_wrong_usage(run, name, args, said):
    result = run(*args, tool=name)
    assert result.code == 2 and said in result.stderr and not result.stdout, result


@once
def test_wrong_names_of_interrupts(run):
    for glob in ("[", "x" * 40):
        result = run("--irq", glob, tool="hardirqs")
        assert result.code == 2 and "--irq" in result.stderr, result
    assert run("--latency", tool="hardirqs").code == 2


@pytest.mark.parametrize("name, args", (*((name, ()) for name in TOOLS), ("hardirqs", ("--slices",)),
                                         ("hardirqs", ("--devices",)), ("softirqs", ("--slices",))))
def test_with_a_command(run, name, args):
    """The programs of the tool do not displace those that know its command."""
    result = run("--json", *args, "--", "sleep", "0.3", tool=name)
    assert result.code == 0 and 300 < result.report["duration_ns"] / 1e6 and not any(flaws(result.report).values())


@pytest.mark.parametrize("name", TOOLS)
def test_explain(run, name):
    result = run("-n", tool=name)
    assert result.code == 0 and "tp_btf/" in result.text, result


@once
def test_heat(run):
    result = run("--heat", "-d", "0.5", tool="timers")
    assert result.code == 0 and "events in a cell" in result.text, result
