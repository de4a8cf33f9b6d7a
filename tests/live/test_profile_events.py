# SPDX-License-Identifier: BSD-2-Clause
"""profile with several events: each counts as if it were sampled alone, in its own unit."""

import functools
import json
import re

import pytest

import schema
import tally
from counted import exactly, since, usage
from tally import once, scaled, steady, within

GETPPID = 110
CPU = 1


@pytest.fixture
def profile(tool):
    return functools.partial(tool, "--json", tool="profile")


def work(load):
    """Runs the load until it rests: it says that it is done before its last switch."""
    load.go()
    load.done()
    load.settle()


def totals(report):
    """{event: total}, which is the sum of its stacks; no event is missed or lost."""
    schema.check(report)
    sums = {each["event"]: 0 for each in report["event_totals"]}
    for stack in report["stacks"]:
        sums[stack["key"]["event"]] += stack["value"]
    assert sums == {each["event"]: each["total"] for each in report["event_totals"]}, report["event_totals"]
    assert report["events"] == sum(sums.values())
    assert report["lost"]["missed"] == sum(each["missed"] for each in report["event_totals"])
    if report["lost"]["missed"] or report["lost"]["recursion"]:
        raise tally.Blurred
    return sums


def test_each_is_exact(profile, trigger):
    """Calls of a tracepoint, faults and switches of one process in one run, against the kernel's accounting and the
    load's parameters."""
    def trial():
        load = trigger("syscalls", 1, f"{GETPPID}:700", command=("taskset", "-c", str(CPU)))
        tracer = profile("-e", "page-faults", "-e", "syscalls:sys_enter_getppid", "-e", "cs", "-c", 1, "-p", load.pid)
        before = usage(load.pid)
        work(load)
        found = totals(tracer.stop().report)
        happened = since(before, load.pid)

        def check():
            assert found == {"page-faults": happened.minor + happened.major, "syscalls:sys_enter_getppid": 700,
                             "cs": happened.voluntary + happened.involuntary}, (found, happened)

        return check

    exactly(trial)


def test_a_glob_is_each_that_it_matches(profile, trigger):
    """As if the events were listed, each with its own count."""
    def trial():
        load = trigger("syscalls", 1, f"{GETPPID}:700", command=("taskset", "-c", str(CPU)))
        tracer = profile("-e", "syscalls:sys_*_getppid", "-c", 1, "-p", load.pid)
        work(load)
        found = totals(tracer.stop().report)

        def check():
            assert found == {"syscalls:sys_enter_getppid": 700, "syscalls:sys_exit_getppid": 700}, found

        return check

    exactly(trial)


def test_places_are_each_events_own(profile, trigger):
    """The faults come from touch(), and none of the calls do."""
    def trial():
        load = trigger("faults", scaled(500), 2, 0)
        tracer = profile("-e", "page-faults,cs", "-c", 1, "-p", load.pid)
        work(load)
        report = tracer.stop().report
        found = totals(report)
        touched = {event: sum(s["value"] for s in report["stacks"] if s["key"]["event"] == event and
                              "touch" in [f["name"] for f in s["frames"]]) for event in found}
        assert touched["page-faults"] >= 2 * scaled(500), (touched, found)
        within(touched["cs"] < found["page-faults"], touched, found)

    steady(trial)


def test_as_alone(profile, trigger):
    """Each event in a run of its own, at the same time, has the same total."""
    def trial():
        load = trigger("faults", scaled(500), 2, 0)
        events = ("page-faults", "minor-faults", "exceptions:page_fault_user")
        together = profile(*(word for each in events for word in ("-e", each)), "-c", 1, "-p", load.pid)
        alone = [profile("-e", each, "-c", 1, "-p", load.pid) for each in events]
        work(load)
        single = {}
        for event, tracer in zip(events, alone):
            report = tracer.stop().report
            if report["lost"]["missed"]:
                raise tally.Blurred
            single[event] = report["events"]
        found = totals(together.stop().report)
        assert found == single and found["page-faults"] >= 2 * scaled(500), (found, single)

    steady(trial)


def test_the_clock_and_others(profile, trigger):
    """-F is for the clock and -c for the others: a sample for each period of CPU time, and every fault counts."""
    def trial():
        load = trigger("shares", 300, CPU)
        tracer = profile("-e", "cpu-clock", "-e", "page-faults", "-F", 199, "-c", 1, "-p", load.pid)
        before = usage(load.pid)
        load.go()
        due = sum(load.done()) / 1e6 * 199
        report = tracer.stop().report
        happened = since(before, load.pid)
        found = {each["event"]: each for each in report["event_totals"]}
        assert found["cpu-clock"]["unit"] == "samples" and found["page-faults"]["unit"] == "events", found
        if found["page-faults"]["missed"]:
            raise tally.Blurred
        assert found["page-faults"]["total"] == happened.minor + happened.major, (found, happened)
        within((0.1 if tally.GUEST else 0.9) * due - 3 <= found["cpu-clock"]["total"] <= 1.1 * due + 3, found, due)

    steady(trial)


def test_every_nth_of_each(profile, trigger):
    """Each event has its own remainder."""
    def trial():
        load = trigger("syscalls", 1, f"{GETPPID}:100", command=("taskset", "-c", str(CPU)))
        tracer = profile("-e", "syscalls:sys_enter_getppid", "-e", "syscalls:sys_exit_getppid", "-c", 7, "-p", load.pid)
        work(load)
        assert totals(tracer.stop().report) == dict.fromkeys(
            ("syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid"), 98)

    steady(trial)


def parts(stack):
    """Numbers of kernel frames and user frames, without notes."""
    modules = [frame["module"] for frame in stack["frames"] if frame["module"]]
    return modules.count("[kernel]"), len(modules) - modules.count("[kernel]")


def test_terms_of_its_own(profile, trigger):
    """Each event's terms apply to its own samples and stacks: the totals are the same, and cut stacks are the inner
    ends of the whole ones."""
    def trial():
        load = trigger("syscalls", 1, f"{GETPPID}:100", command=("taskset", "-c", str(CPU)))
        tracer = profile("-e", "syscalls:sys_enter_getppid/period=7/,syscalls:sys_exit_getppid,"
                         "cs/period=1,max-stack=2,name=short/,cs/period=1,call-graph=no,name=bare/,cs/period=1/",
                         "-p", load.pid)
        work(load)
        report = tracer.stop().report
        found = totals(report)
        assert found["syscalls:sys_enter_getppid"] == 98 and found["syscalls:sys_exit_getppid"] == 100, found
        assert found["short"] == found["bare"] == found["cs"] > 0, found
        # If several new stacks follow each other with interrupts off, the kernel may have no memory for each.
        kept = [s for s in report["stacks"] if s["frames"][0]["name"] != "[stack lost]"]
        of = {each: [s for s in kept if s["key"]["event"] == each] for each in ("short", "bare", "cs")}
        assert all(sum(parts(s)) == len(s["frames"]) == 1 for s in of["bare"]), of["bare"]
        assert all(max(parts(s)) <= 2 for s in of["short"]) and any(max(parts(s)) > 2 for s in of["cs"]), of
        assert {s["frames"][-1]["name"] for s in of["cs"]} == {s["frames"][-1]["name"] for each in ("short", "bare")
                                                               for s in of[each]}, of

    steady(trial)


def test_one_event_with_terms(profile, trigger):
    def trial():
        load = trigger("faults", scaled(500), 2, 0)
        tracer = profile("-e", "page-faults/period=1,max-stack=1/", "-p", load.pid)
        before = usage(load.pid)
        work(load)
        report = tracer.stop().report
        happened = since(before, load.pid)
        if report["lost"]["missed"]:
            raise tally.Blurred
        assert report["events"] == happened.minor + happened.major, (report["events"], happened)
        assert all(max(parts(s)) <= 1 for s in report["stacks"]), report["stacks"]

    steady(trial)


def test_intervals_and_keys(profile, trigger):
    """The intervals of each event add up, and so do its threads."""
    def trial():
        load = trigger("syscalls", 3, f"{GETPPID}:700")
        tracer = profile("-e", "syscalls:sys_enter_getppid", "-e", "syscalls:sys_exit_getppid", "--by", "tid", "-I", 50,
                         "-p", load.pid)
        work(load)
        reports = tracer.stop().reports
        found = [totals(report) for report in reports]
        threads = {stack["key"]["tid"] for report in reports for stack in report["stacks"]}
        assert len(threads) == 3, threads
        for event in found[0]:
            assert sum(each[event] for each in found) == 2100, found

    steady(trial)


@once
def test_frames_are_chosen_for_each(run, trigger):
    """--frames leaves out samples per event, each in the event's unit."""
    load = trigger("faults", scaled(500), 1, 0)
    tracer = tally.Tool("--json", "-e", "page-faults", "-e", "cs", "-c", "1", "-p", load.pid, "--frames", "^touch$",
                        tool="profile")
    try:
        tracer.ready()
        work(load)
        report = tracer.stop().report
    finally:
        tracer.close()
    events = {each["event"]: each for each in report["event_totals"]}
    assert events["page-faults"]["total"] >= scaled(500), events
    assert all("touch" in [f["name"] for f in s["frames"]] for s in report["stacks"])
    assert events["cs"]["left_out"] > 0, events


@once
def test_text(run):
    """A column for each event, with its unit and its total."""
    ran = run("-e", "cpu-clock", "-e", "cs", "-e", "sched:sched_switch", "-d", 0.5, tool="profile")
    assert ran.code == 0, ran
    assert re.search(r"^ +cpu-clock +cs +sched:sched_switch\n +samples +events +events\n( +[\d,]+){3}  all$", ran.text,
                     re.MULTILINE), ran
    table = run("-e", "cpu-clock,cs", "--by", "dso", "-d", 0.5, tool="profile")
    assert "incomplete" not in table.text, table    # callers are not shown, so nothing is said of them
    assert table.code == 0 and re.search(r"^cpu-clock% +cs% +dso$", table.text, re.MULTILINE), table


@once
def test_rows_by_event(run):
    """In machine formats each row has one event, and shares are of that event's total."""
    ran = run("-e", "cpu-clock,cs", "--by", "comm,sym", "--json", "-d", 0.5, "-I", 250, tool="profile")
    for line in ran.text.splitlines():
        rows = json.loads(line)["rows"]
        for event in ("cpu-clock", "cs"):
            shares = [row["percent"] for row in rows if row["event"] == event]
            assert not shares or abs(sum(shares) - 100) < 1e-6, rows


@once
def test_folded(tool, trigger):
    """The event is the outermost frame."""
    load = trigger("faults", scaled(500), 1, 0)
    tracer = tool(
        "-e", "cpu-clock", "-e", "page-faults/period=1/", "-p", load.pid, "--format", "folded", tool="profile"
    )
    work(load)
    ran = tracer.stop()
    assert ran.code == 0 and {line.split(";")[0] for line in ran.text.splitlines()} <= {"cpu-clock", "page-faults"}, ran
    assert "page-faults;" in ran.text, ran


@once
@pytest.mark.parametrize("format, begins", (("flame", b"<?xml"), ("pprof", b"\x1f\x8b"),
                                            ("speedscope", b"{"), ("html", b"<!DOCTYPE"), ("csv", b"start_ns")))
def test_formats(run, tmp_path, format, begins):
    path = tmp_path / "out"
    ran = run("-e", "cpu-clock", "-e", "page-faults", "-d", 0.5, "--format", format, "-o", path, tool="profile")
    assert ran.code == 0 and path.read_bytes().lower().startswith(begins.lower()), (ran, path.read_bytes()[:80])


@once
@pytest.mark.parametrize("args, said", (
    (("-e", "cs", "-e", "cs"), "cs is given twice"),
    (("-e", "cs,page-faults,cs"), "cs is given twice"),
    (("-e", "cs", "-e", "page-faults", "--annotate", "main"), "--annotate needs a single event"),
    (("-e", "cs", "-e", "page-faults", "--wall"), "--wall and -e"),
    (("-e", "cs", "-e", "page-faults", "--frames", "x", "--by", "sym"),
     "cannot be combined with a table of several events"),
    (("-e", "cs", "-e", "page-fualts"), "did you mean page-faults?"),
    (("-e", "cs/max-stack=200/"), "max-stack=200 is more than the 127 frames"),
    (("-e", "cs/freq=9,period=9/"), "freq= and period= cannot be combined"),
    (("-e", "sched:sched_switch/freq=9/"), "tracepoints have no frequency"),
    (("-e", "cs/max-stack=2/,cs"), "cs is given twice"),
    (("-e", "cs", "-e", "vfs_read"), "neither a counter nor a tracepoint"),
    (("-e", "cs,minor-faults,major-faults,cpu-migrations,faults,task-clock,page-faults,alignment-faults,emulation-faults"),
     "8 events at most"),
), ids=str)
def test_refused(run, args, said):
    result = run(*args, "-d", 0.1, tool="profile")
    assert result.code == 2 and said in result.stderr and not result.stdout, result


@once
def test_no_comparison(run, tmp_path):
    """Two runs are compared event by event, or not at all."""
    path = tmp_path / "out.json"
    assert run("-e", "cs,page-faults", "--json", "-d", 0.3, "-o", path, tool="profile").code == 0
    compared = run("diff", path, path, tool="tally")
    assert compared.code == 1 and "several events" in compared.stderr, compared


def test_recorded(run, tmp_path, trigger):
    """A recording keeps events apart, and show adds each up by itself."""
    path = tmp_path / "r"
    load = trigger("syscalls", 1, f"{GETPPID}:700")
    line = f"profile -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid -p {load.pid}"
    recorder = tally.Tool("-o", path, line, "0.2", tool="record")
    try:
        recorder.ready()
        work(load)
        ended = recorder.stop()
    finally:
        recorder.close()
    assert ended.code == 0, ended
    shown = run(path, "profile", "--json", tool="show")
    assert shown.code == 0, shown
    report = json.loads(shown.text.splitlines()[-1])
    assert {each["event"]: each["total"] for each in report["event_totals"]} == {
        "syscalls:sys_enter_getppid": 700, "syscalls:sys_exit_getppid": 700}, report["event_totals"]
    text = run(path, "profile", tool="show").text
    assert re.search(r"^( +700){2}  all$", text, re.MULTILINE), text
