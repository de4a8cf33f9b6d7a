# SPDX-License-Identifier: BSD-2-Clause
"""timechart: the state of CPUs and tasks in each slot of time, to the ns, and the drawing of it."""

import functools
import re
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

import pytest

import tally
from accounts import work
from probing import check_header, nothing_lost
from tally import BUILD, TEMPEST, flaws, scaled, within

PARTS = ("run", "wait", "sleep", "block")
MOST_BYTES = 1000000


@pytest.fixture
def timechart(tool):
    return functools.partial(tool, "--json", tool="timechart")


def rows_of(report, kind, name):
    """Slots by CPU or task, in order of time."""
    check_header({**report, "events": 0, "filtered": 0, "unaccounted": 0, "corrected": 0})
    found = defaultdict(list)
    for row in report["rows"]:
        if row["row"] == kind:
            found[row[name]].append(row)
    return found


def length(slot):
    return sum(slot[part] or 0 for part in PARTS)


def sum_of(slots, part):
    return sum(slot[part] for slot in slots)


def check_whole(slots, duration_ns):
    """Slots of a task that existed throughout: without gaps, each filled to the ns."""
    end = 0
    for slot in slots:
        assert slot["from_ns"] == end and length(slot) == slot["to_ns"] - end
        end = slot["to_ns"]
    assert end == duration_ns


def check_balance(report):
    """CPUs and tasks have the same run time, slot by slot."""
    by_cpu = [row for row in report["rows"] if row["row"] == "cpu"]
    by_task = [row for row in report["rows"] if row["row"] != "cpu"]
    assert sum_of(by_cpu, "run") == sum_of(by_task, "run")
    busy, run = defaultdict(int), defaultdict(int)
    for row in by_cpu:
        # A switch that the kernel hid leaves two tasks on one CPU for a while.
        assert row["run"] <= row["to_ns"] - row["from_ns"] or not nothing_lost(report)
        busy[row["from_ns"]] += row["run"]
    for row in by_task:
        run[row["from_ns"]] += row["run"]
    assert {at: n for at, n in busy.items() if n} == {at: n for at, n in run.items() if n}


@pytest.mark.parametrize("load", (("sleepers", 5, scaled(60), 50, -1), ("migrate", 3, scaled(60)),
                                  ("yield", 3, scaled(500), 0)), ids=lambda load: load[0])
def test_slots_are_filled(timechart, trigger, load):
    """Each thread's slots add up to all of its time, and its run time is that of the kernel's accounting."""

    def trial():
        started = trigger(*load)
        tracer = timechart("-p", started.pid)
        tids, switches = started.tids(), 0
        w = work(started)
        report = tracer.stop().report
        if not nothing_lost(report):
            raise tally.Blurred
        check_balance(report)
        tasks = rows_of(report, "task", "tid")
        assert set(tasks) <= set(tids)
        for tid, slots in tasks.items():
            check_whole(slots, report["duration_ns"])
            switches += w.grown[tid].count
        # The kernel's accounting reads the clock at other points of the switch: a few us each.
        run = sum(sum_of(slots, "run") for slots in tasks.values())
        booked = sum(grown.run_ns for grown in w.grown.values())
        within(abs(run - booked) <= booked / 20 + 20000 * (switches + len(tids)), run, booked)

    tally.steady(trial)


def test_phases(timechart, trigger):
    """A task that computes does not sleep, and one that sleeps does not run, slot by slot; all on one CPU."""

    def trial():
        load = trigger("phases", 0, 4, scaled(100))
        tracer = timechart("-p", load.pid)
        w = work(load)
        to_wall = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
        report = tracer.stop().report
        if not nothing_lost(report):
            raise tally.Blurred
        slots = rows_of(report, "task", "tid")[load.pid]
        check_whole(slots, report["duration_ns"])
        at = [n + to_wall - report["start_ns"] for n in w.said[0]]
        between, margin = {"computes": 0, "sleeps": 0}, 1000000
        for i in range(len(at) - 1):
            # It sleeps for the requested time; then it may have to wait for the CPU.
            until = at[i] + scaled(100) * 1000000 if i % 2 else at[i + 1] - margin
            for slot in slots:
                if at[i] + margin <= slot["from_ns"] and slot["to_ns"] <= until:
                    between["sleeps" if i % 2 else "computes"] += 1
                    # It may be preempted between reading the clock and falling asleep.
                    within(slot["run"] + slot["wait"] == (0 if i % 2 else length(slot)), i, slot)
        assert all(n >= 3 for n in between.values()), (between, at)
        cpus = rows_of(report, "cpu", "cpu")
        assert set(cpus) == {0} and sum_of(cpus[0], "run") == sum_of(slots, "run")
        assert all(row["most_tid"] == load.pid for row in cpus[0] if row["run"])

    tally.steady(trial)


def test_wider_slots(trigger, run):
    """If the duration is not known, slots double in width, and sums stay the same."""

    def trial():
        said = run("--json", "--", BUILD / "triggers/phases", 0, 4, 100, tool="timechart")
        report = tally.json.loads(said.text.splitlines()[-1])
        slots = next(iter(rows_of(report, "task", "tid").values()))
        widths = {slot["to_ns"] - slot["from_ns"] for slot in slots[:-1]}
        assert len(widths) == 1 and widths.pop() in {1000000 << i for i in range(1, 20)}
        assert len(slots) <= 600
        check_balance(report)
        if not nothing_lost(report):
            raise tally.Blurred
        lasted = slots[-1]["to_ns"] - slots[0]["from_ns"]
        within(sum_of(slots, "run") >= 4 * 100 * 1000000, slots)
        assert sum(map(length, slots)) <= lasted

    tally.steady(trial)


def test_whole_machine(timechart, trigger):
    """All tasks, most of them among the others: CPUs and tasks agree."""
    load = trigger("spin", 3, scaled(50), 0)
    tracer = timechart("--top", 3)
    work(load)
    report = tracer.stop().report
    assert len(rows_of(report, "task", "tid")) == 3
    assert any(row["row"] == "others" for row in report["rows"])
    check_balance(report)


def test_fork_storm(timechart, trigger):
    """Ended tasks are remembered: none is lost, and memory stays small."""
    load = trigger("storm", scaled(4000), 4, -1, comm=TEMPEST)
    tracer = timechart("--comm", TEMPEST)
    work(load)
    report = tracer.stop().report
    assert {reason for reason, n in flaws(report).items() if n} <= {"missed", "unmatched"}
    check_balance(report)


@tally.once
def test_memory_of_a_fork_storm(trigger, tool):
    load = trigger("storm", 20000, 4, -1, comm=TEMPEST)
    tracer = tool("--json", "--comm", TEMPEST, tool="timechart")
    before = resident_kb(tracer.pid)
    load.go()
    load.done()
    assert resident_kb(tracer.pid) - before < 20000
    report = tracer.stop().report
    assert not report["lost"]["map_full"] and not report["lost"]["ring_full"]


def resident_kb(pid):
    text = tally.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def test_stopped_task(timechart, trigger, ends):
    """A task that never runs sleeps from end to end; one that never blocks runs or waits."""
    stopped, load = trigger("spin", 1, 1, 0), trigger("spin", 1, scaled(100), 0)
    stopped.process.send_signal(tally.signal.SIGSTOP)
    ends.callback(stopped.process.send_signal, tally.signal.SIGCONT)
    tally.wait_until(lambda: tally.state(stopped.pid) == "T", "the task does not stop")
    tracer = timechart("-p", f"{stopped.pid},{load.pid}")
    w = work(load)
    report = tracer.stop().report
    tasks = rows_of(report, "task", "tid")
    assert stopped.pid not in tasks, "a task that did not run has no row of its own"
    others = [row for row in report["rows"] if row["row"] == "others"]
    assert sum_of(others, "run") == 0
    assert sum_of(others, "sleep") >= report["duration_ns"]
    assert w.grown


def svg_of(run, directory, *args, **kwargs):
    path = directory / "chart.svg"
    result = run("-o", path, *args, tool="timechart", **kwargs)
    assert result.code == 0, result
    text = path.read_bytes()
    assert len(text) < MOST_BYTES
    return ElementTree.fromstring(text.decode())


def test_svg(run, directory):
    """A picture that is XML whatever the names of tasks; each row has its figures."""
    svg = svg_of(run, directory, "--", "env", b'TRIGGER_COMM=<b>&";]]>\x1b',
                 BUILD / "triggers/spin", 2, 50, 0)
    space = "{http://www.w3.org/2000/svg}"
    titles = [each.text or "" for each in svg.iter(space + "title")]
    assert any('<b>&";]]>\\x1b[' in title for title in titles)
    assert any(title.startswith("CPU 0") for title in titles)
    assert any("runs" in title and "waits" in title for title in titles)
    assert len(list(svg.iter(space + "script"))) == 1
    assert all(each.tag.startswith(space) for each in svg.iter())


@tally.once
def test_large_svg(run, directory, trigger):
    """The largest picture, of tasks that run now and then."""
    load = trigger("sleepers", 220, 10_000_000, 500, -1)      # ended after the tool
    load.go()
    try:
        svg = svg_of(run, directory, "--top", "200", "-d", "1.5")
    finally:
        tally.end_process(load.process)
    assert len(svg.findall(".//*[@class='r']")) >= 200


def test_text(run):
    result = run("-d", "0.2", tool="timechart")
    assert result.code == 0
    assert "CPU 0" in result.text and "A column is" in result.text and "lost" in result.text


@tally.once
@pytest.mark.parametrize("args, said", (
    (("-C", "0"), "-C"), (("--top", "201"), "--top"), (("1", "3"), "-d"),
    (("--format", "flame"), "text, svg, json, csv"),
), ids=str)
def test_usage(run, args, said):
    result = run(*args, tool="timechart")
    assert result.code == 2 and said in result.stderr and not result.text


def test_explain(run):
    result = run("-n", tool="timechart")
    assert result.code == 0 and "sched_switch" in result.text


@tally.once
def test_others_are_of_all_cpus(run):
    """A task's share is of one CPU; the row of many tasks has the number of CPUs that its share is of."""
    text = run("-a", "--top", 1, "-d", "0.1", tool="timechart").text
    cpus = int(re.search(r", (\d+) CPUs, kernel", text)[1])
    if cpus > 1:
        assert re.search(rf"^others \(\d+ tasks\), of {cpus} CPUs +\|", text, re.M), text


@tally.once
def test_csv(run):
    lines = run("--csv", "-d", "0.1", tool="timechart").text.splitlines()
    assert lines[0].startswith("start_ns,duration_ns,row,cpu,tid,pid,comm,from_ns,to_ns,run"), lines[0]
    assert all(line.count(",") == lines[0].count(",") for line in lines if '"' not in line)
