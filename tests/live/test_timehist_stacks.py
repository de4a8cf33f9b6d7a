# SPDX-License-Identifier: BSD-2-Clause
"""timehist -g: where tasks were when they left their CPU, against the kernel's own stacks of sleeping tasks, against
programs that sleep in known functions, and live against a file."""

import json
import os
import struct
from pathlib import Path

import pytest

from accounts import exactly, tool_by_the_books, work  # noqa: F401
from probing import check_header, nothing_lost
from tally import flaws, scaled

ROUNDS, US = 20, 2000
HEAD, RECORD = 128, 96
SWITCH, STACK, END = 0, 0xfffe, 0xffff


@pytest.fixture
def stacks(tool):
    def start(*args, **kwargs):
        return tool("--json", "-g", *args, tool="timehist", **kwargs)

    return start


def told(result):
    """Lines of switches with the names of their frames, innermost first, and the report."""
    assert result.code == 0, result
    *lines, report = (json.loads(line) for line in result.text.splitlines())
    check_header(report)
    for line in lines:
        assert all(set(frame) == {"name", "module", "offset"} for frame in line["frames"])
        line["names"] = [frame["name"] for frame in line["frames"]]
        assert bool(line["names"]) == (line["event"] == "switch"), line
    return lines, report


def of(lines, tid):
    return [line for line in lines if line["tid"] == tid and line["event"] == "switch"]


def kernels_own(pid):
    """The kernel's own stack of a sleeping task (/proc/PID/stack), without the scheduler's frames."""
    return [line.split()[1].partition("+")[0] for line in
            Path(f"/proc/{pid}/stack").read_text().splitlines()]


@pytest.mark.skipif(not os.path.exists("/proc/self/stack"), reason="no /proc/PID/stack (CONFIG_STACKTRACE)")
def test_where_a_task_sleeps(stacks, trigger):
    """It sleeps where it last left its CPU, and the kernel's own stack agrees."""

    def trial():
        load = trigger("sleepers", 1, scaled(40), 100, -1)
        tracer = stacks("-p", load.pid)
        w = work(load)
        shown = {tid: kernels_own(tid) for tid in load.tids()}
        lines, report = told(tracer.stop())
        w.blurred = not nothing_lost(report)
        for tid, own in shown.items():
            last = of(lines, tid)[-1]["names"]
            assert own and last[-len(own):] == own, (own, last)
            assert not {"schedule", "__schedule"} & set(last)
            assert not any(name.startswith(("bpf_", "__traceiter", "__bpf")) for name in last)
        return w

    exactly(trial)


def whole(*reports):
    """No stack and no line was lost. The kernel hides switches from all tracers."""
    for report in reports:
        assert {name for name, n in flaws(report).items() if n} <= {"missed", "no_state", "unmatched"}, report


def slices(lines):
    """{unique key: line} of the slices."""
    return {(line["tid"], line["values"]["run"], line["values"]["wait"]): line for line in lines}


def test_parts(stacks, trigger):
    """A program that naps in two functions: kernel frames by default, user frames alone, or both; the kernel's nap is
    in the program's function. (A nap that is over before it begins has no switch.)"""
    load = trigger("blocks", 0, ROUNDS, US)
    parts = (), ("-U",), ("-K", "-U")
    tracers = [stacks("-p", load.pid, *part) for part in parts]
    work(load)
    kernel, user, both = (told(tracer.stop()) for tracer in tracers)
    whole(kernel[1], user[1], both[1])
    for lines, report in (user, both):
        for name in ("short_naps", "long_naps"):
            naps = [line["names"] for line in lines if name in line["names"]]
            assert len(naps) + report["lost"]["missed"] >= ROUNDS // 2
            for names in naps:
                assert names.index(name) < names.index("work") < names.index("main")
    modules = [{frame["module"] for line in lines for frame in line["frames"]}
               for lines, _ in (kernel, user, both)]
    assert modules[0] == {"[kernel]"} and "[kernel]" not in modules[1]
    assert {"[kernel]", "blocks"} <= modules[2]
    napping = [line["names"] for line in both[0]
               if any(name.endswith("do_nanosleep") for name in line["names"])]
    assert len(napping) + both[1]["lost"]["missed"] >= ROUNDS
    assert all(("short_naps" in names) != ("long_naps" in names) for names in napping)
    alike = slices(both[0])
    same = [(line["names"], alike[key]["names"]) for key, line in slices(kernel[0]).items() if key in alike]
    assert len(same) >= ROUNDS // 2
    assert all(names[:len(part)] == part for part, names in same)


def shape(lines):
    """The lines without their times, as the programs of two tracers run one after the other at a switch."""
    return [{**line, "time_ns": 0} for line in lines]


def test_a_file_has_the_names(stacks, tool, run, trigger, directory):
    """The recording has the same lines as the live output; other tools can read the file without the stacks."""

    def trial():
        path = directory / "switches"
        load = trigger("pingpong", scaled(400), 0)
        pids = ",".join(map(str, load.pids))
        tracers = stacks("-p", pids, "--wakeups"), \
            tool("-g", "-p", pids, "--record", path, tool="timehist")
        w = work(load)
        lines, report = told(tracers[0].stop())
        assert tracers[1].stop().code == 0
        read, again = told(run("--json", "-g", "--wakeups", "--read", path, tool="timehist"))
        w.blurred = not nothing_lost(report) or not nothing_lost(again)
        if not w.blurred and not w.holes:
            assert shape(lines) == shape(read)
        few, _ = told(run("--json", "-g", "--max-depth", 2, "--read", path, tool="timehist"))
        assert [line["names"][:2] for line in of(read, load.pids[0])] == \
            [line["names"] for line in of(few, load.pids[0])]
        plain = run("--json", "--read", path, tool="timehist")
        assert plain.code == 0 and '"frames"' not in plain.text
        assert run("--read", path, tool="schedmap").code == 0
        replayed = run("--json", path, tool="replay").report
        assert {row["comm"] for row in replayed["rows"]} <= {"pingpong", "pong"}
        return w

    exactly(trial)


@pytest.mark.parametrize("order", ("delay", "run"))
def test_the_worst_and_their_neighbours(stacks, trigger, order):
    """Each slice has its own stack and that of the task that left for it, as in the lines."""
    load = trigger("spin", 5, 30, 0)
    tracers = stacks(), stacks("-p", load.pid, "--worst", 10, "--sort", order)
    work(load)
    lines, report = told(tracers[0].stop())
    (text,) = tracers[1].stop().text.splitlines()
    worst = json.loads(text)
    whole(report, worst)
    came, before = {}, {}               # the task that left for a task last; and for each of its slices
    for line in lines:
        key = line["tid"], line["values"]["run"], line["values"]["wait"]
        before[key] = came.pop(line["tid"], None)
        came[line["values"]["other_tid"]] = line
    known, neighbours = slices(lines), 0
    assert len(worst["rows"]) == 10
    for row in worst["rows"]:
        key = row["tid"], row["run"], row["wait"]
        assert row["stack"] == " <- ".join(known[key]["names"])
        assert bool(row["prev_tid"]) == (row["prev_stack"] is not None), row
        if before[key] and before[key]["tid"] == row["prev_tid"]:
            assert row["prev_stack"] == " <- ".join(before[key]["names"])
            neighbours += 1
    assert neighbours


def test_text(tool, run, trigger):
    """Five frames of each, or --max-depth, at the end of the line."""
    load = trigger("sleepers", 1, 5, 20000, 0)
    tracers = [tool("-g", "-p", load.pid, *more, tool="timehist")
               for more in ((), ("--max-depth", 1, "--next"), ("--max-depth", 100))]
    work(load)
    usual, one, all_of_them = ([line.partition("[0000]")[2] for line in tracer.stop().text.splitlines()
                                if "nanosleep" in line] for tracer in tracers)
    assert len(usual) == len(one) == len(all_of_them) >= 5
    for line in usual:
        assert line.count(" <- ") == 5 and line.endswith(" <- ...")
    for line in one:
        assert line.index("  next: ") < line.index("nanosleep") and line.endswith("nanosleep <- ...")
    for line, whole in zip(usual, all_of_them):
        assert whole.count(" <- ") >= 5 and whole.startswith(line[:-len("...")])
    for args in (("-U",), ("--max-depth", 3), ("-g", "--max-depth", 0), ("-g", "--max-depth", 5000),
                 ("-g", "-U", "--read", "x"), ("-g", "--summary=only")):
        assert run(*args, tool="timehist").code == 2, args
    result = run("-n", "-g", tool="timehist")
    assert result.code == 0 and "on_switch_show" in result.text


def records(data):
    """The offset and kind of each record in a file."""
    at = HEAD
    while True:
        kind, = struct.unpack_from("H", data, at + 8)
        yield at, kind
        if kind == END:
            return
        frames = struct.unpack_from("Q", data, at + 64)[0] if kind == STACK else 0
        at += RECORD
        for _ in range(frames):
            at += 16 + sum(struct.unpack_from("HH", data, at + 10))


def damaged(data, at, form, value):
    return data[:at] + struct.pack(form, value) + data[at + struct.calcsize(form):]


def test_files_of_anybody(tool, run, directory):
    """Stacks in a file are trusted as little as the rest; names are only shown, escaped."""
    good, bad = directory / "good", directory / "bad"
    tool("-g", "--record", good, "-d", 0.3, tool="timehist").wait()
    data = good.read_bytes()
    first = next(at for at, kind in records(data) if kind == STACK)

    def read(content, *args):
        bad.write_bytes(content)
        return run("-g", "--read", bad, *args, tool="timehist")

    off, frame = first + 64, first + RECORD     # of switches_record, and the first frame after it
    for content, why in ((damaged(data, off, "Q", 1 << 40), "a stack is damaged"),
                         (damaged(data, frame + 8, "H", 99), "a stack is damaged")):
        result = read(content)
        assert result.code == 1 and why in result.stderr, result
    result = read(data[:frame + 20])            # in the middle of a name
    assert result.code == 0 and "no end" in result.stderr
    hostile = data[:frame + 16] + b"\x1b\n" + data[frame + 18:]
    for args in ((), ("--json",), ("--csv",)):
        result = read(hostile, *args)
        assert result.code == 0 and "x1b" in result.text and "\x1b" not in result.text, result
    switch = next(at for at, kind in records(data) if kind == SWITCH)
    result = read(damaged(data, switch + 88, "I", 1 << 30))
    assert result.code == 1 and "a record is damaged" in result.stderr
    # Without stacks, one line says why; and files from before there were any.
    plain = directory / "plain"
    tool("--record", plain, "-d", 0.2, tool="timehist").wait()
    result = read(damaged(plain.read_bytes(), 8, "I", 1))
    assert result.code == 0 and "record it with -g" in result.stderr
