# SPDX-License-Identifier: BSD-2-Clause
"""Helpers shared by the tests of probe: its reports, checked for their form, and its streams."""

import json
import os
import re
import signal
import subprocess

import pytest

from tally import BUILD, GUEST, PATIENCE, Tool, flaws

HEADER = {
    "tool": str, "command": str, "kernel": str, "cpus": int, "start_ns": int, "start": str, "duration_ns": int,
    "source": str, "events": int, "filtered": int, "unaccounted": int, "corrected": int,
    "lost": dict,
}
LINE = {"time_ns": int, "comm": str, "pid": int, "tid": int, "cpu": int, "values": dict}
LINE_OPTIONAL = {"event": str, "elapsed_ns": int, "frames": list}


# For tests of decisions that are made without the kernel.
alike = pytest.mark.skipif(bool(GUEST), reason="the same on all kernels, and those are slow")


def few(cases):
    """Cases that make no difference to the kernel: a third of them where machines are slow."""
    return cases[::3] if GUEST else cases


def check_header(report):
    for name, kind in HEADER.items():
        assert type(report[name]) is kind, f"{name} is {report.get(name)!r}"
        assert kind is not int or report[name] >= 0, f"{name} is {report[name]}"
    assert all(type(n) is int and n >= 0 for n in flaws(report).values()), report["lost"]


def check_group(group):
    """Buckets are disjoint and ascending; the first and last bucket of given bounds are open."""
    assert group["count"] == sum(n for _, _, n in group["buckets"]), group
    before = None
    for first, last, n in group["buckets"]:
        assert n > 0 and (first is None or last is None or first <= last), group
        assert before is None or first > before, group
        before = last
    if group["count"]:
        assert group["min"] <= group["avg"] <= group["max"], group
        kind = type(group["sum"])          # real: larger than 64 bits
        assert group["sum"] >= kind(group["min"] * group["count"]), group
        assert group["sum"] <= kind(group["max"] * group["count"]), group


def check(report):
    check_header(report)
    assert ("groups" in report) != ("rows" in report)
    for group in report.get("groups", ()):
        check_group(group)
    keys = [json.dumps(g["key"]) for g in report.get("groups", ())]
    assert len(keys) == len(set(keys)), "a key is there twice"
    assert len({tuple(row) for row in report.get("rows", ())}) <= 1, "rows differ in columns"
    shown = sum(each["count"] for each in report.get("groups", report.get("rows", ())))
    if shown and not report.get("hidden"):
        assert shown == report["events"]
    return report


def check_line(line):
    assert set(LINE) <= set(line) <= set(LINE) | set(LINE_OPTIONAL), line
    for name, value in line.items():
        unknown = name == "elapsed_ns" and value is None        # it began before the run
        assert unknown or type(value) is (LINE.get(name) or LINE_OPTIONAL[name]), line
    return line


def told(result):
    """The output of a run with --json: the lines of single events, and the reports."""
    assert result.code == 0, result
    found = [json.loads(line) for line in result.text.splitlines()]
    lines = [check_line(each) for each in found if "values" in each and "tool" not in each]
    return lines, [check(each) for each in found if "tool" in each]


def report_of(result):
    lines, (report,) = told(result)
    assert not lines
    return report


def stream_of(result):
    """The values of single events, in order, and the report after them."""
    lines, (report,) = told(result)
    assert len(lines) == report["events"], result
    return [line["values"] for line in lines], report


def nothing_lost(report):
    return not any(flaws(report).values())


class Probe:
    """Runs probe on programs that have not begun to work yet: work() starts them, and stops probe."""

    def __init__(self, tool, loads, *args):
        self.loads = loads if isinstance(loads, (list, tuple)) else [loads]
        pids = ",".join(str(load.pid) for load in self.loads)
        self.tracer = tool("--json", *args, "-p", pids, tool="probe")

    def work(self):
        for load in self.loads:
            load.go()
        self.numbers = [load.done() for load in self.loads]
        return self.tracer.stop()


def watch(ends, commands, work):
    """Results of several runs of probe on the same work, which attach at the same time: that is mostly waiting."""
    tracers = []
    for args in commands:
        tracers.append(Tool("--json", *args, tool="probe"))
        ends.callback(tracers[-1].close)
    for tracer in tracers:
        tracer.ready()
    work()
    for tracer in tracers:
        tracer.process.send_signal(signal.SIGINT)
    return [tracer.wait() for tracer in tracers]


def measure_each(ends, load, commands):
    """The reports of several runs on the work of one program."""
    def work():
        load.go()
        load.done()

    results = watch(ends, [(*args, "-p", load.pid) for args in commands], work)
    return [report_of(result) for result in results]


def measure(tool, loads, *args):
    """The report on the work of programs that have not begun it yet."""
    return report_of(Probe(tool, loads, *args).work())


def stream(tool, loads, *args):
    """The values of each event, and the report."""
    return stream_of(Probe(tool, loads, *args).work())


def rows_by(report, *names):
    """{value: row}, with tuples as keys for several names."""
    found = {}
    for row in report["rows"]:
        key = tuple(row[name] for name in names)
        key = key if len(names) > 1 else key[0]
        assert key not in found, f"{key} is there twice"
        found[key] = row
    return found


def counts_by(report, *names):
    return {key: row["count"] for key, row in rows_by(report, *names).items()}


def binary(name):
    """The path of a trigger program."""
    return BUILD / "triggers" / name


def build_go(place, *flags, with_c=False, machine=None):
    """Builds a program from the Go sources in a folder, with the build cache next to it."""
    path = place / "program"
    if not (place / "go.mod").exists():
        (place / "go.mod").write_text("module program\n\ngo 1.18\n")
    subprocess.run(["go", "build", *flags, "-o", path], check=True, cwd=place, capture_output=True,
                   env={**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": str(int(with_c)),
                        "GOCACHE": str(place.parent / "cache"), **({"GOARCH": machine} if machine else {})})
    return path


def compile_trigger(directory, source, *flags, name="compiled", compiler="gcc"):
    """Compiles a source in tests/triggers/ for this test alone."""
    path = directory / name
    subprocess.run([compiler, *flags, str(source), "-pthread", "-o", str(path)], check=True,
                   timeout=PATIENCE)
    return path


def instructions(path, name):
    """Offsets of the instructions of a function from its start, and its size, by objdump."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}", str(path)],
                          capture_output=True, text=True, check=True).stdout
    body = text[re.search(rf"^[0-9a-f]+ <{re.escape(name)}>:$", text, re.M).start():].split("\n\n")[0]
    at = [int(line.split(":")[0], 16) for line in body.splitlines()[1:] if re.match(r" *[0-9a-f]+:\t", line)]
    size = subprocess.run(["nm", "-S", str(path)], capture_output=True, text=True, check=True).stdout
    size = int(re.search(rf"^[0-9a-f]+ ([0-9a-f]+) . {re.escape(name)}$", size, re.M)[1], 16)
    return {a - at[0] for a in at if a - at[0] < size}, size
