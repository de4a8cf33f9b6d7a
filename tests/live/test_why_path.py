# SPDX-License-Identifier: BSD-2-Clause
"""why --critical-path: a known chain of threads, by their own clocks; and the kernel's trace of the same run."""

import re
import shutil
from collections import defaultdict, namedtuple

import pytest

import tally
import tracefs
from tally import BUILD, Blurred, steady, within

CHAIN = BUILD / "triggers/critical"

# The trigger's: see there.
Part = namedtuple("Part", "cpu begun_after begun_before ended_after ended_before slept")

# A thread's own clock stops in the middle of each switch, and time that a hypervisor took is not on it.
CLOCKS = 0.02


def path_of(run, out, *options, command):
    result = run("--critical-path", "--json", "-o", out, *options, "--", *command, tool="why")
    assert result.code == 0, result
    return tally.Result(0, out.read_bytes(), b"").report


def chain(run, directory, *options, ms=60):
    """The report about a run of the trigger, and what the trigger says."""
    said = directory / "said"
    report = path_of(run, directory / "report", *options, command=(CHAIN, ms, said))
    if report["lost"]["missed"] or report["lost"]["no_memory"]:
        raise Blurred
    lines = [line.split() for line in said.read_text().splitlines()]
    return report, {name: Part(*map(int, numbers)) for name, *numbers in lines}


def times(report, **members):
    return sum(row["time"] for row in report["rows"] if all(row[name] == value for name, value in members.items()))


def check_part(report, name, part):
    """
    All of a thread's time on the path is between what began and what ended its part, and the CPU time of it is its
    own.
    """
    whole, on_cpu = times(report, comm=name), times(report, comm=name, cause="on CPU")
    within(whole <= part.ended_before - part.begun_after, name, whole, part)
    within(whole >= (part.ended_after - part.begun_before) * (1 - CLOCKS), name, whole, part)
    within(part.cpu * (1 - CLOCKS) <= on_cpu <= whole, name, on_cpu, part)


@pytest.mark.everywhere
def test_chain(run, directory):
    """
    Each of the chain is on it with its own time, and the decoy that spins beside it is not, though the timer of the nap
    often interrupts it.
    """

    def trial():
        report, said = chain(run, directory)
        for name, part in said.items():
            check_part(report, name, part)
        naps = [row for row in report["rows"] if row["cause"] == "timer"]
        assert {(row["comm"], row["waker"]) for row in naps} == {("second", "[interrupt]")}, naps
        assert times(report, cause="timer") <= said["second"].slept, (naps, said)
        # The timer is set before the thread leaves its CPU, which another one may delay.
        within(times(report, cause="timer") >= 0.98 * 60_000_000, naps, said)
        assert not times(report, comm="decoy"), report["rows"]
        # The work that main waited for is on the path in place of its waits.
        assert not {"child", "futex", "unknown"} & {row["cause"] for row in report["rows"]}, report["rows"]
        assert not times(report, cause="pipe", comm="second"), report["rows"]

    steady(trial)


@pytest.mark.everywhere
def test_times_add_up(run, directory):
    """To the elapsed time, to the nanosecond: as sums, and link by link."""
    report, _ = steady(lambda: chain(run, directory, ms=20))
    elapsed, = {row["elapsed"] for row in report["rows"]}
    assert times(report) == elapsed <= report["duration_ns"]
    assert sum(row["links"] for row in report["rows"]) == report["events"]

    report, _ = steady(lambda: chain(run, directory, "--each", ms=20))
    at = 0
    for row in report["rows"]:
        assert row["start"] == at and row["time"] > 0, row
        at += row["time"]
    assert len(report["rows"]) == report["events"]
    said = re.match(r"(\d+)\.(\d{3}) ms elapsed, (\d+) links of (\d+) threads\.", report["note"])
    assert int(said[1] + said[2]) == at // 1000, (report["note"], at)
    assert int(said[3]) == len(report["rows"]) and int(said[4]) == len({row["tid"] for row in report["rows"]})


def test_process_that_goes_on(trigger, tool):
    """With -p the path ends with the main thread and the run, in the middle of a wait."""
    load = trigger("sleepers", 1, 20, 1000, -1)
    it = tool("--critical-path", "--json", "-p", load.pid, tool="why")
    load.go()
    load.done()
    load.settle()
    report = it.stop().report
    elapsed, = {row["elapsed"] for row in report["rows"]}
    assert times(report) == elapsed
    assert {row["comm"] for row in report["rows"]} == {"sleepers"}, report["rows"]
    # At the end it waits for the end of its input.
    assert times(report, cause="pipe", waker=None), report["rows"]


@pytest.mark.parametrize("args, said", (
    (("--critical-path",), "--critical-path needs one subject: a command, one -p or one -t"),
    (("--critical-path", "-a"), "cannot be combined with a scope other than"),
    (("--critical-path", "--by", "pid", "--", "true"), "--critical-path and --by cannot be combined"),
    (("--critical-path", "-I", "1s", "--", "true"), "--critical-path cannot be combined with intervals"),
    (("--critical-path", "--sort", "max", "--", "true"), "--critical-path can only be sorted by time or key"),
    (("--each", "--", "true"), "--each needs --critical-path"),
))
def test_usage(run, args, said):
    result = run(*args, tool="why")
    assert result.code == 2 and said in result.stderr, result


# --- the kernel's own trace ------------------------------------------------------------------------

# "sh-123 [001] d.h3. 12.345678: sched_waking: comm=...": the third flag tells that an interrupt or softirq runs.
HEAD = re.compile(r"(?P<comm>.*)-(?P<tid>\d+)\s+\[\d+\] (?P<flags>\S+)\s+(?P<time>[\d.]+): (?P<name>\w+): ")


class Event:
    def __init__(self, head, rest):
        self.comm, self.tid, self.name = head["comm"].strip(), int(head["tid"]), head["name"]
        self.time = round(float(head["time"]) * 1e6)
        self.by_interrupt = head["flags"][2] != "."
        self.fields = dict(re.findall(r"(\w+)=(.*?)(?= \w+=| ==>|$)", rest, re.DOTALL))

    def number(self, name):
        return int(re.match(r"\d+", self.fields[name])[0])


def events_of(trace):
    """The processes of other tests have names of any bytes, newlines among them: a line need not be an event."""
    text = (trace.path / "trace").read_bytes().decode(errors="replace")
    heads = [*HEAD.finditer(text)]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [Event(head, text[head.end():end]) for head, end in zip(heads, ends)]


class Walk:
    """
    The path found from the end of the first thread, event by event, by what each does to one thread, until the tool has
    that thread begin. In us.
    """

    def __init__(self, events, first):
        self.scope, self.times = {first}, defaultdict(int)
        for event in events:
            if event.name == "sched_process_fork" and event.number("pid") in self.scope:
                self.scope.add(event.number("child_pid"))
        self.tid, self.state, self.at, self.events = first, "cpu", None, events
        self.begun = False

    def charge(self, what, event):
        self.times[self.tid, what] += self.at - event.time
        self.at = event.time

    def woken(self, event):
        self.charge("runnable", event)
        self.begun = event.comm == "why" and not event.by_interrupt
        if event.by_interrupt or event.tid not in self.scope:
            self.state = "blocked"
        else:
            self.tid, self.state = event.tid, "cpu"

    def switched_out(self, event):
        if event.fields["prev_state"].startswith("R"):
            self.charge("runnable", event)
        elif self.state == "blocked":
            self.charge("blocked", event)
        else:
            return                          # its wakeup came just before
        self.state = "cpu"

    def switch(self, event):
        arrives, leaves = event.number("next_pid") == self.tid, event.number("prev_pid") == self.tid
        if self.at is None:
            if leaves and event.fields["prev_state"][0] in "XZ":
                self.at = event.time
        elif leaves if self.state == "cpu" else arrives:
            raise Blurred                   # the kernel hid a switch from the trace, too: tally.holes()
        elif arrives:
            self.charge("on CPU", event)
            self.state = "off"
        elif leaves:
            self.switched_out(event)

    def run(self):
        for event in reversed(self.events):
            if self.begun:
                break
            if event.name == "sched_switch":
                self.switch(event)
            elif event.name.startswith("sched_wak") and self.state == "off" and event.number("pid") == self.tid:
                self.woken(event)
        return self.times


# The last target sleeps first, and waits for the others.
MAKEFILE = """
all: d
a b c:
	@i=0; while [ $$i -lt 20000 ]; do i=$$((i + 1)); done
d: a b c
	@sleep 0.05; i=0; while [ $$i -lt 20000 ]; do i=$$((i + 1)); done
"""

WHATS = {"on CPU": "on CPU", "run queue": "runnable", "preempted": "runnable"}


@pytest.fixture
def trace(ends):
    instance = tracefs.Instance()
    ends.callback(instance.close)
    (instance.path / "buffer_size_kb").write_text("8192")
    (instance.path / "trace_clock").write_text("mono")
    for event in ("sched_switch", "sched_waking", "sched_wakeup_new", "sched_process_fork"):
        instance.enable(f"sched/{event}")
    return instance


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_same_path_in_the_trace(run, trace, directory):
    """
    The threads on the path of a parallel make, and what each did there, are those that are found from the kernel's own
    trace of the same run: apart by 1 % of it at most.
    """
    (directory / "Makefile").write_text(MAKEFILE)

    def trial():
        (trace.path / "trace").write_text("")
        report = path_of(run, directory / "report", "--each", command=("make", "-s", "-j2", "-C", directory))
        events = events_of(trace)
        if report["lost"]["missed"]:
            raise Blurred
        first = report["rows"][-1]["tid"]
        theirs = Walk(events, first).run()
        ours = defaultdict(int)
        for row in report["rows"]:
            ours[row["tid"], WHATS.get(row["cause"], "blocked")] += row["time"] / 1000
        elapsed = sum(ours.values())
        # The run begins a moment before that.
        apart = sum(abs(ours[key] - theirs[key]) for key in ours.keys() | theirs.keys() if key != (first, "blocked"))
        within(apart <= 0.01 * elapsed, apart, elapsed, dict(ours), dict(theirs))
        assert len({tid for tid, _ in ours}) >= 4, ours

    steady(trial)
